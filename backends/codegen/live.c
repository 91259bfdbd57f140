/* live.c - how many registers a tile takes at once: of every value from where it is made to where it is read for the
 * last time, in the statements that are printed. What is read of memory in loops that are written out is a value, too,
 * which waits while those go by along which it does not move: compilers read it once. For lanes of a group all of a
 * kernel is one text, in which reads begin as early as they may, and addresses are values (unroll.c: loops of it). */
#include "backends/codegen/emit.h"
#include "backends/codegen/lane_op.h"
#include "backends/codegen/unroll.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 4, ADDRESS = 2 }; /* bytes; registers, of memory of all */
enum { BESIDE = 2 };            /* of a lane: where its stack is, and what is being worked out */
/* Operations that a lane begins while it waits for what it reads of its group's memory: about so many cycles */
enum { WAIT = 30 };

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

/* What is in a loop that is not written out, without those within: where most is needed. Of lanes: in a tile */
typedef struct part {
    int at;
    double most;
    tile_made *tile; /* NULL: it is none of lanes */
} part;

typedef struct around { /* a loop around what is looked at */
    const struct around *up;
    const stmt *loop;
    int from;
    double times; /* that what is in it is done */
    unrolling as; /* lanes run it */
} around;

typedef struct liver {
    const emitter *m;
    range *all;
    use *use;
    part *part;
    int *in; /* which part statements are of */
    int n, cap, n_use, cap_use, n_part, cap_part, at, cap_in, now;
    bool lanes;      /* of a group run it */
    int begun, meet; /* of lanes: what goes straight on since then; the same without a barrier */
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
    return l->lanes ? fmax(ceil(bytes / WORD), 1) : bytes > 0 ? fmax(bytes / ((double)WORD * on->lanes[TS_F32]), 1) : 0;
}

/* ---- names ---- */
static void named(liver *l, const cexpr *x, double loads)
{
    const bool name = cexpr_names(x); /* else it may be of any */
    bool found = false;
    for (int i = l->n - 1; i >= 0 && !found; i--)
        if (l->all[i].name && (!name || !strcmp(l->all[i].name, x->text)))
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
        if (l->all[i].name && !strcmp(l->all[i].name, name->text)) {
            l->all[i].registers = 0;
            return;
        }
}

/* ---- what lanes read of memory ---- */
static bool read_since(liver *l, const cexpr *x, int from)
{
    for (int i = l->n - 1; i >= 0; i--)
        if (l->all[i].from >= from && l->all[i].read && cexpr_same(l->all[i].read, x)) {
            use_add(l, i, 0);
            return true;
        }
    return false;
}

static void read_from(liver *l, const cexpr *x, int from, double registers)
{
    if (read_since(l, x, from))
        return;
    range_add(l, (range){.read = x, .from = from, .registers = registers});
    use_add(l, l->n - 1, 0);
}

static bool goes_round(const around *a)
{
    return a->as.copies < fmax(stmt_trips(a->loop), 1);
}

static bool steps(const cexpr *x, const char *name) /* at most a term of the sum is by that variable */
{
    bool all = x->kind == C_SUM || x->kind == C_WORD || !cexpr_over(x, name);
    for (int i = 0; i < x->n && x->kind == C_SUM; i++)
        all = all && (x->arg[i]->kind == C_WORD || !cexpr_over(x->arg[i], name));
    return all;
}

/* It is worked out before all loops that go round in the tile: one for all places in steps from it, else one for each.
 * Outside of these a pointer will do. */
static void address(liver *l, const cexpr *place, const around *up)
{
    double n = 1;
    int from = l->at;
    for (; up && up->loop->kind != S_CHUNKS; up = up->up) {
        from = goes_round(up) ? up->from : from;
        n *= up->loop->how == WRITTEN_OUT && !steps(*place->arg, up->loop->name) ? up->as.copies : 1;
    }
    if (from < l->at || n > 1)
        read_from(l, place->arg[1], from, n * (place->shared ? 1 : ADDRESS));
}

/* Of what is written out one half is read while the other one is used. A group's memory is near: as many trips are read
 * as are done meanwhile. */
static void read_ahead(liver *l, const cexpr *place, const around *up, double registers)
{
    address(l, place, up);
    for (; up && (up->as.copies > 1 || up->loop->how == WRITTEN_OUT || (place->shared && up->as.operations < INFINITY));
         up = up->up) {
        const double written = up->loop->how == WRITTEN_OUT ? up->as.copies
                               : place->shared ? fmin(stmt_trips(up->loop), 1 + ceil(WAIT / up->as.operations))
                                               : ceil(up->as.copies / 2);
        registers *= cexpr_over(*place->arg, up->loop->name) ? written : 1;
    }
    read_from(l, place, place->shared ? l->meet : l->begun, registers);
}

/* ---- reads of memory ---- */
static void read(liver *l, const cexpr *place, const around *up, double registers)
{
    const double share = up && up->loop->elements ? 1 / fmax(stmt_trips(up->loop), 1) : 1, /* of a vector */
        times = (up ? up->times : 1) * share;
    double trips = share, waiting = share, again = 1;
    int from = l->at;
    if (l->lanes) {
        read_ahead(l, place, up, registers);
        return;
    }
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

static void statements(liver *l, const stmt *in, const around *up);

static void tile_called(liver *l, const cexpr *x, const around *up)
{
    tile_made *t = l->m->tiles.made[x->load];
    const int was = part_enter(l), first = l->n;
    l->part[l->now].tile = t;
    for (int i = 0; i < x->n; i++) {
        const bool pointer = x->arg[i]->kind == C_POINTER || x->arg[i]->kind == C_WORD;
        range_add(l, (range){t->parameter[i]->text, NULL, l->at, l->at, pointer ? ADDRESS : 1});
    }
    go_on(l), statements(l, t->body, up);
    for (int i = first; i < l->n; i++)
        l->all[i].name = NULL;
    l->now = was;
}

static void value(liver *l, const cexpr *x, const around *up)
{
    const lane_use how = lane_op_of(x)->use;
    const bool memory = cexpr_in_memory(x), place = (how == READS || how == WRITES) && cexpr_in_memory(*x->arg);
    if (x->kind == C_WORD)
        named(l, x, up ? up->times : 1);
    if (x->kind == C_ELEMENT && !memory)
        walked(l, x, up);
    if (memory)
        read(l, x, up, registers_of(l, WORD));
    else if (place && how == READS)
        read(l, *x->arg, up, registers_of(l, element_bytes(x->of.of) * x->of.n));
    else if (x->moves == TAKES) /* the address of an element */
        read(l, *x->arg[0]->arg, up, registers_of(l, x->bytes));
    for (int i = 0; i < x->n; i++)
        if (!i && place)
            value(l, *x->arg[i]->arg, up);
        else
            value(l, x->arg[i], up);
    if (x->kind == C_TILE && l->lanes)
        tile_called(l, x, up);
}

/* ---- statements ---- */
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
    const around own = {up, s, l->at, (up ? up->times : 1) * fmax(stmt_trips(s), 1), unroll_of(s)};
    go_on(l);
    const int was = s->how == WRITTEN_OUT || l->lanes ? l->now : part_enter(l);
    if (goes_round(&own))
        l->begun = l->meet = l->at;
    if (l->lanes && goes_round(&own)) /* its counter */
        range_add(l, (range){.name = s->name, .from = own.from, .to = l->at, .registers = 1});
    statements(l, s, &own);
    l->now = was, go_on(l);
    if (goes_round(&own))
        l->begun = l->meet = l->at;
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
        l->meet = s->kind == S_BARRIER ? l->at : l->meet;
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
            p->at = i, p->most = now;
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

static void tile_live(const emitter *m, tile_made *t)
{
    liver l = {.m = m};
    part_enter(&l);
    statements(&l, t->body, NULL), go_on(&l);
    t->registers = find_most(&l), t->spills = 0;
    for (int i = 0; i < l.n_part; i++)
        t->spills += spills_in(&l, i);
}

static void lanes_live(const emitter *m)
{
    liver l = {.m = m, .lanes = true};
    part_enter(&l);
    statements(&l, m->out.code.at, NULL), go_on(&l);
    find_most(&l);
    for (int i = 0; i < l.n_part; i++)
        if (l.part[i].tile)
            l.part[i].tile->registers = fmax(l.part[i].tile->registers, BESIDE + l.part[i].most);
}

void kernel_live(const emitter *m)
{
    if (m->p->on->group)
        lanes_live(m);
    for (int i = 0; i < m->tiles.n && !m->p->on->group; i++)
        tile_live(m, m->tiles.made[i]);
}
