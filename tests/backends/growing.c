#include "tests/backends/growing.h"

#include <string.h>

enum { MOST_WORK = 200000 };

int64_t roll(dice *d, int64_t n)
{
    return (int64_t)(random_bits(d->seed, d->at++) >> 16) % n;
}

int64_t some_extent(dice *d)
{
    static const int64_t often[] = {1, 2, 3, 4, 5, 7, 8, 12, 13, 16, 17, 20, 31, 33, 48};
    return often[roll(d, COUNT(often))];
}

int64_t value_count(const value *v)
{
    int64_t n = 1;
    for (int i = 0; i < v->rank; i++)
        n *= v->dim[i];
    return n;
}

bool same_shape(const value *a, const value *b)
{
    return a->rank == b->rank && !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);
}

static double exact_below(ts_dtype t)
{
    switch (t) {
    case TS_I8: return 1 << 7;
    case TS_BF16: return 1 << 8;
    case TS_F16: return 1 << 11;
    case TS_I16: return 1 << 15;
    default: return 1 << 22;
    }
}

bool fits(const value *v, int64_t folded)
{
    const int64_t n = value_count(v);
    return n <= MOST_ELEMENTS && n * folded <= MOST_WORK && v->bound < exact_below(v->dtype);
}

bool has_room(const growing *w)
{
    return w->n <= MAX_VALUES - 4;
}

void put_ints(growing *w, const char *name, int n, const int64_t *v)
{
    text_add(&w->call, " %s=[", name);
    for (int i = 0; i < n; i++)
        text_add(&w->call, "%s%lld", i ? "," : "", (long long)v[i]);
    text_add(&w->call, "]");
}

static int add(growing *w, const char *mark, ts_dtype t, int rank, const int64_t *dim, double bound)
{
    value *v = &w->v[w->n];
    *v = (value){.dtype = t, .rank = rank, .bound = bound};
    text_add(w->row, "%sv%d%s %s[", w->row->length ? "; " : "", w->n, mark, ts_dtype_name(t));
    for (int i = 0; i < rank; i++)
        text_add(w->row, "%s%lld", i ? "," : "", (long long)(v->dim[i] = dim[i]));
    text_add(w->row, "]");
    return w->n++;
}

int add_leaf(growing *w, ts_dtype t, int rank, const int64_t *dim)
{
    return add(w, roll(w->d, 2) ? "!" : "", t, rank, dim, t == TS_BOOL ? 1 : LEAF_BOUND);
}

int add_beside(growing *w, ts_dtype t, const value *v)
{
    const int from = (int)roll(w->d, v->rank + 1); /* without leading axes, with axes of 1 */
    int64_t dim[TS_MAX_RANK];
    for (int i = from; i < v->rank; i++)
        dim[i] = roll(w->d, 3) ? v->dim[i] : 1;
    return add_leaf(w, t, v->rank - from, dim + from);
}

int add_places(growing *w, int rank, const int64_t *dim, int64_t below)
{
    const int v = add(w, roll(w->d, 2) ? "!" : "", roll(w->d, 2) ? TS_I64 : TS_I32, rank, dim, (double)below);
    text_add(w->row, "<%lld", (long long)below);
    return v;
}

int add_result(growing *w, const value *v)
{
    w->v[w->n] = *v;
    text_add(w->row, "; v%d%s %s", w->n, roll(w->d, 12) ? "" : "*", text_str(&w->call));
    w->call.length = 0;
    return w->n++;
}

int known_like(growing *w, int a, ts_dtype t)
{
    int b = w->n - 1;
    while (b >= 0 && (b == a || w->v[b].dtype != t || !same_shape(&w->v[a], &w->v[b]) || roll(w->d, 3) == 0))
        b--;
    return b;
}
