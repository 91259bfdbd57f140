/* guess_blocks.c - loops of stages whose values lie in blocks (n c/16 h w c), or whose weights give another axis than
 * the last: convolutions above all, and the pools and sums between them.
 *
 * A contraction's register tile is pixels by vectors of channels: weights come as vectors, laid out as they are walked,
 * and what they are multiplied with as single numbers, so nothing is copied or turned. Around it a panel of weights
 * stays in the second cache while pixels pass by (deep folds are cut for that), and where the image is larger than the
 * cache, a block of its rows stays while panels pass by. Where each channel has pixels of its own (depthwise), both
 * come as vectors: of channels in blocks, else of pixels. */
#include "backends/cpu/guess_parts.h"

enum { MOST_WRITTEN = 8 }; /* places of a window in a row, side by side */

typedef struct around { /* one contraction */
    const plan *p;
    const stage *s;
    int column, row, line; /* axes: channels given; pixels of a line; lines of the image, or -1 */
    int deep;              /* the longest folded axis */
    int64_t lane, width, rows, cut,
        block;   /* columns and rows of the tile; of deep, 0: whole; of line or row, 0: whole */
    int64_t dot; /* of deep by one instruction; 1: there is none */
    int core;    /* axis that is spread over the cores, or -1 */
    bool own;    /* each channel has pixels of its own */
} around;

static int block_axis(const plan *p, const stage *s, int from, int to)
{
    for (int a = from; a < to; a++)
        if (stage_block(p, s, a) > 1)
            return a;
    return -1;
}

double guess_evenly(int64_t trips, int threads)
{
    return (double)trips / (double)(int_ceil_div(trips, threads) * threads);
}

/* ---- contractions ---- */
/* How far apart pixels are along a result axis, under the fold; 0: all columns read the same ones */
static int64_t pixels_apart(const around *c, int axis)
{
    int64_t apart = 0;
    for (int i = 0; i < c->s->n_folded; i++)
        if (!node_is_weight(c->s->load[i]->from))
            apart = int_max(apart, guess_stride(c->p, c->s, i, axis));
    return apart;
}

static void choose_axes(around *c)
{
    const stage *s = c->s;
    const int last = s->n_result - 1;
    c->column = expr_given(s->value, s->folds) >= 0 ? expr_given(s->value, s->folds) : last;
    c->own = c->column < last && pixels_apart(c, c->column) > 0;
    if (c->own && pixels_apart(c, c->column) > 1 && pixels_apart(c, last) == 1 && block_axis(c->p, s, 0, s->n_axis) < 0)
        c->column = last;
    c->row = c->line = -1, c->deep = s->n_result;
    for (int a = s->n_result; a-- > 0;) {
        if (a == c->column || s->extent[a] <= 1)
            continue;
        if (c->row < 0)
            c->row = a;
        else if (c->line < 0 && a > c->column)
            c->line = a;
    }
    for (int a = s->n_result; a < s->n_axis; a++)
        if (s->extent[a] > (c->own && !c->p->reproducible ? 1 : s->extent[c->deep]))
            c->deep = a;
}

/* What is read of the operands under the fold, but for axes `outer`, in bytes */
static double bytes_of(const stage *s, bool weights, uint32_t outer)
{
    double sum = 0;
    for (int i = 0; i < s->n_folded; i++) {
        const node *from = s->load[i]->from;
        const uint32_t axes = x_axes_of(s->load[i]);
        double read = 1, whole = (double)type_count(&from->type);
        if (node_is_weight(from) != weights)
            continue;
        for (int a = 0; a < s->n_axis; a++)
            if (axes >> a & 1 && outer >> a & 1)
                whole /= (double)s->extent[a];
            else if (axes >> a & 1)
                read *= (double)s->extent[a];
        sum += (read < whole ? read : whole) * ts_dtype_bytes(from->type.dtype);
    }
    return sum;
}

/* The column as its loops will have it: in steps of blocks, panels and vectors. */
static const affine *walked(const around *c, space *sp, int64_t width, int64_t lane)
{
    const int64_t block = stage_block(c->p, c->s, c->column), all[] = {block, width, lane, 1};
    const affine *sum = affine_const(sp, 0);
    int64_t left = c->s->extent[c->column];
    for (int i = width > block; i < COUNT(all); i++) {
        if (all[i] >= left)
            continue;
        sum = affine_add(sp, sum, affine_var(sp, var_add(sp, "", 0, int_ceil_div(left, all[i]) - 1)), all[i]);
        left = all[i];
    }
    return sum;
}

/* Groups of channels: within a vector, and from vector to vector of a panel, what pixels give must be a step away, or
 * the same. */
static bool walks_evenly(const around *c, int64_t width, int64_t lane)
{
    ENDED_BY(arena_free) arena mem = {0};
    space sp = {.mem = &mem};
    const affine *axis[MAX_AXIS], *sub[MAX_RANK];
    bool even = true;
    for (int a = 0; a < c->s->n_axis; a++)
        axis[a] = a == c->column ? walked(c, &sp, width, lane) : affine_const(&sp, 0);
    for (int i = 0; even && i < c->s->n_folded; i++) {
        const expr *load = c->s->load[i];
        if (node_is_weight(load->from))
            continue;
        for (int d = 0; d < load->n; d++)
            sub[d] = affine_of(&sp, load->arg[d], axis);
        const affine *at = layout_offset(&sp, &c->p->buffer[load->from->id].layout, sub);
        for (int k = 0; even && k < at->n; k++)
            even = at->t[k].a->kind != A_DIV || !affine_has_axis(at->t[k].a->of);
    }
    return even;
}

static void choose_tile(around *c, text *second)
{
    const stage *s = c->s;
    const int64_t block = stage_block(c->p, s, c->column), rows = c->row < 0 ? 1 : s->extent[c->row];
    int64_t lane = block > 1 ? block : nest_lanes(c->p, s), columns = s->extent[c->column];
    shape t = guess_tile(c->p, s, rows, columns, lane, second);
    while (t.vectors > 1 && !walks_evenly(c, t.vectors * lane, lane))
        t = guess_tile(c->p, s, rows, columns = (t.vectors - 1) * lane, lane, second);
    while (lane % 2 == 0 && !walks_evenly(c, t.vectors * lane, lane))
        lane /= 2, t = guess_tile(c->p, s, rows, lane, lane, second);
    /* A block of what is kept in fewer bytes than it is summed in takes several registers. */
    while (t.rows > 1 && (t.rows + 1) * t.vectors * int_ceil_div(lane, nest_lanes(c->p, s)) >= c->p->on->n_register)
        t.rows--;
    /* A pixel is loaded for its own channels alone: half of the registers are for neighbours that share it. */
    const int64_t half = c->p->on->n_register / 2;
    if (c->own && c->column == s->n_result - 1)
        t = (shape){1, int_min(half, int_ceil_div(columns, lane))};
    else if (c->own)
        t = (shape){int_ceil_div(rows, int_ceil_div(rows, half)), 1};
    c->lane = lane, c->rows = t.rows, c->width = t.vectors * lane;
}

/* No fit: three panels of the six are there at a time, that in use, the next one and what was before. Deep folds are
 * cut so that a panel's slice takes a sixth of the second cache: the next one is fetched beside it. */
static void choose_cut(around *c)
{
    const stage *s = c->s;
    const expr *fold = stage_fold(s);
    const int64_t most = target_bytes(c->p->on, L2) / 6, step = stage_block(c->p, s, c->deep);
    int64_t slice = c->width * ts_dtype_bytes(fold->dtype), pixels = 1;
    for (int a = s->n_result; a < s->n_axis; a++)
        slice *= a == c->deep ? 1 : s->extent[a];
    for (int a = 0; a < s->n_result; a++)
        pixels *= a == c->column ? 1 : s->extent[a];
    c->cut = 0;
    if (c->p->reproducible || slice * s->extent[c->deep] <= most || s->node->type.dtype != fold->dtype ||
        pixels <= 2 * c->rows)
        return;
    const int64_t pieces = int_ceil_div(slice * s->extent[c->deep], most), unit = step > 1 ? step : 4;
    const int64_t length = int_ceil_div(int_ceil_div(s->extent[c->deep], pieces), unit) * unit;
    c->cut = length < s->extent[c->deep] ? length : 0;
}

/* An image that does not stay in the second cache while panels pass by is walked in blocks of lines (or runs of
 * pixels), if bringing the weights again for each of them costs less than bringing the image for each panel. */
static void choose_block(around *c, uint32_t outer, bool cores)
{
    const stage *s = c->s;
    const int a = c->line >= 0 ? c->line : c->row;
    c->block = 0, c->core = -1;
    const int threads = cores ? c->p->threads : 1;
    const int64_t panels = int_ceil_div(s->extent[c->column], c->width), unit = a == c->row ? c->rows : 1;
    const int64_t units = a < 0 ? 1 : int_ceil_div(s->extent[a], unit);
    const double image = bytes_of(s, false, outer), weights = bytes_of(s, true, outer),
                 cache = (double)target_bytes(c->p->on, L2);
    int64_t blocks = (int64_t)(image / (cache / 4)) + 1;
    if (c->own || image <= cache / 2 || weights * (double)(blocks - 1) > image * (double)panels)
        blocks = 1;
    const bool by_pixels = units >= threads && guess_evenly(panels, threads) < EVEN;
    const bool large = units >= 4 * threads && image > weights;
    if (threads > 1 && a >= 0 && (by_pixels || large))
        c->core = a, blocks = int_ceil_div(blocks, threads) * threads;
    else if (threads > 1 && panels > 1)
        c->core = c->column;
    blocks = blocks < units ? blocks : units;
    if (blocks > 1)
        c->block = int_ceil_div(units, blocks) * unit;
}

/* Places of the kernel outside, so that one place's long run of products needs no other bounds at an image's border */
static void put_fold(const around *c, nesting *b)
{
    const stage *s = c->s;
    const int64_t step = stage_block(c->p, s, c->deep), dot = c->dot;
    const int64_t left = (c->cut ? c->cut : s->extent[c->deep]) / dot;
    bool alone = true;
    for (int a = s->n_result; a < s->n_axis; a++) {
        if (a == c->deep)
            continue;
        nest_put(b, a, 1, CPU_SERIAL);
        alone = alone && s->extent[a] == 1;
    }
    if (step > 1 && left * dot > step)
        nest_put(b, c->deep, step, CPU_SERIAL);
    const bool window = c->own && c->column < s->n_result - 1;
    const int64_t some = window && left <= MOST_WRITTEN ? left : (window || alone) && left >= 4 ? 4 : 1;
    nest_put(b, c->deep, some * dot, CPU_SERIAL);
    if (some > 1)
        nest_put(b, c->deep, dot, CPU_UNROLL);
}

static int core_of(const around *c, int axis)
{
    return c->core == axis ? CPU_CORE : CPU_SERIAL;
}

static void put_contraction(const around *c, nesting *b)
{
    const stage *s = c->s;
    const int a = c->line >= 0 ? c->line : c->row;
    if (c->block)
        nest_put(b, a, c->block, core_of(c, a));
    const int64_t block = stage_block(c->p, s, c->column), columns = s->extent[c->column];
    const bool groups = block > c->width && columns > block; /* smaller than a block */
    if (groups)
        nest_put(b, c->column, block, core_of(c, c->column));
    if (columns > c->width)
        nest_put(b, c->column, c->width, groups ? CPU_SERIAL : core_of(c, c->column));
    if (c->cut)
        nest_put(b, c->deep, c->cut, CPU_SERIAL);
    if (c->line >= 0 && !(a == c->line && c->block == 1))
        nest_put(b, c->line, 1, CPU_SERIAL);
    const int64_t left = c->block && a == c->row ? c->block : c->row < 0 ? 1 : s->extent[c->row];
    const bool apart = left > c->rows; /* rows of a tile are a part of what is left */
    if (c->row >= 0 && apart)
        nest_put(b, c->row, c->rows, CPU_SERIAL);
    put_fold(c, b);
    if (c->row >= 0 && !(apart && c->rows == 1) && !(a == c->row && c->block == 1))
        nest_put(b, c->row, 1, CPU_UNROLL);
    if (c->width > c->lane)
        nest_put(b, c->column, c->lane, CPU_UNROLL);
    if (c->width > 1 || columns == 1)
        nest_put(b, c->column, 1, CPU_VECTOR);
    if (c->dot > 1)
        nest_put(b, c->deep, 1, CPU_DOT);
}

static void guess_contraction(const plan *p, const kernel *k, const stage *s, nesting *b, text *second)
{
    around c = {.p = p, .s = s};
    bool cores = guess_cores(p, k, s);
    uint32_t outer = 0;
    choose_axes(&c);
    c.dot = guess_dot(p, k, s, c.column);
    c.deep = c.dot > 1 ? s->n_result : c.deep;
    choose_tile(&c, second);
    choose_cut(&c);
    for (int a = 0; a < s->n_result; a++) {
        if (a == c.column || a == c.row || a == c.line)
            continue;
        const bool spread = cores && guess_evenly(s->extent[a], p->threads) >= EVEN;
        nest_put(b, a, 1, spread ? CPU_CORE : CPU_SERIAL);
        cores = cores && !spread;
        outer |= 1u << a;
    }
    choose_block(&c, outer, cores);
    put_contraction(&c, b);
}

/* ---- all else: rows of blocks ---- */
static void guess_rows(const plan *p, const kernel *k, const stage *s, nesting *b)
{
    enum { RUN = 8 };
    const int kept = block_axis(p, s, 0, s->n_result), column = kept >= 0 ? kept : block_axis(p, s, 0, s->n_axis);
    const int64_t block = stage_block(p, s, column), trips = int_ceil_div(s->extent[column], block);
    const bool folded = s->folds >> column & 1;
    bool core = guess_cores(p, k, s);
    int row = -1;
    for (int a = 0; a < s->n_result && !folded; a++)
        if (a != column && s->extent[a] > 1)
            row = a;
    if (trips > 1 && !folded) {
        const bool spread = core && trips >= p->threads;
        nest_put(b, column, block, spread ? CPU_CORE : CPU_SERIAL);
        core = core && !spread;
    }
    for (int a = 0; a < s->n_result; a++) {
        const int64_t step = a == row ? RUN : 1;
        if (a == column || s->extent[a] <= step)
            continue;
        const bool spread = core && int_ceil_div(s->extent[a], step) >= p->threads;
        nest_put(b, a, step, spread ? CPU_CORE : CPU_SERIAL);
        core = core && !spread;
    }
    for (int a = s->n_result; a < s->n_axis; a++)
        if (a != column)
            nest_put(b, a, 1, CPU_SERIAL);
    if (folded && trips > 1)
        nest_put(b, column, block, CPU_SERIAL);
    if (row >= 0)
        nest_put(b, row, 1, CPU_UNROLL);
    nest_put(b, column, 1, CPU_VECTOR);
}

/* Loops over pixels would have to copy: an operand under the fold is padded, or its last axis has gaps. */
static bool would_copy(const stage *s)
{
    for (int i = 0; i < s->n_folded; i++) {
        const expr *load = s->load[i], *last = load->n ? load->arg[load->n - 1] : NULL;
        if (!node_is_weight(load->from) && (stage_guard(s, i) || (last && last->kind != X_AXIS)))
            return true;
    }
    return false;
}

bool guess_blocks(const plan *p, const kernel *k, const stage *s, nesting *b, text *second)
{
    const bool blocks = block_axis(p, s, 0, s->n_axis) >= 0, contraction = stage_contracts(s);
    if (p->reference || k->n_stage > 1 || !s->n_result || (!blocks && !contraction))
        return false;
    if (contraction && (blocks || (expr_given(s->value, s->folds) >= 0 && would_copy(s))))
        guess_contraction(p, k, s, b, second);
    else if (blocks)
        guess_rows(p, k, s, b);
    else
        return false;
    return true;
}
