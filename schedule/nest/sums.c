/* sums.c - orders of sums from subscripts: with one machine in mind those of its layouts, else those of rows. */
#include "schedule/nest/sums.h"
#include "graph/affine/linear.h"
#include "schedule/nest/nest.h"
#include "schedule/nest/stride.h"

enum { SUMS = 128 }; /* bytes of partial sums */

/* How far apart neighbours along an axis are, in elements: where they lie here, or as if everything lay in rows */
static int64_t apart(const plan *p, const stage *s, int load, int axis)
{
    const type *t = &stage_value(s, load)->type;
    int64_t sum = 0, rows = 1;
    ENDED_BY(arena_free) arena mem = {0};
    space sp = {.mem = &mem};
    if (!p->reproducible)
        return affine_coef(stride_place(&sp, p, s, load), axis);
    const affine *at[MAX_AXIS];
    for (int a = 0; a < s->n_axis; a++)
        at[a] = affine_var(&sp, var_add(&sp, "", 0, s->extent[a] > 1 ? s->extent[a] - 1 : 1));
    for (int i = t->rank; i-- > 0; rows *= t->dim[i])
        sum += rows * affine_coef(affine_of(&sp, stage_places(s, load)[i], at), axis);
    return sum;
}

int64_t sums_width(const stage *s)
{
    const expr *fold = stage_fold(s);
    int64_t bytes = 4; /* what is smaller is computed in 4 */
    for (int k = 0; k < (fold->kind == X_SCAN ? fold->n_state : 1); k++)
        bytes = int_max(bytes, ts_dtype_bytes((fold->kind == X_SCAN ? fold->arg[k] : fold)->dtype));
    return SUMS / bytes;
}

/* A folded axis along which operand i lies, of vectors at least; -1: there is none. */
static int lies_along(const plan *p, const stage *s, int i)
{
    const int64_t least = p->reproducible ? sums_width(s) : nest_lanes(p, s);
    int along = -1;
    for (int a = s->n_result; a < s->n_axis && along < 0; a++)
        along = s->extent[a] >= least && apart(p, s, i, a) == 1 ? a : -1;
    return along;
}

static int64_t left_of(const plan *p, const kernel *k, const stage *s, int a)
{
    return p->reproducible ? s->extent[a] : nest_left(k, s, a, -1);
}

static int of_product(const plan *p, const kernel *k, const stage *s)
{
    const int row = s->n_result - 1;
    int along = -1;
    for (int i = 0; i < s->n_folded; i++) {
        const uint32_t axes = x_axes_of(s->load[i]);
        if (!(axes >> row & 1))
            continue;
        if (node_is_weight(s->load[i]->from) || (along = lies_along(p, s, i)) < 0 ||
            apart(p, s, i, row) < s->extent[along]) /* windows over one another */
            return -1;
        for (int a = 0; a < row; a++)
            if (!(axes >> a & 1) && left_of(p, k, s, a) > 1)
                return -1;
    }
    return along;
}

int sums_along(const plan *p, const kernel *k, const stage *s)
{
    int along = -1;
    if (stage_contracts(s) && s->n_result && stage_states(s) == 1 && !p->reference)
        return of_product(p, k, s);
    for (int a = s->n_result; a < s->n_axis; a++)
        for (int i = 0; i < s->n_load; i++)
            if (s->extent[a] > 1 && apart(p, s, i, a) == 1)
                along = a;
    return along;
}

int sums_longest(const stage *s)
{
    int longest = s->n_result;
    for (int a = s->n_result; a < s->n_axis; a++)
        longest = s->extent[a] > s->extent[longest] ? a : longest;
    return longest;
}

void sums_order(const stage *s, int last, int *order)
{
    int at = s->n_result;
    for (int a = s->n_result; a < s->n_axis; a++)
        if (a != last)
            order[at++] = a;
    order[at] = last;
}
