/* model.c - the part of tessera.h that is about models. */
#include "import/model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- opening ---- */
static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

static const char *in_folder(ts_model *m, const char *folder, err *e)
{
    text tried = {0};
    for (const reader *const *r = readers; *r; r++) {
        const char *path = arena_format(&m->mem, "%s/%s", folder, (*r)->in_folder);
        if (exists(path)) {
            text_free(&tried);
            return path;
        }
        text_add(&tried, "%s%s", tried.len ? " or " : "", (*r)->in_folder);
    }
    err_set(e, TS_FILES, "the folder '%s' holds no %s", folder, text_str(&tried));
    text_free(&tried);
    return NULL;
}

static const reader *reader_for(const char *path, err *e)
{
    mapping map;
    const reader *found = NULL;
    if (!file_map(path, &map, e))
        return NULL;
    text known = {0};
    for (const reader *const *r = readers; *r && !found; r++) {
        if ((*r)->is(path, map.at, map.size))
            found = *r;
        text_add(&known, "%s%s", known.len ? ", " : "", (*r)->name);
    }
    file_unmap(&map);
    if (!found) {
        err_set(e, TS_BAD_INPUT, "M001 %s: no format known here; known are %s", path, text_str(&known));
        err_hint(e, "the name should end in .%s", readers[0]->name);
    }
    text_free(&known);
    return found;
}

/* Dimensions in the order in which the inputs mention them. */
static void collect_dims(ts_model *m)
{
    const ports *p = m->declared;
    dims *d = &m->dims;
    size_t most = 0;
    for (int i = 0; i < p->n_input; i++)
        most += p->input[i].rank > 0 ? (size_t)p->input[i].rank : 0;
    d->all = arena_array(&m->mem, most, sizeof *d->all);
    for (int i = 0; i < p->n_input; i++)
        for (int k = 0; k < p->input[i].rank; k++)
            if (p->input[i].dim[k] < 0 && !dims_find(d, p->input[i].symbol[k]))
                d->all[d->n++] = (dimension){.symbol = p->input[i].symbol[k], .extent = -1, .fallback = -1};
    for (int i = 0; i < m->file.n_rule; i++) {
        const dim_rule *r = &m->file.rule[i];
        dimension *known = dims_find(d, r->symbol);
        if (known)
            *known = (dimension){r->symbol, -1, r->least, r->most, r->fallback, NULL};
    }
}

static bool open_file(ts_model *m, const char *what, err *e)
{
    m->path = is_folder(what) ? in_folder(m, what, e) : arena_string(&m->mem, what);
    const reader *r = m->path ? reader_for(m->path, e) : NULL;
    if (!r || !r->read(m->path, &m->file, e))
        return false;
    if (!links_make(&m->file, &m->mem, &m->links, e))
        return err_in(e, "%s", m->path);
    *m->declared = (ports){m->file.n_input, m->file.n_output, m->file.input, m->file.output};
    collect_dims(m);
    return true;
}

static bool nothing_there(const char *what, err *e)
{
    text list = {0};
    for (int i = 0; ts_builder_at(i); i++)
        text_add(&list, "%s%s", i ? ", " : "", ts_builder_at(i)->name);
    err_set(e, TS_FILES, "there is no file, folder or built-in model \"%s\"", what);
    if (list.len > 0)
        err_hint(e, "built-in models are %s", text_str(&list));
    text_free(&list);
    return false;
}

ts_model *ts_model_open(const char *what, ts_error *e)
{
    ts_model *m = calloc(1, sizeof *m);
    MUST(m);
    m->dims.mem = &m->mem;
    m->declared = arena_get(&m->mem, sizeof *m->declared);
    m->builder = builtin_find(what);
    const bool ok = m->builder ? builtin_open(m, e) : exists(what) ? open_file(m, what, e) : nothing_there(what, e);
    if (ok)
        return m;
    ts_model_free(m);
    return NULL;
}

static void unbind(ts_model *m)
{
    ts_graph_free(m->graph);
    arena_free(&m->bound_mem);
    m->graph = NULL, m->bound = NULL, m->result = NULL, m->build = NULL;
    m->bound_mem = (arena){0};
}

void ts_model_free(ts_model *m)
{
    if (!m)
        return;
    unbind(m);
    model_file_free(&m->file);
    arena_free(&m->mem);
    free(m);
}

/* ---- ports ---- */
static const ports *ports_of(const ts_model *m)
{
    return m->bound ? m->bound : m->builder ? builtin_ports(m) : m->declared;
}

int ts_model_inputs(const ts_model *m)
{
    return ports_of(m)->n_input;
}

bool ts_model_input(const ts_model *m, int i, ts_port *out)
{
    const ports *p = ports_of(m);
    if (i < 0 || i >= p->n_input)
        return false;
    *out = p->input[i];
    return true;
}

int ts_model_outputs(const ts_model *m)
{
    return ports_of(m)->n_output;
}

bool ts_model_output(const ts_model *m, int i, ts_port *out)
{
    const ports *p = ports_of(m);
    if (i < 0 || i >= p->n_output)
        return false;
    *out = p->output[i];
    return true;
}

/* ---- binding ---- */
static ts_port *copy_ports(arena *mem, int n, const ts_port *from)
{
    ts_port *to = arena_array(mem, (size_t)n, sizeof *to);
    if (n > 0)
        memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

/* Dimensions as asked for, then as the shapes of inputs have them, then by default. */
static bool bind_dims(ts_model *m, int n, const char *const *given, const ts_array *shapes, ts_port **input, err *e)
{
    const ports *p = shapes ? ports_of(m) : m->declared;
    *input = copy_ports(&m->bound_mem, p->n_input, p->input);
    dims_reset(&m->dims);
    for (int i = 0; i < n; i++)
        if (!dims_set(&m->dims, given[i], e))
            return false;
    for (int i = 0; shapes && i < p->n_input; i++)
        if (shapes[i].dtype != TS_N_DTYPE && !dims_match(&m->dims, &(*input)[i], &shapes[i], e))
            return false;
    if (!dims_default(&m->dims, e))
        return false;
    for (int i = 0; i < p->n_input; i++)
        if (!dims_fill(&m->dims, &(*input)[i], e))
            return false;
    return true;
}

/* Values that are given together with their shapes. */
static preset *make_presets(ts_model *m, int n, const ts_array *values)
{
    preset *k = arena_array(&m->bound_mem, (size_t)n, sizeof *k);
    for (int i = 0; values && i < n; i++)
        if (values[i].dtype != TS_N_DTYPE && values[i].dtype == m->declared->input[i].dtype)
            k[i].value = values[i];
    return k;
}

/* They are the caller's: those that were used are copied, the others forgotten. */
static void keep_presets(ts_model *m, const binding *with)
{
    for (int i = 0; i < with->n; i++) {
        ts_array *a = &with->preset[i].value;
        const size_t bytes = (size_t)ts_array_count(a) * (size_t)ts_dtype_bytes(a->dtype);
        if (a->data)
            a->data = with->preset[i].used ? memcpy(arena_get(&m->bound_mem, bytes + 1), a->data, bytes) : NULL;
    }
}

/* What is not supported is said before what is not bound: no extent would help. */
static bool build_file(ts_model *m, ts_port *input, const ts_array *values, const err *unbound, err *e)
{
    const ports *p = m->declared;
    const binding with = {p->n_input, input, make_presets(m, p->n_input, values)};
    m->result = arena_array(&m->bound_mem, (size_t)p->n_output, sizeof *m->result);
    if (!builder_run(&m->file, &m->links, err_is(unbound) ? NULL : &with, m->graph, m->result, e))
        return err_in(e, "%s", m->path);
    if (err_is(unbound))
        return err_set(e, unbound->code, "%s", unbound->text);
    keep_presets(m, &with);
    m->bound = arena_get(&m->bound_mem, sizeof *m->bound);
    *m->bound = (ports){p->n_input, p->n_output, input, copy_ports(&m->bound_mem, p->n_output, p->output)};
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

static void describe_below(ts_model *m)
{
    const ports *p = m->bound;
    const node **input = arena_array(&m->bound_mem, (size_t)p->n_input, sizeof *input);
    int64_t *below = arena_array(&m->bound_mem, (size_t)p->n_input, sizeof *below);
    for (int i = 0; i < m->graph->n; i++) {
        const node *n = m->graph->node[i];
        for (int k = 0; node_is_leaf(n) && n->leaf->kind == LEAF_INPUT && k < p->n_input; k++)
            if (!strcmp(n->label, p->input[k].name))
                input[k] = n;
    }
    below_find(p->n_output, m->result, p->n_input, input, below);
    for (int k = 0; k < p->n_input; k++)
        if (p->input[k].below == 0)
            p->input[k].below = below[k];
}

/* A recipe makes its inputs itself: whether they came out as the values given have them. */
static bool check_shapes(const ts_model *m, const ts_array *shapes, err *e)
{
    const ports *before = m->builder ? m->declared : m->bound;
    for (int i = 0; shapes && i < before->n_input && i < m->bound->n_input; i++) {
        const ts_port *p = &m->bound->input[i];
        for (int k = 0; shapes[i].dtype != TS_N_DTYPE && k < p->rank; k++)
            if (shapes[i].rank != p->rank || shapes[i].dim[k] != p->dim[k])
                return err_set(e, TS_BAD_INPUT,
                               "input \"%s\": dimension %d is %lld in the value given, %lld in the model", p->name, k,
                               (long long)shapes[i].dim[k], (long long)p->dim[k]);
    }
    return true;
}

bool ts_model_bind(ts_model *m, int n, const char *const *given, const ts_array *shapes, ts_error *e)
{
    err unbound = {0}, own = {0};
    ts_port *input;
    unbind(m);
    m->graph = ts_graph_make();
    const bool bound = bind_dims(m, n, given, shapes, &input, &unbound);
    const bool ok = (m->builder ? bound && builtin_bind(m, &own) : build_file(m, input, shapes, &unbound, &own)) &&
                    check_shapes(m, shapes, &own);
    if (ok) {
        describe_outputs(m);
        describe_below(m);
        return true;
    }
    unbind(m);
    return err_set(e, err_is(&own) ? own.code : unbound.code, "%s", err_is(&own) ? own.text : unbound.text);
}

ts_graph *ts_model_graph(ts_model *m)
{
    return m->graph;
}

ts_tensor ts_model_tensor(const ts_model *m, int output)
{
    return m->bound && output >= 0 && output < m->bound->n_output ? m->result[output] : NULL;
}
