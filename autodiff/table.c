/* table.c - which operations have gradients, found by asking for them: every case of every record is built, and the
 * gradient of its sum with respect to each real operand wanted. */
#include "graph/ir/problem.h"
#include "graph/ir/rule.h"

#include <string.h>

/* "": the case says nothing, because no reals go in or come out; else how it went. */
static const char *ask(const op *o, const char *line, size_t n, text *refusal)
{
    graph *g = ts_graph_make();
    problem b;
    const node *real[PROBLEM_OPERANDS], *grad[PROBLEM_OPERANDS];
    const char *answer = "";
    int n_real = 0;
    problem_build(g, o, line, n, TS_N_DTYPE, &b);
    for (int i = 0; i < b.n; i++)
        if (b.in[i] && dtype_class(b.in[i]->type.dtype) == D_REAL)
            real[n_real++] = b.in[i];
    if (b.y && n_real) {
        const bool is_real = dtype_class(b.y->type.dtype) == D_REAL;
        const node *seed = is_real ? g_filled(g, &b.y->type, 1) : NULL;
        if (!is_real)
            answer = "stops";
        else if (ts_chain_rule(g, 1, &b.y, &seed, n_real, real, grad))
            answer = o->grad ? "written" : o->lower ? "of its parts" : "derived";
        else
            answer = "refused", refusal->length = 0, text_add(refusal, "%s", g->err.text);
    }
    ts_graph_free(g);
    return answer;
}

static void print_op(text *t, const op *o)
{
    ENDED_BY(text_free) text refusal = {0};
    const char *how = "stops";
    const char *at = o->cases, *line;
    size_t n;
    while ((line = problem_next(&at, &n))) {
        const char *one = ask(o, line, n, &refusal);
        if (*one && strcmp(one, "stops") && strcmp(how, "refused"))
            how = one;
    }
    json_add(t, "\n{operation:%s,gradient:%s,reason:%s}", o->name, how,
             strcmp(how, "refused") ? "" : text_str(&refusal));
}

char *ts_gradients_json(void)
{
    text t = {0};
    json_add(&t, "{format:'gradients/1',ops:[");
    for (const op *o = op_next(NULL); o; o = op_next(o))
        if (o->text || o->body || o->lower || o->cases)
            print_op(&t, o);
    text_add(&t, "]}\n");
    return text_take(&t);
}
