/* ctest: large O3
 * fuzz_test N SEED: N random graphs under random schedules, with any instruction set that is here and any number of
 * threads. The long run: fuzz_test 10000 1. */
#include "backends/cpu/cpu.h"
#include "tests/backends/fuzz.h"

#include <stdlib.h>

enum { DEFAULT_CASES = 48 };

static const target *settle(dice *d, arena *mem, ts_options *o)
{
    static const char *const isas[] = {"plain", "avx2", "avx512", "neon"};
    machine *on = arena_get(mem, sizeof *on);
    target *t = arena_get(mem, sizeof *t);
    err e = {0};
    if (!machine_load(on, NULL, &e))
        return NULL;
    do
        o->isa = isas[roll(d, COUNT(isas))];
    while (!isa_includes(on->isa, isa_find(o->isa)));
    o->threads = 1 + (int)roll(d, 5);
    cpu_target_of(t, on, isa_find(o->isa), o->threads);
    return t;
}

int main(int argc, char **argv)
{
    const fuzz_of c = {"c", NULL, settle, random_loops};
    return fuzz_run(&c, argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_CASES,
                    argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
}
