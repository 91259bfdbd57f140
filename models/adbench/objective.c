/* objective.c - what problems of ADBench share: numbers from a file or a seed, inputs, derivatives. */
#include "models/adbench/objective.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool objective_fail(problem *p, ts_code code, const char *fmt, ...)
{
    va_list list;
    if (p->e->code != TS_OK)
        return false;
    va_start(list, fmt);
    p->e->code = code, vsnprintf(p->e->text, sizeof p->e->text, fmt, list);
    va_end(list);
    return false;
}

/* ---- sizes ---- */
/* Where `name` stands among "n=1000 d=10", what it is there; -1: nowhere. */
static int place_of(const objective *o, const char *name, int64_t *usual)
{
    const char *s = o->sizes;
    const size_t n = strlen(name);
    for (int i = 0; s && *s && i < OBJECTIVE_SIZES; i++) {
        if (!strncmp(s, name, n) && s[n] == '=')
            return *usual = strtoll(s + n + 1, NULL, 10), i;
        s += strcspn(s, " "), s += strspn(s, " ");
    }
    return -1;
}

bool objective_begin(problem *p)
{
    const char *s = p->of->sizes;
    for (int i = 0; *s && i < OBJECTIVE_SIZES; i++) {
        const char *value = strchr(s, '=') + 1;
        if (!p->size[i])
            p->size[i] = strtoll(value, NULL, 10);
        s += strcspn(s, " "), s += strspn(s, " ");
    }
    return true;
}

/* ---- numbers ---- */
static bool next_number(problem *p, double *out)
{
    char *end;
    *out = strtod(p->at, &end);
    if (end != p->at && isfinite(*out))
        return p->at = end, true;
    const int line = (int)strcspn(p->at, "\n");
    return objective_fail(p, TS_BAD_INPUT, "%s: a number expected at \"%.*s\"", p->file, line < 20 ? line : 20, p->at);
}

int64_t objective_size(problem *p, const char *name, int64_t least)
{
    int64_t usual;
    double v = 0;
    const int i = place_of(p->of, name, &usual);
    if (p->e->code != TS_OK || i < 0 || (p->at && !next_number(p, &v)))
        return -1;
    if (!p->at)
        v = (double)p->size[i];
    if (v != floor(v) || v < (double)least || v > 1e8)
        return objective_fail(p, TS_BAD_INPUT, "%s: the size %s is %g, a whole number from %lld to 1e8 expected",
                              p->at ? p->file : p->of->name, name, v, (long long)least),
               -1;
    return p->size[i] = (int64_t)v;
}

/* n made numbers: uniform ones as the library has them, normal ones by Box and Muller of two of these. */
static bool make(problem *p, ts_array *to, numbers what, int64_t n)
{
    ts_array u;
    if (!ts_array_make(&u, TS_F64, 1, (const int64_t[]){2 * n}, p->e))
        return false;
    ts_array_random(&u, p->seed + 1000 * (uint64_t)p->n_given, 0);
    const double *v = u.data;
    for (int64_t i = 0; i < n; i++) {
        const double one = 1 - (v[2 * i] + 1) / 2; /* in (0, 1] */
        const double x = what.normal ? sqrt(-2 * log(one)) * cos(acos(-1) * v[2 * i + 1]) : v[2 * i];
        ts_array_set(to, i, what.below ? (1 - one) * (double)what.below : what.mean + what.spread * x);
    }
    return ts_array_free(&u), true;
}

static bool read_numbers(problem *p, ts_array *to, int64_t below, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double v;
        if (!next_number(p, &v))
            return false;
        if (below && !(v == floor(v) && v >= 0 && v < (double)below))
            return objective_fail(p, TS_BAD_INPUT, "%s: %g is no number from 0 to %lld", p->file, v,
                                  (long long)below - 1);
        ts_array_set(to, i, v);
    }
    return true;
}

static ts_array *begin_array(problem *p, const char *name, ts_dtype dtype, int rank, const int64_t *dim)
{
    if (p->e->code != TS_OK)
        return NULL;
    if (p->n_given == OBJECTIVE_MOST)
        return objective_fail(p, TS_BUG, "an objective has too many inputs"), NULL;
    ts_given *to = &p->given[p->n_given];
    *to = (ts_given){.name = name};
    if (!ts_array_make(&to->value, dtype, rank, dim, p->e))
        return NULL;
    return p->n_given++, &to->value;
}

void *objective_take(problem *p, const char *name, numbers what, int rank, const int64_t *dim)
{
    ts_array *to = begin_array(p, name, what.below ? TS_I64 : TS_F64, rank, dim);
    if (!to)
        return NULL;
    const int64_t all = ts_array_count(to), first = what.first ? what.first : all;
    if (p->at ? !read_numbers(p, to, what.below, first) : !make(p, to, what, first))
        return NULL;
    for (int64_t i = first; i < all; i++)
        memcpy((char *)to->data + i * 8, (char *)to->data + (i - first) * 8, 8);
    return to->data;
}

bool objective_cycle(problem *p, const char *name, int64_t n, int64_t below)
{
    ts_array *to = begin_array(p, name, TS_I64, 1, &n);
    for (int64_t i = 0; to && i < n; i++)
        ((int64_t *)to->data)[i] = i % below;
    return to != NULL;
}

/* ---- graphs ---- */
ts_dtype objective_real(const ts_model *m, ts_error *e)
{
    const int64_t bits = ts_dim(m, "bits");
    if (bits == 32 || bits == 64)
        return bits == 32 ? TS_F32 : TS_F64;
    if (e) { /* not given where a model is only tried */
        e->code = TS_USAGE;
        snprintf(e->text, sizeof e->text, "dimension \"bits\" is %lld, but reals have 32 or 64", (long long)bits);
    }
    return TS_N_DTYPE;
}

static bool open_model(problem *p)
{
    char words[OBJECTIVE_SIZES][64], name[64];
    const char *list[OBJECTIVE_SIZES + 1], *s = p->of->sizes;
    int n = 0;
    for (; *s && n < OBJECTIVE_SIZES; n++) {
        snprintf(words[n], sizeof words[n], "%.*s=%lld", (int)strcspn(s, "="), s, (long long)p->size[n]);
        list[n] = words[n];
        s += strcspn(s, " "), s += strspn(s, " ");
    }
    list[n++] = p->single ? "bits=32" : "bits=64";
    snprintf(name, sizeof name, "adbench-%s", p->of->name);
    p->model = ts_model_open(name, p->e);
    if (!p->model || !ts_model_bind(p->model, n, list, NULL, p->e))
        return false;
    return p->g = ts_model_graph(p->model), true;
}

static ts_tensor input(const problem *p, int given)
{
    const ts_array *a = &p->given[given].value;
    const ts_dtype dtype = p->single && a->dtype == TS_F64 ? TS_F32 : a->dtype;
    return ts_input(p->g, p->given[given].name, dtype, a->rank, a->dim);
}

static bool add_gradients(problem *p, int n)
{
    ts_tensor in[OBJECTIVE_MOST] = {0}, out[OBJECTIVE_MOST]; /* each as the given array */
    for (int i = 0; i < n; i++)
        in[i] = input(p, i);
    if (n && !ts_chain_rule(p->g, 1, p->value, NULL, n, in, out))
        return ts_graph_ok(p->g, p->e);
    for (int i = 0; i < n; i++)
        p->slope[p->n_slope++] = (slope){.t = out[i], .given = i, .row = -1};
    return true;
}

static bool add_jacobian(problem *p, const jacobian *j)
{
    int pairs, pair[TS_MAX_RANK][2];
    ts_tensor in = j->output ? ts_model_tensor(p->model, j->output)
                             : input(p, j->given); /* as the array, or rows of it */
    ts_tensor t = ts_jacobian(p->g, p->value[j->value], in, j->by_rows ? &pairs : NULL, pair);
    if (!t)
        return ts_graph_ok(p->g, p->e);
    if (j->by_rows && (pairs != 1 || pair[0][0] || pair[0][1]))
        return objective_fail(p, TS_BUG, "an objective's rows do not read one row each");
    p->slope[p->n_slope++] = (slope){t, j->value, j->given, j->by_rows, j->row ? j->row : -1};
    return true;
}

bool objective_build(problem *p)
{
    const objective *of = p->of;
    if (!open_model(p))
        return false;
    while (p->n_value < of->n_value)
        p->value[p->n_value] = ts_model_tensor(p->model, p->n_value), p->n_value++;
    bool ok = add_gradients(p, of->n_gradient);
    for (int i = 0; ok && i < of->n_jacobian; i++)
        ok = add_jacobian(p, &of->jacobian[i]);
    return ok;
}
