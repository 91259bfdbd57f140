/* count.c - how often a kernel does what, counted in the statements that are printed: once for each trip of the loops
 * around it. Where a run or data decide, it is the most: all trips that there can be, and of two branches the one with
 * more; but where loops decide, the first is what they mostly do, and the other what is done at a border, in one trip
 * of all. A call of a tile counts as what is in the tile. */
#include "backends/codegen/emit.h"
#include "backends/codegen/lane_op.h"

#include <math.h>
#include <string.h>

typedef struct counter {
    const emitter *m;
    bool in_tile;
    op_counts all;
} counter;
typedef struct around { /* a loop around what is counted */
    const struct around *up;
    const stmt *loop;
} around;

enum { ADDED = offsetof(op_counts, registers) / sizeof(double) };

void op_counts_add(op_counts *c, const op_counts *more, double times)
{
    double *to = (double *)c;
    const double *from = (const double *)more;
    for (size_t i = 0; i < ADDED; i++)
        to[i] += times * from[i];
    for (int i = 0; i < MAX_STAGES; i++)
        c->registers[i] = fmax(c->registers[i], more->registers[i]);
    if (times * more->most.times > c->most.times)
        c->most = more->most, c->most.times *= times;
}

static double total(const op_counts *c)
{
    const double *x = (const double *)c;
    double sum = 0;
    for (size_t i = 0; i < ADDED; i++)
        sum += x[i];
    return sum;
}

/* An element that does not change in a loop written out counts as one read: compilers merge equal loads. */
static double reads(const around *up, const cexpr *place, double times)
{
    for (; up && place->kind == C_ELEMENT; up = up->up)
        if (up->loop->how == WRITTEN_OUT && up->loop->trips && !cexpr_over(*place->arg, up->loop->name))
            times /= (double)up->loop->trips;
    return times;
}

/* From where a loop begins, whatever variable that is, to its end */
static double span(const cexpr *to, const cexpr *from)
{
    int64_t start = 0;
    if (to->kind == C_FORM && to->n == 2)
        return to->text[0] == '(' ? span(to->arg[0], from) - span(to->arg[1], NULL)
                                  : fmin(span(to->arg[0], from), span(to->arg[1], from));
    if (from && !cexpr_known(from, &start) && from->kind != C_WORD)
        return 0; /* what a loop over vectors left */
    return to->kind == C_NUMBER || to->kind == C_SUM ? (double)(to->number - start) : 1;
}

/* As it says, or of bounds that are known: those of copies */
double stmt_trips(const stmt *s)
{
    if (s->trips || s->kind != S_LOOP)
        return (double)s->trips;
    return fmax(ceil(span(s->to, s->from) / (s->step ? (double)s->step : 1)), 0);
}

static void statements(counter *c, const stmt *in, const around *up, double times);

/* Counts x and its arguments below the returned index; the caller counts the others. */
static int operation(counter *c, const cexpr *x, const around *up, double times)
{
    const lane_op *o = lane_op_of(x);
    double *of = (double *)((char *)&c->all + o->counts);
    if (o->span == AN_ELEMENT && !cexpr_in_memory(*x->arg))
        return 0;
    if (o->use == TURNS || o->use == TURNS_BLOCK) { /* n vectors, in as many rounds as halving n takes */
        const bool block = o->use == TURNS_BLOCK;
        const double vectors = block ? 16.0 * 16 / x->of.n : x->of.n, moved = block ? vectors : 0;
        op_counts_add(&c->all, &(op_counts){.loads = moved, .stores = moved, .others = vectors * log2(x->of.n)}, times);
        return x->n;
    }
    if (of == &c->all.multiply_adds && 2 * x->of.n * element_bytes(x->of.of) <= 4 * c->m->p->on->lanes[TS_F32])
        c->all.halves += times;
    *of += o->use == READS ? reads(up, *x->arg, times) : times;
    return o->use != OF_VALUES;
}

static void value(counter *c, const cexpr *x, const around *up, double times)
{
    int first = 0;
    if (cexpr_in_memory(x))
        c->all.scalar_loads += reads(up, x, times);
    if (x->kind == C_TILE) {
        const tile_made *t = c->m->tiles.made[x->load];
        counter in = {.m = c->m, .in_tile = true};
        in.all.tiles = times, in.all.spills = times * t->spills, in.all.registers[t->stage] = t->registers;
        statements(&in, t->body, up, times);
        op_counts_add(&c->all, &in.all, 1);
        return;
    }
    if (x->does && x->of.n)
        first = operation(c, x, up, times);
    else if (x->does)
        c->all.scalars += times;
    for (int i = first; i < x->n; i++)
        value(c, x->arg[i], up, times);
}

static void either(counter *c, const stmt *s, const around *up, double times)
{
    counter a = {.m = c->m, .in_tile = c->in_tile}, b = a;
    double trips = 1;
    for (const around *l = up; l; l = l->up)
        trips *= cexpr_over(s->value, l->loop->name) ? fmax(stmt_trips(l->loop), 1) : 1;
    const double share = s->share > 0 ? s->share : s->other && trips > 1 ? 1 - 1 / trips : 1;
    statements(&a, s, up, share * times);
    if (s->other)
        statements(&b, s->other, up, (share < 1 ? 1 - share : 1) * times);
    if (share < 1 && s->other)
        op_counts_add(&a.all, &b.all, 1);
    op_counts_add(&c->all, total(&a.all) < total(&b.all) ? &b.all : &a.all, 1);
}

static bool reads_place(const cexpr *x, const cexpr *place)
{
    bool any = cexpr_same(x, place);
    for (int i = 0; i < x->n && !any; i++)
        any = reads_place(x->arg[i], place);
    return any;
}

/* Latency: an addition to a sum waits for the previous one, so it takes several independent sums to fill the time. */
static void accumulated(counter *c, const stmt *s, const around *up, double times, double multiply_adds)
{
    const costs *rate = &c->m->p->on->cost;
    sum_counts own = {.times = times, .sums = 1, .written = 1, .lanes = fmax(s->value->of.n, 1)};
    if (s->kind != S_STORE || cexpr_in_memory(s->place) || !reads_place(s->value, s->place))
        return;
    for (; up && up->loop->how == WRITTEN_OUT; up = up->up) {
        own.written *= fmax(stmt_trips(up->loop), 1);
        own.sums *= cexpr_over(s->place, up->loop->name) ? fmax(stmt_trips(up->loop), 1) : 1;
    }
    c->all.waits += multiply_adds * fmax(rate->fma_latency * rate->fma_per_cycle / own.sums - 1, 0);
    if (own.times > c->all.most.times)
        c->all.most = own;
}

static void statements(counter *c, const stmt *in, const around *up, double times)
{
    for (const stmt *s = in->first; s; s = s->next) {
        const bool loops = s->kind == S_LOOP || (s->kind == S_CHUNKS && s->trips), gathers = s->elements;
        const double trips = loops ? stmt_trips(s) : 1,
                     all = trips * (gathers && s->first->value ? reads(up, s->first->value, times) : times);
        if (s->kind == S_IF) {
            either(c, s, up, times);
            continue;
        }
        const double before = c->all.multiply_adds + c->all.dots;
        if (s->value)
            value(c, s->value, up, times), accumulated(c, s, up, times, c->all.multiply_adds + c->all.dots - before);
        c->all.fetches += s->kind == S_FETCH ? times : 0;
        c->all.barriers += s->kind == S_BARRIER ? times : 0;
        c->all.scalar_stores += s->kind == S_STORE && cexpr_in_memory(s->place) ? times : 0;
        *(c->in_tile ? &c->all.trips : &c->all.around) += loops && s->how != WRITTEN_OUT ? times * trips : 0;
        c->all.others += gathers ? all : 0;
        statements(c, s, loops ? &(around){gathers ? NULL : up, s} : up, all);
    }
}

void kernel_count(const emitter *m, op_counts *out)
{
    counter c = {.m = m};
    statements(&c, m->out.code.at, NULL, 1);
    *out = c.all;
}
