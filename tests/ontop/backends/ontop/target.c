/* target.c - groups of four hands each: roles, spaces and a matrix unit that no other target has. */
#include "backends/ontop/ontop.h"
#include "schedule/nest/nest.h"

enum { SERIAL, HOPS, SKEW, DEALT }; /* the first of these */
static const role roles[] = {
    {.name = "serial", .implied = true, .done = "walked", .serial = true, .shared = true, .own = true, .folded = true},
    {.name = "hops", .done = "walked in hops", .serial = true, .shared = true, .own = true, .folded = true},
    {.name = "skew", .done = "shared within a group", .serial = true, .shared = true, .own = true},
    {.name = "group", .done = "dealt to groups", .parallel = true, .shared = true, .most = 1},
    {.name = "copies", .done = "copied", .in_registers = true, .own = true, .folded = true, .trips = 16},
    {.name = "lanes",
     .done = "in lanes",
     .in_registers = true,
     .lanes = true,
     .own = true,
     .folded = true,
     .last = true},
    {.name = "fours",
     .done = "taken by fours",
     .in_registers = true,
     .unit = true,
     .warp = 4,
     .own = true,
     .folded = true}};
static const memory_space spaces[] = {{.copied = true, .least = 1, .most = 1},
                                      {.name = "desk", .copied = true, .shared = true, .least = 1, .most = 1}};

static const matrix_unit units[] = {
    {.m = 4, .n = 4, .k = 4, .operand = TS_F32, .sum = TS_F32, .sums = 4, .reached = 1}};

static void guess_shared(const plan *p, const kernel *k, nesting *b)
{
    (void)p;
    for (int a = 0; a < k->n_shared; a++)
        nest_put(b, a, 1, a ? SERIAL : DEALT);
}

static void guess_stage(const plan *p, const kernel *k, int which, nesting *b, text *second)
{
    const stage *s = &k->stage[which];
    (void)p, (void)second;
    for (int a = k->n_stage > 1 ? s->n_shared : 0; a < s->n_axis; a++)
        nest_put(b, a, 1, s->folds >> a & 1 ? HOPS : k->n_stage == 1 && !a ? DEALT : SERIAL);
}

static void guess_prefetch(const plan *p, kernel *k)
{
    (void)p, (void)k;
}

static const guesser guess = {.shared = guess_shared, .stage = guess_stage, .prefetch = guess_prefetch};

const target *ontop_target(arena *mem, const machine_options *asked, err *e)
{
    target *t = arena_get(mem, sizeof *t);
    (void)asked, (void)e;
    *t = (target){
        .kind = "ontop",
        .model = "ontop",
        .n_role = COUNT(roles),
        .role = roles,
        .n_space = COUNT(spaces),
        .space = spaces,
        .n_unit = COUNT(units),
        .unit = units,
        .n_level = 2,
        .level = {{.name = "desk", .bytes = 1 << 16, .repeats = 4096, .ways = 8}, {.name = "memory", .shared = true}},
        .workers = 3,
        .places = 1,
        .group = 4,
        .warp = 4,
        .line = 64,
        .align = 64,
        .n_register = 16,
        .cost = {.fma_latency = 4, .fma_per_cycle = 1},
        .guess = &guess};
    for (int d = 0; d < TS_N_DTYPE; d++)
        t->lanes[d] = 4;
    return t;
}
