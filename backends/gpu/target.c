/* target.c - the tables of a graphics processor. */
#include "backends/gpu/figures.h"
#include "backends/gpu/guess.h"

#include <string.h>

/* In the order of guess.h: the first one is what a loop without a role has. Loops over lanes are part of the register
 * tile: each lane holds what its own trips sum. A lane moves 16 bytes at once, of the smallest numbers 16 of them. */
static const role roles[] = {
    {.name = "serial", .implied = true, .done = "walked", .serial = true, .shared = true, .own = true, .folded = true},
    {.name = "block", .done = "dealt to the groups", .parallel = true, .shared = true, .parts = true, .outer = true},
    {.name = "lane",
     .done = "dealt to the lanes of a group",
     .in_registers = true,
     .group = true,
     .own = true,
     .folded = true},
    {.name = "warp",
     .done = "dealt to the warps of a group",
     .in_registers = true,
     .group = true,
     .warp = true,
     .own = true,
     .folded = true},
    {.name = "mma",
     .done = "taken by a matrix unit",
     .in_registers = true,
     .unit = true,
     .warp = true,
     .own = true,
     .folded = true},
    {.name = "unroll", .done = "unrolled", .in_registers = true, .own = true, .folded = true, .trips = 64},
    {.name = "vector",
     .done = "moved in vectors",
     .in_registers = true,
     .lanes = true,
     .own = true,
     .folded = true,
     .last = true,
     .trips = 16}};

enum { SLICES = 8 }; /* of an operand, at most */

static void prefetch(const plan *p, kernel *k) /* none: slices in shared memory are what comes ahead of its use */
{
    (void)p, (void)k;
}

static const guesser guess = {
    .shared = gpu_guess_shared, .stage = gpu_guess_stage, .prefetch = prefetch, .block = gpu_guess_block};

/* Bytes that a processor reads in a cycle: of its first cache and shared memory 32 banks of 4 (programming guide,
 * 5.x to 9.0); of the second 28, as an H100 PCIe gives its 114 at 1755 MHz 5.57 TB/s (Chips and Cheese, 2023). */
enum { L1_RATE = 128, L2_RATE = 28 };
/* To and from the host: what is left of 32 GB/s of sixteen lanes of the fourth generation, and what a driver takes to
 * begin a kernel, or a copy that is waited for. Only plans over several devices ask. */
static const double LINK_RATE = 25e9, LINK_START = 10e-6, START = 4e-6;

static void add_levels(target *t, const gpu_facts *f)
{
    const double rate = (double)f->bandwidth / (double)f->clock / f->processors;
    t->level[GPU_L1] = (memory_level){.name = "L1", .bytes = f->l1, .bytes_per_cycle = L1_RATE};
    t->level[GPU_L2] = (memory_level){
        .name = "L2", .bytes = f->l2, .shared = true, .bytes_per_cycle = rate > L2_RATE ? rate : L2_RATE};
    t->level[GPU_MEMORY] = (memory_level){
        .name = "memory", .bytes = f->memory, .shared = true, .bytes_per_cycle = rate};
    t->n_level = GPU_MEMORY + 1;
    t->near = GPU_L2; /* where groups find what another one has read */
}

static bool plausible(const gpu_facts *f, err *e)
{
    const struct {
        const char *what;
        int64_t value, least;
    } asked[] = {{"processors", f->processors, 1},
                 {"lanes in step", f->warp, 1},
                 {"lanes of a group", f->group, f->warp},
                 {"registers of a lane", f->lane_registers, 16},
                 {"bytes of shared memory", f->shared, 1024},
                 {"bytes of memory", f->memory, 1},
                 {"cycles a second", f->clock, 1},
                 {"bytes of memory a second", f->bandwidth, 1},
                 {"operations on f32 a second", f->f32, 1}};
    for (int i = 0; i < COUNT(asked); i++)
        if (asked[i].value < asked[i].least)
            return err_set(e, TS_BAD_INPUT, "machine %s: %lld %s, expected at least %lld", f->name,
                           (long long)asked[i].value, asked[i].what, (long long)asked[i].least);
    return true;
}

/* Warps have as many lanes as the card's. */
static const role *roles_of(arena *mem, const gpu_facts *f)
{
    role *all = arena_array(mem, COUNT(roles), sizeof *all);
    memcpy(all, roles, sizeof roles);
    for (int i = 0; i < COUNT(roles); i++)
        all[i].warp = all[i].warp ? f->warp : 0;
    return all;
}

/* Matrix units of warps, by the capability from which on they are there (PTX ISA, "mma"). Numbers of f32 lose all but
 * ten bits of their fraction in one: nothing takes it that does not say so. */
#define ALONE 0.62    /* of the rate, by instructions of one warp (Luo and others, as in guess.h) */
#define TOGETHER 0.95 /* the same of four warps together */
static const struct {
    int capability, last; /* 0: all later ones have it */
    matrix_unit unit;
} units[] = {{80, 0, {16, 8, 16, TS_BF16, TS_F32, 4, 0, ALONE}},
             {80, 0, {16, 8, 16, TS_F16, TS_F32, 4, 0, ALONE}},
             {80, 0, {16, 8, 8, TS_F32, TS_F32, 4, 0, ALONE}},
             /* Of four warps together ("wgmma") */
             {90, 90, {16, 32, 16, TS_BF16, TS_F32, 16, 4, TOGETHER}},
             {90, 90, {16, 64, 16, TS_BF16, TS_F32, 32, 4, TOGETHER}},
             {90, 90, {16, 128, 16, TS_BF16, TS_F32, 64, 4, TOGETHER}},
             {90, 90, {16, 256, 16, TS_BF16, TS_F32, 128, 4, TOGETHER}},
             {90, 90, {16, 32, 16, TS_F16, TS_F32, 16, 4, TOGETHER}},
             {90, 90, {16, 64, 16, TS_F16, TS_F32, 32, 4, TOGETHER}},
             {90, 90, {16, 128, 16, TS_F16, TS_F32, 64, 4, TOGETHER}},
             {90, 90, {16, 256, 16, TS_F16, TS_F32, 128, 4, TOGETHER}},
             {90, 90, {16, 32, 8, TS_F32, TS_F32, 16, 4, TOGETHER}},
             {90, 90, {16, 64, 8, TS_F32, TS_F32, 32, 4, TOGETHER}},
             {90, 90, {16, 128, 8, TS_F32, TS_F32, 64, 4, TOGETHER}},
             {90, 90, {16, 256, 8, TS_F32, TS_F32, 128, 4, TOGETHER}}};

/* Of tensor maps (driver API, cuTensorMapEncodeTiled), and a barrier in shared memory */
static const box_limits boxes = {.dims = 5, .count = 256, .grain = 16, .barrier = 8};
enum { COPIES_BOXES = 90 };

const target *gpu_target_with_units(arena *mem, const gpu_facts *f, int operands, const char *no_boxes, err *e)
{
    const target *plain = gpu_target_for(mem, f, operands, e);
    memory_space *shared = arena_get(mem, sizeof *shared);
    matrix_unit *have = arena_array(mem, COUNT(units), sizeof *have);
    target *t = plain ? arena_get(mem, sizeof *t) : NULL;
    if (!t)
        return NULL;
    *shared = *plain->space, shared->bytes = gpu_shared_most(f);
    *t = *plain, t->unit = have, t->space = shared, t->shuffles = true;
    for (int i = 0; i < COUNT(units); i++)
        if (f->capability >= units[i].capability && (!units[i].last || f->capability <= units[i].last))
            have[t->n_unit++] = units[i].unit;
    t->no_boxes = f->capability < COPIES_BOXES ? "cards before capability 9.0 copy none by themselves" : no_boxes;
    t->boxes = t->no_boxes ? NULL : &boxes;
    return t;
}

static void print(const target *t, text *out)
{
    gpu_print(out, gpu_facts_of(t));
}

const target *gpu_target_for(arena *mem, const gpu_facts *f, int operands, err *e)
{
    memory_space *shared = arena_get(mem, sizeof *shared);
    target *t = arena_get(mem, sizeof *t);
    if (!plausible(f, e))
        return NULL;
    *shared = (memory_space){.name = "shared",
                             .copied = true,
                             .shared = true,
                             .least = 1,
                             .most = SLICES,
                             .bytes = f->shared,
                             .level = GPU_L1};
    *t = (target){.kind = "gpu",
                  .model = f->name,
                  .n_role = COUNT(roles),
                  .role = roles_of(mem, f),
                  .n_space = 1,
                  .space = shared,
                  .workers = f->processors,
                  .places = f->processors,
                  .group = f->group,
                  .warp = f->warp,
                  .shuffles = f->subgroup > 1,
                  .side_by_side = true,
                  .streams = MAX_STREAM,
                  .loops = true,
                  .operands = operands,
                  .line = 128,
                  .align = 256,
                  .n_register = f->lane_registers,
                  /* Four cycles from one multiply-add to the next that needs it (Jia and others, "Dissecting the NVIDIA
                   * Volta GPU architecture via microbenchmarking", 2018) */
                  .cost = {.fma_latency = 4,
                           .fma_per_cycle = (double)f->f32 / 2 / (double)f->clock / f->processors,
                           .cycles_per_second = (double)f->clock,
                           .start_seconds = START,
                           .link_seconds = LINK_START,
                           .link_bytes_per_second = LINK_RATE},
                  .guess = &guess,
                  .explain = gpu_explain,
                  .print = print,
                  .own = f};
    for (int d = 0; d < TS_N_DTYPE; d++) /* a register is of one lane */
        t->lanes[d] = 1;
    add_levels(t, f);
    return t;
}

const target *gpu_target(arena *mem, const gpu_facts *f, err *e)
{
    return gpu_target_for(mem, f, 0, e);
}

bool gpu_fits(const char *planned, const char *here, int n, const gpu_need *need, err *e)
{
    for (int i = 0; i < n; i++)
        if (need[i].planned > need[i].here) {
            err_set(e, TS_DEVICE, "kernels for %s may be too large: its groups have up to %lld %s, those of %s %lld",
                    planned, (long long)need[i].planned, need[i].what, here, (long long)need[i].here);
            return err_hint(e, "plan for the device that is here: without --machine");
        }
    return true;
}

const gpu_facts *gpu_facts_of(const target *t)
{
    return t->own;
}
