/* bind.c - a model at given extents: dimensions as asked for, then as values have them, then by default; then the
 * graph. Sequences and optionals are known by their values only, so they come apart into the tensors in them, each an
 * input or output of its own: "x[0]". */
#include "import/model.h"
#include "import/names.h"

#include <stdlib.h>
#include <string.h>

void model_unbind(ts_model *m)
{
    ts_graph_free(m->graph);
    arena_free(&m->bound_mem);
    m->graph = NULL, m->bound = NULL, m->result = NULL, m->build = NULL;
    m->bound_mem = (arena){0};
}

struct ts_bound {
    graph *graph;
    arena mem;
    ports *bound;
    const node **result;
    struct build *build;
};

ts_bound *ts_model_take(ts_model *m)
{
    if (!m || !m->graph)
        return NULL;
    ts_bound *b = heap_array(1, sizeof *b);
    *b = (ts_bound){m->graph, m->bound_mem, m->bound, m->result, m->build};
    m->graph = NULL, m->bound_mem = (arena){0};
    model_unbind(m);
    return b;
}

void ts_model_restore(ts_model *m, ts_bound *b)
{
    if (!m || !b)
        return;
    model_unbind(m);
    m->graph = b->graph, m->bound_mem = b->mem;
    m->bound = b->bound, m->result = b->result, m->build = b->build;
    free(b);
}

void ts_bound_free(ts_bound *b)
{
    if (!b)
        return;
    ts_graph_free(b->graph);
    arena_free(&b->mem);
    free(b);
}

/* ---- inputs ---- */

/* The inputs that a binding gives a graph, as they come apart. */
typedef struct parts {
    ts_model *m;
    int n, cap;
    ts_port *port;
    preset *preset;
} parts;

static ts_port *add_part(parts *p, const ts_port *port, const ts_array *value, bool hold)
{
    int cap = p->cap;
    p->port = arena_grown(&p->m->bound_mem, p->port, p->n, &cap, sizeof *p->port);
    p->preset = arena_grown(&p->m->bound_mem, p->preset, p->n, &p->cap, sizeof *p->preset);
    p->port[p->n] = *port;
    p->preset[p->n].held = hold;
    if (value && value->dtype == port->dtype)
        p->preset[p->n].value = *value;
    return &p->port[p->n++];
}

static bool add_entries(parts *p, const ts_port *whole, const char *name, const char *form, const ts_value *v, err *e)
{
    const ts_kind kind = *form == 's' ? TS_SEQUENCE : *form == 'o' ? TS_OPTIONAL : TS_TENSOR;
    if (v->kind != kind)
        return err_set(e, TS_BAD_INPUT, "input \"%s\" is a %s, the value given is none", name,
                       kind == TS_SEQUENCE   ? "sequence"
                       : kind == TS_OPTIONAL ? "optional"
                                             : "tensor");
    for (int i = 0; kind != TS_TENSOR && i < v->n; i++)
        if (!add_entries(p, whole, arena_format(&p->m->bound_mem, "%s[%d]", name, i), form + 1, &v->item[i], e))
            return false;
    if (kind != TS_TENSOR)
        return true;
    const ts_array *a = &v->array;
    if (a->dtype != whole->dtype)
        return err_set(e, TS_BAD_INPUT, "input \"%s\" is of %s, the value given of %s", name,
                       ts_dtype_name(whole->dtype), ts_dtype_name(a->dtype));
    ts_port *port = add_part(p, whole, a, false);
    port->name = name, port->rank = a->rank;
    memcpy(port->dim, a->dim, sizeof port->dim);
    return true;
}

/* The value that a range says */
static ts_array count_of(ts_model *m, const ts_port *p)
{
    const dimension *one = dims_find(&m->counts, p->name);
    ts_array a = {.dtype = TS_N_DTYPE};
    if (!one || one->extent < 0)
        return a;
    a = (ts_array){.dtype = p->dtype, .rank = p->rank, .dim = {1}, .data = arena_get(&m->bound_mem, sizeof(int64_t))};
    store_whole(a.dtype, a.data, 0, one->extent);
    return a;
}

static bool bind_input(parts *p, int i, const ts_port *from, const ts_binding *b, err *e)
{
    const ts_value *v = b->value ? &b->value[i] : NULL;
    ts_port port = *from;
    const ts_array count = count_of(p->m, from);
    port.whole = i;
    if (!port.form && count.data)
        return add_part(p, &port, &count, false) != NULL;
    if (!port.form) {
        const bool given = v && v->array.dtype != TS_N_DTYPE;
        const bool hold = given && v->array.data && b->hold && b->hold[i];
        add_part(p, &port, given ? &v->array : NULL, hold);
        return true;
    }
    if (!v || v->kind == TS_TENSOR) {
        err_set(e, TS_USAGE, "input \"%s\" holds as many tensors as its value has, and none is given", port.name);
        return err_hint(e, "ts_model_bind_values takes values of this kind");
    }
    return add_entries(p, &port, port.name, port.form, v, e);
}

/* Of "steps=1..64", where steps is an input of one whole number and no dimension, that input. */
static dimension *counted(const ts_model *m, const char *assignment)
{
    const char *equals = strrchr(assignment, '=');
    dimension *found = NULL;
    for (int i = 0; equals && strstr(equals, "..") && i < m->counts.n; i++) {
        const char *name = m->counts.all[i].symbol;
        if (strlen(name) == (size_t)(equals - assignment) && !strncmp(name, assignment, strlen(name)))
            found = &m->counts.all[i];
    }
    return found;
}

/* Inputs of which a range is given: the value itself, else the largest one. */
static bool bind_counts(ts_model *m, const ts_binding *b, const ports *p, err *e)
{
    for (int i = 0; i < p->n_input; i++) {
        const ts_array *a = b->value && !p->input[i].form ? &b->value[i].array : NULL;
        const dimension *one = dims_find(&m->counts, p->input[i].name);
        if (one && one->high >= 0 && a && a->data && a->dtype == p->input[i].dtype && ts_array_count(a) == 1 &&
            !dims_give(&m->counts, one->symbol, load_whole(a->dtype, a->data, 0), e))
            return false;
    }
    return dims_default(&m->counts, e);
}

/* Dimensions as asked for, then as the shapes of inputs have them, then by default. */
static bool bind_dims(ts_model *m, const ts_binding *b, const ports *p, ts_port *input, err *e)
{
    dims_reset(&m->dims), dims_reset(&m->counts);
    m->dims.labels = !m->builder; /* a recipe computes with its dimensions */
    for (int i = 0; i < b->n_dim; i++)
        if (!dims_set(counted(m, b->dim[i]) ? &m->counts : &m->dims, b->dim[i], e))
            return false;
    if (!bind_counts(m, b, p, e))
        return false;
    for (int i = 0; i < p->n_input; i++) {
        input[i] = p->input[i];
        input[i].rank = b->free && b->value && !input[i].form ? -1 : input[i].rank;
        const ts_array *a = b->value && !input[i].form ? &b->value[i].array : NULL;
        if (a && a->dtype != TS_N_DTYPE && !dims_match(&m->dims, &input[i], a, e))
            return false;
    }
    if (!dims_default(&m->dims, e))
        return false;
    for (int i = 0; i < p->n_input; i++)
        if (!input[i].form && !dims_fill(&m->dims, &input[i], e))
            return false;
    return true;
}

static bool bind_inputs(ts_model *m, const ts_binding *b, parts *out, err *e)
{
    const ports *p = b->value ? model_ports(m) : m->declared;
    ts_port *input = arena_array(&m->bound_mem, (size_t)p->n_input, sizeof *input);
    *out = (parts){.m = m};
    if (!bind_dims(m, b, p, input, e))
        return false;
    for (int i = 0; i < p->n_input; i++)
        if (!bind_input(out, i, &input[i], b, e))
            return false;
    return true;
}

/* Values are the caller's: those that the graph is made from are copied, the others forgotten. */
static void keep_presets(ts_model *m, const binding *with)
{
    for (int i = 0; i < with->n; i++) {
        preset *k = &with->preset[i];
        const size_t bytes = (size_t)ts_array_count(&k->value) * (size_t)ts_dtype_bytes(k->value.dtype);
        if (k->value.data)
            k->value.data = k->used ? memcpy(arena_get(&m->bound_mem, bytes + 1), k->value.data, bytes) : NULL;
    }
}

/* What is held lasts as long as the graph. */
static void copy_held(ts_model *m, parts *p)
{
    for (int i = 0; i < p->n; i++) {
        ts_array *a = &p->preset[i].value;
        const size_t bytes = (size_t)ts_array_count(a) * (size_t)ts_dtype_bytes(a->dtype);
        if (p->preset[i].held)
            a->data = memcpy(arena_get(&m->bound_mem, bytes + 1), a->data, bytes);
    }
}

static int without_held(const parts *p, ts_port *to)
{
    int n = 0;
    for (int i = 0; i < p->n; i++)
        if (!p->preset[i].held)
            to[n++] = p->port[i];
    return n;
}

/* ---- outputs ---- */
typedef struct results {
    ts_model *m;
    int n, cap;
    ts_port *port;
    const node **node;
} results;

/* What the file says of an output's dtype must be so; extents that it states are a note, which exporters that fix a
 * dimension leave behind. */
static bool add_result(results *r, const ts_port *whole, const char *name, const onnx_value *v, err *e)
{
    if (v->list) {
        for (int i = 0; i < v->list->n; i++)
            if (!add_result(r, whole, arena_format(&r->m->bound_mem, "%s[%d]", name, i), &v->list->item[i], e))
                return false;
        return true;
    }
    if (whole->dtype != TS_N_DTYPE && whole->dtype != v->node->type.dtype)
        return err_set(e, TS_BAD_INPUT, "M019 output \"%s\" is declared as %s, its node gives %s", name,
                       ts_dtype_name(whole->dtype), ts_dtype_name(v->node->type.dtype));
    const char *what = arena_format(&r->m->bound_mem, "M024 output \"%s\"", name);
    if (!g_none_open(r->m->graph, what, 1, &v->node))
        return ts_graph_ok(r->m->graph, e);
    int cap = r->cap;
    r->port = arena_grown(&r->m->bound_mem, r->port, r->n, &cap, sizeof *r->port);
    r->node = arena_grown(&r->m->bound_mem, r->node, r->n, &r->cap, sizeof *r->node);
    ts_port *p = &r->port[r->n];
    *p = *whole;
    p->name = name, p->dtype = v->node->type.dtype, p->rank = v->node->type.rank;
    memcpy(p->dim, v->node->type.dim, sizeof p->dim);
    r->node[r->n++] = v->node;
    return true;
}

static bool take_results(ts_model *m, const onnx_value *result, ports *to, err *e)
{
    results r = {.m = m};
    for (int i = 0; i < m->declared->n_output; i++) {
        ts_port whole = m->declared->output[i];
        whole.whole = i;
        if (!add_result(&r, &whole, whole.name, &result[i], e))
            return err_in(e, "%s", m->path);
    }
    to->n_output = r.n, to->output = r.port;
    m->result = r.node;
    return true;
}

/* ---- the graph ---- */

/* What is not supported is said before what is not bound: no extent would help. */
static bool build_file(ts_model *m, parts *p, const err *unbound, err *e)
{
    const binding with = {p->n, p->port, p->preset};
    onnx_value *result = arena_array(&m->bound_mem, (size_t)m->declared->n_output, sizeof *result);
    copy_held(m, p);
    const bool built = builder_run(&m->file, err_is(unbound) ? NULL : &with, m->graph, result, e);
    if (err_is(unbound) && (built || e->code != TS_UNSUPPORTED)) /* without inputs a call may lack its operands */
        return *e = *unbound, false;
    if (!built)
        return err_in(e, "%s", m->path);
    keep_presets(m, &with);
    ports *bound = arena_get(&m->bound_mem, sizeof *bound);
    bound->input = arena_array(&m->bound_mem, (size_t)p->n, sizeof *bound->input);
    bound->n_input = without_held(p, bound->input);
    m->bound = bound;
    return take_results(m, result, bound, e);
}

static void describe_below(ts_model *m)
{
    const ports *p = m->bound;
    const node **input = arena_array(&m->bound_mem, (size_t)p->n_input, sizeof *input);
    int64_t *below = arena_array(&m->bound_mem, (size_t)p->n_input, sizeof *below);
    name_table known = {.mem = &m->bound_mem};
    for (int k = 0; k < p->n_input; k++)
        name_add(&known, p->input[k].name, k);
    for (int i = 0; i < m->graph->n; i++) {
        const node *n = m->graph->node[i];
        const int k = node_is_leaf(n) && n->leaf->kind == LEAF_INPUT ? name_find(&known, n->label) : -1;
        if (k >= 0)
            input[k] = n;
    }
    below_find(p->n_output, m->result, p->n_input, input, below);
    for (int k = 0; k < p->n_input; k++)
        if (p->input[k].below == 0)
            p->input[k].below = below[k];
}

/* A recipe makes its inputs itself: whether they came out as the values given have them. */
static bool check_shapes(const ts_model *m, const ts_value *value, err *e)
{
    for (int i = 0; value && m->builder && i < m->declared->n_input && i < m->bound->n_input; i++) {
        const ts_port *p = &m->bound->input[i];
        const ts_array *a = &value[i].array;
        for (int k = 0; a->dtype != TS_N_DTYPE && k < p->rank; k++)
            if (a->rank != p->rank || a->dim[k] != p->dim[k])
                return err_set(e, TS_BAD_INPUT,
                               "input \"%s\": dimension %d is %lld in the value given, %lld in the model", p->name, k,
                               (long long)a->dim[k], (long long)p->dim[k]);
    }
    return true;
}

static void describe_outputs(ts_model *m)
{
    for (int i = 0; i < m->bound->n_output; i++) {
        ts_port *p = &m->bound->output[i];
        p->dtype = m->result[i]->type.dtype;
        p->rank = m->result[i]->type.rank;
        memcpy(p->dim, m->result[i]->type.dim, sizeof p->dim);
    }
}

bool ts_model_bind_values(ts_model *m, const ts_binding *b, ts_error *e)
{
    err unbound = {0}, own = {0};
    parts p;
    if (!err_given(m, "the model", e) || !err_given(b, "what is to be bound", e) ||
        (b->n_dim && !err_given(b->dim, "the list of dimensions", e)))
        return false;
    model_unbind(m);
    m->graph = ts_graph_make();
    m->waits = false;
    const bool bound = bind_inputs(m, b, &p, &unbound);
    m->graph->most_work = m->builder ? VALUE_WORK : (double)m->file.limits.known;
    m->graph->looped = m->dims.ranged || m->counts.ranged;
    if ((m->builder ? bound && builtin_bind(m, &own) : build_file(m, &p, &unbound, &own)) &&
        check_shapes(m, b->value, &own)) {
        describe_outputs(m);
        describe_below(m);
        return true;
    }
    m->waits = m->graph->waits;
    model_unbind(m);
    err_set(e, err_is(&own) ? own.code : unbound.code, "%s", err_is(&own) ? own.text : unbound.text);
    return m->dims.notes ? err_hint(e, "%s", m->dims.notes) : false;
}

const char *ts_model_notes(const ts_model *m)
{
    return m && m->dims.notes ? m->dims.notes : "";
}

bool ts_model_waits(const ts_model *m)
{
    return m && m->waits;
}

bool ts_model_bind(ts_model *m, int n, const char *const *given, const ts_array *shapes, ts_error *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    ts_value *value = NULL;
    if (m && shapes) {
        model_unbind(m); /* inputs are those that the model declares */
        const int count = ts_model_inputs(m);
        value = arena_array(&mem, (size_t)count, sizeof *value);
        for (int i = 0; i < count; i++)
            value[i].array = shapes[i];
    }
    return ts_model_bind_values(m, &(ts_binding){.n_dim = n, .dim = given, .value = value}, e);
}
