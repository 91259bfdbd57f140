/* edit.c - a model changed and written again: one from a file, or a built-in one, whose nodes become steps. */
#include "import/model.h"
#include "graph/base/suggest.h"
#include "import/writer.h"

#include <stdlib.h>
#include <string.h>

/* Names and order anew after a change. */
static bool relink(ts_model *m, err *e)
{
    model_unbind(m);
    const body *b = &m->file.main;
    *m->declared = (ports){b->n_input, b->n_output, b->input, b->output};
    return links_make(&m->file, &m->mem, e);
}

/* Graphs within steps are not searched: with one of them anything counts as read, so an input may stay that could go.
 */
static bool is_read(const body *b, const char *value)
{
    for (int i = 0; i < b->n_step; i++)
        for (int k = 0; k < b->step[i].n_in || b->step[i].n_body; k++)
            if (b->step[i].n_body || !strcmp(b->step[i].in[k], value)) /* graphs in a step may read anything */
                return true;
    return row_named(b->output, b->n_output, sizeof *b->output, value) >= 0;
}

/* An input without elements that no step reads, as what was seen before a text begins, is nothing to ask for. */
static void drop_empty(body *b)
{
    int n = 0;
    for (int i = 0; i < b->n_input; i++) {
        bool empty = false;
        for (int k = 0; k < b->input[i].rank; k++)
            empty = empty || b->input[i].dim[k] == 0;
        if (!empty || is_read(b, b->input[i].name))
            b->input[n++] = b->input[i];
    }
    b->n_input = n;
}

/* A built-in model becomes what a file of it would hold. Its steps borrow from the nodes they are made of. */
static bool has_steps(ts_model *m, const char *doing, err *e)
{
    if (!err_given(m, "the model", e))
        return false;
    if (!m->builder)
        return true;
    if (!m->graph) {
        err_set(e, TS_USAGE, "cannot %s \"%s\": it is built in, and has steps only once it is bound", doing, m->path);
        return err_hint(e, "bind its dimensions first; those that are not named stay free");
    }
    model_file made;
    if (!restate_graph(&(made_graph){m->path, m->graph, *m->bound, m->result, false}, &made, e) ||
        !loosen_model(m, &made, e))
        return arena_free(&made.mem), false;
    drop_empty(&made.main);
    made.limits = m->file.limits;
    m->file = made, m->builder = NULL;
    m->origin = ts_model_take(m);
    const bool ok = relink(m, e);
    dims_collect(m);
    return ok;
}

/* Steps are added behind those there are; links_make finds what they read. */
bool ts_model_extend(ts_model *m, const char *json, ts_error *e)
{
    return has_steps(m, "extend", e) && err_given(json, "the text of what is added", e) &&
           graph_json_add(&m->file, json, e) && relink(m, e);
}

static bool same_shape(const ts_array *a, const ts_array *b)
{
    return a->dtype == b->dtype && a->rank == b->rank && !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);
}

/* The caller's array may go: the model has bytes of its own. */
static void *copy_data(model_file *f, const ts_array *a)
{
    size_t n;
    MUST(size_mul((size_t)ts_array_count(a), (size_t)ts_dtype_bytes(a->dtype), &n));
    void *to = arena_get(&f->mem, n + 1);
    if (n > 0)
        memcpy(to, a->data, n);
    return to;
}

static held *find_held(const body *b, const char *name)
{
    const int i = row_named(b->held, b->n_held, sizeof *b->held, name);
    return i < 0 ? NULL : &b->held[i];
}

static void make_room(model_file *f, int more) /* behind the tensors of the file */
{
    body *b = &f->main;
    b->held = arena_joined(&f->mem, b->held, b->n_held, NULL, more, sizeof *b->held);
}

/* The step that makes numbers from a seed goes where they are given, and the value has its name. */
static const char *without_parameter(body *b, const char *weight)
{
    for (int i = 0; i < b->n_step; i++) {
        const step s = b->step[i];
        if (strcmp(s.type, "parameter") || strcmp(s.domain, "tessera") || s.n_out != 1 || strcmp(s.name, weight))
            continue;
        memmove(&b->step[i], &b->step[i + 1], (size_t)(--b->n_step - i) * sizeof *b->step);
        return s.out[0];
    }
    return weight;
}

static bool admits(const held *h, const ts_array *value) /* as an input; extents that have a name are free */
{
    const ts_port *p = h->input;
    bool fits = p && value->dtype == h->value.dtype && (p->rank < 0 || p->rank == value->rank);
    for (int i = 0; fits && i < p->rank; i++)
        fits = p->dim[i] < 0 || p->dim[i] == value->dim[i];
    return fits;
}

bool ts_model_default(const ts_model *m, int i, ts_port *out)
{
    const body *b = m ? &m->file.main : NULL;
    for (int k = 0; b && i >= 0 && k < b->n_held; k++)
        if (b->held[k].input && !i--)
            return *out = *b->held[k].input, true;
    return false;
}

/* What was bound was made with the old value, and goes. A name that is not there yet is a new tensor. */
bool ts_model_put(ts_model *m, const char *weight, const ts_array *value, ts_error *e)
{
    if (!has_steps(m, "change weights of", e) || !err_given(weight, "the name of a weight", e) ||
        !array_sound(value, "the value of a weight", e))
        return false;
    model_file *f = &m->file;
    body *b = &f->main;
    held *is = find_held(b, weight);
    if (is) {
        if (!same_shape(&is->value, value) && !admits(is, value))
            return err_set(e, TS_BAD_INPUT, "weight \"%s\": the new value is %s, %s expected", weight,
                           array_type(value).s, array_type(&is->value).s);
        is->value = *value;
        is->value.data = copy_data(f, value);
        model_unbind(m);
        return true;
    }
    make_room(f, 1);
    is = &b->held[b->n_held++];
    *is = (held){.name = arena_string(&f->mem, without_parameter(b, weight)), .value = *value};
    is->value.data = copy_data(f, value);
    return relink(m, e);
}

/* ---- before training ---- */
/* Every element is the one before it, bit by bit. */
static bool is_uniform(const ts_array *a)
{
    const int64_t n = ts_array_count(a);
    const size_t size = (size_t)ts_dtype_bytes(a->dtype);
    const char *at = a->data;
    return n > 0 && at && !memcmp(at, at + size, (size_t)(n - 1) * size);
}

/* The tensor that a step only gives another name; NULL: it does something else. */
static const held *renamed(const body *b, const step *s)
{
    if (strcmp(s->type, "Identity") || *s->domain || s->n_in != 1 || s->n_out != 1)
        return NULL;
    const held *is = find_held(b, s->in[0]);
    if (row_named(b->output, b->n_output, sizeof *b->output, s->out[0]) >= 0)
        return NULL;
    return is && !is->refused && is_uniform(&is->value) ? is : NULL;
}

bool ts_model_separate(ts_model *m, ts_error *e)
{
    if (!err_given(m, "the model", e))
        return false;
    model_file *f = &m->file;
    body *b = &f->main;
    const int before = b->n_held;
    if (m->builder)
        return true;
    step *all = arena_array(&f->mem, (size_t)b->n_step + 1, sizeof *all);
    int n = 0;
    make_room(f, b->n_step);
    for (int i = 0; i < b->n_step; i++) {
        const held *is = renamed(b, &b->step[i]);
        if (is)
            b->held[b->n_held++] = (held){.name = b->step[i].out[0], .value = is->value};
        else
            all[n++] = b->step[i];
    }
    b->step = all, b->n_step = n;
    return b->n_held == before || relink(m, e);
}

/* ---- after training ---- */
static void set_attribute(arena *mem, step *s, const char *name, size_t n, int64_t v)
{
    attr *all = arena_joined(mem, s->attr, s->n_attr, NULL, 0, sizeof *all);
    for (int i = 0; i < s->n_attr; i++)
        if (strlen(all[i].name) == n && !memcmp(all[i].name, name, n) && all[i].kind == 'i')
            all[i].i = v;
    s->attr = all;
}

/* What op.trained says, to one step. */
static void train_no_more(arena *mem, const body *b, step *s, const char *says)
{
    for (const char *at = says; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        const size_t n = strcspn(at, "=");
        const int64_t v = strtoll(at + n + 1, NULL, 10);
        if (n == 2 && !memcmp(at, "in", n))
            s->n_in = s->n_in > v ? (int)v : s->n_in;
        else if (n == 3 && !memcmp(at, "out", n)) {
            while (s->n_out > v && !is_read(b, s->out[s->n_out - 1]))
                s->n_out--;
        } else
            set_attribute(mem, s, at, n, v);
    }
}

bool ts_model_trained(ts_model *m, err *e)
{
    if (!has_steps(m, "change steps of", e))
        return false;
    model_file *f = &m->file;
    step *all = f->main.step = arena_joined(&f->mem, f->main.step, f->main.n_step, NULL, 0, sizeof *all);
    for (int i = 0; i < f->main.n_step; i++) {
        const onnx_rule *rule;
        int version = 0;
        for (int k = 0; k < f->n_opset; k++)
            if (!strcmp(f->opset[k].domain, all[i].domain))
                version = f->opset[k].version;
        const op *o = op_for_onnx(all[i].domain, all[i].type, version, &rule);
        if (o && o->trained)
            train_no_more(&f->mem, &f->main, &all[i], o->trained);
    }
    return relink(m, e);
}

static const writer *writer_for(const char *format, const char *path, err *e)
{
    const size_t n = strlen(path);
    const writer *folder = NULL;
    ENDED_BY(suggest_free) suggestion near = {.word = format ? format : ""};
    for (const writer *const *w = writers; *w; w++) {
        suggest_offer(&near, (*w)->name);
        const size_t k = (*w)->suffix ? strlen((*w)->suffix) : 0;
        if (format ? !strcmp((*w)->name, format) : k > 0 && n > k && !strcmp(path + n - k, (*w)->suffix))
            return *w;
        if (!(*w)->suffix)
            folder = *w;
    }
    if (!format && folder)
        return folder;
    if (format)
        err_set(e, TS_USAGE, "there is no format \"%s\" to write", format);
    else
        err_set(e, TS_USAGE, "the end of the name '%s' says no format", path);
    suggest_hint(&near, "formats are", e);
    return NULL;
}

/* What the file leaves to its nodes is known once they are there, but which of the extents are free. */
static void complete_port(arena *mem, ts_port *p, const ts_port *bound)
{
    if (p->dtype == TS_N_DTYPE)
        p->dtype = bound->dtype;
    if (p->rank >= 0)
        return;
    p->rank = bound->rank;
    for (int i = 0; i < p->rank; i++)
        p->dim[i] = -1, p->symbol[i] = arena_format(mem, "%s.%d", p->name, i);
}

static bool complete(const ts_model *m, model_file *f, err *e)
{
    ts_port *output = arena_array(&f->mem, (size_t)f->main.n_output, sizeof *output);
    for (int i = 0; i < f->main.n_output; i++) {
        output[i] = f->main.output[i];
        for (int k = 0; m->bound && k < m->bound->n_output; k++)
            if (m->bound->output[k].whole == i && !output[i].form)
                complete_port(&f->mem, &output[i], &m->bound->output[k]);
        if (output[i].dtype == TS_N_DTYPE)
            return err_set(e, TS_BAD_INPUT, "output \"%s\": its dtype is known only when all dimensions are bound",
                           output[i].name),
                   err_hint(e, "bind them, as with --dim NAME=N; in the file they stay free");
    }
    f->main.output = output;
    return true;
}

static bool save_built(const ts_model *m, const writer *w, const char *path, err *e)
{
    model_file f;
    if (!m->graph)
        return err_set(e, TS_USAGE, "\"%s\" is built in: it is written at the extents that are bound", m->path);
    const bool ok = restate_graph(&(made_graph){m->path, m->graph, *m->bound, m->result, false}, &f, e) &&
                    w->write(&f, path, e);
    arena_free(&f.mem);
    return ok;
}

bool ts_model_save(ts_model *m, const char *format, const char *path, ts_error *e)
{
    if (!err_given(m, "the model", e) || !err_given(path, "the path of a model", e))
        return false;
    const writer *w = writer_for(format, path, e);
    model_file f = m->file;
    if (!w)
        return false;
    if (m->builder)
        return save_built(m, w, path, e);
    f.mem = (arena){0};
    const bool ok = (!w->typed || complete(m, &f, e)) && w->write(&f, path, e);
    arena_free(&f.mem);
    return ok;
}
