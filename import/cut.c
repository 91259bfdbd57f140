/* cut.c - a part of a bound model: from values that become inputs, to values that become its outputs. The names are
 * those of ts_model_reveal, which finds them. */
#include "import/model.h"

#include <stdlib.h>
#include <string.h>

/* The number among outputs, with those that the model has; a value inside is revealed, as one more. */
static int find(ts_model *m, const char *name, err *e)
{
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < m->bound->n_output; i++)
            if (!strcmp(m->bound->output[i].name, name))
                return i;
        const int before = m->bound->n_output, more = again ? 0 : ts_model_reveal(m, name, e);
        if (more < 0)
            return -1;
        if (more == 1)
            return before;
        if (more > 1)
            return err_set(e, TS_USAGE, "\"%s\" names %d values of the model, one expected", name, more),
                   err_hint(e, "run --all lists their names"), -1;
    }
    err_set(e, TS_USAGE, "no value of the model is called \"%s\"", name);
    return err_hint(e, "run --all lists the names of values inside; a node's number in show --stage folded and its "
                       "operation is one, too, as n12.matmul"),
           -1;
}

static bool is_input(const node *n)
{
    return node_is_leaf(n) && n->leaf->kind == LEAF_INPUT && !n->leaf->bound;
}

/* Inputs that the results need: those of the whole, with what is known of them, then those that were values inside. */
static void take_inputs(ts_model *m, int n, const node *const *result, int n_from, const ts_port *from)
{
    int count, kept = 0;
    ENDED_BY(heap_free) const node **all = g_reached_make(n, result, &count);
    ts_port *input = arena_array(&m->bound_mem, (size_t)m->bound->n_input + (size_t)n_from + 1, sizeof *input);
    for (int i = 0; i < m->bound->n_input + n_from; i++) {
        const ts_port *p = i < m->bound->n_input ? &m->bound->input[i] : &from[i - m->bound->n_input];
        bool needed = false;
        for (int k = 0; k < count && !needed; k++)
            needed = is_input(all[k]) && !strcmp(all[k]->label, p->name);
        if (needed)
            input[kept++] = *p;
    }
    m->bound->input = input, m->bound->n_input = kept;
}

bool ts_model_cut(ts_model *m, int n_from, const char *const *from, int n_to, const char *const *to, ts_error *e)
{
    if (!err_given(m, "the model", e) || (n_from && !err_given(from, "the names of inputs", e)) ||
        (n_to && !err_given(to, "the names of outputs", e)))
        return false;
    if (!m->bound)
        return err_set(e, TS_USAGE, "cannot cut a model that is not bound: ts_model_bind comes first");
    const int n = n_to ? n_to : m->bound->n_output;
    arena *mem = &m->bound_mem;
    int *at = arena_array(mem, (size_t)n_from + (size_t)n + 1, sizeof *at);
    for (int i = 0; i < n_from + n; i++)
        if ((at[i] = i >= n_from && !n_to ? i - n_from : find(m, i < n_from ? from[i] : to[i - n_from], e)) < 0)
            return false;
    const node **inner = arena_array(mem, (size_t)n_from + 1, sizeof *inner),
               **given = arena_array(mem, (size_t)n_from + 1, sizeof *given),
               **result = arena_array(mem, (size_t)n + 1, sizeof *result),
               **cut = arena_array(mem, (size_t)n + 1, sizeof *cut);
    ts_port *input = arena_array(mem, (size_t)n_from + 1, sizeof *input),
            *output = arena_array(mem, (size_t)n + 1, sizeof *output);
    for (int i = 0; i < n_from; i++) {
        inner[i] = m->result[at[i]], input[i] = m->bound->output[at[i]];
        given[i] = ts_input(m->graph, input[i].name, input[i].dtype, input[i].rank, input[i].dim);
    }
    for (int i = 0; i < n; i++)
        result[i] = m->result[at[n_from + i]], output[i] = m->bound->output[at[n_from + i]], output[i].whole = i;
    if (!ts_graph_ok(m->graph, e))
        return false;
    if (!g_replace(m->graph, n, result, n_from, inner, given, cut))
        return ts_graph_ok(m->graph, e);
    take_inputs(m, n, cut, n_from, input);
    m->bound->n_output = n, m->bound->output = output, m->result = cut;
    return true;
}
