/* null.c - a target that plans and runs nothing: schedules at full speed, for tests and for a look at a plan; for
 * hosts, and for cards that their text describes. */
#include "backends/cpu/cpu.h"
#include "backends/gpu/gpu.h"

static const target *described(arena *mem, const machine_options *asked, err *e)
{
    if (!gpu_is_text(asked->machine))
        return cpu_target(mem, asked, e);
    gpu_facts *f = arena_get(mem, sizeof *f);
    return gpu_read(f, asked->machine, e) ? gpu_target(mem, f, e) : NULL;
}

const backend backend_null = {
    .name = "null", .kinds = "cpu gpu", .target = described, .doc = "Plans and emits nothing, runs nothing."};
