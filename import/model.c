/* model.c - the part of tessera.h that is about models. */
#include "import/model.h"
#include "graph/base/suggest.h"

#include <stdlib.h>
#include <sys/stat.h>

/* ---- opening ---- */
static const char *in_folder(ts_model *m, const char *folder, err *e)
{
    ENDED_BY(text_free) text tried = {0};
    for (const reader *const *r = readers; *r; r++) {
        if (!(*r)->in_folder)
            continue;
        const char *path = arena_format(&m->mem, "%s/%s", folder, (*r)->in_folder);
        if (file_exists(path))
            return path;
        text_add(&tried, "%s%s", tried.length ? " or " : "", (*r)->in_folder);
    }
    err_set(e, TS_FILES, "the folder '%s' holds no %s", folder, text_str(&tried));
    return NULL;
}

static const reader *reader_for(const char *path, err *e)
{
    mapping map;
    const reader *found = NULL;
    if (!file_map(path, &map, e))
        return NULL;
    ENDED_BY(text_free) text known = {0};
    for (const reader *const *r = readers; *r && !found; r++) {
        if ((*r)->is(path, map.at, map.size))
            found = *r;
        text_add(&known, "%s.%s", !known.length ? "" : r[1] ? ", " : " or ", (*r)->name);
    }
    file_unmap(&map);
    if (!found) {
        err_set(e, TS_BAD_INPUT, "M001 %s: no format known here", path);
        err_hint(e, "a model is a file that ends in %s, or the folder of one; weights alone are none",
                 text_str(&known));
    }
    return found;
}

/* In the order in which the inputs mention them. */
void dims_collect(ts_model *m)
{
    const ports *p = m->declared;
    dims *d = &m->dims;
    size_t most = 0;
    for (int i = 0; i < p->n_input; i++)
        most += p->input[i].rank > 0 ? (size_t)p->input[i].rank : 0;
    d->all = arena_array(&m->mem, most, sizeof *d->all), d->n = 0;
    for (int i = 0; i < p->n_input; i++)
        for (int k = 0; k < p->input[i].rank; k++)
            if (p->input[i].dim[k] < 0 && !dims_find(d, p->input[i].symbol[k]))
                d->all[d->n++] = (dimension){.symbol = p->input[i].symbol[k], .extent = -1, .high = -1, .fallback = -1};
    m->counts.all = arena_array(&m->mem, (size_t)p->n_input, sizeof *d->all), m->counts.n = 0;
    for (int i = 0; i < p->n_input; i++) {
        const ts_port *one = &p->input[i];
        if ((unsigned)one->dtype < TS_N_DTYPE && dtype_class(one->dtype) == D_WHOLE && !one->form &&
            !dims_find(d, one->name) && (one->rank == 0 || (one->rank == 1 && one->dim[0] == 1)))
            m->counts.all[m->counts.n++] = (dimension){.symbol = one->name, .extent = -1, .high = -1, .fallback = -1};
    }
    for (int i = 0; i < m->file.n_rule; i++) {
        const dim_rule *r = &m->file.rule[i];
        dimension *known = dims_find(d, r->symbol);
        if (known)
            known->least = r->least, known->most = r->most, known->fallback = r->fallback;
    }
}

static bool open_file(ts_model *m, const char *what, err *e)
{
    m->path = file_is_folder(what) ? in_folder(m, what, e) : arena_string(&m->mem, what);
    const reader *r = m->path ? reader_for(m->path, e) : NULL;
    if (r && r->build)
        return recipe_open(m, m->path, r->build, e);
    if (!r || !r->read(m->path, &m->file, e))
        return false;
    if (!links_make(&m->file, &m->mem, e))
        return err_in(e, "%s", m->path);
    *m->declared = (ports){m->file.main.n_input, m->file.main.n_output, m->file.main.input, m->file.main.output};
    dims_collect(m);
    return true;
}

static bool nothing_there(const char *what, err *e)
{
    ENDED_BY(suggest_free) suggestion near = {.word = what};
    for (int i = 0; ts_builder_at(i); i++)
        suggest_offer(&near, ts_builder_at(i)->name);
    err_set(e, TS_FILES, "there is no file, folder or built-in model \"%s\"", what);
    return suggest_hint(&near, "built-in models are", e);
}

ts_model *ts_model_open(const char *what, ts_error *e)
{
    return ts_model_open_within(what, 0, NULL, e);
}

ts_model *ts_model_open_within(const char *what, int n_limit, const char *const *limit, ts_error *e)
{
    limits own = limits_make();
    if (!err_given(what, "the name or path of a model", e) || (n_limit && !err_given(limit, "the list of limits", e)))
        return NULL;
    for (int i = 0; i < n_limit; i++)
        if (!limits_set(&own, limit[i], e))
            return NULL;
    ts_model *m = heap_array(1, sizeof *m);
    m->dims.mem = m->counts.mem = &m->mem;
    m->file.limits = own;
    m->declared = arena_get(&m->mem, sizeof *m->declared);
    m->builder = builtin_find(what);
    const bool ok = m->builder          ? builtin_open(m, e)
                    : file_exists(what) ? open_file(m, what, e)
                    : line_is(what)     ? line_open(m, what, e)
                                        : nothing_there(what, e);
    if (ok)
        return m;
    ts_model_free(m);
    return NULL;
}

void ts_model_free(ts_model *m)
{
    if (!m)
        return;
    model_unbind(m);
    model_file_free(&m->file);
    ts_bound_free(m->origin);
    arena_free(&m->mem);
    free(m);
}

bool ts_model_hash(const ts_model *m, char sha256[65], ts_error *e)
{
    mapping own;
    if (!err_given(m, "the model", e) || !err_given(sha256, "where the sum goes", e))
        return false;
    *sha256 = 0;
    if (m->builder || m->origin)
        return true;
    if (!file_map(m->path, &own, e))
        return false;
    hasher *h = hash_open();
    hash_bytes(h, own.at, own.size);
    file_unmap(&own);
    for (int i = 0; i < m->file.external.n_file; i++) {
        const mapping *beside = &m->file.external.file[i].map;
        hash_bytes(h, beside->at, beside->size);
        file_let_go(beside);
    }
    const digest d = hash_close(h);
    digest_hex(&d, sha256);
    return true;
}

/* ---- ports ---- */
const ports *model_ports(const ts_model *m)
{
    static const ports none;
    return !m ? &none : m->bound ? m->bound : m->builder ? builtin_ports(m) : m->declared;
}

int ts_model_inputs(const ts_model *m)
{
    return model_ports(m)->n_input;
}

bool ts_model_input(const ts_model *m, int i, ts_port *out)
{
    const ports *p = model_ports(m);
    if (i < 0 || i >= p->n_input)
        return false;
    *out = p->input[i];
    return true;
}

int ts_model_outputs(const ts_model *m)
{
    return model_ports(m)->n_output;
}

bool ts_model_output(const ts_model *m, int i, ts_port *out)
{
    const ports *p = model_ports(m);
    if (i < 0 || i >= p->n_output)
        return false;
    *out = p->output[i];
    return true;
}

ts_graph *ts_model_graph(ts_model *m)
{
    return m ? m->graph : NULL;
}

bool ts_model_mixed(ts_model *m, ts_dtype to, err *e)
{
    if (!err_given(m, "the model", e))
        return false;
    if (!m->bound)
        return err_set(e, TS_USAGE,
                       "the model's dimensions are not bound yet, and which products it has depends on them: "
                       "ts_model_bind comes first");
    if (ts_mixed_precision(m->graph, m->bound->n_output, m->result, to, m->result))
        return true;
    *e = m->graph->err;
    return false;
}

ts_tensor ts_model_tensor(const ts_model *m, int output)
{
    return m && m->bound && output >= 0 && output < m->bound->n_output ? m->result[output] : NULL;
}
