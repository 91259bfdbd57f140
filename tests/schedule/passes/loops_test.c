/* Rules at work: the first that fits decides, alternatives in order, what is refused and in which words,
 * layouts of weights. */
#include "schedule/nest/nest.h"
#include "schedule/schema/schema.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>
#include <string.h>

#define LOOPS(s) "{\"name\":\"r\",\"loops\":" s "}"

static void chosen(maker *make, const char *rules, const char *by, const char *loops, const char *notes)
{
    planned b;
    text t = {0};
    if (make_plan(&b, &(setting){make, two_cores, "avx512", rules, 2})) {
        nest_print(&t, b.p->kernel, false);
        CHECK_TEXT(b.p->kernel->rule, by);
        CHECK_TEXT(text_str(&t), loops);
        CHECK_TEXT(b.p->kernel->notes, notes);
    }
    text_free(&t);
    free_plan(&b);
}

static void test_choice(void)
{
    chosen(product, LOOPS("\"m n k\"") "," LOOPS("\"n m k\""), "r", "m n k", "");
    chosen(product, "{\"match\":{\"op\":\"conv2d\"},\"loops\":\"m n k\"}," LOOPS("\"n m k\""), "r", "n m k", "");
    chosen(product, LOOPS("[\"m q\",\"n m k\"]"), "r", "n m k",
           "loops \"m q\", column 3: no axis \"q\" here; the axes are: m n k\n");
    chosen(product, "{\"loops\":\"m m\",\"optional\":true}," LOOPS("\"n m k\""), "r", "n m k",
           "loops \"m m\", column 3: axis m is walked twice\n");
    chosen(product, "{\"name\":\"laid\",\"layout\":{\"b\":\"n k\"}}", "laid",
           "n/48@core m/8 k/4 k@unroll m@unroll n@vector", "");
    chosen(product, "{\"loops\":\"m m\",\"optional\":true}", "guess", "n/48@core m/8 k/4 k@unroll m@unroll n@vector",
           "loops \"m m\", column 3: axis m is walked twice\n");
}

/* What the plan as a whole says of loops that were refused. */
static void told(const char *rules, int guessed, const char *want)
{
    planned b;
    text all = {0}, t = {0};
    int n = 0;
    if (make_plan(&b, &(setting){network, two_cores, "avx512", rules, 2})) {
        schema_refused(b.p, &all);
        for (const char *at = text_str(&all), *end; (end = strchr(at, '\n')); at = end + 1) {
            const size_t folder = strlen(b.folder.path) + 1; /* each line begins with it */
            text_bytes(&t, at + folder, (size_t)(end + 1 - at) - folder);
        }
        for (int i = 0; i < b.p->n_kernel; i++)
            n += b.p->kernel[i].guessed;
        CHECK_TEXT(text_str(&t), want);
        CHECK(n == guessed);
    }
    text_free(&all), text_free(&t);
    free_plan(&b);
}

static void test_told(void)
{
    told("{\"match\":{\"op\":\"matmul\"},\"loops\":[\"m n k\",\"guess\"]}", 0, "");
    told("{\"match\":{\"op\":\"matmul\"},\"loops\":\"guess\"}", 0, "");
    told("{\"name\":\"r\",\"match\":{\"op\":\"matmul\"},\"loops\":[\"m n q\",\"guess\"]}", 3,
         "test.json:2:45 (/rules/0/loops): rule \"r\" is refused for 3 kernels (k0 matmul l.0, ...), and the guess is "
         "taken: loops \"m n q\", column 5: no axis \"q\" here; the axes are: m n k\n");
    told("{\"name\":\"r\",\"match\":{\"op\":\"matmul\"},\"loops\":[\"m n\",\"m n k\"]}", 0,
         "test.json:2:45 (/rules/0/loops): rule \"r\" is refused for 3 kernels (k0 matmul l.0, ...), and \"m n k\" is "
         "taken: loops \"m n\", column 4: no loop k without a step: every axis ends in one\n");
    told("{\"name\":\"r\",\"match\":{\"op\":\"matmul\"},\"loops\":\"m n\",\"optional\":true},"
         "{\"name\":\"s\",\"match\":{\"name\":\"l.1\"},\"loops\":\"m n k\"}",
         0,
         "test.json:2:45 (/rules/0/loops): rule \"r\" is refused for 2 kernels (k0 matmul l.0, ...), and the guess is "
         "taken: loops \"m n\", column 4: no loop k without a step: every axis ends in one\n"
         "test.json:2:45 (/rules/0/loops): rule \"r\" is refused for 1 kernel (k1 matmul l.1), and rule \"s\" is "
         "followed: loops \"m n\", column 4: no loop k without a step: every axis ends in one\n");
}

static void refused(maker *make, const char *rules, const char *want)
{
    plan_is_refused(&(setting){make, two_cores, "avx512", rules, 2}, TS_BAD_INPUT, want);
}

/* A row, an image and a window of one element take the loops that more of them take. */
static const node *one_row(graph *g)
{
    const int64_t x[] = {1, 768}, w[] = {768, 768};
    return g_call2(g, "matmul", ts_input(g, "x", TS_F32, 2, x), ts_weight(g, "w", TS_F32, 2, w, 0, 1, 1));
}

static const node *one_image(graph *g, int64_t batch)
{
    const int64_t x[] = {batch, 4, 10, 12}, w[] = {8, 4, 1, 1};
    return g_call2(g, "conv2d strides=[1,1] pads=[0,0,0,0]", ts_input(g, "x", TS_F32, 4, x),
                   ts_input(g, "w", TS_F32, 4, w));
}

static const node *single(graph *g)
{
    return one_image(g, 1);
}

static const node *pair(graph *g)
{
    return one_image(g, 2);
}

static void test_once(void)
{
    chosen(one_row, LOOPS("\"m n k\""), "r", "n k", "");
    chosen(one_row, LOOPS("\"n/tile@core m/tile k/4 k@unroll m@unroll n@vector\""), "r",
           "n/192@core k/4 k@unroll n@vector", "");
    chosen(one_row, LOOPS("\"m@core n k\""), "r", "n k",
           "loops \"m@core n k\": m@core is walked once, for its axis has one element or is part of another; what else "
           "it says is left aside\n");
    /* of a window of one element rows and columns are one axis, ow */
    chosen(single, LOOPS("\"n@core oc oh ow ic kh kw\""), "r", "oc ow ic kh kw",
           "loops \"n@core oc oh ow ic kh kw\": n@core is walked once, for its axis has one element or is part of "
           "another; what else it says is left aside\n");
    chosen(pair, LOOPS("\"n@core oc oh ow ic kh kw\""), "r", "n@core oc ow ic kh kw", "");
}

static void test_refused(void)
{
    static const char hint[] =
        "\n  hint: add \"guess\" to its loops, or \"optional\": true to pass on to the next rule";
    static const struct {
        const char *loops, *why;
    } one[] = {
        {"[\"m n\",\"m n k k\"]", "loops \"m n\", column 4: no loop k without a step: every axis ends in one\n  loops "
                                  "\"m n k k\", column 7: axis k is walked twice"},
        {"\"k/64 m k/8@core n k\"",
         "loops \"k/64 m k/8@core n k\": loop k, whose parts are spread over the cores, is inside "
         "another of that axis"},
        {"\"m/64 n/64 k m@unroll n@vector\"", "loops \"m/64 n/64 k m@unroll n@vector\": the sums of the register tile "
                                              "(m 64, n 64) take 256 vector registers, "
                                              "avx512 has 32: unroll less, or write m/tile n/tile, here m/8 n/48"},
        {"\"n/48 m/11 k m@unroll n@vector\"", "loops \"n/48 m/11 k m@unroll n@vector\": the sums of the register tile "
                                              "(m 11, n 48) take 33 vector registers, "
                                              "avx512 has 32: unroll less, or write m/tile n/tile, here m/8 n/48"},
    };
    for (int i = 0; i < COUNT(one); i++) {
        char rules[200], want[600];
        snprintf(rules, sizeof rules, "{\"name\":\"r\",\"loops\":%s}", one[i].loops);
        snprintf(want, sizeof want,
                 "test.json:2:21 (/rules/0/loops): rule \"r\" on matmul w: every alternative is refused:\n  %s%s",
                 one[i].why, hint);
        refused(product, rules, want);
    }
    refused(product, "{\"name\":\"r\",\"layout\":{\"b\":\"n/48 k\"}}",
            "test.json:2:1 (/rules/0): rule \"r\" on matmul w, operand b: layout \"n/48 k\": n never reaches step 1");
}

/* ---- as many sums as there are registers ---- */
static const char *const isas[] = {"plain", "avx2", "avx512", "neon"};

static void loops_on(maker *make, const char *set, const char *rules, const char *want, const char *notes)
{
    planned b;
    text t = {0};
    if (make_plan(&b, &(setting){make, two_cores, set, rules, 2})) {
        nest_print(&t, b.p->kernel, false);
        CHECK_TEXT(text_str(&t), want);
        CHECK_TEXT(b.p->kernel->notes, notes);
    }
    text_free(&t);
    free_plan(&b);
}

static void test_registers(void)
{
    loops_on(product, "avx512", LOOPS("\"n/64 m/8 k m@unroll n@vector\""), "n/64 m/8 k m@unroll n@vector", "");
    loops_on(product, "avx2", LOOPS("\"n/32 m/4 k m@unroll n@vector\""), "n/32 m/4 k m@unroll n@vector", "");
    loops_on(product, "plain", LOOPS("\"n/16 m/4 k m@unroll n@vector\""), "n/16 m/4 k m@unroll n@vector", "");
    /* the first alternative that the registers hold */
    loops_on(
        product, "avx2", LOOPS("[\"n/48 m/8 k m@unroll n@vector\",\"n/16 m/6 k m@unroll n@vector\"]"),
        "n/16 m/6 k m@unroll n@vector",
        "loops \"n/48 m/8 k m@unroll n@vector\": the sums of the register tile (m 8, n 48) take 48 vector registers, "
        "avx2 has 16: unroll less, or write m/tile n/tile, here m/6 n/16\n");
    /* sums along the fold, in vectors; in f64, half as many for each */
    plan_is_refused(
        &(setting){product, two_cores, "plain", "{\"name\":\"r\",\"loops\":\"m n/8 k/64 n@unroll k@vector\"}", 2},
        TS_BAD_INPUT,
        "test.json:2:21 (/rules/0/loops): rule \"r\" on matmul w: every alternative is refused:\n"
        "  loops \"m n/8 k/64 n@unroll k@vector\": the sums of the register tile (n 8, k 64) take 128 vector "
        "registers, plain has 16: unroll less, or write n/tile k/tile, here n/8 k/4\n"
        "  hint: add \"guess\" to its loops, or \"optional\": true to pass on to the next rule");
}

static void test_tile(void)
{
    static const char by_tile[] = LOOPS("\"n/tile@core k/256 m/tile k/tile k@unroll m@unroll n@vector\"");
    static const char *const want[] = {
        "n/8@core k/256 m/6 k/4 k@unroll m@unroll n@vector", "n/16@core k/256 m/6 k/4 k@unroll m@unroll n@vector",
        "n/48@core k/256 m/8 k/4 k@unroll m@unroll n@vector", "n/12@core k/256 m/8 k/4 k@unroll m@unroll n@vector"};
    for (int i = 0; i < COUNT(isas); i++)
        loops_on(product, isas[i], by_tile, want[i], "");
    loops_on(small_product, "avx512", LOOPS("\"n/tile m/tile k m@unroll n@vector\""), "n/36 m/8 k m@unroll n@vector",
             "");
    loops_on(
        attention, "avx2", LOOPS("\"h@core q/tile ; matmul: n/tile q/tile k q@unroll n@vector\""),
        "h@core q/6 ; matmul: n/16 q/6 k q@unroll n@vector ; max: q c@vector ; exp: q e@vector ; sum: q c@vector ; "
        "divide: q e@vector ; matmul2: n/16 q/6 k/4 k@unroll q@unroll n@vector",
        "");
}

static void laid_out(const char *rules, const char *want, const char *notes)
{
    static const char *const letter[] = {"k", "n"};
    planned b;
    text t = {0};
    if (make_plan(&b, &(setting){product, two_cores, "avx512", rules, 2})) {
        const stage *s = b.p->kernel->stage;
        CHECK(s->leaf[0] == -1 && s->leaf[1] == 0 && b.p->n_leaf == 1);
        layout_print(&t, &b.p->leaf[0].layout, letter);
        CHECK_TEXT(text_str(&t), want);
        CHECK_TEXT(b.p->kernel->notes, notes);
    }
    text_free(&t);
    free_plan(&b);
}

static void test_layouts(void)
{
    laid_out(LOOPS("\"n/48 m/8 k m@unroll n@vector\""), "n/48 k n", ""); /* the order in which loops walk it */
    laid_out(LOOPS("\"k n m\""), "k n", "");
    laid_out(LOOPS("\"n/384@core n/48 k/64 m/8 k m@unroll n@vector\""), "n/48 k n", "");
    laid_out("{\"loops\":\"n/48 m/8 k m@unroll n@vector\",\"layout\":{\"b\":\"k/8 n k\"}}", "k/8 n k", "");
    laid_out("{\"name\":\"r\",\"layout\":{\"b\":\"n/tile k/tile n k\"}}", "n/48 k/4 n k", "");
    laid_out("{\"loops\":\"n/tile m/8 k m@unroll n@vector\",\"layout\":{\"b\":\"k/8 n/tile k n\"}}", "k/8 n/48 k n",
             "");
    laid_out("{\"name\":\"r\",\"loops\":\"k n m\",\"layout\":{\"f\":\"k\"}}", "k n",
             "layout of f by rule \"r\" left aside: there is no such operand\n");
}

/* ---- fuse ---- */
static int kernels_of(const plan *p, const char *does)
{
    int n = 0;
    for (int i = 0; i < p->n_kernel; i++)
        n += !strcmp(p->kernel[i].op, does);
    return n;
}

/* What the rule is for is fused under the guess (no kernel `part`), and apart under the rule (as many as `parts`). */
static void comes_apart(maker *make, const char *rules, const char *part, int parts)
{
    planned fused, b;
    err e = {0};
    if (make_plan(&fused, &(setting){make, two_cores, "avx512", NULL, 2}) &&
        make_plan(&b, &(setting){make, two_cores, "avx512", rules, 2})) {
        CHECK(kernels_of(fused.p, part) == 0 && b.p->n_kernel > fused.p->n_kernel);
        if (!CHECK(kernels_of(b.p, part) == parts))
            printf("  %s: %d times %s\n", rules, kernels_of(b.p, part), part);
        for (int i = 0; i < b.p->n_kernel; i++)
            CHECK(!b.p->apart[b.p->kernel[i].stage->node->id] || b.p->kernel[i].n_stage == 1);
        CHECK(plan_check(b.p, &e) && b.p->rule_used[0]);
        free_plan(&b);
    }
    free_plan(&fused);
}

static void test_fuse(void)
{
    comes_apart(network, "{\"match\":{\"op\":\"softmax\"},\"fuse\":\"none\"}", "exp", 1);
    comes_apart(network, "{\"match\":{\"name\":\"l.0\"},\"fuse\":\"none\"}", "gelu", 1); /* l.1 keeps its own */
    comes_apart(network, "{\"fuse\":\"none\"}", "gelu", 2);
    comes_apart(attention, "{\"fuse\":\"none\"}", "sum", 1);
}

int main(void)
{
    test_choice();
    test_told();
    test_once();
    test_refused();
    test_registers();
    test_tile();
    test_layouts();
    test_fuse();
    return check_done();
}
