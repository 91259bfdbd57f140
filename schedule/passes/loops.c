/* loops.c - the pass that gives every kernel its loops, and every weight the layout in which its loops walk it.
 *
 * Requires: kernels from the fusion pass. Guarantees: every stage's nest walks all its axes; a load of a weight names
 * the entry of plan.leaf whose layout it expects. */
#include "schedule/schema/schema.h"
#include "schedule/passes/passes.h"
#include "schedule/passes/mask.h"
#include "schedule/nest/nest.h"
#include "schedule/plan/resident.h"
#include "schedule/passes/split.h"

#include <string.h>

static bool is_part(const expr *x, const char *name, int64_t by, int *axis) /* an axis / by, or an axis % by */
{
    if (!x_is_call(x, name) || x->arg[0]->kind != X_AXIS || x->arg[1]->kind != X_LIT || x->arg[1]->whole != by)
        return false;
    return *axis = x->arg[0]->axis, true;
}

/* Every subscript one axis of its own, or a constant 0; or two of them one axis, merged: a / n and a % n. */
static bool walked_axes(const expr *x, int *axis)
{
    uint32_t seen = 0;
    for (int i = 0; i < x->n; i++) {
        const int64_t next = i + 1 < x->n ? x->from->type.dim[i + 1] : 0;
        int a = x->arg[i]->kind == X_AXIS ? x->arg[i]->axis : -1, low;
        axis[i] = -1;
        if (x->arg[i]->kind == X_LIT && x->from->type.dim[i] == 1)
            continue;
        const bool two = next && is_part(x->arg[i], "floordiv", next, &a) &&
                         is_part(x->arg[i + 1], "mod", next, &low) && low == a;
        if (a < 0 || (x->arg[i]->kind != X_AXIS && !two) || seen >> a & 1)
            return false;
        seen |= 1u << a, axis[i] = a;
        if (two)
            axis[++i] = a;
    }
    return true;
}

static bool is_merged(int n, const int *axis, int d)
{
    return axis[d] >= 0 && ((d > 0 && axis[d - 1] == axis[d]) || (d + 1 < n && axis[d + 1] == axis[d]));
}

static bool plain_axes(const expr *x, int *axis) /* none of them merged */
{
    bool plain = walked_axes(x, axis);
    for (int d = 0; plain && d < x->n; d++)
        plain = !is_merged(x->n, axis, d);
    return plain;
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

/* "conv2d2.b", or "b" where the rule is for that stage; NULL: the kernel has no such stage */
static const stage *stage_of(const kernel *k, const rule_layout *y, int own)
{
    for (int i = 0; y->stage && i < k->n_stage; i++)
        if (word_is(k->stage[i].name, y->operand, y->stage))
            return &k->stage[i];
    return y->stage ? NULL : &k->stage[own];
}

static const char *rule_layout_of(const rule *r, const kernel *k, const stage *s, int load, int own)
{
    for (int i = 0; r && i < r->n_layout; i++)
        if (r->layout[i].load == load && stage_of(k, &r->layout[i], own) == s)
            return r->layout[i].text;
    return NULL;
}

/* Those that cannot be followed; own: the stage that operands without one are of. */
static void note_layouts(plan *p, kernel *k, const rule *r, int own)
{
    for (int i = 0; r && i < r->n_layout; i++) {
        const char *operand = r->layout[i].operand;
        const stage *s = stage_of(k, &r->layout[i], own);
        const int load = r->layout[i].load;
        const node *n = s && load < s->n_load ? s->load[load]->from : NULL;
        int axis[MAX_RANK];
        const char *why = !s                                        ? "there is no such stage"
                          : !n                                      ? "there is no such operand"
                          : !n->leaf || n->leaf->kind == LEAF_INPUT ? "only weights and constants are laid out"
                          : s->value->kind == X_ROUTINE             ? "a routine takes it in rows"
                          : !plain_axes(s->load[load], axis)        ? "it is not read along its dimensions"
                                                                    : NULL;
        if (why)
            kernel_note(p, k,
                        arena_format(&p->mem, "layout of %s by rule \"%s\" left aside: %s", operand, r->name, why));
    }
}

static bool follow_layout(const stage *s, int load, const char *wanted, layout *y, err *e)
{
    const type *t = &s->load[load]->from->type;
    const char *letter[MAX_RANK];
    int64_t tile[MAX_RANK];
    int axis[MAX_RANK];
    plain_axes(s->load[load], axis);
    for (int d = 0; d < t->rank; d++)
        letter[d] = axis[d] < 0 ? "?" : s->letter[axis[d]], tile[d] = axis[d] < 0 ? 0 : s->tile[axis[d]];
    return layout_parse(y, t, letter, tile, wanted, e);
}

/* used: the rule that decides the kernel, then those that decide its stages. */
static bool lay_out(plan *p, kernel *k, int which, const rule *const *used, err *e)
{
    stage *s = &k->stage[which];
    s->leaf = arena_array(&p->mem, (size_t)s->n_load + 1, sizeof *s->leaf);
    for (int i = 0; i < s->n_load; i++) {
        const node *n = s->load[i]->from;
        const char *of_stage = rule_layout_of(used[1 + which], k, s, i, which),
                   *of_kernel = rule_layout_of(used[0], k, s, i, k->main);
        const char *wanted = of_stage ? of_stage : of_kernel;
        const rule *r = used[of_stage ? 1 + which : 0];
        int axis[MAX_RANK];
        layout y;
        s->leaf[i] = -1;
        if (!n->leaf || n->leaf->kind == LEAF_INPUT)
            continue;
        layout_rows(&y, &n->type);
        const bool plain = s->value->kind != X_ROUTINE && plain_axes(s->load[i], axis),
                   matrix = n->type.rank > 1 && (type_count(&n->type) >= 4096 || stage_given(s) >= 0);
        if (wanted && plain) {
            if (!follow_layout(s, i, wanted, &y, e))
                return err_in(e, "%s: rule \"%s\" on %s %s, operand %s%s%s", r->place, r->name, k->op, k->label,
                              k->n_stage > 1 ? s->name : "", k->n_stage > 1 ? "." : "", operand_called(i).s);
        } else if (matrix && s->value->kind != X_ROUTINE && walked_axes(s->load[i], axis) && stage_fold(s) &&
                   k->n_stage == 1 && !p->reference) {
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
    p->streamed = resident_as_given(p) > target_bytes(p->on, target_last(p->on));
    for (int i = 0; i < p->n_kernel; i++) {
        const rule *used[1 + MAX_STAGES];
        if (!choose_loops(p, &p->kernel[i], used, e) || !split_kernel(p, i, e))
            return false;
        kernel *k = &p->kernel[i];
        for (int s = 0; s < k->n_stage; s++)
            if (!lay_out(p, k, s, used, e))
                return false;
        note_layouts(p, k, used[0], k->main);
        for (int s = 0; s < k->n_stage; s++)
            note_layouts(p, k, used[1 + s], s);
        if (!used[0] || !used[0]->whole)
            mask_find(p, k);
        p->on->guess->prefetch(p, k);
    }
    return true;
}
