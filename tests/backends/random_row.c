#include "tests/backends/random_row.h"

#include "tessera.h"

#include <stdio.h>
#include <string.h>

enum { MAX_VALUES = 32, MOST_ELEMENTS = 6000, MOST_WORK = 200000, LEAF_BOUND = 2 };
static const double exact_below = 1 << 22;

typedef struct value {
    int rank;
    int64_t dim[TS_MAX_RANK];
    double bound; /* no element is larger */
} value;
typedef struct growing { /* value i is called vi in the text */
    dice *d;
    text *row;
    int n;
    value v[MAX_VALUES];
} growing;

int64_t roll(dice *d, int64_t n)
{
    return (int64_t)(random_bits(d->seed, d->at++) >> 16) % n;
}

static int64_t count(const value *v)
{
    int64_t n = 1;
    for (int i = 0; i < v->rank; i++)
        n *= v->dim[i];
    return n;
}

static int64_t extent(dice *d)
{
    static const int64_t often[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 20, 31, 33, 48};
    return often[roll(d, sizeof often / sizeof *often)];
}

static void ints(text *t, const char *name, int n, const int64_t *v)
{
    text_add(t, " %s=[", name);
    for (int i = 0; i < n; i++)
        text_add(t, "%s%lld", i ? "," : "", (long long)v[i]);
    text_add(t, "]");
}

static int leaf(growing *w, int rank, const int64_t *dim)
{
    value *v = &w->v[w->n];
    *v = (value){.rank = rank, .bound = LEAF_BOUND};
    memcpy(v->dim, dim, (size_t)rank * sizeof *dim);
    text_add(w->row, "%sv%d%s f32[", w->row->len ? "; " : "", w->n, roll(w->d, 2) ? "!" : "");
    for (int i = 0; i < rank; i++)
        text_add(w->row, "%s%lld", i ? "," : "", (long long)dim[i]);
    text_add(w->row, "]");
    return w->n++;
}

static bool fits(const value *v, int64_t folded)
{
    return count(v) <= MOST_ELEMENTS && count(v) * folded <= MOST_WORK && v->bound < exact_below;
}

static void result(growing *w, const value *v, const char *call)
{
    w->v[w->n] = *v;
    text_add(w->row, "; v%d %s", w->n++, call);
}

static bool matmul(growing *w, int a)
{
    value v = w->v[a];
    char call[60];
    if (v.rank < 2)
        return false;
    const int64_t k = v.dim[v.rank - 1], n = extent(w->d);
    v.dim[v.rank - 1] = n, v.bound *= (double)(k * LEAF_BOUND);
    int64_t dim[3] = {v.rank == 3 ? v.dim[0] : 1, k, n};
    if (!fits(&v, k))
        return false;
    const int b = v.rank == 3 && roll(w->d, 2) ? leaf(w, 3, dim) : leaf(w, 2, dim + 1);
    snprintf(call, sizeof call, "matmul v%d v%d", a, b);
    result(w, &v, call);
    return true;
}

static bool same_shape(const value *a, const value *b)
{
    return a->rank == b->rank && !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);
}

static bool pointwise(growing *w, int a)
{
    static const char *const name[] = {"add", "subtract", "maximum", "multiply"};
    value v = w->v[a];
    const int64_t which = roll(w->d, 4);
    int64_t dim[TS_MAX_RANK];
    char call[60];
    int b = w->n - 1;
    while (b >= 0 && (b == a || !same_shape(&v, &w->v[b]) || roll(w->d, 3) == 0)) /* what was there before: residuals */
        b--;
    const bool known = b >= 0;
    const double other = known ? w->v[b].bound : LEAF_BOUND;
    v.bound = which < 2 ? v.bound + other : which == 2 ? v.bound + other : v.bound * other;
    if (!fits(&v, 1))
        return false;
    if (!known) { /* broadcast: without leading axes, with axes of 1 */
        const int from = (int)roll(w->d, v.rank + 1);
        for (int i = from; i < v.rank; i++)
            dim[i] = roll(w->d, 3) ? v.dim[i] : 1;
        b = leaf(w, v.rank - from, dim + from);
    }
    if (roll(w->d, 2))
        snprintf(call, sizeof call, "%s v%d v%d", name[which], a, b);
    else
        snprintf(call, sizeof call, "%s v%d v%d", name[which], b, a);
    result(w, &v, call);
    return true;
}

static bool alone(growing *w, int a)
{
    static const char *const name[] = {"relu", "negative", "abs"};
    char call[60];
    snprintf(call, sizeof call, "%s v%d", name[roll(w->d, 3)], a);
    result(w, &w->v[a], call);
    return true;
}

static bool fold(growing *w, int a)
{
    const value *v = &w->v[a];
    value y = {.bound = v->bound};
    const bool sum = roll(w->d, 2), keep = roll(w->d, 2);
    int64_t axes[TS_MAX_RANK], folded = 1;
    int n = 0;
    text call = {0};
    for (int i = 0; i < v->rank; i++) {
        const bool gone = roll(w->d, 2);
        if (gone)
            axes[n++] = i, folded *= v->dim[i];
        if (!gone || keep)
            y.dim[y.rank++] = gone ? 1 : v->dim[i];
    }
    y.bound *= sum ? (double)folded : 1;
    if (!n || !y.rank || !fits(&y, folded))
        return false;
    text_add(&call, "%s", sum ? "sum" : "max");
    ints(&call, "axes", n, axes);
    text_add(&call, " keepdims=%d v%d", keep, a);
    result(w, &y, text_str(&call));
    text_free(&call);
    return true;
}

static bool transpose(growing *w, int a)
{
    const value *v = &w->v[a];
    value y = *v;
    int64_t axes[TS_MAX_RANK];
    text call = {0};
    for (int i = 0; i < v->rank; i++) {
        const int k = (int)roll(w->d, i + 1);
        axes[i] = axes[k], axes[k] = i;
    }
    for (int i = 0; i < v->rank; i++)
        y.dim[i] = v->dim[axes[i]];
    text_add(&call, "transpose");
    ints(&call, "axes", v->rank, axes);
    text_add(&call, " v%d", a);
    result(w, &y, text_str(&call));
    text_free(&call);
    return true;
}

static bool reshape(growing *w, int a) /* two neighbours become one, or one becomes two */
{
    value y = w->v[a];
    text call = {0};
    if (y.rank < 1)
        return false;
    const int at = (int)roll(w->d, y.rank);
    if (roll(w->d, 2) && at + 1 < y.rank) {
        y.dim[at] *= y.dim[at + 1];
        memmove(&y.dim[at + 1], &y.dim[at + 2], (size_t)(y.rank - at - 2) * sizeof *y.dim);
        y.rank--;
    } else {
        int64_t part = 2 + roll(w->d, 3);
        if (y.dim[at] % part || y.rank == 5)
            return false;
        memmove(&y.dim[at + 2], &y.dim[at + 1], (size_t)(y.rank - at - 1) * sizeof *y.dim);
        y.dim[at + 1] = y.dim[at] / part, y.dim[at] = part, y.rank++;
    }
    text_add(&call, "reshape");
    ints(&call, "shape", y.rank, y.dim);
    text_add(&call, " v%d", a);
    result(w, &y, text_str(&call));
    text_free(&call);
    return true;
}

static bool slice(growing *w, int a)
{
    value y = w->v[a];
    int64_t start[TS_MAX_RANK], step[TS_MAX_RANK];
    text call = {0};
    for (int i = 0; i < y.rank; i++) {
        const int64_t n = y.dim[i], low = roll(w->d, (n + 1) / 2), stride = 1 + roll(w->d, 2);
        const bool back = roll(w->d, 4) == 0;
        y.dim[i] = (n - low + stride - 1) / stride;
        start[i] = back ? n - 1 - low : low, step[i] = back ? -stride : stride;
        if (back)
            y.dim[i] = start[i] / stride + 1;
    }
    text_add(&call, "slice");
    ints(&call, "starts", y.rank, start), ints(&call, "sizes", y.rank, y.dim), ints(&call, "steps", y.rank, step);
    text_add(&call, " v%d", a);
    result(w, &y, text_str(&call));
    text_free(&call);
    return true;
}

static bool concat(growing *w, int a)
{
    value y = w->v[a];
    int64_t dim[TS_MAX_RANK];
    char call[60];
    if (!y.rank || w->n > MAX_VALUES - 4)
        return false;
    const int at = (int)roll(w->d, y.rank);
    memcpy(dim, y.dim, sizeof dim);
    dim[at] = 1 + roll(w->d, 9);
    y.dim[at] += dim[at];
    y.bound = y.bound > LEAF_BOUND ? y.bound : LEAF_BOUND;
    if (!fits(&y, 1))
        return false;
    const int b = leaf(w, y.rank, dim);
    snprintf(call, sizeof call, "concat axis=%d v%d v%d", at, a, b);
    result(w, &y, call);
    return true;
}

static bool window(growing *w, int a) /* conv2d, or max_pool */
{
    static const int64_t channels[] = {1, 3, 4, 8, 17, 20};
    value y = w->v[a];
    const bool conv = roll(w->d, 3);
    int64_t k[2], stride[2], pad[4];
    text call = {0};
    if (y.rank != 4)
        return false;
    for (int i = 0; i < 2; i++) {
        k[i] = 1 + roll(w->d, 3), stride[i] = 1 + roll(w->d, 2);
        pad[i] = roll(w->d, k[i]), pad[i + 2] = roll(w->d, k[i]);
        const int64_t room = y.dim[i + 2] + pad[i] + pad[i + 2] - k[i];
        if (room < 0)
            return false;
        y.dim[i + 2] = room / stride[i] + 1;
    }
    const int64_t in = y.dim[1], group = conv && in % 2 == 0 && roll(w->d, 4) == 0 ? 2 : 1;
    const int64_t folded = k[0] * k[1] * (conv ? in / group : 1);
    if (conv)
        y.dim[1] = group * channels[roll(w->d, 6)], y.bound *= (double)(folded * LEAF_BOUND);
    if (!fits(&y, folded) || w->n > MAX_VALUES - 4)
        return false;
    const int64_t weight[] = {y.dim[1], in / group, k[0], k[1]};
    const int b = conv ? leaf(w, 4, weight) : 0;
    text_add(&call, conv ? "conv2d group=%d" : "max_pool", (int)group);
    if (!conv)
        ints(&call, "kernel", 2, k);
    ints(&call, "strides", 2, stride), ints(&call, "pads", 4, pad);
    text_add(&call, " v%d", a);
    if (conv)
        text_add(&call, " v%d", b);
    result(w, &y, text_str(&call));
    text_free(&call);
    return true;
}

static int places(growing *w, int64_t n, int64_t below)
{
    value *v = &w->v[w->n];
    *v = (value){.rank = 1, .dim = {n}, .bound = (double)below};
    text_add(w->row, "; v%d i64[%lld]<%lld", w->n, (long long)n, (long long)below);
    return w->n++;
}

static bool scatter(growing *w, int a) /* as what is put in, or as what it is put into */
{
    value y = w->v[a];
    int64_t dim[TS_MAX_RANK];
    char call[80];
    if (!y.rank || w->n > MAX_VALUES - 4)
        return false;
    const int at = (int)roll(w->d, y.rank);
    const bool from = roll(w->d, 2);
    memcpy(dim, y.dim, sizeof dim);
    dim[at] = 1 + roll(w->d, 40);
    const int64_t n = from ? y.dim[at] : dim[at];
    y.bound = (y.bound > LEAF_BOUND ? y.bound : LEAF_BOUND) * (double)(n + 1);
    if (from)
        y.dim[at] = dim[at];
    if (!fits(&y, 1) || !fits(&(value){.rank = y.rank, .dim = {n}}, count(&y) / y.dim[at]))
        return false;
    const int b = leaf(w, y.rank, dim), i = places(w, n, y.dim[at]);
    snprintf(call, sizeof call, "scatter axis=%d reduce=%s v%d v%d v%d", at, roll(w->d, 3) ? "add" : "set",
             from ? b : a, i, from ? a : b);
    result(w, &y, call);
    return true;
}

static bool along(growing *w, int a) /* running totals; elements in order, the largest of them */
{
    value y = w->v[a];
    char call[80];
    if (!y.rank)
        return false;
    const int at = (int)roll(w->d, y.rank);
    switch (roll(w->d, 3)) {
    case 0:
        y.bound *= (double)y.dim[at];
        snprintf(call, sizeof call, "cumsum axis=%d exclusive=%d reverse=%d v%d", at, (int)roll(w->d, 2),
                 (int)roll(w->d, 2), a);
        break;
    case 1: snprintf(call, sizeof call, "sort axis=%d descending=%d v%d", at, (int)roll(w->d, 2), a); break;
    default:
        y.dim[at] = 1 + roll(w->d, y.dim[at]);
        snprintf(call, sizeof call, "top_k axis=%d k=%lld v%d", at, (long long)y.dim[at], a);
    }
    if (!fits(&y, 1))
        return false;
    result(w, &y, call);
    return true;
}

void random_row(dice *d, text *row)
{
    static bool (*const grow[])(growing *, int) = {matmul,  matmul, pointwise, pointwise, alone,  fold,    transpose,
                                                   reshape, slice,  concat,    window,    window, scatter, along};
    growing w = {.d = d, .row = row};
    value first = {.rank = 2 + (int)roll(d, 3)};
    for (int i = 0; i < first.rank; i++)
        first.dim[i] = extent(d);
    while (count(&first) > MOST_ELEMENTS)
        first.dim[roll(d, first.rank)] = 3;
    leaf(&w, first.rank, first.dim);
    const int64_t most = 2 + roll(d, 7);
    for (int done = 0, tried = 0; done < most && tried < 60 && w.n < MAX_VALUES - 3; tried++) {
        done += grow[roll(d, sizeof grow / sizeof *grow)](&w, w.n - 1); /* so that all is needed in the end */
    }
    if (w.n == 1)
        alone(&w, 0);
}
