/* ctest: large Og unkept
 * scan_test.c - loops on an OpenCL device: trips, trips within trips, early ends, and gradients, each launched with
 * places that move; what is around them stays there. */
#include "backends/driver.h"
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"
#include "tests/scans.h"

#include <stdio.h>

/* Nothing of it is the processor's. */
static void check_here(void *user, const char *name, const scans_case *c)
{
    const ts_options *o = user;
    ts_error e = {0};
    ts_plan *p = ts_plan_of(c->g, c->n, c->out, 0, NULL, o, &e);
    if (!CHECK(p && p->plan->n_site == 0))
        fprintf(stderr, "%s on %s: %s\n", name, o->target, e.text);
    ts_plan_free(p);
}

int main(void)
{
    static const scans_on on[] = {{{.target = "opencl", .cache_folder = "none"}, false, 1}};
    const int skip = rig_opencl();
    if (skip)
        return skip;
    scans_check(COUNT(on), on);
    scans_each(check_here, (void *)(uintptr_t)&on->options);
    scans_check_keep(3, true, &on->options);
    scans_check_outside(&on->options);
    return check_done();
}
