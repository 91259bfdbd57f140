/* trips.c - the text that makes the trips of scans: all parts go through them together, with a barrier before each, so
 * that claims of chunks, which have two sets in turns, begin anew; where a trip is planned for one worker, one part
 * makes all of them. */
#include "backends/c/trips.h"

static const char types[] =
    "typedef struct ts_place { /* of an operand: number of a leaf or an input, bytes from where the arena begins */\n"
    "    enum { LEAF, INPUT, ARENA } in;\n"
    "    long at;\n"
    "} ts_place;\n"
    "typedef struct ts_call {\n"
    "    void (*kernel)(void *const *at, char *scratch, int *fault, const ts_share *share); /* NULL: the process's */\n"
    "    int first, n, meets; /* its operands' places; whether all parts wait for one another before it */\n"
    "    int loop;            /* it is trips of other kernels: a row of loop; 0: it is not */\n"
    "} ts_call;\n"
    "typedef struct ts_address { /* of an input of a trip: from an operand of the loop on; -1: the trip's number */\n"
    "    int of, row;\n"
    "    long at, step, every; /* so many trips make a step */\n"
    "} ts_address;\n"
    "typedef struct ts_copy { /* from an operand, or a place of the trips' own, to an input of theirs */\n"
    "    int of, input;\n"
    "    long at, bytes;\n"
    "} ts_copy;\n"
    "typedef struct ts_loop { /* kernels; inputs of a trip; copies before all trips, and behind each */\n"
    "    int first, end, address, n, before, behind, last;\n"
    "    int room, alone; /* the operand where the trips' values are; whether one part makes them all */\n"
    "    long trips, until; /* where it says that a trip is the last one; -1: it does not */\n"
    "} ts_loop;\n\n";

static const char helpers[] =
    "typedef struct ts_walk { /* number: of the kernel that faults are told of, or 0 */\n"
    "    long part, parts, claims;\n"
    "    int number;\n"
    "} ts_walk;\n"
    "static void kernels(const ts_run *r, const ts_walk *w, long first, long end);\n\n"
    "static void meet(const ts_run *r, const ts_walk *w)\n"
    "{\n"
    "    if (w->parts > 1) r->wait(r->team);\n"
    "}\n\n"
    "static void clear(const ts_run *r, const ts_walk *w, long first, long end)\n"
    "{\n"
    "    memset(r->scratch + w->part * r->scratch_bytes + w->claims + CLAIM * first, 0,\n"
    "           (size_t)(CLAIM * (end - first)));\n"
    "}\n\n"
    "static void copy(const ts_walk *w, char *to, const char *from, long bytes)\n"
    "{\n"
    "    const long first = bytes * w->part / w->parts, last = bytes * (w->part + 1) / w->parts;\n"
    "    memcpy(to + first, from + first, (size_t)(last - first));\n"
    "}\n\n"
    "static void find(const ts_loop *l, void *const *at, const long *trip, void **now)\n"
    "{\n"
    "    const ts_address *a = address + l->address;\n"
    "    for (int i = 0; i < l->n; i++)\n"
    "        now[i] = a[i].of < 0 ? (void *)trip : (char *)at[a[i].of] + a[i].at +\n"
    "                              a[i].step * ((*trip + a[i].every - 1) / a[i].every);\n"
    "}\n\n"
    "static long rows_of(long trips, long every)\n"
    "{\n"
    "    return trips ? (trips + every - 2) / every + 1 : 0;\n"
    "}\n\n"
    "static void clear_rows(const ts_walk *w, const ts_loop *l, void *const *at, long done)\n"
    "{\n"
    "    const ts_address *a = address + l->address;\n"
    "    for (int i = 0; i < l->n; i++) {\n"
    "        const long step = a[i].step < 0 ? -a[i].step : a[i].step;\n"
    "        const long first = rows_of(done, a[i].every), end = rows_of(l->trips, a[i].every);\n"
    "        const long from = a[i].at + a[i].step * (a[i].step < 0 ? end - 1 : first);\n"
    "        if (a[i].row && !w->part) memset((char *)at[a[i].of] + from, 0, (size_t)(step * (end - first)));\n"
    "    }\n"
    "}\n\n";

static const char calls[] =
    "static void make_trips(const ts_run *r, const ts_walk *by, long k, const ts_loop *l, void *const *at)\n"
    "{\n"
    "    void *now[MOST_INPUTS];\n"
    "    ts_run own = *r;\n"
    "    ts_walk w = {by->part, by->parts, 0, by->number ? by->number : (int)k + 1};\n"
    "    long trip = 0, done;\n"
    "    if (l->alone) {\n"
    "        if (w.part) return;\n"
    "        w.parts = 1;\n"
    "    }\n"
    "    own.arena = at[l->room], own.input = now;\n"
    "    find(l, at, &trip, now);\n"
    "    for (int i = l->before; i < l->behind; i++)\n"
    "        if (now[copies[i].input] != at[copies[i].of])\n"
    "            copy(&w, now[copies[i].input], at[copies[i].of], copies[i].bytes);\n"
    "    clear(r, &w, l->first, l->end);\n"
    "    for (int more = 1; more && trip < l->trips; trip++) {\n"
    "        meet(r, &w);\n"
    "        w.claims = CLAIM * ALL * (~trip & 1);\n"
    "        clear(r, &w, l->first, l->end); /* for the next trip */\n"
    "        w.claims = CLAIM * ALL * (trip & 1);\n"
    "        find(l, at, &trip, now);\n"
    "        kernels(&own, &w, l->first, l->end);\n"
    "        if (l->behind < l->last || l->until >= 0) meet(r, &w);\n"
    "        for (int i = l->behind; i < l->last; i++)\n"
    "            copy(&w, now[copies[i].input], own.arena + copies[i].at, copies[i].bytes);\n"
    "        more = l->until < 0 || !own.arena[l->until];\n"
    "    }\n"
    "    done = trip;\n"
    "    if (done < l->trips) clear_rows(&w, l, at, done);\n"
    "}\n\n"
    "static void call(const ts_run *r, const ts_walk *w, long k)\n"
    "{\n"
    "    void *at[MOST_OPERANDS];\n"
    "    const ts_place *p = place + kernel[k].first;\n"
    "    for (int i = 0; i < kernel[k].n; i++)\n"
    "        at[i] = p[i].in == ARENA ? r->arena + p[i].at : (p[i].in == LEAF ? r->leaf : r->input)[p[i].at];\n"
    "    if (kernel[k].loop) {\n"
    "        make_trips(r, w, k, loop + kernel[k].loop, at);\n"
    "        return;\n"
    "    }\n"
    "    if (!kernel[k].kernel) {\n"
    "        r->custom->call(r->custom, (int)k, at, w->part, w->parts);\n"
    "        return;\n"
    "    }\n"
    "    const ts_share share = {w->part, w->parts, r->scratch + w->claims + CLAIM * k, r->scratch_bytes};\n"
    "    int fault = 0;\n"
    "    kernel[k].kernel(at, r->scratch + w->part * r->scratch_bytes + CLAIMS, &fault, &share);\n"
    "    if (fault && !*r->fault) *r->fault = w->number ? w->number : (int)k + 1;\n"
    "}\n\n"
    "static void kernels(const ts_run *r, const ts_walk *w, long first, long end)\n"
    "{\n"
    "    for (long k = first; k < end; k++) {\n"
    "        if (kernel[k].meets && k > first) meet(r, w);\n"
    "        call(r, w, k);\n"
    "    }\n"
    "}\n\n"
    "void span(const ts_run *r, long first, long end, long part, long parts)\n"
    "{\n"
    "    const ts_walk w = {part, parts, 0, 0};\n"
    "    clear(r, &w, first, end);\n"
    "    meet(r, &w);\n"
    "    kernels(r, &w, first, end);\n"
    "}\n\n";

/* ---- tables ---- */
typedef struct tables {
    text address, copy, loop;
    int n_address, n_copy;
} tables;

static int value_of(const level *x, const levels *l) /* the operand that the scan's value is, behind what it reads */
{
    const plan *of;
    return levels_kernel(l, x->scan, &of)->stage->n_load;
}

static void write_addresses(tables *t, const scan_plan *s)
{
    for (int i = 0; i < s->plan->n_input; i++) {
        const trip_address *a = &s->address[i];
        text_add(&t->address, "    {%d, %d, %lld, %lld, %lld},\n", a->load, a->row, (long long)a->at,
                 (long long)a->step, (long long)a->every);
    }
}

static void write_copies(tables *t, const scan_plan *s)
{
    for (int i = 0; i < s->n_first; i++)
        text_add(&t->copy, "    {%d, %d, 0, %lld},\n", s->first[i].load, s->first[i].input,
                 (long long)s->first[i].bytes);
    for (int i = 0; i < s->n_copy; i++) {
        const buffer *h = &s->plan->buffer[s->plan->root[s->copy[i].root]->id];
        text_add(&t->copy, "    {0, %d, %lld, %lld},\n", s->copy[i].input, (long long)h->offset,
                 (long long)s->copy[i].bytes);
    }
}

static void write_loop(tables *t, const levels *l, const level *x)
{
    const scan_plan *s = x->trips;
    const int first = t->n_copy, behind = first + s->n_first, last = behind + s->n_copy;
    const buffer *until = s->until < 0 ? NULL : &s->plan->buffer[s->plan->root[s->until]->id];
    text_add(&t->loop, "    {%d, %d, %d, %d, %d, %d, %d, %d, %d, %lld, %lld},\n", x->first,
             x->first + x->plan->n_kernel, t->n_address, s->plan->n_input, first, behind, last, value_of(x, l) + 1,
             s->plan->threads == 1, (long long)s->trips, until ? (long long)until->offset : -1LL);
    t->n_address += s->plan->n_input, t->n_copy = last;
    write_addresses(t, s), write_copies(t, s);
}

void trips_types(text *out)
{
    text_add(out, "%s", types);
}

void trips_walk(text *out)
{
    text_add(out, "%s%s", helpers, calls);
}

void trips_tables(const levels *l, text *out)
{
    tables t = {0};
    int most = 1;
    for (int i = 1; i < l->n; i++) {
        write_loop(&t, l, &l->of[i]);
        most = l->of[i].plan->n_input > most ? l->of[i].plan->n_input : most;
    }
    text_add(out, "enum { ALL = %d, MOST_INPUTS = %d };\n\n", l->n_kernel, most);
    text_add(out, "static const ts_address address[] = {\n%s    {0, 0, 0, 0, 1}};\n\n", text_str(&t.address));
    text_add(out, "static const ts_copy copies[] = {\n%s    {0, 0, 0, 0}};\n\n", text_str(&t.copy));
    text_add(out, "static const ts_loop loop[] = {\n    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},\n%s};\n\n",
             text_str(&t.loop));
    text_free(&t.address), text_free(&t.copy), text_free(&t.loop);
}
