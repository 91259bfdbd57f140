/* derived.c - weights computed from others, as for products in fewer operations: what one is computed from becomes an
 * input of a small graph of its own, so that all weights computed alike share a plan and a program. */
#include "backends/derived.h"
#include "graph/eval/eval.h"
#include "schedule/make.h"
#include "graph/ir/known.h"
#include "graph/ir/graph.h"

#include <stdlib.h>

typedef struct made {
    const node *root;
    plan *plan;
    program *program;
} made;

struct deriver {
    const plan *p;
    target here; /* computed here, whatever machine the plan is for */
    const backend *by;
    const build_options *asked;
    graph *g;
    made *made;
    int n;
    void *buffer[MOST_SOURCES]; /* of operands that have no memory of their own */
};

deriver *deriver_make(const plan *p, const backend *by, const build_options *w)
{
    deriver *d = heap_array(1, sizeof *d);
    MUST(by->at); /* what is made is read there */
    *d = (deriver){.p = p, .here = *p->on, .by = by, .asked = w, .g = ts_graph_make()};
    if (by->present && by->present->here)
        by->present->here(p->on, &d->here);
    return d;
}

void deriver_forget(deriver *d, int kind)
{
    made *m = &d->made[kind];
    d->by->drop(m->program), plan_free(m->plan);
    m->program = NULL, m->plan = NULL;
}

void deriver_rest(deriver *d)
{
    for (int i = 0; i < MOST_SOURCES; i++)
        free(d->buffer[i]), d->buffer[i] = NULL;
}

void deriver_free(deriver *d)
{
    if (!d)
        return;
    for (int i = 0; i < d->n; i++)
        deriver_forget(d, i);
    deriver_rest(d);
    ts_graph_free(d->g), free(d->made), free(d);
}

/* Input k of one type: programs of weights that are computed alike share it, and names have one type in a graph. */
static const node *stand_in(graph *g, int k, const type *y)
{
    ENDED_BY(text_free) text name = {0};
    text_add(&name, "%d ", k), type_print(&name, y);
    return g_input(g, text_str(&name), y, NULL);
}

/* n of inputs in place of weights and constants, whose names begin with numbers; those are gathered in at[] */
static const node *apart(graph *g, const node *n, const node **at, int *count)
{
    const node *in[MOST_SOURCES];
    if (n->leaf && n->leaf->of)
        return apart(g, n->leaf->of, at, count);
    if (n->leaf) {
        int k = 0;
        while (k < *count && at[k] != n)
            k++;
        MUST(k < MOST_SOURCES);
        at[k] = n, *count += k == *count;
        return stand_in(g, k, &n->type);
    }
    MUST(n->n_in <= MOST_SOURCES);
    for (int i = 0; i < n->n_in; i++)
        in[i] = apart(g, n->in[i], at, count);
    return g_again(g, n, n->n_in, in);
}

int deriver_kind(deriver *d, const node *weight, err *e)
{
    const node *at[MOST_SOURCES];
    int count = 0, i = 0;
    const node *root = apart(d->g, weight->leaf->of, at, &count);
    if (!root)
        return err_set(e, d->g->err.code, "%s", d->g->err.text), -1;
    while (i < d->n && d->made[i].root != root)
        i++;
    if (i == d->n) {
        d->made = reallocarray(d->made, (size_t)d->n + 1, sizeof *d->made);
        MUST(d->made);
        d->made[d->n++] = (made){.root = root};
    }
    return i;
}

static bool plan_kind(deriver *d, made *m, err *e)
{
    const plan_options asked = {.on = &d->here,
                                .target = d->by->name,
                                .as_written = true,
                                .as_given = true,
                                .whole_sums = true,
                                .reproducible = d->p->reproducible};
    if (!m->plan)
        m->plan = plan_make(d->g, 1, &m->root, &asked, e);
    phases_done(d->asked->phases, PHASE_PLAN);
    return m->plan != NULL;
}

bool deriver_plan_all(deriver *d, err *e)
{
    bool ok = true;
    for (int i = 0; ok && i < d->p->n_leaf; i++)
        if (d->p->leaf[i].node->leaf->of) {
            const int kind = deriver_kind(d, d->p->leaf[i].node, e);
            ok = kind >= 0 && plan_kind(d, &d->made[kind], e);
        }
    return ok;
}

const plan *deriver_plan(const deriver *d, int kind)
{
    return kind < d->n ? d->made[kind].plan : NULL;
}

static bool build(deriver *d, made *m, err *e)
{
    ENDED_BY(text_free) text facts = {0};
    m->program = plan_kind(d, m, e) ? d->by->build(m->plan, d->asked, &facts, e) : NULL;
    return m->program != NULL;
}

/* Whole elements at an address that is a multiple of their size, as programs take inputs */
static void *operand(deriver *d, int i, const node *x)
{
    const leaf *l = x->leaf;
    if (l->data && (uintptr_t)l->data % (uintptr_t)ts_dtype_bytes(x->type.dtype) == 0)
        return (void *)(uintptr_t)l->data;
    d->buffer[i] = realloc(d->buffer[i], (size_t)type_bytes(&x->type) + 1);
    MUST(d->buffer[i]);
    leaf_read(x, d->buffer[i], 0, type_count(&x->type));
    return d->buffer[i];
}

const void *deriver_value(deriver *d, const node *weight, err *e)
{
    const node *at[MOST_SOURCES];
    void *input[MOST_SOURCES] = {0};
    dtype stored;
    const int kind = deriver_kind(d, weight, e);
    int count = 0;
    if (kind < 0 || (!d->made[kind].program && !build(d, &d->made[kind], e)))
        return NULL;
    const made *m = &d->made[kind];
    apart(d->g, weight->leaf->of, at, &count);
    for (int i = 0; i < m->plan->n_input; i++) {
        const int k = (int)strtol(m->plan->input[i]->label, NULL, 10);
        input[i] = operand(d, k, at[k]);
    }
    if (!d->by->run(m->program, input, e))
        return NULL;
    const void *value = d->by->at(m->program, m->root, &stored);
    MUST(stored == weight->type.dtype);
    if (!value)
        err_set(e, TS_DEVICE, "a weight that was computed cannot be read from %s", d->here.model);
    return value;
}
