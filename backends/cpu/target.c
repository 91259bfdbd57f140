/* target.c - the tables of a processor. */
#include "backends/cpu/cpu.h"
#include "backends/cpu/guess.h"

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

/* Rates of the third cache and of memory: `tessera doctor` on two cores of Zen 3 reads 67 to 73 and 32 to 38 GB/s where
 * it multiplies and adds 205 GFLOP/s of f32, which are 32 a cycle and core: 10.5 to 11.4 and 5 to 6 bytes a cycle, for
 * vectors of 32. Of the first two caches what the makers state, of which it reads two thirds to all. Wider vectors are
 * taken to come with wider paths. */
static void add_levels(target *t, const machine *on, int vector)
{
    static const struct {
        const char *name;
        tier_kind kind;
        int64_t otherwise; /* where the machine says nothing of it */
        double vectors;    /* that a core reads in a cycle, while all do */
    } caches[] = {[L1] = {"L1", TIER_L1D, 1 << 15, 2},
                  [L2] = {"L2", TIER_L2, 1 << 20, 1},
                  [L3] = {"L3", TIER_L3, 1 << 23, 0.367}};
    for (int i = 0; i < COUNT(caches); i++) {
        const tier *r = &on->tier[caches[i].kind];
        t->level[i] = (memory_level){.name = caches[i].name,
                                     .bytes = r->n ? r->bytes : caches[i].otherwise,
                                     .shared = i == L3,
                                     .bytes_per_cycle = caches[i].vectors * vector};
    }
    t->level[COUNT(caches)] = (memory_level){.name = "memory", .shared = true, .bytes_per_cycle = 0.1875 * vector};
    t->n_level = COUNT(caches) + 1;
    t->level[L1].repeats = 4096, t->level[L1].ways = 8; /* 64 sets of lines of 64 bytes, 8 to 12 ways */
}

static void print(const target *t, text *out)
{
    machine_print(out, cpu_machine(t));
}

void cpu_target_of(target *t, const machine *on, const isa *best, int threads)
{
    *t = (target){.kind = "cpu",
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
                  /* Zen 2 and later, Skylake and later: two units, four cycles */
                  .cost = {.fma_latency = 4,
                           .fma_per_cycle = 2,
                           .cycles_per_second = 3e9, /* whatever the clock: what other devices are held against */
                           .start_seconds = 1e-6,
                           .link_seconds = 1e-6,
                           .link_bytes_per_second = 10e9}, /* a copy in memory */
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
    add_levels(t, on, best->vector_bytes);
}

const target *cpu_target(arena *mem, const machine_options *asked, err *e)
{
    machine *on = arena_get(mem, sizeof *on);
    target *t = arena_get(mem, sizeof *t);
    const isa *best;
    int threads;
    if (!machine_load(on, asked->machine, e) || !(best = machine_isa(on, asked->isa, e)) ||
        !(threads = machine_threads(on, asked->threads, e)))
        return NULL;
    return cpu_target_of(t, on, best, threads), t;
}

const machine *cpu_machine(const target *t)
{
    return t->own;
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
    return isa_includes(isa_of_host(), cpu_isa(t)) ||
           err_set(e, TS_UNSUPPORTED, "the plan is for a machine with %s, which this one lacks", t->model);
}
