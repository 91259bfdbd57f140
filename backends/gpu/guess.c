/* guess.c - loops when nobody said otherwise, for groups of lanes.
 *
 * Pointwise work is dealt to lanes along the axis that memory walks, 16 bytes to each. A sum gets as many lanes as it
 * has work for, neighbours in memory to neighbouring lanes, and a group as many sums as it has lanes for. Contractions
 * have register tiles (guess_product.c). Stages share a group: what one hands to the next stays with it. */
#include "backends/gpu/figures.h"
#include "backends/gpu/guess_parts.h"

#include "schedule/nest/stride.h"
#include "schedule/nest/sums.h"

/* Lanes of a group: eight warps of 32 hide one another's waits, and divide what every card runs at once. A lane is
 * worth having for four elements. */
enum { LANES = 256, WORTH = 4, MOVED = 16, SQUARE = 32, AGAIN = 4 };

/* ---- what a group does at once ---- */
void gpu_deal_begin(dealt *d, const plan *p, const kernel *k, const stage *s)
{
    *d = (dealt){.p = p, .k = k, .s = s, .fast = -1, .staged_at = GPU_AROUND, .staged = {-1, -1}};
    for (int a = 0; a < s->n_axis; a++)
        d->left[a] = nest_left(k, s, a, -1), d->lanes[a] = d->each[a] = 1, d->order[a] = a;
}

int64_t gpu_deal(dealt *d, uint32_t axes, int64_t lanes)
{
    for (int a = d->s->n_axis; a-- > 0;)
        if (axes >> a & 1 && d->left[a] > 1) {
            d->lanes[a] = int_min(lanes, int_ceil_div(d->left[a], d->each[a]));
            lanes /= d->lanes[a];
        }
    return lanes;
}

int64_t gpu_steps(const dealt *d, uint32_t axes)
{
    int64_t n = 1;
    for (int a = 0; a < d->s->n_axis; a++)
        if (axes >> a & 1 && !int_mul(n, d->left[a], &n))
            return INT64_MAX;
    return n;
}

static void put_copies(const dealt *d, nesting *b)
{
    for (int i = 0; i < COUNT(d->staged); i++)
        nest_copy(b, b->s, d->staged[i], 1);
}

/* The loops around a group's work: result axes go to other groups, or are serial where stages share them */
static void put_around(const dealt *d, nesting *b)
{
    const stage *s = d->s;
    for (int a = 0; a < s->n_result; a++) {
        const int64_t step = d->lanes[a] * d->each[a];
        if (d->left[a] > step || d->left[a] == 0)
            nest_put(b, a, step, d->k->n_stage == 1 ? GPU_BLOCK : GPU_SERIAL);
    }
    for (int a = s->n_result; a < s->n_axis; a++)
        if (d->part[a])
            nest_put(b, a, d->part[a], GPU_BLOCK);
    if (d->staged_at == GPU_AROUND && b->into->n)
        put_copies(d, b);
    for (int i = s->n_result; i < s->n_axis; i++) {
        const int a = d->order[i];
        const int64_t step = d->lanes[a] * d->each[a];
        if (d->cut[a])
            nest_put(b, a, d->cut[a], GPU_SERIAL);
        if (d->cut[a] && d->staged_at == a)
            put_copies(d, b);
        const int64_t left = d->part[a] ? d->part[a] : d->left[a];
        if ((d->cut[a] ? d->cut[a] : left) > step || (step == 1 && d->left[a] != 1 && !d->cut[a]))
            nest_put(b, a, step, GPU_SERIAL);
    }
}

static void put_lane(const dealt *d, int a, nesting *b)
{
    const bool apart = a == d->fast && !d->vector && d->lanes[a] > 1;
    if (apart && d->each[a] > 1)
        nest_put(b, a, d->lanes[a], GPU_UNROLL);
    if (d->lanes[a] > 1)
        nest_put(b, a, apart ? 1 : d->each[a], GPU_LANE);
}

void gpu_put(const dealt *d, nesting *b)
{
    const int n = d->s->n_axis;
    put_around(d, b);
    for (int i = 0; i < n; i++) { /* lanes of a fold lie far apart: those that are near read neighbours */
        const int a = (i + d->s->n_result) % n;
        if (a != d->fast)
            put_lane(d, a, b);
    }
    if (d->fast >= 0)
        put_lane(d, d->fast, b);
    for (int a = 0; a < n; a++)
        if (a != d->fast && d->each[a] > 1)
            nest_put(b, a, 1, GPU_UNROLL);
    if (d->fast >= 0 && d->each[d->fast] > 1 && (d->vector || d->lanes[d->fast] == 1))
        nest_put(b, d->fast, 1, d->vector ? GPU_VECTOR : GPU_UNROLL);
}

/* ---- figures of a stage ---- */
/* Elements of 16 bytes that a stage reads and writes in one piece along its axis; 1: it does not. */
static int64_t gpu_vector(const plan *p, const stage *s, int axis, int64_t left)
{
    int64_t bytes = ts_dtype_bytes(s->node->type.dtype), others = 1;
    for (int i = 0; i < s->n_load; i++) {
        const int64_t one = ts_dtype_bytes(s->load[i]->from->type.dtype), stride = stride_along(p, s, i, axis);
        if (stride != 0 && stride != one)
            return 1;
        bytes = stride ? int_max(bytes, one) : bytes;
    }
    for (int a = 0; a < s->n_axis; a++)
        others *= a == axis ? 1 : int_max(1, int_min(2, s->extent[a]));
    const int64_t n = MOVED / bytes;
    return left >= n && (left % n == 0 || others == 1) ? n : 1;
}

static int64_t work_of(const kernel *k, const stage *s) /* elements under one trip of the shared loops */
{
    int64_t n = 1;
    for (int a = 0; a < s->n_axis; a++)
        if (!int_mul(n, nest_left(k, s, a, -1), &n))
            return INT64_MAX;
    return n;
}

static int64_t whole_warps(const plan *p, int64_t lanes)
{
    const int64_t fit = int_min(LANES, p->on->group), warp = p->on->warp;
    return int_min(int_ceil_div(lanes, warp) * warp, fit / warp * warp);
}

int64_t gpu_plain_room(const plan *p)
{
    return int_min(p->on->space->bytes, gpu_facts_of(p->on)->shared);
}

int64_t gpu_lanes(const plan *p, const kernel *k)
{
    int64_t work = 1;
    for (int i = 0; i < k->n_stage && k->n_stage > 1; i++)
        work = int_max(work, work_of(k, &k->stage[i]));
    return whole_warps(p, k->n_stage == 1 ? LANES : int_power(int_min(LANES, int_ceil_div(work, WORTH))));
}

static uint32_t results(const stage *s)
{
    return (1u << s->n_result) - 1;
}

static uint32_t folds(const stage *s)
{
    return (uint32_t)((UINT64_C(1) << s->n_axis) - 1) & ~results(s);
}

/* ---- no fold ---- */
static int last_walked(const dealt *d, int from, int to)
{
    int a = to - 1;
    while (a >= from && d->left[a] <= 1)
        a--;
    return a >= from ? a : -1;
}

static void deal_points(dealt *d, int64_t lanes, bool many)
{
    const int column = last_walked(d, 0, d->s->n_result);
    const int64_t work = gpu_steps(d, results(d->s)), processors = d->p->on->workers;
    if (column < 0)
        return;
    int64_t each = gpu_vector(d->p, d->s, column, d->left[column]);
    while (many && each > 1 && work / (lanes * each) < processors)
        each /= 2;
    while (many && lanes > d->p->on->warp && work / (lanes * each) < processors)
        lanes = whole_warps(d->p, lanes / 2);
    d->fast = column, d->each[column] = each, d->vector = each > 1;
    gpu_deal(d, results(d->s), lanes);
}

/* The one operand that is contiguous along another axis (*row) than the result and can be copied in square tiles, so
 * that both reads and writes touch neighbours; -1: there is none, or more than one. */
static int turned(const dealt *d, int column, int *row)
{
    const stage *s = d->s;
    int found = -1;
    for (int i = 0; i < s->n_load; i++) {
        const int64_t one = ts_dtype_bytes(s->load[i]->from->type.dtype), stride = stride_along(d->p, s, i, column);
        int walked = -1;
        for (int a = 0; a < s->n_result; a++)
            if (a != column && d->left[a] >= SQUARE / 2 && stride_along(d->p, s, i, a) == one)
                walked = a;
        if (walked < 0 || stride == 0 || stride == one)
            continue;
        if (found >= 0 || nest_no_copy(d->k, s, i, false))
            return -1;
        found = i, *row = walked;
    }
    return found;
}

static bool deal_turned(dealt *d, int64_t lanes)
{
    const int column = last_walked(d, 0, d->s->n_result);
    int row = -1;
    const int load = column < 0 || d->k->n_stage > 1 || d->left[column] < SQUARE / 2 ? -1 : turned(d, column, &row);
    if (load < 0 || SQUARE * (SQUARE + 1) * ts_dtype_bytes(d->s->load[load]->from->type.dtype) > gpu_plain_room(d->p))
        return false;
    d->fast = column, d->lanes[column] = int_min(int_min(SQUARE, lanes), d->left[column]);
    const int64_t rows = int_min(SQUARE, d->left[row]), side = int_max(1, lanes / d->lanes[column]);
    d->each[row] = int_ceil_div(rows, side), d->lanes[row] = int_ceil_div(rows, d->each[row]);
    return d->staged[0] = load, true;
}

/* ---- folds that read everything once ---- */
static int64_t elements(const node *n)
{
    return type_count(&n->type);
}

/* The folded axis that walks the memory of the largest operand under the fold, where no axis of the result does and
 * there is a sector of it or more; or -1. */
static int along(const plan *p, const stage *s)
{
    int largest = -1;
    for (int i = 0; i < s->n_folded; i++)
        if (largest < 0 || elements(s->load[i]->from) > elements(s->load[largest]->from))
            largest = i;
    const int64_t piece = largest < 0 ? 0 : SECTOR / ts_dtype_bytes(s->load[largest]->from->type.dtype);
    int axis = -1;
    for (int a = s->n_axis; largest >= 0 && a-- > 0;)
        if (s->extent[a] > 1 && stride_along(p, s, largest, a) == ts_dtype_bytes(s->load[largest]->from->type.dtype))
            axis = a;
    return axis >= s->n_result && (s->extent[axis] >= piece || !s->n_result) ? axis : -1;
}

/* Lanes along the fold: one for every four vectors, but a warp where there are as many vectors. */
static void deal_across(dealt *d, int a, int64_t lanes)
{
    const int64_t processors = d->p->on->workers, rows = gpu_steps(d, results(d->s)),
                  each = gpu_vector(d->p, d->s, a, d->left[a]),
                  pieces = int_power(int_ceil_div(gpu_steps(d, folds(d->s)), each));
    int64_t own = int_min(lanes, int_max(pieces / WORTH, int_min(pieces, d->p->on->warp)));
    int64_t side = int_min(lanes / int_max(own, 1), int_power(rows));
    while (d->k->n_stage == 1 && side > 1 && rows / side < processors)
        side /= 2;
    while (side * own < lanes && own < pieces)
        own *= 2;
    d->fast = a, d->each[a] = each, d->vector = each > 1;
    gpu_deal(d, folds(d->s), own);
    gpu_deal(d, results(d->s), side);
}

/* Memory is contiguous along the results, so lanes go along them; the fold gets the lanes left over, and groups. */
static void deal_down(dealt *d, int64_t lanes)
{
    const int64_t processors = d->p->on->workers, rows = gpu_steps(d, results(d->s));
    int64_t side = int_min(lanes, int_power(rows));
    while (d->k->n_stage == 1 && side > d->p->on->warp && rows / side < processors)
        side /= 2;
    d->fast = last_walked(d, 0, d->s->n_result);
    gpu_deal(d, results(d->s), side);
    const int64_t deep = gpu_steps(d, folds(d->s)), own = int_min(lanes / side, int_power(deep / (2 * WORTH)));
    if (own > 1)
        gpu_deal(d, folds(d->s), own);
}

/* Sums in the order that other targets have: the same partial sums, each formed whole by one lane */
static void deal_alike(dealt *d, int64_t lanes)
{
    const int a = sums_along(d->p, d->k, d->s);
    sums_order(d->s, a >= 0 ? a : sums_longest(d->s), d->order);
    d->fast = a >= 0 ? a : last_walked(d, 0, d->s->n_result);
    if (a >= 0)
        d->lanes[a] = int_min(sums_width(d->s), d->left[a]), lanes /= int_power(d->lanes[a]);
    gpu_deal(d, results(d->s), lanes);
}

static void guess_other(const plan *p, const kernel *k, const stage *s, nesting *b)
{
    dealt d;
    const int64_t lanes = gpu_lanes(p, k);
    gpu_deal_begin(&d, p, k, s);
    const int a = stage_fold(s) ? along(p, s) : -1;
    if (!stage_fold(s) && deal_turned(&d, lanes))
        ;
    else if (!stage_fold(s))
        deal_points(&d, lanes, k->n_stage == 1);
    else if (p->reproducible)
        deal_alike(&d, lanes);
    else if (a >= 0)
        deal_across(&d, a, lanes);
    else
        deal_down(&d, lanes);
    if (stage_fold(s))
        gpu_split(&d);
    gpu_put(&d, b);
}

void gpu_guess_stage(const plan *p, const kernel *k, int which, nesting *b, text *second)
{
    const stage *s = &k->stage[which];
    if (!gpu_guess_product(p, k, s, b, second))
        guess_other(p, k, s, b);
}

/* ---- loops that stages share ---- */
/* The last shared axis that is dealt to groups; behind it may be one along which states are carried. */
static int last_dealt(const kernel *k)
{
    return k->n_shared - (kernel_carried(k) < 0 ? 1 : 2);
}

/* Bytes of shared memory for what stages hand on or carry to the next trip, at that step of the last dealt axis */
static double handed_on(const kernel *k, int64_t step)
{
    double sum = 0;
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        double bytes = (double)step * ts_dtype_bytes(s->node->type.dtype);
        for (int a = k->n_shared; a < s->n_result; a++)
            bytes *= (double)s->extent[a];
        sum += (s->scratch ? bytes : 0) + (stage_carries(s) ? s->value->n_state * bytes : 0);
    }
    return sum;
}

static bool all_by_units(const plan *p, const kernel *k)
{
    bool all = true;
    for (int i = 0; i < k->n_stage; i++) {
        product c;
        all = all && (!stage_contracts(&k->stage[i]) || (gpu_product_find(&c, p, k, &k->stage[i]) && !gpu_no_unit(&c)));
    }
    return all;
}

/* Rows of a group with products. More rows share what is read again, worth up to four rows or two trips of a matrix
 * unit; the last wave of groups should be full. */
static int64_t rows_of_products(const plan *p, const kernel *k, int64_t others)
{
    enum { MOST = 64 };
    const bool units = all_by_units(p, k);
    const int64_t extent = k->stage[k->main].extent[last_dealt(k)], least = units && extent > 1 ? p->on->unit->m : 1,
                  again = units ? 2 * p->on->unit->m : AGAIN;
    const double share = units ? 0.75 : 0.5; /* of shared memory: a unit's slices are smaller */
    int64_t best = 1, fewest = INT64_MAX;
    for (int64_t rows = least; rows <= MOST && (rows < 2 * extent || rows == least); rows *= 2) {
        const int64_t time = int_ceil_div(others * int_ceil_div(extent, rows), p->on->workers) * (rows + again);
        if (time >= fewest || handed_on(k, rows) > share * (double)gpu_plain_room(p))
            continue;
        fewest = time, best = rows;
    }
    return best;
}

/* Rows that a group does at once, as its lanes are enough for; fewer where groups would be, or what stages hand on does
 * not stay in shared memory. */
static int64_t rows_at_once(const plan *p, const kernel *k)
{
    const stage *s = &k->stage[k->main];
    const int last = last_dealt(k);
    int64_t own = 1, others = 1;
    bool heavy = false;
    for (int i = 0; i < k->n_stage; i++) {
        int64_t work = 1;
        for (int a = k->n_shared; a < k->stage[i].n_axis; a++)
            work = int_min(LANES * WORTH, work * int_max(1, k->stage[i].extent[a]));
        own = int_max(own, work);
        heavy = heavy || stage_contracts(&k->stage[i]);
    }
    for (int a = 0; a < last; a++)
        others = int_min(INT32_MAX, others * int_max(1, s->extent[a]));
    if (heavy)
        return rows_of_products(p, k, others);
    int64_t rows = int_max(1, whole_warps(p, LANES) * WORTH / int_power(own));
    while (rows > 1 && ((rows > s->extent[last] && rows / 2 >= s->extent[last]) ||
                        others * int_ceil_div(s->extent[last], rows) < p->on->workers ||
                        handed_on(k, rows) > (double)gpu_plain_room(p) / 2))
        rows /= 2;
    return rows;
}

static bool pointwise(const kernel *k)
{
    bool all = k->n_shared == k->stage[k->main].n_result;
    for (int i = 0; i < k->n_stage; i++)
        all = all && !stage_fold(&k->stage[i]) && k->stage[i].n_result == k->n_shared;
    return all;
}

void gpu_guess_shared(const plan *p, const kernel *k, nesting *b)
{
    const stage *s = &k->stage[k->main];
    dealt d;
    gpu_deal_begin(&d, p, k, s);
    for (int a = 0; a < s->n_axis; a++)
        d.left[a] = s->extent[a];
    if (pointwise(k))
        deal_points(&d, whole_warps(p, LANES), true);
    else
        d.lanes[int_max(0, last_dealt(k))] = last_dealt(k) < 0 ? 1 : rows_at_once(p, k);
    for (int a = 0; a < k->n_shared; a++)
        nest_put(b, a, int_max(1, int_min(d.lanes[a] * d.each[a], s->extent[a])),
                 a == kernel_carried(k) ? GPU_SERIAL : GPU_BLOCK);
}

/* Keys of a block where whole rows of scores are too long: those of as few rows as are worth a group (four, or one trip
 * of a matrix unit) would take half of shared memory. 0: rows stay whole. */
int64_t gpu_guess_block(const plan *p, const streaming *s)
{
    enum { BLOCK = 128, HANDED_ON = 3 };
    int64_t least = AGAIN;
    for (int i = 0; i < p->on->n_unit; i++)
        if (p->on->unit[i].operand == s->dtype && s->dtype != TS_F32)
            least = int_max(least, p->on->unit[i].m);
    const double rows = (double)least * HANDED_ON * (double)s->length * ts_dtype_bytes(s->dtype);
    return rows >= (double)gpu_plain_room(p) / 2 && s->length > BLOCK ? BLOCK : 0;
}
