/* launches_test.c - small kernels that wait for nothing of each other are launched together, others are not;
 * launches keep every order that values ask for; what a launch took is shared by its kernels. */
/* ctest: fast */
#include "schedule/passes/launches.h"
#include "schedule/plan/hazard.h"
#include "schedule/nest/nest.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>
#include <stdlib.h>

static const node *input(graph *g, const char *label, int64_t rows, int64_t columns)
{
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {rows, columns}};
    return g_input(g, label, &t, NULL);
}

enum { PRODUCTS = 4 };
/* Products of four matrices with one, of which none waits for another, one below the other in a softmax */
static const node *products(graph *g)
{
    const node *of[PRODUCTS], *w = input(g, "w", 64, 64);
    for (int i = 0; i < PRODUCTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", i);
        of[i] = g_call2(g, "matmul", input(g, name, 64, 64), w);
    }
    return g_call1(g, "softmax", g_call(g, "concat axis=0", PRODUCTS, of));
}

static const node *large(graph *g) /* two products, of which each fills the device by itself */
{
    const node *w = input(g, "w", 4096, 4096);
    return g_call2(g, "matmul", g_call2(g, "matmul", input(g, "x", 4096, 4096), w),
                   g_call2(g, "matmul", input(g, "y", 4096, 4096), w));
}

static int row_of(const plan *p, int k)
{
    return k + p->kernel[k].joins;
}

static void check_order(const plan *p)
{
    hazards h = {0};
    for (int k = 0; k < p->n_kernel; k++)
        hazards_add_kernel(&h, p, &p->kernel[k]);
    for (int k = 0; k < p->n_kernel; k++) {
        const int row = row_of(p, k);
        CHECK(row >= k && row < p->n_kernel && !p->kernel[row].joins);
        CHECK(nest_group_lanes(p, &p->kernel[k]) == nest_group_lanes(p, &p->kernel[row]));
        for (int i = h.first[k]; i < h.first[k + 1]; i++)
            CHECK(row_of(p, h.wait[i]) < row);
    }
    hazards_join(&h, p);
    for (int k = 0; k < p->n_kernel; k++) {
        CHECK(!p->kernel[k].joins || h.first[k] == h.first[k + 1]);
        for (int i = h.first[k]; i < h.first[k + 1]; i++)
            CHECK(h.wait[i] < k && !p->kernel[h.wait[i]].joins);
    }
    hazards_free(&h);
}

static void check_shares(const plan *p)
{
    double *seconds = calloc((size_t)p->n_kernel + 1, sizeof *seconds), sum = 0, all = 0;
    MUST(seconds);
    for (int k = 0; k < p->n_kernel; k++)
        seconds[k] = p->kernel[k].joins ? 0 : k + 1, all += seconds[k];
    launches_share(p, seconds);
    for (int k = 0; k < p->n_kernel; k++)
        sum += seconds[k], CHECK(seconds[k] > 0);
    CHECK(sum > all * (1 - 1e-12) && sum < all * (1 + 1e-12));
    free(seconds);
}

static void try(maker *make, const char *on, const char *set, int together)
{
    planned b;
    if (make_plan(&b, &(setting){.make = make, .machine = on, .isa = set, .threads = 2})) {
        const int n = b.p->n_kernel, fewer = n - launches_count(b.p);
        if (!CHECK(fewer == together))
            printf("  %s: %d kernels, %d of them with others\n", on, n, fewer);
        check_order(b.p), check_shares(b.p);
    }
    free_plan(&b);
}

int main(void)
{
    try(products, "gpu:h100", NULL, PRODUCTS - 1);
    try(large, "gpu:h100", NULL, 0);
    try(products, two_cores, "avx2", 0);
    return check_done();
}
