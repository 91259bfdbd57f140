/* line.c - a problem of one operation in the place of a model's name, "matmul f32[512,512] f32[512,512]": the lines
 * that tests and tables of support are made of (graph/ir/problem.h). Inputs are x0, x1, ..., the result is y. */
#include "graph/ir/custom.h"
#include "graph/ir/problem.h"
#include "import/model.h"

#include <string.h>

static bool build(ts_model *m, ts_graph *g, ts_error *e)
{
    const char *line = m->builder->name;
    const size_t name = strcspn(line, " ");
    const op *o = g_op(NULL, arena_format(&m->mem, "%.*s", (int)name, line));
    (void)e; /* the graph has the reason */
    problem p;
    problem_build(g, o, line + name + 1, strlen(line + name + 1), TS_N_DTYPE, &p);
    for (int i = 0; i < p.n; i++)
        if (p.operand[i].below)
            ts_below(m, p.in[i], p.operand[i].below);
    ts_result(m, "y", p.y);
    return true;
}

bool line_is(const char *what)
{
    return problem_begins(what + strcspn(what, " "));
}

/* The model's name is the problem printed: two spellings of one problem are one model. */
bool line_open(ts_model *m, const char *what, err *e)
{
    const size_t name = strcspn(what, " ");
    const char *operation = arena_format(&m->mem, "%.*s", (int)name, what), *line = what + name + 1;
    const op *o = g_op(NULL, operation);
    if (!o) {
        err_set(e, TS_USAGE, "there is no operation \"%s\", with which \"%s\" begins", operation, what);
        return err_hint(e, "docs/gradients.md lists the operations");
    }
    if (!problem_check(line, e))
        return err_in(e, "%s", operation);
    problem p;
    ENDED_BY(text_free) text words = {0};
    problem_read(&m->mem, o, line, strlen(line), &p);
    problem_print(&words, &p);
    const char *said = arena_string(&m->mem, text_str(&words));
    return recipe_open(m, said, build, e);
}
