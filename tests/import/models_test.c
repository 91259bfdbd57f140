/* Models as exporters write them, with their reference inputs and outputs, where TESSERA_MODELS names a folder that has
 * them: all are imported and bound by the shapes of their inputs; small ones are interpreted, some
 * run. ctest: timeout=600 */
#include "import/model.h"
#include "tests/check.h"
#include "tests/import/evaluate.h"
#include "tests/import/tensor_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PORTS = 64 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int read_set(const char *folder, const char *kind, ts_array *out)
{
    for (int n = 0; n < MOST_PORTS; n++) {
        char path[512];
        err e = {0};
        snprintf(path, sizeof path, "%s/%s_%d.pb", folder, kind, n);
        if (access(path, R_OK) != 0)
            return n;
        if (!CHECK(tensor_file_read(path, &out[n], &e)))
            fprintf(stderr, "  %s\n", e.text);
    }
    return MOST_PORTS;
}

static void check_ports(const ts_model *m, const char *name, const ts_array *want, int n)
{
    ts_port p;
    CHECK(ts_model_outputs(m) == n);
    for (int i = 0; i < n && ts_model_output(m, i, &p); i++)
        if (!CHECK(p.dtype == want[i].dtype && p.rank == want[i].rank &&
                   !memcmp(p.dim, want[i].dim, (size_t)p.rank * sizeof *p.dim)))
            fprintf(stderr, "  %s: output %d has another dtype or shape\n", name, i);
}

static void interpret(ts_model *m, const char *name, const ts_array *in, const ts_array *want, int n, double relative)
{
    ts_array got[MOST_PORTS] = {{0}};
    err e = {0};
    if (!CHECK(evaluate(m, in, got, &e)))
        fprintf(stderr, "  %s: %s\n", name, e.text);
    for (int i = 0; i < n; i++) {
        CHECK(close_to(name, &got[i], &want[i], relative));
        ts_array_free(&got[i]);
    }
}

/* As everybody runs a model: planned for C, compiled, run. */
static void run(ts_model *m, const char *name, const ts_array *in, const ts_array *want, int n, double relative)
{
    const ts_options options = {.target = "c"};
    err e = {0};
    ts_plan *p = ts_plan_make(m, &options, &e);
    bool ok = p && ts_plan_build(p, &e);
    for (int i = 0; ok && i < ts_model_inputs(m); i++)
        ok = ts_plan_set(p, i, &in[i], &e);
    ok = ok && ts_plan_run(p, &e);
    for (int i = 0; ok && i < n; i++) {
        ts_array got;
        ok = ts_plan_get(p, i, &got, &e);
        if (ok) {
            CHECK(close_to(name, &got, &want[i], relative));
            ts_array_free(&got);
        }
    }
    if (!CHECK(ok))
        fprintf(stderr, "  %s: %s\n", name, e.text);
    ts_plan_free(p);
}

typedef void evaluator(ts_model *m, const char *name, const ts_array *in, const ts_array *want, int n, double relative);

/* One model under one set of test data; false when there is no such set. how NULL: not evaluated. */
static bool try_set(const char *file, const char *folder, evaluator *how, double relative)
{
    ts_array in[MOST_PORTS], want[MOST_PORTS];
    err e = {0};
    const int n_in = read_set(folder, "input", in), n_out = read_set(folder, "output", want);
    if (n_in + n_out == 0)
        return false;
    const double start = now();
    ts_model *m = ts_model_open(file, &e);
    if (CHECK(m && ts_model_inputs(m) == n_in && ts_model_bind(m, 0, NULL, in, &e))) {
        printf("%s: imported and bound in %.1f ms\n", file, 1e3 * (now() - start));
        check_ports(m, file, want, n_out);
        CHECK(g_check(m->graph, &e));
        if (how)
            how(m, file, in, want, n_out, relative);
    } else
        fprintf(stderr, "  %s\n", e.text);
    ts_model_free(m);
    for (int i = 0; i < n_in; i++)
        ts_array_free(&in[i]);
    for (int i = 0; i < n_out; i++)
        ts_array_free(&want[i]);
    return true;
}

int main(void)
{
    static const struct {
        const char *file, *data;
        evaluator *how;
        double relative; /* of the largest value of an output */
    } row[] = {
        {"linear/model.onnx", "linear", run, 1e-4},
        {"minilm/model.onnx", "minilm", run, 1e-5},
        {"bert-base/model.onnx", "bert-base", run, 1e-4},
        {"bert-base-dynamo/model.onnx", "bert-base-dynamo", run, 1e-4},
        {"gpt2/model.onnx", "gpt2", run, 1e-4},
        {"gpt2-kv/model.onnx", "gpt2-kv", NULL, 0},
        {"gpt2-dynamo/model.onnx", "gpt2-dynamo", run, 1e-4},
        {"resnet-18/model.onnx", "resnet-18", NULL, 0},
        {"resnet-50/model.onnx", "resnet-50", NULL, 0},
        {"exports-small/bert_ext.onnx", "exports-small/refs/bert_ext", interpret, 1e-5},
        {"exports-small/bert_op11.onnx", "exports-small/refs/bert_op11", interpret, 1e-5},
        {"exports-small/bert_op17.onnx", "exports-small/refs/bert_op17", interpret, 1e-5},
        {"exports-small/bert_static_op13.onnx", "exports-small/refs/bert_static_op13", interpret, 1e-5},
        {"exports-small/bert_fn15.onnx", "exports-small/refs/bert_fn15", interpret, 1e-5},
        {"exports-small/loopif.onnx", "exports-small/refs/loopif", run, 1e-5},
        {"exports-small/evalmode.onnx", "exports-small/refs/evalmode", interpret, 1e-5},
        {"exports-small/minilm_op13.onnx", "exports-small/refs/minilm_op13", interpret, 1e-5},
        {"exports-small/minilm_op17.onnx", "exports-small/refs/minilm_op17", interpret, 1e-5},
        {"exports-small/gpt2_op13.onnx", "exports-small/refs/gpt2_op13", interpret, 1e-5},
        {"exports-small/gpt2_op17.onnx", "exports-small/refs/gpt2_op17", interpret, 1e-5},
        {"exports-small/gpt2_kv_op14.onnx", "exports-small/refs/gpt2_kv_op14", interpret, 1e-5},
        {"exports-small/gpt2_kv_op17.onnx", "exports-small/refs/gpt2_kv_op17", interpret, 1e-5},
        {"exports-small/llama_op14.onnx", "exports-small/refs/llama_op14", interpret, 1e-5},
        {"exports-small/llama_op17.onnx", "exports-small/refs/llama_op17", interpret, 1e-5},
    };
    const char *models = getenv("TESSERA_MODELS");
    if (!models)
        return check_skip("TESSERA_MODELS names no folder with exported models");
    for (int i = 0; i < COUNT(row); i++) {
        char file[512], folder[512];
        snprintf(file, sizeof file, "%s/%s", models, row[i].file);
        if (access(file, R_OK) != 0) { /* not every machine prepares them all */
            printf("left out: %s\n", row[i].file);
            continue;
        }
        int sets = 0;
        do
            snprintf(folder, sizeof folder, "%s/%s/test_data_set_%d", models, row[i].data, sets);
        while (try_set(file, folder, row[i].how, row[i].relative) && ++sets < 8);
        if (!CHECK(sets > 0))
            fprintf(stderr, "  no test data in %s\n", folder);
    }
    return check_done();
}
