#include "tests/schedule/planned.h"
#include "backends/c/explain.h"
#include "backends/cuda/program.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

const char two_cores[] = "l3:1(32MB) l2:2(1MB) l1d:2(32KB) core:2 isa:avx512";

/* ---- a graph, a machine, a schema: a plan ---- */
static bool find_target(planned *b, const setting *s, err *e)
{
    const target *t;
    if (!gpu_is_text(s->machine))
        return machine_load(&b->machine, s->machine, e) &&
               (cpu_target_of(&b->on, &b->machine, isa_find(s->isa), s->threads), b->on.count = c_count, true);
    if (!gpu_read(&b->card, s->machine, e) || !(t = gpu_target_with_units(&b->mem, &b->card, 0, NULL, e)))
        return false;
    return b->on = *t, b->on.touch = cuda_touch, true;
}

static void begin(planned *b, const setting *s, err *e)
{
    text schema = {0};
    *b = (planned){.g = ts_graph_make(), .folder = scratch_make()};
    const char *path = scratch_in(&b->folder, "test.json");
    text_add(&schema, "{\"format\":\"tiling/1\",\"rules\":[\n%s]}", s->rules ? s->rules : "");
    b->root = s->make(b->g);
    bool ok = ts_graph_ok(b->g, e) && find_target(b, s, e) && file_save(path, schema.s, schema.length, e);
    const plan_options w = {.on = &b->on, .target = "c", .schema = s->rules ? path : NULL};
    b->p = ok ? plan_make(b->g, 1, &b->root, &w, e) : NULL;
    text_free(&schema);
}

bool make_plan(planned *b, const setting *s)
{
    err e = {0};
    begin(b, s, &e);
    if (!CHECK(b->p != NULL))
        printf("  %s\n", e.text);
    return b->p != NULL;
}

void plan_is_refused(const setting *s, ts_code code, const char *want)
{
    err e = {0};
    planned b;
    begin(&b, s, &e);
    const size_t n = strlen(b.folder.path);
    char *at = strstr(e.text, b.folder.path);
    if (at)
        memmove(at, at + n + 1, strlen(at + n + 1) + 1);
    CHECK(!b.p && e.code == code);
    CHECK_TEXT(e.text, want);
    free_plan(&b);
}

void free_plan(planned *b)
{
    plan_free(b->p);
    ts_graph_free(b->g);
    arena_free(&b->mem);
    scratch_free(&b->folder);
}

/* ---- graphs ---- */
static const node *input(graph *g, const char *label, int rank, const int64_t *dim)
{
    type t = {.dtype = TS_F32, .rank = rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    return g_input(g, label, &t, 0);
}

static const node *weight(graph *g, const char *label, int64_t a, int64_t b)
{
    const int64_t dim[] = {a, b};
    return ts_weight(g, label, TS_F32, b ? 2 : 1, dim, 0, 1, 1);
}

const node *product(graph *g)
{
    return g_call2(g, "matmul", input(g, "x", 2, (int64_t[]){128, 768}), weight(g, "w", 768, 768));
}

const node *small_product(graph *g)
{
    return g_call2(g, "matmul", input(g, "x", 2, (int64_t[]){24, 40}), input(g, "y", 2, (int64_t[]){40, 36}));
}

const node *wide_rows(graph *g) /* rows of 4096 bytes */
{
    return g_call2(g, "matmul", input(g, "x", 2, (int64_t[]){64, 1024}), input(g, "y", 2, (int64_t[]){1024, 1024}));
}

const node *deep(graph *g)
{
    return g_call2(g, "matmul", input(g, "x", 2, (int64_t[]){64, 16384}), input(g, "y", 2, (int64_t[]){16384, 64}));
}

const node *convolution(graph *g)
{
    const type t = {.dtype = TS_F32, .rank = 4, .dim = {8, 4, 3, 3}};
    return g_call2(g, "conv2d strides=[1,1] pads=[0,0,0,0]", input(g, "x", 4, (int64_t[]){1, 4, 10, 12}),
                   g_input(g, "w", &t, 0));
}

const node *strided(graph *g)
{
    const type t = {.dtype = TS_F32, .rank = 4, .dim = {8, 4, 3, 3}};
    return g_call2(g, "conv2d strides=[2,3] pads=[1,1,1,1]", input(g, "x", 4, (int64_t[]){2, 4, 11, 12}),
                   g_input(g, "w", &t, 0));
}

const node *normalized(graph *g)
{
    const node *x = input(g, "x", 3, (int64_t[]){2, 37, 96});
    return g_call3(g, "layer_norm axis=-1 epsilon=1e-5", g_call2(g, "add", x, g_call1(g, "tanh", x)),
                   weight(g, "gain", 96, 0), weight(g, "shift", 96, 0));
}

const node *strange_names(graph *g)
{
    const node *x = input(g, "in \"put\"\n\x1b[31m", 2, (int64_t[]){4, 64});
    return g_call2(g, "matmul", x, weight(g, "w\\eight \xff\xc3\xa9 </script>", 64, 32));
}

/* several products, alike and not, with names, and a softmax over their result */
const node *triples(graph *g)
{
    enum { K = 2048, LAYERS = 2 };
    static const char *const name[LAYERS][4] = {{"q0", "k0", "v0", "o0"}, {"q1", "k1", "v1", "o1"}};
    const int64_t dim[] = {K, K};
    const node *y = g_input(g, "x", &(type){.dtype = TS_F32, .rank = 2, .dim = {128, K}}, 0);
    for (int i = 0; i < LAYERS; i++) {
        const node *all[4];
        for (int k = 0; k < 4; k++) {
            const node *w = ts_weight(g, name[i][k], TS_F32, 2, dim, 0, 1, (uint64_t)(4 * i + k));
            all[k] = ts_call1(g, "tanh", ts_call2(g, "matmul", k < 3 ? y : all[2], w));
            all[k] = k == 1 || k == 2 ? ts_call2(g, "add", all[k - 1], all[k]) : all[k];
        }
        y = all[3];
    }
    return y;
}

const node *network(graph *g)
{
    const node *x = input(g, "x", 2, (int64_t[]){33, 70});
    static const char *const label[] = {"l.0", "l.1", "l.2*"};
    for (int i = 0; i < 3; i++) {
        const node *y = g_call2(g, "matmul", x, weight(g, label[i], 70, 70));
        x = i == 2 ? g_call1(g, "softmax axis=-1", y) : g_call2(g, "add", x, g_call1(g, "gelu", y));
    }
    return g_call2(g, "matmul", x, weight(g, "head", 70, 11));
}

const node *attention(graph *g)
{
    const node *q = input(g, "q", 4, (int64_t[]){2, 3, 40, 16}), *k = input(g, "k", 4, (int64_t[]){2, 3, 24, 16}),
               *v = input(g, "v", 4, (int64_t[]){2, 3, 24, 32});
    return g_call3(g, "attention", q, k, v);
}
