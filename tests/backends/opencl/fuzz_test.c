/* ctest: large timeout=900
 * fuzz_test N SEED: N random graphs under random schedules for groups of lanes. The long run: fuzz_test 1000 1. */
#include "backends/backend.h"
#include "tests/backends/fuzz.h"
#include "tests/backends/opencl/rig.h"

#include <stdlib.h>

enum { DEFAULT_CASES = 24 };

static const target *settle(dice *d, arena *mem, ts_options *o)
{
    err e = {0};
    const backend *by = backend_find(o->target, &e);
    (void)d;
    return by ? by->target(mem, &(machine_options){0}, &e) : NULL;
}

int main(int argc, char **argv)
{
    const fuzz_of opencl = {"opencl", settle, random_group_loops};
    rig_hurry();
    return fuzz_run(&opencl, argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_CASES,
                    argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
}
