/* guess_window.c - loops of contractions in which one operand is read through a window and nothing is laid out
 * beforehand: convolutions whose weights change, and both gradients of a convolution.
 *
 * What lies in a window is read where it is, as single numbers, since a copy of it would hold each element once for
 * every place of the kernel. So vectors run along an axis that the other operand alone has (channels of the result),
 * and of that one a panel is copied in the order in which the tile walks it. */
#include "backends/cpu/guess_parts.h"

enum { SHORT_RUN = 1024 }; /* steps of a fold, for which storing sums and loading them again is not worth it */

typedef struct windowed { /* one contraction */
    const plan *p;
    const stage *s;
    const expr *window, *other;
    int copied; /* the other is this load */
    int column, row;
    shape tile;
    int64_t width; /* columns of the tile */
    bool meets;    /* the row's axis stands beside folded ones in a subscript of the window */
    int core;      /* result axis that is spread over the cores, in two or more parts of `part`; -1 */
    int64_t part;
} windowed;

/* The subscript with axis a has folded axes too, where a is of the result, or the other way round. */
static bool meets(const stage *s, const expr *load, int a)
{
    for (int i = 0; i < load->n; i++) {
        const uint32_t axes = x_axes(load->arg[i]);
        if (axes >> a & 1 && (s->folds >> a & 1 ? axes & ~s->folds : axes & s->folds))
            return true;
    }
    return false;
}

static int own_axes(const stage *s, const expr *load, const expr *other)
{
    int n = 0;
    for (int a = 0; a < s->n_result; a++)
        n += s->extent[a] > 1 && (x_axes_of(load) & ~x_axes_of(other)) >> a & 1;
    return n;
}

/* It is read through a window proper, or with gaps along the last result axis, or it is images beside one matrix. */
static bool is_window(const stage *s, const expr *load, const expr *other)
{
    const expr *last = load->n ? load->arg[load->n - 1] : NULL;
    const bool images = own_axes(s, load, other) > 1 && own_axes(s, other, load) == 1,
               along = last && x_axes(last) == 1u << (s->n_result - 1);
    if (along && (images || last->kind != X_AXIS))
        return true;
    for (int a = s->n_result; a < s->n_axis; a++)
        if (s->extent[a] > 1 && meets(s, load, a))
            return true;
    return false;
}

/* Both operands under the fold, of which one is read through a window and neither is laid out beforehand. */
static bool find_operands(windowed *c)
{
    const expr *const *load = c->s->load;
    if (c->s->n_folded != 2 || node_is_weight(load[0]->from) || node_is_weight(load[1]->from))
        return false;
    const int which = is_window(c->s, load[1], load[0]);
    if (which == is_window(c->s, load[0], load[1]))
        return false;
    return c->window = load[which], c->other = load[!which], c->copied = !which, true;
}

bool guess_place(const stage *s, int a)
{
    windowed c = {.s = s};
    return s->folds >> a & 1 && find_operands(&c) && meets(s, c.window, a);
}

/* A tile's rows are neighbours in the window: the axis walks memory as the fold does not, or has no fold beside it. */
static bool walks_window(const stage *s, const expr *load, int a)
{
    for (int i = 0; i < load->n; i++)
        for (int f = s->n_result; f < s->n_axis && x_axes(load->arg[i]) >> a & 1; f++)
            if (x_axes(load->arg[i]) >> f & 1 && s->extent[f] > s->extent[a])
                return false;
    return true;
}

/* The column: the last result axis that the other operand alone has, and which fills half of a vector. The row: the
 * last one of the window alone that gives enough rows, else that of most. */
static bool choose_tile(windowed *c)
{
    enum { FEW = 4 };
    const stage *s = c->s;
    const uint32_t in = x_axes_of(c->window), of = x_axes_of(c->other);
    double most = 0;
    c->column = c->row = -1;
    for (int a = 0; a < s->n_result; a++)
        if ((of & ~in) >> a & 1 && 2 * s->extent[a] >= nest_lanes(c->p, s))
            c->column = a;
    for (int a = 0; c->column >= 0 && a < s->n_result; a++) {
        const shape t = guess_tile(c->p, s, s->extent[a], s->extent[c->column], nest_lanes(c->p, s), NULL);
        const double rows = (double)(t.rows < FEW ? t.rows : FEW) + (walks_window(s, c->window, a) ? FEW : 0);
        if ((in & ~of) >> a & 1 && s->extent[a] > 1 && rows >= most)
            c->row = a, c->tile = t, most = rows;
    }
    c->width = c->tile.vectors * nest_lanes(c->p, s);
    c->meets = c->row >= 0 && meets(s, c->window, c->row);
    return c->row >= 0;
}

/* Parts of one axis for the cores: panels of columns, or else of what divides most evenly; each copies its own. */
static void choose_cores(windowed *c, bool cores)
{
    const stage *s = c->s;
    const int threads = c->p->threads;
    double most = 0;
    c->core = -1;
    for (int a = 0; cores && a < s->n_result; a++) {
        const int64_t unit = a == c->column ? c->width : a == c->row ? c->tile.rows : 1;
        const int64_t units = int_ceil_div(s->extent[a], unit);
        const double even = guess_evenly(units, threads) + (a == c->column ? 0.05 : 0);
        if (units >= threads && even > most)
            most = even, c->core = a, c->part = a == c->column ? unit : int_ceil_div(units, threads) * unit;
    }
}

/* ---- the loops ---- */
/* Steps of the fold outside the copy: a panel larger than the second cache goes through it in pieces, if these are
 * long. What is left of axis a then is in left[a]. */
static void put_pieces(const windowed *c, int64_t *left, nesting *b)
{
    const stage *s = c->s;
    const int64_t cache = target_bytes(c->p->on, L2);
    int64_t row = c->width * ts_dtype_bytes(c->other->from->type.dtype),
            steps = (int64_t)stage_points(s, s->n_result, s->n_axis);
    if (row * steps <= cache || s->node->type.dtype != stage_fold(s)->dtype)
        return;
    for (int a = s->n_result; a < s->n_axis && row * steps > cache / 2; a++) {
        const int64_t inner = steps / left[a], most = cache / 2 / (row * inner);
        int64_t step = most < 1 ? 1 : int_ceil_div(left[a], int_ceil_div(left[a], most));
        if (step * inner < SHORT_RUN)
            return;
        nest_put(b, a, step, CPU_SERIAL);
        left[a] = step, steps = step * inner;
    }
}

/* Places of the kernel outside, so that one place's long run of products needs no other bounds at an image's border;
 * where the row is no part of the window, in the order in which both operands lie. */
static void put_fold(const windowed *c, const int64_t *left, nesting *b)
{
    const stage *s = c->s;
    for (int pass = 0; pass < 2; pass++)
        for (int a = s->n_result; a < s->n_axis; a++)
            if ((left[a] > 1 || s->extent[a] == 1) && pass == !(c->meets && meets(s, c->window, a)))
                nest_put(b, a, 1, CPU_SERIAL);
}

static void put_loops(const windowed *c, nesting *b)
{
    const stage *s = c->s;
    const uint32_t shared = x_axes_of(c->window) & x_axes_of(c->other);
    int64_t left[MAX_AXIS];
    for (int a = 0; a < s->n_axis; a++)
        left[a] = s->extent[a];
    if (c->core >= 0 && c->core != c->column)
        nest_put(b, c->core, c->part, CPU_CORE), left[c->core] = c->part;
    for (int a = 0; a < s->n_result; a++)
        if (shared >> a & 1 && left[a] > 1)
            nest_put(b, a, 1, CPU_SERIAL), left[a] = 1;
    nest_put(b, c->column, c->width, c->core == c->column ? CPU_CORE : CPU_SERIAL);
    put_pieces(c, left, b);
    nest_copy(b, b->s, c->copied, 1);
    for (int a = 0; a < s->n_result; a++) {
        const int64_t step = a == c->row ? c->tile.rows : 1;
        if (a != c->column && left[a] > step)
            nest_put(b, a, step, CPU_SERIAL);
    }
    put_fold(c, left, b);
    nest_put(b, c->row, 1, CPU_UNROLL);
    nest_put(b, c->column, 1, CPU_VECTOR);
}

bool guess_window(const plan *p, const kernel *k, const stage *s, nesting *b)
{
    windowed c = {.p = p, .s = s};
    if (p->reference || p->reproducible || k->n_stage > 1 || !s->n_result || !stage_contracts(s) ||
        !find_operands(&c) || !choose_tile(&c))
        return false;
    choose_cores(&c, guess_cores(p, k, s));
    put_loops(&c, b);
    return true;
}
