/* Loops on a card when nobody said otherwise. */
/* ctest: fast */
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include "backends/gpu/figures.h"
#include "schedule/nest/nest.h"

static const char as_written[] = "{\"compute\":\"f32\"}"; /* not in fewer products */

static void guessed(maker *make, const char *card, const char *loops)
{
    planned b;
    text t = {0};
    if (make_plan(&b, &(setting){.make = make, .machine = card, .rules = as_written})) {
        const kernel *last = &b.p->kernel[b.p->n_kernel - 1];
        nest_print(&t, last->merges ? last - 1 : last, false); /* of sums in parts, what makes the parts */
        CHECK_TEXT(text_str(&t), loops);
    }
    text_free(&t);
    free_plan(&b);
}

static const node *input(graph *g, const char *label, int rank, int64_t a, int64_t b, int64_t c)
{
    const type t = {.dtype = TS_F32, .rank = rank, .dim = {a, b, c}};
    return g_input(g, label, &t, NULL);
}

static const node *large_points(graph *g)
{
    return g_call1(g, "tanh", input(g, "x", 2, 4096, 1024, 0));
}

static const node *odd_points(graph *g)
{
    return g_call1(g, "tanh", input(g, "x", 1, 1000003, 0, 0));
}

static const node *few_points(graph *g)
{
    return g_call1(g, "tanh", input(g, "x", 1, 100, 0, 0));
}

static const node *row_sums(graph *g)
{
    return g_call1(g, "sum axes=[-1]", input(g, "x", 2, 4096, 768, 0));
}

static const node *column_sums(graph *g)
{
    return g_call1(g, "sum axes=[0]", input(g, "x", 2, 4096, 768, 0));
}

static const node *turned(graph *g)
{
    return g_call1(g, "transpose", input(g, "x", 2, 4096, 768, 0));
}

static const node *pool(graph *g)
{
    const type t = {.dtype = TS_F32, .rank = 4, .dim = {1, 64, 112, 112}};
    return g_call1(g, "max_pool kernel=[3,3] strides=[2,2] pads=[1,1,1,1]", g_input(g, "x", &t, NULL));
}

static const node *rows(graph *g)
{
    return g_call1(g, "softmax axis=-1", input(g, "x", 2, 4096, 768, 0));
}

static const node *square(graph *g)
{
    return g_call2(g, "matmul", input(g, "a", 2, 4096, 4096, 0), input(g, "b", 2, 4096, 4096, 0));
}

/* Of a sum in parts a group writes its block once, however often it goes around along the sum. */
static void test_parts(void)
{
    planned b;
    gpu_figures f;
    double written = 0;
    if (make_plan(&b, &(setting){.make = deep, .machine = "gpu:h100", .rules = as_written})) {
        footprint bytes = {0};
        gpu_figures_find(b.p, b.p->kernel, &f, &bytes), footprint_free(&bytes);
        for (int i = 0; i < f.n_access; i++)
            written += f.access[i].load == MAX_LOADS ? f.access[i].times * 32 * (double)f.access[i].bytes : 0;
        CHECK(written == 32 * 64 * 4 && f.groups == 2 * 128);
    }
    free_plan(&b);
}

int main(void)
{
    guessed(large_points, "gpu:h100", "e/1024@block e/4@lane e@vector");
    guessed(odd_points, "gpu:h100", "e/1024@block e/4@lane e@vector");
    guessed(few_points, "gpu:h100", "e/32@block e@lane");
    guessed(row_sums, "gpu:h100", "r/4@block c/256 r@lane c/4@lane c@vector");
    guessed(column_sums, "gpu:h100", "r/32@block c/1024@block c/8 c@lane r@lane");
    guessed(turned, "gpu:h100", "r/32@block c/32@block+a@shared r/4@lane c@lane r@unroll");
    guessed(pool, "gpu:h100", "c@block oh/4@block kh kw oh@lane ow@lane");
    guessed(rows, "gpu:h100",
            "r@block ; max: c/4@lane c@vector ; exp: e/4@lane e@vector ; sum: c/4@lane c@vector ; divide: e/4@lane "
            "e@vector");
    guessed(square, "gpu:h100", "m/64@block n/128@block k/8+a@shared+b@shared k m/4@lane n/16@unroll n@lane m@unroll");
    guessed(product, "gpu:h100",
            "m/8@block n/16@block k/32+a@shared+b@shared k/8 k@lane m/2@lane n/4@unroll n@lane m@unroll");
    guessed(deep, "gpu:h100", "m/32@block k/128@block k/32+a@shared+b@shared k m/4@lane n/16@unroll n@lane m@unroll");
    guessed(convolution, "gpu:h100",
            "oc/2@block oh@block ow/4@block kh/2+b@shared+a@shared kh kw ic@lane oc@lane ow@lane");
    guessed(normalized, "gpu:h100",
            "r@block ; add: e/4@lane e@vector ; mean: c/4@lane c@vector ; subtract: e/4@lane e@vector ; mean2: "
            "c/4@lane c@vector ; add2: e/4@lane e@vector");
    guessed(attention, "gpu:h100",
            "h@block q/2@block ; matmul: k/4 k@lane q@lane n@lane ; max: q@lane c/4@lane c@vector ; exp: q@lane "
            "e/4@lane e@vector ; sum: q@lane c/4@lane c@vector ; divide: q@lane e/4@lane e@vector ; matmul2: k/4 "
            "k@lane q@lane n@lane");
    test_parts();
    return check_done();
}
