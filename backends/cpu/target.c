/* target.c - the tables of a processor. */
#include "backends/cpu/cpu.h"
#include "backends/cpu/guess.h"

#include <math.h>

/* In the order of guess.h: the first one is what a loop without a role has. More than 64 copies of a loop's body are no
 * faster than fewer, and the compiler takes minutes over them. */
static const role roles[] = {
    {.name = "serial", .implied = true, .done = "walked", .serial = true, .shared = true, .own = true, .folded = true},
    {.name = "core", .done = "spread over the cores", .parallel = true, .shared = true, .parts = true, .most = 1},
    {.name = "unroll", .done = "unrolled", .in_registers = true, .own = true, .folded = true, .trips = 64},
    {.name = "vector",
     .done = "walked in vectors",
     .in_registers = true,
     .lanes = true,
     .own = true,
     .folded = true,
     .last = true},
    {.name = "dot",
     .done = "multiplied at once",
     .in_registers = true,
     .dot = true,
     .own = true,
     .folded = true,
     .last = true}};

/* By how many products: pairs of whole numbers of 16 bits, or four of 8 */
static const dot_form dots[] = {{2, TS_I16, TS_I8}, {4, TS_U8, TS_I8}};

const memory_space cpu_space[] = {[CPU_COPY] = {.copied = true, .least = 1, .most = 1, .level = L1},
                                  [CPU_L1] = {.name = "l1", .least = 2, .most = 8, .level = L1, .number = 1},
                                  [CPU_L2] = {.name = "l2", .least = 2, .most = 8, .level = L2, .number = 2},
                                  [CPU_NTA] = {.name = "nta", .least = 2, .most = 8, .level = L1, .number = 3}};

static const guesser guess = {
    .shared = guess_shared, .stage = guess_stage, .prefetch = guess_prefetch, .block = guess_block};

static double cycle(const rates *r, rate_kind k)
{
    return (double)r->at[k] / 100;
}

static void add_levels(target *t, const machine *on, const rates *r)
{
    static const struct {
        const char *name;
        tier_kind kind;
        int64_t otherwise; /* where the machine says nothing of it */
        rate_kind read, passed;
    } caches[] = {[L1] = {"L1", TIER_L1D, 1 << 15, RATE_L1, RATE_NEAR},
                  [L2] = {"L2", TIER_L2, 1 << 20, RATE_L2, RATE_NEAR},
                  [L3] = {"L3", TIER_L3, 1 << 23, RATE_L3, RATE_FAR}};
    for (int i = 0; i < COUNT(caches); i++) {
        const tier *c = &on->tier[caches[i].kind];
        t->level[i] = (memory_level){.name = caches[i].name,
                                     .bytes = c->n ? c->bytes : caches[i].otherwise,
                                     .shared = i == L3,
                                     .bytes_per_cycle = cycle(r, caches[i].read),
                                     .passed_per_cycle = cycle(r, caches[i].passed)};
    }
    t->level[COUNT(caches)] = (memory_level){.name = "memory",
                                             .shared = true,
                                             .bytes_per_cycle = cycle(r, RATE_MEMORY),
                                             .passed_per_cycle = cycle(r, RATE_FAR)};
    t->n_level = COUNT(caches) + 1;
    t->level[L1].repeats = 4096, t->level[L1].ways = 8; /* 64 sets of lines of 64 bytes, 8 to 12 ways */
}

static const machine *cpu_machine(const target *t)
{
    return t->own;
}

static void print(const target *t, text *out)
{
    machine_print(out, cpu_machine(t));
}

/* The tile that is measured has its next loads in the best places; those that compilers make, of any shape, hide less.
 * On one core of a Xeon with AVX2 it shows 3 %, and tiles chosen by that, of eight sums, take MiniLM 30 ms; by 25 %
 * 27.7. */
static const double compiled = 0.25;

/* Elements that a core multiplies and adds a cycle, in bytes: a set of shorter vectors may do as much by two of them */
static int64_t bytes_a_cycle(const machine *on, const isa *of)
{
    return machine_rates(on, of).at[RATE_FMA] * of->vector_bytes;
}

void cpu_target_of(target *t, const machine *on, const isa *best, int threads)
{
    const rates r = machine_rates(on, best);
    const double clock = (double)r.at[RATE_CLOCK] * 1e6, start = (double)r.at[RATE_START] * 1e-9;
    const isa *half = best;
    while (half->under && half->vector_bytes == best->vector_bytes)
        half = half->under;
    *t = (target){.kind = "cpu",
                  .halves = 2 * half->vector_bytes == best->vector_bytes &&
                            bytes_a_cycle(on, half) >= bytes_a_cycle(on, best),
                  .named = true,
                  .model = best->name,
                  .n_role = COUNT(roles),
                  .role = roles,
                  .n_space = COUNT(cpu_space),
                  .space = cpu_space,
                  .near = L2,
                  .workers = threads,
                  .places = on->n_core,
                  .line = on->line,
                  .align = best->vector_bytes,
                  .n_register = best->n_register,
                  .passes_last = on->nta,
                  .team = true,
                  .loops = true,
                  .cost = {.fma_latency = (double)r.at[RATE_LATENCY],
                           .fma_per_cycle = cycle(&r, RATE_FMA),
                           .exposed = fmax(cycle(&r, RATE_SEEN), compiled),
                           .shown = cycle(&r, RATE_SEEN),
                           .cycles_per_second = clock,
                           .start_seconds = start,
                           .link_seconds = start,
                           /* a copy in memory reads and writes */
                           .link_bytes_per_second = cycle(&r, RATE_MEMORY) * clock / 2},
                  .dot = best->dot == 4   ? &dots[1]
                         : best->dot == 2 ? &dots[0]
                                          : NULL,
                  .guess = &guess,
                  .print = print,
                  .own = on};
    for (int d = 0; d < TS_N_DTYPE; d++) /* what is smaller is computed in 4 bytes */
        t->lanes[d] = best->vector_bytes / (ts_dtype_bytes((dtype)d) == 8 ? 8 : 4);
    while (t->align < on->line)
        t->align *= 2;
    add_levels(t, on, &r);
}

const target *cpu_target_on(arena *mem, const machine *on, const machine_options *asked, err *e)
{
    target *t = arena_get(mem, sizeof *t);
    machine *part = asked->part ? arena_get(mem, sizeof *part) : NULL;
    const isa *best;
    int threads;
    if (part) {
        *part = *on, on = part;
        if (!machine_part(part, asked->part, e))
            return NULL;
    }
    if (!(best = machine_isa(on, asked->isa, e)) || !(threads = machine_threads(on, asked->threads, e)))
        return NULL;
    return cpu_target_of(t, on, best, threads), t;
}

const target *cpu_target(arena *mem, const machine_options *asked, err *e)
{
    machine *on = arena_get(mem, sizeof *on);
    return machine_load(on, asked->machine, e) ? cpu_target_on(mem, on, asked, e) : NULL;
}

/* One thread has nobody to wait for, and goes where there is room, but for one of a part. */
const int *cpu_pins(const target *t, int threads)
{
    const machine *m = cpu_machine(t);
    return threads <= m->n_core && (threads > 1 || m->part) ? m->os : NULL;
}

const isa *cpu_isa(const target *t)
{
    return isa_find(t->model);
}

void cpu_here(const target *t, target *out)
{
    const isa *own = cpu_isa(t);
    while (!isa_includes(isa_of_host(), own))
        own = own->under;
    cpu_target_of(out, cpu_machine(t), own, t->workers);
}

bool cpu_runs(const target *t, err *e)
{
    const isa *own = isa_of_host();
    return isa_includes(own, cpu_isa(t)) ||
           (err_set(e, TS_UNSUPPORTED, "the plan is for a machine with %s, which this one lacks", t->model),
            err_hint(e, "this one has %s: --isa %s plans for that", own->name, own->name));
}
