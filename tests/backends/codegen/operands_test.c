/* Kernels keep to as many operands as the target's take: sums of many values become several, and a kernel that has more
 * is refused. */
/* ctest: fast */
#include "backends/codegen/codegen.h"
#include "backends/gpu/gpu.h"
#include "schedule/make.h"
#include "tests/check.h"

#include <stdio.h>

enum { MANY = 300, MOST = 20 };

static plan *sum_of_many(graph *g, const target *on)
{
    const int64_t four[] = {4};
    ts_tensor y = NULL;
    err e = {0};
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", i);
        const ts_tensor x = ts_input(g, name, TS_F32, 1, four);
        y = y ? ts_call2(g, "add", y, x) : x;
    }
    plan *p = plan_make(g, 1, &y, &(plan_options){.on = on, .target = "null"}, &e);
    if (!CHECK(p != NULL))
        printf("  %s\n", e.text);
    return p;
}

int main(void)
{
    arena mem = {0};
    gpu_facts f;
    err e = {0};
    graph *g = ts_graph_make();
    CHECK(gpu_read(&f, "gpu:h100", &e));
    const target *any = gpu_target(&mem, &f, &e), *few = gpu_target_for(&mem, &f, MOST, &e);
    plan *p = sum_of_many(g, any), *q = sum_of_many(g, few);
    if (p && q) {
        CHECK(p->n_kernel < MANY / MOST && q->n_kernel >= MANY / MOST);
        for (int k = 0; k < q->n_kernel; k++)
            CHECK(kernel_operands_fit(few, &q->kernel[k], &e));
        CHECK(kernel_operands_fit(any, &p->kernel[0], &e) && !err_is(&e));
        CHECK(p->n_kernel == 1 && !kernel_operands_fit(few, &p->kernel[0], &e) && e.code == TS_UNSUPPORTED);
        CHECK_TEXT(e.text, "add: a kernel of 301 operands, h100 takes 20");
    }
    plan_free(p), plan_free(q), ts_graph_free(g), arena_free(&mem);
    return check_done();
}
