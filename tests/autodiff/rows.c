#include "tests/autodiff/rows.h"
#include "graph/eval/eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool operand(row *r, const char **at)
{
    type t = {0};
    char name[16];
    char *end;
    const size_t n = strcspn(*at, "[ ");
    const int k = r->n;
    snprintf(name, sizeof name, "%.*s", (int)n, *at);
    if ((*at)[n] != '[' || k == ROW_OPERANDS || !dtype_parse(name, &t.dtype))
        return false;
    if (dtype_class(t.dtype) == D_REAL)
        t.dtype = TS_F64;
    for (*at += n + 1; **at && **at != ']'; *at = end + (*end == ','))
        t.dim[t.rank++] = strtoll(*at, &end, 10);
    ++*at;
    r->fixed[k] = **at == '=' ? strtod(*at + 1, NULL) : NAN;
    r->below[k] = **at == '<' ? strtoll(*at + 1, NULL, 10) : 9;
    r->positive[k] = **at == '+';
    *at += strcspn(*at, " "), *at += strspn(*at, " ");
    snprintf(name, sizeof name, "x%d", k);
    double value[64];
    for (int i = 0; i < COUNT(value); i++)
        value[i] = r->fixed[k];
    const bool known = !isnan(r->fixed[k]) && t.dtype == TS_F64 && type_count(&t) <= COUNT(value);
    r->in[r->n++] = known ? g_const(r->g, NULL, &t, value) : g_input(r->g, name, &t, NULL);
    return true;
}

row row_make(graph *g, const char *name, const char *line)
{
    row r = {.g = g};
    while (operand(&r, &line))
        ;
    r.y = g_callf(g, r.n, r.in, "%s %s", name, line);
    return r;
}

values values_make(const row *r, double low, double high, uint64_t seed)
{
    values v = {.n = r->g->n, .of = calloc((size_t)r->g->n + 1, sizeof *v.of)};
    MUST(v.of);
    for (int k = 0; k < r->n; k++) {
        const node *n = r->in[k];
        ts_array *a = &v.of[n->id];
        if (a->data || !ts_array_make(a, n->type.dtype, n->type.rank, n->type.dim, NULL))
            continue;
        for (int64_t i = 0; i < ts_array_count(a); i++) {
            const double u = random_unit(seed + (uint64_t)k, (uint64_t)i) / 2 + 0.5; /* [0, 1) */
            const double x = low + (high - low) * u;
            if (!isnan(r->fixed[k]))
                store_real(a->dtype, a->data, i, r->fixed[k]);
            else if (a->dtype == TS_F64)
                store_real(a->dtype, a->data, i, r->positive[k] ? fabs(x) + 0.1 : x);
            else
                store_whole(a->dtype, a->data, i, (int64_t)(u * (double)r->below[k]));
        }
    }
    return v;
}

bool values_add(values *v, const node *n, uint64_t seed)
{
    if (n->id >= v->n) {
        v->of = reallocarray(v->of, (size_t)n->id + 1, sizeof *v->of);
        MUST(v->of);
        memset(v->of + v->n, 0, (size_t)(n->id + 1 - v->n) * sizeof *v->of);
        v->n = n->id + 1;
    }
    ts_array *a = &v->of[n->id];
    if (!ts_array_make(a, n->type.dtype, n->type.rank, n->type.dim, NULL))
        return false;
    ts_array_random(a, seed, 0);
    return true;
}

void values_free(values *v)
{
    for (int i = 0; i < v->n; i++)
        ts_array_free(&v->of[i]);
    free(v->of);
    *v = (values){0};
}

static bool copy(const ts_array *from, ts_array *to)
{
    if (!ts_array_make(to, from->dtype, from->rank, from->dim, NULL))
        return false;
    memcpy(to->data, from->data, (size_t)(ts_array_count(from) * ts_dtype_bytes(from->dtype)));
    return true;
}

bool values_of(const values *v, const node *n, ts_array *out, err *e)
{
    const int count = g_reach(1, &n, NULL);
    const node **all = calloc((size_t)count, sizeof *all);
    ts_array *made = calloc((size_t)n->id + 1, sizeof *made);
    bool ok = all && made;
    MUST(ok);
    g_reach(1, &n, all);
    for (int i = 0; ok && i < count; i++) {
        const node *x = all[i];
        const ts_array *in[64];
        if (x->leaf && x->leaf->data) {
            ts_array a = {x->type.dtype, x->type.rank, {0}, (void *)(uintptr_t)x->leaf->data};
            memcpy(a.dim, x->type.dim, sizeof a.dim);
            ok = copy(&a, &made[x->id]);
        } else if (x->leaf)
            ok = x->id < v->n && v->of[x->id].data && copy(&v->of[x->id], &made[x->id]);
        else {
            for (int k = 0; k < x->n_in && k < COUNT(in); k++)
                in[k] = &made[x->in[k]->id];
            ok = node_eval(x, in, &made[x->id], e);
        }
    }
    if (ok)
        *out = made[n->id], made[n->id] = (ts_array){0};
    for (int i = 0; i <= n->id; i++)
        ts_array_free(&made[i]);
    free(made), free(all);
    return ok;
}
