/* stride.c - subscripts as forms of a stage's axes, over a layout. */
#include "schedule/nest/stride.h"
#include "graph/affine/linear.h"
#include "schedule/plan/hazard.h"

const affine *stride_place(space *sp, const plan *p, const stage *s, int load)
{
    const node *from = stage_value(s, load);
    const affine *at[MAX_AXIS], *sub[MAX_RANK];
    const layout *y = &p->buffer[from->id].layout;
    if (load < MAX_LOADS && s->leaf && s->leaf[load] >= 0)
        y = &p->leaf[s->leaf[load]].layout;
    for (int a = 0; a < s->n_axis; a++)
        at[a] = affine_var(sp, var_add(sp, "", 0, s->extent[a] > 1 ? s->extent[a] - 1 : 1));
    for (int i = 0; i < from->type.rank; i++)
        sub[i] = affine_of(sp, stage_places(s, load)[i], at);
    return layout_offset(sp, y, sub);
}

int64_t stride_along(const plan *p, const stage *s, int load, int axis)
{
    arena mem = {0};
    const int64_t n = affine_coef(stride_place(&(space){.mem = &mem}, p, s, load), axis);
    arena_free(&mem);
    return n * ts_dtype_bytes(stage_value(s, load)->type.dtype);
}
