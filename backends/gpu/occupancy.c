/* occupancy.c - how many groups of a kernel a processor runs at the same time. */
#include "backends/gpu/gpu.h"

/* How devices with a capability hand out what they have ("Occupancy calculator", 8.0 to 9.0): registers to warps,
 * 256 at a time, to four warps at a time; shared memory 128 bytes at a time, and 1024 for each group itself: the rest
 * of a processor's a group may ask for (programming guide, "Shared Memory" of 8.x and 9.0). */
enum { REGISTERS_AT_ONCE = 256, WARPS_AT_ONCE = 4, SHARED_AT_ONCE = 128, SHARED_TAKEN = 1024, ASKS = 80 };

static int64_t whole(int64_t n, int64_t of) /* up to the next multiple */
{
    return (n + of - 1) / of * of;
}

static int64_t by_registers(const gpu_facts *f, const gpu_room *r, int64_t warps)
{
    const bool nvidia = f->capability != 0;
    const int64_t one = whole(r->registers * f->warp, nvidia ? REGISTERS_AT_ONCE : 1);
    if (r->registers > f->lane_registers)
        return 0;
    if (!f->registers || !one)
        return INT64_MAX;
    const int64_t fit = f->registers / one;
    return (nvidia ? fit / WARPS_AT_ONCE * WARPS_AT_ONCE : fit) / warps;
}

int64_t gpu_shared_most(const gpu_facts *f)
{
    const int64_t all = f->shared_all - SHARED_TAKEN;
    return f->capability >= ASKS && all > f->shared ? all : f->shared;
}

static int64_t by_shared(const gpu_facts *f, const gpu_room *r)
{
    const int64_t one = f->capability ? whole(r->shared, SHARED_AT_ONCE) + SHARED_TAKEN : r->shared;
    if (r->shared > gpu_shared_most(f))
        return 0;
    return f->shared_all && one ? f->shared_all / one : INT64_MAX;
}

void gpu_resident(const gpu_facts *f, gpu_room *r)
{
    const int64_t warps = (r->lanes + f->warp - 1) / f->warp;
    const struct {
        const char *what;
        int64_t groups;
    } by[] = {{"lanes", r->lanes > f->group ? 0
                        : f->lanes          ? f->lanes / (warps * f->warp)
                                            : 1},
              {"groups", f->groups ? f->groups : INT64_MAX},
              {"registers", by_registers(f, r, warps)},
              {"shared memory", by_shared(f, r)}};
    r->resident = INT64_MAX;
    for (int i = 0; i < COUNT(by); i++)
        if (by[i].groups < r->resident)
            r->resident = by[i].groups, r->limit = by[i].what;
}
