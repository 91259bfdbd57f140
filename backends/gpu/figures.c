/* figures.c - what a kernel comes to: its groups and lanes, what bounds it, and the time that follows. */
#include "backends/gpu/figuring.h"
#include "backends/gpu/guess.h"
#include "schedule/nest/fit.h"
#include "schedule/nest/kept.h"

#include <math.h>

bool gpu_by_unit(const stage *s, unit_loops *u)
{
    return nest_unit(s, u) && s->nest.loop[u->loop[0]].role->warp;
}

/* What a matrix unit multiplies */
static void add_fragments(const figuring *c)
{
    const stage *s = c->s;
    const staging *staged[MAX_LOADS] = {NULL};
    unit_loops u;
    for (int i = 0; i < s->n_staging; i++)
        if (staging_copies(&s->staging[i]))
            staged[s->staging[i].load] = &s->staging[i];
    for (int i = 0; i < 2 && gpu_by_unit(s, &u); i++)
        if (u.load[i] >= 0 && (staged[u.load[i]] || kept_by(c->k, s, u.load[i]) >= 0))
            figure_fragments(c, u.load[i], staged[u.load[i]], &u);
}

/* ---- the time ---- */
/* Waits for memory, one after the other: a slice for each trip of its loop, and what is read where it lies four trips
 * at a time. */
static double waits(const plan *p, const kernel *k)
{
    enum { AT_ONCE = 4, STORE = 1 };
    double sum = STORE;
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        double copies = 0;
        for (int j = 0; j < s->n_staging; j++)
            if (staging_copies(&s->staging[j]))
                copies = fmax(copies, s->staging[j].shared ? 1 : trips_own(k, s, s->staging[j].loop + 1));
        sum += trips_shared(k, k->shared.n) * (copies > 0 ? copies : ceil(trips_own(k, s, nest_unrolled(s)) / AT_ONCE));
    }
    (void)p;
    return sum;
}

/* Cycles of one processor for all operations of the kernel: each stage at the rate of the unit that forms its products,
 * or of lanes. */
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

static void find_time(const figuring *c)
{
    gpu_figures *f = c->f;
    const target *t = c->p->on;
    const gpu_facts *card = gpu_facts_of(t);
    const double each = ceil(f->groups / card->processors), resident = f->room.resident ? (double)f->room.resident : 1;
    f->products = each * products_of(c) / f->groups;
    f->shared = each * f->banks;
    f->cache = each * f->moved / t->level[GPU_L2].bytes_per_cycle;
    f->memory = fmax(fit_traffic(c->p, c->k, GPU_L2), c->k->bytes) / t->level[GPU_MEMORY].bytes_per_cycle /
                card->processors;
    f->latency = ceil(each / resident) * waits(c->p, c->k) * GPU_LATENCY;
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

void gpu_figures_find(const plan *p, const kernel *k, gpu_figures *f)
{
    const gpu_facts *card = gpu_facts_of(p->on);
    const nest *outer = nest_outer(k);
    *f = (gpu_figures){.groups = 1, .lanes = nest_group_lanes(p, k)};
    for (int l = 0; l < outer->n; l++)
        f->groups *= trips_dealt(&outer->loop[l]) ? (double)loop_trips(&outer->loop[l]) : 1;
    f->groups = f->groups < 1 ? 1 : f->groups;
    const assembled *made = &k->made;
    figuring all = {.p = p, .k = k, .f = f};
    touching told = {.each = figure_touch, .user = &all};
    if (p->on->touch)
        p->on->touch(p, k, &told);
    f->room = (gpu_room){.lanes = f->lanes,
                         .registers = made->registers ? made->registers : room_registers(&all, &told),
                         .shared = made->registers ? made->shared : told.shared};
    gpu_resident(card, &f->room);
    const double at_once = (double)(f->room.resident * card->processors);
    f->occupancy = card->lanes ? (double)(f->room.resident * f->lanes) / card->lanes : 0;
    f->waves = at_once > 0 ? ceil(f->groups / at_once) : 0;
    f->last = at_once > 0 ? (f->groups - (f->waves - 1) * at_once) / at_once : 0;
    for (int i = 0; i < k->n_stage; i++)
        add_fragments(&(figuring){.p = p, .k = k, .s = &k->stage[i], .f = f});
    f->moved /= f->groups, f->asked /= f->groups, f->banks /= f->groups, f->banks_least /= f->groups;
    for (int i = 0; i < f->n_access; i++)
        f->access[i].times /= f->groups;
    find_time(&all);
}

int64_t gpu_registers(const plan *p, const kernel *k, int64_t *shared)
{
    touching told = {0};
    const bool any = p->on->touch && p->on->touch(p, k, &told);
    *shared = told.shared;
    return any ? room_registers(&(figuring){.p = p, .k = k}, &told) : 0;
}
