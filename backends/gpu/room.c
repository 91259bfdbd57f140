/* room.c - registers that a lane of a kernel takes. */
#include "backends/gpu/figuring.h"
#include "schedule/nest/slice.h"

#include <math.h>

typedef struct held {    /* by a lane, each in a register */
    double step;         /* of operands under the fold: what one step of the tile reads */
    double others;       /* of operands behind it */
    double slices;       /* parts of slices on their way */
    double inner, outer; /* steps of the tile; trips of loops around it, each with slices of its own */
    int loops;           /* walked, or dealt to lanes: each has a counter, or a place */
} held;

static void find_loads(const stage *s, held *h)
{
    for (int i = 0; i < s->n_load; i++) {
        double each = 1;
        for (int l = nest_unrolled(s); l < s->nest.n; l++)
            if (!s->nest.loop[l].role->group && x_axes_of(s->load[i]) >> s->nest.loop[l].axis & 1)
                each *= (double)loop_trips(&s->nest.loop[l]);
        *(i < s->n_folded ? &h->step : &h->others) += each;
    }
}

static held held_of(const plan *p, const kernel *k, const stage *s)
{
    held h = {.inner = 1, .outer = 1};
    int last = -1;
    find_loads(s, &h);
    for (int i = 0; i < s->n_staging; i++) {
        slice y;
        if (!staging_copies(&s->staging[i]))
            continue;
        slice_find(p, k, s, &s->staging[i], &y);
        h.slices += (double)int_ceil_div(y.size, nest_group_lanes(p, k));
        last = !s->staging[i].shared && s->staging[i].loop > last ? s->staging[i].loop : last;
    }
    for (int l = 0; l < s->nest.n; l++) {
        const loop *q = &s->nest.loop[l];
        const bool walked = l < nest_unrolled(s) && !q->role->parallel;
        *(l > last ? &h.inner : &h.outer) *= walked ? (double)loop_trips(q) : 1;
        h.loops += walked || q->role->group;
    }
    return h;
}

static int operands_of(const stage *s) /* values that it reads, each as often as may be */
{
    int n = 0;
    for (int i = 0; i < s->n_load; i++) {
        bool had = false;
        for (int j = 0; j < i; j++)
            had = had || s->load[j]->from == s->load[i]->from;
        n += !had;
    }
    return n;
}

/* What is in registers at once beside the sums, in the shares that the assembler was seen to make of it (ptxas 13.0, of
 * 179 kernels of built-in models: four fifths are within a quarter). It reads ahead of what it needs, and writes out
 * loops that are short. */
static double beside(const stage *s, const held *h, double sums, bool merges)
{
    static const double STEP = 0.75, OTHERS = 0.75, AHEAD = 0.2, AHEAD_MOST = 18, SLICES_MOST = 28, SHORT = 200,
                        WRITTEN = 2, WRITTEN_MOST = 68, PLAIN_AHEAD = 0.6, PLAIN_MOST = 75, OTHERS_MOST = 5;
    const double addresses = 2 * operands_of(s) + (s->n_load - operands_of(s)) / 2.0;
    if (stage_contracts(s) && h->slices > 0) {
        const bool written = sums * h->inner * h->outer <= SHORT;
        return STEP * h->step + fmin(h->slices, SLICES_MOST) + OTHERS * h->others + 2 * h->loops +
               fmin(AHEAD * h->inner * h->step, AHEAD_MOST) +
               (written ? fmin(WRITTEN * (h->outer - 1) * h->slices, WRITTEN_MOST) : 0);
    }
    if (stage_contracts(s))
        return fmin(PLAIN_AHEAD * h->inner * h->step, PLAIN_MOST) + addresses;
    return addresses + fmin(OTHERS * (h->step + h->others), OTHERS_MOST) +
           (merges ? 0 : fmin(PLAIN_AHEAD * (h->inner - 1) * h->step, PLAIN_MOST));
}

/* Fragments of matrix units, a word of which is two elements of 16 bits or one of 32, of all steps that are written
 * out; units of several warps take all from slices themselves. What is held of later slices has places, too. */
static double fragments_of(const plan *p, const stage *s, const unit_loops *u, int64_t waiting)
{
    enum { LANES = 32, WORD = 4, OF_UNIT = 14 };
    static const double HELD = 1.5;
    const matrix_unit *v = nest_unit_row(p, s, u);
    const int64_t size = ts_dtype_bytes(stage_value(s, u->load[0])->type.dtype);
    double all = OF_UNIT + 2 * s->n_load;
    for (int i = 0; i < 2 && !(v && v->warps); i++) {
        int64_t own = u->trips[i] * u->trips[2] * size / (LANES * WORD);
        for (int l = nest_unrolled(s); l < s->nest.n; l++) {
            const loop *q = &s->nest.loop[l];
            const bool own_axis = q->axis == s->nest.loop[u->loop[i]].axis || s->folds >> q->axis & 1,
                       moves = own_axis && !q->role->group && !q->role->unit;
            own *= moves ? loop_trips(q) : 1;
        }
        all += (double)own;
    }
    return all + HELD * (double)waiting;
}

static bool ends_in_warp(const plan *p, const stage *s) /* the last steps of its merges need no addresses */
{
    bool any = false;
    for (int l = nest_unrolled(s); l < s->nest.n && !stage_contracts(s); l++)
        any = any || (s->nest.loop[l].role->group && s->folds >> s->nest.loop[l].axis & 1 &&
                      loop_trips(&s->nest.loop[l]) > 1 && nest_merges_in_warp(p, s, l, 2));
    return any;
}

int64_t room_registers(const figuring *c, const touching *told)
{
    const plan *p = c->p;
    const kernel *k = c->k;
    /* Of every kernel; of what several stages have in common; what merges of lanes take for addresses */
    enum { PLACES = 9, STAGES = 10, SUMS_AT = 3 };
    double most = 0;
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        const expr *fold = stage_fold(s);
        const int64_t words = int_ceil_div(ts_dtype_bytes((fold ? fold->dtype : s->node->type.dtype)), 4);
        held h = held_of(p, k, s);
        unit_loops u;
        const double sums = (double)(nest_sums(p, s) * words);
        h.step *= (double)words;
        const double own = gpu_by_unit(s, &u) ? fragments_of(p, s, &u, told->held)
                                              : PLACES + beside(s, &h, sums, k->merges);
        most = fmax(most, sums + own - (ends_in_warp(p, s) ? SUMS_AT : 0));
    }
    most += k->n_stage > 1 ? STAGES : 0;
    return int_min((int64_t)ceil(most), gpu_facts_of(p->on)->lane_registers);
}
