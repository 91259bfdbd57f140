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

/* ---- what lanes touch ---- */
static dtype sum_dtype(const stage *s)
{
    const expr *fold = stage_fold(s);
    const dtype d = fold ? fold->dtype : s->node->type.dtype;
    return dtype_class(d) == D_REAL && ts_dtype_bytes(d) < 4 ? TS_F32 : d;
}

static int64_t warps_where(const figuring *c, int l, int64_t end) /* some lane's digit of loop l is below end */
{
    const int64_t under = nest_lanes_under(c->s, l), trips = loop_trips(&c->s->nest.loop[l]);
    int64_t warps = 0, last = -1;
    for (int64_t i = 0; i < nest_group(c->s); i++)
        if (i / under % trips < end && i / c->p->on->warp != last)
            last = i / c->p->on->warp, warps++;
    return warps;
}

/* Sums that lanes merge: each lane writes its own, and in each step the lower half of those that are left adds what
 * lies in the upper half. Steps within a warp are no matter of memory. */
static void add_merges(const figuring *c)
{
    const stage *s = c->s;
    double times = trips_shared(c->k, c->k->shared.n) * trips_own(c->k, s, nest_tile(s)), warps = 0;
    bool there = false; /* what lies there is what lanes have */
    for (int l = s->nest.n; l-- > nest_unrolled(s);) {
        const loop *q = &s->nest.loop[l];
        const bool folded = s->folds >> q->axis & 1;
        times *= folded || q->role->group ? 1 : (double)loop_trips(q);
        for (int64_t half, n = folded && q->role->group ? loop_trips(q) : 1; n > 1; n = half) {
            half = (n + 1) / 2;
            const bool near = nest_merges_in_warp(c->p, s, l, n);
            warps += near || there ? 0 : (double)int_ceil_div(c->f->lanes, c->p->on->warp);
            warps += near ? 0 : 2 * (double)warps_where(c, l, n - half);
            there = !near;
        }
    }
    const double passes = times * warps * (double)int_ceil_div(ts_dtype_bytes(sum_dtype(s)), BANK);
    c->f->banks += passes, c->f->banks_least += passes;
}

static void add_stage(const figuring *c)
{
    const stage *s = c->s;
    const staging *staged[MAX_LOADS] = {NULL};
    bool fragments[MAX_LOADS] = {false};
    unit_loops u;
    add_merges(c);
    for (int i = 0; i < s->n_staging; i++)
        if (staging_copies(&s->staging[i])) {
            staged[s->staging[i].load] = &s->staging[i];
            figure_copy(c, &s->staging[i]);
        }
    for (int i = 0; i < 2 && gpu_by_unit(s, &u); i++)
        if (u.load[i] >= 0 && (staged[u.load[i]] || kept_by(c->k, s, u.load[i]) >= 0))
            fragments[u.load[i]] = true, figure_fragments(c, u.load[i], staged[u.load[i]], &u);
    for (int i = 0; i < s->n_load && i < MAX_LOADS; i++)
        if (!fragments[i])
            figure_value(c, i, staged[i]);
    figure_value(c, MAX_LOADS, NULL);
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
    f->room = (gpu_room){.lanes = f->lanes,
                         .registers = made->registers ? made->registers : gpu_registers(p, k),
                         .shared = made->registers ? made->shared : gpu_shared_bytes(p, k)};
    gpu_resident(card, &f->room);
    const double at_once = (double)(f->room.resident * card->processors);
    f->occupancy = card->lanes ? (double)(f->room.resident * f->lanes) / card->lanes : 0;
    f->waves = at_once > 0 ? ceil(f->groups / at_once) : 0;
    f->last = at_once > 0 ? (f->groups - (f->waves - 1) * at_once) / at_once : 0;
    for (int i = 0; i < k->n_stage; i++)
        add_stage(&(figuring){.p = p, .k = k, .s = &k->stage[i], .f = f});
    find_time(&(figuring){.p = p, .k = k, .f = f});
}
