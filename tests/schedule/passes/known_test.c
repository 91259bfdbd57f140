/* What needs weights alone is computed when a program is loaded, with the same values, where that takes no more memory:
 * kernels that read inputs are left. */
#include "backends/cpu/cpu.h"
#include "schedule/make.h"
#include "tests/backends/row.h"
#include "tests/check.h"

#include <stdio.h>

typedef struct row {
    const char *text;
    int kernels, derived; /* in the plan: weights that are computed from others */
} row;

static const row rows[] = {
    /* parts of a weight in another order, as exporters leave those of recurrences; bytes far above 64 Ki elements */
    {"x f32[9,300]; w! f32[300,400]; p slice starts=[0,0] sizes=[300,100] w; q slice starts=[0,100] sizes=[300,300] w; "
     "c concat axis=1 q p; y matmul x c",
     1, 1},
    /* a product of weights is no larger than they are */
    {"x f32[9,80]; v! f32[80,80]; w! f32[80,80]; c matmul v w; y matmul x c", 1, 1},
    /* each of two readers takes it as it is */
    {"x f32[9,80]; z f32[9,80]; v! f32[80,80]; w! f32[80,80]; c add v w; p matmul x c; q matmul z c; y add p q", 2, 1},
    /* movement alone is a layout */
    {"x f32[9,300]; w! f32[200,300]; t transpose axes=[1,0] w; y matmul x t", 1, 0},
    /* but of a part there is none, and products want one */
    {"x f32[9,80]; w! f32[2,80,80]; p slice starts=[1,0,0] sizes=[1,80,80] w; r reshape shape=[80,80] p; y matmul x r",
     1, 1},
    {"x f32[90,80]; w! f32[200,80]; p slice starts=[3,0] sizes=[90,80] w; y add x p", 1, 0},
    /* it would take more memory than what it is computed from */
    {"x f32[90,80]; v! f32[90,1]; w! f32[1,80]; c multiply v w; y add x c", 1, 0},
    /* but a formula that a product reads is kept either way; one that is added is not */
    {"x f32[9,80]; i iota count=6400 to=f32; s add i i; c reshape shape=[80,80] s; y matmul x c", 1, 1},
    {"x f32[80,80]; i iota count=6400 to=f32; s add i i; c reshape shape=[80,80] s; y add x c", 1, 0},
    /* so little that it stays in the first cache */
    {"x f32[9,20]; v! f32[20]; w! f32[20]; c add v w; y add x c", 2, 0},
    /* places that data say may be wrong, which a run has to say */
    {"x f32[90,80]; v! f32[100,80]; i! i64[90]<5; c gather v i; y add x c", 1, 0},
};

static void test_plan(const row *r, ts_graph *g, ts_tensor y, bool as_given)
{
    machine on;
    target made;
    err e = {0};
    if (!CHECK(machine_load(&on, NULL, &e)))
        return;
    cpu_target_of(&made, &on, on.isa, 1);
    plan *p = plan_make(g, 1, &y, &(plan_options){.on = &made, .target = "c", .as_written = true, .as_given = as_given},
                        &e);
    int derived = 0;
    for (int i = 0; p && i < p->n_leaf; i++)
        derived += p->leaf[i].node->leaf->of != NULL;
    if (!CHECK(p && derived == (as_given ? 0 : r->derived) && (as_given || p->n_kernel == r->kernels)))
        printf("  %d weights are computed, %d kernels %s\n  %s\n", derived, p ? p->n_kernel : 0, e.text, r->text);
    plan_free(p);
}

static void test_row(const row *r)
{
    ts_graph *g = ts_graph_make();
    row_inputs in = {0};
    ts_array want = {0}, got = {0};
    ts_error e = {0};
    const ts_tensor y = row_build(g, r->text, 1, &in);
    if (CHECK(y != NULL)) {
        test_plan(r, g, y, true), test_plan(r, g, y, false);
        CHECK(ts_eval(1, &y, in.n, in.given, &(ts_options){.target = "interp"}, &want, &e));
        if (!CHECK(ts_eval(1, &y, in.n, in.given, &(ts_options){.target = "c"}, &got, &e)))
            printf("  %s\n", e.text);
        CHECK(row_differs(&want, &got, 0) < 0);
    }
    ts_array_free(&want), ts_array_free(&got);
    row_inputs_free(&in), ts_graph_free(g);
}

int main(void)
{
    for (int i = 0; i < COUNT(rows); i++)
        test_row(&rows[i]);
    return check_done();
}
