/* The guess for every problem that operations state, on a large card and on a tiny one: it is legal, its text reads
 * back, and a group of it fits a processor. */
#include "backends/gpu/gpu.h"
#include "graph/ir/problem.h"
#include "schedule/make.h"
#include "schedule/nest/nest.h"
#include "tests/check.h"

#include <stdio.h>

static int kernels, blocks, lanes;

static void reads_back(const plan *p, kernel *k)
{
    text first = {0}, second = {0};
    err e = {0};
    nest_print(&first, k, false);
    if (stage_nested(k->stage)) {
        kernel copy = *k;
        stage own[MAX_STAGES];
        for (int i = 0; i < k->n_stage; i++)
            own[i] = k->stage[i];
        copy.stage = own;
        if (CHECK(nest_parse(p->on, &copy, text_str(&first), &e)))
            nest_print(&second, &copy, false);
        else
            printf("  %s\n", e.text);
        CHECK_TEXT(text_str(&second), text_str(&first));
        kernels++, blocks += nest_parallel(k) >= 0, lanes += nest_group_lanes(p, k) > p->on->warp;
        CHECK(nest_group_lanes(p, k) <= p->on->group);
    }
    text_free(&first), text_free(&second);
}

static void plan_it(const target *on, const op *o, const char *line, size_t n)
{
    ts_graph *g = ts_graph_make();
    problem made;
    err e = {0};
    problem_build(g, o, line, n, TS_N_DTYPE, &made);
    if (made.y && ts_graph_ok(g, NULL)) {
        const node *root = made.y;
        plan *p = plan_make(g, 1, &root, &(plan_options){.on = on, .target = "null"}, &e);
        if (!CHECK(p != NULL))
            printf("  %s %.*s: %s\n", o->name, (int)n, line, e.text);
        for (int i = 0; p && i < p->n_kernel; i++)
            reads_back(p, &p->kernel[i]);
        plan_free(p);
    }
    ts_graph_free(g);
}

static void plan_all(const char *card)
{
    gpu_facts f;
    arena mem = {0};
    err e = {0};
    kernels = blocks = lanes = 0;
    const target *on = gpu_read(&f, card, &e) ? gpu_target(&mem, &f, &e) : NULL;
    CHECK(on != NULL);
    for (const op *o = op_next(NULL); on && o; o = op_next(o)) {
        const char *at = o->cases, *line;
        size_t n;
        while (at && (line = problem_next(&at, &n)))
            plan_it(on, o, line, n);
    }
    printf("%s: %d kernels, %d in several groups, %d of several warps\n", card, kernels, blocks, lanes);
    CHECK(kernels > 1000 && blocks > kernels / 8 && lanes > kernels / 200);
    arena_free(&mem);
}

int main(void)
{
    plan_all("gpu:h100");
    plan_all("gpu:tiny processor:2 lane:64(16) warp:4 group:4 register:2048(32) shared:4KB(2KB)");
    return check_done();
}
