/* order.c - where values between kernels lie. A value that is read through transposed views gets the order of
 * dimensions in which all reads are linear. The result of a contraction whose weights give a dimension that is not the
 * last (the channels of an image) gets that dimension in blocks of one vector, innermost: n c/16 h w c. Then a tile of
 * channels by pixels loads weights as vectors and pixels as numbers, and nothing has to be copied or turned. What
 * follows (pools, sums) keeps the blocks, as long as every reader can walk them in steps of a block; a value that
 * one reader cannot walk so (it flattens channels and pixels into one) stays in rows, and is written so. */
#include "schedule/fuse/fuse.h"
#include "schedule/plan/checkpointing.h"

/* ---- is an access linear in the axes? ---- */
static const layout *layout_of(const plan *p, const node *n)
{
    return &p->buffer[n->id].layout;
}

/* How many quotients of axes there are in an element's place; p: axes are walked in blocks; NULL: they are not */
static int quotients(const plan *p, const stage *s, const layout *y, const expr *const *sub, int rank)
{
    ENDED_BY(arena_free) arena mem = {0};
    space sp = {.mem = &mem};
    const affine *axis[MAX_AXIS], *at[MAX_RANK];
    int n = 0;
    for (int i = 0; i < s->n_axis; i++) {
        const int64_t last = s->extent[i] > 0 ? s->extent[i] - 1 : 0, block = p ? stage_block(p, s, i) : 1;
        axis[i] = affine_var(&sp, var_add(&sp, "", 0, block > 1 && block <= last ? block - 1 : last));
        if (block > 1 && block <= last)
            axis[i] = affine_add(&sp, axis[i], affine_var(&sp, var_add(&sp, "", 0, last / block)), block);
    }
    for (int i = 0; i < rank; i++)
        at[i] = affine_of(&sp, sub[i], axis);
    const affine *sum = layout_offset(&sp, y, at);
    for (int i = 0; i < sum->n; i++)
        n += sum->t[i].a->kind == A_DIV && affine_has_axis(sum->t[i].a->of);
    return n;
}

static bool linear(const plan *p, const stage *s, const layout *y, const expr *const *sub, int rank)
{
    return !quotients(p, s, y, sub, rank);
}

static bool reads_linear(const plan *p, const stage *s, const node *only) /* every load, or those of one node */
{
    const expr *load[MAX_LOADS];
    const int n = x_loads(s->value, load, MAX_LOADS);
    bool ok = n <= MAX_LOADS;
    for (int i = 0; ok && i < n; i++)
        if (!only || load[i]->from == only)
            ok = linear(p, s, layout_of(p, load[i]->from), load[i]->arg, load[i]->n);
    return ok;
}

bool order_linear(const plan *p, const stage *s)
{
    return linear(p, s, layout_of(p, s->node), s->store, s->node->type.rank) && reads_linear(p, s, NULL);
}

/* ---- who reads a value ---- */
typedef bool reader_test(const plan *p, const kernel *k, const stage *s, const node *n);

static void add_reading(fuser *f, const node *n, int kernel_at, int stage_at)
{
    const reading **first = &f->reading[n->id];
    if (*first && (*first)->kernel == kernel_at && (*first)->stage == stage_at)
        return;
    reading *r = arena_get(&f->p->mem, sizeof *r);
    *r = (reading){kernel_at, stage_at, *first}, *first = r;
}

static void find_readings(fuser *f)
{
    const plan *p = f->p;
    f->reading = arena_array(&f->p->mem, (size_t)p->g->n + 1, sizeof *f->reading);
    for (int k = p->n_kernel; k-- > 0;)
        for (int i = p->kernel[k].n_stage; i-- > 0;) {
            const expr *load[MAX_LOADS];
            const int n = x_loads(p->kernel[k].stage[i].value, load, MAX_LOADS);
            for (int j = 0; j < n && j < MAX_LOADS; j++)
                add_reading(f, load[j]->from, k, i);
        }
}

static bool all_readers(const fuser *f, const node *n, reader_test *test)
{
    for (const reading *r = f->reading[n->id]; r; r = r->next) {
        const kernel *k = &f->p->kernel[r->kernel];
        if (!test(f->p, k, &k->stage[r->stage], n))
            return false;
    }
    return true;
}

static bool along_axes(const plan *p, const kernel *k, const stage *s, const node *n)
{
    (void)k;
    return reads_linear(p, s, n);
}

/* ---- the order of dimensions in memory ---- */
static void order_by(layout *y, const type *t, const expr *const *sub) /* dimensions by the axis that walks them */
{
    int dim[MAX_RANK];
    for (int i = 0; i < t->rank; i++) {
        int k = i;
        for (; k > 0 && axes_last(x_axes(sub[dim[k - 1]])) > axes_last(x_axes(sub[i])); k--)
            dim[k] = dim[k - 1];
        dim[k] = i;
    }
    y->n = 0;
    for (int i = 0; i < t->rank; i++)
        layout_digit(y, dim[i], 1, t->dim[dim[i]]);
    MUST(layout_seal(y, t));
}

static bool taken_whole(const fuser *f, const node *n) /* routines and transfers take rows */
{
    const item *it = f->item[n->id];
    if (it->whole || item_crosses(f, it))
        return true;
    for (int i = 0; i < it->n_reader; i++)
        if (f->item[it->reader[i]]->whole)
            return true;
    return false;
}

/* A recomputed value keeps the layout of its original where possible: the layout decides the order of sums. */
static bool as_before(const fuser *f, const node *n, layout *y)
{
    const layout *like = checkpointing_like(f->p, n), rows = *y;
    if (!like || layout_in_blocks(like))
        return false;
    *y = *like;
    if (all_readers(f, n, along_axes))
        return true;
    *y = rows;
    return false;
}

static bool order_as_read(const fuser *f, const node *n, bool last_stays) /* by any one reader, for all of them */
{
    plan *p = f->p;
    layout *y = &p->buffer[n->id].layout;
    const layout rows = *y;
    for (const reading *r = f->reading[n->id]; r; r = r->next) {
        const expr *load[MAX_LOADS];
        const int count = x_loads(p->kernel[r->kernel].stage[r->stage].value, load, MAX_LOADS);
        for (int j = 0; j < count && j < MAX_LOADS; j++) {
            if (load[j]->from != n)
                continue;
            order_by(y, &n->type, load[j]->arg);
            if ((!last_stays || y->digit[y->n - 1].dim == n->type.rank - 1) && all_readers(f, n, along_axes))
                return true;
            *y = rows;
        }
    }
    return false;
}

static void choose_order(const fuser *f, const node *n)
{
    if (item_crosses(f, f->item[n->id]) || as_before(f, n, &f->p->buffer[n->id].layout) ||
        all_readers(f, n, along_axes) || taken_whole(f, n))
        return;
    if (!order_as_read(f, n, true)) /* who makes the value has its last dimension in vectors */
        order_as_read(f, n, false);
}

/* ---- blocks of channels ---- */
static int dim_along(const stage *s, int axis) /* the dimension of the result that the axis alone walks, or -1 */
{
    for (int d = 0; d < s->node->type.rank; d++)
        if (s->store[d]->kind == X_AXIS && s->store[d]->axis == axis)
            return d;
    return -1;
}

/* The result axis that walks the blocks of an operand; -1: there is none */
static int kept_axis(const plan *p, const stage *s)
{
    const expr *load[MAX_LOADS];
    const int n = x_loads(s->value, load, MAX_LOADS);
    for (int i = 0; i < n && i < MAX_LOADS; i++) {
        const layout *y = layout_of(p, load[i]->from);
        for (int k = 0; k < y->n; k++) {
            const expr *sub = load[i]->arg[y->digit[k].dim];
            if (y->digit[k].step > 1 && sub->kind == X_AXIS && !(s->folds >> sub->axis & 1))
                return sub->axis;
        }
    }
    return -1;
}

/* The axis along which operands are contiguous, where the stage chooses among its last axes: those are unrolled, so
 * vectors need another axis. Else -1. */
static int apart_axis(const stage *s)
{
    const expr *load[MAX_LOADS];
    const int n = x_loads(s->value, load, MAX_LOADS);
    const expr *last = n && n <= MAX_LOADS && load[0]->n ? load[0]->arg[load[0]->n - 1] : NULL;
    return last && last->kind == X_AXIS && s->n_result && last->axis < s->n_result - 1 &&
                   stage_choice(s, s->n_result - 1, NULL)
               ? last->axis
               : -1;
}

/* The axis along which a dot-product instruction of the readers takes neighbours: channels of an image whose products
 * are summed in 32 bits. Else -1. */
static int dots_axis(const fuser *f, const stage *s)
{
    int dim = -1;
    for (const reading *r = f->reading[s->node->id]; r && dim < 0; r = r->next) {
        const stage *by = &f->p->kernel[r->kernel].stage[r->stage];
        const expr *fold = stage_fold(by), *load[MAX_LOADS];
        const int n = fold && fold->dtype == TS_I32 && expr_given(by->value, by->folds) >= 0
                          ? x_loads(fold, load, MAX_LOADS)
                          : 0;
        for (int i = 0; i < n && i < MAX_LOADS; i++)
            for (int d = 0; d < load[i]->n && load[i]->from == s->node; d++)
                if (load[i]->arg[d]->kind == X_AXIS && load[i]->arg[d]->axis == by->n_result)
                    dim = d;
    }
    return dim >= 0 && s->store[dim]->kind == X_AXIS && !stage_fold(s) ? s->store[dim]->axis : -1;
}

/* Divisions in the subscripts of all operands, or of one, that rows would not need. Enlarged images divide along pixels
 * in any layout. */
static int64_t more_quotients(const plan *p, const stage *s, const node *only)
{
    const expr *load[MAX_LOADS];
    const int n = x_loads(s->value, load, MAX_LOADS);
    int64_t more = n > MAX_LOADS;
    for (int i = 0; i < n && i < MAX_LOADS; i++) {
        layout rows = {0};
        if (only && load[i]->from != only)
            continue;
        layout_rows(&rows, &load[i]->from->type);
        more += int_max(quotients(p, s, layout_of(p, load[i]->from), load[i]->arg, load[i]->n) -
                            quotients(NULL, s, &rows, load[i]->arg, load[i]->n),
                        0);
    }
    return more;
}

static bool walks_blocks(const plan *p, const kernel *k, const stage *s, const node *n)
{
    return k->n_stage == 1 && stage_nested(s) && !more_quotients(p, s, n);
}

/* Lays a dimension of a stage's result in blocks. False, and it stays in rows: a reader cannot walk such blocks. */
static bool lie_in_blocks(const fuser *f, const stage *s, int dim, int64_t block)
{
    plan *p = f->p;
    const type *t = &s->node->type;
    layout *y = &p->buffer[s->node->id].layout;
    block = int_min(block, t->dim[dim]), y->n = 0;
    for (int d = 0; d < t->rank; d++)
        layout_digit(y, d, d == dim ? block : 1, t->dim[d]);
    layout_digit(y, dim, 1, block);
    if (layout_seal(y, t) && linear(p, s, y, s->store, t->rank) && all_readers(f, s->node, walks_blocks))
        return true;
    return layout_rows(y, t), false;
}

/* Blocks have the length of a vector, or half of it, where half is as fast and wastes less, or where the operand has
 * that. */
static void choose_block(const fuser *f, const kernel *k)
{
    plan *p = f->p;
    const stage *s = &k->stage[0];
    const type *t = &s->node->type;
    const layout *y = &p->buffer[s->node->id].layout, *like = checkpointing_like(p, s->node);
    int axis = expr_given(s->value, s->folds);
    if (like && !layout_in_blocks(like))
        return;
    if (axis < 0)
        axis = kept_axis(p, s);
    if (axis < 0)
        axis = apart_axis(s);
    if (axis < 0)
        axis = dots_axis(f, s);
    const int dim = axis < 0 ? -1 : dim_along(s, axis), *lanes = plan_on(p, k->site)->lanes;
    if (dim < 0 || !type_count(t) || taken_whole(f, s->node) || !layout_is_rows(y, t) || lanes[TS_F32] < 4)
        return;
    const bool even = !more_quotients(p, s, NULL);
    const int64_t wide = lanes[t->dtype], half = int_max(wide >> plan_on(p, k->site)->halves, 1), n = t->dim[dim];
    const bool narrow = int_ceil_div(n, half) * half < int_ceil_div(n, wide) * wide;
    if (!narrow && lie_in_blocks(f, s, dim, wide) && (!even || !more_quotients(p, s, NULL)))
        return;
    if (!lie_in_blocks(f, s, dim, half) || (even && more_quotients(p, s, NULL)))
        lie_in_blocks(f, s, dim, wide);
}

void order_values(fuser *f)
{
    plan *p = f->p;
    find_readings(f);
    for (int i = 0; i < f->n; i++) {
        const item *it = f->item[f->need[i]->id];
        if (it && !it->inlined && !it->root)
            choose_order(f, it->node);
    }
    for (int k = 0; k < p->n_kernel && !p->reference; k++) /* operands before those who read them */
        if (p->kernel[k].n_stage == 1 && stage_nested(p->kernel[k].stage) &&
            !f->item[p->kernel[k].stage->node->id]->root)
            choose_block(f, &p->kernel[k]);
}
