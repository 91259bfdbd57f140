/* Plans as JSON: what is said of loops, caches, registers and edges, against counting by hand; and the schema that a
 * plan amounts to, which must give the plan again. */
#include "backends/cpu/cpu.h"
#include "backends/c/explain.h"
#include "schedule/explain/explain.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *explained(const plan *p)
{
    text t = {0};
    plan_explain(p, "c", "\"compiler\":\"none\"", &t);
    return text_take(&t);
}

static const cJSON *at(const cJSON *v, const char *path) /* "kernels/0/levels" */
{
    char key[40];
    while (v && *path) {
        const size_t n = strcspn(path, "/");
        snprintf(key, sizeof key, "%.*s", (int)n, path);
        v = cJSON_IsArray(v) ? cJSON_GetArrayItem(v, (int)strtol(key, NULL, 10))
                             : cJSON_GetObjectItemCaseSensitive(v, key);
        path += n + (path[n] == '/');
    }
    return v;
}

static const char *text_at(const cJSON *v, const char *path)
{
    const char *s = cJSON_GetStringValue(at(v, path));
    return s ? s : "(none)";
}

static double number_at(const cJSON *v, const char *path)
{
    const cJSON *n = at(v, path);
    return cJSON_IsNumber(n) ? n->valuedouble : -1;
}

/* ---- the document ---- */
static const char panels[] =
    "{\"name\":\"panels\",\"match\":{\"op\":\"matmul\"},\"loops\":\"n/48@core m/8 k/4 k@unroll m@unroll n@vector\"}";
static const char rows[] =
    "{\"name\":\"rows\",\"match\":{\"op\":\"matmul\"},\"loops\":\"m/8@core n/48 k/4 k@unroll m@unroll n@vector\"}";

static void print_levels(text *t, const cJSON *k)
{
    const cJSON *l;
    cJSON_ArrayForEach(l, at(k, "levels"))
        text_add(t, "%s%s%s: %.0f trips of %.0f, tail %.0f, %.0f bytes, %s %.3f\n",
                 text_at(l, "stage")[0] == '(' ? "" : text_at(l, "stage"), text_at(l, "stage")[0] == '(' ? "" : " ",
                 text_at(l, "loop"), number_at(l, "trips"), number_at(l, "step"), number_at(l, "tail"),
                 number_at(l, "working_set"), text_at(l, "level"), number_at(l, "share"));
}

static cJSON *read_plan(const setting *s, planned *b)
{
    if (!make_plan(b, s))
        return NULL;
    b->on.explain = c_explain;
    char *source = explained(b->p);
    cJSON *root = cJSON_ParseWithOpts(source, NULL, true);
    if (!CHECK(root != NULL))
        printf("  %s\n", source);
    free(source);
    return root;
}

static void test_document(void)
{
    planned b;
    cJSON *root = read_plan(&(setting){product, two_cores, "avx512", panels, 2}, &b);
    text levels = {0};
    CHECK_TEXT(text_at(root, "format"), "plan/1");
    CHECK_TEXT(text_at(root, "isa"), "avx512");
    CHECK(number_at(root, "threads") == 2);
    CHECK_TEXT(text_at(root, "schema/name"), "test.json");
    CHECK(strlen(text_at(root, "schema/hash")) == 64);
    CHECK_TEXT(text_at(root, "build/compiler"), "none");
    const cJSON *k = at(root, "kernels/0");
    CHECK(cJSON_GetArraySize(at(root, "kernels")) == 1 && cJSON_GetArraySize(at(root, "notes")) == 0);
    CHECK_TEXT(text_at(k, "name"), "k0");
    CHECK_TEXT(text_at(k, "op"), "matmul");
    CHECK_TEXT(text_at(k, "label"), "w");
    CHECK_TEXT(text_at(k, "rule"), "panels");
    CHECK_TEXT(text_at(k, "loops"), "n/48@core m/8 k/4 k@unroll m@unroll n@vector");
    CHECK_TEXT(text_at(k, "derived"), "n/48@core[+b@l2*2] m/8 k/4 k@unroll m@unroll n@vector");
    CHECK(number_at(k, "dims/m") == 128 && number_at(k, "dims/n") == 768 && number_at(k, "dims/k") == 768);
    CHECK_TEXT(text_at(k, "operands/1/operand"), "b");
    CHECK_TEXT(text_at(k, "operands/1/tensor"), "w");
    CHECK_TEXT(text_at(k, "operands/1/type"), "f32[768,768]");
    CHECK_TEXT(text_at(k, "operands/1/layout"), "n/48 k n");
    CHECK_TEXT(text_at(k, "operands/2/operand"), "y");
    CHECK_TEXT(text_at(k, "operands/2/layout"), "m n");
    CHECK(number_at(k, "flops") == 2.0 * 128 * 768 * 768);
    CHECK(number_at(k, "bytes") == 4.0 * (128 * 768 + 768 * 768 + 128 * 768));
    CHECK(number_at(k, "registers/used") == 8 * 3 + 3 + 1 && number_at(k, "registers/of") == 32);
    CHECK(number_at(k, "tail_waste") == 0);
    CHECK(number_at(root, "memory/arena_bytes") == 4 * 128 * 768 &&
          number_at(root, "memory/lower_bound_bytes") == 4 * 128 * 768);
    CHECK(number_at(root, "memory/weights_bytes") == 4 * 768 * 768);
    CHECK(number_at(root, "memory/resident_weights_bytes") == 4 * 768 * 768);
    CHECK_TEXT(text_at(root, "memory/buffers/0/kernel"), "k0");
    print_levels(&levels, k);
    /* a and a panel of b, and what becomes of them; then a block of rows of a; then what the tile reads of them, whose
     * sums are in registers: of four steps, of one, of one row, of one vector */
    CHECK_TEXT(text_str(&levels), "n/48@core: 16 trips of 48, tail 0, 565248 bytes, L2 0.539\n"
                                  "m/8: 16 trips of 8, tail 0, 173568 bytes, L2 0.166\n"
                                  "k/4: 192 trips of 4, tail 0, 896 bytes, L1 0.027\n"
                                  "k@unroll: 4 trips of 1, tail 0, 224 bytes, registers -1.000\n"
                                  "m@unroll: 8 trips of 1, tail 0, 196 bytes, registers -1.000\n"
                                  "n@vector: 48 trips of 1, tail 0, 68 bytes, registers -1.000\n");
    text_free(&levels), cJSON_Delete(root);
    free_plan(&b);
}

static void test_names(void)
{
    planned b;
    cJSON *root = read_plan(&(setting){strange_names, two_cores, "avx2", NULL, 1}, &b);
    CHECK_TEXT(text_at(root, "kernels/0/operands/0/tensor"), "in \"put\"\n\x1b[31m");
    CHECK_TEXT(text_at(root, "kernels/0/label"), "w\\eight \xEF\xBF\xBD\xc3\xa9 </script>");
    CHECK_TEXT(text_at(root, "schema/name"), "guess");
    cJSON_Delete(root);
    free_plan(&b);
}

static const node *of_nothing(graph *g)
{
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {3, 0}};
    return ts_call1(g, "prod axes=[1]", g_input(g, "x", &t, 0));
}

/* A fold of nothing writes its result and reads nothing: numbers still, not 0 by 0. */
static void test_nothing(void)
{
    planned b;
    cJSON *root = read_plan(&(setting){of_nothing, two_cores, "avx512", NULL, 1}, &b);
    CHECK(number_at(root, "kernels/0/bytes") == 4.0 * 3);
    CHECK(number_at(root, "kernels/0/flops") == 0);
    cJSON_Delete(root);
    free_plan(&b);
}

/* Loops that stages share go by the letters of the group. */
static void test_group(void)
{
    planned b;
    cJSON *root = read_plan(&(setting){attention, two_cores, "avx512", NULL, 2}, &b);
    CHECK_TEXT(text_at(root, "kernels/0/op"), "attention");
    CHECK(cJSON_GetArraySize(at(root, "kernels")) == 1 && cJSON_GetArraySize(at(root, "kernels/0/stages")) > 3);
    CHECK(number_at(root, "kernels/0/dims/q") == 40 &&
          number_at(root, "kernels/0/dims/h") == 6); /* b and h walked as one */
    CHECK(strstr(text_at(root, "kernels/0/loops"), "h"));
    cJSON_Delete(root);
    free_plan(&b);
    root = read_plan(&(setting){normalized, two_cores, "avx512", NULL, 2}, &b);
    CHECK_TEXT(text_at(root, "kernels/0/op"), "layer_norm");
    CHECK(number_at(root, "kernels/0/dims/r") == 2 * 37);
    cJSON_Delete(root);
    free_plan(&b);
}

/* ---- traffic ---- */
static void test_traffic(void)
{
    static const double a = 4 * 128 * 768, w = 4 * 768 * 768, y = a;
    planned b;
    cJSON *root = read_plan(&(setting){product, two_cores, "avx512", panels, 2}, &b);
    const cJSON *k = at(root, "kernels/0");
    /* n outside: weights come into L2 once; a stays there. In L1 a tile's slices follow each other: a comes for each of
     * 16 panels, a panel for each of 16 blocks of rows */
    CHECK(number_at(k, "traffic/L2") == a + w + y && number_at(k, "traffic/L3") == a + w + y);
    CHECK(number_at(k, "traffic/L1") == 16 * a + 16 * w + y);
    cJSON_Delete(root);
    free_plan(&b);
    root = read_plan(&(setting){product, two_cores, "avx512", rows, 2}, &b);
    k = at(root, "kernels/0");
    /* m outside: all weights pass through L2 once for each of 16 blocks of rows */
    CHECK(number_at(k, "traffic/L2") == a + 16 * w + y && number_at(k, "traffic/L3") == a + w + y);
    CHECK_TEXT(text_at(k, "levels/0/level"), "L3");
    CHECK_TEXT(text_at(k, "levels/1/level"), "L2");
    cJSON_Delete(root);
    free_plan(&b);
}

static void test_threads(void)
{
    planned b;
    cJSON *root = read_plan(&(setting){product, two_cores, "avx512", panels, 3}, &b);
    CHECK(cJSON_GetArraySize(at(root, "notes")) == 1);
    CHECK_TEXT(text_at(root, "notes/0"), "3 threads take turns on 2 cores: one per core is quicker");
    cJSON_Delete(root);
    free_plan(&b);
}

/* ---- notes ---- */
static void notes(maker *make, const char *set, const char *rules, const char *want)
{
    planned b;
    text all = {0};
    cJSON *root = read_plan(&(setting){make, two_cores, set, rules, 2}, &b);
    const cJSON *n;
    cJSON_ArrayForEach(n, at(root, "kernels/0/notes")) text_add(&all, "%s\n", n->valuestring);
    cJSON_ArrayForEach(n, at(root, "notes")) text_add(&all, "plan: %s\n", strstr(n->valuestring, "rule \""));
    CHECK_TEXT(text_str(&all), want);
    text_free(&all), cJSON_Delete(root);
    free_plan(&b);
}

static void test_notes(void)
{
    notes(small_product, "avx512", "{\"loops\":\"m/100 n/18 k m n\"}",
          "loop m/100: only 24 are left there, so it is one clipped trip\n");
    notes(
        small_product, "avx512", "{\"loops\":[\"m n k q\",\"m n k\"]}",
        "loops \"m n k q\", column 7: no axis \"q\" here; the axes are: m n k\n"
        "plan: rule \"rule 0\" is refused for 1 kernel (k0 matmul), and \"m n k\" is taken: loops \"m n k q\", column "
        "7: no axis \"q\" here; the axes are: m n k\n");
    notes(deep, "avx512", "{\"loops\":\"n/48 m/8 k m@unroll n@vector\"}",
          "loop m/8: one trip works on 3586 KiB, 350 % of L2 (1024 KiB): smaller steps outside it, or a step for a "
          "folded axis, "
          "would fit\n");
    notes(small_product, "avx2", "{\"loops\":\"m/8 n/16 k m@unroll n@vector\"}",
          "the register tile takes 19 vector registers, avx2 has 16: some go through memory; unroll less\n");
    notes(wide_rows, "avx512", "{\"loops\":\"n/16 k/4 m/16 k m@unroll n@vector\"}",
          "operand a: the tile walks 16 steps of m that lie 4096 bytes apart, a multiple of 4096: they compete for the "
          "same few "
          "places in L1; +a at an outer loop copies them together\n");
    notes(wide_rows, "avx512", "{\"loops\":\"n/16 k/4 m/16+a k m@unroll n@vector\"}", "");
    notes(small_product, "avx512", "{\"name\":\"x\",\"match\":{\"dims\":{\"n\":\">36\"}}}",
          "plan: rule \"x\" decides no kernel: none fits; nearest are matmul m=24 n=36 k=40\n");
}

static void test_tails(void)
{
    planned b;
    static const char rule[] = "{\"loops\":\"n/20@core m/7 k m@unroll n@vector\"}";
    cJSON *root = read_plan(&(setting){small_product, two_cores, "avx512", rule, 2}, &b);
    CHECK(number_at(root, "kernels/0/levels/0/tail") == 16 && number_at(root, "kernels/0/levels/1/tail") == 3);
    /* 24 rows in tiles of 7 are 28; 36 columns in tiles of 20, each two vectors of 16, are 64 */
    CHECK(fabs(number_at(root, "kernels/0/tail_waste") - (28.0 * 64 / (24 * 36) - 1)) < 1e-3);
    cJSON_Delete(root);
    free_plan(&b);
}

/* ---- the schema that a plan amounts to ---- */
static char *without_rules(const plan *p) /* the document less what schema and rules are named in */
{
    char *source = explained(p);
    cJSON *root = cJSON_Parse(source), *k;
    cJSON_DeleteItemFromObject(root, "schema");
    cJSON_DeleteItemFromObject(root, "bits"); /* by whom loops of sums are chosen */
    cJSON_ArrayForEach(k, cJSON_GetObjectItem(root, "kernels")) cJSON_DeleteItemFromObject(k, "rule"),
        cJSON_DeleteItemFromObject(k, "declined"),
        cJSON_DeleteItemFromObject(k, "graph_node"), /* nodes that the first one made stand for the model's */
        cJSON_DeleteItemFromObject(k, "work");       /* the other plan is of what stands for the model's products */
    free(source);
    source = cJSON_Print(root);
    cJSON_Delete(root);
    return source;
}

static void same_plan(maker *make, const char *set, int threads)
{
    planned b, c;
    err e = {0};
    char path[200];
    text schema = {0};
    if (!make_plan(&b, &(setting){make, two_cores, set, NULL, threads}))
        return;
    plan_schema(b.p, "c", &schema);
    c = b;
    snprintf(path, sizeof path, "%s/guess.json", b.folder.path);
    CHECK(file_save(path, schema.s, schema.length, &e));
    target made;
    const plan_options w = {.on = &made, .target = "c", .schema = path};
    cpu_target_of(&made, &b.machine, isa_find(set), threads);
    made.count = c_count;
    c.p = plan_make(b.g, b.p->n_root, b.p->root, &w, &e);
    if (CHECK(c.p != NULL)) {
        char *x = without_rules(b.p), *y = without_rules(c.p);
        CHECK_TEXT(y, x);
        for (int i = 0; i < c.p->n_kernel; i++)
            CHECK(strcmp(c.p->kernel[i].rule, "guess"));
        free(x), free(y);
    } else
        printf("  %s\n%s", e.text, schema.s);
    text_free(&schema);
    plan_free(c.p);
    free_plan(&b);
}

static void test_schema(void)
{
    static maker *const all[] = {triples, product,    small_product, deep,      convolution,
                                 strided, normalized, strange_names, attention, network};
    static const char *const isas[] = {"plain", "avx2", "avx512", "neon"};
    for (int i = 0; i < COUNT(all); i++)
        for (int j = 0; j < COUNT(isas); j++)
            for (int threads = 1; threads <= 2; threads++)
                same_plan(all[i], isas[j], threads);
}

int main(void)
{
    test_document();
    test_names();
    test_nothing();
    test_group();
    test_traffic();
    test_threads();
    test_notes();
    test_tails();
    test_schema();
    return check_done();
}
