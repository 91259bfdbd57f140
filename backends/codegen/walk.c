/* walk.c - the walk over statements, what names stand for on the way, and which memory expressions read and write. */
#include "backends/codegen/walk.h"
#include "backends/codegen/lane_op.h"

#include <string.h>

/* ---- integers ---- */
static integer *integer_add(walk *w, integer own)
{
    integer *t = arena_get(w->mem, sizeof *t);
    *t = own;
    return t;
}

static integer **integers_of(walk *w, int n, const cexpr *const *arg)
{
    integer **all = arena_array(w->mem, (size_t)n + 1, sizeof *all);
    for (int i = 0; i < n; i++)
        all[i] = integer_of(w, arg[i]);
    return all;
}

/* An integer computed from n others: known only as far as they are. */
static integer *integer_over(walk *w, integer own, int n, integer *const *arg)
{
    own.n = n, own.arg = arg;
    for (int i = 0; i < n; i++) {
        own.loops |= arg[i]->loops, own.known = arg[i]->known > own.known ? arg[i]->known : own.known;
        own.base = own.kind == OF_SUM && !own.base ? arg[i]->base : own.base;
    }
    return integer_add(w, own);
}

static integer *data(walk *w, const cexpr *x)
{
    integer *t = integer_over(w, (integer){.kind = OF_DATA}, x->n, integers_of(w, x->n, x->arg));
    t->loops = 0, t->known = GUESSED;
    return t;
}

static integer *word(walk *w, const cexpr *x)
{
    const named *n = w->names;
    if (x->whole == W_NUMBER)
        return integer_add(w, (integer){.number = x->number});
    if (w->m->d->lane && !strcmp(x->text, w->m->d->lane))
        return integer_add(w, (integer){.kind = OF_LANE});
    while (n && strcmp(n->is, x->text) != 0)
        n = n->up;
    return n ? n->value : integer_add(w, (integer){.base = x->text, .known = BASED});
}

/* A pointer and elements behind it; elements behind a pointer: where memory begins need not be known. */
integer *integer_place(walk *w, const cexpr *x)
{
    const int base = x->kind == C_SUM ? -1 : x->kind == C_ELEMENT;
    int64_t *times = arena_array(w->mem, (size_t)x->n, sizeof *times);
    integer own = {.kind = OF_SUM, .number = x->kind == C_SUM ? x->number : 0, .times = times},
            *t = integer_over(w, own, x->n, integers_of(w, x->n, x->arg));
    t->known = SURE;
    for (int i = 0; i < x->n; i++) {
        times[i] = x->kind == C_SUM ? x->times[i] : i == base ? 1 : base ? x->bytes : x->number;
        if (t->arg[i]->known > (i == base ? BASED : SURE))
            t->known = GUESSED;
    }
    return t;
}

static integer *address(walk *w, const cexpr *x) /* less $1 elements; what $2 says is in that */
{
    const int n = x->n > 1 ? 2 : 1;
    integer **arg = integers_of(w, n, x->arg), *t;
    int64_t *times = arena_array(w->mem, 2, sizeof *times);
    arg[0] = integer_place(w, x->arg[0]), times[0] = 1, times[1] = -x->arg[0]->bytes;
    t = integer_over(w, (integer){.kind = OF_SUM, .times = times}, n, arg);
    t->known = SURE;
    return t;
}

/* Of the table that says how far a mask lets blocks be walked */
static bool is_table(const walk *w, const cexpr *x)
{
    return w->m->k->mask && !x->bytes && x->arg[1]->kind == C_WORD && !strcmp(x->arg[1]->text, MASK_TABLE);
}

static integer *form(walk *w, const cexpr *x)
{
    const fn *of = x->does && !x->of.n ? fn_find(x->does) : NULL;
    integer t = {.kind = x->whole == W_SWIZZLED ? OF_SWIZZLE : x->whole ? OF_WHOLE : OF_FN, .does = x->whole, .fn = of};
    if (x->whole == W_ADDRESS)
        return address(w, x);
    if (x->whole == W_CAST)
        return integer_of(w, x->arg[0]);
    const bool known = (x->whole || (of && of->whole)) && x->n <= MAX_ARG;
    return known ? integer_over(w, t, x->n, integers_of(w, x->n, x->arg)) : data(w, x);
}

integer *integer_of(walk *w, const cexpr *x)
{
    integer *t;
    switch (x->kind) {
    case C_NUMBER: return integer_add(w, (integer){.number = x->number});
    case C_WORD: return word(w, x);
    case C_SUM:
    case C_POINTER: return integer_place(w, x);
    case C_FORM: return form(w, x);
    case C_FLOOR:
        return integer_over(w, (integer){.kind = OF_FLOOR, .number = x->number}, 1, integers_of(w, 1, x->arg));
    case C_ELEMENT:
        t = is_table(w, x) ? integer_over(w, (integer){.kind = OF_TABLE}, 1, integers_of(w, 1, x->arg)) : NULL;
        if (t && t->known == SURE)
            return t;
        break;
    case C_TILE: break;
    }
    return data(w, x);
}

bool integer_same(const integer *a, const integer *b, const int *number)
{
    if (a->kind != b->kind || a->n != b->n || a->does != b->does || a->fn != b->fn)
        return false;
    bool same = a->kind == OF_LOOP ? number[a->number] == b->number : a->number == b->number;
    for (int i = 0; same && i < a->n; i++)
        same = (a->kind != OF_SUM || a->times[i] == b->times[i]) && integer_same(a->arg[i], b->arg[i], number);
    return same;
}

static said said_here(walk *w, const cexpr *x) /* x NULL: nothing */
{
    return (said){x, w->names, x ? integer_of(w, x) : NULL};
}

void walk_name(walk *w, const char *is, integer *value)
{
    named *n = arena_get(w->mem, sizeof *n);
    *n = (named){w->names, is, value};
    w->names = n;
}

/* ---- blocks ---- */
static void statements(walk *w, const stmt *first);

/* Walks statements from `first`, inside s; under: a further loop or condition around them, or NULL. */
static void inside(walk *w, const stmt *s, const stmt *first, around *under, const named *known)
{
    const walk was = *w;
    around *trips = under && under->loop ? under : NULL;
    w->around = under ? under : w->around, w->n_loop += trips != NULL, w->copies |= s->kind == S_STAGE;
    if (w->to->open)
        w->to->open(w, s, trips);
    w->names = known;
    statements(w, first);
    w->around = was.around, w->copies = was.copies;
    if (s->kind != S_STAGE) /* what it names stays */
        w->names = was.names;
    if (w->to->close)
        w->to->close(w, s, trips);
    w->n_loop = was.n_loop;
}

static around *around_add(walk *w, around own)
{
    around *q = arena_get(w->mem, sizeof *q);
    *q = own;
    q->up = w->around, q->copies = w->copies, q->number = w->n_loop;
    return q;
}

/* first: what is in its trips */
static void loop_entered(walk *w, const stmt *s, const stmt *first)
{
    const named *was = w->names;
    around *q = around_add(w, (around){.loop = s,
                                       .from = said_here(w, s->kind == S_CONSTANT ? s->value : s->from),
                                       .to = said_here(w, s->kind == S_LOOP ? s->to : NULL)});
    MUST(q->number < DEEP);
    walk_name(w, s->name ? s->name : s->up->name,
              integer_add(w, (integer){.kind = OF_LOOP,
                                       .number = q->number,
                                       .step = s->kind == S_LOOP ? s->step : 1,
                                       .from = q->from.value,
                                       .loops = UINT64_C(1) << q->number}));
    const named *own = w->names;
    w->names = was;
    inside(w, s, first, q, own);
}

static around *condition(walk *w, const cexpr *x, bool holds)
{
    return around_add(w, (around){.when = said_here(w, x), .holds = holds});
}

static void tile_called(walk *w, const cexpr *x)
{
    const tile_made *t = w->m->tiles.made[x->load];
    const named *was = w->names, *own = NULL;
    for (int i = 0; i < x->n; i++) {
        integer *value = integer_of(w, x->arg[i]);
        w->names = own, walk_name(w, t->parameter[i]->text, value);
        own = w->names, w->names = was;
    }
    inside(w, t->body, t->body->first, NULL, own);
}

/* ---- what expressions read and write ---- */
static void value(walk *w, const cexpr *x);

static void element_used(walk *w, access own)
{
    own.bytes = own.bytes ? own.bytes : own.x->bytes;
    if (own.x->bytes)
        w->to->use(w, &own);
    for (int i = 0; i < own.x->n; i++)
        value(w, own.x->arg[i]);
}

/* OF_GROUP: what is sent goes to its memory. OF_BOX: by the device itself. OF_UNIT: what a matrix unit reads */
static void moved(walk *w, const cexpr *x)
{
    const cexpr *place = x->moves <= SENDS ? x->arg[x->moves == SENDS]->arg[0] : x;
    access own = {.x = place, .bytes = x->bytes};
    if (x->moves == TAKES || x->moves == SENDS)
        own.when = said_here(w, x->arg[x->moves == SENDS ? 2 : 1]), element_used(w, own);
    if (x->moves == TAKES)
        return;
    own.when = (said){0}, own.written = x->moves <= SENDS, own.at = own.written ? x->arg[0] : NULL;
    own.kind = x->moves == PUTS ? OF_ELEMENT : x->moves == SENDS ? OF_GROUP : x->moves == BOXES ? OF_BOX : OF_UNIT;
    w->to->use(w, &own);
    if (x->moves == PUTS)
        value(w, x->arg[1]);
}

static void value(walk *w, const cexpr *x)
{
    const lane_use how = lane_op_of(x)->use;
    const bool place = (how == READS || how == WRITES) && cexpr_in_memory(x->arg[0]),
               choice = x->whole == W_WHERE || (x->kind == C_FORM && x->does && !strcmp(x->does, "select"));
    if (x->kind == C_TILE)
        tile_called(w, x);
    else if (x->moves)
        moved(w, x);
    else if (x->kind == C_ELEMENT)
        element_used(w, (access){.x = x});
    else if (x->whole != W_ADDRESS) {
        const around *was = w->around;
        if (how == TURNS_BLOCK)
            w->to->use(w, &(access){.kind = OF_BLOCK, .x = x});
        if (place)
            element_used(w, (access){.x = x->arg[0], .bytes = lane_op_bytes(x), .written = how == WRITES});
        for (int i = place; i < x->n; i++) {
            w->around = choice && i ? condition(w, x->arg[0], i == 1) : was;
            value(w, x->arg[i]);
        }
        w->around = was;
    }
}

/* ---- statements ---- */
static bool is_loop(const walk *w, const stmt *s)
{
    return w->to->loops ? w->to->loops(w, s) : s->kind == S_LOOP || s->kind == S_CHUNKS;
}

void walk_statement(walk *w, const stmt *s)
{
    const bool gives = s->kind == S_LET || s->kind == S_CONSTANT;
    if (s->value && s->kind != S_TABLE && s->kind != S_FETCH)
        value(w, s->value);
    if (s->kind == S_STORE && s->place->kind == C_ELEMENT)
        element_used(w, (access){.x = s->place, .written = true});
    if (gives && s->value)
        walk_name(w, s->name, integer_of(w, s->value));
    if (s->kind == S_BARRIER && w->to->meet)
        w->to->meet(w);
    if (gives)
        for (const stmt *q = s->first; q; q = q->next)
            walk_statement(w, q);
    else if (is_loop(w, s))
        loop_entered(w, s, s->first);
    else if (s->first)
        inside(w, s, s->first, s->kind == S_IF ? condition(w, s->value, true) : NULL, w->names);
    if (s->other)
        inside(w, s->other, s->other->first, condition(w, s->value, false), w->names);
}

/* The trip of a loop by lanes is what the rest of a block is in. */
static void statements(walk *w, const stmt *first)
{
    const stmt *s = first;
    for (; s && !((s->kind == S_LET || s->kind == S_CONSTANT) && s->depth && is_loop(w, s)); s = s->next)
        walk_statement(w, s);
    if (s)
        loop_entered(w, s, s->next);
}
