/* builtin.c - models that are recipes in C on the public header. A recipe reads its dimensions, builds, and names its
 * results; which extents of its inputs follow which dimension is found out by building once more with that dimension
 * changed. */
#include "graph/ir/trip.h"
#include "import/model.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RESULTS = 256, MAX_DIMS = 64 }; /* of one recipe */

/* What a recipe said while it ran. */
struct build {
    int n_result, n_below;
    const char *name[MAX_RESULTS];
    const node *result[MAX_RESULTS];
    const node *input[MAX_RESULTS];
    int64_t below[MAX_RESULTS];
    bool unknown_dim;
};

const ts_builder *ts_builder_at(int i)
{
    for (const ts_builder *const *table = builder_tables; *table; table++)
        for (const ts_builder *b = *table; b->name; b++)
            if (i-- == 0)
                return b;
    return NULL;
}

const ts_builder *builtin_find(const char *name)
{
    for (int i = 0; ts_builder_at(i); i++)
        if (!strcmp(ts_builder_at(i)->name, name))
            return ts_builder_at(i);
    return NULL;
}

/* ---- what recipes call ---- */
int64_t ts_dim(const ts_model *m, const char *name)
{
    const dimension *d = !m || !name ? NULL : dims_find(&m->dims, name);
    if (!d && m && m->build)
        m->build->unknown_dim = true;
    return d ? d->extent : -1;
}

static bool has_room(const ts_model *m, const char *what, int n) /* false: the graph has the reason */
{
    if (m->build && n < MAX_RESULTS)
        return true;
    if (m->build)
        g_fail(m->graph, TS_UNSUPPORTED, "%d %s, at most %d expected", n + 1, what, MAX_RESULTS);
    else
        g_fail(m->graph, TS_USAGE, "%s are said while a built-in model is built, not after it", what);
    return false;
}

void ts_result(ts_model *m, const char *name, ts_tensor t)
{
    struct build *b = m ? m->build : NULL;
    if (!m || !t || !g_given(m->graph, "the name of a result", name) || !g_holds(m->graph, name, 1, &t) ||
        !trips_ended(m->graph, name, 1, &t) || !has_room(m, "results", b ? b->n_result : 0))
        return; /* the graph has the reason */
    b->name[b->n_result] = arena_string(&m->bound_mem, name);
    b->result[b->n_result++] = t;
    if (!node_is_leaf(t))
        g_label(m->graph, t, name);
}

void ts_below(ts_model *m, ts_tensor input, int64_t below)
{
    struct build *b = m ? m->build : NULL;
    if (!m || !input || !has_room(m, "bounds of inputs", b ? b->n_below : 0))
        return;
    b->input[b->n_below] = input;
    b->below[b->n_below++] = below;
}

/* ---- running a recipe ---- */

/* "batch=1 seq=128" */
static bool read_dims(ts_model *m, err *e)
{
    dims *d = &m->dims;
    const char *s = m->builder->dims ? m->builder->dims : "";
    d->all = arena_array(&m->mem, MAX_DIMS, sizeof *d->all);
    while (*(s += strspn(s, " "))) {
        const size_t n = strcspn(s, " "), name = strcspn(s, "=");
        char *end;
        const int64_t value = name < n ? strtoll(s + name + 1, &end, 10) : -1;
        if (value < 0 || end != s + n || d->n == MAX_DIMS)
            return err_set(e, TS_BUG, "built-in model %s: dimensions \"%s\"", m->builder->name, m->builder->dims);
        d->all[d->n++] = (dimension){
            .symbol = arena_format(&m->mem, "%.*s", (int)name, s), .extent = -1, .high = -1, .fallback = value};
        s += n;
    }
    return true;
}

bool builtin_open(ts_model *m, err *e)
{
    m->path = m->builder->name;
    return read_dims(m, e);
}

bool recipe_open(ts_model *m, const char *name, bool (*build)(ts_model *, ts_graph *, ts_error *), err *e)
{
    ts_builder *own = arena_get(&m->mem, sizeof *own);
    *own = (ts_builder){.name = name, .build = build};
    m->builder = own;
    return builtin_open(m, e);
}

static void collect_ports(ts_model *m)
{
    const struct build *b = m->build;
    ports *p = m->bound = arena_get(&m->bound_mem, sizeof *m->bound);
    p->input = arena_array(&m->bound_mem, (size_t)m->graph->n, sizeof *p->input);
    p->output = arena_array(&m->bound_mem, (size_t)b->n_result, sizeof *p->output);
    for (int i = 0; i < m->graph->n; i++) {
        const node *n = m->graph->node[i];
        if (!node_is_leaf(n) || n->leaf->kind != LEAF_INPUT || n->leaf->bound) /* bound: a scan gives the value */
            continue;
        ts_port *in = &p->input[p->n_input++];
        *in = (ts_port){.name = n->label, .dtype = n->type.dtype, .rank = n->type.rank, .below = n->leaf->below};
        memcpy(in->dim, n->type.dim, sizeof in->dim);
        for (int k = 0; k < b->n_below; k++)
            if (b->input[k] == n)
                in->below = b->below[k];
    }
    for (int i = 0; i < b->n_result; i++) {
        ts_port *out = &p->output[p->n_output++];
        *out = (ts_port){.name = b->name[i], .dtype = b->result[i]->type.dtype, .rank = b->result[i]->type.rank};
        memcpy(out->dim, b->result[i]->type.dim, sizeof out->dim);
    }
}

static bool run(ts_model *m, err *e)
{
    m->build = arena_get(&m->bound_mem, sizeof *m->build);
    const bool built = m->builder->build(m, m->graph, e);
    if (!ts_graph_ok(m->graph, e) || !built || m->build->unknown_dim || m->build->n_result == 0) {
        err_set(e, TS_BUG,
                m->build->unknown_dim ? "a dimension that the model does not declare" : "the recipe names no result");
        return err_in(e, m->builder->doc ? "built-in model %s" : "\"%s\"", m->builder->name);
    }
    collect_ports(m);
    m->result = m->build->result;
    return true;
}

/* ---- ports before anything is bound ---- */

ts_model *builtin_make(const ts_model *m, const int64_t *extent)
{
    ts_model *t = ts_model_open(m->builder->name, NULL);
    for (int i = 0; i < t->dims.n; i++)
        t->dims.all[i].extent = extent[i];
    t->graph = ts_graph_make();
    if (run(t, NULL))
        return t;
    ts_model_free(t);
    return NULL;
}

/* At the defaults but for dimension `changed`. */
static ts_model *trial(const ts_model *m, int changed, int64_t value)
{
    int64_t extent[MAX_DIMS];
    for (int i = 0; i < m->dims.n; i++)
        extent[i] = i == changed ? value : m->dims.all[i].fallback;
    return builtin_make(m, extent);
}

/* Frees the extents that moved from `base` to `other` when dimension d went from its default to `extent`. What moves
 * with two dimensions, or in another way than as the dimension itself, is free without a symbol: a sum of lengths, say.
 */
static void mark(const dimension *d, int64_t extent, int n, ts_port *port, const ts_port *base, const ts_port *other)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < port[i].rank && base[i].rank == other[i].rank; k++)
            if (base[i].dim[k] != other[i].dim[k]) {
                const bool itself = base[i].dim[k] == d->fallback && other[i].dim[k] == extent && port[i].dim[k] >= 0;
                port[i].symbol[k] = itself ? d->symbol : NULL;
                port[i].dim[k] = -1;
            }
}

static ts_port *own_ports(arena *mem, int n, const ts_port *from)
{
    ts_port *to = arena_array(mem, (size_t)n + 1, sizeof *to);
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
        to[i].name = arena_string(mem, from[i].name);
    }
    return to;
}

const ports *builtin_ports(const ts_model *m)
{
    ports *p = m->declared;
    if (p->output)
        return p;
    ts_model *base = trial(m, -1, 0);
    if (!base) /* bind will say why */
        return p;
    const ports *b = base->bound;
    *p = (ports){b->n_input, b->n_output, own_ports(m->dims.mem, b->n_input, b->input),
                 own_ports(m->dims.mem, b->n_output, b->output)};
    for (int i = 0; i < m->dims.n; i++) {
        const dimension *d = &m->dims.all[i];
        int64_t extent = d->fallback + 1;
        ts_model *t = trial(m, i, extent);
        if (!t && d->fallback > 0)
            t = trial(m, i, extent = d->fallback - 1);
        if (!t)
            continue;
        mark(d, extent, (int)int_min(b->n_input, t->bound->n_input), p->input, b->input, t->bound->input);
        mark(d, extent, (int)int_min(b->n_output, t->bound->n_output), p->output, b->output, t->bound->output);
        ts_model_free(t);
    }
    ts_model_free(base);
    return p;
}

/* ---- binding ---- */
bool builtin_bind(ts_model *m, err *e)
{
    if (!run(m, e))
        return false;
    const ports *known = m->declared; /* symbols, if they were asked for */
    for (int i = 0; i < m->bound->n_input && i < known->n_input; i++)
        memcpy(m->bound->input[i].symbol, known->input[i].symbol, sizeof known->input[i].symbol);
    return true;
}
