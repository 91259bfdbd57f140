/* footprint.c - which bytes a kernel reads and writes, in the statements that are printed, from the inside out. A place
 * is a sum of loops, each so many times. An access is a set of bytes where the loops around it stand; leaving one of
 * these adds those of its other trips. So behind the statements of a loop stands what one trip of it works on; and what
 * a cache does not hold until it is read again comes again (traffic). Of two branches both are done, of trips that a
 * run says all; what no sum of loops says, as data do, is another place in each trip of those that it is over. */
#include "backends/codegen/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 1 << 13 }; /* runs of a set at most; beyond, its bytes count as evenly spread */

typedef struct run { /* bytes from ... to */
    int64_t from, to;
} run;
typedef struct stride { /* the runs repeated `trips` times, `step` bytes apart */
    int64_t step, trips;
} stride;
typedef struct set {  /* the bytes of one memory that accesses touch, seen from the loops still open */
    const char *base; /* its memory */
    const affine *at; /* its place, as an affine index of the open loops */
    int n, n_stride;
    run *run; /* in order, apart */
    stride *stride;
    double most;             /* bytes of the whole value */
    double bytes;            /* distinct bytes touched in all trips of the loops left */
    double times[MAX_LEVEL]; /* how often each byte enters the cache of a level */
    uint32_t away, kept;     /* bits by level: other bytes displace it before its next read; a trip of `left` fits */
    int left;                /* the last loop left: its stage and depth */
    bool walked, spread;     /* that loop moves it; a loop spread over workers does */
    bool written, handed;    /* the kernel writes it; no other kernel sees it */
} set;
typedef struct sets {
    int n, cap;
    set *all;
} sets;

typedef struct open_loop {
    int stage, depth; /* of the nest; depth 0: of none */
    int64_t trips;
    bool spread; /* its trips go to different workers */
    bool lanes;  /* to different lanes of a group, all at once */
} open_loop;

typedef struct block { /* an open block: what is found in it is freed at its end, except the sets it leaves */
    struct block *up;
    arena own, *outer;
    sets found;
} block;

typedef struct follower {
    walk walk;
    space loops; /* a variable for each that is open */
    arena *mem;  /* of the block */
    footprint *to;
    open_loop loop[DEEP]; /* as the walk counts them */
    const stmt *lanes;    /* that are around all */
    block *block;
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

/* Replaces a stride by its trips as runs; false: there would be too many. */
static bool stride_runs(arena *mem, set *s, stride w)
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

/* Merges two strides where one continues the other. */
static void add_stride(arena *mem, set *s, stride w)
{
    stride *all = arena_joined(mem, s->stride, s->n_stride, NULL, 1, sizeof *all);
    int n = s->n_stride;
    for (int i = 0; i < n; i++) {
        const bool wide = w.step >= all[i].step;
        const stride a = wide ? all[i] : w, b = wide ? w : all[i];
        if (b.step % a.step == 0 && b.step / a.step <= a.trips) {
            w = (stride){a.step, a.trips + b.step / a.step * (b.trips - 1)};
            all[i] = all[--n], i = -1;
        }
    }
    all[n++] = w;
    s->stride = all, s->n_stride = n;
}

static void sort_strides(arena *mem, set *s) /* the narrowest first */
{
    s->stride = arena_joined(mem, s->stride, s->n_stride, NULL, 0, sizeof *s->stride);
    qsort(s->stride, (size_t)s->n_stride, sizeof *s->stride, compare);
}

/* Counts distinct bytes. Strides are applied from the narrowest on: one wider than all before it repeats every byte;
 * where the rest is too large to list, as much as can be distinct is assumed. */
static double count(const set *of)
{
    ENDED_BY(arena_free) arena mem = {0};
    set s = *of;
    double times = 1, end;
    int i = 0;
    sort_strides(&mem, &s);
    while (i < s.n_stride && s.stride[i].step < span(&s) && stride_runs(&mem, &s, s.stride[i]))
        i++;
    for (end = (double)span(&s); i < s.n_stride; i++) {
        const double bytes = bytes_of(&s), more = end + (double)(s.stride[i].step * (s.stride[i].trips - 1));
        times = fmin(times * (double)s.stride[i].trips, bytes > 0 ? more / bytes : 0), end = more;
    }
    return fmin(bytes_of(&s) * times, of->most);
}

static bool has_stride(const set *s, stride w)
{
    int i = 0;
    while (i < s->n_stride && (s->stride[i].step != w.step || s->stride[i].trips != w.trips))
        i++;
    return i < s->n_stride;
}

/* Lists as runs those strides that the other set does not have. */
static bool strides_apart(arena *mem, set *s, const set *other)
{
    bool ok = true;
    int n = 0;
    sort_strides(mem, s);
    for (int i = 0; i < s->n_stride && ok; i++)
        if (has_stride(other, s->stride[i]))
            s->stride[n++] = s->stride[i];
        else
            ok = stride_runs(mem, s, s->stride[i]);
    s->n_stride = n;
    return ok;
}

/* Adds the second set to the first; false: another memory, other loops, or too many runs. */
static bool unite(arena *mem, set *a, const set *of)
{
    set x = *a, b = *of;
    if (strcmp(a->base, b.base) != 0 || !affine_same(a->at, b.at) || !strides_apart(mem, &x, of) ||
        !strides_apart(mem, &b, a))
        return false;
    run *all = arena_joined(mem, x.run, x.n, b.run, b.n, sizeof *all);
    x.run = all, x.n = joined(all, x.n + b.n);
    x.walked |= b.walked, x.spread |= b.spread, x.written |= b.written;
    x.away |= b.away, x.kept &= x.left == b.left ? b.kept : 0;
    *a = x;
    return true;
}

static void set_add(arena *mem, sets *to, const set *s)
{
    to->all = arena_grown(mem, to->all, to->n, &to->cap, sizeof *to->all);
    to->all[to->n++] = *s;
}

static set all_trips(follower *f, const set *of, int which)
{
    const int64_t by = affine_coef(of->at, which), trips = f->loop[which].trips;
    set s = *of;
    if (!by)
        return s;
    s.at = affine_add(&f->loops, s.at, affine_var(&f->loops, which), -by);
    if (by < 0) { /* its last trip comes first */
        s.run = arena_array(f->mem, (size_t)s.n, sizeof *s.run);
        for (int i = 0; i < s.n; i++)
            s.run[i] = (run){of->run[i].from + by * (trips - 1), of->run[i].to + by * (trips - 1)};
    }
    add_stride(f->mem, &s, (stride){by < 0 ? -by : by, trips});
    s.bytes = count(&s);
    return s;
}

/* Distinct bytes of all lanes at loops deeper than `depth`; lanes around all statements count as the deepest. */
static double bytes_within(follower *f, const set *of, int depth)
{
    set s = *of;
    for (int i = 0; i < f->walk.n_loop; i++)
        s = f->loop[i].lanes && (!f->loop[i].depth || f->loop[i].depth > depth) ? all_trips(f, &s, i) : s;
    return s.bytes;
}

/* ---- what caches hold ---- */
/* Bytes of all workers together: each of the trips that are spread over workers and move the set has a piece of its
 * own. */
static double of_all(follower *f, const set *s, double bytes)
{
    int64_t trips = 1;
    for (int i = 0; i < f->walk.n_loop; i++)
        trips *= f->loop[i].spread && (s->handed || affine_coef(s->at, i)) ? f->loop[i].trips : 1;
    bytes *= (double)int_min(trips, f->walk.m->p->threads);
    return s->handed ? bytes : fmin(bytes, s->most);
}

static bool holds(follower *f, int level, double own, double all)
{
    const target *on = f->walk.m->p->on;
    return level < on->n_level && (on->level[level].shared ? all : own) <= (double)target_bytes(on, level);
}

/* Joins the sets of consecutive statements. What a cache holds after all of them is read once, else by each of them;
 * pieces of one loop count as trips that follow each other. */
static sets joined_sets(follower *f, const sets *in)
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
            set_add(f->mem, &out, s);
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
/* Notes the working set of one trip of the loop, and of the lane loops directly inside it. */
static void tell(follower *f, const open_loop *of, const sets *in)
{
    double own = 0, all = 0;
    for (int i = 0; i < in->n; i++) {
        const double bytes = bytes_within(f, &in->all[i], of->depth);
        own += bytes, all += of_all(f, &in->all[i], bytes);
    }
    footprint_add(f->to, &(working_set){of->stage, of->depth, own, all});
    for (int j = 0; j < f->walk.n_loop; j++)
        if (f->loop[j].lanes && f->loop[j].depth == of->depth + 1)
            tell(f, &f->loop[j], in);
}

/* Adds a loop's other trips to the sets. A set that the loop does not move is read again from a cache only if the cache
 * also holds what passes by in a trip: the moving sets once if an inner loop walked them, else twice, old and new. */
static sets leave(follower *f, const sets *in)
{
    const int which = f->walk.n_loop - 1;
    const open_loop *a = &f->loop[which];
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
                     bytes = affine_coef(s.at, which) && !s.walked ? fmin(2 * once, bytes_within(f, &more, 0)) : once;
        own += bytes, all += of_all(f, &s, bytes), set_add(f->mem, &next, &more);
    }
    for (int i = 0; i < in->n; i++) {
        set *s = &next.all[i];
        const bool passes = affine_coef(in->all[i].at, which) && a->trips > 1;
        s->kept = 0, s->left = a->stage * DEEP + a->depth;
        for (int l = 0; l < MAX_LEVEL; l++)
            if (holds(f, l, own, all))
                s->kept |= 1u << l;
            else if (a->trips > 1 && !a->lanes) {
                s->away |= (uint32_t)s->walked << l; /* a set longer than the cache displaces its own start */
                s->times[l] *= !passes && s->away >> l & 1 ? (double)a->trips : 1;
                s->away |= (uint32_t)passes << l;
            }
        s->walked = a->trips > 1 ? passes : s->walked, s->spread |= passes && a->spread;
    }
    return next;
}

/* ---- places ---- */
static const affine *place_of(follower *f, const integer *x);

/* A place that is no affine index (data): assumed different in each trip of the loops that it depends on */
static const affine *data_of(follower *f, const integer *x)
{
    const affine *of[DEEP], *sum = affine_const(&f->loops, 0);
    int64_t trips = 1;
    MUST(x->n <= DEEP);
    for (int i = 0; i < x->n; i++)
        of[i] = place_of(f, x->arg[i]);
    for (int l = f->walk.n_loop - 1; l >= 0; l--) {
        bool over = false;
        for (int i = 0; i < x->n; i++)
            over = over || affine_coef(of[i], l);
        if (over)
            sum = affine_add(&f->loops, sum, affine_var(&f->loops, l), trips), trips *= f->loop[l].trips;
    }
    return sum;
}

static const affine *place_of(follower *f, const integer *x)
{
    space *s = &f->loops;
    const affine *sum = affine_const(s, x->kind == OF_NUMBER || x->kind == OF_SUM ? x->number : 0);
    const integer *by = x->does == W_TIMES || x->does == W_MAX ? x->arg[1] : NULL;
    if (x->kind == OF_NUMBER)
        return sum;
    if (x->kind == OF_LANE)
        return affine_var(s, 0);
    if (x->kind == OF_LOOP)
        return affine_add(s, x->from ? place_of(f, x->from) : sum, affine_var(s, (int)x->number), x->step);
    for (int i = 0; x->kind == OF_SUM && i < x->n; i++)
        sum = affine_add(s, sum, place_of(f, x->arg[i]), x->times[i]);
    if (x->kind == OF_SUM)
        return sum;
    if (!by || by->kind != OF_NUMBER || by->base)
        return data_of(f, x);
    return x->does == W_MAX ? affine_const(s, by->number) /* where a loop begins first */
                            : affine_scale(s, place_of(f, x->arg[0]), by->number);
}

/* ---- accesses ---- */
static set *found(follower *f, const char *base, const affine *at, int64_t bytes, bool written)
{
    const emitter *m = f->walk.m;
    set s = {.base = base, .n = 1, .most = INFINITY, .written = written};
    if (!base || bytes <= 0)
        return NULL;
    s.run = arena_get(f->mem, sizeof *s.run), *s.run = (run){at->c, at->c + bytes};
    s.at = affine_add(&f->loops, at, affine_const(&f->loops, 1), -at->c);
    for (int i = 0; i < MAX_LEVEL; i++)
        s.times[i] = 1;
    s.handed = true;
    if (!strcmp(base, "scratch"))
        s.most = (double)m->data.scratch_most;
    const operand *all = m->data.operand;
    for (int i = 0; i < m->data.n_operand; i++)
        if (!strcmp(all[i].name, base)) {
            int first = 0; /* what is written may be read by another name */
            while (all[first].node != all[i].node || all[first].leaf != all[i].leaf)
                first++;
            s.base = all[first].name, s.handed = false;
            s.most = (double)all[i].layout->size * stored_width(m->p, all[i].node);
        }
    s.bytes = fmin((double)bytes, s.most);
    set_add(f->mem, &f->block->found, &s);
    return &f->block->found.all[f->block->found.n - 1];
}

static set *found_at(follower *f, const integer *x, int64_t bytes, bool written)
{
    return found(f, x->base, place_of(f, x), bytes, written);
}

static void repeated(follower *f, set *s, stride w)
{
    if (s && w.trips > 1 && w.step > 0)
        add_stride(f->mem, s, w), s->bytes = count(s);
}

static void box_found(follower *f, const cexpr *x)
{
    const box_of *of = &f->walk.m->data.box[x->bytes];
    const struct box *b = &of->box;
    const affine *at = affine_const(&f->loops, b->first * b->size);
    for (int d = 0; d < (int)b->n; d++)
        at = affine_add(&f->loops, at, place_of(f, integer_of(&f->walk, x->arg[x->n - (int)b->n + d])),
                        (d ? b->dim[d].stride : 1) * b->size);
    set *s = found(f, f->walk.m->data.operand[of->operand].name, at, b->dim[0].count * b->size, false);
    for (int d = 1; d < (int)b->n; d++)
        repeated(f, s, (stride){b->dim[d].stride * b->size, b->dim[d].count});
}

/* Rows of as many bytes as a square block of vectors has, from $2 on, and to $0, so many elements apart */
static void block_found(follower *f, const cexpr *x)
{
    enum { BLOCK = 16 };
    const int bytes = element_bytes(x->of.of);
    for (int i = 0; i < 4; i += 2) {
        int64_t apart = 0;
        set *s = found_at(f, integer_of(&f->walk, x->arg[i]), BLOCK * bytes, !i);
        if (cexpr_known(x->arg[i + 1], &apart))
            repeated(f, s, (stride){apart * bytes, BLOCK});
    }
}

static void use(walk *w, const access *a)
{
    follower *f = w->user;
    if (a->kind == OF_BOX)
        box_found(f, a->x);
    if (a->kind == OF_BLOCK)
        block_found(f, a->x);
    if (a->kind != OF_ELEMENT || !cexpr_in_memory(a->x))
        return;
    found_at(f, integer_place(w, a->x), a->bytes, a->written);
}

/* ---- loops and blocks ---- */
static bool loops(const walk *w, const stmt *s)
{
    follower *f = w->user;
    const stmt *in = s->kind == S_CHUNKS ? s->first : NULL;
    const bool parts = in && in->kind == S_IF && in->depth == s->depth; /* each of them is another statement */
    return s == f->lanes || ((s->depth || s->kind == S_LOOP) && !parts);
}

static int64_t trips_of(const stmt *s)
{
    int64_t from, to;
    if (s->kind == S_LET || s->kind == S_CONSTANT)
        return s->to && cexpr_known(s->to, &to) ? to : 1;
    if (s->kind == S_IF && cexpr_known(s->from, &from) && cexpr_known(s->to, &to))
        return to - from;
    return int_max((int64_t)stmt_trips(s), 1);
}

static void open(walk *w, const stmt *s, around *trips)
{
    follower *f = w->user;
    const kernel *k = w->m->k;
    if (s->kind == S_STAGE)
        return;
    block *b = arena_get(w->mem, sizeof *b);
    *b = (block){.up = f->block, .outer = f->mem};
    f->block = b, f->mem = &b->own;
    if (!trips)
        return;
    const bool spread = s->depth && s->depth <= nest_outer(k)->n && nest_spread(k, s->depth - 1),
               lanes = (s->kind == S_LET && !spread) || s == f->lanes;
    f->loop[trips->number] = (open_loop){s->depth <= k->shared.n ? k->main : s->stage, s->depth, trips_of(s), spread,
                                         lanes};
    var_add(&f->loops, "", 0, f->loop[trips->number].trips - 1);
}

static void close(walk *w, const stmt *s, const around *trips)
{
    follower *f = w->user;
    block *b = f->block;
    if (s->kind == S_STAGE)
        return;
    sets all = joined_sets(f, &b->found);
    if (trips)
        all = leave(f, &all), f->loops.n--;
    f->block = b->up, f->mem = b->outer;
    for (int i = 0; i < all.n; i++) {
        set *left = &all.all[i];
        left->run = arena_joined(f->mem, left->run, left->n, NULL, 0, sizeof *left->run);
        left->stride = arena_joined(f->mem, left->stride, left->n_stride, NULL, 0, sizeof *left->stride);
        set_add(f->mem, &f->block->found, left);
    }
    arena_free(&b->own);
}

/* A slice that one stage hands to another is read from outside only if a cache could not hold it. */
void kernel_footprint(const emitter *m, footprint *to)
{
    static const told asks = {loops, open, close, use, NULL};
    ENDED_BY(arena_free) arena mem = {0};
    const stmt lanes = {.kind = S_CHUNKS, .name = "", .trips = int_max(m->group, 1), .first = m->out.code.at->first};
    block all = {0};
    follower f = {.walk = {.m = m, .mem = &mem, .to = &asks},
                  .to = to,
                  .lanes = &lanes,
                  .block = &all,
                  .mem = &mem,
                  .loops.mem = &mem};
    f.walk.user = &f;
    *to = (footprint){0};
    walk_statement(&f.walk, &lanes);
    const sets out = joined_sets(&f, &all.found);
    for (int i = 0; i < out.n; i++) {
        const set *s = &out.all[i];
        for (int l = 0; l < m->p->on->n_level; l++)
            to->traffic[l] += s->handed && !(s->away >> l & 1) ? 0 : s->bytes * s->times[l];
        to->apart += s->spread || s->written || s->handed ? 0 : s->bytes * (m->p->threads - 1);
    }
}
