/* guess.c - loops when nobody said otherwise.
 *
 * A contraction gets a register tile: the last result axis as vectors, the axis before it unrolled, the pair chosen by
 * how well it fits registers, extents and loads per multiply-add (the closed form used by generators of such kernels).
 * A long fold is cut so that the slice of the streamed operand stays in the second cache. A reduction runs its
 * contiguous axis in vectors. Everything else is rows of vectors. The outermost loop with enough trips is spread over
 * the cores. */
#include "backends/cpu/guess_parts.h"

#include <math.h>

/* No rate: how often each element of a copy has to be used, so that what its making takes, an instruction or two for a
 * vector beside as many multiply-adds, is less than a hundredth. */
enum { MANY_ROWS = 256 };

/* ---- the register tile ---- */
typedef struct matrix { /* what tiles are laid over, in rows and vectors; whether a run says its extents */
    int64_t rows, columns, lane;
    bool rows_vary, columns_vary;
    double size, deep; /* bytes of an element, and of one column as far down as it is folded at a time */
} matrix;

/* Cycles of one step of the fold: of multiplying, which waits for the sums of the step before, or of loads from the
 * first cache and then, as these wait for each other, of what it takes from the second: rows, which come by once for
 * every panel, and columns unless half of the first cache keeps them from row to row (the execution-cache-memory model
 * of Treibig and Hager). The longer hides most of the other, but not all: how much is seen of it is measured, on such
 * a tile. */
static double step_cycles(const plan *p, shape t, const matrix *m)
{
    const memory_level *level = p->on->level;
    const double seen = p->on->cost.exposed, rows = (double)t.rows, columns = (double)(t.vectors * m->lane),
                 per_cycle = level[L1].bytes_per_cycle / (m->size * (double)m->lane),
                 away = 2 * (rows + columns) * m->deep > (double)level[L1].bytes ? columns : 0,
                 brought = (rows + away) * m->size / level[L2].bytes_per_cycle,
                 least = (1 + seen) * p->on->cost.fma_latency,
                 shorter = p->on->halves && 2 * m->size * (double)m->lane <= 4 * p->on->lanes[TS_F32] ? 2 : 1,
                 multiply = fmax(rows * (double)t.vectors / p->on->cost.fma_per_cycle / shorter, least),
                 move = (rows + (double)t.vectors) / per_cycle + brought;
    return fmax(multiply, move) + seen * fmin(multiply, move);
}

/* What tiles of `step` leave of n has a tile of its own or, if it `varies`, a whole one, half of one or a quarter, as
 * there is room for it (codegen/varying.c). */
static int64_t rest_of(int64_t n, int64_t step, bool varies)
{
    const int64_t rest = n % step, half = (step + 1) / 2, quarter = (half + 1) / 2;
    return !varies || !rest ? rest : rest > half ? step : rest > quarter ? half : quarter;
}

/* Multiply-adds a cycle that a tile makes, of those that a core can, on that matrix. */
static double tile_score(const plan *p, shape t, const matrix *m)
{
    const int64_t n = int_ceil_div(m->columns, m->lane), rows[] = {t.rows, rest_of(m->rows, t.rows, m->rows_vary)},
                  vectors[] = {t.vectors, rest_of(n, t.vectors, m->columns_vary)},
                  high[] = {m->rows / t.rows, rows[1] > 0}, wide[] = {n / t.vectors, vectors[1] > 0};
    double cycles = 0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (high[i] && wide[j])
                cycles += (double)(high[i] * wide[j]) * step_cycles(p, (shape){rows[i], vectors[j]}, m);
    return (double)(m->rows * m->columns) / (double)m->lane / p->on->cost.fma_per_cycle / cycles;
}

enum { MOST_ROWS = 16, MOST_VECTORS = 6, TILES = MOST_ROWS * MOST_VECTORS };

static shape tile_at(int i)
{
    return (shape){1 + i % MOST_ROWS, 1 + i / MOST_ROWS};
}

/* Sums stay in registers with the columns of two steps: these are loaded while those before are in use, and a
 * multiply-add that writes over one of its operands moves what it sums up. No tile spills, so no rate says what a
 * register costs that is stored and loaded again. */
static bool tile_fits(const plan *p, shape t, const matrix *m)
{
    return t.rows <= m->rows && (t.rows + 2) * t.vectors <= p->on->n_register &&
           (t.vectors == 1 || (t.vectors - 1) * m->lane < m->columns);
}

/* The same where it is weighed with other matrices: what the columns are of comes by once, from the third cache at
 * best, and at a few rows all tiles wait for that alike. */
static double score_among(const plan *p, shape t, const matrix *m)
{
    const double wait = target_flops_per_byte(p->on, L3) * ts_dtype_bytes(TS_F32) / 2, score = tile_score(p, t, m);
    return m->rows_vary || m->columns_vary ? fmin(score, (double)m->rows / wait) : score;
}

/* Adds to score what each tile has there; by: what the best one has, if there are other matrices, is 1. */
static void add_scores(const plan *p, const matrix *m, double score[TILES])
{
    double here[TILES], best = 0;
    for (int i = 0; i < TILES; i++) {
        here[i] = score_among(p, tile_at(i), m);
        best = tile_fits(p, tile_at(i), m) ? fmax(best, here[i]) : best;
    }
    for (int i = 0; i < TILES; i++)
        score[i] += m->rows_vary || m->columns_vary ? here[i] / best : here[i];
}

/* The steps of a fold for which the rows of a tile, 8 of f32, fill the first cache, or 32 KiB of a larger one: with
 * 48 KiB, blocks of 1152 steps take 3 % longer than such of 768. */
static int64_t longest_fold(const plan *p)
{
    return int_min(target_bytes(p->on, L1), 32 << 10) / (8 * 4);
}

/* Of a long fold: a quarter is left to what rows are multiplied with */
static int64_t fold_block(const plan *p)
{
    return longest_fold(p) * 3 / 4;
}

/* A long fold goes a block at a time, so that a panel of columns stays in the second cache. */
static bool is_long(const plan *p, const stage *s)
{
    return s->n_axis == s->n_result + 1 && s->extent[s->n_result] > longest_fold(p) &&
           ts_dtype_bytes(s->node->type.dtype) == 4 && stage_fold(s) && stage_fold(s)->dtype == s->node->type.dtype &&
           !s->scratch;
}

int64_t guess_dot(const plan *p, const kernel *k, const stage *s, int column)
{
    int load[2];
    const bool can = k->n_stage == 1 && !p->reference && nest_dots(s, p->on->dot, column, load) &&
                     s->load[load[1]]->from->leaf && node_is_weight(s->load[load[1]]->from) &&
                     guess_stride(p, s, load[0], s->n_result) == 1 && !(stage_exact(s) >> s->n_result & 1);
    return can ? p->on->dot->n : 1;
}

typedef struct taking { /* elements of the columns, and of the fold, that an instruction takes */
    int64_t lane, dot;
} taking;

/* second: the tile that scores next to the one taken, with both scores; or NULL */
static shape guess_tile_among(const plan *p, const stage *s, const extents *r, const extents *c, taking one,
                              text *second)
{
    double score[TILES] = {0}, most = 0, after = 0;
    shape best = {1, 1}, next = {0};
    matrix m = {.lane = one.lane, .rows_vary = r->n > 1, .columns_vary = c->n > 1};
    m.size = ts_dtype_bytes(s->node->type.dtype),
    m.deep = m.size * (is_long(p, s) ? (double)fold_block(p) : stage_points(s, s->n_result, s->n_axis)) /
             (double)one.dot;
    for (int i = 0; i < r->n; i++)
        for (int j = 0; j < c->n; j++)
            m.rows = r->of[i], m.columns = c->of[j], add_scores(p, &m, score);
    for (int i = 0; i < TILES; i++)
        if (!tile_fits(p, tile_at(i), &m))
            continue;
        else if (score[i] > most * 1.0001)
            after = most, next = best, most = score[i], best = tile_at(i);
        else if (score[i] < most && score[i] > after)
            after = score[i], next = tile_at(i);
    const int n = r->n * c->n;
    if (second && after > 0)
        second->length = 0, text_add(second, "a tile of %lld rows, vectors a row: %lld, %.4g of %s, the one taken %.4g",
                                     (long long)next.rows, (long long)next.vectors, after / n,
                                     n == 1 ? "the peak" : "the best tile for each matrix", most / n);
    return best;
}

shape guess_tile(const plan *p, const stage *s, int64_t rows, int64_t columns, int64_t lane, text *second)
{
    const extents r = {1, {rows}}, c = {1, {columns ? columns : 1}}; /* none fit any tile alike */
    return guess_tile_among(p, s, &r, &c, (taking){lane, 1}, second);
}

static int64_t left_of(const kernel *k, const stage *s, int a)
{
    return nest_left(k, s, a, -1);
}

/* Result axes other than `but` that have something left, from outside in; the first that has enough trips is spread
 * over the cores. Whether these still wait for one. */
static bool put_outer(const plan *p, const kernel *k, const stage *s, nesting *b, uint32_t but, bool core)
{
    for (int a = 0; a < s->n_result; a++) {
        const bool done = but >> a & 1 || (left_of(k, s, a) == 1 && (k->n_stage > 1 || s->extent[a] == 1));
        if (done)
            continue;
        const bool spread = core && left_of(k, s, a) >= p->threads;
        nest_put(b, a, 1, spread ? CPU_CORE : CPU_SERIAL);
        core = core && !spread;
    }
    return core;
}

/* Dealing out saves a part of what the points take, at a third of the multiply-add rate, and costs a meeting at
 * least. */
static double small_work(const plan *p)
{
    const costs *c = &p->on->cost;
    return c->start_seconds * c->cycles_per_second * c->fma_per_cycle * p->on->lanes[TS_F32] / 3;
}

bool guess_cores(const plan *p, const kernel *k, const stage *s)
{
    return k->n_stage == 1 && p->threads > 1 && stage_points(s, 0, s->n_axis) >= small_work(p);
}

/* The row axis: a result axis before the last that some operand of the fold does not have, so that a tile reuses it. */
static int row_axis(const kernel *k, const stage *s, int column)
{
    for (int a = s->n_result - 1; a >= 0; a--)
        for (int i = 0; i < s->n_folded && a != column && left_of(k, s, a) > 1; i++)
            if (!(x_axes_of(s->load[i]) >> a & 1) && x_axes_of(s->load[i]) >> column & 1)
                return a;
    for (int a = s->n_result - 1; a >= 0; a--)
        if (a != column && left_of(k, s, a) > 1)
            return a;
    return -1;
}

/* An operand under the fold that is better copied (staged) in the order in which the tile reads it, else -1: one that
 * the vector axis does not walk in one piece, or only under a guard; and, where many rows use the copy, one that lies
 * in rows far apart. Weights are laid out anyway, and what this kernel computes is at hand. */
static int staged_operand(const plan *p, const kernel *k, const stage *s, int column, int64_t rows)
{
    for (int i = 0; i < s->n_folded; i++) {
        if (nest_no_copy(k, s, i, k->n_stage > 1) || node_is_weight(s->load[i]->from) ||
            !(x_axes_of(s->load[i]) >> column & 1))
            continue;
        const int64_t stride = guess_stride(p, s, i, column);
        if ((stride != 1 && stride != 0) || stage_guard(s, i) || (stride == 1 && rows >= MANY_ROWS))
            return i;
    }
    return -1;
}

typedef struct product { /* how a contraction is tiled */
    int row, column;
    int64_t rows, columns, width; /* width: of the register tile */
    shape tile;
    int64_t dot; /* of the fold by one instruction; 1: there is none */
    bool spread; /* over the cores, by rows or columns */
    int staged;  /* the operand that is copied at a loop of its own; -1: none is */
} product;

static void put_columns(const stage *s, const product *c, nesting *b)
{
    nest_put(b, c->column, 1, CPU_VECTOR);
    if (c->dot > 1)
        nest_put(b, s->n_result, 1, CPU_DOT);
}

/* Whole, one axis within the other */
static void put_folds(const plan *p, const stage *s, int64_t step, nesting *b)
{
    int order[MAX_AXIS];
    sums_order(s, p->reproducible ? sums_longest(s) : s->n_axis - 1, order);
    for (int i = s->n_result; i < s->n_axis; i++)
        nest_put(b, order[i], step, CPU_SERIAL);
}

/* One row: the matrix streams by once, in one piece for each thread. The sums of a panel take a part of the registers
 * only; what is left hides how long a line takes to come. */
static void guess_one_row(const plan *p, const stage *s, const product *c, nesting *b)
{
    const int column = c->column;
    const int64_t lane = nest_lanes(p, s);
    int64_t vectors = p->on->n_register * 3 / 8;
    while (vectors > 4 && c->columns < 2 * p->threads * vectors * lane)
        vectors /= 2;
    nest_put(b, column, vectors * lane, c->spread ? CPU_CORE : CPU_SERIAL);
    put_folds(p, s, c->dot, b);
    put_columns(s, c, b);
}

/* The register tile, in steps of rows, within all other loops. */
static void put_tile(const plan *p, const stage *s, const product *c, bool rows, nesting *b)
{
    const int fold = s->n_result;
    const bool plain = s->n_axis == fold + 1 && s->extent[fold] >= 16 * c->dot;
    if (rows)
        nest_put(b, c->row, c->tile.rows, CPU_SERIAL);
    for (int pass = 0; pass < 2 && !p->reproducible; pass++)
        for (int a = fold; a < s->n_axis; a++)
            if (pass == !guess_place(s, a))
                nest_put(b, a, plain ? 4 * c->dot : c->dot, CPU_SERIAL);
    if (p->reproducible)
        put_folds(p, s, plain ? 4 * c->dot : c->dot, b);
    if (plain)
        nest_put(b, fold, c->dot, CPU_UNROLL);
    if (c->row >= 0)
        nest_put(b, c->row, 1, CPU_UNROLL);
    put_columns(s, c, b);
}

/* What the rows read comes by once for every panel of columns. Where it is more than the last cache holds, panels
 * go through a part of it that stays in the second one: a block of a long fold, and of rows where these are many. */
static bool guess_tall(const plan *p, const stage *s, const product *c, nesting *b)
{
    const int fold = s->n_result;
    const int64_t deep = is_long(p, s) ? fold_block(p) : s->extent[fold], size = ts_dtype_bytes(s->node->type.dtype);
    const double read = (double)c->rows * (double)s->extent[fold] * (double)size;
    const int64_t rows = target_bytes(p->on, L2) * 3 / 4 / (deep * size) / c->tile.rows * c->tile.rows,
                  part = (c->columns + p->threads - 1) / p->threads;
    const bool cut = c->rows > rows;
    if (c->staged < 0 || s->n_axis != fold + 1 || read <= (double)target_bytes(p->on, L3) ||
        (cut ? rows < MANY_ROWS / 2 : !is_long(p, s)))
        return false;
    if (cut)
        nest_put(b, c->row, rows, c->spread ? CPU_CORE : CPU_SERIAL);
    else
        nest_put(b, c->column, (part + c->width - 1) / c->width * c->width, c->spread ? CPU_CORE : CPU_SERIAL);
    if (is_long(p, s))
        nest_put(b, fold, fold_block(p), CPU_SERIAL);
    nest_put(b, c->column, c->width, CPU_SERIAL);
    nest_copy(b, b->s, c->staged, 1);
    put_tile(p, s, c, true, b);
    return true;
}

/* Bytes that come by for each element of the rows in a panel: whole lines where the fold goes from line to line. */
static double bytes_by_rows(const plan *p, const stage *s, const product *c)
{
    const double size = ts_dtype_bytes(s->node->type.dtype);
    bool apart = false;
    for (int i = 0; i < s->n_load; i++)
        apart = apart || (x_axes_of(s->load[i]) >> c->row & 1 && !(x_axes_of(s->load[i]) >> c->column & 1) &&
                          guess_stride(p, s, i, s->n_result) != 1);
    return apart ? fmax(size, (double)p->on->align / (double)c->tile.rows) : size;
}

/* The same where the third cache holds what the rows read and the second one does not: blocks of rows, as even as the
 * cores want them, where columns that come by for each of them are less than half of what rows are that come by for
 * each panel, and panels so narrow that rows keep the third cache busy for a quarter of the time. (Measured on Zen 3:
 * 10000 rows of 88 by 78 columns, f64 1.3 times as fast, f32 1.15; sums over 1000 of 1600 by 64, f64, whose rows lie
 * along the result's, 1.8 times; the same of f32, 768 by 768, no slower.) */
static bool guess_row_blocks(const plan *p, const stage *s, const product *c, nesting *b)
{
    const int fold = s->n_result;
    const int64_t size = ts_dtype_bytes(s->node->type.dtype), deep = s->extent[fold] * size, each = c->tile.rows,
                  most = target_bytes(p->on, L2) * 3 / 4 / deep, cores = c->spread ? p->threads : 1;
    const double read = (double)c->rows * (double)deep, flops = 2 * (double)c->width / bytes_by_rows(p, s, c),
                 rate = target_flops_per_byte(p->on, L3) * ts_dtype_bytes(TS_F32) / (double)size;
    if (c->staged < 0 || s->n_axis != fold + 1 || is_long(p, s) || read <= (double)target_bytes(p->on, L2) ||
        most < 4 * each || flops > 4 * rate)
        return false;
    const int64_t panels = int_ceil_div(c->columns, c->width),
                  blocks = int_ceil_div(int_ceil_div(c->rows, most), cores) * cores,
                  rows = int_ceil_div(int_ceil_div(c->rows, blocks), each) * each;
    if (2 * (read + (double)blocks * (double)c->columns * (double)deep) >= (double)panels * read)
        return false;
    nest_put(b, c->row, rows, c->spread ? CPU_CORE : CPU_SERIAL);
    nest_put(b, c->column, c->width, CPU_SERIAL);
    if (rows >= MANY_ROWS / 2) /* else a panel's copy is hardly used */
        nest_copy(b, b->s, c->staged, 1);
    put_tile(p, s, c, true, b);
    return true;
}

/* Panels of columns, each used by all rows. A copy is made for each panel, and for each block of a long fold. */
static void guess_panels(const plan *p, const stage *s, const product *c, nesting *b)
{
    const bool by_column = c->columns / c->width >= p->threads || c->row < 0, by_row = !by_column && c->spread;
    const bool copies = c->staged >= 0, blocked = is_long(p, s);
    const int64_t part = (c->rows + p->threads - 1) / p->threads;
    if (guess_tall(p, s, c, b) || (c->row >= 0 && guess_row_blocks(p, s, c, b)))
        return;
    if (by_row)
        nest_put(b, c->row, copies ? (part + c->tile.rows - 1) / c->tile.rows * c->tile.rows : c->tile.rows, CPU_CORE);
    else if (c->row >= 0 && !copies && c->rows > 512 && c->rows > 2 * c->tile.rows)
        nest_put(b, c->row, 256 / c->tile.rows * c->tile.rows, CPU_SERIAL);
    if (c->columns > c->width || copies)
        nest_put(b, c->column, c->width, c->spread && by_column ? CPU_CORE : CPU_SERIAL);
    if (blocked)
        nest_put(b, s->n_result, fold_block(p), CPU_SERIAL);
    nest_copy(b, b->s, c->staged, 1);
    put_tile(p, s, c, c->row >= 0 && (!by_row || copies), b);
}

/* A few products of matrices, as 7 for 2 threads, leave cores waiting where panels of each do not. */
static bool panels_are_evener(const plan *p, const kernel *k, const stage *s, const product *c, uint32_t own)
{
    double outer = 0;
    for (int a = 0; a < s->n_result; a++)
        if (!(own >> a & 1) && left_of(k, s, a) >= p->threads)
            outer = fmax(outer, guess_evenly(left_of(k, s, a), p->threads));
    return c->columns % c->width == 0 && guess_evenly(c->columns / c->width, p->threads) > outer;
}

/* Extents that an axis has under the shared loops; 1 where there is none, or nothing along it: any tile fits. */
static extents left_among(const plan *p, const kernel *k, const stage *s, int a)
{
    const int64_t left = a >= 0 ? left_of(k, s, a) : 0;
    return left && left == s->extent[a] ? extents_sampled(p, s, a) : (extents){1, {left ? left : 1}};
}

static void guess_contraction(const plan *p, const kernel *k, const stage *s, nesting *b, text *second)
{
    product c = {.column = s->n_result - 1, .staged = -1};
    c.dot = guess_dot(p, k, s, c.column);
    const taking one = {nest_lanes(p, s), c.dot};
    c.row = row_axis(k, s, c.column);
    c.columns = left_of(k, s, c.column), c.rows = c.row >= 0 ? left_of(k, s, c.row) : 1;
    const extents rows = left_among(p, k, s, c.row), columns = left_among(p, k, s, c.column);
    c.tile = guess_tile_among(p, s, &rows, &columns, one, second);
    /* Other stages walk what lies in scratch: in steps that go into theirs, all of them can stop at a mask's edge. */
    while (s->scratch && c.tile.vectors & (c.tile.vectors - 1))
        c.tile = guess_tile_among(p, s, &rows, &(extents){1, {(c.tile.vectors - 1) * nest_lanes(p, s)}}, one, second);
    c.width = c.tile.vectors * nest_lanes(p, s);
    const uint32_t own = 1u << c.column | (c.row >= 0 ? 1u << c.row : 0);
    const bool core = guess_cores(p, k, s), by_panels = core && panels_are_evener(p, k, s, &c, own);
    c.spread = put_outer(p, k, s, b, own, core && !by_panels) || by_panels;
    const bool panels = !b->into->n || c.rows >= MANY_ROWS; /* large matrices, be they several, are copied by panels */
    const int staged = k->n_stage > 1 || p->reference ? -1 : staged_operand(p, k, s, c.column, panels ? c.rows : 1);
    if (!panels)
        nest_copy(b, b->s, staged, 1);
    if (panels && c.rows > 1)
        c.staged = staged;
    if (c.row < 0 && c.columns > c.width)
        guess_one_row(p, s, &c, b);
    else
        guess_panels(p, s, &c, b);
}

static void guess_reduction(const plan *p, const kernel *k, const stage *s, nesting *b)
{
    const int across = sums_along(p, k, s);
    const bool cores = !guess_states(p, k, s, b) && guess_cores(p, k, s),
               core = put_outer(p, k, s, b, across < 0 && s->n_result ? 1u << (s->n_result - 1) : 0, cores);
    const int64_t width = sums_width(s);
    if (across >= 0) {
        for (int a = s->n_result; a < s->n_axis; a++)
            if (a != across)
                nest_put(b, a, 1, CPU_SERIAL);
        if (s->extent[across] > width)
            nest_put(b, across, width, CPU_SERIAL);
        nest_put(b, across, 1, CPU_VECTOR);
        return;
    }
    int column = s->n_result - 1;
    if (k->n_stage > 1 && column >= 0 && column < s->n_shared && left_of(k, s, column) == 1)
        column = -1;
    if (column >= 0 && left_of(k, s, column) > width)
        nest_put(b, column, width, core ? CPU_CORE : CPU_SERIAL);
    put_folds(p, s, 1, b);
    if (column >= 0)
        nest_put(b, column, 1, CPU_VECTOR);
}

static void guess_rows(const plan *p, const kernel *k, const stage *s, nesting *b)
{
    const int last = s->n_result - 1, column = last > 0 && last == kernel_carried(k) ? last - 1 : last;
    if (column < 0)
        return;
    if (k->n_stage > 1 && column < s->n_shared && left_of(k, s, column) == 1) {
        put_outer(p, k, s, b, 1u << column, false);
        return;
    }
    const int64_t n = left_of(k, s, column), block = 4096;
    if (put_outer(p, k, s, b, 1u << column, guess_cores(p, k, s))) {
        const int64_t part = (n + p->threads - 1) / p->threads;
        nest_put(b, column, part < block ? target_aligned(p->on, part) : block, CPU_CORE);
    }
    nest_put(b, column, 1, CPU_VECTOR);
}

/* The shared loops walk the last result axis to its end: what is left is walked plainly. */
static void guess_rest(const plan *p, const kernel *k, const stage *s, nesting *b)
{
    put_outer(p, k, s, b, 1u << (s->n_result - 1), false);
    put_folds(p, s, 1, b);
}

/* ---- products of a matrix with one vector ---- */
/* Along the sum; as many rows at once as half of the registers have sums for, so that none waits for another. */
static bool guess_once(const plan *p, const kernel *k, const stage *s, nesting *b)
{
    const int row = s->n_result - 1, along = stage_contracts(s) && row >= 0 && !p->reference ? sums_along(p, k, s) : -1;
    if (along < 0)
        return false;
    const int64_t width = sums_width(s), rows = p->on->n_register / 2 * nest_lanes(p, s) / width;
    const bool core = put_outer(p, k, s, b, 1u << row, guess_cores(p, k, s));
    if (rows < 2 || left_of(k, s, row) > rows)
        nest_put(b, row, int_max(rows, 1), core ? CPU_CORE : CPU_SERIAL);
    for (int a = s->n_result; a < s->n_axis; a++)
        if (a != along)
            nest_put(b, a, 1, CPU_SERIAL);
    if (s->extent[along] > width)
        nest_put(b, along, width, CPU_SERIAL);
    if (rows > 1)
        nest_put(b, row, 1, CPU_UNROLL);
    nest_put(b, along, 1, CPU_VECTOR);
    return true;
}

/* A judge lays out no weights: a matrix that lies along the sum is walked so, not across it, in far-off steps that
 * compilers take minutes over. */
static bool lies_along_sum(const plan *p, const stage *s)
{
    bool along = false;
    for (int i = 0; p->reference && i < s->n_load; i++)
        for (int a = s->n_result; a < s->n_axis; a++)
            along = along || (s->extent[a] > 1 && guess_stride(p, s, i, a) == 1 &&
                              guess_stride(p, s, i, s->n_result - 1) >= s->extent[a]);
    return along;
}

void guess_stage(const plan *p, const kernel *k, int which, nesting *b, text *second)
{
    const stage *s = &k->stage[which];
    const int column = s->n_result - 1;
    if (stage_states(s) > 1) {
        guess_reduction(p, k, s, b);
        return;
    }
    if (guess_choice(p, k, s, b) || guess_once(p, k, s, b) || guess_blocks(p, k, s, b, second) ||
        guess_window(p, k, s, b))
        return;
    if (k->n_stage > 1 && column >= 0 && column < s->n_shared && left_of(k, s, column) == 1 && stage_fold(s) &&
        stage_contracts(s)) {
        guess_rest(p, k, s, b);
        return;
    }
    if (stage_contracts(s) && s->n_result && !lies_along_sum(p, s))
        guess_contraction(p, k, s, b, second);
    else if (stage_fold(s))
        guess_reduction(p, k, s, b);
    else if (!guess_turn(p, k, s, b))
        guess_rows(p, k, s, b);
}

/* How many trips of the last shared loop are taken at once, where products are among the stages: enough rows for a
 * register tile, some trips for every thread, and no more than what the stages hand on stays in the second cache. */
static int64_t heavy_step(const plan *p, const kernel *k, int64_t extent, bool core)
{
    /* Rows for which what they are multiplied with, 4 bytes a column, comes from memory in a third of the time; what is
     * carried along a loop comes by once for every step: in a ninth. Whole tiles of 4 or 8. */
    enum { TILE = 8, MOST = 256 };
    const double alone = target_flops_per_byte(p->on, p->on->n_level - 1) * 4 / 2 * (kernel_carried(k) < 0 ? 3 : 9);
    const int64_t part = core ? (extent + p->threads - 1) / p->threads : extent,
                  most_rows = int_min(int_ceil_div((int64_t)alone, TILE) * TILE, MOST);
    int64_t step = part < most_rows ? part : int_ceil_div(part, int_ceil_div(part, most_rows)); /* even ones */
    step = step > TILE ? int_min(int_ceil_div(step, TILE) * TILE, part) : step;
    double most = 0;
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        most = fmax(most, ts_dtype_bytes(s->node->type.dtype) * stage_points(s, k->n_shared, s->n_result));
    }
    while (step > 1 && (double)step * most > (double)target_bytes(p->on, L2))
        step /= 2;
    return step;
}

/* The same of pointwise stages: what each gives is in the first cache for the next, and no stage works so long that
 * memory waits for it. (Measured on steps of AdamW: 64 to 256 read twice as fast as 4096.) */
static int64_t light_step(const plan *p, const kernel *k)
{
    enum { MOST = 128, LEAST = 16 };
    double bytes = 0; /* that stages hand on, for one trip */
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        if (s->scratch)
            bytes += ts_dtype_bytes(s->node->type.dtype) * stage_points(s, k->n_shared, s->n_result);
    }
    int64_t step = MOST;
    while (step > LEAST && (double)step * bytes > (double)target_bytes(p->on, L1))
        step /= 2;
    return step;
}

static void copy_operands(const plan *p, nesting *b)
{
    for (stage *s = b->k->stage; s < b->k->stage + b->k->n_stage; s++) {
        const bool across = stage_contracts(s) && sums_along(p, b->k, s) < 0;
        nest_copy(b, s, across ? staged_operand(p, b->k, s, s->n_result - 1, 1) : -1, 1);
    }
}

void guess_shared(const plan *p, const kernel *k, nesting *b)
{
    const stage *s = &k->stage[k->main];
    bool heavy = false, core = p->threads > 1, pointwise = true;
    const int along = kernel_carried(k), dealt = along >= 0 ? along : k->n_shared;
    for (int i = 0; i < k->n_stage; i++) {
        heavy = heavy || stage_contracts(&k->stage[i]);
        pointwise = pointwise && !stage_fold(&k->stage[i]) && along < 0;
    }
    double work = 0;
    for (int i = 0; i < k->n_stage; i++)
        work += stage_points(&k->stage[i], 0, k->stage[i].n_axis);
    core = core && work >= small_work(p);
    for (int a = 0; a < dealt; a++) {
        const bool last = a == dealt - 1;
        int64_t step = 1;
        if (last && heavy)
            step = heavy_step(p, k, s->extent[a], core);
        else if (last)
            step = pointwise ? light_step(p, k) : 4;
        if (step > s->extent[a])
            step = s->extent[a];
        step = step < 1 ? 1 : step;
        const int64_t trips = (s->extent[a] + step - 1) / step;
        const bool spread = core && (trips >= p->threads || last);
        nest_put(b, a, step, spread ? CPU_CORE : CPU_SERIAL);
        core = core && !spread;
        if (heavy && a == (dealt > 1 ? dealt - 2 : 0))
            copy_operands(p, b);
    }
    if (along >= 0)
        nest_put(b, along, 1, CPU_SERIAL);
}

/* A row's scores are walked in blocks where what they are made of does not stay in the second cache, so that products
 * and softmax could not share a row's loops (docs/notes/kernels.md). */
int64_t guess_block(const plan *p, const streaming *s)
{
    enum { BLOCK = 64 };
    const double slice = (double)s->length * (double)s->width * ts_dtype_bytes(s->dtype);
    return slice >= (double)target_bytes(p->on, p->on->near) / 2 && s->length >= 2 * BLOCK ? BLOCK : 0;
}
