/* launches.c - which kernels a device is told to begin together: one launch, whose groups are dealt to them. It saves
 * what each costs until it begins, and they fill the device side by side. None waits for another one, and each is worth
 * no more than its start. From the last kernel to the first, each goes with the latest launch that it can wait for:
 * what reads what it makes comes behind that.
 *
 * Requires: hazards, so places of all values. Guarantees: what a launch waits for are launches before it. */
#include "schedule/passes/launches.h"
#include "schedule/passes/passes.h"
#include "schedule/plan/hazard.h"
#include "schedule/nest/kept.h"
#include "schedule/nest/nest.h"

#include <stdlib.h>

typedef struct launch {
    int row; /* the last of its kernels: it is launched where this one stands */
    int64_t lanes;
    int n_value; /* operands: values that are read, or written, in a layout */
    struct value {
        const node *node;
        const layout *layout;
        bool written;
    } * value;
} launch;

typedef struct launching {
    plan *p;
    hazards hazards;
    int *row;    /* by kernel: the one with which it is launched */
    int *before; /* by kernel: the first launch that waits for it */
    int n_launch;
    launch *launch; /* by rows from the last one on */
} launching;

/* ---- operands ---- */
static bool has_value(const launch *l, const node *n, const layout *y, bool written)
{
    bool has = false;
    for (int i = 0; i < l->n_value && !has; i++)
        has = l->value[i].node == n && l->value[i].written == written && layout_same(l->value[i].layout, y);
    return has;
}

static void add_value(launch *l, const node *n, const layout *y, bool written)
{
    if (has_value(l, n, y, written))
        return;
    l->value = reallocarray(l->value, (size_t)l->n_value + 1, sizeof *l->value);
    MUST(l->value);
    l->value[l->n_value++] = (struct value){n, y, written};
}

static void add_values(launch *l, const plan *p, const kernel *k)
{
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        for (int j = 0; j < s->n_load; j++) {
            const node *n = s->load[j]->from;
            const int entry = s->leaf ? s->leaf[j] : -1;
            if (!kernel_hands_on(k, n))
                add_value(l, n, entry >= 0 ? &p->leaf[entry].layout : &p->buffer[n->id].layout, false);
        }
        if (!s->scratch)
            add_value(l, s->node, &p->buffer[s->node->id].layout, true);
    }
}

/* ---- which ---- */
bool kernel_joins(const plan *p, const kernel *k, int64_t lanes)
{
    const memory_space *room = target_group_space(p->on);
    bool may = !k->moves && (!room || !room->bytes || kept_by_group(p, k, lanes) <= room->bytes);
    for (int i = 0; i < k->n_stage && may; i++) {
        const stage *s = &k->stage[i];
        unit_loops u;
        may = (!stage_nested(s) || !nest_unit(s, &u)) && !x_find(s->value, X_SIZE);
        for (int a = 0; a < s->n_axis; a++)
            may = may && !s->varies[a].by;
    }
    return may;
}

static bool may_join(const plan *p, const kernel *k)
{
    bool may = !k->scan && kernel_joins(p, k, nest_group_lanes(p, k));
    for (int i = 0; i < k->n_stage && may; i++)
        may = stage_nested(&k->stage[i]) && stage_points(&k->stage[i], 0, k->stage[i].n_axis) > 0;
    return may && kernel_seconds(k, p->on) <= p->on->cost.start_seconds;
}

static bool take(launch *l, const plan *p, const kernel *k) /* as far as operands go */
{
    const int before = l->n_value;
    add_values(l, p, k);
    if (!p->on->operands || l->n_value <= p->on->operands)
        return true;
    l->n_value = before;
    return false;
}

static void join(launching *w, int k)
{
    const kernel *own = &w->p->kernel[k];
    const int64_t lanes = nest_group_lanes(w->p, own);
    for (int i = 0; i < w->n_launch; i++) {
        launch *l = &w->launch[i];
        if (l->row < w->before[k] && l->lanes == lanes && take(l, w->p, own)) {
            w->row[k] = l->row;
            return;
        }
    }
    launch *l = &w->launch[w->n_launch++];
    *l = (launch){.row = k, .lanes = lanes};
    add_values(l, w->p, own);
}

bool pass_launches(plan *p, err *e)
{
    launching w = {.p = p};
    (void)e;
    if (!p->on->side_by_side || p->n_site)
        return true;
    w.row = heap_array((size_t)p->n_kernel + 1, sizeof *w.row),
    w.before = heap_array((size_t)p->n_kernel + 1, sizeof *w.row);
    w.launch = heap_array((size_t)p->n_kernel + 1, sizeof *w.launch);
    for (int k = 0; k < p->n_kernel; k++)
        hazards_add_kernel(&w.hazards, p, &p->kernel[k]), w.row[k] = k, w.before[k] = p->n_kernel;
    for (int k = p->n_kernel; k-- > 0;) {
        if (may_join(p, &p->kernel[k]))
            join(&w, k);
        for (int i = w.hazards.first[k]; i < w.hazards.first[k + 1]; i++) {
            const int of = w.hazards.wait[i];
            w.before[of] = (int)int_min(w.before[of], w.row[k]);
        }
        p->kernel[k].joins = w.row[k] - k;
    }
    for (int i = 0; i < w.n_launch; i++)
        free(w.launch[i].value);
    hazards_free(&w.hazards);
    free(w.row), free(w.before), free(w.launch);
    return true;
}

static bool is_part(const plan *p, int k, int row)
{
    return k + p->kernel[k].joins == row;
}

int launches_members(const plan *p, int row)
{
    int n = 0;
    for (int k = 0; k <= row; k++)
        n += is_part(p, k, row);
    return n;
}

int launches_count(const plan *p)
{
    int n = 0;
    for (int k = 0; k < p->n_kernel; k++)
        n += is_part(p, k, k);
    return n;
}

void launches_share(const plan *p, double *seconds)
{
    for (int row = 0; row < p->n_kernel; row++) {
        const double all = seconds[row];
        double bytes = 0;
        for (int k = 0; k <= row; k++)
            bytes += is_part(p, k, row) ? p->kernel[k].bytes : 0;
        for (int k = 0; k <= row && bytes > 0; k++)
            if (is_part(p, k, row))
                seconds[k] = all * (p->kernel[k].bytes / bytes);
    }
}

void launches_each(const plan *p, int row, void (*after)(void *user, int kernel), void *user)
{
    for (int k = 0; k <= row; k++)
        if (is_part(p, k, row))
            after(user, k);
}
