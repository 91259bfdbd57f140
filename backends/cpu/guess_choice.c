/* guess_choice.c - loops of stages that choose by the number of a loop what they compute: the transforms of Winograd,
 * neighbours put side by side. The loops that choose are unrolled, so that each trip is written out with what it takes
 * and all of them share what they load; vectors run along the axis in which values lie in blocks, else the last. */
#include "backends/cpu/guess_parts.h"

static int64_t trips_of(const kernel *k, const stage *s, int a, int64_t step)
{
    const int64_t left = nest_left(k, s, a, -1);
    return (left + step - 1) / step;
}

/* Whether what the stage loads lies in rows along the axis */
static bool along(const stage *s, int axis)
{
    const expr *load = s->n_load ? s->load[0] : NULL, *last = load && load->n ? load->arg[load->n - 1] : NULL;
    return last && x_axes(last) == 1u << axis;
}

/* The same, one element behind the other: tiles of images lie along a row, too, but in steps of two. */
static bool in_rows(const stage *s, int axis)
{
    const expr *load = s->load[0];
    return along(s, axis) && load->arg[load->n - 1]->kind == X_AXIS;
}

static int column_of(const plan *p, const stage *s)
{
    int last = -1;
    for (int a = 0; a < s->n_result; a++) {
        int64_t run;
        const bool apart = stage_choice(s, a, &run) && run == 1; /* neighbours are summed apart */
        if (stage_block(p, s, a) > 1)
            return apart ? -1 : a;
        if (!apart && s->extent[a] > 1 && (last < 0 || in_rows(s, a) || !in_rows(s, last)))
            last = a;
    }
    return last;
}

bool guess_choice(const plan *p, const kernel *k, const stage *s, nesting *b)
{
    int64_t step[MAX_AXIS], run[MAX_AXIS];
    int column, core = -1;
    bool any = false;
    if (p->reference || s->folds || (column = column_of(p, s)) < 0)
        return false;
    for (int a = 0; a < s->n_result; a++) {
        const int choice = stage_choice(s, a, &run[a]);
        const int64_t left = nest_left(k, s, a, -1);
        any = any || choice;
        if ((left < s->extent[a] && (choice || (a == column && left < nest_lanes(p, s)))) ||
            (a != column && run[a] > 1))
            return false; /* taken by others, or long pieces: rows of columns come before them */
        step[a] = choice ? choice * run[a] : a == column ? stage_block(p, s, a) : 1;
        if (a == column && step[a] == 1)
            step[a] = nest_lanes(p, s);
    }
    if (!any)
        return false;
    for (int a = 0; a < s->n_result; a++) /* the evenest */
        if (guess_cores(p, k, s) && trips_of(k, s, a, step[a]) > 1 &&
            (core < 0 || guess_evenly(trips_of(k, s, a, step[a]), p->threads) >
                             guess_evenly(trips_of(k, s, core, step[core]), p->threads)))
            core = a;
    const bool first = stage_block(p, s, column) > 1 || !along(s, column);
    for (int pass = 0; pass < 2; pass++)
        for (int a = 0; a < s->n_result; a++)
            if ((a == column) == (pass != first) && trips_of(k, s, a, step[a]) > 1)
                nest_put(b, a, step[a], core == a ? CPU_CORE : CPU_SERIAL);
    for (int a = 0; a < s->n_result; a++)
        if (step[a] > run[a] && (a != column || run[a] > 1))
            nest_put(b, a, run[a], CPU_UNROLL);
    const int64_t block = stage_block(p, s, column), piece = run[column] > 1 ? run[column] : step[column];
    if (block > 1 && block < nest_lanes(p, s) && piece > block) /* a vector is of one block */
        nest_put(b, column, block, CPU_UNROLL);
    nest_put(b, column, 1, CPU_VECTOR);
    return true;
}
