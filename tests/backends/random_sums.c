/* Random products, windows, folds; scatter; what goes along an axis. */
#include "tests/backends/growing.h"

#include <string.h>

static bool matmul(growing *w, int a)
{
    value v = w->v[a];
    if (v.rank > 3)
        return false;
    const int64_t k = v.dim[v.rank - 1], n = some_extent(w->d);
    v.dim[v.rank - 1] = n, v.bound *= (double)(k * LEAF_BOUND);
    int64_t dim[3] = {v.rank == 3 ? v.dim[0] : 1, k, n};
    if (!fits(&v, k))
        return false;
    const int b = v.rank == 3 && roll(w->d, 2) ? add_leaf(w, v.dtype, 3, dim) : add_leaf(w, v.dtype, 2, dim + 1);
    text_add(&w->call, "matmul v%d v%d", a, b);
    add_result(w, &v);
    return true;
}

static ts_dtype summed(ts_dtype t) /* as numpy does: integers are wide */
{
    return t == TS_I8 || t == TS_I16 || t == TS_I32 ? TS_I64 : t;
}

/* Of truths: any, all. */
static bool fold(growing *w, int a)
{
    static const char *const of_numbers[] = {"sum", "sum", "max", "min"}, *const of_truths[] = {"any", "all"};
    const value *v = &w->v[a];
    value y = {.dtype = v->dtype, .bound = v->bound};
    const char *name = v->dtype == TS_BOOL ? of_truths[roll(w->d, 2)] : of_numbers[roll(w->d, 4)];
    const bool keep = roll(w->d, 2);
    int64_t axes[TS_MAX_RANK], folded = 1;
    int n = 0;
    for (int i = 0; i < v->rank; i++) {
        const bool gone = roll(w->d, 2);
        if (gone)
            axes[n++] = i, folded *= v->dim[i];
        if (!gone || keep)
            y.dim[y.rank++] = gone ? 1 : v->dim[i];
    }
    if (!strcmp(name, "sum"))
        y.bound *= (double)folded, y.dtype = summed(y.dtype);
    if (!n || !fits(&y, folded))
        return false;
    text_add(&w->call, "%s", name);
    put_ints(w, "axes", n, axes);
    text_add(&w->call, " keepdims=%d v%d", keep, a);
    add_result(w, &y);
    return true;
}

static bool best(growing *w, int a) /* the place of the largest or smallest, first or last: two values folded at once */
{
    value y = w->v[a];
    const int at = (int)roll(w->d, y.rank);
    const int64_t folded = y.dim[at];
    y.dtype = TS_I64, y.bound = (double)folded, y.dim[at] = 1;
    if (!fits(&y, folded))
        return false;
    text_add(&w->call, "%s axis=%d last=%d keepdims=1 v%d", roll(w->d, 2) ? "argmax" : "argmin", at, (int)roll(w->d, 2),
             a);
    add_result(w, &y);
    return true;
}

typedef struct windows {
    int n; /* spatial axes */
    int64_t kernel[2], stride[2], dilation[2], pad[4];
} windows;

static bool roll_windows(dice *d, value *y, windows *s)
{
    s->n = y->rank - 2;
    for (int i = 0; i < s->n; i++) {
        s->kernel[i] = 1 + roll(d, 3), s->stride[i] = 1 + roll(d, 2), s->dilation[i] = roll(d, 4) ? 1 : 2;
        s->pad[i] = roll(d, s->kernel[i]), s->pad[i + s->n] = roll(d, s->kernel[i]);
        const int64_t reach = (s->kernel[i] - 1) * s->dilation[i] + 1;
        const int64_t room = y->dim[i + 2] + s->pad[i] + s->pad[i + s->n] - reach;
        if (room < 0)
            return false;
        y->dim[i + 2] = room / s->stride[i] + 1;
    }
    return true;
}

static void put_windows(growing *w, const windows *s)
{
    put_ints(w, "strides", s->n, s->stride), put_ints(w, "dilations", s->n, s->dilation);
    put_ints(w, "pads", 2 * s->n, s->pad);
}

static bool conv(growing *w, int a)
{
    static const int64_t channels[] = {1, 3, 4, 8, 12, 17, 20};
    value y = w->v[a];
    windows s;
    if (y.rank > 4 || !roll_windows(w->d, &y, &s))
        return false;
    const int64_t in = y.dim[1], group = roll(w->d, 4) ? 1 : in % 2 == 0 && roll(w->d, 2) ? 2 : in;
    const int64_t folded = s.kernel[0] * (s.n == 2 ? s.kernel[1] : 1) * in / group;
    y.dim[1] = group * channels[roll(w->d, group > 2 ? 2 : COUNT(channels))];
    y.bound *= (double)(folded * LEAF_BOUND);
    if (!fits(&y, folded))
        return false;
    const int64_t weight[] = {y.dim[1], in / group, s.kernel[0], s.kernel[1]};
    const int b = add_leaf(w, y.dtype, y.rank, weight);
    text_add(&w->call, "conv%dd group=%lld", s.n, (long long)group);
    put_windows(w, &s);
    text_add(&w->call, " v%d v%d", a, b);
    add_result(w, &y);
    return true;
}

static bool max_pool(growing *w, int a)
{
    value y = w->v[a];
    windows s;
    if (y.rank > 4 || !roll_windows(w->d, &y, &s) || !fits(&y, 9))
        return false;
    text_add(&w->call, "max_pool");
    put_ints(w, "kernel", s.n, s.kernel), put_windows(w, &s);
    text_add(&w->call, " v%d", a);
    add_result(w, &y);
    return true;
}

static bool conv_transpose(growing *w, int a)
{
    value y = w->v[a];
    const int64_t k[] = {1 + roll(w->d, 3), 1 + roll(w->d, 3)}, stride[] = {1 + roll(w->d, 2), 1 + roll(w->d, 2)};
    if (y.rank > 4)
        return false;
    const int64_t in = y.dim[1], out = 1 + roll(w->d, 9);
    for (int i = 0; i < y.rank - 2; i++)
        y.dim[i + 2] = (y.dim[i + 2] - 1) * stride[i] + k[i];
    y.dim[1] = out, y.bound *= (double)(in * k[0] * k[1] * LEAF_BOUND);
    if (!fits(&y, in * k[0] * k[1]))
        return false;
    const int b = add_leaf(w, y.dtype, y.rank, (const int64_t[]){in, out, k[0], k[1]});
    text_add(&w->call, "conv_transpose");
    put_ints(w, "strides", y.rank - 2, stride);
    text_add(&w->call, " v%d v%d", a, b);
    add_result(w, &y);
    return true;
}

static bool scatter(growing *w, int a) /* as what is put in, or as what it is put into */
{
    value y = w->v[a];
    int64_t dim[TS_MAX_RANK];
    const int at = (int)roll(w->d, y.rank);
    const bool from = roll(w->d, 2);
    memcpy(dim, y.dim, sizeof dim);
    dim[at] = 1 + roll(w->d, 40);
    const int64_t n = from ? y.dim[at] : dim[at];
    y.bound = (y.bound > LEAF_BOUND ? y.bound : LEAF_BOUND) * (double)(n + 1);
    if (from)
        y.dim[at] = dim[at];
    if (!fits(&y, 1) || !fits(&(value){.rank = y.rank, .dim = {n}}, value_count(&y) / y.dim[at]))
        return false;
    const int b = add_leaf(w, y.dtype, y.rank, dim), i = add_places(w, 1, &n, y.dim[at]);
    text_add(&w->call, "scatter axis=%d reduce=%s v%d v%d v%d", at, roll(w->d, 3) ? "add" : "set", from ? b : a, i,
             from ? a : b);
    add_result(w, &y);
    return true;
}

static bool along(growing *w, int a) /* running totals; elements in order, the largest of them */
{
    value y = w->v[a];
    const int at = (int)roll(w->d, y.rank);
    const int64_t which = roll(w->d, 3);
    if (which == 0)
        y.bound *= (double)y.dim[at], y.dtype = summed(y.dtype);
    if (which == 2)
        y.dim[at] = 1 + roll(w->d, y.dim[at]);
    if (!fits(&y, 1))
        return false;
    if (which == 0)
        text_add(&w->call, "cumsum axis=%d exclusive=%d reverse=%d v%d", at, (int)roll(w->d, 2), (int)roll(w->d, 2), a);
    else if (which == 1)
        text_add(&w->call, "sort axis=%d descending=%d v%d", at, (int)roll(w->d, 2), a);
    else
        text_add(&w->call, "top_k axis=%d k=%lld v%d", at, (long long)y.dim[at], a);
    add_result(w, &y);
    return true;
}

const growth sum_growths[] = {{matmul, true, false, 2},
                              {matmul, true, false, 2},
                              {conv, true, false, 3},
                              {conv, true, false, 3},
                              {max_pool, true, false, 3},
                              {fold, true, true, 0},
                              {conv_transpose, true, false, 3},
                              {scatter, true, false, 1},
                              {along, true, false, 1},
                              {best, true, false, 1},
                              {0}};
