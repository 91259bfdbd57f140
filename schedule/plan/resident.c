/* resident.c - which weights are in memory as a whole. */
#include "schedule/plan/resident.h"

static bool picks(const expr *load) /* by a subscript that is itself read */
{
    bool any = false;
    for (int i = 0; i < load->n; i++)
        any = any || x_count(load->arg[i], X_LOAD);
    return any;
}

static bool in_place(const node *n) /* where it is in rows; from odd places it is copied */
{
    const uintptr_t at = (uintptr_t)n->leaf->data;
    return at && at % (uintptr_t)ts_dtype_bytes(n->type.dtype) == 0;
}

int *resident_times(const plan *p, arena *mem)
{
    bool *picked = arena_array(mem, (size_t)p->g->n + 1, sizeof *picked);
    int *times = arena_array(mem, (size_t)p->g->n + 1, sizeof *times);
    for (int k = 0; k < p->n_kernel; k++)
        for (int s = 0; s < p->kernel[k].n_stage; s++)
            for (int i = 0; i < p->kernel[k].stage[s].n_load; i++) {
                const expr *load = p->kernel[k].stage[s].load[i];
                if (picks(load))
                    picked[load->from->id] = true;
                else
                    times[load->from->id] = 1;
            }
    for (int id = 0; id < p->g->n; id++)
        if (p->g->node[id]->leaf && picked[id])
            times[id] += !in_place(p->g->node[id]);
    return times;
}

int64_t resident_as_given(const plan *p)
{
    ENDED_BY(arena_free) arena mem = {0};
    const int *times = resident_times(p, &mem);
    int64_t bytes = 0;
    for (int id = 0; id < p->g->n; id++)
        bytes += p->g->node[id]->leaf && times[id] ? type_bytes(&p->g->node[id]->type) : 0;
    return bytes;
}

int64_t resident_weights(const plan *p)
{
    ENDED_BY(arena_free) arena mem = {0};
    bool *whole = arena_array(&mem, (size_t)p->n_leaf + 1, sizeof *whole);
    int64_t bytes = 0;
    for (int k = 0; k < p->n_kernel; k++)
        for (int s = 0; s < p->kernel[k].n_stage; s++) {
            const stage *st = &p->kernel[k].stage[s];
            for (int i = 0; i < st->n_load; i++)
                if (st->leaf[i] >= 0 && !picks(st->load[i]))
                    whole[st->leaf[i]] = true;
        }
    for (int i = 0; i < p->n_leaf; i++) {
        const packed *w = &p->leaf[i];
        if (whole[i] || !in_place(w->node) || !layout_is_rows(&w->layout, &w->node->type))
            bytes += w->layout.size * ts_dtype_bytes(w->node->type.dtype);
    }
    return bytes;
}
