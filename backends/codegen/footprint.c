/* footprint.c - which bytes a kernel reads and writes, in the statements that are printed, from the inside out. A place
 * is a sum of loops, each so many times. An access is a set of bytes where the loops around it stand; leaving one of
 * these adds those of its other trips. So behind the statements of a loop stands what one trip of it works on; and what
 * a cache does not hold until it is read again comes again (traffic). Of two branches both are done, of trips that a
 * run says all; what no sum of loops says, as data do, is another place in each trip of those that it is over. */
#include "backends/codegen/emit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEP = 64, RUNS = 1 << 13 }; /* loops around a place; runs that a set may have, else it is taken as even */

typedef struct form { /* at, and the trip of each loop so many times */
    const char *base; /* the memory in which it lies; NULL: it is a number */
    int64_t at, by[DEEP];
} form;

typedef struct meaning { /* what a name stands for */
    const struct meaning *up;
    const char *is;
    form value;
} meaning;

typedef struct run { /* bytes from ... to */
    int64_t from, to;
} run;
typedef struct walk { /* all of it again and again, so far apart */
    int64_t step, trips;
} walk;
typedef struct set { /* of bytes of one memory, where loops around stand */
    form of;
    int n, n_walk;
    run *run; /* in order, apart */
    walk walk[DEEP];
    double most;             /* bytes that there are */
    double bytes;            /* distinct ones, of all trips of the loops left */
    double times[MAX_LEVEL]; /* that each comes into a cache */
    uint32_t away, kept;  /* by level: something else is there before it is read again; it holds a trip's of `left` */
    int left;             /* which loop of a nest, of which stage, was left last */
    bool walked, spread;  /* by that loop; by one whose trips go to different workers */
    bool written, handed; /* the kernel writes it; has it for itself alone */
} set;
typedef struct sets {
    int n, cap;
    set *all;
} sets;

typedef struct around { /* a loop that is open */
    int stage, depth;   /* of the nest; depth 0: of none */
    int64_t trips;
    bool spread; /* its trips go to different workers */
    bool lanes;  /* to different lanes of a group, all at once */
} around;

typedef struct follower {
    const emitter *m;
    arena *mem;
    footprint *to;
    int n;
    around loop[DEEP];
    const stmt *lanes;   /* that are around all */
    const meaning *lane; /* which every function knows */
} follower;

/* ---- sets ---- */
static int compare(const void *a, const void *b) /* where runs begin, steps of walks */
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int joined(run *all, int n) /* in order, apart; how many are left */
{
    int end = 0;
    qsort(all, (size_t)n, sizeof *all, compare);
    for (int i = 0; i < n; i++)
        if (end && all[i].from <= all[end - 1].to)
            all[end - 1].to = int_max(all[end - 1].to, all[i].to);
        else
            all[end++] = all[i];
    return end;
}

static int64_t span(const set *s)
{
    return s->n ? s->run[s->n - 1].to - s->run->from : 0;
}

static double bytes_of(const set *s)
{
    double sum = 0;
    for (int i = 0; i < s->n; i++)
        sum += (double)(s->run[i].to - s->run[i].from);
    return sum;
}

/* The trips of a walk as runs; false: these would be too many. */
static bool walk_runs(arena *mem, set *s, walk w)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < s->n; i++)
        least = int_min(least, s->run[i].to - s->run[i].from);
    const bool on = w.step <= least; /* each run goes on as another one */
    if (!on && s->n * w.trips > RUNS)
        return false;
    run *all = arena_array(mem, (size_t)(on ? s->n : s->n * w.trips), sizeof *all);
    int n = 0;
    for (int64_t t = 0; t < (on ? 1 : w.trips); t++)
        for (int i = 0; i < s->n; i++)
            all[n++] = (run){s->run[i].from + t * w.step, s->run[i].to + (on ? w.trips - 1 : t) * w.step};
    s->run = all, s->n = joined(all, n);
    return true;
}

/* Two walks of which one goes on where the other one ends are one. */
static void add_walk(set *s, walk w)
{
    for (int i = 0; i < s->n_walk; i++) {
        const bool wide = w.step >= s->walk[i].step;
        const walk a = wide ? s->walk[i] : w, b = wide ? w : s->walk[i];
        if (b.step % a.step == 0 && b.step / a.step <= a.trips) {
            s->walk[i] = s->walk[--s->n_walk];
            add_walk(s, (walk){a.step, a.trips + b.step / a.step * (b.trips - 1)});
            return;
        }
    }
    MUST(s->n_walk < DEEP);
    s->walk[s->n_walk++] = w;
}

/* Of distinct bytes. Walks from the narrowest on: beyond what lies before, all of it is there once more; else as many
 * as can be, where they are too many to tell. */
static double count(const set *of)
{
    ENDED_BY(arena_free) arena mem = {0};
    set s = *of;
    double times = 1, end;
    int i = 0;
    qsort(s.walk, (size_t)s.n_walk, sizeof *s.walk, compare);
    while (i < s.n_walk && s.walk[i].step < span(&s) && walk_runs(&mem, &s, s.walk[i]))
        i++;
    for (end = (double)span(&s); i < s.n_walk; i++) {
        const double bytes = bytes_of(&s), more = end + (double)(s.walk[i].step * (s.walk[i].trips - 1));
        times = fmin(times * (double)s.walk[i].trips, bytes > 0 ? more / bytes : 0), end = more;
    }
    return fmin(bytes_of(&s) * times, of->most);
}

static bool walks(const set *s, walk w)
{
    int i = 0;
    while (i < s->n_walk && (s->walk[i].step != w.step || s->walk[i].trips != w.trips))
        i++;
    return i < s->n_walk;
}

/* Walks that the other one has not become runs. */
static bool walk_apart(arena *mem, set *s, const set *other)
{
    bool good = true;
    int n = 0;
    qsort(s->walk, (size_t)s->n_walk, sizeof *s->walk, compare);
    for (int i = 0; i < s->n_walk && good; i++)
        if (walks(other, s->walk[i]))
            s->walk[n++] = s->walk[i];
        else
            good = walk_runs(mem, s, s->walk[i]);
    s->n_walk = n;
    return good;
}

/* false: they are of other memory, or move otherwise, or it would take too many runs. */
static bool unite(arena *mem, set *a, const set *of)
{
    set x = *a, b = *of;
    if (strcmp(a->of.base, b.of.base) != 0 || memcmp(a->of.by, b.of.by, sizeof b.of.by) != 0 ||
        !walk_apart(mem, &x, of) || !walk_apart(mem, &b, a))
        return false;
    run *all = arena_array(mem, (size_t)(x.n + b.n), sizeof *all);
    memcpy(all, x.run, (size_t)x.n * sizeof *all), memcpy(all + x.n, b.run, (size_t)b.n * sizeof *all);
    x.run = all, x.n = joined(all, x.n + b.n);
    x.walked |= b.walked, x.spread |= b.spread, x.written |= b.written;
    x.away |= b.away, x.kept &= x.left == b.left ? b.kept : 0;
    *a = x;
    return true;
}

static void set_add(const follower *f, sets *to, const set *s)
{
    to->all = arena_grown(f->mem, to->all, to->n, &to->cap, sizeof *to->all);
    to->all[to->n++] = *s;
}

static set all_trips(const follower *f, const set *of, int which)
{
    const int64_t by = of->of.by[which], trips = f->loop[which].trips;
    set s = *of;
    s.of.by[which] = 0;
    if (!by || trips < 2)
        return s;
    if (by < 0) { /* its last trip comes first */
        s.run = arena_array(f->mem, (size_t)s.n, sizeof *s.run);
        for (int i = 0; i < s.n; i++)
            s.run[i] = (run){of->run[i].from + by * (trips - 1), of->run[i].to + by * (trips - 1)};
    }
    add_walk(&s, (walk){by < 0 ? -by : by, trips});
    s.bytes = count(&s);
    return s;
}

/* Distinct ones, of all lanes that stand further in than so many loops: what is around all statements is within all
 * loops */
static double bytes_within(const follower *f, const set *of, int depth)
{
    set s = *of;
    for (int i = 0; i < f->n; i++)
        s = f->loop[i].lanes && (!f->loop[i].depth || f->loop[i].depth > depth) ? all_trips(f, &s, i) : s;
    return s.bytes;
}

/* ---- what caches hold ---- */
/* Bytes of all workers that have their own piece of it: as many as there are trips along which it moves */
static double of_all(const follower *f, const set *s, double bytes)
{
    int64_t trips = 1;
    for (int i = 0; i < f->n; i++)
        trips *= f->loop[i].spread && (s->handed || s->of.by[i]) ? f->loop[i].trips : 1;
    bytes *= (double)int_min(trips, f->m->p->threads);
    return s->handed ? bytes : fmin(bytes, s->most);
}

static bool holds(const follower *f, int level, double own, double all)
{
    const target *on = f->m->p->on;
    return level < on->n_level && (on->level[level].shared ? all : own) <= (double)target_bytes(on, level);
}

/* Of statements one after another. What a cache holds behind all of them is read once, else by each; what pieces of a
 * loop read, as in one trip after the other. */
static sets joined_sets(const follower *f, const sets *in)
{
    sets out = {0};
    double own = 0, all = 0, (*came)[MAX_LEVEL] = arena_array(f->mem, (size_t)in->n + 1, sizeof *came),
           *seen = arena_array(f->mem, (size_t)in->n + 1, sizeof *seen);
    for (int i = 0; i < in->n; i++) {
        const set *s = &in->all[i];
        int j = 0;
        while (j < out.n && !unite(f->mem, &out.all[j], s))
            j++;
        if (j == out.n)
            set_add(f, &out, s);
        for (int l = 0; l < MAX_LEVEL; l++)
            came[j][l] += s->bytes * s->times[l];
        seen[j] += s->bytes;
    }
    for (int j = 0; j < out.n; j++) {
        set *s = &out.all[j];
        s->bytes = count(s);
        const double bytes = bytes_within(f, s, 0);
        own += bytes, all += of_all(f, s, bytes);
    }
    for (int j = 0; j < out.n; j++) {
        set *s = &out.all[j];
        for (int l = 0; l < MAX_LEVEL; l++) {
            const bool once = s->kept >> l & 1 || holds(f, l, own, all);
            s->times[l] = came[j][l] / fmax(once ? seen[j] : s->bytes, 1);
            s->away |= (uint32_t)(!once && seen[j] > s->bytes) << l;
        }
    }
    return out;
}

/* ---- loops ---- */
/* What one trip of the loop works on; and of loops over lanes that the nest has within it */
static void tell(const follower *f, const around *of, const sets *in)
{
    double own = 0, all = 0;
    for (int i = 0; i < in->n; i++) {
        const double bytes = bytes_within(f, &in->all[i], of->depth);
        own += bytes, all += of_all(f, &in->all[i], bytes);
    }
    footprint_add(f->to, &(working_set){of->stage, of->depth, own, all});
    for (int j = 0; j < f->n; j++)
        if (f->loop[j].lanes && f->loop[j].depth == of->depth + 1)
            tell(f, &f->loop[j], in);
}

/* Is what the loop does not move along still there in its next trip? What it moves along has passed by meanwhile: once
 * if the next loop walked it, twice, the old and the new, if every trip of that loop needs all of it. */
static void leave(follower *f, const sets *in, sets *out)
{
    const int which = f->n - 1;
    const around *a = &f->loop[which];
    double own = 0, all = 0;
    int around_it = which; /* of lanes: what they are all within */
    sets next = {0};
    while (f->loop[around_it].lanes && around_it && f->loop[around_it - 1].depth == f->loop[around_it].depth - 1)
        around_it--;
    if (a->depth && !f->loop[around_it].lanes)
        tell(f, a, in);
    for (int i = 0; i < in->n; i++) {
        const set s = in->all[i], more = all_trips(f, &s, which);
        const double once = bytes_within(f, &s, 0),
                     bytes = s.of.by[which] && !s.walked ? fmin(2 * once, bytes_within(f, &more, 0)) : once;
        own += bytes, all += of_all(f, &s, bytes), set_add(f, &next, &more);
    }
    for (int i = 0; i < in->n; i++) {
        set *s = &next.all[i];
        const bool passes = in->all[i].of.by[which] && a->trips > 1;
        s->kept = 0, s->left = a->stage * DEEP + a->depth;
        for (int l = 0; l < MAX_LEVEL; l++)
            if (holds(f, l, own, all))
                s->kept |= 1u << l;
            else if (a->trips > 1 && !a->lanes) {
                s->away |= (uint32_t)s->walked << l; /* what came first went before the last of it came */
                s->times[l] *= !passes && s->away >> l & 1 ? (double)a->trips : 1;
                s->away |= (uint32_t)passes << l;
            }
        s->walked = a->trips > 1 ? passes : s->walked, s->spread |= passes && a->spread;
        set_add(f, out, s);
    }
    f->n--;
}

/* ---- places ---- */
static form place_of(const follower *f, const cexpr *x, const meaning *known);

static form sum_of(form a, const form *b, int64_t times)
{
    a.base = a.base ? a.base : b->base, a.at += times * b->at;
    for (int i = 0; i < DEEP; i++)
        a.by[i] += times * b->by[i];
    return a;
}

/* No sum of loops: another number in each trip of those that it is over */
static form number_of(const follower *f, const cexpr *x, const meaning *known)
{
    form over = {0}, number = {0};
    int64_t trips = 1;
    for (int i = 0; i < x->n; i++) {
        const form own = place_of(f, x->arg[i], known);
        for (int l = 0; l < DEEP; l++)
            over.by[l] |= own.by[l];
    }
    for (int l = f->n - 1; l >= 0; l--)
        if (over.by[l])
            number.by[l] = trips, trips *= f->loop[l].trips;
    return number;
}

static form element_at(const follower *f, const cexpr *x, const meaning *known)
{
    const form index = place_of(f, x->arg[0], known);
    return sum_of(place_of(f, x->arg[1], known), &index, x->bytes);
}

static form place_of(const follower *f, const cexpr *x, const meaning *known)
{
    const bool pointer = x->kind == C_POINTER;
    form sum = {.at = x->kind == C_NUMBER || x->kind == C_SUM ? x->number : 0};
    int64_t least;
    if (x->kind == C_WORD) {
        while (known && strcmp(known->is, x->text) != 0)
            known = known->up;
        return known ? known->value : (form){.base = x->whole ? NULL : x->text, .at = x->whole ? x->number : 0};
    }
    if (x->whole == W_ADDRESS && x->arg[0]->kind == C_ELEMENT) { /* less $1 elements */
        sum = element_at(f, x->arg[0], known);
        const form less = x->n > 1 ? place_of(f, x->arg[1], known) : (form){0};
        return sum_of(sum, &less, -x->arg[0]->bytes);
    }
    if (x->kind == C_SUM || pointer || (x->n == 1 && x->kind == C_FORM && !x->does))
        for (int i = 0; i < x->n; i++) {
            const form own = place_of(f, x->arg[i], known);
            sum = sum_of(sum, &own, x->kind == C_SUM ? x->times[i] : pointer && i ? x->number : 1);
        }
    else if (x->whole == W_TIMES && cexpr_known(x->arg[1], &least)) {
        const form own = place_of(f, x->arg[0], known);
        sum = sum_of(sum, &own, least);
    } else if (x->whole == W_MAX && cexpr_known(x->arg[1], &least)) /* where a loop begins first */
        sum.at = least;
    else if (x->kind != C_NUMBER)
        sum = number_of(f, x, known);
    return sum;
}

/* ---- accesses ---- */
static void access(follower *f, const form *at, int64_t bytes, bool written, sets *out)
{
    const emitter *m = f->m;
    set s = {.of = *at, .n = 1, .run = arena_array(f->mem, 1, sizeof *s.run), .most = INFINITY, .written = written};
    if (!at->base || bytes <= 0)
        return;
    *s.run = (run){at->at, at->at + bytes}, s.of.at = 0;
    for (int i = 0; i < MAX_LEVEL; i++)
        s.times[i] = 1;
    s.handed = true;
    if (!strcmp(at->base, "scratch"))
        s.most = (double)m->data.scratch_most;
    const operand *all = m->data.operand;
    for (int i = 0; i < m->data.n_operand; i++)
        if (!strcmp(all[i].name, at->base)) {
            int first = 0; /* what is written may be read by another name */
            while (all[first].node != all[i].node || all[first].leaf != all[i].leaf)
                first++;
            s.of.base = all[first].name, s.handed = false;
            s.most = (double)all[i].layout->size * stored_width(m->p, all[i].node);
        }
    s.bytes = fmin((double)bytes, s.most);
    set_add(f, out, &s);
}

static void element_used(follower *f, const cexpr *x, int64_t bytes, bool written, const meaning *known, sets *out)
{
    const form at = element_at(f, x, known);
    if (x->bytes)
        access(f, &at, bytes, written, out);
}

static void value(follower *f, const cexpr *x, const meaning *known, sets *out);

static void again(sets *in, walk w) /* of what was added last */
{
    set *s = &in->all[in->n - 1];
    if (w.trips > 1 && w.step > 0)
        add_walk(s, w), s->bytes = count(s);
}

static void box_used(follower *f, const cexpr *x, const meaning *known, sets *out)
{
    const box_of *of = &f->m->data.box[x->bytes];
    const struct box *b = &of->box;
    form at = {.base = f->m->data.operand[of->operand].name, .at = b->first * b->size};
    for (int d = 0; d < (int)b->n; d++) {
        const form own = place_of(f, x->arg[x->n - (int)b->n + d], known);
        at = sum_of(at, &own, (d ? b->dim[d].stride : 1) * b->size);
    }
    access(f, &at, b->dim[0].count * b->size, false, out);
    for (int d = 1; d < (int)b->n; d++)
        again(out, (walk){b->dim[d].stride * b->size, b->dim[d].count});
}

static void moved(follower *f, const cexpr *x, const meaning *known, sets *out)
{
    if (x->moves == BOXES)
        box_used(f, x, known, out);
    else if (x->moves == TAKES || x->moves == PUTS || x->moves == SENDS)
        element_used(f, x->arg[x->moves == SENDS]->arg[0], x->bytes, x->moves == PUTS, known, out);
    if (x->moves == PUTS)
        value(f, x->arg[1], known, out);
}

/* Rows of as many bytes as a square block of vectors has, from $2 on, and to $0, so many elements apart */
static void turned(follower *f, const cexpr *x, const meaning *known, sets *out)
{
    enum { BLOCK = 16 };
    const int bytes = element_bytes(x->of.of);
    for (int i = 0; i < 4; i += 2) {
        const form at = place_of(f, x->arg[i], known);
        int64_t apart = 0;
        access(f, &at, BLOCK * bytes, !i, out);
        if (cexpr_known(x->arg[i + 1], &apart))
            again(out, (walk){apart * bytes, BLOCK});
    }
}

static int64_t vector_bytes(const cexpr *x) /* that an operation on a place reads or writes there */
{
    int64_t n = x->of.n;
    if (!strcmp(x->does, "part") || !strcmp(x->does, "put"))
        cexpr_known(x->arg[x->n - 1], &n);
    n = !strcmp(x->does, "word") ? 1 : !strcmp(x->does, "pairs") ? n / 2 : n;
    return !strcmp(x->does, "splat") ? x->arg[0]->bytes : n * element_bytes(x->of.of);
}

static void tile_called(follower *f, const cexpr *x, const meaning *known, sets *out);

static void value(follower *f, const cexpr *x, const meaning *known, sets *out)
{
    const bool place = x->does && x->of.n && op_places(x->does) && cexpr_in_memory(x->arg[0]);
    if (x->kind == C_TILE)
        tile_called(f, x, known, out);
    else if (x->moves)
        moved(f, x, known, out);
    else if (x->does && !strcmp(x->does, "turned"))
        turned(f, x, known, out);
    else if (place)
        element_used(f, x->arg[0], vector_bytes(x), !op_reads(x->does), known, out);
    else if (cexpr_in_memory(x))
        element_used(f, x, x->bytes, false, known, out);
    for (int i = 0; i < x->n && x->kind != C_TILE && !x->moves && x->whole != W_ADDRESS; i++)
        value(f, i || !place ? x->arg[i] : x->arg[0]->arg[0], known, out);
}

/* ---- statements ---- */
static void statements(follower *f, const stmt *first, const meaning *known, sets *out);

static meaning *meaning_of(const follower *f, const meaning *up, const char *is, form value)
{
    meaning *n = arena_get(f->mem, sizeof *n);
    *n = (meaning){up, is, value};
    return n;
}

static void tile_called(follower *f, const cexpr *x, const meaning *known, sets *out)
{
    const tile_made *t = f->m->tiles.made[x->load];
    const meaning *own = f->lane;
    for (int i = 0; i < x->n; i++)
        own = meaning_of(f, own, t->parameter[i]->text, place_of(f, x->arg[i], known));
    statements(f, t->body->first, own, out);
}

/* What the name of a loop's trip stands for: a loop that is open now. Steps of it, from `from` on */
static const meaning *enter(follower *f, const stmt *s, int64_t trips, const meaning *known)
{
    const kernel *k = f->m->k;
    const bool spread = s->depth && s->depth <= nest_outer(k)->n && nest_spread(k, s->depth - 1),
               lanes = (s->kind == S_LET && !spread) || s == f->lanes;
    meaning *n = meaning_of(f, known, s->name ? s->name : s->up->name, (form){0});
    MUST(f->n < DEEP);
    if (s->kind == S_CONSTANT || s->from)
        n->value = place_of(f, s->from ? s->from : s->value, known), n->value.base = NULL;
    n->value.by[f->n] += s->kind == S_LOOP && s->step ? s->step : 1;
    f->loop[f->n++] = (around){s->depth <= k->shared.n ? k->main : s->stage, s->depth, trips, spread, lanes};
    return n;
}

static void loop_of(follower *f, const stmt *s, const meaning *known, sets *out)
{
    int64_t from, to, trips = int_max((int64_t)stmt_trips(s), 1);
    if (s->kind == S_IF && cexpr_known(s->from, &from) && cexpr_known(s->to, &to))
        trips = to - from;
    sets in = {0};
    if (s->kind == S_CHUNKS && s->first && s->first->kind == S_IF && s->first->depth == s->depth) {
        statements(f, s->first, known, out); /* each part of its trips is another statement */
        return;
    }
    statements(f, s->first, enter(f, s, trips, known), &in);
    leave(f, &in, out);
}

/* The trip of a loop by chunks, or by lanes, which is what the rest of a block is in */
static void rest_in(follower *f, const stmt *s, const meaning *known, sets *out)
{
    int64_t trips = 1;
    if (s->to)
        cexpr_known(s->to, &trips);
    const meaning *own = enter(f, s, trips, known);
    sets in = {0};
    statements(f, s->next, own, &in);
    leave(f, &in, out);
}

static const meaning *named(follower *f, const stmt *s, const meaning *known, sets *out)
{
    if (s->value)
        value(f, s->value, known, out);
    return s->value ? meaning_of(f, known, s->name, place_of(f, s->value, known)) : known;
}

static const meaning *statement(follower *f, const stmt *s, const meaning *known, sets *out)
{
    if (s->kind == S_LET || s->kind == S_CONSTANT) {
        known = named(f, s, known, out);
        for (const stmt *q = s->first; q; q = q->next)
            known = named(f, q, known, out);
        return known;
    }
    if (s->value && s->kind != S_FETCH && s->kind != S_TABLE)
        value(f, s->value, known, out);
    if (s->kind == S_STORE && cexpr_in_memory(s->place))
        element_used(f, s->place, s->place->bytes, true, known, out), value(f, s->place->arg[0], known, out);
    if (s->kind == S_STAGE) /* what it names stays */
        for (const stmt *q = s->first; q; q = q->next)
            known = statement(f, q, known, out);
    else if (s->depth || s->kind == S_LOOP)
        loop_of(f, s, known, out);
    else
        statements(f, s->first, known, out);
    if (s->other)
        statements(f, s->other->first, known, out);
    return known;
}

/* What is found on the way is let go of, but the sets that are left. */
static void statements(follower *f, const stmt *first, const meaning *known, sets *out)
{
    ENDED_BY(arena_free) arena own = {0};
    arena *was = f->mem;
    sets all = {0};
    const stmt *s = first;
    f->mem = &own;
    for (; s && !((s->kind == S_LET || s->kind == S_CONSTANT) && s->depth); s = s->next)
        known = statement(f, s, known, &all);
    if (s)
        rest_in(f, s, known, &all);
    all = joined_sets(f, &all);
    f->mem = was;
    for (int i = 0; i < all.n; i++) {
        set *left = &all.all[i];
        left->run = memcpy(arena_array(was, (size_t)left->n, sizeof *left->run), left->run,
                           (size_t)left->n * sizeof *left->run);
        set_add(f, out, left);
    }
}

/* What stages hand on comes from outside only where it had to leave. */
void kernel_footprint(const emitter *m, footprint *to)
{
    ENDED_BY(arena_free) arena mem = {0};
    const stmt lanes = {.kind = S_CHUNKS, .name = m->d->lane ? m->d->lane : ""};
    follower f = {.m = m, .mem = &mem, .to = to, .lanes = &lanes};
    sets in = {0}, out = {0};
    *to = (footprint){0};
    f.lane = enter(&f, &lanes, int_max(m->group, 1), NULL);
    statements(&f, m->out.code.at->first, f.lane, &in);
    leave(&f, &in, &out);
    out = joined_sets(&f, &out);
    for (int i = 0; i < out.n; i++) {
        const set *s = &out.all[i];
        for (int l = 0; l < m->p->on->n_level; l++)
            to->traffic[l] += s->handed && !(s->away >> l & 1) ? 0 : s->bytes * s->times[l];
        to->apart += s->spread || s->written || s->handed ? 0 : s->bytes * (m->p->threads - 1);
    }
}
