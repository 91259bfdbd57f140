/* work.c - what the model says that a kernel computes, whatever way it goes: what Strassen or Winograd make of a
 * product in several kernels, a sum that is split, a group that a rule took apart. By this reports compare plans
 * that go different ways. */
#include "schedule/explain/explain.h"

#include <string.h>

/* A name that a person gave: torch's exporter numbers what has none, as onnx::MatMul_1317. */
static bool tells(const char *label)
{
    return *label && !strstr(label, "::");
}

/* The matrix among the weights that a node reads, perhaps laid out anew: its name says more than the product's. */
static const char *weight_of(const node *n)
{
    for (int i = 0; i < n->n_in; i++) {
        const node *w = n->in[i];
        while ((w->leaf && w->leaf->of) || (!w->leaf && w->n_in == 1))
            w = w->leaf ? w->leaf->of : w->in[0];
        if (w->leaf && w->leaf->kind == LEAF_WEIGHT && w->type.rank >= 2 && tells(w->label))
            return w->label;
    }
    return "";
}

/* The way by which the kernel is reached: the node it computes is one, or it reads one that is on the way. */
static const detour *detour_of(const plan *p, const kernel *k)
{
    for (const detour *s = p->detours; s; s = s->next) {
        if (s->node == k->whole)
            return s;
        for (int i = 0; i < k->n_stage && !s->last; i++)
            for (int j = 0; j < k->stage[i].n_load; j++)
                if (k->stage[i].load[j]->from == s->node)
                    return s;
    }
    return NULL;
}

/* The largest recipe that made a node; NULL: none */
static const group *recipe_of(const graph *g, const node *n)
{
    const group *most = NULL;
    for (int i = 0; i < g->n_group; i++) {
        const group *q = &g->group[i];
        if (q->first <= n->id && n->id <= q->last && (!most || q->last - q->first > most->last - most->first))
            most = q;
    }
    return most;
}

const node *work_node(const plan *p, int i)
{
    const kernel *k = &p->kernel[i];
    const detour *s = detour_of(p, k);
    const group *q = k->apart ? recipe_of(p->g, k->whole) : NULL;
    return s ? s->stands_for : q ? q->result : k->whole;
}

void work_explain(text *t, const plan *p, int i)
{
    const kernel *k = &p->kernel[i];
    const detour *s = detour_of(p, k);
    const group *q = k->apart ? recipe_of(p->g, k->whole) : NULL;
    const bool split = k->merges || (i + 1 < p->n_kernel && p->kernel[i + 1].merges);
    const node *n = work_node(p, i);
    const char *weight = q ? "" : weight_of(n);
    const char *way = s ? s->way : q ? "separate kernels" : split ? "split sums" : NULL;
    if (!way && !*weight)
        return;
    json_add(t, "work:{operation:%s,label:%s,flops:%.0f",
             s   ? n->op->name
             : q ? q->op->name
                 : k->op,
             *weight           ? weight
             : q && k->was     ? k->was
             : tells(n->label) ? n->label
                               : k->label,
             node_flops(n));
    if (way)
        json_add(t, ",by:%s", way);
    json_add(t, "}");
}
