/* run.c - one case: its model on each of its data sets, results against those stored. */
#include "cli/cases/cases.h"
#include "graph/base/base.h"
#include "graph/base/err.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct trial {
    const case_options *w;
    ts_model *model;
    ts_model *stored;  /* what model was written from, or NULL */
    char folder[4096]; /* of the data set */
    int n_in, n_out;
    ts_value *in;
    ts_port *output; /* as the file declares them */
} trial;

/* ---- comparing ---- */
static bool close_enough(double got, double want)
{
    static const double relative = 1e-3, absolute = 1e-7;
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    return got == want || fabs(got - want) <= absolute + relative * fabs(want);
}

/* rtol 1e-3, atol 1e-7, exact shape and dtype, as the official runner; why gets the first difference. */
static bool compare(const ts_array *got, const ts_array *want, char *why, size_t size)
{
    const array_words is = array_type(got), wanted = array_type(want);
    if (strcmp(is.s, wanted.s) != 0)
        return snprintf(why, size, "is %s, expected %s", is.s, wanted.s), false;
    int64_t first = -1, bad = 0;
    const int64_t n = ts_array_count(want);
    for (int64_t i = 0; i < n; i++)
        if (!close_enough(ts_array_at(got, i), ts_array_at(want, i))) {
            bad++;
            first = first < 0 ? i : first;
        }
    if (bad)
        snprintf(why, size, "differs in %lld of %lld elements, first in element %lld: %.9g, expected %.9g",
                 (long long)bad, (long long)n, (long long)first, ts_array_at(got, first), ts_array_at(want, first));
    return bad == 0;
}

/* ---- one data set ---- */
static bool has(const trial *t, const char *kind, int k, char *path, size_t size)
{
    const int n = snprintf(path, size, "%s/%s_%d.pb", t->folder, kind, k);
    return n > 0 && n < (int)size && access(path, R_OK) == 0;
}

static bool read_inputs(trial *t, ts_error *e)
{
    char path[4200];
    for (int k = 0; k < t->n_in; k++) {
        ts_port port;
        ts_model_input(t->model, k, &port);
        if (!has(t, "input", k, path, sizeof path))
            return err_set(e, TS_FILES, "no value for input %d, \"%s\"", k, port.name);
        if (!ts_value_read(path, port.form, &t->in[k], e))
            return false;
        if (port.dtype == TS_BF16 && t->in[k].array.dtype == TS_U16)
            t->in[k].array.dtype = TS_BF16; /* how such values were stored once: as their bits */
    }
    return true;
}

/* The tensors in a value, in order; NULL past the end. */
static const ts_array *tensor_in(const ts_value *v, int *at)
{
    if (v->kind == TS_TENSOR)
        return (*at)-- == 0 ? &v->array : NULL;
    for (int i = 0; i < v->n; i++) {
        const ts_array *found = tensor_in(&v->item[i], at);
        if (found)
            return found;
    }
    return NULL;
}

static bool check_output(trial *t, ts_plan *plan, int i, const ts_array *want, ts_error *e)
{
    char why[400];
    ENDED_BY(ts_array_free) ts_array got = {0};
    ts_port port;
    ts_model_output(t->model, i, &port);
    bool ok = ts_plan_get(plan, i, &got, e);
    if (ok && got.dtype == TS_BF16 && want->dtype == TS_U16)
        got.dtype = TS_U16; /* the same */
    if (ok && !compare(&got, want, why, sizeof why))
        ok = err_set(e, TS_FAILED, "output %d, \"%s\", %s", port.whole, port.name, why);
    return ok;
}

/* Output k as the file declares it, against as many of the outputs that it came apart into; *next is the first. */
static bool check_value(trial *t, ts_plan *plan, int k, int *next, ts_error *e)
{
    char path[4200];
    ts_value want;
    ts_port port = {.name = t->output[k].name};
    const int n = ts_model_outputs(t->model);
    if (!has(t, "output", k, path, sizeof path))
        return err_set(e, TS_FILES, "no value for output %d, \"%s\"", k, port.name);
    bool ok = ts_value_read(path, t->output[k].form, &want, e);
    for (int i = 0; ok; i++) {
        int at = i;
        const ts_array *a = tensor_in(&want, &at);
        const bool more = *next < n && ts_model_output(t->model, *next, &port) && port.whole == k;
        if (!a && !more)
            break;
        if (!a || !more)
            ok = err_set(e, TS_FAILED, "output %d, \"%s\", has %s than %d entries", k, port.name,
                         more ? "more" : "not more", i);
        ok = ok && check_output(t, plan, (*next)++, a, e);
    }
    ts_value_free(&want);
    return ok;
}

static bool check_outputs(trial *t, ts_plan *plan, ts_error *e)
{
    int next = 0;
    for (int k = 0; k < t->n_out; k++)
        if (!check_value(t, plan, k, &next, e))
            return false;
    return true;
}

static bool set_inputs(trial *t, ts_plan *plan, ts_error *e)
{
    int whole = -1, entry = 0;
    ts_port port;
    for (int i = 0; ts_model_input(t->model, i, &port); i++) {
        entry = port.whole == whole ? entry + 1 : 0;
        whole = port.whole;
        int at = entry;
        const ts_array *a = tensor_in(&t->in[whole], &at);
        if (!a || !ts_plan_set(plan, i, a, e))
            return a ? false : err_set(e, TS_BUG, "input \"%s\" has no value", port.name);
    }
    return true;
}

static void hash_of(const ts_model *m, char hex[65])
{
    const int n = ts_model_outputs(m);
    ENDED_BY(heap_free) ts_tensor *all = calloc((size_t)n + 1, sizeof *all);
    for (int i = 0; all && i < n; i++)
        all[i] = ts_model_tensor(m, i);
    ts_hash(all ? n : 0, all, hex);
}

/* Whether the model means the same as the one that it was written from. */
static bool same_graph(const trial *t, const ts_binding *b, ts_error *e)
{
    char was[65], is[65];
    if (!t->stored)
        return true;
    if (!ts_model_bind_values(t->stored, b, e))
        return false;
    hash_of(t->stored, was), hash_of(t->model, is);
    return !strcmp(was, is) || err_set(e, TS_FAILED, "written and read again, the graph is another one");
}

static bool compute(trial *t, ts_error *e)
{
    ENDED_BY(heap_free) bool *hold = heap_array((size_t)t->n_in + 1, sizeof *hold);
    for (int k = 1; k < t->n_in; k++)
        hold[k] = t->w->variant == INITIALIZERS;
    const ts_binding b = {.value = t->in, .hold = hold, .free = t->w->variant == SYMBOLIC};
    const bool bound = ts_model_bind_values(t->model, &b, e);
    ts_plan *plan = bound && same_graph(t, &b, e) ? ts_plan_make(t->model, &t->w->options, e) : NULL;
    const bool ok = plan && set_inputs(t, plan, e) && ts_plan_run(plan, e) && check_outputs(t, plan, e);
    ts_plan_free(plan);
    return ok;
}

static bool run_set(trial *t, ts_error *e)
{
    t->n_in = ts_model_inputs(t->model);
    t->n_out = ts_model_outputs(t->model);
    t->in = heap_array((size_t)t->n_in + 1, sizeof *t->in);
    t->output = heap_array((size_t)t->n_out + 1, sizeof *t->output);
    for (int k = 0; k < t->n_out; k++)
        ts_model_output(t->model, k, &t->output[k]);
    const bool ok = read_inputs(t, e) && compute(t, e);
    for (int k = 0; k < t->n_in; k++)
        ts_value_free(&t->in[k]);
    free(t->in);
    free(t->output);
    return ok;
}

/* Writes the model in another format, in a folder that goes with *janitor; path becomes the file's. */
static bool rewrite(trial *t, char *path, size_t size, int *janitor, ts_error *e)
{
    const bool json = t->w->variant == VIA_JSON;
    ENDED_BY(heap_free) char *folder = archive_folder_make(janitor, e);
    if (!folder)
        return false;
    snprintf(path, size, json ? "%s" : "%s/again.onnx", folder);
    return ts_model_save(t->stored, json ? "json" : "onnx", path, e);
}

static bool open_models(trial *t, const char *stored, int *janitor, ts_error *e)
{
    char path[4096];
    const bool again = t->w->variant == VIA_JSON || t->w->variant == VIA_ONNX;
    snprintf(path, sizeof path, "%s", stored);
    if (again && !(t->stored = ts_model_open(stored, e)))
        return false;
    if (again && !rewrite(t, path, sizeof path, janitor, e))
        return false;
    return (t->model = ts_model_open(path, e)) != NULL;
}

static bool run_all(const test_case *c, const case_options *w, ts_error *e)
{
    char path[4096];
    bool ok = true;
    int set = 0, janitor = -1;
    snprintf(path, sizeof path, "%s/model.onnx", c->folder);
    for (; ok; set++) {
        trial t = {.w = w};
        const int n = snprintf(t.folder, sizeof t.folder, "%s/test_data_set_%d", c->folder, set);
        if (n >= (int)sizeof t.folder || access(t.folder, X_OK) != 0)
            break;
        ok = open_models(&t, path, &janitor, e) && run_set(&t, e);
        ts_model_free(t.model);
        ts_model_free(t.stored);
        if (janitor >= 0)
            close(janitor);
        janitor = -1;
    }
    return ok && (set > 0 || err_set(e, TS_FILES, "no test_data_set_0 in %s", c->folder));
}

/* The error as one line, without the case's own folder in front of file names. */
static void put_reason(const test_case *c, const ts_error *e, outcome *out)
{
    const size_t own = strlen(c->folder);
    size_t n = 0;
    for (const char *s = e->text; *s && n + 1 < sizeof out->reason; s++) {
        if (strncmp(s, c->folder, own) == 0 && s[own] == '/')
            s += own + 1;
        if (*s != '\n')
            out->reason[n++] = *s;
    }
    out->reason[n] = 0;
}

void case_run(const test_case *c, const case_options *w, outcome *out)
{
    ts_error e = {0};
    out->passed = run_all(c, w, &e);
    out->code = e.code;
    put_reason(c, &e, out);
}
