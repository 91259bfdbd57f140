/* reveal.c - values inside a bound model as outputs of it. Names are labels (of a file, the node's or its result's);
 * what has none is called by its number in the model's text and its operation, "n12.matmul". The result of a recipe
 * has the recipe's: "n60.softmax". */
#include "import/model.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

typedef struct revealing {
    ts_model *m;
    const char *globs; /* one a line */
    int n;
    ts_port *port;
    const node **node;
    const char **op; /* by id */
} revealing;

static bool fits(const char *globs, const char *name, arena *mem)
{
    for (const char *at = globs; *at; at += *at == '\n') {
        const size_t n = strcspn(at, "\n");
        if (n && !fnmatch(arena_format(mem, "%.*s", (int)n, at), name, 0))
            return true;
        at += n;
    }
    return false;
}

static bool is_taken(const revealing *r, const char *name)
{
    return row_named(r->port, r->n, sizeof *r->port, name) >= 0;
}

static bool is_out(const revealing *r, const node *n)
{
    for (int i = 0; i < r->n; i++)
        if (r->node[i] == n)
            return true;
    return false;
}

static void look_at(revealing *r, const node *n, int number, arena *scratch)
{
    const char *numbered = arena_format(&r->m->bound_mem, "n%d.%s", number, r->op[n->id] ? r->op[n->id] : n->op->name);
    const char *name = *n->label ? n->label : numbered;
    if (n->leaf || is_out(r, n) || (!fits(r->globs, name, scratch) && !fits(r->globs, numbered, scratch)))
        return;
    ts_port *p = &r->port[r->n];
    *p = (ts_port){.name = is_taken(r, name) ? arena_format(&r->m->bound_mem, "%s.n%d", name, number) : name,
                   .dtype = n->type.dtype,
                   .rank = n->type.rank,
                   .whole = r->n};
    memcpy(p->dim, n->type.dim, sizeof p->dim);
    r->node[r->n++] = n;
}

int ts_model_reveal(ts_model *m, const char *globs, ts_error *e)
{
    if (!err_given(m, "the model", e) || !err_given(globs, "what is to be revealed", e))
        return -1;
    if (!m->bound)
        return err_set(e, TS_USAGE,
                       "the model's dimensions are not bound yet, and its values depend on them: ts_model_bind comes "
                       "first"),
               -1;
    const int before = m->bound->n_output, count = g_reach(before, m->result, NULL);
    ENDED_BY(heap_free) const node **need = heap_array((size_t)count + 1, sizeof *need);
    ENDED_BY(arena_free) arena scratch = {0};
    g_reach(before, m->result, need);
    revealing r = {.m = m, .globs = globs, .n = before, .op = heap_array((size_t)m->graph->n + 1, sizeof *r.op)};
    for (int i = 0; i < m->graph->n_group; i++) /* inner ones first */
        r.op[m->graph->group[i].result->id] = m->graph->group[i].op->name;
    r.port = arena_joined(&m->bound_mem, m->bound->output, before, NULL, count, sizeof *r.port);
    r.node = arena_joined(&m->bound_mem, m->result, before, NULL, count, sizeof *r.node);
    for (int i = 0; i < count; i++)
        look_at(&r, need[i], i, &scratch);
    free(r.op);
    m->bound->n_output = r.n, m->bound->output = r.port, m->result = r.node;
    return r.n - before;
}
