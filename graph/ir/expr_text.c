/* expr_text.c - expressions as text: the definition language of pointwise operations, and the printer. */
#include "graph/ir/expr.h"
#include "graph/ir/graph.h"
#include "graph/ir/scalar.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_STEPS = 1000 };
typedef struct binding { /* of let and while, the newest first */
    const char *name;
    const expr *value;
    const struct binding *next;
} binding;
typedef struct parser {
    arena *mem;
    const char *from, *at;
    const names *known;
    err *e;
    int depth;
    int skipped; /* inside of so many choices that numbers decide otherwise: no function is expanded there */
    const binding *local;
    reading *r;
} parser;

static const expr *choice(parser *p);
static const expr *sequence(parser *p, int result, int *n_result);

static const expr *fail(parser *p, const char *what)
{
    err_set(p->e, TS_BAD_INPUT, "expression \"%s\", column %d: %s", p->from, (int)(p->at - p->from) + 1, what);
    return NULL;
}

/* Blanks before it are eaten in any case. */
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

/* Digits alone are a whole number, as in C; beyond 63 bits only a real can hold it. */
static const expr *number(parser *p)
{
    char *end;
    const char *start = p->at;
    double v = strtod(start, &end);
    bool whole = true;
    for (const char *s = start; s < end; s++)
        whole = whole && isdigit((unsigned char)*s);
    p->at = end;
    return whole && v < 0x1p63 ? x_whole(p->mem, strtoll(start, NULL, 10)) : x_real(p->mem, v);
}

/* Arguments up to the closing bracket; how many, or -1. */
static int arguments(parser *p, const char *close, int max, const expr **arg)
{
    int k = 0;
    if (eat(p, close))
        return 0;
    do {
        if (k == max)
            return fail(p, arena_format(p->mem, "argument %d, at most %d expected", max + 1, max)), -1;
        if (!(arg[k++] = choice(p)))
            return -1;
    } while (eat(p, ","));
    return eat(p, close) ? k : (fail(p, "a closing bracket expected"), -1);
}

/* A call of a graph's own; of numbers alone it is a number. */
static const expr *apply_own(parser *p, const fn *f, const expr *const *arg)
{
    bool numbers = true;
    for (int i = 0; i < f->arity; i++)
        numbers = numbers && arg[i]->kind == X_LIT && arg[i]->dtype == TS_N_DTYPE;
    if (p->skipped)
        return x_whole(p->mem, 0);
    const expr *x = x_apply(p->mem, f, f->arity, arg);
    if (!p->r->expand && !numbers)
        return x;
    const expr *y = scalar_value(p->mem, (const own_fn *)f, x->arg, true, p->r->depth + 1, p->e);
    return !y || !numbers ? y : y->kind == X_LIT ? x_real(p->mem, y->lit) : y;
}

/* The table's functions hide a graph's own of the same name. A name of a dtype is a cast. */
static const expr *called(parser *p, const char *name, const char *start)
{
    const expr *arg[MAX_ARG];
    const fn *table = fn_find(name), *f = table ? table : scalar_fn(p->known->own, name);
    dtype d;
    const bool cast = dtype_parse(name, &d);
    if (!f && !cast)
        return p->at = start,
               fail(p,
                    arena_format(p->mem,
                                 "no function is called \"%s\", one of the table or of the graph, or a dtype, expected",
                                 name));
    const int k = arguments(p, ")", MAX_ARG, arg);
    if (k < 0)
        return NULL;
    if (k != (cast ? 1 : f->arity))
        return p->at = start,
               fail(p, arena_format(p->mem, "\"%s\" has %d arguments, %d expected", name, k, cast ? 1 : f->arity));
    return cast ? x_cast(p->mem, d, arg[0]) : table ? x_apply(p->mem, f, k, arg) : apply_own(p, f, arg);
}

/* A name; with subscripts, the element of the tensor that the name's value is loaded from. */
static const expr *known_value(parser *p, const expr *value)
{
    const expr *sub[MAX_RANK];
    if (!eat(p, "["))
        return value;
    if (value->kind != X_LOAD)
        return fail(p, "'[' behind what is no tensor, an operator or the end expected");
    const int k = arguments(p, "]", MAX_RANK, sub);
    if (k < 0)
        return NULL;
    if (k != value->from->type.rank)
        return fail(p, arena_format(p->mem, "%d subscripts, %d expected", k, value->from->type.rank));
    for (int i = 0; i < k; i++)
        if (sub[i]->dtype != TS_N_DTYPE ? sub[i]->dtype != TS_I64 : !sub[i]->is_whole)
            return fail(p,
                        arena_format(p->mem, "subscript %d is %s, i64 expected", i,
                                     sub[i]->dtype == TS_N_DTYPE ? "no whole number" : ts_dtype_name(sub[i]->dtype)));
    return x_load(p->mem, value->from, sub);
}

enum { MAX_NAME = 64 };
/* A name, with what says which result or derivative of a function: "polar.1.d0". */
static void read_name(parser *p, char *name)
{
    size_t n = 0;
    while (isspace((unsigned char)*p->at))
        p->at++;
    for (; in_word(*p->at) ||
           (n && *p->at == '.' &&
            (isdigit((unsigned char)p->at[1]) || (p->at[1] == 'd' && isdigit((unsigned char)p->at[2]))));
         p->at++)
        if (n + 1 < MAX_NAME)
            name[n++] = *p->at;
    name[n] = 0;
}

/* Local names hide parameters, newer ones hide older ones: `let x = x + 1` is a new x. */
static const expr *value_named(const parser *p, const char *name)
{
    for (const binding *b = p->local; b; b = b->next)
        if (!strcmp(b->name, name))
            return b->value;
    for (int i = 0; i < p->known->n; i++)
        if (!strcmp(p->known->name[i], name))
            return p->known->value[i];
    return NULL;
}

/* With the first of the names that there are. */
static const expr *unknown(parser *p, const char *name)
{
    enum { SHOWN = 8 };
    ENDED_BY(text_free) text have = {0};
    for (int i = 0; i < p->known->n && i <= SHOWN; i++)
        text_add(&have, "%s%s", i ? ", " : "", i == SHOWN ? "..." : p->known->name[i]);
    fail(p, arena_format(p->mem, "nothing is called \"%s\", %s expected", name,
                         have.length ? text_str(&have) : "a number"));
    return NULL;
}

/* inf and nan may be hidden by parameters of these names. */
static const expr *named(parser *p)
{
    char name[MAX_NAME];
    const char *start = p->at;
    read_name(p, name);
    if (eat(p, "("))
        return called(p, name, start);
    const expr *known = value_named(p, name);
    if (known)
        return known_value(p, known);
    if (!strcmp(name, "inf"))
        return x_real(p->mem, INFINITY);
    if (!strcmp(name, "nan"))
        return x_real(p->mem, NAN);
    p->at = start;
    return unknown(p, name);
}

/* Depth is bounded: texts come from files, and the stack is not theirs. */
static const expr *unary(parser *p)
{
    const expr *x;
    if (++p->depth > MAX_DEPTH)
        return fail(p, arena_format(p->mem, "nested over %d deep, less expected", MAX_DEPTH));
    if (eat(p, "-"))
        x = (x = unary(p)) ? x1(p->mem, "neg", x) : NULL;
    else if (eat(p, "!"))
        x = (x = unary(p)) ? x1(p->mem, "not", x) : NULL;
    else if (eat(p, "("))
        x = (x = sequence(p, 0, &(int){1})) && !eat(p, ")") ? fail(p, "')' expected") : x;
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

/* The row of the operator that stands here; -1: none. Blanks before it are eaten in any case. */
static int binary_at(parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
    for (int i = 0; i < COUNT(binary); i++) {
        const char *s = binary[i].sign;
        if (*p->at == *s && (s[1] ? p->at[1] == s[1] : !strchr("<>", *s) || p->at[1] != '='))
            return i;
    }
    return -1;
}

/* Operators of level l and tighter ones. All are left-associative: a - b - c is (a - b) - c. */
static const expr *level(parser *p, int l)
{
    const expr *x = unary(p);
    for (int i; x && (i = binary_at(p)) >= 0 && binary[i].level <= l;) {
        p->at += strlen(binary[i].sign);
        const expr *y = level(p, binary[i].level - 1);
        if (!y)
            return NULL;
        x = binary[i].swap ? x2(p->mem, binary[i].fn, y, x) : x2(p->mem, binary[i].fn, x, y);
    }
    return x;
}

static const expr *choice(parser *p)
{
    const expr *c = level(p, 5), *a, *b;
    if (!c || !eat(p, "?"))
        return c;
    const bool number = c->kind == X_LIT, yes = number && (c->is_whole ? c->whole != 0 : c->lit != 0);
    p->skipped += number && !yes;
    a = choice(p);
    p->skipped += (number && yes) - (number && !yes);
    b = !a ? NULL : eat(p, ":") ? choice(p) : fail(p, "':' expected");
    p->skipped -= number && yes;
    return b ? x3(p->mem, "select", c, a, b) : NULL;
}

/* ---- let, while ---- */
static bool eat_word(parser *p, const char *word)
{
    const char *start = p->at;
    if (eat(p, word) && !in_word(*p->at))
        return true;
    return p->at = start, false;
}

/* Bindings end with the brackets that they stand in (sequence). */
static void bind(parser *p, const char *name, const expr *value)
{
    binding *b = arena_get(p->mem, sizeof *b);
    *b = (binding){arena_string(p->mem, name), value, p->local};
    p->local = b;
}

/* Names, up to "="; how many, or -1. */
static int left_sides(parser *p, char name[][MAX_NAME], int max)
{
    int n = 0;
    do {
        if (n == max)
            return fail(p, arena_format(p->mem, "over %d name%s, '=' expected", max, max == 1 ? "" : "s")), -1;
        read_name(p, name[n]);
        if (!*name[n] || isdigit((unsigned char)*name[n]) || strchr(name[n], '.'))
            return fail(p, "a name expected"), -1;
        n++;
    } while (eat(p, ","));
    return eat(p, "=") ? n : (fail(p, "'=' expected"), -1);
}

/* let r, t = polar(x, y); */
static bool let_several(parser *p, int n, char name[][MAX_NAME])
{
    char call[MAX_NAME];
    const expr *arg[MAX_ARG], *value[SCALAR_RESULT];
    read_name(p, call);
    const scalar *of = scalar_find(p->known->own, call, strlen(call));
    if (!of || of->n_result != n || !eat(p, "("))
        return fail(p, "a call of a function with as many results as there are names expected"), false;
    const int k = arguments(p, ")", MAX_ARG, arg);
    if (k >= 0 && k != of->n_parameter)
        return fail(p, arena_format(p->mem, "\"%s\" has %d arguments, %d expected", call, k, of->n_parameter)), false;
    for (int i = 0; k >= 0 && i < n; i++) {
        const fn *f = scalar_fn(p->known->own, i ? arena_format(p->mem, "%s.%d", call, i) : call);
        if (!f || !(value[i] = apply_own(p, f, arg)))
            return false;
    }
    for (int i = 0; k >= 0 && i < n; i++)
        bind(p, name[i], value[i]);
    return k >= 0;
}

/* let x = e; or let r, t = polar(x, y); */
static bool let(parser *p)
{
    char name[SCALAR_RESULT][MAX_NAME];
    const int n = left_sides(p, name, SCALAR_RESULT);
    if (n > 1)
        return let_several(p, n, name) && (eat(p, ";") || (fail(p, "';' expected"), false));
    const expr *x = n == 1 ? choice(p) : NULL;
    if (x && !eat(p, ";"))
        return fail(p, "';' expected"), false;
    if (x)
        bind(p, name[0], x);
    return x != NULL;
}

/* x = e, y = f; at once, where c holds. */
static bool assign(parser *p, const expr *c)
{
    char name[SCALAR_RESULT][MAX_NAME];
    const expr *value[SCALAR_RESULT];
    int n = 0;
    do {
        if (n == SCALAR_RESULT)
            return fail(p, arena_format(p->mem, "over %d names, ';' expected", SCALAR_RESULT)), false;
        if (left_sides(p, name + n, 1) < 0)
            return false;
        const expr *was = value_named(p, name[n]);
        if (!was)
            return fail(p, "a name that stands for a value already expected"), false;
        const expr *x = choice(p);
        if (!x)
            return false;
        value[n++] = c ? x3(p->mem, "select", c, x, was) : NULL;
    } while (eat(p, ","));
    for (int i = 0; i < n && c; i++)
        bind(p, name[i], value[i]);
    return eat(p, ";") || (fail(p, "';' expected"), false);
}

/* ", 20)": no loop without an end that can be read off the text. */
static bool read_bound(parser *p, int64_t *out)
{
    const expr *x = eat(p, ",") ? choice(p) : NULL;
    *out = x && x->kind == X_LIT && x->is_whole ? x->whole : 0;
    if (*out < 1 || *out > MAX_STEPS)
        return fail(p, "a number of steps from 1 to 1000 expected, as in while (x < 1, 20)"), false;
    return eat(p, ")") || (fail(p, "')' expected"), false);
}

/* while (c, 20) x = e, y = f; behind "while": as many choices as there are steps, fewer where numbers decide. */
static bool loop(parser *p)
{
    const char *start = p->at;
    int64_t most = 1;
    for (int64_t k = 0;; k++) {
        p->at = start;
        const expr *c = eat(p, "(") ? choice(p) : NULL;
        if (!c || !read_bound(p, &most))
            return err_is(p->e) ? false : (fail(p, "a condition in brackets expected"), false);
        const bool known = c->kind == X_LIT, holds = known && (c->is_whole ? c->whole != 0 : c->lit != 0);
        const bool ends = p->skipped || k == most || (known && !holds);
        if (k == most && holds && !p->skipped)
            return fail(p,
                        "the condition still holds after the last step, more steps or a condition that ends expected"),
                   false;
        p->skipped += ends;
        const bool ok = assign(p, ends ? NULL : c);
        p->skipped -= ends;
        if (!ok || ends)
            return ok;
    }
}

static const expr *sequence(parser *p, int result, int *n_result)
{
    const binding *outer = p->local;
    const expr *x = NULL, *y;
    int n = 0;
    for (bool more = true; more;) {
        if (eat_word(p, "let")) {
            if (!let(p))
                return NULL;
        } else if (eat_word(p, "while")) {
            if (!loop(p))
                return NULL;
        } else
            more = false;
    }
    do {
        if (!(y = choice(p)))
            return NULL;
        x = n++ == result ? y : x;
    } while (*n_result != 1 && eat(p, ","));
    p->local = outer;
    if (*n_result && n != *n_result)
        return err_set(p->e, TS_BAD_INPUT, "expression \"%s\": %d results, expected %d", p->from, n, *n_result), NULL;
    *n_result = n;
    return x;
}

/* Expressions of equal parts are not shared yet: x_share does that. */
const expr *x_read(arena *mem, const char *source, reading *r, err *e)
{
    err own = {0};
    parser p = {.mem = mem, .from = source, .at = source, .known = r->known, .e = e ? e : &own, .r = r};
    const expr *x = sequence(&p, r->result, &r->n_result);
    while (x && isspace((unsigned char)*p.at))
        p.at++;
    return x && *p.at ? fail(&p, "end expected") : x;
}

const expr *x_parse(arena *mem, const char *source, const names *known, err *e)
{
    if (known->own)
        known->own->calls = 0;
    return x_read(mem, source, &(reading){.known = known, .n_result = 1}, e);
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
        size_t at = t->length;
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

/* For people: explain, notes, golden files. Every operator in brackets, so that nothing about precedence need be known.
 */
void x_print(text *t, const expr *x, const char *(*axis_name)(void *user, int axis), void *user)
{
    const char *sign = NULL;
    switch (x->kind) {
    case X_LIT: print_literal(t, x); return;
    case X_AXIS: text_add(t, "%s", axis_name(user, x->axis)); return;
    case X_SIZE: text_add(t, "size%d", x->axis); return;
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

/* To be read back by x_parse: calls by name alone, casts where dtypes change, leaves as the caller writes them. */
void x_write(text *t, const expr *x, void (*end)(text *t, const expr *x, void *user), void *user)
{
    MUST(x->kind != X_FOLD && !x_alone(x));
    if (x->kind == X_LIT) {
        print_literal(t, x);
        return;
    }
    if (x->kind == X_AXIS || x->kind == X_LOAD || x->kind == X_STATE) {
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
