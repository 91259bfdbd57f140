/* touch.c - where in memory the lanes of a group read and write, followed in the statements that are printed: places,
 * loops and conditions are worked out for each lane of a warp (lane_value.c). Of many trips some are looked at, each of
 * which stands for its share. What is the same in all trips of a loop is read once, as compilers see to, unless lanes
 * meet in it. Where data decide, or who begins, places are those of 0, and conditions hold. */
#include "backends/codegen/touch.h"
#include "backends/codegen/lane_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEP = 2 * MANY, PIECE = 16 }; /* loops and conditions around an access, at most; bytes */
/* All trips are looked at where they are no more than ALL, else SOME, which have all those of the innermost loops that
 * make no more than INNER, equally often: their mean is within some hundredths. */
enum { ALL_TRIPS = 2048, SOME_TRIPS = 1024, INNER_TRIPS = 64 };
/* Trips of a loop of reads for which lanes wait together, if they do not meet in it */
enum { AHEAD = 4 };

typedef struct around { /* a loop, or a condition, around what is looked at */
    const struct around *up;
    const stmt *loop;  /* NULL: a condition */
    const cexpr *when; /* that holds, or not */
    bool holds, meets; /* meets: lanes wait for one another in the loop */
    bool copies;       /* parts of a slice, for which they wait together */
    const meaning *names;
    int number; /* of loops around it */
} around;

typedef struct seen { /* what was read need not be read again on the way that goes on from there */
    const struct seen *up;
    const cexpr *x, *when;
    const lane_value *at; /* NULL: data say it */
    uint64_t loops;       /* that it is by */
    const around *around;
    const meaning *names;
} seen;

typedef struct follower {
    const emitter *m;
    arena *mem;
    const touching *to;
    const seen *seen;
    warp *at;
    double waits[MAX_STAGES];
} follower;

typedef struct place { /* in the text */
    const around *around;
    const meaning *names;
    bool copies;
} place;

/* ---- one access, in all trips ---- */
typedef struct bounded { /* a loop around it that matters; or a condition */
    const around *of;
    const lane_value *from, *to, *when;
    int64_t trips;
} bounded;
typedef struct access {
    int n, n_step; /* loops; all, the outermost first */
    bounded step[DEEP];
    int n_at;  /* numbers of one lane; 0: a place of each */
    int lanes; /* of the first ones alone; 0: of all */
    double times;
    const lane_value *at[BOX_DIMS];
} access;

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
        p->part = p->i ? spread((uint64_t)p->i * MANY + (uint64_t)p->loop) : 0, p->taken = 1;
    p->part *= (double)trips, p->taken *= (double)trips;
    const int64_t number = int_min((int64_t)p->part, trips - 1);
    p->part -= (double)number;
    return number;
}

/* Lanes that are there in that pick of the loops' trips, and where */
static int look(const follower *f, const access *a, picker *p, int64_t *at)
{
    bool there[LANES];
    int n = 0;
    const int64_t lanes = f->m->p->on->warp;
    warp_enter(f->at, pick(p, int_ceil_div(f->m->group, lanes)) * lanes);
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
static int loops_sampled(const access *a, int64_t *inner)
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
static double look_at_all(const follower *f, const access *a, touch *t)
{
    int64_t at[LANES], present = 0;
    double all = (double)int_ceil_div(f->m->group, f->m->p->on->warp);
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
static void note_waits(follower *f, const access *a, int which, double present)
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

/* What is known of a condition; NULL: nothing */
static const lane_value *known_of(const follower *f, const around *q, const cexpr *x)
{
    const lane_value *all = lane_value_of(f->at, x, q->names, SURE);
    if (all || x->whole != W_BOTH || !q->holds)
        return all;
    const lane_value *a = known_of(f, q, x->arg[0]), *b = known_of(f, q, x->arg[1]);
    return a ? a : b;
}

/* Conditions, and loops in which it is not the same: from the innermost out */
static void find_steps(const follower *f, access *a, const around *up, bool written)
{
    bounded step[DEEP];
    uint64_t loops = 0;
    bool stays = written; /* it has to be done where it stands */
    int n = 0;
    for (int d = 0; d < (a->n_at ? a->n_at : 1); d++)
        loops |= a->at[d]->loops;
    const uint64_t placed = loops; /* by where it is; conditions say in which trips */
    for (const around *q = up; q; q = q->up)
        if (!q->loop && (step[0].when = known_of(f, q, q->when)))
            loops |= step[0].when->loops;
    for (const around *q = up; q && n < DEEP; q = q->up) {
        bounded *s = &step[n];
        *s = (bounded){.of = q};
        if (!q->loop) {
            n += (s->when = known_of(f, q, q->when)) != NULL;
            continue;
        }
        const bool moved = loops >> q->number & 1 || q->meets || q->loop->kind == S_CHUNKS;
        if (!moved && (!stays || (q->loop->how == WRITTEN_OUT && !written)))
            continue;
        stays = stays || q->loop->how != WRITTEN_OUT;
        s->from = q->loop->from ? lane_value_of(f->at, q->loop->from, q->names, SURE) : NULL;
        s->to = q->loop->kind == S_LOOP ? lane_value_of(f->at, q->loop->to, q->names, SURE) : NULL;
        const bool once = q->loop->how == WRITTEN_OUT && !written && !q->meets && !(placed >> q->number & 1);
        s->trips = once ? 1 : warp_trips(f->at, q->loop, s->from, s->to);
        loops |= (s->from ? s->from->loops : 0) | (s->to ? s->to->loops : 0);
        n++;
    }
    a->n_step = n;
    for (int i = 0; i < n; i++)
        a->step[i] = step[n - 1 - i];
}

static bool same_in(const follower *f, const cexpr *x, const meaning *in, const cexpr *y, const meaning *of,
                    const int *number)
{
    if (!x || !y || (in == of && cexpr_same(x, y)))
        return !x == !y;
    const lane_value *v = lane_value_of(f->at, x, in, SURE);
    return v && lane_value_same(v, lane_value_of(f->at, y, of, SURE), number);
}

/* A condition that says the same, or a loop whose trips are written out as those of another one */
static bool same_around(const follower *f, const around *a, const around *b, const int *number)
{
    const stmt *l = a->loop, *m = b->loop;
    if (!l || !m)
        return !l && !m && a->holds == b->holds && same_in(f, a->when, a->names, b->when, b->names, number);
    return l->kind == S_LOOP && m->kind == S_LOOP && l->how == WRITTEN_OUT && m->how == WRITTEN_OUT &&
           l->step == m->step && same_in(f, l->from, a->names, m->from, b->names, number) &&
           same_in(f, l->to, a->names, m->to, b->names, number);
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

/* Those around it inside of the root, the outermost first; how many there are, of which DEEP have room */
static int inside_of(const around *root, const around *up, const around **all)
{
    int n = 0, i;
    for (const around *q = up; q != root; q = q->up)
        n++;
    i = n;
    for (const around *q = up; q != root; q = q->up)
        if (--i < DEEP)
            all[i] = q;
    return n;
}

/* Whoever comes to t came by s; then number[] says which loops around t are those around s. Loops whose trips are
 * written out matter only where a place is by them. */
static bool comes_by(const follower *f, const seen *s, const seen *t, int *number)
{
    const around *a[DEEP], *b[DEEP], *root = root_of(s->around, t->around);
    const int n = inside_of(root, s->around, a), end = inside_of(root, t->around, b);
    bool by = n <= DEEP && end <= DEEP;
    for (const around *q = root; q; q = q->up)
        if (q->loop)
            number[q->number] = q->number;
    for (int i = 0, j = 0; by && (i < n || j < end);)
        if (i < n && j < end && same_around(f, a[i], b[j], number)) {
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

static bool is_seen(follower *f, const place *p, const cexpr *x, const cexpr *when)
{
    int number[MANY];
    seen *own = arena_get(f->mem, sizeof *own);
    const lane_value *at = lane_value_place(f->at, x, p->names, SURE);
    *own = (seen){f->seen, x, when, at, at ? at->loops : ~UINT64_C(0), p->around, p->names};
    for (const seen *s = f->seen; s; s = s->up)
        if (s->x->stage == x->stage && s->x->load == x->load && s->x->shared == x->shared &&
            comes_by(f, s, own, number) && (!s->when || same_in(f, s->when, s->names, when, p->names, number)) &&
            (own->at ? lane_value_same(s->at, own->at, number) : s->names == p->names && cexpr_same(s->x, x)))
            return true;
    f->seen = own;
    return false;
}

typedef struct contact {
    const cexpr *x;    /* an element of memory */
    const cexpr *at;   /* where that is, in x's memory; NULL: as x says */
    const cexpr *when; /* and only where that holds, too; NULL: always */
    bool written;
    int bytes, lanes;
    double times;
} contact;

static void touched(follower *f, const place *p, const contact *w)
{
    warp_forget(f->at);
    access a = {.at = {w->at ? lane_value_of(f->at, w->at, p->names, GUESSED)
                             : lane_value_place(f->at, w->x, p->names, GUESSED)},
                .lanes = w->lanes,
                .times = w->times};
    const around under = {.up = p->around, .when = w->when, .holds = true, .names = p->names};
    touch t = {.stage = w->x->stage, .load = w->x->load, .shared = w->x->shared, .copy = p->copies, .bytes = w->bytes};
    find_steps(f, &a, w->when ? &under : p->around, w->written);
    const double present = look_at_all(f, &a, &t);
    if (!w->written && !t.shared)
        note_waits(f, &a, t.stage, present);
}

/* ---- the statements ---- */
static void values(follower *f, const place *p, const cexpr *x);

static void element_touched(follower *f, const place *p, const cexpr *x, const cexpr *when, bool written, int bytes)
{
    if (x->bytes && (written || !is_seen(f, p, x, when)))
        touched(f, p, &(contact){x, NULL, when, written, bytes ? bytes : x->bytes, 0, 1});
    for (int i = 0; i < x->n; i++)
        values(f, p, x->arg[i]);
}

static void box_touched(follower *f, const place *p, const cexpr *x)
{
    const struct box *b = &f->m->data.box[x->bytes].box;
    const around *up = p->around;
    access a = {.n_at = (int)b->n, .times = 1};
    touch t = {.stage = x->stage, .load = x->load, .copy = true, .bytes = PIECE, .box = b};
    warp_forget(f->at);
    for (int d = 0; d < a.n_at; d++)
        a.at[d] = lane_value_of(f->at, x->arg[x->n - a.n_at + d], p->names, GUESSED);
    find_steps(f, &a, up, true);
    note_waits(f, &a, t.stage, look_at_all(f, &a, &t));
}

/* Rows of pieces, at addresses that lanes give; or as many as a unit reads without a bank that is asked twice. */
static void unit_touched(follower *f, const place *p, const cexpr *x)
{
    enum { LINES = 8 };
    const cexpr own = {.stage = x->stage, .load = x->load, .shared = true};
    const cexpr *lane = cexpr_times(f->mem, cexpr_spelled(f->mem, f->m->d->lane), PIECE);
    const bool rows = x->moves == TAKES_ROWS;
    touched(f, p,
            &(contact){.x = &own,
                       .at = rows ? x->arg[1] : lane,
                       .written = true,
                       .bytes = PIECE,
                       .lanes = rows ? (int)x->number : LINES,
                       .times = rows ? 1 : (double)x->bytes / (LINES * PIECE)});
}

static void moved(follower *f, const place *p, const cexpr *x)
{
    if (x->moves == TAKES)
        element_touched(f, p, x->arg[0]->arg[0], x->arg[1], false, x->bytes);
    if (x->moves == BOXES)
        box_touched(f, p, x);
    if (x->moves == TAKES_ROWS || x->moves == TAKES_SLICE)
        unit_touched(f, p, x);
    if (x->moves != PUTS && x->moves != SENDS)
        return;
    cexpr to = *x->arg[x->moves == SENDS]->arg[0];
    if (x->moves == SENDS)
        element_touched(f, p, x->arg[1]->arg[0], x->arg[2], false, x->bytes), to.shared = true;
    touched(f, p, &(contact){&to, x->arg[0], NULL, true, x->bytes, 0, 1});
    if (x->moves == PUTS)
        values(f, p, x->arg[1]);
}

static void values(follower *f, const place *p, const cexpr *x)
{
    const bool choice = x->whole == W_WHERE || (x->kind == C_FORM && x->does && !strcmp(x->does, "select"));
    if (x->moves)
        moved(f, p, x);
    else if (x->kind == C_ELEMENT)
        element_touched(f, p, x, NULL, false, 0);
    else if (x->whole != W_ADDRESS)
        for (int i = 0; i < x->n; i++) {
            place own = *p;
            if (choice && i) {
                around *under = arena_get(f->mem, sizeof *under);
                *under = (around){.up = p->around, .when = x->arg[0], .holds = i == 1, .names = p->names};
                own.around = under;
            }
            values(f, &own, x->arg[i]);
        }
}

static bool meets_in(const follower *f, const stmt *in)
{
    bool any = false;
    for (const stmt *s = in->first; s && !any; s = s->next)
        any = s->kind == S_BARRIER || meets_in(f, s) || (s->other && meets_in(f, s->other)) ||
              (s->kind == S_CALL && s->value->kind == C_TILE && meets_in(f, f->m->tiles.made[s->value->load]->body));
    return any;
}

static void statements(follower *f, place p, const stmt *in);

static void tile_called(follower *f, const place *p, const cexpr *x)
{
    const tile_made *t = f->m->tiles.made[x->load];
    place own = {p->around, NULL, p->copies};
    for (int i = 0; i < x->n; i++)
        own.names = meaning_add(f->at, own.names, t->parameter[i]->text, x->arg[i], p->names, 0);
    statements(f, own, t->body);
}

static void branches(follower *f, const place *p, const stmt *s)
{
    for (int i = 0; i < 2; i++) {
        around *q = arena_get(f->mem, sizeof *q);
        *q = (around){.up = p->around, .when = s->value, .holds = !i, .names = p->names};
        if (!i || s->other)
            statements(f, (place){q, p->names, p->copies}, i ? s->other : s);
    }
}

static int loops_around(const around *a)
{
    int n = 0;
    for (; a; a = a->up)
        n += a->loop != NULL;
    return n;
}

static void loop_followed(follower *f, const place *p, const stmt *s)
{
    around *q = arena_get(f->mem, sizeof *q);
    *q = (around){.up = p->around,
                  .loop = s,
                  .meets = meets_in(f, s),
                  .copies = p->copies,
                  .names = p->names,
                  .number = loops_around(p->around)};
    if (q->number < MANY)
        statements(f, (place){q, meaning_add(f->at, p->names, s->name, NULL, NULL, q->number), p->copies}, s);
}

static void statements(follower *f, place p, const stmt *in)
{
    for (const stmt *s = in->first; s; s = s->next) {
        if (s->value && s->value->kind == C_TILE)
            tile_called(f, &p, s->value);
        else if (s->value && s->kind != S_TABLE)
            values(f, &p, s->value);
        if (s->kind == S_LET || s->kind == S_CONSTANT) {
            p.names = s->value ? meaning_add(f->at, p.names, s->name, s->value, p.names, 0) : p.names;
            for (const stmt *q = s->first; q; q = q->next)
                values(f, &p, q->value), p.names = meaning_add(f->at, p.names, q->name, q->value, p.names, 0);
        } else if (s->kind == S_STORE && s->place->kind == C_ELEMENT)
            element_touched(f, &p, s->place, NULL, true, 0);
        else if (s->kind == S_IF)
            branches(f, &p, s);
        else if (s->kind == S_BARRIER) /* others may have written since */
            f->seen = NULL;
        else if (s->kind == S_LOOP || s->kind == S_CHUNKS)
            loop_followed(f, &p, s);
        else
            statements(f, (place){p.around, p.names, p.copies || s->kind == S_STAGE}, s);
    }
}

void kernel_touch(const emitter *m, touching *to)
{
    ENDED_BY(arena_free) arena mem = {0};
    follower f = {.m = m, .mem = &mem, .to = to, .at = heap_array(1, sizeof *f.at)};
    warp_make(f.at, m, &mem);
    to->shared = m->data.scratch_most;
    kernel_count(m, &to->counts);
    if (to->each)
        statements(&f, (place){0}, m->out.code.at);
    for (int i = 0; i < MAX_STAGES; i++)
        to->waits += f.waits[i];
    warp_free(f.at), free(f.at);
}
