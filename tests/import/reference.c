#include "tests/import/reference.h"

#include "import/model.h"
#include "tests/check.h"
#include "tests/import/tensor_file.h"
#include "graph/base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PORTS = 64, MOST_TARGETS = 4 };

typedef struct set { /* the values of one test_data_set_K */
    int n_in, n_out;
    ts_array in[MOST_PORTS], out[MOST_PORTS];
} set;

typedef struct result {
    char target[16]; /* empty: no more of them */
    bool ran;
    double error, seconds; /* the largest, relative to the largest value of its output; of all sets together */
} result;

static bool failed(const char *what, const err *e)
{
    fprintf(stderr, "  %s: %s\n", what, e->text);
    return false;
}

/* ---- data ---- */
static int read_ports(const char *folder, const char *kind, ts_array *out)
{
    for (int n = 0; n < MOST_PORTS; n++) {
        char path[600];
        err e = {0};
        snprintf(path, sizeof path, "%s/%s_%d.pb", folder, kind, n);
        if (access(path, R_OK) != 0)
            return n;
        if (!CHECK(tensor_file_read(path, &out[n], &e)))
            failed(path, &e);
    }
    return MOST_PORTS;
}

static void set_free(set *s)
{
    for (int i = 0; i < s->n_in; i++)
        ts_array_free(&s->in[i]);
    for (int i = 0; i < s->n_out; i++)
        ts_array_free(&s->out[i]);
}

/* ---- one output ---- */
/* The largest difference over the largest value; INFINITY where dtype, shape, or the places of what is not finite
 * differ. Integers that differ at all are infinitely far. */
static double distance(const ts_array *got, const ts_array *want)
{
    const bool real = want->dtype == TS_F32 || want->dtype == TS_F64 || want->dtype == TS_F16;
    double worst = 0, scale = 0;
    if (got->dtype != want->dtype || got->rank != want->rank ||
        memcmp(got->dim, want->dim, (size_t)want->rank * sizeof *want->dim) != 0)
        return INFINITY;
    for (int64_t i = 0, n = ts_array_count(want); i < n; i++) {
        const double a = ts_array_at(got, i), b = ts_array_at(want, i);
        if (isfinite(b) && fabs(b) > scale)
            scale = fabs(b);
        if (a == b || (isnan(a) && isnan(b)))
            continue;
        if (!real || !isfinite(a) || !isfinite(b))
            return INFINITY;
        if (fabs(a - b) > worst)
            worst = fabs(a - b);
    }
    return worst > 0 ? worst / scale : 0;
}

/* ---- one set on one target ---- */
static bool run(ts_model *m, const char *target, const set *s, result *to, err *e)
{
    const double start = seconds_now();
    ts_plan *p = ts_plan_make(m, &(ts_options){.target = target}, e);
    bool ok = p && ts_plan_build(p, e);
    for (int i = 0; ok && i < s->n_in; i++)
        ok = ts_plan_set(p, i, &s->in[i], e);
    ok = ok && ts_plan_run(p, e);
    for (int i = 0; ok && i < s->n_out; i++) {
        ts_array got = {0};
        ok = ts_plan_get(p, i, &got, e);
        if (!ok)
            break;
        const double d = distance(&got, &s->out[i]);
        to->error = d > to->error ? d : to->error;
        ts_array_free(&got);
    }
    ts_plan_free(p);
    to->ran = ok, to->seconds += seconds_now() - start;
    return ok;
}

static int count_nodes(ts_model *m)
{
    const node *root[MOST_PORTS], **all = calloc((size_t)ts_model_graph(m)->n + 1, sizeof *all);
    int count = 0;
    for (int i = 0; i < ts_model_outputs(m) && i < MOST_PORTS; i++)
        root[i] = ts_model_tensor(m, i);
    for (int i = 0, n = all ? g_reach(ts_model_outputs(m), root, all) : 0; i < n; i++)
        count += !node_is_leaf(all[i]);
    free(all);
    return count;
}

/* Whether folder has a set; nodes: those of the bound graph that are no leaves. */
static bool try_set(const char *file, const char *folder, result *to, int *nodes)
{
    set s = {0};
    err e = {0};
    s.n_in = read_ports(folder, "input", s.in), s.n_out = read_ports(folder, "output", s.out);
    if (s.n_in + s.n_out == 0)
        return false;
    ts_model *m = ts_model_open(file, &e);
    if (CHECK(m && ts_model_inputs(m) == s.n_in && ts_model_outputs(m) == s.n_out &&
              ts_model_bind(m, 0, NULL, s.in, &e) && g_check(m->graph, &e))) {
        *nodes = count_nodes(m);
        for (int k = 0; k < MOST_TARGETS && *to[k].target; k++)
            if (!CHECK(run(m, to[k].target, &s, &to[k], &e)))
                failed(file, &e), e = (err){0};
    } else
        failed(file, &e);
    ts_model_free(m);
    set_free(&s);
    return true;
}

/* ---- one model ---- */
static void find(const char *name, char *file, char *data, size_t size)
{
    static const char small[] = "exports-small/";
    const char *shared = getenv("SHARED"), *models = getenv("TESSERA_MODELS");
    const bool is_small = strncmp(name, small, sizeof small - 1) == 0;
    const char *own = name + (is_small ? sizeof small - 1 : 0);
    if (is_small) {
        snprintf(file, size, "%s/models/%s%s.onnx", shared ? shared : "", small, own);
        snprintf(data, size, "%s/models/%srefs/%s", shared ? shared : "", small, own);
    } else {
        snprintf(file, size, "%s/%s/model.onnx", models ? models : "", own);
        snprintf(data, size, "%s/%s", models ? models : "", own);
    }
}

static void find_targets(const char *words, result *out)
{
    char copy[64], *rest = copy;
    snprintf(copy, sizeof copy, "%s", words);
    for (int k = 0; k < MOST_TARGETS && rest; k++)
        snprintf(out[k].target, sizeof out[k].target, "%s", strsep(&rest, " "));
    MUST(!rest);
}

static void print_row(const char *name, int sets, int nodes, const result *got)
{
    printf("%-32s %4d %6d", name, sets, nodes);
    for (int k = 0; k < MOST_TARGETS && *got[k].target; k++)
        if (got[k].ran)
            printf("   %8s %8.1e %7.2f", got[k].target, got[k].error, got[k].seconds);
        else
            printf("   %8s %8s %7s", got[k].target, "-", "-");
    printf("\n");
    fflush(stdout);
}

int references_check(int n, const reference *row)
{
    int there = 0;
    printf("%-32s sets  nodes   target, error, seconds\n", "model");
    for (int i = 0; i < n; i++) {
        char file[512], data[512], folder[600];
        result got[MOST_TARGETS] = {0};
        int sets = 0, nodes = 0;
        find_targets(row[i].targets, got);
        find(row[i].name, file, data, sizeof file);
        if (access(file, R_OK) != 0) {
            printf("%-32s is not prepared here\n", row[i].name);
            continue;
        }
        do
            snprintf(folder, sizeof folder, "%s/test_data_set_%d", data, sets);
        while (try_set(file, folder, got, &nodes) && ++sets < 8);
        there++;
        print_row(row[i].name, sets, nodes, got);
        if (!CHECK(sets > 0))
            fprintf(stderr, "  no test data in %s\n", folder);
        for (int k = 0; k < MOST_TARGETS; k++)
            if (got[k].ran && !CHECK(got[k].error <= row[i].relative))
                fprintf(stderr, "  %s on %s: off by %g of the largest value, %g allowed\n", row[i].name, got[k].target,
                        got[k].error, row[i].relative);
    }
    return there;
}
