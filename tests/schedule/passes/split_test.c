/* Sums in parts: the kernel that makes them walks the loops as they were written, another one adds them up; what cannot
 * be in parts, in its words. */
/* ctest: fast */
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include "schedule/nest/nest.h"

#include <stdio.h>
#include <string.h>

static void check_loops(const kernel *k, const char *want)
{
    text t = {0};
    nest_print(&t, k, false);
    CHECK_TEXT(text_str(&t), want);
    text_free(&t);
}

static const node *biased(graph *g) /* of halves, with what follows */
{
    const type t = {.dtype = TS_F16, .rank = 2, .dim = {8, 1000}}, u = {.dtype = TS_F16, .rank = 2, .dim = {1000, 40}},
               v = {.dtype = TS_F16, .rank = 1, .dim = {40}};
    return g_call1(g, "relu",
                   g_call2(g, "add", g_call2(g, "matmul", g_input(g, "a", &t, NULL), g_input(g, "b", &u, NULL)),
                           g_input(g, "c", &v, NULL)));
}

static const node *place(graph *g)
{
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {8, 1000}};
    return g_call1(g, "argmax axis=1", g_input(g, "a", &t, NULL));
}

static const node *window(graph *g)
{
    const type t = {.dtype = TS_F32, .rank = 3, .dim = {8, 100, 50}};
    return g_call1(g, "sum axes=[1,2]", g_input(g, "a", &t, NULL));
}

static const node *many(graph *g) /* of nine tensors */
{
    const type t = {.dtype = TS_F32, .rank = 1, .dim = {1000}};
    const node *x = NULL;
    for (int i = 0; i < 9; i++) {
        const node *next = g_input(g, (const char[]){(char)('a' + i), 0}, &t, NULL);
        x = x ? g_call2(g, "multiply", x, next) : next;
    }
    return g_call1(g, "sum axes=[0]", x);
}

#define RULE(LOOPS) "{\"name\":\"r\",\"loops\":[\"" LOOPS "\"]}"

/* Parts of 300, the last of 100, of sums in f32; they are added up behind, and there the rest is done. */
static void test_parts(void)
{
    static const char loops[] = "k/300@core m/4 k/2 k@unroll m@unroll n@vector";
    planned b;
    if (make_plan(&b,
                  &(setting){biased, two_cores, "avx512", RULE("k/300@core m/4 k/2 k@unroll m@unroll n@vector"), 2}) &&
        CHECK(b.p->n_kernel == 2)) {
        const kernel *k = b.p->kernel;
        const type *t = &k->stage->node->type;
        check_loops(k, loops);
        CHECK(!k->merges && k[1].merges && !strcmp(k->rule, "r") && !strcmp(k[1].rule, "guess"));
        CHECK(t->dtype == TS_F32 && t->rank == 3 && t->dim[0] == 4 && t->dim[1] == 8 && t->dim[2] == 40);
        CHECK(k->stage->n_load == 2 && k[1].stage->n_load == 2 && k[1].stage->load[0]->from == k->stage->node);
        CHECK(k[1].stage->node == b.p->root[0] && k[1].stage->extent[2] == 4 && k[1].stage->folds == 4);
        CHECK(k->bytes == (8 * 1000 + 1000 * 40) * 2 + 4 * 8 * 40 * 4);
        CHECK_TEXT(k->notes,
                   "sums of k are in 4 parts, 5120 bytes of memory; the kernel behind this one adds them up in "
                   "order\n");
        CHECK_TEXT(k[1].notes, "adds up the parts that the kernel before it sums\n");
    }
    free_plan(&b);
}

/* Of a largest f32 and its place, i32 in two digits, parts of 300 leave three f32; merged behind in their order. */
static void test_states(void)
{
    planned b;
    if (make_plan(&b, &(setting){place, two_cores, "avx512", RULE("r c/300@core c/32 c@vector"), 2}) &&
        CHECK(b.p->n_kernel == 2)) {
        const kernel *k = b.p->kernel;
        const type *t = &k->stage->node->type;
        check_loops(k, "r c/300@core c/32 c@vector");
        CHECK(!k->merges && k[1].merges && k->stage->n_piece == 3 && k[1].stage->n_piece == 0);
        CHECK(t->dtype == TS_F32 && t->rank == 3 && t->dim[0] == 3 && t->dim[1] == 4 && t->dim[2] == 8);
        CHECK(k[1].stage->n_load == 3 && k[1].stage->load[2]->from == k->stage->node);
        CHECK(k[1].stage->node == b.p->root[0] && k[1].stage->extent[1] == 4 && k[1].stage->folds == 2);
        CHECK(k->bytes == 8 * 1000 * 4 + 3 * 4 * 8 * 4);
        CHECK_TEXT(k->notes,
                   "states folded along c are in 4 parts, 384 bytes of memory; the kernel behind this one merges them "
                   "in order\n");
        CHECK_TEXT(k[1].notes, "merges the states of the parts that the kernel before it folds\n");
    }
    free_plan(&b);
}

static const node *longest_row(graph *g)
{
    const type t = {.dtype = TS_F32, .rank = 1, .dim = {1000000}};
    return g_call1(g, "argmax axis=0", g_input(g, "a", &t, NULL));
}

/* The guess spreads one long row, in parts that are the same for any number of threads. */
static void test_guess(void)
{
    for (int threads = 1; threads <= 2; threads++) {
        planned b;
        const bool made = make_plan(&b, &(setting){longest_row, two_cores, "avx512", NULL, threads});
        if (CHECK(made) && CHECK(b.p->n_kernel == 2))
            check_loops(b.p->kernel, "c/32768@core c/32 c@vector");
        free_plan(&b);
    }
}

/* A card's guess leaves whole what cannot be spelled out in parts. */
static void test_many(void)
{
    planned b;
    if (CHECK(make_plan(&b, &(setting){many, "gpu:h100", NULL, NULL, 0})))
        CHECK(b.p->n_kernel == 1);
    free_plan(&b);
}

/* A step that takes all is one part, which is the sum. */
static void test_one_part(void)
{
    planned b;
    if (make_plan(&b, &(setting){biased, two_cores, "avx512", RULE("k/1000@core m k n@vector"), 2}))
        CHECK(b.p->n_kernel == 1 && b.p->kernel->stage->node == b.p->root[0]);
    free_plan(&b);
}

static void refused(maker *make, const char *on, const char *loops, const char *of, const char *why)
{
    char rules[200], want[600];
    snprintf(rules, sizeof rules, RULE("%s"), loops);
    snprintf(want, sizeof want,
             "test.json:2:21 (/rules/0/loops): rule \"r\" on %s: every alternative is refused:\n  loops \"%s\": %s\n  "
             "hint: add \"guess\" to its loops, or \"optional\": true to pass on to the next rule",
             of, loops, why);
    plan_is_refused(&(setting){make, on, "avx512", rules, 2}, TS_BAD_INPUT, want);
}

int main(void)
{
    test_parts(), test_states(), test_guess(), test_many(), test_one_part();
    refused(biased, two_cores, "k/300 k/30@core m k n@vector", "matmul ",
            "loop k, whose parts are spread over the cores, is inside another of that axis");
    refused(biased, two_cores, "k/300@core+c m k n@vector", "matmul ",
            "operand c is read behind the sum, whose parts are added up by another kernel");
    refused(place, two_cores, "c/100@core c/10 r c", "argmax ",
            "loop c folds 2 values outside the register tile, where the result has room for one: let no loop of the "
            "result, and no copy, stand inside it");
    refused(many, two_cores, "c/100@core c", "sum ",
            "loop c is spread over the cores: what is in parts reads 1 to 8 tensors, this 9");
    refused(window, "gpu:h100", "c/10@block f1/10@block c f1 r", "sum ",
            "a second folded loop, f1, is dealt to the groups: one axis is summed in parts");
    return check_done();
}
