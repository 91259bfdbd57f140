/* function.c - ts_function: a scalar function from text, as a row of a graph's own table and as operations. */
#include "graph/ir/custom.h"
#include "graph/ir/scalar.h"

#include <ctype.h>
#include <string.h>

static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

/* ---- the head: "relu3(x)" ---- */
static bool is_name(const char *s)
{
    return *s && !isdigit((unsigned char)*s) && !s[strspn(s, letters)];
}

static bool is_taken(const graph *g, const char *name, err *e)
{
    static const char *const words[] = {"let", "while", "inf", "nan"};
    dtype d;
    const bool word = fn_find(name) || dtype_parse(name, &d) || ROW_NAMED(words, name) >= 0;
    if (!word && !g_op(g, name))
        return false;
    err_set(e, TS_BAD_INPUT, "%s has that name", word ? "a function of the table" : "an operation");
    return err_hint(e, "give one of them another name"), true;
}

static bool read_parameters(scalar *f, char *list, err *e)
{
    char *rest = NULL;
    for (char *p = strtok_r(list, " ,", &rest); p; p = strtok_r(NULL, " ,", &rest)) {
        if (f->n_parameter == MAX_ARG)
            return err_set(e, TS_BAD_INPUT, "\"%s\" is parameter %d, at most %d expected", p, f->n_parameter + 1,
                           MAX_ARG);
        if (!is_name(p))
            return err_set(e, TS_BAD_INPUT, "\"%s\" is no name of lower-case letters, digits and _", p);
        if (row_named(f->parameter, f->n_parameter, sizeof *f->parameter, p) >= 0)
            return err_set(e, TS_BAD_INPUT, "parameter %s stands there twice", p);
        f->parameter[f->n_parameter++] = p;
    }
    return f->n_parameter || err_set(e, TS_BAD_INPUT, "it has 0 parameters, at least 1 expected");
}

static bool read_head(arena *mem, const char *head, scalar *f, err *e)
{
    char *name = arena_string(mem, head), *open = strchr(name, '('), *close = open ? strchr(open, ')') : NULL;
    if (!close || close[1 + strspn(close + 1, " ")])
        return err_set(e, TS_BAD_INPUT, "function \"%s\": expected a name and its parameters, as in \"relu3(x)\"",
                       head);
    *open = *close = 0;
    f->name = name;
    if (!is_name(name))
        return err_set(e, TS_BAD_INPUT, "function \"%s\": a name is of lower-case letters, digits and _", name);
    return read_parameters(f, open + 1, e) || err_in(e, "function %s", name);
}

/* ---- the table ---- */
static scalars *table_of(graph *g)
{
    if (!g->scalars) {
        g->scalars = arena_get(&g->mem, sizeof *g->scalars);
        g->scalars->mem = &g->mem;
    }
    return g->scalars;
}

static scalar *added(scalars *s, const scalar *f)
{
    s->all = arena_grown(s->mem, s->all, s->n, &s->cap, sizeof *s->all);
    scalar *own = arena_get(s->mem, sizeof *own);
    *own = *f, own->in = s;
    return s->all[s->n++] = own;
}

static bool is_same(const scalar *a, const scalar *b)
{
    bool same = a->n_parameter == b->n_parameter && !strcmp(a->text, b->text) && !a->derivative == !b->derivative;
    for (int i = 0; same && i < a->n_parameter; i++)
        same = !strcmp(a->parameter[i], b->parameter[i]);
    return same && (!a->derivative || !strcmp(a->derivative, b->derivative));
}

/* ---- what the texts say, of parameters that may be anything ---- */
static bool read_texts(scalar *f, err *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    names known = {.n = f->n_parameter, .own = f->in};
    reading r = {.known = &known};
    for (int i = 0; i < f->n_parameter; i++)
        known.name[i] = f->parameter[i], known.value[i] = x_state(&mem, TS_F64, i);
    f->in->calls = 0, f->n_result = SCALAR_RESULT; /* as long as it is not known */
    bool ok = x_read(&mem, f->text, &r, e) != NULL;
    f->n_result = r.n_result;
    if (ok && r.n_result > SCALAR_RESULT)
        ok = err_set(e, TS_BAD_INPUT, "%d results, expected 1 to %d", r.n_result, SCALAR_RESULT);
    r.n_result *= f->n_parameter;
    known.name[known.n] = "y", known.value[known.n++] = x_state(&mem, TS_F64, f->n_parameter);
    return ok && (!f->derivative || x_read(&mem, f->derivative, &r, e) || err_in(e, "derivative"));
}

/* ---- as operations: "polar" and, for further results, "polar.1", ... ---- */
static bool add_operations(graph *g, const scalar *f, err *e)
{
    static const char *const list[] = {"a", "a, b", "a, b, c", "a, b, c, d"};
    for (int i = 0; i < f->n_result; i++) {
        const char *name = i ? arena_format(&g->mem, "%s.%d", f->name, i) : f->name;
        const char *call = arena_format(&g->mem, "%s(%s)", name, list[f->n_parameter - 1]);
        if (!define_text(g, name, f->n_parameter, call, e))
            return false;
    }
    return true;
}

bool ts_function(ts_graph *g, const char *head, const char *source, const char *derivative)
{
    if (!g)
        return false;
    scalar f = {.text = source, .derivative = derivative && *derivative ? derivative : NULL};
    err *e = &g->err;
    if (err_is(e) || !read_head(&g->mem, head ? head : "", &f, e))
        return false;
    if (!source)
        return err_set(e, TS_BAD_INPUT, "function %s: it has no text", f.name);
    const scalar *before = scalar_find(g->scalars, f.name, strlen(f.name));
    if (before && is_same(before, &f))
        return true;
    if (before)
        err_set(e, TS_BAD_INPUT, "the graph has another function of that name, another name or the same text expected");
    if (before || is_taken(g, f.name, e))
        return err_in(e, "function %s", f.name);
    scalar *own = added(table_of(g), &f);
    own->text = arena_string(&g->mem, source);
    own->derivative = f.derivative ? arena_string(&g->mem, f.derivative) : NULL;
    if (read_texts(own, e) && add_operations(g, own, e))
        return true;
    g->scalars->n--; /* nobody has seen it */
    return err_in(e, "function %s", f.name);
}

ts_tensor scalar_output(graph *g, const node *t, int index)
{
    group call = {.op = t->op, .n_in = t->n_in, .in = t->in};
    for (int i = g->n_group - 1; i >= 0 && !call.op->custom; i--) /* of what was too long for one node */
        if (g->group[i].result == t && g->group[i].op->custom)
            call = g->group[i];
    const scalar *f = call.op->custom ? scalar_find(g->scalars, call.op->name, strcspn(call.op->name, ".")) : NULL;
    if (!f || index < 0 || index >= f->n_result)
        return NULL;
    return g_make(g, g_op(g, index ? arena_format(&g->mem, "%s.%d", f->name, index) : f->name), call.n_in, call.in,
                  NULL, 0);
}
