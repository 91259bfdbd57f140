/* type.c - the rules for extents. */
#include "graph/ir/type.h"

#include <stdio.h>
#include <string.h>

/* No overflow: type_valid has bounded it. */
int64_t type_count(const type *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n *= t->dim[i];
    return n;
}

int64_t type_bytes(const type *t)
{
    return type_count(t) * ts_dtype_bytes(t->dtype);
}

bool type_equal(const type *a, const type *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

bool type_valid(const type *t, err *e)
{
    if ((unsigned)t->dtype >= TS_N_DTYPE)
        return err_set(e, TS_BAD_INPUT, "data type number %d does not exist", (int)t->dtype);
    if (t->rank < 0 || t->rank > MAX_RANK)
        return err_set(e, TS_BAD_INPUT, "rank %d is not in 0...%d", t->rank, MAX_RANK);
    /* Zero extents are left out: what is not there must not hide a product that strides would overflow on. */
    int64_t bytes = ts_dtype_bytes(t->dtype);
    bool fits = true;
    for (int i = 0; i < t->rank; i++) {
        if (t->dim[i] < 0)
            return err_set(e, TS_BAD_INPUT, "dim[%d] = %lld is negative", i, (long long)t->dim[i]);
        if (t->dim[i] > 0)
            fits = fits && int_mul(bytes, t->dim[i], &bytes);
    }
    if (fits)
        return true;
    err_set(e, TS_MEMORY, "%s: the size in bytes overflows 63 bits", type_said(t).s);
    return err_hint(e, "no option raises this: make the extents smaller");
}

bool type_valid_known(const type *t, err *e)
{
    type known = *t;
    for (int i = 0; i < t->rank && i < MAX_RANK; i++)
        known.dim[i] = t->dim[i] == OPEN_EXTENT ? 1 : t->dim[i];
    return type_valid(&known, e);
}

static bool broadcast_fail(int n, const type *const *in, int from_last, err *e)
{
    ENDED_BY(text_free) text shown = {0};
    for (int i = 0; i < n; i++) {
        text_add(&shown, "%s", i ? " and " : "");
        type_print(&shown, in[i]);
    }
    err_set(e, TS_BAD_INPUT, "shapes do not broadcast: %s differ in axis -%d", text_str(&shown), from_last);
    return err_hint(e, "extents must be equal, or one of them 1, counted from the last axis");
}

/* The dtype is left as it is in out. */
bool type_broadcast(int n, const type *const *in, type *out, err *e)
{
    type y = {.dtype = out->dtype};
    for (int i = 0; i < n; i++)
        y.rank = in[i]->rank > y.rank ? in[i]->rank : y.rank;
    for (int last = 1; last <= y.rank; last++) {
        int64_t extent = 1;
        for (int i = 0; i < n; i++) {
            if (in[i]->rank < last)
                continue;
            int64_t d = in[i]->dim[in[i]->rank - last];
            if (d == OPEN_EXTENT && extent != 1)
                continue;
            if (extent != 1 && extent != OPEN_EXTENT && d != 1 && d != extent)
                return broadcast_fail(n, in, last, e);
            extent = d != 1 ? d : extent;
        }
        y.dim[y.rank - last] = extent;
    }
    *out = y;
    return type_valid_known(out, e);
}

/* -rank <= axis < rank; negative ones count from the end. */
bool axis_norm(int64_t axis, int rank, int *out, err *e)
{
    if (axis < -rank || axis >= rank) {
        err_set(e, TS_BAD_INPUT, "axis %lld is out of range for rank %d", (long long)axis, rank);
        return rank > 0 && err_hint(e, "axes go from %d to %d", -rank, rank - 1);
    }
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

ts_array type_array(const type *t, void *data)
{
    ts_array a = {.dtype = t->dtype, .rank = t->rank, .data = data};
    memcpy(a.dim, t->dim, (size_t)t->rank * sizeof *t->dim);
    return a;
}

/* As a problem or a graph has it: f32[2,3]. */
type_words type_said(const type *t)
{
    type_words words;
    ENDED_BY(text_free) text own = {0};
    type_print(&own, t);
    snprintf(words.s, sizeof words.s, "%s", text_str(&own));
    return words;
}

void type_print(text *t, const type *y)
{
    text_add(t, "%s[", ts_dtype_name(y->dtype));
    for (int i = 0; i < y->rank; i++)
        text_add(t, y->dim[i] == OPEN_EXTENT ? "%s?" : "%s%lld", i ? "," : "", (long long)y->dim[i]);
    text_add(t, "]");
}
