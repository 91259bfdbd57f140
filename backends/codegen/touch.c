/* touch.c - where in memory the lanes of a group read and write, followed in the statements that are printed: places,
 * loops and conditions are worked out for each lane of a warp (warp.c). Of many trips some are looked at, each of
 * which stands for its share. What is the same in all trips of a loop is read once, as compilers see to, unless lanes
 * meet in it. Where data decide, or who begins, places are those of 0, and conditions hold. */
#include "backends/codegen/touch.h"
#include "backends/codegen/warp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 2 * DEEP, PIECE = 16 }; /* loops and conditions around an access, at most; bytes */
/* Up to ALL_TRIPS trips are all looked at. Of more, SOME_TRIPS are sampled evenly, with all trips of innermost loops of
 * at most INNER_TRIPS: their mean is within some hundredths. */
enum { ALL_TRIPS = 2048, SOME_TRIPS = 1024, INNER_TRIPS = 64 };
/* Trips of a loop of reads for which lanes wait together, if they do not meet in it */
enum { AHEAD = 4 };

typedef struct seen { /* a load whose value is still there for statements behind it */
    const struct seen *up;
    said x, when; /* where it is by value; unless data say it */
    const around *around;
    uint64_t loops; /* that it is by */
} seen;

typedef struct follower {
    walk walk;
    const touching *to;
    const seen *seen;
    warp *at;
    double waits[MAX_STAGES];
} follower;

/* ---- one access, in all trips ---- */
typedef struct bounded { /* a loop around it that matters; or a condition */
    const around *of;
    integer *from, *to, *when;
    int64_t trips;
} bounded;
typedef struct looks {
    int n, n_step; /* loops; all, the outermost first */
    bounded step[STEPS];
    int n_at;  /* numbers of one lane; 0: a place of each */
    int lanes; /* of the first ones alone; 0: of all */
    double times;
    integer *at[BOX_DIMS];
} looks;

static double spread(uint64_t i) /* of [0, 1), without any order */
{
    return (double)(random_bits(0, i) >> 11) * 0x1p-53;
}

typedef struct picker { /* of a combination of trips, the outermost loop's first */
    int sampled;        /* loops; those within go through all their trips, `left` together */
    int64_t i, left;
    double part, taken;
    int loop;
} picker;

/* All in their order; else one of each of some stretches of these, the first of all among them. A fraction has numbers
 * for some loops alone: those within take another one. */
static int64_t pick(picker *p, int64_t trips)
{
    enum { DIGITS = 1 << 30 };
    p->loop++;
    if (p->loop > p->sampled) {
        p->left /= trips;
        return p->i / p->left % trips;
    }
    if (p->taken > DIGITS)
        p->part = p->i ? spread((uint64_t)p->i * DEEP + (uint64_t)p->loop) : 0, p->taken = 1;
    p->part *= (double)trips, p->taken *= (double)trips;
    const int64_t number = int_min((int64_t)p->part, trips - 1);
    p->part -= (double)number;
    return number;
}

/* Lanes that are there in that pick of the loops' trips, and where */
static int look(const follower *f, const looks *a, picker *p, int64_t *at)
{
    bool there[LANES];
    int n = 0;
    const int64_t lanes = f->walk.m->p->on->warp;
    warp_enter(f->at, pick(p, int_ceil_div(f->walk.m->group, lanes)) * lanes);
    memset(there, true, sizeof there);
    for (int s = 0; s < a->n_step; s++) {
        const bounded *q = &a->step[s];
        const int64_t *when = q->when ? warp_numbers(f->at, q->when) : NULL;
        for (int k = 0; when && k < f->at->n; k++)
            there[k] = there[k] && !when[k] == !q->of->holds;
        if (!when)
            warp_loop(f->at, q->of->number, pick(p, q->trips) * q->of->loop->step, q->from, q->to, there);
    }
    for (int d = 0, one = 0; d < (a->n_at ? a->n_at : 1); d++) {
        const int64_t *own = warp_numbers(f->at, a->at[d]);
        for (int k = 0; a->n_at && k < f->at->n; k++)
            one = there[k] ? k : one;
        for (int k = 0; k < f->at->n && (!a->lanes || k < a->lanes); k++)
            if (there[k] && (!a->n_at || k == one))
                at[n++] = own[k];
    }
    warp_leave(f->at);
    return n;
}

/* How many are outside of the innermost ones, which make `inner` trips; warps count as the first */
static int loops_sampled(const looks *a, int64_t *inner)
{
    int s = a->n_step, n = 1;
    while (s && (a->step[s - 1].when || *inner * a->step[s - 1].trips <= INNER_TRIPS))
        if (!a->step[--s].when)
            *inner *= a->step[s].trips;
    for (int i = 0; i < s; i++)
        n += !a->step[i].when;
    return n;
}

/* Returns the share of trips in which any lane is there. */
static double look_at_all(const follower *f, const looks *a, touch *t)
{
    int64_t at[LANES], present = 0;
    double all = (double)int_ceil_div(f->walk.m->group, f->walk.m->p->on->warp);
    for (int s = 0; s < a->n_step; s++)
        all *= a->step[s].when ? 1 : (double)a->step[s].trips;
    int64_t inner = 1;
    const int sampled = all <= ALL_TRIPS ? 0 : loops_sampled(a, &inner);
    const double few = sampled ? (double)(SOME_TRIPS / inner * inner) : all;
    t->share = few > 0 ? a->times * all / few : 0, t->at = at;
    for (int64_t i = 0; i < (int64_t)few; i++) {
        const double part = i ? ((double)i + spread((uint64_t)i)) / few : 0;
        picker p = {sampled, i, sampled ? inner : (int64_t)few, part, 1, 0};
        if ((t->n = look(f, a, &p, at)))
            f->to->each(f->to->user, t), present++;
    }
    return few > 0 ? (double)present / few : 0;
}

/* How often lanes wait for what they read of memory, of all groups together: reads of a stage wait at the same time. */
static void note_waits(follower *f, const looks *a, int which, double present)
{
    double together = 1, waits = 1;
    for (int s = 0; s < a->n_step; s++) {
        const around *q = a->step[s].of;
        if (!q->loop || q->copies || q->loop->how == WRITTEN_OUT)
            continue;
        *(q->meets || q->loop->kind == S_CHUNKS ? &waits : &together) *= (double)a->step[s].trips;
    }
    f->waits[which] = fmax(f->waits[which], present * waits * (together > 1 ? ceil(together / AHEAD) : 1));
}

static integer *sure(integer *v)
{
    return v && v->known == SURE ? v : NULL;
}

/* What is known of a condition; NULL: nothing */
static integer *known_of(integer *v, bool holds)
{
    if (sure(v) || v->does != W_BOTH || !holds)
        return sure(v);
    integer *a = known_of(v->arg[0], holds);
    return a ? a : known_of(v->arg[1], holds);
}

/* Conditions, and loops in which it is not the same: from the innermost out */
static void find_steps(const follower *f, looks *a, const around *up, bool written)
{
    bounded step[STEPS];
    uint64_t loops = 0;
    bool stays = written; /* it has to be done where it stands */
    int n = 0;
    for (int d = 0; d < (a->n_at ? a->n_at : 1); d++)
        loops |= a->at[d]->loops;
    const uint64_t placed = loops; /* loops that the place depends on; conditions decide in which trips it is touched */
    for (const around *q = up; q; q = q->up) {
        const integer *when = q->loop ? NULL : known_of(q->when.value, q->holds);
        loops |= when ? when->loops : 0;
    }
    for (const around *q = up; q && n < STEPS; q = q->up) {
        bounded *s = &step[n];
        *s = (bounded){.of = q};
        if (!q->loop) {
            n += (s->when = known_of(q->when.value, q->holds)) != NULL;
            continue;
        }
        const bool moved = loops >> q->number & 1 || q->meets || q->loop->kind == S_CHUNKS;
        if (!moved && (!stays || (q->loop->how == WRITTEN_OUT && !written)))
            continue;
        stays = stays || q->loop->how != WRITTEN_OUT;
        s->from = sure(q->from.value), s->to = sure(q->to.value);
        const bool once = q->loop->how == WRITTEN_OUT && !written && !q->meets && !(placed >> q->number & 1);
        s->trips = once ? 1 : warp_trips(f->at, q->loop, s->from, s->to);
        loops |= (s->from ? s->from->loops : 0) | (s->to ? s->to->loops : 0);
        n++;
    }
    a->n_step = n;
    for (int i = 0; i < n; i++)
        a->step[i] = step[n - 1 - i];
}

static bool same_said(const said *a, const said *b, const int *number)
{
    if (!a->x || !b->x || (a->names == b->names && cexpr_same(a->x, b->x)))
        return !a->x == !b->x;
    return sure(a->value) && sure(b->value) && integer_same(a->value, b->value, number);
}

/* Whether a and b are equal conditions, or unrolled loops with equal bounds and steps */
static bool same_around(const around *a, const around *b, const int *number)
{
    const stmt *l = a->loop, *m = b->loop;
    if (!l || !m)
        return !l && !m && a->holds == b->holds && same_said(&a->when, &b->when, number);
    return l->kind == S_LOOP && m->kind == S_LOOP && l->how == WRITTEN_OUT && m->how == WRITTEN_OUT &&
           l->step == m->step && same_said(&a->from, &b->from, number) && same_said(&a->to, &b->to, number);
}

static bool passed_over(const around *a, uint64_t loops)
{
    return a->loop && a->loop->how == WRITTEN_OUT && !(loops >> a->number & 1);
}

static const around *root_of(const around *a, const around *b) /* the innermost one around both */
{
    for (; a; a = a->up)
        for (const around *q = b; q; q = q->up)
            if (q == a)
                return a;
    return NULL;
}

/* Lists the loops and conditions around an access within the root, the outermost first. Returns their number; only
 * STEPS have room. */
static int inside_of(const around *root, const around *up, const around **all)
{
    int n = 0, i;
    for (const around *q = up; q != root; q = q->up)
        n++;
    i = n;
    for (const around *q = up; q != root; q = q->up)
        if (--i < STEPS)
            all[i] = q;
    return n;
}

/* Whoever comes to t came by s; then number[] says which loops around t are those around s. Loops whose trips are
 * written out matter only where a place is by them. */
static bool comes_by(const seen *s, const seen *t, int *number)
{
    const around *a[STEPS], *b[STEPS], *root = root_of(s->around, t->around);
    const int n = inside_of(root, s->around, a), end = inside_of(root, t->around, b);
    bool by = n <= STEPS && end <= STEPS;
    for (const around *q = root; q; q = q->up)
        if (q->loop)
            number[q->number] = q->number;
    for (int i = 0, j = 0; by && (i < n || j < end);)
        if (i < n && j < end && same_around(a[i], b[j], number)) {
            if (a[i]->loop)
                number[a[i]->number] = b[j]->number;
            i++, j++;
        } else if (i < n && passed_over(a[i], s->loops))
            number[a[i++]->number] = -1;
        else if (j < end && (!b[j]->loop || passed_over(b[j], t->loops)))
            j++;
        else
            by = false;
    return by;
}

static bool is_seen(follower *f, const access *a)
{
    int number[DEEP];
    seen *own = arena_get(f->walk.mem, sizeof *own);
    integer *at = sure(integer_place(&f->walk, a->x));
    *own = (seen){f->seen, {a->x, f->walk.names, at}, a->when, f->walk.around, at ? at->loops : ~UINT64_C(0)};
    for (const seen *s = f->seen; s; s = s->up)
        if (s->x.x->stage == a->x->stage && s->x.x->load == a->x->load && s->x.x->shared == a->x->shared &&
            comes_by(s, own, number) && (!s->when.x || same_said(&s->when, &own->when, number)) &&
            (at ? s->x.value && integer_same(s->x.value, at, number)
                : s->x.names == own->x.names && cexpr_same(s->x.x, a->x)))
            return true;
    f->seen = own;
    return false;
}

/* ---- accesses ---- */
/* A matrix unit's read: rows at addresses that lanes give, or, where those are unknown, without bank conflicts. */
static looks of_unit(follower *f, const cexpr *x)
{
    enum { LINES = 8 };
    walk *w = &f->walk;
    const bool rows = x->moves == TAKES_ROWS;
    const cexpr *at = rows ? x->arg[1] : cexpr_times(w->mem, cexpr_spelled(w->mem, w->m->d->lane), PIECE);
    return (looks){.at = {integer_of(w, at)},
                   .lanes = rows ? (int)x->number : LINES,
                   .times = rows ? 1 : (double)x->bytes / (LINES * PIECE)};
}

static void use(walk *w, const access *a)
{
    follower *f = w->user;
    const cexpr *x = a->x;
    const around under = {.up = w->around, .when = a->when, .holds = true};
    const bool unit = a->kind == OF_UNIT, boxed = a->kind == OF_BOX;
    touch t = {.stage = x->stage, .load = x->load, .copy = w->copies, .bytes = a->bytes};
    looks own = {.times = 1};
    if (a->kind == OF_BLOCK || (a->kind == OF_ELEMENT && !a->written && is_seen(f, a)))
        return;
    t.shared = x->shared || a->kind == OF_GROUP || unit;
    if (unit)
        own = of_unit(f, x), t.bytes = PIECE;
    else if (boxed) {
        const struct box *b = t.box = &w->m->data.box[x->bytes].box;
        t.copy = true, t.bytes = PIECE, own.n_at = (int)b->n;
        for (int d = 0; d < own.n_at; d++)
            own.at[d] = integer_of(w, x->arg[x->n - own.n_at + d]);
    } else
        own.at[0] = a->at ? integer_of(w, a->at) : integer_place(w, x);
    warp_forget(f->at);
    find_steps(f, &own, a->when.x ? &under : w->around, a->written || unit || boxed);
    const double present = look_at_all(f, &own, &t);
    if (!a->written && !t.shared)
        note_waits(f, &own, t.stage, present);
}

/* ---- loops and barriers ---- */
static bool meets_in(const emitter *m, const stmt *in)
{
    bool any = false;
    for (const stmt *s = in->first; s && !any; s = s->next)
        any = s->kind == S_BARRIER || meets_in(m, s) || (s->other && meets_in(m, s->other)) ||
              (s->kind == S_CALL && s->value->kind == C_TILE && meets_in(m, m->tiles.made[s->value->load]->body));
    return any;
}

static void open(walk *w, const stmt *s, around *trips)
{
    if (trips)
        trips->meets = meets_in(w->m, s);
}

static void meet(walk *w) /* others may have written since */
{
    follower *f = w->user;
    f->seen = NULL;
}

void kernel_touch(const emitter *m, touching *to)
{
    static const told asks = {.open = open, .use = use, .meet = meet};
    ENDED_BY(arena_free) arena mem = {0};
    ENDED_BY(heap_free) warp *at = heap_array(1, sizeof *at);
    follower f = {.walk = {.m = m, .mem = &mem, .to = &asks}, .to = to, .at = at};
    f.walk.user = &f;
    warp_make(f.at, m, &mem);
    to->shared = m->data.scratch_most;
    kernel_count(m, &to->counts);
    if (to->each)
        walk_statement(&f.walk, m->out.code.at);
    for (int i = 0; i < MAX_STAGES; i++)
        to->waits += f.waits[i];
}
