/* What the guess makes of products of integers on each instruction set, and what is refused. */
#include "graph/ir/rule.h"
#include "schedule/nest/nest.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>
#include <string.h>

static const node *product_of(graph *g, int64_t deep)
{
    const type a = {TS_U8, 2, {32, deep}}, b = {TS_I8, 2, {deep, 96}};
    return g_call2(g, "integer_matmul", g_leaf(g, op_find("input"), "x", &a, &(leaf){.kind = LEAF_INPUT}),
                   g_leaf(g, op_find("weight"), "w", &b, &(leaf){.kind = LEAF_WEIGHT}));
}

static const node *whole(graph *g)
{
    return product_of(g, 128);
}

static const node *odd(graph *g) /* sums of no multiple of what an instruction takes */
{
    return product_of(g, 127);
}

static void guessed(maker *make, const char *set, const char *end)
{
    planned b;
    text t = {0};
    if (make_plan(&b, &(setting){make, two_cores, set, NULL, 1}))
        nest_print(&t, &b.p->kernel[b.p->n_kernel - 1], false);
    const size_t n = strlen(text_str(&t)), m = strlen(end);
    if (!CHECK(n >= m && !strcmp(text_str(&t) + n - m, end)))
        printf("%s: %s\n", set, text_str(&t));
    text_free(&t), free_plan(&b);
}

/* what: the operation with what it multiplies, as rules name it */
static void refused(maker *make, const char *set, const char *what, const char *loops, const char *why)
{
    char rules[160], want[640];
    snprintf(rules, sizeof rules, "{\"loops\":\"%s\"}", loops);
    snprintf(want, sizeof want,
             "test.json:2:10 (/rules/0/loops): rule \"rule 0\" on %s: every alternative is refused:\n  loops \"%s\"%s\n"
             "  hint: add \"guess\" to its loops, or \"optional\": true to pass on to the next rule",
             what, loops, why);
    plan_is_refused(&(setting){make, two_cores, set, rules, 1}, TS_BAD_INPUT, want);
}

int main(void)
{
    guessed(whole, "avx512vnni", " k/16 k/4@unroll m@unroll n@vector k@dot");
    guessed(whole, "avx512", " k/8 k/2@unroll m@unroll n@vector k@dot");
    guessed(whole, "avx2", " k/8 k/2@unroll m@unroll n@vector k@dot");
    guessed(whole, "plain", " k/4 k@unroll m@unroll n@vector");
    guessed(odd, "avx512vnni", " k/4 k@unroll m@unroll n@vector");
    static const char takes[] =
        ": @dot takes a sum in i32 of products of u8 and i8, 4 at once along its only folded axis, of which there is a "
        "multiple; the vector loop walks the second operand";
    refused(whole, "plain", "integer_matmul w", "m n/8 k/4 n@vector k@dot", ": plain has no instruction for @dot");
    refused(whole, "avx512vnni", "integer_matmul w", "m n/16 k/8 n@vector k@dot", takes);
    refused(whole, "avx512vnni", "integer_matmul w", "m n/16 k/4 n@unroll k@dot",
            ", column 21: the dot loop must be within one over lanes");
    refused(small_product, "avx512vnni", "matmul ", "m n/16 k/4 n@vector k@dot", takes);
    return check_done();
}
