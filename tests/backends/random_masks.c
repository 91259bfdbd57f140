/* Random masks: where they come from, what is chosen by them, what is counted. */
#include "tests/backends/growing.h"

static const char *const comparison[] = {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"};

static int compared(growing *w, int a) /* with what is there, or what broadcasts */
{
    value v = w->v[a];
    int b = known_like(w, a, v.dtype);
    if (b < 0)
        b = add_beside(w, v.dtype, &v);
    v.dtype = TS_BOOL, v.bound = 1;
    text_add(&w->call, "%s v%d v%d", comparison[roll(w->d, COUNT(comparison))], a, b);
    return add_result(w, &v);
}

static int triangle(growing *w, const value *v)
{
    const value y = {.dtype = TS_BOOL, .rank = 2, .dim = {v->dim[v->rank - 2], v->dim[v->rank - 1]}, .bound = 1};
    const int ones = add_leaf(w, TS_BOOL, 2, y.dim);
    text_add(&w->call, "trilu upper=%d k=%d v%d", (int)roll(w->d, 2), (int)roll(w->d, 5) - 2, ones);
    return add_result(w, &y);
}

static int some_mask(growing *w, int a)
{
    const int known = known_like(w, a, TS_BOOL);
    const value v = w->v[a];
    if (known >= 0 && roll(w->d, 2))
        return known;
    switch (roll(w->d, 4)) {
    case 0: return v.rank > 1 ? triangle(w, &v) : compared(w, a);
    case 1: return v.dtype == TS_BOOL ? add_beside(w, TS_BOOL, &v) : compared(w, a);
    default: return add_beside(w, TS_BOOL, &v);
    }
}

static bool masked(growing *w, int a) /* by known values, comparisons, triangles */
{
    value v = w->v[a];
    int b = known_like(w, a, v.dtype);
    const int m = some_mask(w, a);
    const double other = b < 0 ? LEAF_BOUND : w->v[b].bound;
    v.bound = v.bound > other ? v.bound : other;
    const bool turned = roll(w->d, 2), number = b < 0 && v.dtype == TS_F32 && roll(w->d, 2);
    if (b < 0 && !number)
        b = add_beside(w, v.dtype, &v);
    if (number)
        text_add(&w->call, turned ? "where v%d %d v%d" : "where v%d v%d %d", m, turned ? (int)roll(w->d, 3) - 1 : a,
                 turned ? a : (int)roll(w->d, 3) - 1);
    else
        text_add(&w->call, "where v%d v%d v%d", m, turned ? b : a, turned ? a : b);
    add_result(w, &v);
    return true;
}

static bool compare(growing *w, int a)
{
    compared(w, a);
    return true;
}

static bool logic(growing *w, int a)
{
    static const char *const name[] = {"logical_and", "logical_or", "logical_xor", "equal"};
    const value v = w->v[a];
    if (roll(w->d, 4) == 0) {
        text_add(&w->call, "logical_not v%d", a);
    } else {
        const int m = some_mask(w, a);
        text_add(&w->call, "%s v%d v%d", name[roll(w->d, COUNT(name))], a, m);
    }
    add_result(w, &v);
    return true;
}

static bool choose(growing *w, int a) /* by truths */
{
    value v = w->v[a];
    v.dtype = TS_F32, v.bound = LEAF_BOUND;
    const int b = add_beside(w, v.dtype, &v), c = add_beside(w, v.dtype, &v);
    text_add(&w->call, "where v%d v%d v%d", a, b, c);
    add_result(w, &v);
    return true;
}

static bool cast(growing *w, int a)
{
    static const ts_dtype to[] = {TS_F32, TS_F32, TS_F64, TS_I64, TS_I32, TS_I16, TS_I8, TS_F16, TS_BF16, TS_BOOL};
    value v = w->v[a];
    v.dtype = to[roll(w->d, COUNT(to))];
    v.bound = v.dtype == TS_BOOL ? 1 : v.bound;
    if (v.dtype == w->v[a].dtype || !fits(&v, 1))
        return false;
    text_add(&w->call, "cast to=%s v%d", ts_dtype_name(v.dtype), a);
    add_result(w, &v);
    return true;
}

static bool largest(growing *w, int a)
{
    value v = w->v[a];
    const int at = (int)roll(w->d, v.rank);
    v.dtype = TS_I64, v.bound = (double)v.dim[at], v.dim[at] = 1;
    text_add(&w->call, "%s axis=%d keepdims=1 last=%d v%d", roll(w->d, 2) ? "argmax" : "argmin", at, (int)roll(w->d, 2),
             a);
    add_result(w, &v);
    return true;
}

const growth mask_growths[] = {{masked, true, true, 0},   {masked, true, false, 0},
                               {masked, true, false, 0},  {compare, true, true, 0},
                               {logic, false, true, 0},   {choose, false, true, 0},
                               {choose, false, true, 0},  {cast, true, true, 0},
                               {largest, true, false, 1}, {0}};
