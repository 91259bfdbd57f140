#include "schedule/slice.h"
#include "schedule/explain_fit.h"
#include "schedule/nest.h"

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
        if (y->extent[y->order[i]] > 1 && fit_stride(p, s, g->load, y->order[i]) == size)
            axis = y->order[i];
    return axis;
}

void slice_find(const plan *p, const kernel *k, const stage *s, const staging *g, slice *y)
{
    enum { MOVED = 16 }; /* bytes that a lane reads at once, at most: gaps keep to these */
    *y = (slice){.size = 1};
    for (int a = 0; a < s->n_axis; a++)
        y->extent[a] = g->shared ? nest_left_shared(k, s, a, g->loop) : nest_left(k, s, a, g->loop);
    find_order(s, g, x_axes_of(s->load[g->load]), y);
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
