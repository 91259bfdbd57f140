/* maker.c - names are a stack of parts joined by points; what is asked for behind a failed call gives NULL, and the
 * graph keeps the first reason. */
#include "models/parts/maker.h"

#include <stdarg.h>
#include <stdio.h>

void maker_enter(maker *mk, const char *fmt, ...)
{
    va_list v;
    va_start(v, fmt);
    vsnprintf(mk->scope, sizeof mk->scope, fmt, v);
    va_end(v);
}

void maker_leave(maker *mk)
{
    mk->scope[0] = '\0';
}

ts_tensor maker_weight(maker *mk, const char *name, const char *part, int rank, const int64_t *dim, double mean,
                       double scale)
{
    char full[192];
    snprintf(full, sizeof full, "%s%s%s", mk->scope, name, part);
    return ts_weight(mk->g, full, TS_F32, rank, dim, mean, scale, ++mk->weights);
}

ts_tensor maker_call(ts_graph *g, int n, const ts_tensor *in, const char *fmt, ...)
{
    char call[256];
    va_list v;
    va_start(v, fmt);
    vsnprintf(call, sizeof call, fmt, v);
    va_end(v);
    return ts_call(g, call, n, in);
}

ts_tensor maker_named(maker *mk, ts_tensor t, const char *name)
{
    char full[192];
    snprintf(full, sizeof full, "%s%s", mk->scope, name);
    return ts_named(mk->g, t, full);
}

int64_t maker_extent(ts_tensor t, int axis)
{
    return t ? ts_shape(t)[axis < 0 ? axis + ts_rank(t) : axis] : 0;
}

bool maker_within(const ts_model *m, const char *dim, int64_t low, int64_t high, const char *what, ts_error *e)
{
    const int64_t v = ts_dim(m, dim);
    if (low <= v && v <= high)
        return true;
    if (e && e->code == TS_OK) {
        e->code = TS_BAD_INPUT;
        snprintf(e->text, sizeof e->text,
                 "dimension \"%s\" is %lld, but must be %lld to %lld (%s)\n  hint: --dim %s=%lld", dim, (long long)v,
                 (long long)low, (long long)high, what, dim, (long long)(v < low ? low : high));
    }
    return false;
}
