/* trips.c - rows of the tables that trips are made by: a loop for each scan, where the inputs of a trip lie, and what
 * is copied before and behind. */
#include "backends/device/trips.h"

#include <stdlib.h>

static bool add_addresses(trip_tables *t, const scan_plan *s) /* whether one is the trip's number */
{
    bool counted = false;
    for (int i = 0; i < s->plan->n_input; i++) {
        const trip_address *a = &s->address[i];
        t->address[t->addresses++] = (loop_address){a->load, a->row, a->at, a->step, a->every};
        counted = counted || a->load < 0;
    }
    return counted;
}

static void add_copies(trip_tables *t, const scan_plan *s)
{
    for (int i = 0; i < s->n_first; i++)
        t->copy[t->copies++] = (loop_copy){s->first[i].load, s->first[i].input, 0, s->first[i].bytes};
    for (int i = 0; i < s->n_copy; i++) {
        const buffer *h = &s->plan->buffer[s->plan->root[s->copy[i].root]->id];
        t->copy[t->copies++] = (loop_copy){0, s->copy[i].input, h->offset, s->copy[i].bytes};
    }
}

static void add_counted(loop_row *l, const varying *v)
{
    _Static_assert((int)LOOP_SIZES == (int)MOST_VARIABLES, "a row has place for all variables");
    l->per = v->by ? v->per : 0, l->plus = v->plus;
    for (int i = 0; i < LOOP_SIZES; i++)
        l->times[i] = v->by >> i & 1 ? v->times[i] : 0;
}

static void add_loop(trip_tables *t, const levels *l, const level *x)
{
    const plan *around;
    const kernel *scan = levels_kernel(l, x->scan, &around);
    const scan_plan *s = x->trips;
    const int behind = t->copies + s->n_first;
    const buffer *until = s->until < 0 ? NULL : &s->plan->buffer[s->plan->root[s->until]->id];
    t->loop[t->loops++] = (loop_row){.first = x->first,
                                     .end = x->first + x->plan->n_kernel,
                                     .address = t->addresses,
                                     .inputs = s->plan->n_input,
                                     .before = t->copies,
                                     .behind = behind,
                                     .last = behind + s->n_copy,
                                     .room = scan->stage->n_load + 1, /* behind what it reads, and its value */
                                     .trips = s->trips,
                                     .ahead = 1,
                                     .until = until ? until->offset : -1};
    add_counted(&t->loop[t->loops - 1], &s->counted);
    t->loop[t->loops - 1].counted = add_addresses(t, s);
    add_copies(t, s);
}

void trip_tables_make(const levels *l, trip_tables *out)
{
    size_t addresses = 1, copies = 1;
    *out = (trip_tables){.loops = 1, .inputs = 1};
    for (int i = 1; i < l->n; i++) {
        const scan_plan *s = l->of[i].trips;
        const int n = l->of[i].plan->n_input;
        addresses += (size_t)n, copies += (size_t)(s->n_first + s->n_copy);
        out->inputs = n > out->inputs ? n : out->inputs;
    }
    out->loop = heap_array((size_t)l->n + 1, sizeof *out->loop);
    out->address = heap_array(addresses, sizeof *out->address), out->copy = heap_array(copies, sizeof *out->copy);
    for (int i = 1; i < l->n; i++)
        add_loop(out, l, &l->of[i]);
}

void trip_tables_print(text *t, const trip_tables *g)
{
    text_add(t, "static const loop_address address[] = {\n");
    for (int i = 0; i < g->addresses; i++) {
        const loop_address *x = &g->address[i];
        text_line(t, "    {%d, %d, %ld, %ld, %ld},", x->of, x->row, x->at, x->step, x->every);
    }
    text_add(t, "    {0, 0, 0, 0, 1}};\n\nstatic const loop_copy copies[] = {\n");
    for (int i = 0; i < g->copies; i++)
        text_line(t, "    {%d, %d, %ld, %ld},", g->copy[i].of, g->copy[i].input, g->copy[i].at, g->copy[i].bytes);
    text_add(t, "    {0, 0, 0, 0}};\n\nstatic const loop_row loop[] = {\n");
    for (int i = 0; i < g->loops; i++) {
        const loop_row *x = &g->loop[i];
        text_line(t, "    {%d, %d, %d, %d, %d, %d, %d, %d, %d, %ld, %ld, %d, %ld, %ld, {%ld, %ld, %ld, %ld}},",
                  x->first, x->end, x->address, x->inputs, x->before, x->behind, x->last, x->room, x->counted, x->trips,
                  x->until, x->ahead, x->per, x->plus, x->times[0], x->times[1], x->times[2], x->times[3]);
    }
    text_line(t, "};\n");
}

void trip_tables_free(trip_tables *t)
{
    free(t->loop), free(t->address), free(t->copy);
    *t = (trip_tables){0};
}
