/* The schemas that come with Tessera: legal for every instruction set and number of threads, in use where they claim to
 * be, and computing what the interpreter computes, to the bit on small integers. */
#include "backends/backend.h"
#include "backends/cpu/cpu.h"
#include "schedule/schema/schemas.h"
#include "schedule/explain/explain.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char eight_cores[] = "l3:1(32MB) l2:8(1MB) l1d:8(32KB) core:8 isa:avx512";
static const char *const isas[] = {"plain", "avx2", "avx512", "neon"};

static void check_plan(const builtin_schema *s, const plan *p, const char *set)
{
    int decided = 0, as_written = 0;
    for (int i = 0; i < p->n_kernel; i++) {
        decided += strcmp(p->kernel[i].rule, "guess") != 0;
        as_written += strcmp(p->kernel[i].rule, "guess") && !*p->kernel[i].notes;
    }
    if (!CHECK(decided >= 72)) /* of each of twelve layers: query, key, value, output, up, down */
        printf("  %s, %s: %d kernels decided\n", s->name, set, decided);
    if (!CHECK(as_written == decided))
        printf("  %s: %d of %d as written\n", s->name, as_written, decided);
}

static void test_legal(void)
{
    err e = {0};
    machine on;
    const char *dims[] = {"batch=1", "seq=128"};
    ts_model *m = ts_model_open("bert-base", &e);
    if (!CHECK(m && ts_model_bind(m, 2, dims, NULL, &e) && machine_load(&on, eight_cores, &e)))
        return;
    const node *root = ts_model_tensor(m, 0);
    for (const builtin_schema *s = builtin_schemas; s->name; s++)
        for (int i = 0; i < COUNT(isas); i++)
            for (int threads = 1; threads <= 5; threads++) {
                err why = {0};
                target made;
                const plan_options w = {.on = &made, .target = s->target, .schema = s->name};
                cpu_target_of(&made, &on, isa_find(isas[i]), threads);
                plan *p = plan_make(ts_model_graph(m), 1, &root, &w, &why);
                if (CHECK(p != NULL))
                    check_plan(s, p, isas[i]);
                else
                    printf("  %s, %s, %d threads: %s\n", s->name, isas[i], threads, why.text);
                plan_free(p);
            }
    ts_model_free(m);
}

/* ---- the guess as a file is legal where it was printed, each of its loops as written ---- */
static void same_guess(ts_model *m, const machine *on, const char *set, int threads)
{
    scratch folder = scratch_make();
    const node *root = ts_model_tensor(m, 0);
    text schema = {0};
    err e = {0};
    const char *path = scratch_in(&folder, "guess.json");
    target made;
    plan_options w = {.on = &made, .target = "c"};
    cpu_target_of(&made, on, isa_find(set), threads);
    plan *p = plan_make(ts_model_graph(m), 1, &root, &w, &e);
    if (p)
        plan_schema(p, "c", &schema);
    w.schema = path;
    plan *q = p && file_save(path, schema.s, schema.length, &e) ? plan_make(ts_model_graph(m), 1, &root, &w, &e) : NULL;
    for (int i = 0; q && i < q->n_kernel; i++)
        if (!CHECK(!strstr(q->kernel[i].notes, "loops \"")))
            printf("  %s, %d threads: %s", set, threads, q->kernel[i].notes);
    if (!CHECK(q != NULL))
        printf("  %s, %d threads: %s\n", set, threads, e.text);
    plan_free(p), plan_free(q);
    text_free(&schema);
    scratch_free(&folder);
}

static void test_guess(void)
{
    static const struct {
        const char *name;
        int n;
        const char *dims[2];
    } models[] = {
        {"bert-base", 2, {"batch=1", "seq=128"}}, {"gpt2", 2, {"batch=1", "seq=40"}}, {"resnet-50", 1, {"batch=1"}}};
    err e = {0};
    machine on;
    if (!CHECK(machine_load(&on, eight_cores, &e)))
        return;
    for (int i = 0; i < COUNT(models); i++) {
        ts_model *m = ts_model_open(models[i].name, &e);
        const bool ok = m && ts_model_bind(m, models[i].n, (const char **)(uintptr_t)models[i].dims, NULL, &e);
        if (!CHECK(ok))
            printf("  %s\n", e.text);
        for (int j = 0; ok && j < COUNT(isas); j++)
            same_guess(m, &on, isas[j], 1), same_guess(m, &on, isas[j], 4);
        ts_model_free(m);
    }
}

/* ---- the same integers as the interpreter ---- */
static ts_tensor whole_weight(ts_graph *g, int64_t a, int64_t b, uint64_t seed)
{
    const int64_t dim[] = {a, b};
    ts_array v;
    err e = {0};
    MUST(ts_array_make(&v, TS_F32, 2, dim, &e));
    for (int64_t i = 0; i < a * b; i++)
        ((float *)v.data)[i] = (float)((int)(random_bits(seed, (uint64_t)i) % 7) - 3);
    ts_tensor t = ts_constant(g, "w", &v);
    ts_array_free(&v);
    return t;
}

static bool same_values(const ts_array *a, const ts_array *b)
{
    return ts_array_count(a) == ts_array_count(b) &&
           !memcmp(a->data, b->data, (size_t)ts_array_count(a) * sizeof(float));
}

static void same_under(const builtin_schema *s, const char *set, int threads, ts_tensor y, const ts_array *want)
{
    err e = {0};
    ts_array got;
    const ts_options o = {.target = s->target, .schema = s->name, .isa = set, .threads = threads};
    if (!CHECK(ts_eval(1, &y, 0, NULL, &o, &got, &e))) {
        printf("  %s, %s, %d threads: %s\n", s->name, set, threads, e.text);
        return;
    }
    if (!CHECK(same_values(want, &got)))
        printf("  %s, %s, %d threads: other numbers than the interpreter's\n", s->name, set, threads);
    ts_array_free(&got);
}

static void test_values(void)
{
    ts_graph *g = ts_graph_make();
    err e = {0};
    ts_array want;
    /* nothing divides; k of 300 and of 1030 meet both rules of panels */
    ts_tensor x = whole_weight(g, 35, 1030, 1), y = ts_call2(g, "matmul", x, whole_weight(g, 1030, 300, 2));
    y = ts_call2(g, "matmul", ts_call1(g, "relu", y), whole_weight(g, 300, 257, 3));
    const ts_options interp = {.target = "interp"};
    if (!CHECK(ts_eval(1, &y, 0, NULL, &interp, &want, &e))) {
        printf("  %s\n", e.text);
        return;
    }
    for (const builtin_schema *s = builtin_schemas; s->name; s++)
        for (int i = 0; i < COUNT(isas); i++)
            for (int threads = 1; threads <= 5; threads++)
                if (backend_find(s->target, &e)->in_host && isa_includes(isa_of_host(), isa_find(isas[i])))
                    same_under(s, isas[i], threads, y, &want);
    ts_array_free(&want);
    ts_graph_free(g);
}

/* ---- kernels taken apart compute the same ---- */
static void same_apart(const char *what, maker *make, int n_input, const char *const *name)
{
    scratch folder = scratch_make();
    ts_graph *g = ts_graph_make();
    ts_tensor y = make(g);
    ts_given given[3] = {{0}};
    ts_array fused, apart;
    err e = {0};
    const char *path = scratch_in(&folder, "apart.json");
    static const char rules[] = "{\"format\":\"tiling/1\",\"rules\":[{\"fuse\":\"none\"}]}";
    bool ok = file_save(path, rules, strlen(rules), &e);
    for (int i = 0; ok && i < n_input; i++) {
        const node *x = NULL;
        for (int k = 0; k < g->n; k++)
            x = strcmp(g->node[k]->label, name[i]) ? x : g->node[k];
        given[i].name = name[i];
        ok = CHECK(x) && ts_array_make(&given[i].value, TS_F32, x->type.rank, x->type.dim, &e);
        if (ok)
            ts_array_random(&given[i].value, (uint64_t)i, 0);
    }
    const ts_options interp = {.target = "interp"}, o = {.target = "c", .schema = path, .threads = 2};
    if (CHECK(ok && ts_eval(1, &y, n_input, given, &interp, &fused, &e)) &&
        CHECK(ts_eval(1, &y, n_input, given, &o, &apart, &e))) {
        double most = 0, size = 0;
        for (int64_t i = 0; i < ts_array_count(&fused); i++) {
            const double a = ts_array_at(&fused, i), b = ts_array_at(&apart, i);
            most = fmax(most, fabs(a - b)), size = fmax(size, fabs(a));
        }
        if (!CHECK(most <= 1e-5 * size))
            printf("  %s, taken apart: off by %g of %g, allowed %g\n", what, most, size, 1e-5 * size);
        ts_array_free(&fused), ts_array_free(&apart);
    } else
        printf("  %s, taken apart: %s\n", what, e.text);
    for (int i = 0; i < n_input; i++)
        ts_array_free(&given[i].value);
    ts_graph_free(g);
    scratch_free(&folder);
}

static void test_apart(void)
{
    static const char *const one[] = {"x"}, *const three[] = {"q", "k", "v"};
    same_apart("network", network, 1, one);
    same_apart("normalized", normalized, 1, one);
    same_apart("attention", attention, 3, three);
}

int main(void)
{
    test_legal();
    test_guess();
    test_values();
    test_apart();
    return check_done();
}
