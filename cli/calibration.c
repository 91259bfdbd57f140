/* calibration.c - the model gets three outputs more for each value, its least and its largest element and the sum of
 * their sizes, and runs. */
#include "cli/calibration.h"

#include "cli/outfile.h"
#include "cli/session.h"
#include "graph/base/base.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_MOST = 4096 };

typedef struct observer {
    calibration *c;
    ts_model *model;
    ts_runner *runner;
    int n_input, n;
    ts_port *input;
    ts_array *in, *out; /* out: as `reduced`, value by value */
    ts_range *range;
} observer;

/* ---- the model ---- */
enum { LEAST, LARGEST, SUM, REDUCED }; /* SUM shows a NaN, which need be neither least nor largest */
static const char *const reduced[] = {"ReduceMin", "ReduceMax", "ReduceL1"};

static char *outputs_json(int n, const char *const *value)
{
    cJSON *root = cJSON_CreateObject(), *nodes = js_array(root, "nodes"), *outputs = js_array(root, "outputs");
    for (int i = 0; i < REDUCED * n; i++) {
        char name[48];
        snprintf(name, sizeof name, "observed.%d", i);
        cJSON *step = js_row(nodes, "op:%s", reduced[i % REDUCED]);
        js_item(js_array(step, "in"), value[i / REDUCED]), js_item(js_array(step, "out"), name);
        js_number(js_object(step, "attr"), "keepdims", 0);
        js_row(outputs, "name:%s,dtype:%s", name, ts_dtype_name(TS_F32));
    }
    char *json = js_to_text(root, false);
    cJSON_Delete(root);
    return json;
}

static bool open_model(observer *o, int n, const char *const *value, const ts_options *options, ts_error *e)
{
    const args *a = o->c->args;
    int n_dim;
    o->model = session_model_make(a, o->c->model, e);
    char *json = o->model ? outputs_json(n, value) : NULL;
    const char **dim = args_list(a, "dim", &n_dim);
    if (json && ts_model_extend(o->model, json, e))
        o->runner = ts_runner_make(o->model, n_dim, dim, options, e);
    free(json), free(dim);
    if (!o->runner)
        return false;
    o->n = REDUCED * n, o->n_input = ts_model_inputs(o->model);
    o->input = calloc((size_t)o->n_input + 1, sizeof *o->input);
    o->in = calloc((size_t)o->n_input + 1, sizeof *o->in), o->out = calloc((size_t)o->n + 1, sizeof *o->out);
    MUST(o->input && o->in && o->out);
    for (int i = 0; i < o->n_input; i++)
        ts_model_input(o->model, i, &o->input[i]); /* before it is bound */
    return true;
}

/* ---- a sample ---- */
/* The file of input i in a folder, NAME.npy or input_I.pb; false: there is none. */
static bool find_file(const observer *o, const char *folder, int i, char path[PATH_MOST])
{
    char name[OUTFILE_NAME];
    outfile_name(name, o->input[i].name, ".npy", 0, NULL);
    snprintf(path, PATH_MOST, "%s/%s", folder, name);
    if (file_exists(path))
        return true;
    snprintf(path, PATH_MOST, "%s/input_%d.pb", folder, i);
    return file_exists(path);
}

static bool read_file(const observer *o, const char *path, int i, ts_error *e)
{
    const size_t n = strlen(path);
    ts_value v = {.kind = TS_TENSOR};
    if (strcmp(path + n - 3, ".pb") != 0)
        return ts_npy_read(path, &o->in[i], e);
    if (!ts_value_read(path, o->input[i].form, &v, e))
        return false;
    if (v.kind != TS_TENSOR) {
        ts_value_free(&v);
        return err_set(e, TS_UNSUPPORTED, "'%s' is no tensor: calibrating takes tensors only", path);
    }
    o->in[i] = v.array;
    return true;
}

/* Nobody has to write down a value without elements. */
static bool lacks(const observer *o, const char *sample, int i, ts_error *e)
{
    const ts_port *p = &o->input[i];
    bool empty = false, known = true;
    for (int k = 0; k < p->rank; k++)
        empty = empty || p->dim[k] == 0, known = known && p->dim[k] >= 0;
    if (empty && known)
        return ts_array_make(&o->in[i], p->dtype, p->rank, p->dim, e);
    err_set(e, TS_BAD_INPUT, "sample '%s' has no value of input \"%s\"", sample, p->name);
    return err_hint(e, "a folder holds NAME.npy or input_0.pb of each input, a .safetensors file a tensor of each");
}

static bool read_folder(const observer *o, const char *sample, ts_error *e)
{
    char path[PATH_MOST];
    for (int i = 0; i < o->n_input; i++) {
        if (find_file(o, sample, i, path) ? !read_file(o, path, i, e) : !lacks(o, sample, i, e))
            return false;
    }
    return true;
}

static bool read_tensors(const observer *o, const char *sample, ts_error *e)
{
    ts_tensors *t = ts_tensors_open(sample, e);
    bool ok = t != NULL;
    for (int i = 0; ok && i < o->n_input; i++) {
        int k = 0;
        while (k < ts_tensors_count(t) && strcmp(ts_tensors_name(t, k), o->input[i].name) != 0)
            k++;
        ok = k < ts_tensors_count(t) ? ts_tensors_get(t, o->input[i].name, &o->in[i], e) : lacks(o, sample, i, e);
    }
    ts_tensors_free(t);
    return ok;
}

static void widen(const observer *o)
{
    for (int i = 0; i < o->n; i += REDUCED) {
        const double low = ts_array_at(&o->out[i + LEAST], 0), high = ts_array_at(&o->out[i + LARGEST], 0);
        ts_range *r = &o->range[i / REDUCED];
        const bool finite = isfinite(ts_array_at(&o->out[i + SUM], 0)) && !isnan(r->low);
        *r = finite ? (ts_range){fmin(r->low, low), fmax(r->high, high)} : (ts_range){NAN, NAN};
    }
}

static bool take_sample(observer *o, const char *sample, ts_error *e)
{
    bool ok = file_is_folder(sample) ? read_folder(o, sample, e) : read_tensors(o, sample, e);
    if (ok && !ts_runner_run(o->runner, o->in, o->n, o->out, e))
        ok = err_in(e, "sample '%s'", sample);
    if (ok)
        widen(o), o->c->samples++;
    for (int i = 0; i < o->n_input; i++)
        ts_array_free(&o->in[i]), o->in[i] = (ts_array){0};
    for (int i = 0; i < o->n; i++)
        ts_array_free(&o->out[i]), o->out[i] = (ts_array){0};
    return ok;
}

/* ---- all samples ---- */
static bool is_sample(const observer *o, const char *path)
{
    char file[PATH_MOST];
    for (int i = 0; i < o->n_input; i++)
        if (find_file(o, path, i, file))
            return true;
    return !file_is_folder(path);
}

static bool take_all(observer *o, const char *path, ts_error *e)
{
    struct dirent **entry;
    if (is_sample(o, path))
        return take_sample(o, path, e);
    const int n = scandir(path, &entry, NULL, alphasort), before = o->c->samples;
    bool ok = true;
    for (int i = 0; i < n; i++) {
        char inner[PATH_MOST];
        snprintf(inner, sizeof inner, "%s/%s", path, entry[i]->d_name);
        ok = ok && (entry[i]->d_name[0] == '.' || take_sample(o, inner, e));
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
    return ok && (o->c->samples > before || err_set(e, TS_FILES, "--calibrate %s: no samples in there", path));
}

bool calibration_observe(void *user, int n, const char *const *value, ts_range *range, ts_error *e)
{
    observer o = {.c = user, .range = range};
    const args *a = o.c->args;
    progress shown = progress_open(&a->console);
    ts_options options = session_options(a);
    options.progress = progress_step, options.user = &shown;
    for (int i = 0; i < n; i++)
        range[i] = (ts_range){INFINITY, -INFINITY};
    bool ok = open_model(&o, n, value, &options, e);
    for (int k = 0; ok && k < args_count(a, "calibrate"); k++)
        ok = take_all(&o, args_at(a, "calibrate", k), e);
    progress_close(&shown);
    ts_runner_free(o.runner), ts_model_free(o.model);
    free(o.input), free(o.in), free(o.out);
    return ok;
}
