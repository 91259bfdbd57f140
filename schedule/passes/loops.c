/* loops.c - the pass that gives every kernel its loops, and every weight the layout in which its loops walk it; of
 * other values what rules say (layouts.c).
 *
 * Requires: kernels from the fusion pass. Guarantees: every stage's nest walks all its axes; a load of a weight names
 * the entry of plan.leaf whose layout it expects. */
#include "schedule/passes/passes.h"
#include "schedule/passes/layouts.h"
#include "schedule/passes/mask.h"
#include "schedule/nest/nest.h"
#include "schedule/plan/resident.h"
#include "schedule/passes/split.h"

#include <string.h>

static bool is_merged(int n, const int *axis, int d)
{
    int same = 0;
    for (int i = 0; i < n; i++)
        same += axis[i] == axis[d];
    return axis[d] >= 0 && same > 1;
}

/* The order in which the loops walk the operand: staging applied once, when the weight is loaded. */
static bool walked(const stage *s, const expr *x, const int *axis, layout *y)
{
    int64_t left[MAX_RANK];
    y->n = 0;
    memcpy(left, x->from->type.dim, sizeof left);
    for (int l = 0; l < s->nest.n; l++)
        for (int d = 0; d < x->n; d++) {
            const loop *q = &s->nest.loop[l];
            if (axis[d] != q->axis || left[d] <= 1)
                continue;
            if (q->step > 1 && is_merged(x->n, axis, d))
                return false;
            const int64_t step = q->step < left[d] ? q->step : left[d];
            if (!layout_digit(y, d, step, left[d]))
                return false;
            left[d] = step;
        }
    return layout_seal(y, &x->from->type);
}

bool loops_lay_out(plan *p, kernel *k, int which, const rule *const *used, err *e)
{
    stage *s = &k->stage[which];
    s->leaf = arena_array(&p->mem, (size_t)s->n_load + 1, sizeof *s->leaf);
    for (int i = 0; i < s->n_load; i++) {
        const node *n = s->load[i]->from;
        const char *of_stage = layouts_said(used[1 + which], k, s, i, which),
                   *of_kernel = layouts_said(used[0], k, s, i, k->main);
        const char *wanted = of_stage ? of_stage : of_kernel;
        const rule *r = used[of_stage ? 1 + which : 0];
        int axis[MAX_RANK];
        layout y;
        s->leaf[i] = -1;
        if (!n->leaf || n->leaf->kind == LEAF_INPUT)
            continue;
        layout_rows(&y, &n->type);
        const bool plain = s->value->kind != X_ROUTINE && layouts_walked(s, i, axis),
                   matrix = n->type.rank > 1 && (type_count(&n->type) >= 4096 || expr_given(s->value, s->folds) >= 0);
        if (wanted && s->value->kind != X_ROUTINE) {
            if (!layouts_read(k, s, i, wanted, &y, e))
                return err_in(e, "%s: rule \"%s\" on %s %s, operand %s%s%s", r->place, r->name, k->op, k->label,
                              k->n_stage > 1 ? s->name : "", k->n_stage > 1 ? "." : "", operand_called(i).s);
        } else if (matrix && plain && stage_fold(s) && k->n_stage == 1 && !p->reference) {
            if (!walked(s, s->load[i], axis, &y))
                layout_rows(&y, &n->type);
        }
        s->leaf[i] = plan_leaf(p, n, &y);
    }
    return true;
}

bool pass_loops(plan *p, err *e)
{
    if (p->n_site)
        return plan_each_part(p, pass_loops, e);
    if (!layouts_follow(p, e))
        return false;
    p->streamed = resident_as_given(p) > target_bytes(p->on, target_last(p->on));
    for (int i = 0; i < p->n_kernel; i++) {
        const rule *used[1 + MAX_STAGES];
        if (!choose_loops(p, &p->kernel[i], used, e) || !split_kernel(p, i, e))
            return false;
        kernel *k = &p->kernel[i];
        for (int s = 0; s < k->n_stage; s++)
            if (!loops_lay_out(p, k, s, used, e))
                return false;
        layouts_note(p, k, used[0], k->main);
        for (int s = 0; s < k->n_stage; s++)
            layouts_note(p, k, used[1 + s], s);
        if (!used[0] || !used[0]->whole)
            mask_find(p, k);
        p->on->guess->prefetch(p, k);
    }
    return true;
}
