/* support.c - which operators of ONNX are served: from which version on, for which dtypes, on which targets. Versions
 * are what rules and forms declare. Dtypes are found by asking: the problems that the operation's record states are
 * built with each dtype in place of that of the values, planned for each target that runs plans, and offered to it.
 * What is resolved while a graph is built (a form) is there before any target sees it, for every dtype. */
#include "schedule/make.h"
#include "backends/backend.h"
#include "graph/ir/problem.h"

#include <string.h>

enum { MAX_TARGET = 32 };
typedef struct support { /* of one operation: sets of dtypes, by target */
    uint32_t dtypes[MAX_TARGET];
} support;

typedef struct served {
    const op *op;
    const onnx_rule *rule;
} served;

typedef struct span {
    const char *at;
    size_t n;
} span;

typedef struct asking {
    arena mem;
    const target *on[MAX_TARGET];
    int n_target;
    const backend *target[MAX_TARGET];
} asking;

static bool takes(const asking *a, int which, const problem *p, graph *g)
{
    err e = {0};
    const backend *by = a->target[which];
    plan *made = plan_make(g, 1, &p->y, &(plan_options){.on = a->on[which], .target = by->name}, &e);
    const bool ok = made && (!by->takes || by->takes(made, &e));
    plan_free(made);
    return ok;
}

/* One problem with one dtype, on the targets that have not said yes yet. */
static void ask_problem(const asking *a, const served *by, span line, dtype d, support *to)
{
    graph *g = ts_graph_make();
    problem p;
    problem_adapt(g, by->op, by->rule, line.at, line.n, d, &p);
    for (int i = 0; p.y && i < a->n_target; i++)
        if (!(to->dtypes[i] >> d & 1) && takes(a, i, &p, g))
            to->dtypes[i] |= 1u << d;
    ts_graph_free(g);
}

static bool settled(const asking *a, const support *s, dtype d)
{
    for (int i = 0; i < a->n_target; i++)
        if (!(s->dtypes[i] >> d & 1))
            return false;
    return true;
}

static support ask(const asking *a, const served *by)
{
    support s = {0};
    for (dtype d = 0; d < TS_N_DTYPE; d++) {
        const char *at = NULL;
        span line;
        while (!settled(a, &s, d) && (line.at = problem_of_rule(by->op, by->rule, &at, &line.n)))
            ask_problem(a, by, line, d, &s);
    }
    return s;
}

static support everything(const asking *a)
{
    support s = {0};
    for (int i = 0; i < a->n_target; i++)
        s.dtypes[i] = (1u << TS_N_DTYPE) - 1;
    return s;
}

/* ---- printing ---- */
static void print_row(text *t, const asking *a, const char *operator, int since, const op *o, const support *s)
{
    json_add(t, "\n{operator:%s,since:%d,operation:%s,targets:{", operator, since, o->name);
    for (int i = 0; i < a->n_target; i++) {
        json_add(t, "%s:[", a->target[i]->name);
        for (dtype d = 0; d < TS_N_DTYPE; d++)
            if (s->dtypes[i] >> d & 1)
                json_add(t, "%s", ts_dtype_name(d));
        text_add(t, "]");
    }
    text_add(t, "}");
    const size_t length = strlen(operator);
    for (const char *says = o->onnx_undefined; says; says = strchr(says, '\n') ? strchr(says, '\n') + 1 : NULL)
        if (!strncmp(says, operator, length) && says[length] == ':')
            json_add(t, "undefined:%.*s", (int)strcspn(says + length + 2, "\n"), says + length + 2);
    text_add(t, "}");
}

static void print_op(text *t, const asking *a, const op *o)
{
    const support of_forms = everything(a);
    for (const onnx_rule *r = o->rule; r && r->type; r++) {
        const support s = ask(a, &(served){o, r});
        print_row(t, a, r->type, r->since, o, &s);
    }
    for (const onnx_rule *r = o->form; r && r->type; r++)
        if (strncmp(r->type, "tessera.", 8)) /* in no file but graph/1 */
            print_row(t, a, r->type, r->since, o, &of_forms);
}

char *ts_onnx_json(ts_error *e)
{
    asking a = {0};
    for (const backend *const *b = backends; *b; b++)
        if ((*b)->run) {
            MUST(a.n_target < MAX_TARGET);
            a.target[a.n_target] = *b;
            if (!(a.on[a.n_target++] = (*b)->target(&a.mem,
                                                    &(machine_options){.machine = (*b)->described, .threads = 1}, e)))
                return arena_free(&a.mem), NULL;
        }
    text t = {0};
    json_add(&t, "{format:'operators/1',operators:[");
    for (const op *o = op_next(NULL); o; o = op_next(o))
        print_op(&t, &a, o);
    text_add(&t, "],");
    json_add(&t, "left:[");
    onnx_left_json(&t);
    text_add(&t, "]}\n");
    arena_free(&a.mem);
    return text_take(&t);
}
