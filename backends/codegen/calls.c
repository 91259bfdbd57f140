/* calls.c - functions over lanes. Some functions are vector code for nearly all arguments and something else for the
 * rest (sines of large numbers). They take many at once and ask once whether any is of the rest; so the loop over lanes
 * that calls one is split around the call:
 *
 *     for n: u[n] = what it is called with
 *     lanes_sin(v, u, N)
 *     for n: y[n] = ... v[n] ...
 *
 * Long loops are split strip by strip, so that u and v are small. */
#include "backends/codegen/emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRIP = 128 };

typedef enum guard { ALWAYS, ON_DATA, ON_PLACE } guard; /* which condition decides whether it is computed */

typedef struct calls {
    const expr *x[MAX_GIVEN];
    int n;
} calls;

bool calls_on_place(const expr *x)
{
    bool any = x->kind == X_AXIS;
    for (int i = 0; i < x->n && x->kind != X_LOAD && !any; i++)
        any = calls_on_place(x->arg[i]);
    return any;
}

/* Whether what a condition guards may be computed where it does not hold: an element may not be there. */
static bool harmless(const expr *x, guard g)
{
    return g == ALWAYS || (!x_checks(x) && (g == ON_DATA || x_count(x, X_LOAD) == 0));
}

static void find(const writer *w, const expr *x, guard g, calls *all)
{
    if (x->kind == X_LOAD || x_folds(x))
        return;
    for (int i = 0; i < x->n; i++) {
        const bool chooses = x_is_choice(x) && i > 0,
                   stops = x->kind == X_CALL && x->fn->result == R_BOOL && x->fn->real == NULL && i > 0;
        guard in = g;
        if (chooses || stops)
            in = calls_on_place(x->arg[0]) || g == ON_PLACE ? ON_PLACE : ON_DATA;
        find(w, x->arg[i], in, all);
    }
    for (int i = 0; i < all->n; i++)
        if (x_same(all->x[i], x))
            return;
    if (all->n < MAX_GIVEN && cstyle_lanes(w, x) && harmless(x, g))
        all->x[all->n++] = x;
}

static int64_t number_in(const char *s) /* -1: it is something else */
{
    char *end;
    const long long n = strtoll(s, &end, 10);
    return *s && !*end ? n : -1;
}

static int64_t strip_of(int64_t n) /* the longest that leaves no rest, if that is not short */
{
    int64_t strip = STRIP;
    while (strip > STRIP / 2 && n % strip)
        strip -= 16;
    return n <= 2 * STRIP ? n : n % strip ? STRIP : strip;
}

typedef struct strips {
    int64_t n, each; /* elements of the loop; of a strip */
    stmt in;         /* the loop over one */
} strips;

/* What the loop at hand becomes, empty so far: a block, or a loop over strips. */
static strips contain(emitter *m, stmt *around)
{
    strips s = {.n = number_in(around->to), .in = *around};
    s.each = strip_of(s.n);
    if (s.n == s.each) {
        *around = (stmt){.kind = S_BLOCK, .step = 1, .next = around->next, .up = around->up};
        return s;
    }
    const char *at = arena_format(m->mem, "%s_at", around->name), *each = number_text(m, s.each);
    s.in.from = at;
    s.in.to = s.n % s.each ? arena_format(m->mem, "MIN(%s + %s, %s)", at, each, around->to)
                           : arena_format(m->mem, "%s + %s", at, each);
    around->name = at, around->how = AS_IT_IS, around->role = NULL, around->step = s.each;
    return s;
}

static void call_one(emitter *m, writer *w, const expr *x, const strips *s)
{
    code *c = &m->out.code;
    text arg = {0};
    const int k = w->n_given;
    const char *lanes = cstyle_lanes(w, x), *each = number_text(m, s->each),
               *i = s->n == s->each ? s->in.name : arena_format(m->mem, "%s - %s", s->in.name, s->in.from),
               *n = s->n % s->each ? arena_format(m->mem, "%s - %s", s->in.to, s->in.from) : each;
    code_let(c, value_type(m->d, x->dtype, m->p->reference), arena_format(m->mem, "u%d[%s], v%d[%s]", k, each, k, each),
             NULL);
    code_open(c, s->in);
    cstyle_temporaries(w, c, x->arg[0]);
    cstyle_whole(w, &arg, x->arg[0]);
    code_store(c, arena_format(m->mem, "u%d[%s]", k, i), text_str(&arg));
    code_close(c);
    callees_call(m->out.uses, m->d, lanes, strlen(lanes));
    code_add(c, (stmt){.kind = S_CALL, .value = arena_format(m->mem, "%s(v%d, u%d, %s)", lanes, k, k, n)});
    w->given[k].x = x, w->given[k].name = arena_format(m->mem, "v%d[%s]", k, i), w->n_given++;
    text_free(&arg);
}

void calls_over_lanes(emitter *m, writer *w, const expr *x)
{
    calls all = {.n = 0};
    stmt *around = m->out.code.at;
    if (around->kind != S_LOOP || around->how != IN_LANES || around->first || number_in(around->from) != 0 ||
        number_in(around->to) <= 0)
        return;
    find(w, x, ALWAYS, &all);
    if (!all.n)
        return;
    const strips s = contain(m, around);
    for (int i = 0; i < all.n; i++)
        call_one(m, w, all.x[i], &s);
    code_open(&m->out.code, s.in)->up = around->up; /* both are closed as the one was */
}
