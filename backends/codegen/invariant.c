/* invariant.c - loop-invariant code motion of places that data say. Which row of a table is asked for takes a read, a
 * test and a check: in a sum they stand for each of its terms, though they follow from a few loops around it alone.
 * Compilers leave them there, as a check can tell of a fault. */
#include "backends/codegen/lane_op.h"
#include "backends/codegen/passes.h"

#include <string.h>

typedef struct around { /* where the pass has come to: a statement, what it is in, and the same of that */
    const struct around *up;
    stmt *in, *at;
} around;

typedef struct moved { /* a place that has a name */
    const cexpr *place, *called;
    const stmt *before;
    int64_t n; /* elements of its list; 1: it is one number */
} moved;

typedef struct mover {
    arena *mem;
    const dialect *d;
    moved *all;
    int n, cap;
} mover;

static bool reads(const cexpr *x)
{
    bool any = cexpr_in_memory(x);
    for (int i = 0; i < x->n && !any; i++)
        any = reads(x->arg[i]);
    return any;
}

static bool mentions(const cexpr *x, const char *name)
{
    bool any = x->kind == C_WORD && !strcmp(x->text, name);
    for (int i = 0; i < x->n && !any; i++)
        any = mentions(x->arg[i], name);
    return any;
}

/* All that it follows from is seen: words that are no names say nothing of what is in them. */
static bool is_plain(const cexpr *x)
{
    bool plain = x->kind != C_TILE && x->moves == NO_MOVE && (x->kind != C_WORD || cexpr_names(x));
    for (int i = 0; i < x->n && plain; i++)
        plain = is_plain(x->arg[i]);
    return plain;
}

/* It is not asked for all of its arguments, each time. */
static bool chooses(const cexpr *x)
{
    static const char *const some[] = {"and", "or", "select"};
    bool any = x->kind == C_TILE || x->moves != NO_MOVE || x->whole == W_BOTH || x->whole == W_EITHER ||
               x->whole == W_WHERE;
    for (int i = 0; i < COUNT(some) && x->does && !any; i++)
        any = !strcmp(x->does, some[i]);
    return any;
}

/* ---- loops ---- */
static int64_t sure_trips(const stmt *s, const dialect *d) /* 0: it may have none */
{
    const role_form *r = s->role ? role_form_of(d, s->role) : NULL;
    int64_t from, to;
    return !(r && r->head) && cexpr_known(s->from, &from) && cexpr_known(s->to, &to) && from < to
               ? int_ceil_div(to - from, s->step)
               : 0;
}

static bool is_list(const stmt *s) /* each of its trips is a register's */
{
    int64_t from;
    return s->how == WRITTEN_OUT && s->trips > 0 && s->step == 1 && (!s->together || s->together == s->trips) &&
           cexpr_known(s->from, &from) && !from;
}

static bool is_store(const stmt *s)
{
    return s->kind == S_CALL && lane_op_of(s->value)->use == WRITES;
}

static bool same_memory(const cexpr *x, const cexpr *place) /* x reads there */
{
    bool any = cexpr_in_memory(x) && cexpr_same(x->arg[1], place->arg[1]);
    for (int i = 0; i < x->n && !any; i++)
        any = same_memory(x->arg[i], place);
    return any;
}

/* What is done in it changes nothing that x reads, and does all of its statements. */
static bool leaves(const stmt *in, const cexpr *x)
{
    bool same = true;
    for (const stmt *s = in->first; s && same; s = s->next) {
        const cexpr *place = s->kind == S_STORE ? s->place : is_store(s) ? *s->value->arg : NULL;
        same = s->kind != S_STAGE && s->kind != S_BARRIER && s->kind != S_LEAVE && s->kind != S_RETURN &&
               (s->kind != S_CALL || is_store(s)) && !(place && cexpr_in_memory(place) && same_memory(x, place)) &&
               leaves(s, x) && (!s->other || leaves(s->other, x));
    }
    return same;
}

static bool names_of(const stmt *in, const cexpr *x) /* some that x mentions are of this block */
{
    bool any = false;
    for (const stmt *s = in->first; s && !any; s = s->next) {
        const bool gives = s->kind == S_LET || s->kind == S_CONSTANT || s->kind == S_TABLE;
        any = gives && (mentions(x, s->name) || names_of(s, x));
    }
    return any;
}

/* The outermost loop that may follow x in place of having it; NULL: none gains by that. */
static const around *loop_behind(const mover *v, const around *a, const cexpr *x)
{
    const around *found = NULL;
    bool again = false;
    for (; a && !names_of(a->in, x); a = a->up) {
        const around *loop = a->up;
        if (!loop || (loop->at->kind != S_LOOP && loop->at->kind != S_BLOCK))
            break;
        if (loop->at->kind == S_BLOCK)
            continue;
        const bool over = mentions(x, loop->at->name);
        const int64_t trips = sure_trips(loop->at, v->d);
        if (!trips || (over && !is_list(loop->at)))
            break;
        again = again || (!over && trips > 1);
        found = !over && again && leaves(loop->at, x) ? loop : found;
    }
    return found;
}

/* ---- moving ---- */
static void put_before(stmt *in, stmt *at, const code *c)
{
    stmt **to = &in->first;
    while (*to != at)
        to = &(*to)->next;
    *to = c->at->first, c->at->last->next = at;
    in->tight = false;
}

static int64_t elements(const around *a, const around *behind, const cexpr *x)
{
    int64_t n = 1;
    for (a = a->up; a != behind; a = a->up)
        n *= a->at->kind == S_LOOP && mentions(x, a->at->name) ? a->at->trips : 1;
    return n;
}

/* Statements that name it, for each trip of those loops around it that it follows from; what it is called there */
static const cexpr *name_it(mover *v, const around *a, const around *behind, const cexpr *x)
{
    const char *name = arena_format(v->mem, "index%d", v->n), *of = v->d->whole[3], *sizes = "";
    const cexpr *called = cexpr_word(v->mem, name);
    code c = code_begin(v->mem);
    stmt *root = c.at, *let = code_add(&c, (stmt){.kind = S_LET, .name = name, .trips = elements(a, behind, x)});
    for (a = a->up; a != behind; a = a->up) {
        stmt *loop = a->at;
        if (loop->kind != S_LOOP || !mentions(x, loop->name))
            continue;
        code_open(&c, (stmt){.kind = S_LOOP,
                             .name = loop->name,
                             .from = cexpr_number(v->mem, 0),
                             .to = loop->to,
                             .how = WRITTEN_OUT,
                             .elements = loop->elements,
                             .trips = loop->trips});
        sizes = arena_format(v->mem, "%s[%s]", sizes, cexpr_text(v->mem, loop->to));
        called = cexpr_at(v->mem, called, cexpr_word(v->mem, loop->name), IN_REGISTERS);
    }
    if (c.at == root)
        let->value = x, let->type = arena_format(v->mem, "const %s", of);
    else
        code_store(&c, called, x), let->type = of, let->dims = sizes;
    c.at = root;
    put_before(behind->in, behind->at, &c);
    return called;
}

static const cexpr *moved_out(mover *v, const around *a, const cexpr *x) /* its name; NULL: it stays */
{
    const around *behind = is_plain(x) ? loop_behind(v, a, x) : NULL;
    if (!behind)
        return NULL;
    const int64_t n = elements(a, behind, x);
    for (int i = 0; i < v->n; i++)
        if (v->all[i].before == behind->at && v->all[i].n == n && cexpr_same(v->all[i].place, x))
            return v->all[i].called;
    v->all = arena_grown(v->mem, v->all, v->n, &v->cap, sizeof *v->all);
    v->all[v->n] = (moved){x, name_it(v, a, behind, x), behind->at, n};
    return v->all[v->n++].called;
}

/* Argument i of x is a whole number that says where something lies: an index, or is of one by operators on such. What
 * it is counted from is none, and other forms may compute with reals. */
static bool is_place(const cexpr *x, int i, bool place)
{
    if (x->kind == C_ELEMENT)
        return !i && (place || cexpr_in_memory(x));
    return x->kind == C_POINTER ? i : place && (x->kind != C_FORM || x->whole);
}

static const cexpr *without(mover *v, const around *a, const cexpr *x, bool place)
{
    const bool named = place && (x->kind == C_FORM || x->kind == C_ELEMENT) && reads(x);
    const cexpr *name = named ? moved_out(v, a, x) : NULL;
    if (name || !reads(x) || chooses(x))
        return name ? name : x;
    const cexpr **arg = arena_array(v->mem, (size_t)x->n + 1, sizeof *arg);
    bool same = true;
    for (int i = 0; i < x->n; i++)
        arg[i] = without(v, a, x->arg[i], is_place(x, i, place)), same = same && arg[i] == x->arg[i];
    if (same)
        return x;
    cexpr *y = arena_get(v->mem, sizeof *y);
    *y = *x, y->arg = arg;
    return y;
}

static void walk(mover *v, stmt *in, const around *up)
{
    for (stmt *s = in->first; s; s = s->next) {
        const around own = {up, in, s};
        if (s->value && s->kind != S_TABLE)
            s->value = without(v, &own, s->value, false);
        if (s->place)
            s->place = without(v, &own, s->place, false);
        walk(v, s, &own);
        if (s->other)
            walk(v, s->other, &own);
    }
}

bool pass_invariant(stmt *in, arena *mem, const dialect *d, err *e)
{
    mover v = {.mem = mem, .d = d};
    (void)e;
    walk(&v, in, NULL);
    return true;
}
