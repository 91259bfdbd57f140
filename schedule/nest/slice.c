/* slice.c - axes of shared loops come first, then the others as the reader walks them, its vector axis last. */
#include "schedule/nest/slice.h"
#include "schedule/nest/stride.h"
#include "schedule/nest/nest.h"

static int vector_axis(const stage *s)
{
    int axis = -1;
    for (int l = 0; l < s->nest.n; l++)
        axis = s->nest.loop[l].role->lanes ? s->nest.loop[l].axis : axis;
    return axis;
}

/* Axes of shared loops that no loop of the stage walks come first; then the others, as loops from `first` on do. */
static void find_order(const stage *s, const staging *g, uint32_t axes, slice *y)
{
    const int vector = vector_axis(s), first = !g->shared && g->space->shared ? g->loop + 1 : 0;
    uint32_t own = 0;
    for (int l = first; l < s->nest.n; l++)
        own |= 1u << s->nest.loop[l].axis;
    for (int a = 0; g->shared && a < s->n_shared; a++)
        if ((axes & ~own) >> a & 1 && y->extent[a] > 1)
            y->order[y->n++] = a;
    for (int l = first; l < s->nest.n; l++) {
        const int a = s->nest.loop[l].axis;
        if (axes >> a & 1 && a != vector)
            axes &= ~(1u << a), y->order[y->n++] = a;
    }
    if (vector >= 0 && axes >> vector & 1)
        y->order[y->n++] = vector;
}

/* The axis along which the operand lies in one piece, or -1 */
static int in_memory(const plan *p, const stage *s, const staging *g, const slice *y)
{
    const int64_t size = ts_dtype_bytes(s->load[g->load]->from->type.dtype);
    int axis = -1;
    for (int i = 0; i < y->n; i++)
        if (y->extent[y->order[i]] > 1 && stride_along(p, s, g->load, y->order[i]) == size)
            axis = y->order[i];
    return axis;
}

/* ---- slices of which a matrix unit takes whole trips ---- */
static bool of_unit(const stage *s, const staging *g, unit_loops *u)
{
    return g->space->shared && !g->shared && nest_unit(s, u) && s->nest.loop[u->loop[0]].role->warp &&
           (g->load == u->load[0] || g->load == u->load[1]);
}

/* The axis along which its pieces lie: of the two that the unit walks the one that memory has together, where elements
 * are of a size that units turn as they load them; weights are laid out for the folded one. */
enum { TURNED = 2 };
static int along_pieces(const plan *p, const kernel *k, const stage *s, const staging *g, const unit_loops *u)
{
    const int own = s->nest.loop[u->loop[g->load == u->load[1]]].axis, folded = s->nest.loop[u->loop[2]].axis;
    const node *from = s->load[g->load]->from;
    const bool laid = from->leaf && from->leaf->kind != LEAF_INPUT && k->n_stage == 1 && !p->reference;
    const int bytes = ts_dtype_bytes(from->type.dtype);
    return !laid && bytes == TURNED && stride_along(p, s, g->load, own) == bytes ? own : folded;
}

static void find_whole(const plan *p, const kernel *k, const stage *s, const staging *g, const unit_loops *u, slice *y)
{
    enum { PIECE = 16, BANKS = 128 };
    const int64_t size = ts_dtype_bytes(s->load[g->load]->from->type.dtype), piece = PIECE / size;
    const int inner = along_pieces(p, k, s, g, u);
    int n = 0;
    y->whole = true;
    for (int i = 0; i < 3; i++) {
        const int a = s->nest.loop[u->loop[i]].axis;
        y->extent[a] = nest_cover(s, a, g->loop);
    }
    for (int i = 0; i < y->n; i++)
        if (y->order[i] != inner)
            y->order[n++] = y->order[i];
    y->order[n++] = inner, y->n = n;
    int64_t row = y->extent[inner];
    const bool even = !(row & (row - 1));
    for (y->shift = 0; even && INT64_C(1) << y->shift < (row * size > BANKS ? row : BANKS / size);)
        y->shift++;
    y->piece = (int)piece;
    y->mask = even ? (int)(row / piece < BANKS / PIECE ? row / piece : BANKS / PIECE) - 1 : 0;
    row = even ? row : (row / piece | 1) * piece;
    y->stride[inner] = 1, y->size = row;
    for (int i = n - 1; i-- > 0;)
        y->stride[y->order[i]] = y->size, y->size *= y->extent[y->order[i]] > 1 ? y->extent[y->order[i]] : 1;
}

/* ---- slices that a unit of several warps reads itself ---- */
/* Rows of 32, 64 or 128 bytes, of which eight after the other are swizzled (PTX ISA, "Shared Memory Matrix Layout" of
 * wgmma). Longer ones are cut in columns, one behind the other. */
static void cut_rows(const stage *s, const unit_loops *u, int64_t size, slice *y)
{
    enum { ROW = 128, ROWS = 8 };
    const int inner = y->order[y->n - 1], folded = s->nest.loop[u->loop[2]].axis;
    const int64_t all = y->extent[inner], most = ROW / size;
    int64_t row = all < most ? all : most;
    if (inner == folded || all % row || y->n != 2)
        row = all;
    y->mask = (int)(row / y->piece) - 1, y->shift = 0;
    while (INT64_C(1) << y->shift < most)
        y->shift++;
    y->multiple = ROW * ROWS;
    if (row == all)
        return;
    y->block = row, y->apart = row * y->extent[y->order[0]], y->stride[y->order[0]] = row;
}

int64_t slice_swizzled(int64_t p, int shift, int mask, int piece)
{
    return p ^ ((p >> shift & mask) * piece);
}

void slice_find(const plan *p, const kernel *k, const stage *s, const staging *g, slice *y)
{
    enum { MOVED = 16 }; /* bytes that a lane reads at once, at most: gaps keep to these */
    *y = (slice){.size = 1};
    for (int a = 0; a < s->n_axis; a++)
        y->extent[a] = g->shared ? nest_left_shared(k, s, a, g->loop) : nest_left(k, s, a, g->loop);
    find_order(s, g, x_axes_of(s->load[g->load]), y);
    unit_loops u;
    if (of_unit(s, g, &u)) {
        const matrix_unit *v = nest_unit_row(p, s, &u);
        find_whole(p, k, s, g, &u, y);
        if (v && v->warps)
            cut_rows(s, &u, ts_dtype_bytes(v->operand), y);
        return;
    }
    const int inner = y->n ? y->order[y->n - 1] : -1, memory = g->space->shared ? in_memory(p, s, g, y) : -1;
    for (int i = y->n; i-- > 0;) {
        const int a = y->order[i];
        y->stride[a] = y->size;
        y->size *= y->extent[a] > 1 ? y->extent[a] : 1;
        if (a == inner && memory >= 0 && memory != inner) {
            const int64_t step = a == vector_axis(s) ? MOVED / ts_dtype_bytes(s->load[g->load]->from->type.dtype) : 1;
            const int64_t rows = (y->size + step - 1) / step;
            y->size = (rows | 1) * step;
        }
    }
}
