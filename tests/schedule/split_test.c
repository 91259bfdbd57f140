/* Sums in parts: the kernel that makes them walks the loops as they were written, another one adds them up; what cannot
 * be in parts, in its words. */
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include "schedule/nest.h"

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
    test_parts(), test_one_part();
    refused(biased, two_cores, "k/300 k/30@core m k n@vector", "matmul ",
            "loop k, whose parts are spread over the cores, is inside another of that axis");
    refused(biased, two_cores, "k/300@core+c m k n@vector", "matmul ",
            "operand c is read behind the sum, whose parts are added up by another kernel");
    refused(place, two_cores, "c/100@core r c", "argmax ",
            "loop c folds 2 values at once: parts that are spread over the cores sum up one");
    refused(window, "gpu:h100", "c/10@block f1/10@block c f1 r", "sum ",
            "a second folded loop, f1, is dealt to the groups: one axis is summed in parts");
    return check_done();
}
