/* appending.c - inputs that go on: where an output is an input with more behind it, a buffer with room for the most is
 * a state of the plan, into which a run puts what is new. The input stays as one that is read for its shape alone. */
#include "backends/driver.h"
#include "graph/ir/rule.h"

#include <stdlib.h>
#include <string.h>

typedef struct appending {
    graph *g;
    const ts_options *o;
    const node **past, **joined; /* of each */
    going_on *made;
} appending;

static const char places[] = "places of what is new"; /* an input that the model has not */

static const node *input_called(const graph *g, const char *name)
{
    for (int i = 0; i < g->n; i++)
        if (g->node[i]->leaf && g->node[i]->leaf->kind == LEAF_INPUT && !strcmp(g->node[i]->label, name))
            return g->node[i];
    return NULL;
}

static const node *put(void *user, const node *old, const node *now)
{
    appending *a = user;
    for (int i = 0; i < a->o->n_append; i++) {
        if (old != a->joined[i])
            continue;
        const char *label = arena_format(&a->g->mem, "%s (with room)", a->past[i]->label);
        const goes_on_at at = {a->past[i], a->o->append[i].most, label, places};
        if (g_goes_on(a->g, old, now, &at, &a->made[i]))
            return a->made[i].joined;
        return !err_is(&a->g->err) ? g_fail(a->g, TS_UNSUPPORTED, "output \"%s\" is not \"%s\" with more behind it",
                                            old->label, a->past[i]->label)
                                   : NULL;
    }
    return now;
}

/* All have the same numbers of elements, before and new: one tensor says the places. */
static bool alike(const appending *a, err *e)
{
    for (int i = 0; i < a->o->n_append; i++) {
        const going_on *x = &a->made[0], *y = &a->made[i];
        if (!y->next)
            return err_set(e, TS_USAGE, "\"%s\" goes on twice, or in an output that another input goes on in",
                           a->past[i]->label);
        if (x->n != y->n || a->past[0]->type.dim[x->axis] != a->past[i]->type.dim[y->axis])
            return err_set(e, TS_UNSUPPORTED, "\"%s\" and \"%s\" do not go on alike", a->past[0]->label,
                           a->past[i]->label);
    }
    return true;
}

static bool find(appending *a, ts_model *m, err *e)
{
    for (int i = 0; i < a->o->n_append; i++) {
        ts_port p = {.name = ""};
        ts_model_input(m, a->o->append[i].input, &p);
        a->past[i] = input_called(a->g, p.name), a->joined[i] = ts_model_tensor(m, a->o->append[i].output);
        if (!a->past[i] || !a->joined[i])
            return err_set(e, TS_USAGE, "no input %d or output %d to go on with", a->o->append[i].input,
                           a->o->append[i].output);
    }
    return true;
}

/* The outputs over buffers, where the inputs are read elsewhere too. */
static bool rewrite(appending *a, int n, const node **root, err *e)
{
    const int n_append = a->o->n_append;
    ENDED_BY(heap_free) const node **to = heap_array((size_t)n_append, sizeof *to);
    bool ok = g_rewrite(a->g, n, root, put, a, root) || ts_graph_ok(a->g, e);
    ok = ok && alike(a, e);
    for (int i = 0; ok && i < n_append; i++)
        to[i] = a->made[i].past, root[n + i] = root[a->o->append[i].output] = a->made[i].next;
    return ok && (g_replace(a->g, n + n_append, root, n_append, a->past, to, root) || ts_graph_ok(a->g, e));
}

const node **appending_roots(ts_model *m, const ts_options *o, growth *to, err *e)
{
    const int n = ts_model_outputs(m), n_append = o ? o->n_append : 0;
    appending a = {ts_model_graph(m), o, heap_array((size_t)n_append + 1, sizeof *a.past),
                   heap_array((size_t)n_append + 1, sizeof *a.joined),
                   heap_array((size_t)n_append + 1, sizeof *a.made)};
    const node **root = heap_array((size_t)n + (size_t)n_append + 1, sizeof *root);
    for (int i = 0; i < n; i++)
        root[i] = ts_model_tensor(m, i);
    const bool ok = !n_append || (find(&a, m, e) && rewrite(&a, n, root, e));
    for (int i = 0; ok && to && i < n_append; i++)
        to[i] = (growth){.past = a.past[i], .buffer = a.made[i].kept, .axis = a.made[i].axis, .n = a.made[i].n};
    free(a.past), free(a.joined), free(a.made);
    if (ok)
        return root;
    free(root);
    return NULL;
}

/* ---- runs ---- */
static int number_of(const plan *p, const node *n)
{
    int i = 0;
    while (i < p->n_input + p->n_told && p->input[i] != n)
        i++;
    return i;
}

void appending_begin(ts_plan *p)
{
    for (int i = 0; i < p->n_grown; i++)
        p->grown[i].told = number_of(p->plan, p->grown[i].past),
        p->grown[i].at = number_of(p->plan, p->grown[i].buffer);
    for (int i = 0; p->n_grown && i < p->plan->n_input; i++)
        if (!strcmp(p->plan->input[i]->label, places))
            p->places = i;
}

int appending_home(const ts_plan *p, int k)
{
    for (int i = 0; i < p->n_grown; i++)
        if (p->grown[i].told == k)
            return p->grown[i].at;
    return k;
}

bool appending_places(ts_plan *p, err *e)
{
    const growth *x = p->grown;
    if (!p->n_grown)
        return true;
    const type *t = &p->plan->input[p->places]->type;
    ts_array *to = &p->given[p->places];
    if (!to->data && !ts_array_make(to, t->dtype, t->rank, t->dim, e))
        return false;
    for (int64_t i = 0; i < x->n; i++)
        ts_array_set(to, i, (double)(p->said[x->told * MAX_RANK + x->axis] + i));
    return driver_changed(p, p->places), true;
}

void appending_end(ts_plan *p)
{
    for (int i = 0; i < p->n_grown; i++)
        p->said[p->grown[i].told * MAX_RANK + p->grown[i].axis] += p->grown[i].n;
}
