/* function.c - a scalar function of a graph as C that stands alone, to be read and compiled anywhere. */
#include "graph/ir/rule.h"
#include "graph/ir/scalar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = SCALAR_RESULT * MAX_ARG };
typedef struct part { /* that is used more than once has a name of its own */
    const expr *x;
    int uses, number;
} part;
typedef struct source {
    arena *mem;
    text *t;
    const scalar *f;
    const expr *value; /* of an operation of the table; NULL: f says it */
    const char *state[2 * MAX_ARG + SCALAR_RESULT];
    part *part;
    int n, cap, n_number;
    bool failed;
} source;

/* What libm has no function for */
static const struct {
    const char *fn, *text;
} helpers[] = {
    {"max", "static double max(double a, double b)\n{\n    return a >= b || a != a ? a : b;\n}\n\n"},
    {"min", "static double min(double a, double b)\n{\n    return a <= b || a != a ? a : b;\n}\n\n"},
    {"mod", "static double floor_mod(double a, double b)\n{\n    const double r = fmod(a, b);\n    return r == "
            "0 ? copysign(0, b) "
            ": (r < 0) != (b < 0) ? r + b : r;\n}\n\n"},
    {"floordiv", "static double floor_div(double a, double b)\n{\n    const double y = a / b, r = fmod(a, b);\n    "
                 "const double q = (a - "
                 "r) / b - (r != 0 && (r < 0) != (b < 0)), whole = floor(q);\n    return b == 0 ? y : q == 0 ? "
                 "copysign(0, y) : q - "
                 "whole > 0.5 ? whole + 1 : whole;\n}\n\n"},
};

/* ---- names ---- */
static bool stands_in(const char *words, const char *name, size_t n)
{
    for (const char *at = words; (at = strstr(at, " ")) && *++at;)
        if (!strncmp(at, name, n) && at[n] == ' ')
            return true;
    return false;
}

/* As the user wrote it; longer where C, its library or what is written here has the same. */
static const char *spared(arena *mem, const char *name)
{
    static const char words[] =
        " auto break case char const continue default do double else enum extern float for goto if inline int long "
        "main register restrict return short signed sizeof static struct switch typedef union unsigned void volatile "
        "while out seed max min floor_mod floor_div isnan isinf isfinite isnormal signbit fpclassify j0 j1 jn y0 y1 "
        "yn gamma ";
    static const char math[] =
        " acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp log log10 "
        "log1p log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma tgamma ceil floor nearbyint rint "
        "lrint llrint lround llround round trunc fmod remainder remquo copysign nan nextafter nexttoward fdim fmax "
        "fmin fma abs ";
    const size_t n = strlen(name);
    const bool narrow = n > 1 && (name[n - 1] == 'f' || name[n - 1] == 'l') && stands_in(math, name, n - 1);
    const bool own = *name == 't' && name[1] && !name[1 + strspn(name + 1, "0123456789")];
    if (!strncmp(name, "d_", 2)) /* how a parameter moves */
        return arena_format(mem, "arg_%s", name);
    const bool taken = stands_in(words, name, n) || stands_in(math, name, n) || narrow || own;
    return taken ? arena_format(mem, "%s_", name) : name;
}

/* ---- parts ---- */
static part *part_of(source *s, const expr *x)
{
    for (int i = 0; i < s->n; i++)
        if (s->part[i].x == x)
            return &s->part[i];
    return NULL;
}

/* Parts before what they are parts of: the order in which name_parts writes them. */
static void count(source *s, const expr *x)
{
    part *p = part_of(s, x);
    if (p) {
        p->uses++;
        return;
    }
    for (int i = 0; i < x->n; i++)
        count(s, x->arg[i]);
    s->part = heap_grown(s->part, s->n, &s->cap, sizeof *s->part);
    s->part[s->n++] = (part){x, 1, -1};
}

/* 17 digits bring every double back to the bit; a point or exponent keeps C from reading a whole number. */
static void literal(source *s, const expr *x)
{
    const size_t at = s->t->length;
    if (x->dtype == TS_BOOL)
        text_add(s->t, "%d", (int)(x->whole != 0));
    else if (isnan(x->lit) || isinf(x->lit))
        text_add(s->t, isnan(x->lit) ? "NAN" : x->lit < 0 ? "(-INFINITY)" : "INFINITY");
    else {
        text_add(s->t, x->lit < 0 ? "(%.17g" : "%.17g", x->lit);
        text_add(s->t, "%s%s", strpbrk(s->t->s + at, ".e") ? "" : ".0", x->lit < 0 ? ")" : "");
    }
}

static void print(source *s, const expr *x);

/* A quotient of whole numbers may be by 0, for which doubles have another answer. */
static bool may_divide(const expr *x)
{
    const bool quotient = x_is_call(x, "mod") || x_is_call(x, "floordiv") || x_is_call(x, "fmod");
    return quotient && (x->arg[1]->kind != X_LIT || x->arg[1]->lit == 0);
}

/* A spelling has `$k` for its arguments and `@` where it differs for floats; here all are doubles, whole numbers (loops
 * count by these) too. */
static void print_call(source *s, const expr *x)
{
    const dtype d = x->fn->result == R_SECOND ? x->dtype : x->arg[0]->dtype;
    const bool whole = d != TS_N_DTYPE && dtype_class(d) == D_WHOLE;
    const char *c = fn_spelled(x->fn, d == TS_N_DTYPE || whole ? TS_F64 : d);
    s->failed = s->failed || !c || (whole && may_divide(x)) || x_is_call(x, "at");
    for (; c && *c && !s->failed; c++)
        if (*c == '$')
            print(s, x->arg[*++c - '0']);
        else if (*c != '@')
            text_add(s->t, "%c", *c);
}

static void print(source *s, const expr *x)
{
    const part *p = part_of(s, x);
    if (p && p->number >= 0)
        text_add(s->t, "t%d", p->number);
    else if (x->kind == X_LIT)
        literal(s, x);
    else if (x->kind == X_STATE)
        text_add(s->t, "%s", s->state[x->axis]);
    else if (x->kind == X_CAST) {
        const bool cut = x->dtype == TS_I64 && dtype_real(x->arg[0]->dtype);
        s->failed = s->failed || (x->dtype != TS_F64 && x->dtype != TS_I64 && x->dtype != TS_BOOL);
        text_add(s->t, x->dtype == TS_BOOL ? "(" : cut ? "trunc(" : "(double)");
        print(s, x->arg[0]);
        text_add(s->t, x->dtype == TS_BOOL ? " != 0)" : cut ? ")" : "");
    } else if (x->kind == X_CALL)
        print_call(s, x);
    else
        s->failed = true;
}

/* Parts that are used more than once, before what they are parts of. */
static void name_parts(source *s)
{
    for (int i = 0; i < s->n; i++) {
        part *p = &s->part[i];
        if (p->uses < 2 || p->x->kind == X_LIT || p->x->kind == X_STATE)
            continue;
        const int number = s->n_number++;
        text_add(s->t, "    const %s t%d = ", p->x->dtype == TS_BOOL ? "int" : "double", number);
        print(s, p->x);
        text_add(s->t, ";\n");
        p->number = number;
    }
}

/* ---- an operation of the table, of numbers ---- */
typedef struct spelled {
    arena *mem;
    int n;
    const node *const *in;
    err *e;
} spelled;

static const expr *element(spelled *s, const node *n);

static const expr *spell_one(void *user, const expr *x)
{
    spelled *s = user;
    for (int i = 0; i < s->n && x->kind == X_LOAD; i++)
        if (x->from == s->in[i])
            return x_state(s->mem, TS_F64, i);
    return x->kind == X_LOAD && !err_is(s->e) ? element(s, x->from) : x;
}

static const expr *element(spelled *s, const node *n)
{
    defn d;
    ts_array a = {0};
    double v = 0;
    if (node_is_leaf(n)) { /* a constant */
        if (ts_leaf_value(n, &a, s->e))
            v = ts_array_at(&a, 0), ts_array_free(&a);
        return err_is(s->e) ? x_whole(s->mem, 0) : x_literal(s->mem, n->type.dtype, v);
    }
    if (!g_defn(n, s->mem, &d, s->e))
        return x_whole(s->mem, 0);
    if (x_find(d.value, X_FOLD) || x_find(d.value, X_AXIS)) {
        err_set(s->e, TS_BAD_INPUT, "operation %s is no function of numbers: it looks at several elements",
                n->op->name);
        return x_whole(s->mem, 0);
    }
    return x_map(s->mem, d.value, spell_one, s);
}

/* "gelu approximate=tanh" of numbers a, b, ...; the nodes are of a graph that is gone afterwards */
static const expr *operation(arena *mem, const char *call, scalar *f, err *e)
{
    static const char *const name[] = {"a", "b", "c", "d"};
    const node *in[MAX_ARG];
    f->name = arena_format(mem, "%.*s", (int)strcspn(call, " "), call);
    const op *o = op_find(f->name);
    if (!o || op_is_bare(o)) {
        err_set(e, TS_BAD_INPUT, "there is no function and no operation \"%s\"", f->name);
        return err_hint(e, "a function has a text: \"%s(x) = x*x\"; docs/gradients.md lists operations", f->name), NULL;
    }
    if (o->arity < 1 || o->arity > MAX_ARG)
        return err_set(e, TS_BAD_INPUT, "operation %s takes %s operands, expected 1 to %d", o->name,
                       o->arity < 0 ? "any number of" : "more", MAX_ARG),
               NULL;
    ts_graph *g = ts_graph_make();
    f->n_parameter = o->arity, f->n_result = 1;
    for (int i = 0; i < o->arity; i++)
        f->parameter[i] = name[i], in[i] = ts_input(g, name[i], TS_F64, 0, NULL);
    const node *y = g_call(g, call, o->arity, in);
    err own = g->err;
    const expr *x = y ? element(&(spelled){mem, o->arity, in, &own}, y) : NULL;
    ts_graph_free(g);
    return err_is(&own) ? err_set(e, own.code, "%s", own.text), NULL : x_cast(mem, TS_F64, x);
}

/* ---- the function ---- */
/* Names of derivatives: f.1.d0 is the derivative of the second result by the first parameter. */
static const expr *result(source *s, int r, int by, const expr *const *arg, err *e)
{
    const scalar *f = s->f;
    if (s->value) {
        const expr *d = by < 0 ? s->value : d_expr(s->mem, s->value, arg[by], e);
        return d || err_is(e) ? d : x_cast(s->mem, TS_F64, x_whole(s->mem, 0));
    }
    const char *name = r ? arena_format(s->mem, "%s.%d", f->name, r) : f->name;
    name = by < 0 ? name : arena_format(s->mem, "%s.d%d", name, by);
    const expr *x = scalar_value(s->mem, (const own_fn *)scalar_fn(f->in, name), arg, true, 0, e);
    return x ? x_cast(s->mem, TS_F64, x) : NULL;
}

/* Rows of results: values; how they move; what parameters receive. */
static int rows(source *s, char what, const expr **row, err *e)
{
    const scalar *f = s->f;
    const expr *arg[MAX_ARG], *slope;
    int n = 0;
    for (int i = 0; i < f->n_parameter; i++)
        arg[i] = x_state(s->mem, TS_F64, i);
    for (int r = 0; r < f->n_result && what == 'v'; r++)
        if (!(row[n++] = result(s, r, -1, arg, e)))
            return 0;
    const int outer = what == 'v' ? 0 : what == 'j' ? f->n_result : f->n_parameter;
    for (int i = 0; i < outer; i++, n++) {
        row[n] = NULL;
        for (int k = 0; k < (what == 'j' ? f->n_parameter : f->n_result); k++) {
            if (!(slope = result(s, what == 'j' ? i : k, what == 'j' ? k : i, arg, e)))
                return 0;
            row[n] = d_add(s->mem, row[n], d_mul(s->mem, slope, x_state(s->mem, TS_F64, MAX_ARG + k)));
        }
        row[n] = row[n] ? row[n] : x_cast(s->mem, TS_F64, x_whole(s->mem, 0));
    }
    return n;
}

/* State k of the expressions is parameter k; behind MAX_ARG come their movements (jvp) or the seeds of the results
 * (vjp). */
static void print_head(source *s, char what, int n)
{
    const scalar *f = s->f;
    static const char *const ends[] = {['v'] = "", ['j'] = "_jvp", ['r'] = "_vjp"};
    text_add(s->t, "%s %s%s(", n > 1 ? "void" : "double", spared(s->mem, f->name), ends[(int)what]);
    for (int i = 0; i < f->n_parameter; i++)
        s->state[i] = spared(s->mem, f->parameter[i]), text_add(s->t, "%sdouble %s", i ? ", " : "", s->state[i]);
    for (int i = 0; i < (what == 'j' ? f->n_parameter : 0); i++) {
        s->state[MAX_ARG + i] = arena_format(s->mem, "d_%s", s->state[i]);
        text_add(s->t, ", double %s", s->state[MAX_ARG + i]);
    }
    for (int i = 0; i < (what == 'r' ? f->n_result : 0); i++)
        s->state[MAX_ARG + i] = f->n_result > 1 ? arena_format(s->mem, "seed[%d]", i) : "seed";
    text_add(s->t, what != 'r' ? "" : f->n_result > 1 ? ", const double *seed" : ", double seed");
    text_add(s->t, n > 1 ? ", double *out)" : ")");
}

/* Compilers warn of parameters that nothing reads. */
static void spare_unused(source *s)
{
    bool used[COUNT(s->state)] = {false};
    for (int i = 0; i < s->n; i++)
        if (s->part[i].x->kind == X_STATE)
            used[s->part[i].x->axis] = true;
    for (int i = 0; i < COUNT(used); i++) {
        const size_t n = s->state[i] ? strcspn(s->state[i], "[") : 0; /* seeds are of one array */
        bool known = !n || used[i];
        for (int k = 0; k < COUNT(used) && !known; k++)
            known = s->state[i][n] && k != i && s->state[k] && !strncmp(s->state[k], s->state[i], n + 1) &&
                    (used[k] || k < i);
        if (!known)
            text_add(s->t, "    (void)%.*s;\n", (int)n, s->state[i]);
    }
}

static void print_all(source *s, char what, int n, const expr **row)
{
    ENDED_BY(text_free) text body = {0}, head = {0};
    text *whole = s->t;
    s->t = &head;
    print_head(s, what, n);
    s->t = &body;
    for (int i = 0; i < n; i++)
        count(s, row[i]);
    spare_unused(s);
    name_parts(s);
    for (int i = 0; i < n; i++) {
        text_add(&body, n > 1 ? "    out[%d] = " : "    return ", i);
        print(s, row[i]);
        text_add(&body, ";\n");
    }
    text_add(whole, "/* %s. %s; written by tessera. */\n#include <math.h>\n\n", s->f->name,
             what == 'v'   ? "Its value"
             : what == 'j' ? "How its results change as the parameters move"
                           : "What its parameters receive from its results");
    for (int i = 0; i < COUNT(helpers); i++)
        for (int k = 0; k < s->n; k++)
            if (x_is_call(s->part[k].x, helpers[i].fn)) {
                text_add(whole, "%s", helpers[i].text);
                break;
            }
    text_add(whole, "%s;\n\n%s\n{\n%s}\n", text_str(&head), text_str(&head), text_str(&body));
    s->t = whole;
}

char *ts_function_source(ts_graph *g, const char *name, const char *what, ts_error *e)
{
    if (!err_given(g, "the graph", e))
        return NULL;
    static const char *const kinds[] = {"value", "jvp", "vjp"};
    if (!name || !what)
        return err_set(e, TS_USAGE, "source of a function: %s is missing", name ? "value, jvp or vjp" : "its name"),
               NULL;
    ENDED_BY(arena_free) arena mem = {0};
    ENDED_BY(text_free) text t = {0};
    const expr *row[MAX_ROWS];
    char kind = 0;
    scalar own = {0};
    source s = {.mem = &mem, .t = &t, .f = scalar_find(g->scalars, name, strlen(name))};
    for (int i = 0; i < 3; i++)
        kind = !strcmp(what, kinds[i]) ? "vjr"[i] : kind;
    if (!kind)
        return err_set(e, TS_USAGE, "\"%s\" is none of value, jvp and vjp", what), NULL;
    if (s.f)
        s.f->in->calls = 0;
    else
        s.value = operation(&mem, name, &own, e), s.f = &own;
    const int n = err_is(e) ? 0 : rows(&s, kind, row, e);
    for (int i = 0; i < n; i++)
        row[i] = x_share(&mem, row[i]);
    for (int i = 0; i < n; i++) /* rows share what is alike */
        for (int k = 0; k < i; k++)
            row[i] = x_same(row[i], row[k]) ? row[k] : row[i];
    if (n)
        print_all(&s, kind, n, row);
    if (n && s.failed)
        err_set(e, TS_UNSUPPORTED,
                "function %s: it computes with whole numbers or by a dtype in a way that has no form here", name);
    free(s.part);
    if (n && !s.failed)
        return text_take(&t);
    return NULL;
}
