/* figures.c - what a kernel comes to: its groups and lanes, what bounds it, and the time that follows. */
#include "backends/gpu/figuring.h"
#include "backends/gpu/guess.h"

#include <math.h>

bool gpu_by_unit(const stage *s, unit_loops *u)
{
    return nest_unit(s, u) && s->nest.loop[u->loop[0]].role->warp;
}

/* ---- the time ---- */
/* Cycles of one processor for the kernel's arithmetic: each stage at the rate of its matrix unit, or of lanes. */
static double products_of(const figuring *c)
{
    double operations = 0, cycles = 0;
    for (int i = 0; i < c->k->n_stage; i++) {
        const stage *s = &c->k->stage[i];
        unit_loops u;
        const matrix_unit *v = gpu_by_unit(s, &u) ? nest_unit_row(c->p, s, &u) : NULL;
        const double own = stage_flops(s);
        operations += own, cycles += own / 2 / (v ? gpu_unit_rate(c->p, v) : c->p->on->cost.fma_per_cycle);
    }
    return operations > 0 ? cycles * c->k->flops / operations : 0; /* what masks leave out takes none */
}

static void find_time(const figuring *c, const touching *told)
{
    enum { STORE = 1 }; /* of a group: of its results */
    gpu_figures *f = c->f;
    const target *t = c->p->on;
    const gpu_facts *card = gpu_facts_of(t);
    const double each = ceil(f->groups / card->processors), resident = f->room.resident ? (double)f->room.resident : 1;
    f->products = each * products_of(c) / f->groups;
    f->shared = each * f->banks;
    f->cache = each * f->moved / t->level[GPU_L2].bytes_per_cycle;
    f->memory = fmax(told->footprint->traffic[GPU_L2], c->k->bytes) / t->level[GPU_MEMORY].bytes_per_cycle /
                card->processors;
    f->latency = ceil(each / resident) * (told->waits / f->groups + STORE) * GPU_LATENCY;
    const struct {
        const char *what;
        double cycles;
    } of[] = {{"products", f->products},
              {"shared memory", f->shared},
              {"cache", f->cache},
              {"memory", f->memory},
              {"latency", f->latency}};
    double most = -1, all = 0;
    for (int i = 0; i < COUNT(of); i++) {
        all += of[i].cycles;
        if (of[i].cycles > most)
            most = of[i].cycles, f->bound = of[i].what;
    }
    f->seconds = (most + (all - most) / GPU_BESIDE) / (double)card->clock;
}

/* Of a lane; an assembler gives it no more than there are. */
static int64_t registers_of(const op_counts *n, const gpu_facts *card)
{
    double most = 1;
    for (int i = 0; i < MAX_STAGES; i++)
        most = fmax(most, n->registers[i]);
    return int_min((int64_t)ceil(most), card->lane_registers);
}

void gpu_figures_find(const plan *p, const kernel *k, gpu_figures *f, footprint *bytes)
{
    const gpu_facts *card = gpu_facts_of(p->on);
    *f = (gpu_figures){.groups = (double)nest_parts(k), .lanes = nest_group_lanes(p, k)};
    const assembled *made = &k->made;
    figuring all = {.p = p, .k = k, .f = f};
    touching told = {.each = figure_touch, .user = &all, .footprint = bytes};
    f->written = p->on->touch && p->on->touch(p, k, &told);
    f->counts = told.counts;
    f->foretold = f->room = (gpu_room){
        .lanes = f->lanes, .registers = registers_of(&told.counts, card), .shared = told.shared};
    if (made->registers)
        f->room.registers = made->registers, f->room.shared = made->shared;
    gpu_resident(card, &f->room);
    const double at_once = (double)(f->room.resident * card->processors);
    f->occupancy = card->lanes ? (double)(f->room.resident * f->lanes) / card->lanes : 0;
    f->waves = at_once > 0 ? ceil(f->groups / at_once) : 0;
    f->last = at_once > 0 ? (f->groups - (f->waves - 1) * at_once) / at_once : 0;
    f->moved /= f->groups, f->asked /= f->groups, f->banks /= f->groups, f->banks_least /= f->groups;
    for (int i = 0; i < f->n_access; i++)
        f->access[i].times /= f->groups;
    find_time(&all, &told);
}
