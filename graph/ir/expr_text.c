/* expr_text.c - expressions as text: the definition language of pointwise operations, and the printer. */
#include "graph/ir/expr.h"
#include "graph/ir/graph.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64 };
typedef struct parser {
    arena *m;
    const char *from, *at;
    const names *known;
    err *e;
    int depth;
} parser;

static const expr *choice(parser *p);

static const expr *fail(parser *p, const char *what)
{
    err_set(p->e, TS_BAD_INPUT, "expression \"%s\", column %d: %s", p->from, (int)(p->at - p->from) + 1, what);
    return NULL;
}

static bool eat(parser *p, const char *s)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
    size_t n = strlen(s);
    if (strncmp(p->at, s, n))
        return false;
    if (n == 1 && strchr("<>!=", *s) && p->at[1] == '=')
        return false; /* "<" is not the start of "<=" */
    p->at += n;
    return true;
}

static const expr *number(parser *p)
{
    char *end;
    const char *start = p->at;
    double v = strtod(start, &end);
    bool whole = true;
    for (const char *s = start; s < end; s++)
        whole = whole && isdigit((unsigned char)*s);
    p->at = end;
    return whole && v < 0x1p63 ? x_whole(p->m, strtoll(start, NULL, 10)) : x_real(p->m, v);
}

/* Arguments up to the closing bracket; how many, or -1. */
static int arguments(parser *p, const char *close, int max, const expr **arg)
{
    int k = 0;
    if (eat(p, close))
        return 0;
    do {
        if (k == max)
            return fail(p, "too many arguments"), -1;
        if (!(arg[k++] = choice(p)))
            return -1;
    } while (eat(p, ","));
    return eat(p, close) ? k : (fail(p, "a closing bracket expected"), -1);
}

static const expr *called(parser *p, const char *name, const char *start)
{
    const expr *arg[MAX_ARG];
    const fn *f = fn_find(name);
    dtype d;
    const bool cast = dtype_parse(name, &d);
    if (!f && !cast)
        return p->at = start, fail(p, "no such function");
    const int k = arguments(p, ")", MAX_ARG, arg);
    if (k < 0)
        return NULL;
    if (k != (cast ? 1 : f->arity))
        return p->at = start, fail(p, "wrong number of arguments");
    return cast ? x_cast(p->m, d, arg[0]) : x_call(p->m, name, k, arg);
}

/* A name; with subscripts, the element of the tensor that the name's value is loaded from. */
static const expr *known_value(parser *p, const expr *value)
{
    const expr *sub[MAX_RANK];
    if (!eat(p, "["))
        return value;
    if (value->kind != X_LOAD)
        return fail(p, "only tensors have subscripts");
    const int k = arguments(p, "]", MAX_RANK, sub);
    if (k < 0)
        return NULL;
    if (k != value->from->type.rank)
        return fail(p, "as many subscripts as the tensor has axes expected");
    for (int i = 0; i < k; i++)
        if (sub[i]->dtype != TS_N_DTYPE ? sub[i]->dtype != TS_I64 : !sub[i]->is_whole)
            return fail(p, "subscripts are of dtype i64");
    return x_load(p->m, value->from, sub);
}

static const expr *named(parser *p)
{
    char name[32];
    size_t n = 0;
    const char *start = p->at;
    while (isalnum((unsigned char)*p->at) || *p->at == '_') {
        if (n + 1 < sizeof name)
            name[n++] = *p->at;
        p->at++;
    }
    name[n] = 0;
    if (eat(p, "("))
        return called(p, name, start);
    for (int i = 0; i < p->known->n; i++)
        if (!strcmp(p->known->name[i], name))
            return known_value(p, p->known->value[i]);
    if (!strcmp(name, "inf"))
        return x_real(p->m, INFINITY);
    if (!strcmp(name, "nan"))
        return x_real(p->m, NAN);
    p->at = start;
    return fail(p, "unknown name");
}

static const expr *unary(parser *p)
{
    const expr *x;
    if (++p->depth > MAX_DEPTH)
        return fail(p, "nested too deeply");
    if (eat(p, "-"))
        x = (x = unary(p)) ? x1(p->m, "neg", x) : NULL;
    else if (eat(p, "!"))
        x = (x = unary(p)) ? x1(p->m, "not", x) : NULL;
    else if (eat(p, "("))
        x = (x = choice(p)) && !eat(p, ")") ? fail(p, "')' expected") : x;
    else if (isdigit((unsigned char)*p->at) || *p->at == '.')
        x = number(p);
    else if (isalpha((unsigned char)*p->at) || *p->at == '_')
        x = named(p);
    else
        x = fail(p, "a value expected");
    p->depth--;
    return x;
}

/* Binary operators by level, tightest first; a swapped one takes its arguments in reverse. */
static const struct {
    const char *sign, *fn;
    int level;
    bool swap;
} binary[] = {{"*", "mul", 0, false}, {"/", "div", 0, false}, {"%", "mod", 0, false}, {"+", "add", 1, false},
              {"-", "sub", 1, false}, {"<=", "le", 2, false}, {">=", "le", 2, true},  {"<", "lt", 2, false},
              {">", "lt", 2, true},   {"==", "eq", 3, false}, {"!=", "ne", 3, false}, {"&&", "and", 4, false},
              {"||", "or", 5, false}};

static const expr *level(parser *p, int l)
{
    if (l < 0)
        return unary(p);
    const expr *x = level(p, l - 1);
    for (int i = 0; x && i < COUNT(binary);) {
        if (binary[i].level != l || !eat(p, binary[i].sign)) {
            i++;
            continue;
        }
        const expr *y = level(p, l - 1);
        if (!y)
            return NULL;
        x = binary[i].swap ? x2(p->m, binary[i].fn, y, x) : x2(p->m, binary[i].fn, x, y);
        i = 0;
    }
    return x;
}

static const expr *choice(parser *p)
{
    const expr *c = level(p, 5), *a, *b;
    if (!c || !eat(p, "?"))
        return c;
    if (!(a = choice(p)))
        return NULL;
    if (!eat(p, ":"))
        return fail(p, "':' expected");
    return (b = choice(p)) ? x3(p->m, "select", c, a, b) : NULL;
}

const expr *x_parse(arena *m, const char *source, const names *known, err *e)
{
    parser p = {m, source, source, known, e, 0};
    const expr *x = choice(&p);
    while (x && isspace((unsigned char)*p.at))
        p.at++;
    return x && *p.at ? fail(&p, "end expected") : x;
}

/* ---- printing ---- */
static void print_literal(text *t, const expr *x)
{
    if (x->is_whole)
        text_add(t, "%lld", (long long)x->whole);
    else if (isnan(x->lit))
        text_add(t, "nan");
    else if (isinf(x->lit))
        text_add(t, x->lit < 0 ? "-inf" : "inf");
    else {
        size_t at = t->len;
        text_add(t, "%.17g", x->lit);
        if (!strpbrk(t->s + at, ".en"))
            text_add(t, ".0"); /* a real literal stays one when read back */
    }
}

static void print_axes(text *t, uint32_t axes, const char *(*axis_name)(void *user, int axis), void *user)
{
    for (int i = 0; i < MAX_AXIS; i++)
        if (axes >> i & 1)
            text_add(t, " %s", axis_name(user, i));
    text_add(t, " (");
}

void x_print(text *t, const expr *x, const char *(*axis_name)(void *user, int axis), void *user)
{
    const char *sign = NULL;
    switch (x->kind) {
    case X_LIT: print_literal(t, x); return;
    case X_AXIS: text_add(t, "%s", axis_name(user, x->axis)); return;
    case X_STATE: text_add(t, "s%d", x->axis); return;
    case X_LOAD: text_add(t, "n%d[", x->from->id); break;
    case X_CAST: text_add(t, "%s(", ts_dtype_name(x->dtype)); break;
    case X_FOLD:
        text_add(t, "fold %s", x->fn->name);
        print_axes(t, x->folds, axis_name, user);
        break;
    case X_ROUTINE: text_add(t, "routine %s(", x->run->name); break;
    case X_SCATTER:
    case X_SCAN:
        text_add(t, x->kind == X_SCAN ? "scan of" : "scatter %s", x->fn ? x->fn->name : "set");
        if (x->kind == X_SCAN && !x->folds)
            text_add(t, " along %s", axis_name(user, x->axis));
        print_axes(t, x->folds, axis_name, user);
        break;
    case X_CALL:
        for (int i = 0; i < COUNT(binary); i++)
            if (!binary[i].swap && !strcmp(binary[i].fn, x->fn->name))
                sign = binary[i].sign;
        text_add(t, sign ? "(" : "%s(", x->fn->name);
    }
    for (int i = 0; i < x->n; i++) {
        if (i && sign)
            text_add(t, " %s ", sign);
        else if (i)
            text_add(t, ", ");
        x_print(t, x->arg[i], axis_name, user);
    }
    text_add(t, x->kind == X_LOAD ? "]" : ")");
}

void x_write(text *t, const expr *x, void (*end)(text *t, const expr *x, void *user), void *user)
{
    MUST(x->kind != X_FOLD && x->kind != X_STATE && !x_alone(x));
    if (x->kind == X_LIT) {
        print_literal(t, x);
        return;
    }
    if (x->kind == X_AXIS || x->kind == X_LOAD) {
        end(t, x, user);
        return;
    }
    text_add(t, "%s(", x->kind == X_CAST ? ts_dtype_name(x->dtype) : x->fn->name);
    for (int i = 0; i < x->n; i++) {
        text_add(t, i ? "," : "");
        x_write(t, x->arg[i], end, user);
    }
    text_add(t, ")");
}
