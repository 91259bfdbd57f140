/* ctest: large
 * The assembler takes every kernel of models for 8.0 and for 9.0 with its own instructions, and products and attention
 * spill no register: NVRTC says so in its log. Of seven of the guess's kernels in ten it takes registers as foretold,
 * to a quarter. In halves matrix units form every product of BERT. Needs neither a device nor the stand-in. Each model
 * for one of the two; spills_test all: for both. */
#include "backends/cuda/options.h"
#include "backends/cuda/program.h"
#include "backends/cuda/target.h"
#include "backends/gpu/figures.h"
#include "schedule/make.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compiled, products, foretells, near; /* near: of those of which registers are foretold, within a quarter */

static bool multiplies(const kernel *k)
{
    bool any = false;
    for (int i = 0; i < k->n_stage; i++)
        any = any || stage_contracts(&k->stage[i]);
    return any;
}

static void check_units(const kernel *k, const char *code)
{
    for (int i = 0; i < k->n_stage; i++) {
        unit_loops u;
        if (stage_contracts(&k->stage[i]) && !CHECK(gpu_by_unit(&k->stage[i], &u) && strstr(code, "mma_")))
            printf("  %s: no matrix unit forms %s\n", k->op, k->stage[i].name);
    }
}

static int number_before(const char *log, const char *words) /* "16 bytes spill stores": 16; -1: not said */
{
    const char *at = log ? strstr(log, words) : NULL;
    while (at && at > log && at[-1] == ' ')
        at--;
    while (at && at > log && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return at ? (int)strtol(at, NULL, 10) : -1;
}

static void compile(const nvrtc_api *rtc, const kernel_text *t, const char *arch, const char *what, bool no_spill,
                    int64_t foretold) /* registers; -1: they are not held to it */
{
    nvrtc_options o;
    void *made = NULL;
    size_t n = 0;
    nvrtc_options_set(&o, rtc, &(cuda_settings){0}, arch, "--ptxas-options=-v");
    CHECK(rtc->program_make(&made, t->text, "kernel.cu", 0, NULL, NULL) == 0);
    const bool ok = rtc->compile(made, o.n, o.of) == 0;
    char *log = rtc->log_size(made, &n) ? NULL : calloc(n + 1, 1);
    MUST(log && rtc->log(made, log) == 0);
    const int spilled = number_before(log, "bytes spill stores");
    const int64_t registers = number_before(log, "registers");
    compiled++, products += no_spill, foretells += foretold >= 0;
    near += foretold >= 0 && 4 * llabs(foretold - registers) <= registers;
    if (!CHECK(ok && spilled >= 0 && (!no_spill || spilled == 0)))
        printf("  %s, %s, %s: %d bytes are spilled\n%s\n%s\n", what, arch, t->name, spilled, t->header, log);
    free(log);
    rtc->program_free(&made);
}

typedef struct row {
    const char *model, *dim[3];
    int n;
    dtype products;
    const char *schema; /* NULL: the guess */
    bool units;         /* form every product */
} row;

static void try_graph(const nvrtc_api *rtc, const row *r, const char *card, const char *arch, graph *g,
                      const node *root)
{
    const bool halves = r->products == TS_BF16 || r->products == TS_F16;
    arena mem = {0};
    err e = {0};
    device_texts t = {0};
    const target *on = cuda_target(&mem, &(machine_options){.machine = card}, &e);
    CHECK(!halves || ts_mixed_precision(g, 1, &root, r->products, &root));
    plan *p = on ? plan_make(g, 1, &root, &(plan_options){.on = on, .target = "cuda", .schema = r->schema}, &e) : NULL;
    if (CHECK(p && cuda_write_each(p, &t, &e)))
        for (int u = 0; u < t.n_unit; u++) {
            gpu_figures f = {0};
            int k = 0;
            while (t.unit_of[k] != u)
                k++;
            footprint bytes = {0};
            gpu_figures_find(p, &p->kernel[k], &f, &bytes), footprint_free(&bytes);
            compile(rtc, device_unit(&t, u), arch, p->kernel[k].op, multiplies(&p->kernel[k]),
                    r->schema ? -1 : f.foretold.registers);
            if (r->units)
                check_units(&p->kernel[k], device_unit(&t, u)->text);
        }
    else
        printf("  %s: %s\n", r->model, e.text);
    device_texts_free(&t), plan_free(p), arena_free(&mem);
}

static void try_model(const nvrtc_api *rtc, const row *r, const char *card, const char *arch)
{
    err e = {0};
    ts_model *m = ts_model_open(r->model, &e);
    if (CHECK(m && ts_model_bind(m, r->n, r->dim, NULL, &e)))
        try_graph(rtc, r, card, arch, ts_model_graph(m), ts_model_tensor(m, 0));
    else
        printf("  %s: %s\n", r->model, e.text);
    ts_model_free(m);
}

/* Slices of many elements of each lane: one by one, each had its place, or was a register in which it waited. */
static void try_convolutions(const nvrtc_api *rtc)
{
    static const row tf32 = {.model = "small images", .products = TS_F32, .schema = "tf32"},
                     bf16 = {.model = "strides, weights in blocks", .products = TS_BF16};
    ts_graph *g = ts_graph_make();
    const ts_tensor x = ts_input(g, "x", TS_F32, 4, (const int64_t[]){1, 64, 56, 56}),
                    w = ts_input(g, "w", TS_F32, 4, (const int64_t[]){256, 64, 1, 1}),
                    deep = ts_input(g, "deep", TS_F32, 4, (const int64_t[]){1, 256, 56, 56}),
                    weight = ts_weight(g, "weight", TS_F32, 4, (const int64_t[]){512, 256, 1, 1}, 0, 1, 1);
    try_graph(rtc, &tf32, "gpu:a100", "sm_80", g, ts_call2(g, "conv2d", x, w));
    try_graph(rtc, &bf16, "gpu:a100", "sm_80", g, ts_call2(g, "conv2d strides=[2,2]", deep, weight));
    ts_graph_free(g);
}

int main(int argc, char **argv)
{
    static const row rows[] = {{"bert-base", {"batch=2", "seq=128"}, 2, TS_F32, NULL, false},
                               {"gpt2", {"batch=1", "seq=64", "past=0"}, 3, TS_F32, NULL, false},
                               {"gpt2", {"batch=1", "seq=1", "past=127"}, 3, TS_F32, NULL, false},
                               {"resnet-50", {"batch=1"}, 1, TS_F32, NULL, false},
                               {"products", {"layers=2"}, 1, TS_F32, NULL, false},
                               {"bert-base", {"batch=1", "seq=128"}, 2, TS_BF16, NULL, true},
                               {"bert-base", {"batch=1", "seq=384"}, 2, TS_F16, NULL, true},
                               {"resnet-50", {"batch=1"}, 1, TS_F32, "tf32", false},
                               {"resnet-50", {"batch=8"}, 1, TS_F32, "tf32", false},
                               {"resnet-50", {"batch=1"}, 1, TS_BF16, NULL, false}};
    static const struct {
        const char *name, *arch;
    } cards[] = {{"gpu:a100", "sm_80"}, {"gpu:h100", "sm_90a"}};
    enum { SHORT = 8 }; /* rows that are tried without all */
    nvrtc_api rtc;
    err e = {0};
    if (!cuda_nvrtc(&rtc, &e))
        return check_skip("no NVRTC");
    const bool all = argc > 1 && !strcmp(argv[1], "all");
    for (int i = 0; i < COUNT(rows); i++)
        for (int k = 0; k < COUNT(cards); k++)
            if (all || (i < SHORT && i % COUNT(cards) == k))
                try_model(&rtc, &rows[i], cards[k].name, cards[k].arch);
    try_convolutions(&rtc);
    printf("%d kernels, %d of them products; registers of %d as foretold, of %d\n", compiled, products, near,
           foretells);
    CHECK(compiled > 40 && products > 20 && 10 * near >= 7 * foretells);
    nvrtc_close(&rtc);
    return check_done();
}
