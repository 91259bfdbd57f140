/* Plans run kernel by kernel: a kernel's time is the median over the repeats, and fewer than one repeat is refused. The
 * target is one whose kernels take what this file says. */
/* ctest: fast */
#include "backends/driver.h"
#include "tests/check.h"
#include "graph/base/clock.h"

#include <math.h>
#include <time.h>

static const double pause[] = {0, 0.08, 0.02}; /* of the runs, in turn */
enum { RUNS = sizeof pause / sizeof *pause };
static double took[RUNS];
static int ran;

static bool each(program *g, void *const *input, void (*after)(void *user, int kernel), void *user, err *e)
{
    (void)g, (void)input, (void)e;
    const double start = seconds_now();
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * pause[ran])}, NULL);
    after(user, 0);
    took[ran++] = seconds_now() - start;
    return true;
}

static void test_times(ts_plan *p)
{
    err e = {0}, f = {0};
    double seconds = -1;
    CHECK(!ts_plan_profile(p, 0, &seconds, 1, &e) && e.code == TS_USAGE);
    CHECK_TEXT(e.text, "0 repeats: 1 is the least");
    CHECK(!ts_plan_profile(p, -1, &seconds, 1, &f) && f.code == TS_USAGE);
    const double slack = 0.01; /* from the pass's end to the clock here */
    for (int n = 1; n <= RUNS; n++) {
        ran = 0;
        CHECK(ts_plan_profile(p, n, &seconds, 1, &(err){0}) && ran == n);
        const double want = n == 1 ? took[0] : n == 2 ? (took[0] + took[1]) / 2 : took[2];
        CHECK(fabs(seconds - want) < slack);
    }
}

int main(void)
{
    err e = {0};
    ts_graph *g = ts_graph_make();
    ts_tensor y = ts_call1(g, "exp", ts_weight(g, "w", TS_F32, 1, (int64_t[]){4}, 0, 1, 1));
    ts_plan *p = ts_plan_of(g, 1, &y, 0, NULL, &(ts_options){.target = "interp"}, &e);
    if (CHECK(p && ts_plan_build(p, &e) && p->plan->n_kernel == 1)) {
        const backend *own = p->target;
        backend paused = *own;
        paused.kernels = &(by_kernel){.each = each};
        p->by = &paused;
        test_times(p);
        p->by = own;
    }
    ts_plan_free(p);
    ts_graph_free(g);
    return check_done();
}
