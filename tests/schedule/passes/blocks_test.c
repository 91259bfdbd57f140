/* Attention over more keys than a cache holds: one kernel that walks them in blocks, and no value of all scores; unless
 * a rule says otherwise, or somebody reads them. */
/* ctest: fast */
#include "schedule/nest/nest.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>
#include <string.h>

enum { HEADS = 2, WIDTH = 64 };

static const node *attend(graph *g, int64_t keys)
{
    const type t = {.dtype = TS_F32, .rank = 4, .dim = {1, HEADS, keys, WIDTH}};
    return g_call3(g, "attention causal=1", g_input(g, "q", &t, NULL), g_input(g, "k", &t, NULL),
                   g_input(g, "v", &t, NULL));
}

static const node *attend_4096(graph *g)
{
    return attend(g, 4096);
}

static const node *attend_512(graph *g)
{
    return attend(g, 512);
}

static const node *attend_and_weights(graph *g) /* what softmax gives is asked for, too */
{
    const type t = {.dtype = TS_F32, .rank = 4, .dim = {1, HEADS, 2048, WIDTH}};
    const node *q = g_input(g, "q", &t, NULL),
               *p = g_call1(g, "softmax", g_call2(g, "matmul", q, g_call1(g, "transpose axes=[0,1,3,2]", q)));
    return g_call2(g, "add", g_call2(g, "matmul", p, q), g_call1(g, "sum axes=[-1] keepdims=1", g_call1(g, "tanh", p)));
}

static const node *last_row(graph *g)
{
    return g_call1(g, "exp", g_call1(g, "slice starts=[0,0,4095,0] sizes=[1,2,1,64]", attend(g, 4096)));
}

static const node *slope(graph *g) /* the way back reads the weights that softmax gave on the way there */
{
    const node *y = attend(g, 2048), *q = y, *loss = g_call1(g, "sum", g_call2(g, "multiply", y, y)), *out = NULL;
    for (int i = 0; i < g->n; i++)
        if (!strcmp(g->node[i]->label, "q"))
            q = g->node[i];
    CHECK(ts_chain_rule(g, 1, &loss, NULL, 1, &q, &out));
    return out;
}

static const node *two_layers(graph *g)
{
    const node *y = attend(g, 2048), *x = g_call1(g, "tanh", y);
    return g_call3(g, "attention", x, x, g_call1(g, "exp", x));
}

static const node *halves(graph *g) /* products of halves, between sums of f32 */
{
    const node *y = two_layers(g);
    CHECK(ts_mixed_precision(g, 1, &y, TS_BF16, &y));
    return y;
}

static bool has_blocks(const plan *p)
{
    bool any = false;
    for (int k = 0; k < p->n_kernel; k++)
        any = any || kernel_carried(&p->kernel[k]) >= 0;
    return any;
}

static void test_no_scores(void)
{
    planned b;
    if (make_plan(&b, &(setting){attend_4096, two_cores, "avx512", NULL, 2}) && CHECK(b.p->n_kernel == 1)) {
        const kernel *k = b.p->kernel;
        text t = {0};
        CHECK_TEXT(k->op, "attention");
        CHECK(b.p->arena_bytes == type_bytes(&b.p->root[0]->type)); /* the result alone */
        CHECK(k->n_shared == 3 && kernel_carried(k) == 2);
        CHECK_TEXT(k->stage[k->main].letter[2], "s");
        const stage *last = &k->stage[k->n_stage - 1];
        CHECK(stage_carries(last) && stage_keeps_last(last) && last->extent[2] == 64);
        nest_print(&t, k, false);
        CHECK(!strncmp(text_str(&t), "h@core+matmul.b q/96 s ; ", 25));
        text_free(&t);
    }
    free_plan(&b);
}

/* Of the last row alone: one row's products, not all rows'. */
static void test_what_is_read(void)
{
    planned b;
    if (make_plan(&b, &(setting){last_row, two_cores, "avx512", NULL, 2}) && CHECK(b.p->n_kernel == 2)) {
        const kernel *k = b.p->kernel;
        CHECK(kernel_carried(k) == 1 && k->n_shared == 2); /* head, block */
        CHECK(k->flops < 2 * HEADS * 4096.0 * (4 * WIDTH + 16));
    }
    free_plan(&b);
}

static void test_who_decides(void)
{
    static const struct {
        maker *make;
        const char *rules;
        bool blocks;
    } row[] = {
        {attend_4096, "{\"match\": {\"op\": \"attention\"}, \"blocks\": 0}", false},
        {attend_4096, "{\"match\": {\"op\": \"attention\"}, \"loops\": [\"h q/16 ; max: q c\", \"guess\"]}", false},
        {attend_4096, "{\"match\": {\"op\": \"softmax\"}, \"fuse\": \"none\"}", false},
        {attend_4096, "{\"match\": {\"op\": \"matmul\", \"dims\": {\"k\": 7}}, \"loops\": \"m n k\"}", true},
        {attend_512, NULL, false},
        {attend_512, "{\"match\": {\"op\": \"attention\"}, \"blocks\": 128}", true},
        {attend_512, "{\"match\": {\"op\": \"attention\"}, \"blocks\": 512}", false},
        {attend_and_weights, NULL, false},
        {slope, NULL, false},
    };
    for (int i = 0; i < COUNT(row); i++) {
        planned b;
        if (make_plan(&b, &(setting){row[i].make, two_cores, "avx512", row[i].rules, 2}) &&
            !CHECK(has_blocks(b.p) == row[i].blocks))
            printf("  row %d\n", i);
        free_plan(&b);
    }
}

/* Attention over what attention gives: both in blocks, and nothing computed twice. */
static void test_layers(maker *make)
{
    planned b;
    if (make_plan(&b,
                  &(setting){make, two_cores, "avx512", "{\"match\": {\"op\": \"attention\"}, \"blocks\": 128}", 2})) {
        int in_blocks = 0, products = 0;
        for (int i = 0; i < b.p->n_kernel; i++) {
            const kernel *k = &b.p->kernel[i];
            in_blocks += kernel_carried(k) >= 0;
            for (int s = 0; s < k->n_stage; s++)
                products += stage_contracts(&k->stage[s]);
        }
        CHECK(in_blocks == 2 && products == 4);
    }
    free_plan(&b);
}

static void test_refused(void)
{
    static const char *const loops[][2] = {
        {"h s q/32", "h s q/32"}, {"h@core q/32 s/2", "h@core q/32 s/2"}, {"h q/32 s@core", "h q/32 s@core"}};
    for (int i = 0; i < COUNT(loops); i++) {
        char rules[200], want[600];
        snprintf(rules, sizeof rules, "{\"match\": {\"op\": \"attention\"}, \"blocks\": 128, \"loops\": \"%s\"}",
                 loops[i][0]);
        snprintf(want, sizeof want,
                 "test.json:2:56 (/rules/0/loops): rule \"rule 0\" on attention : every alternative is refused:\n"
                 "  loops \"%s\": stages carry sums along s from trip to trip, s = 1 starts from what s = 0 leaves: "
                 "its loop is \"s\", the last of those that stages share, without a step or a role\n"
                 "  hint: add \"guess\" to its loops, or \"optional\": true to pass on to the next rule",
                 loops[i][1]);
        plan_is_refused(&(setting){attend_512, two_cores, "avx512", rules, 2}, TS_BAD_INPUT, want);
    }
    plan_is_refused(
        &(setting){attend_512, two_cores, "avx512", "{\"match\": {\"op\": \"attention\"}, \"blocks\": 1.5}", 2},
        TS_BAD_INPUT,
        "test.json:2:42 (/rules/0/blocks): \"blocks\": 1.5 is no number of elements\n"
        "  hint: so many are in a block of the axis that is summed up; 0: no blocks");
    plan_is_refused(
        &(setting){attend_512, two_cores, "avx512",
                   "{\"match\": {\"op\": \"attention\", \"dims\": {\"q\": 512}}, \"blocks\": 64}", 2},
        TS_UNSUPPORTED,
        "test.json:2:62 (/rules/0/blocks): \"blocks\" with \"dims\": it is said of operations, dims are those "
        "of kernels");
}

int main(void)
{
    test_no_scores();
    test_what_is_read();
    test_who_decides();
    test_layers(two_layers);
    test_layers(halves);
    test_refused();
    return check_done();
}
