/* From a file of either format to a plan: free dimensions are 3, memory is scarce. */
#include "tests/fuzz/mutate.h"

#include <stdio.h>

enum { MOST_DIMS = 16 };

static int dims_of(const ts_model *m, arena *mem, const char *out[MOST_DIMS])
{
    ts_port p;
    int n = 0;
    for (int i = 0; ts_model_input(m, i, &p); i++)
        for (int k = 0; k < p.rank; k++)
            if (p.symbol[k] && p.dim[k] < 0 && n < MOST_DIMS)
                out[n++] = arena_format(mem, "%s=3", p.symbol[k]);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    err e = {0};
    arena mem = {0};
    const char *dims[MOST_DIMS];
    ts_model *m = ts_model_open_within(fuzz_file(data, size), FUZZ_LIMITS, &e);
    const ts_options options = {
        .target = "null", .machine = FUZZ_MACHINE, .threads = 2, .mem_limit = "64M", .isa = "avx512"};
    ts_plan *p = m && ts_model_bind(m, dims_of(m, &mem, dims), dims, NULL, &e) ? ts_plan_make(m, &options, &e) : NULL;
    if (p)
        ts_free(ts_plan_json(p, &e));
    else
        fuzz_refused(&e);
    ts_plan_free(p);
    ts_model_free(m);
    arena_free(&mem);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed)
{
    return mutate(n > 0 && *data == '{' ? mutate_json : mutate_wire, data, n, most, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n, const uint8_t *b, size_t m, uint8_t *out, size_t most,
                                 unsigned seed)
{
    return mutate_cross(n > 0 && *a == '{' ? mutate_json : mutate_wire, (const piece[]){{a, n}, {b, m}}, out, most,
                        seed);
}
