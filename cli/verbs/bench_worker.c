/* bench_worker.c - the hidden verb that bench starts once per contestant. */
#include "bench/bench.h"
#include "cli/args.h"

static int run(const args *a, ts_error *e)
{
    (void)a, (void)e;
    char name[] = "bench-worker", *argv[] = {name, NULL};
    return bench_worker(1, argv);
}

const verb verb_bench_worker = {
    .name = "bench-worker",
    .brief = "Time one contestant, by commands on standard input",
    .usage = "",
    .examples = "tessera bench-worker # started by tessera bench",
    .run = run,
    .hidden = true,
};
