/* guess_product.c - loops of contractions: y[m,n] = sum over k of a[m,k] b[k,n], m, n and k being several axes each.
 *
 * A group takes a block of rows and columns, each lane a register tile of it, for all of k. Slices of a and b wait in
 * shared memory, where all lanes of a row or column find them. The block, the tile and the depth of a slice are those
 * that take least time by a small model of one processor: products, reads of shared memory, what slices cost to come,
 * and groups that hide one another's waits. */
#include "backends/gpu/guess_parts.h"
#include "schedule/nest/sums.h"

#include <math.h>

typedef struct candidate {
    int64_t row_lanes, column_lanes, fold_lanes, row_each, column_each, depth;
    int64_t parts; /* of the sum, that go to different groups */
} candidate;

/* Those that take fewest cycles, and what came next to them */
typedef struct ranking {
    candidate best, next;
    double fewest, after;
} ranking;

/* Warp instructions that a processor issues in a cycle; instructions to copy one element to shared memory: a load, a
 * store, and two divisions to find both addresses; registers for addresses and counters. */
enum { ISSUED = 4, MOVES = 12, OVERHEAD = 52 };
enum { IDLE = 2 };               /* a tile that leaves lanes of the group idle has to be so many times as fast */
enum { MEET = 30, BEGIN = 100 }; /* cycles until all lanes have met; until a group has begun */

/* ---- which axes ---- */
static uint32_t left_over(const product *c, uint32_t axes) /* the axes of more than one element */
{
    for (int a = 0; a < c->s->n_axis; a++)
        if (nest_left(c->k, c->s, a, -1) <= 1)
            axes &= ~(1u << a);
    return axes;
}

/* The pair of operands with the most combinations of a row and a column. */
static bool find_operands(product *c)
{
    const stage *s = c->s;
    const int n = s->n_folded;
    const uint32_t result = left_over(c, (1u << s->n_result) - 1);
    double best = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const uint32_t a = x_axes_of(s->load[i]), b = x_axes_of(s->load[j]), rows = a & ~b & result,
                           columns = b & ~a & result;
            double pairs = 1;
            if (!rows || !columns || rows > columns || !(a & b & s->folds)) /* the last axis is a column */
                continue;
            for (int x = 0; x < s->n_axis; x++)
                pairs *= (rows | columns) >> x & 1 ? (double)s->extent[x] : 1;
            if (pairs > best)
                best = pairs, c->rows = rows, c->columns = columns, c->load[0] = i, c->load[1] = j;
        }
    for (int a = 0; a < s->n_result; a++)
        if (c->columns >> a & 1)
            c->column = a;
    return best > 0;
}

static void find_staged(product *c)
{
    c->bytes = gpu_plain_room(c->p);
    for (int i = 0; i < c->k->n_stage && c->k->n_stage > 1; i++) {
        const stage *s = &c->k->stage[i];
        int64_t bytes = ts_dtype_bytes(s->node->type.dtype);
        for (int a = 0; a < s->n_result; a++)
            if (!int_mul(bytes, nest_left(c->k, s, a, -1), &bytes))
                bytes = c->bytes;
        c->bytes -= s->scratch ? int_min(bytes, c->bytes) : 0;
    }
    for (int i = 0; i < 2; i++)
        c->staged[i] = !nest_no_copy(c->k, c->s, c->load[i], false);
}

/* ---- what a candidate deals ---- */
static void deal_set(dealt *d, uint32_t axes, int64_t lanes, int64_t each)
{
    int inner = -1;
    for (int a = 0; a < d->s->n_axis; a++)
        if (axes >> a & 1)
            inner = a;
    d->each[inner] = int_min(each, d->left[inner]);
    gpu_deal(d, axes, lanes);
}

static int64_t block_of(const dealt *d, uint32_t axes) /* elements of a group */
{
    int64_t n = 1;
    for (int a = 0; a < d->s->n_axis; a++)
        n *= axes >> a & 1 ? d->lanes[a] * d->each[a] : 1;
    return n;
}

static double groups_of(const dealt *d)
{
    double n = 1;
    for (int a = 0; a < d->s->n_result; a++)
        n *= (double)int_ceil_div(d->left[a], d->lanes[a] * d->each[a]);
    return n;
}

static double results_of(const dealt *d)
{
    double n = 1;
    for (int a = 0; a < d->s->n_result; a++)
        n *= (double)d->left[a];
    return n;
}

/* Folded axes from outside in: the longest innermost; cut where a slice is `depth` deep. Gives how deep it is. */
static int64_t cut_folds(dealt *d, int64_t depth)
{
    const stage *s = d->s;
    int64_t inside = 1;
    sums_order(s, sums_longest(s), d->order);
    for (int i = s->n_axis; i-- > s->n_result;) {
        const int a = d->order[i];
        if (d->left[a] <= 1)
            continue;
        if (inside * d->left[a] <= depth) {
            inside *= d->left[a];
            continue;
        }
        d->cut[a] = depth / inside;
        d->staged_at = a;
        return inside * d->cut[a];
    }
    return inside;
}

static void deal(const product *c, const candidate *q, dealt *d)
{
    *d = c->none;
    deal_set(d, c->rows, q->row_lanes, q->row_each);
    deal_set(d, c->columns, q->column_lanes, q->column_each);
    d->fast = c->column;
}

/* ---- what it costs ---- */
static double steps_deep(const dealt *d)
{
    double n = 1;
    for (int a = d->s->n_result; a < d->s->n_axis; a++)
        n *= (double)d->left[a];
    return n;
}

typedef struct
    round_cost { /* of one slice, in one group: what begins, what shared memory gives, what comes there, in cycles */
    double warps, issued, shared, brought;
} round_cost;

static round_cost round_of(const product *c, const candidate *q, const dealt *d, double k)
{
    const target *t = c->p->on;
    const double warp = t->warp, warps = ceil((double)(q->row_lanes * q->column_lanes * q->fold_lanes) / warp),
                 tile = (double)(q->row_each * q->column_each),
                 slice = (double)(block_of(d, c->rows) + block_of(d, c->columns)),
                 size = ts_dtype_bytes(stage_fold(c->s)->dtype), words = fmax(1, size / 4),
                 own = k / (double)q->fold_lanes; /* of the slice's depth, for each lane */
    round_cost r = {.warps = warps};
    const double moved = slice * k / warp, reads = warps * own * (double)(q->row_each + q->column_each) * words,
                 products = warps * warp * tile * own * words / t->cost.fma_per_cycle;
    r.issued = products + (reads + MOVES * moved) / ISSUED;
    r.shared = reads + moved;
    r.brought = slice * size * k / t->level[GPU_L2].bytes_per_cycle;
    return r;
}

/* Warps begin what there is to do, each on one of a processor's schedulers. */
static double busy(const round_cost *r, double groups)
{
    const double used = fmin(1, groups * r->warps / ISSUED);
    return groups * fmax(r->issued / used, r->shared);
}

/* Cycles of the kernel, or more than any where it does not fit. */
static double cycles(const product *c, const candidate *q)
{
    const target *t = c->p->on;
    dealt d;
    deal(c, q, &d);
    const int64_t depth = cut_folds(&d, q->depth), size = ts_dtype_bytes(stage_fold(c->s)->dtype),
                  tile = q->row_each * q->column_each;
    const int64_t slice = (c->staged[0] ? block_of(&d, c->rows) : 0) + (c->staged[1] ? block_of(&d, c->columns) : 0);
    gpu_room room = {.lanes = q->row_lanes * q->column_lanes * q->fold_lanes,
                     .registers = (size > 4 ? size / 4 : 1) * (tile + q->row_each + q->column_each) + OVERHEAD,
                     .shared = slice * (depth + 1) * size};
    gpu_resident(gpu_facts_of(t), &room);
    if (!room.resident || room.shared > c->bytes || depth < q->fold_lanes)
        return INFINITY;
    const bool alone = c->k->n_stage > 1; /* a group goes through its trips one after the other */
    const double each = alone ? groups_of(&d) : ceil(groups_of(&d) * (double)q->parts / t->workers),
                 at_once = alone ? 1 : fmin(each, (double)room.resident);
    const round_cost r = round_of(c, q, &d, (double)depth);
    const double waits = busy(&r, 1) + r.brought + GPU_LATENCY + 2 * MEET,
                 merge = q->fold_lanes > 1 ? (double)tile * (2 + log2((double)q->fold_lanes)) * MEET : 0;
    const double parts = q->parts > 1 ? gpu_merge_cycles(c->p, results_of(&d), size, q->parts) : 0;
    return parts + each * BEGIN +
           ceil(each / at_once) * (ceil(steps_deep(&d) / (double)(depth * q->parts)) *
                                       fmax(fmax(busy(&r, at_once), at_once * r.brought), waits) +
                                   merge);
}

/* More than half of the tile would be padding. */
static bool too_large(const dealt *none, uint32_t axes, int64_t tile)
{
    return tile >= 2 * int_power(gpu_steps(none, axes));
}

static void rank(ranking *r, const candidate *q, double now)
{
    if (now < r->fewest * 0.999)
        r->next = r->best, r->after = r->fewest, r->best = *q, r->fewest = now;
    else if (now > r->fewest && now < r->after)
        r->next = *q, r->after = now;
}

static void choose_lanes(const product *c, candidate q, ranking *r)
{
    for (q.row_lanes = 1; q.row_lanes <= c->lanes && !too_large(&c->none, c->rows, q.row_lanes * q.row_each);
         q.row_lanes *= 2)
        for (q.column_lanes = 1; q.column_lanes * q.row_lanes * q.fold_lanes <= c->lanes &&
                                 !too_large(&c->none, c->columns, q.column_lanes * q.column_each);
             q.column_lanes *= 2) {
            const bool all = q.row_lanes * q.column_lanes * q.fold_lanes == c->lanes;
            const double now = cycles(c, &q) * (all || c->k->n_stage == 1 ? 1 : IDLE);
            rank(r, &q, now);
        }
}

static void choose_tile(const product *c, candidate q, ranking *r)
{
    const int64_t folds = c->p->reproducible ? 1 : int_min(8, c->lanes);
    for (q.row_each = 1; q.row_each <= 8; q.row_each *= 2)
        for (q.column_each = 1; q.column_each <= 8; q.column_each *= 2)
            for (q.depth = 8; q.depth <= 32; q.depth *= 2)
                for (q.fold_lanes = 1; q.fold_lanes <= folds; q.fold_lanes *= 2)
                    choose_lanes(c, q, r);
}

/* With fewer results than blocks for all processors, the sum is cut in parts, each long enough to pay for its group. */
static ranking choose(const product *c)
{
    enum { PARTS_MOST = 128, STEPS = 128, BLOCK = 32 * 32 };
    const bool few = results_of(&c->none) <= (double)(BLOCK * c->p->on->workers) && gpu_may_split(c->p, c->k, c->s);
    ranking r = {.fewest = INFINITY, .after = INFINITY};
    choose_tile(c, (candidate){.parts = 1}, &r);
    for (int64_t parts = 2; few && parts <= PARTS_MOST && (double)(parts * STEPS) <= steps_deep(&c->none); parts *= 2)
        choose_tile(c, (candidate){.parts = parts}, &r);
    return r;
}

/* The innermost folded axis, which is the longest, in whole slices */
static void cut_parts(const candidate *q, dealt *d)
{
    const int a = d->order[d->s->n_axis - 1];
    const int64_t slice = d->cut[a] ? d->cut[a] : d->lanes[a] * d->each[a];
    const int64_t step = int_ceil_div(int_ceil_div(d->left[a], q->parts), slice) * slice;
    d->part[a] = q->parts > 1 && step < d->left[a] ? step : 0;
}

bool gpu_product_find(product *c, const plan *p, const kernel *k, const stage *s)
{
    *c = (product){.p = p, .k = k, .s = s, .lanes = gpu_lanes(p, k)};
    const bool along = p->reproducible && sums_along(p, k, s) >= 0;
    if (stage_states(s) != 1 || !stage_contracts(s) || along || !find_operands(c))
        return false;
    find_staged(c);
    gpu_deal_begin(&c->none, p, k, s);
    return true;
}

void gpu_second(text *out, const nesting *next, double after, double fewest)
{
    nest_print_stage(out, next->s, false);
    text_add(out, ": %.0f cycles, %.0f of those taken", after, fewest);
}

static void put_candidate(const product *c, const candidate *q, nesting *b)
{
    dealt d;
    deal(c, q, &d);
    cut_folds(&d, q->depth);
    const int inner = d.order[c->s->n_axis - 1];
    d.lanes[inner] = int_min(q->fold_lanes, d.left[inner]);
    cut_parts(q, &d);
    for (int i = 0; i < 2; i++)
        d.staged[i] = c->staged[i] ? c->load[i] : -1;
    gpu_put(&d, b);
}

bool gpu_guess_product(const plan *p, const kernel *k, const stage *s, nesting *b, text *second)
{
    product c;
    if (!gpu_product_find(&c, p, k, s))
        return false;
    if (gpu_guess_matrix(&c, b, second))
        return true;
    const ranking r = choose(&c);
    if (r.fewest == INFINITY)
        return false;
    put_candidate(&c, &r.best, b);
    if (r.after < INFINITY) {
        stage other = *s;
        nesting next = nest_begin(b->on, b->k, &other);
        put_candidate(&c, &r.next, &next), gpu_second(second, &next, r.after, r.fewest);
    }
    return true;
}
