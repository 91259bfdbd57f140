/* guess_matrix.c - loops of contractions that matrix units form: a group takes a block of rows and columns, each of its
 * warps a part of that, for all of the sum; slices of both operands come while others are multiplied. Block, warps,
 * depth of a slice and number of slices are those that take least time by a small model of one processor: the unit,
 * shared memory, what slices cost to come, and how far that is hidden. */
#include "backends/gpu/figures.h"
#include "backends/gpu/guess_parts.h"
#include "schedule/nest/box.h"
#include "schedule/nest/stride.h"
#include "schedule/plan/extents.h"
#include "schedule/nest/kept.h"

#include <math.h>
#include <string.h>

typedef struct shape {
    int64_t rows, columns, depth;    /* of a group */
    int64_t warp_rows, warp_columns; /* of one of its warps */
    int slices;
    const matrix_unit *unit;
} shape;

typedef struct ranking { /* those that take fewest cycles, and what came next to them */
    shape best, next;
    double fewest, after;
} ranking;

enum {
    OVERHEAD = 40, /* registers for addresses and counters */
    LANES_MOST = 512,
    SHARED_RATE = 128, /* bytes that a processor reads of its shared memory in a cycle */
    ISSUED = 4,        /* instructions of warps that it begins in a cycle */
    MOVES = 4,         /* of them to send 16 bytes */
    ROUND = 30,        /* of them for a slice: waiting, meeting, which one it is */
    PLACES = 4,        /* of them for a trip of the unit: where fragments are */
    BEGIN = 100,       /* cycles until a group has begun */
    DEEPEST = 4,       /* trips of the unit in a slice */
    PIECE = 16         /* bytes that units load at once */
};

typedef struct choice {
    const product *c;
    const matrix_unit *unit;
    int row, column, deep; /* axes of the unit; the folded one is cut */
    bool copied[2];        /* operands of which slices come; of the others an earlier stage leaves all */
    bool boxed[2];         /* the device brings these by itself */
    bool shared;           /* the group has other stages, too: it goes through its trips one after the other */
    int64_t size;          /* bytes of an element */
    int64_t room, most;    /* bytes for slices; lanes */
    double rate;           /* multiply-adds of a processor in a cycle */
} choice;

double gpu_unit_rate(const plan *p, const matrix_unit *u)
{
    const gpu_facts *card = gpu_facts_of(p->on);
    return u->reached * (double)card->bf16 / (double)ts_dtype_bytes(u->operand) / (double)card->clock /
           card->processors;
}

static double groups_of(const choice *q, const shape *s)
{
    const dealt *d = &q->c->none;
    double n = 1;
    for (int a = 0; a < d->s->n_result; a++)
        n *= (double)int_ceil_div(d->left[a] > 1 ? d->left[a] : 1, a == q->row      ? s->rows
                                                                   : a == q->column ? s->columns
                                                                                    : 1);
    return n;
}

static double slices_of(const choice *q, const shape *s) /* of the whole sum */
{
    const dealt *d = &q->c->none;
    double n = 1;
    for (int a = d->s->n_result; a < d->s->n_axis; a++)
        n *= (double)int_ceil_div(d->left[a] > 1 ? d->left[a] : 1, a == q->deep ? s->depth : 1);
    return n;
}

static bool one_slice(const choice *q, const shape *s) /* the only one: no copy overlaps with products */
{
    return slices_of(q, s) < 2 || !(q->copied[0] || q->copied[1]);
}

/* Cycles of the kernel, or more than any where it does not fit */
static double cycles(const choice *q, const shape *s)
{
    const target *t = q->c->p->on;
    const int64_t warps = s->rows / s->warp_rows * (s->columns / s->warp_columns);
    const int64_t m = s->warp_rows / q->unit->m, n = s->warp_columns / q->unit->n;
    const int64_t across = (q->copied[0] ? s->rows : 0) + (q->copied[1] ? s->columns : 0);
    const int64_t by_lanes = (q->copied[0] && !q->boxed[0] ? s->rows : 0) +
                             (q->copied[1] && !q->boxed[1] ? s->columns : 0);
    const bool together = q->unit->warps > 0, boxes = by_lanes < across && s->slices > 1;
    const int held = together ? 0 : s->depth > 2 * q->unit->k ? 2 : 1; /* fragments: of how many steps at once */
    gpu_room room = {.lanes = warps * t->warp,
                     .registers = m * n * q->unit->sums + held * (m + n) * q->unit->sums + OVERHEAD,
                     .shared = s->slices * across * s->depth * q->size +
                               (boxes ? target_aligned(t, s->slices * t->boxes->barrier) : 0)};
    gpu_resident(gpu_facts_of(t), &room);
    if (!room.resident || room.shared > q->room || room.lanes > q->most)
        return INFINITY;
    const double each = q->shared ? groups_of(q, s) : ceil(groups_of(q, s) / t->workers),
                 at_once = q->shared ? 1 : fmin(each, (double)room.resident), steps = (double)s->depth / q->unit->k,
                 bytes = (double)across * (double)(s->depth * q->size),
                 sent = (double)(boxes ? by_lanes : across) * (double)(s->depth * q->size);
    const int64_t readers = together ? warps / q->unit->warps : warps,
                  rows = together ? s->warp_rows * q->unit->warps : s->warp_rows;
    const double unit = (double)s->rows * (double)s->columns * (double)s->depth / q->rate,
                 shared = ((double)(readers * (rows + s->warp_columns) * s->depth * q->size) + bytes) / SHARED_RATE,
                 trip = (double)(together ? m * n : m * n + m + int_ceil_div(n, 2)) + PLACES,
                 issued = ((double)warps * (ROUND + steps * trip) + MOVES * sent / 16 / t->warp) /
                          fmin(ISSUED, at_once * (double)warps),
                 brought = bytes / t->level[GPU_L2].bytes_per_cycle;
    const double longest = fmax(fmax(unit, issued), fmax(shared, brought)),
                 once = longest + (unit + issued + shared + brought - longest) / GPU_BESIDE,
                 come = across ? GPU_LATENCY + brought : 0, wait = s->slices > 1 ? come / (s->slices - 1) : come + once,
                 result = (double)(s->rows * s->columns * q->size) / t->level[GPU_L2].bytes_per_cycle;
    return each * BEGIN +
           ceil(each / at_once) * (slices_of(q, s) * fmax(at_once * once, wait) + 2 * GPU_LATENCY + at_once * result);
}

static bool too_large(int64_t tile, int64_t left, int64_t least)
{
    return tile > least && tile >= 2 * int_power(left);
}

static void rank(ranking *r, const shape *s, double now)
{
    if (now < r->fewest * 0.999)
        r->next = r->best, r->after = r->fewest, r->best = *s, r->fewest = now;
    else if (now > r->fewest && now < r->after)
        r->next = *s, r->after = now;
}

/* Also of what another unit does */
static void rank_all(ranking *r, const ranking *more)
{
    const bool better = more->fewest < r->fewest;
    const ranking a = better ? *more : *r, b = better ? *r : *more;
    *r = a;
    if (b.fewest < a.after)
        r->next = b.best, r->after = b.fewest;
}

static void choose_warps(const choice *q, shape s, ranking *r)
{
    const int least = one_slice(q, &s) ? 1 : 2, most = one_slice(q, &s) ? 1 : 4;
    for (s.warp_rows = q->unit->m; s.warp_rows <= s.rows && s.warp_rows <= 64; s.warp_rows *= 2)
        for (s.warp_columns = q->unit->n; s.warp_columns <= s.columns && s.warp_columns <= 64; s.warp_columns *= 2)
            for (s.slices = least; s.slices <= most; s.slices++)
                rank(r, &s, cycles(q, &s));
}

/* A unit of four warps: they take 64 rows, 16 each, and all columns of the block. */
static void choose_together(const choice *q, shape s, ranking *r)
{
    const int64_t left = q->c->none.left[q->row], rows = s.rows < left ? s.rows : left;
    if (s.columns != q->unit->n || int_ceil_div(rows, q->unit->m) % q->unit->warps)
        return;
    s.warp_rows = q->unit->m, s.warp_columns = s.columns;
    for (s.slices = one_slice(q, &s) ? 1 : 2; s.slices <= (one_slice(q, &s) ? 1 : 4); s.slices++)
        rank(r, &s, cycles(q, &s));
}

static ranking choose(const choice *q)
{
    const int64_t rows = q->c->none.left[q->row], columns = q->c->none.left[q->column], deep = q->c->none.left[q->deep];
    ranking r = {.fewest = INFINITY, .after = INFINITY};
    shape s = {.unit = q->unit};
    for (s.rows = q->unit->m * (q->unit->warps ? q->unit->warps : 1);
         s.rows <= 256 && !too_large(s.rows, rows, q->unit->m); s.rows *= 2)
        for (s.columns = q->unit->n; s.columns <= 256 && !too_large(s.columns, columns, q->unit->n); s.columns *= 2)
            for (s.depth = q->unit->k; s.depth <= DEEPEST * q->unit->k && !too_large(s.depth, deep, q->unit->k);
                 s.depth *= 2)
                (q->unit->warps ? choose_together : choose_warps)(q, s, &r);
    return r;
}

/* ---- the loops ---- */
/* Loops over blocks of the result: dealt to groups, or serial where the loops around leave more or less than one */
static void put_blocks(const choice *q, const shape *s, nesting *b)
{
    const product *c = q->c;
    for (int a = 0; a < c->s->n_result; a++) {
        const bool own = a == q->row || a == q->column;
        const int64_t step = a == q->row ? s->rows : a == q->column ? s->columns : 1;
        if (q->shared ? c->none.left[a] != step : own || c->none.left[a] != 1)
            nest_put(b, a, step, q->shared ? GPU_SERIAL : GPU_BLOCK);
    }
}

static void put_all(const choice *q, const shape *s, nesting *b)
{
    const product *c = q->c;
    const matrix_unit *u = s->unit;
    put_blocks(q, s, b);
    for (int a = c->s->n_result; a < c->s->n_axis; a++)
        if (a != q->deep && c->none.left[a] != 1)
            nest_put(b, a, 1, GPU_SERIAL);
    nest_put(b, q->deep, s->depth, GPU_SERIAL);
    for (int i = 0; i < 2; i++)
        nest_copy(b, b->s, q->copied[i] ? c->load[i] : -1, s->slices);
    if (s->depth > u->k)
        nest_put(b, q->deep, u->k, GPU_UNROLL);
    if (s->rows > s->warp_rows)
        nest_put(b, q->row, s->warp_rows, GPU_WARP);
    if (s->columns > s->warp_columns)
        nest_put(b, q->column, s->warp_columns, GPU_WARP);
    if (s->warp_rows > u->m)
        nest_put(b, q->row, u->m, GPU_UNROLL);
    if (s->warp_columns > u->n)
        nest_put(b, q->column, u->n, GPU_UNROLL);
    nest_put(b, q->row, 1, GPU_MMA), nest_put(b, q->column, 1, GPU_MMA), nest_put(b, q->deep, 1, GPU_MMA);
}

/* ---- whether there is one ---- */
/* The next unit behind `after` (NULL: the first) for the operands. f32 is shortened to TF32 only where a rule asks. */
static const matrix_unit *unit_for(const product *c, const matrix_unit *after)
{
    const bool fewer = c->k->compute && !strcmp(c->k->compute, "tf32");
    const dtype d = c->s->load[c->load[0]]->from->type.dtype, other = c->s->load[c->load[1]]->from->type.dtype;
    const target *t = c->p->on;
    for (int i = after ? (int)(after - t->unit) + 1 : 0; i < t->n_unit; i++)
        if (t->unit[i].sums && t->unit[i].operand == d && other == d && (fewer || d != TS_F32))
            return &t->unit[i];
    return NULL;
}

/* Of the axes that only one load has, the longest one that both the unit and the load walk. */
static int inner_of(const product *c, uint32_t axes)
{
    int found = -1;
    for (int a = 0; a < c->s->n_axis; a++)
        if (axes >> a & 1 && (found < 0 || c->none.left[a] >= c->none.left[found]))
            found = a;
    return found;
}

static int64_t up(int64_t n, int64_t to)
{
    return int_ceil_div(n, to) * to;
}

static bool product_reads(const kernel *k, const node *n)
{
    bool any = false;
    for (int i = 0; i < k->n_stage; i++)
        for (int j = 0; j < k->stage[i].n_load && stage_contracts(&k->stage[i]); j++)
            any = any || k->stage[i].load[j]->from == n;
    return any;
}

/* Bytes of shared memory left for slices, beside what the stages hand on and carry. */
static int64_t room_for(const product *c)
{
    const kernel *k = c->k;
    const matrix_unit *u = c->p->on->unit;
    int64_t bytes = k->n_stage > 1 ? gpu_plain_room(c->p) : c->p->on->space->bytes;
    for (int i = 0; i < k->n_stage && k->n_stage > 1; i++) {
        const stage *s = &k->stage[i];
        int64_t rows = 1, row = 1;
        for (int a = 0; a < s->n_result; a++)
            *(a < k->n_shared ? &rows : &row) *= nest_left(k, s, a, -1);
        const int64_t all = product_reads(k, s->node) ? up(rows, u->m) * (up(row, DEEPEST * u->k) + PIECE) : rows * row;
        for (int j = 0; stage_carries(s) && j < s->value->n_state; j++)
            bytes -= target_aligned(c->p->on, all * ts_dtype_bytes(s->value->arg[j]->dtype));
        bytes -= s->scratch ? target_aligned(c->p->on, all * ts_dtype_bytes(s->node->type.dtype)) : 0;
    }
    return bytes;
}

/* The columns' axis: the one along which memory has them, where it is not much shorter than what the unit takes */
static int column_of(const product *c, const matrix_unit *u)
{
    const int64_t size = ts_dtype_bytes(u->operand);
    return stride_along(c->p, c->s, c->load[1], c->column) == size && 2 * c->none.left[c->column] > u->n
               ? c->column
               : inner_of(c, c->columns);
}

/* Fills in what there is to choose for; or says why there is nothing. */
static const char *find_choice(const product *c, choice *q)
{
    const gpu_facts *card = gpu_facts_of(c->p->on);
    const stage *s = c->s;
    int load[2];
    *q = (choice){.c = c, .unit = unit_for(c, NULL), .shared = c->k->n_stage > 1, .most = LANES_MOST};
    if (!q->unit || !card->bf16)
        return s->load[c->load[0]]->from->type.dtype == TS_F32 && card->bf16
                   ? "f32 is taken in fewer bits only where a rule computes in tf32"
                   : "there is no matrix unit for its operands";
    if (stage_exact(s))
        return "a run says where its sums end";
    if (c->p->reference)
        return "it is computed in f64";
    if (c->p->reproducible)
        return "bits are to be those of other targets";
    q->row = inner_of(c, c->rows), q->column = column_of(c, q->unit);
    if (q->row < 0 || !nest_unit_fits(s, q->row, q->column, load) || load[0] != c->load[0] || load[1] != c->load[1])
        return "it is not a sum of products of two operands alone";
    q->deep = inner_of(c, s->folds & x_axes_of(s->load[c->load[0]]) & x_axes_of(s->load[c->load[1]]));
    if (q->deep < 0 || c->none.left[q->row] < 2 || c->none.left[q->deep] < 2)
        return "it has one row, or one product";
    for (int i = 0; i < 2; i++) {
        const bool handed = kept_by(c->k, s, load[i]) >= 0;
        const char *why = handed ? kept_no_unit(c->k, s, load[i], i ? q->column : q->row, q->deep)
                                 : nest_no_copy(c->k, s, load[i], false);
        q->copied[i] = !handed;
        if (why)
            return why;
    }
    q->size = ts_dtype_bytes(q->unit->operand), q->room = room_for(c);
    q->most = q->shared ? c->lanes : LANES_MOST;
    q->rate = gpu_unit_rate(c->p, q->unit);
    return NULL;
}

const char *gpu_no_unit(const product *c)
{
    choice q;
    return find_choice(c, &q);
}

bool gpu_guess_matrix(const product *c, nesting *b, text *second)
{
    choice q, own;
    ranking all = {.fewest = INFINITY, .after = INFINITY};
    if (find_choice(c, &q))
        return false;
    for (own = q; own.unit; own.unit = unit_for(c, own.unit)) {
        if (own.unit->warps && (!q.copied[0] || !q.copied[1])) /* these take slices alone */
            continue;
        own.rate = gpu_unit_rate(c->p, own.unit);
        for (int i = 0; i < 2; i++)
            own.boxed[i] = own.unit->warps && !box_may(c->p, c->k, c->s, c->load[i], i ? q.column : q.row, q.deep);
        const ranking r = choose(&own);
        rank_all(&all, &r);
    }
    if (all.fewest < INFINITY)
        put_all(&q, &all.best, b);
    if (all.after < INFINITY) {
        stage other = *c->s;
        nesting next = nest_begin(b->on, b->k, &other);
        put_all(&q, &all.next, &next), gpu_second(second, &next, all.after, all.fewest);
    }
    return all.fewest < INFINITY;
}
