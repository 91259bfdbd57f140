/* live.c - how many registers a tile takes at once: of every value from where it is made to where it is read for the
 * last time, in the statements that are printed. What is read of memory in loops that are written out is a value, too,
 * which waits while those go by along which it does not move: compilers read it once. */
#include "backends/codegen/emit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 4 };

typedef struct range {
    const char *name;  /* up to its brackets; NULL: it has none, or none any more */
    const cexpr *read; /* a place in memory */
    int from, to;      /* statements */
    double registers;  /* that it takes */
} range;

typedef struct use { /* of a range */
    int of, part;
    double loads; /* from the first cache, if it has no register there */
} use;

typedef struct part { /* what is in a loop that is not written out, without those within: where most is needed */
    int at;
    double most;
} part;

typedef struct around { /* a loop around what is looked at */
    const struct around *up;
    const stmt *loop;
    int from;
    double times; /* that what is in it is done */
} around;

typedef struct liver {
    const emitter *m;
    range *all;
    use *use;
    part *part;
    int *in; /* which part statements are of */
    int n, cap, n_use, cap_use, n_part, cap_part, at, cap_in, now;
} liver;

static range *range_add(liver *l, range r)
{
    l->all = arena_grown(l->m->mem, l->all, l->n, &l->cap, sizeof *l->all);
    l->all[l->n] = r;
    return &l->all[l->n++];
}

static void use_add(liver *l, int of, double loads)
{
    l->use = arena_grown(l->m->mem, l->use, l->n_use, &l->cap_use, sizeof *l->use);
    l->use[l->n_use++] = (use){of, l->now, loads};
    l->all[of].to = l->at;
}

static void go_on(liver *l) /* to the next statement */
{
    l->in = arena_grown(l->m->mem, l->in, l->at, &l->cap_in, sizeof *l->in);
    l->in[l->at++] = l->now;
}

static int part_enter(liver *l)
{
    const int was = l->now;
    l->part = arena_grown(l->m->mem, l->part, l->n_part, &l->cap_part, sizeof *l->part);
    l->now = l->n_part++;
    return was;
}

/* Vectors, on a machine that has registers for these: numbers that count and places have others. Else words. */
static double registers_of(const liver *l, double bytes)
{
    const target *on = l->m->p->on;
    return on->group   ? fmax(ceil(bytes / WORD), 1)
           : bytes > 0 ? fmax(bytes / ((double)WORD * on->lanes[TS_F32]), 1)
                       : 0;
}

/* ---- names ---- */
static bool called(const range *r, const cexpr *x)
{
    const size_t n = strcspn(r->name, "[");
    return !strncmp(r->name, x->text, n) && !x->text[n];
}

static void named(liver *l, const cexpr *x, double loads)
{
    const bool name = cexpr_names(x); /* else it may be of any */
    bool found = false;
    for (int i = l->n - 1; i >= 0 && !found; i--)
        if (l->all[i].name && (!name || called(&l->all[i], x)))
            use_add(l, i, loads), found = name;
}

/* What a loop that is not written out walks is in memory. */
static void walked(liver *l, const cexpr *x, const around *up)
{
    const cexpr *name = x;
    while (up && (up->loop->how == WRITTEN_OUT || !cexpr_over(x, up->loop->name)))
        up = up->up;
    while (name->kind == C_ELEMENT)
        name = name->arg[1];
    for (int i = l->n - 1; i >= 0 && up; i--)
        if (l->all[i].name && called(&l->all[i], name)) {
            l->all[i].registers = 0;
            return;
        }
}

/* ---- reads of memory ---- */
static void read(liver *l, const cexpr *place, const around *up, double registers)
{
    const double share = up && stmt_gathers(up->loop) ? 1 / fmax(stmt_trips(up->loop), 1) : 1, /* of a vector */
        times = (up ? up->times : 1) * share;
    double trips = share, waiting = share, again = 1;
    int from = l->at;
    for (; up && up->loop->how == WRITTEN_OUT && up->loop->trips; up = up->up)
        if (cexpr_over(*place->arg, up->loop->name))
            trips *= (double)up->loop->trips;
        else if (up->loop->trips > 1)
            waiting = trips, from = up->from, again *= (double)up->loop->trips;
    for (int i = l->n - 1; i >= 0 && l->all[i].from >= from; i--)
        if (l->all[i].read && l->all[i].from == from && cexpr_same(l->all[i].read, place)) {
            use_add(l, i, times);
            return;
        }
    range_add(l, (range){.read = place, .from = from, .registers = waiting * registers});
    use_add(l, l->n - 1, times - times / again);
}

static void value(liver *l, const cexpr *x, const around *up)
{
    const bool memory = cexpr_in_memory(x), reads = x->does && x->n && cexpr_in_memory(*x->arg);
    if (x->kind == C_WORD)
        named(l, x, up ? up->times : 1);
    if (x->kind == C_ELEMENT && !memory)
        walked(l, x, up);
    if (memory)
        read(l, x, up, registers_of(l, WORD));
    else if (reads && op_reads(x->does))
        read(l, *x->arg, up, registers_of(l, element_bytes(x->of.of) * x->of.n));
    for (int i = 0; i < x->n; i++)
        if (!i && reads)
            value(l, *x->arg[i]->arg, up);
        else
            value(l, x->arg[i], up);
}

/* ---- statements ---- */
static void statements(liver *l, const stmt *in, const around *up);

static void let(liver *l, const stmt *s, const around *up)
{
    if (s->value)
        value(l, s->value, up);
    range_add(l, (range){.name = s->name,
                         .from = l->at,
                         .to = l->at,
                         .registers = registers_of(l, (double)s->bytes) * (double)int_max(s->trips, 1)});
}

/* What is older than the loop and read in it is needed until it ends. */
static void loop_of(liver *l, const stmt *s, const around *up)
{
    const around own = {up, s, l->at, (up ? up->times : 1) * fmax(stmt_trips(s), 1)};
    go_on(l);
    const int was = s->how == WRITTEN_OUT ? l->now : part_enter(l);
    statements(l, s, &own);
    l->now = was, go_on(l);
    for (int i = 0; i < l->n; i++)
        if (l->all[i].from <= own.from && l->all[i].to >= own.from)
            l->all[i].to = l->at;
}

static void statements(liver *l, const stmt *in, const around *up)
{
    const int first = l->n;
    for (const stmt *s = in->first; s; s = s->next, go_on(l)) {
        if (s->kind == S_LET) {
            let(l, s, up);
            for (const stmt *q = s->first; q; q = q->next)
                let(l, q, up);
            continue;
        }
        if (s->value && s->kind != S_TABLE)
            value(l, s->value, up);
        if (s->place && cexpr_in_memory(s->place))
            value(l, *s->place->arg, up);
        else if (s->place) /* a store counts as two loads */
            value(l, s->place, up), value(l, s->place, up);
        if (s->kind == S_LOOP || s->kind == S_CHUNKS || s->kind == S_REPEAT)
            loop_of(l, s, up);
        else
            statements(l, s, up);
        if (s->other)
            statements(l, s->other, up);
    }
    for (int i = first; i < l->n; i++)
        l->all[i].name = NULL;
}

/* ---- the most at once ---- */
static double find_most(liver *l)
{
    double *more = arena_array(l->m->mem, (size_t)l->at + 2, sizeof *more), now = 0, most = 0;
    for (int i = 0; i < l->n; i++)
        more[l->all[i].from] += l->all[i].registers, more[l->all[i].to + 1] -= l->all[i].registers;
    for (int i = 0; i < l->at; i++) {
        part *p = &l->part[l->in[i]];
        now += more[i], most = fmax(most, now);
        if (now > p->most)
            *p = (part){i, now};
    }
    return most;
}

typedef struct spill {
    bool name; /* elements are read again before names are put into memory */
    double registers, loads;
} spill;

static int compare(const void *a, const void *b)
{
    const spill *x = a, *y = b;
    const double of_x = x->loads / x->registers, of_y = y->loads / y->registers;
    return x->name != y->name ? x->name - y->name : (of_x > of_y) - (of_x < of_y);
}

static double spills_in(const liver *l, int which)
{
    const part *p = &l->part[which];
    spill *all = arena_array(l->m->mem, (size_t)l->n + 1, sizeof *all);
    double beyond = p->most - l->m->p->on->n_register, loads = 0;
    int n = 0;
    for (int i = 0; i < l->n_use && beyond > 0; i++)
        if (l->use[i].part == which)
            all[l->use[i].of].loads += l->use[i].loads;
    for (int i = 0; i < l->n && beyond > 0; i++)
        if (l->all[i].from <= p->at && l->all[i].to >= p->at && l->all[i].registers > 0)
            all[n++] = (spill){!l->all[i].read, l->all[i].registers, all[i].loads};
    qsort(all, (size_t)n, sizeof *all, compare);
    for (int i = 0; i < n && beyond > 0; beyond -= all[i++].registers)
        loads += fmin(beyond / all[i].registers, 1) * all[i].loads;
    return loads;
}

void tile_live(const emitter *m, tile_made *t)
{
    liver l = {.m = m};
    part_enter(&l);
    statements(&l, t->body, NULL), go_on(&l);
    t->registers = find_most(&l), t->spills = 0;
    for (int i = 0; i < l.n_part; i++)
        t->spills += spills_in(&l, i);
}
