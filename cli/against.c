/* against.c - values against those of another run. */
#include "cli/against.h"
#include "graph/base/base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double difference(double x, double y)
{
    if (x == y || (isnan(x) && isnan(y)))
        return 0;
    const double d = fabs(x - y) / fmax(1, fabs(x) + fabs(y));
    return isnan(d) ? INFINITY : d; /* a NaN or an infinity, and something else */
}

static void compare(against *t, const against_value *own, const ts_array *there, double *far)
{
    const ts_array *here = own->value;
    const int64_t n = ts_array_count(here);
    int64_t first = -1;
    *far = 0;
    for (int64_t i = 0; i < n; i++) {
        const double d = difference(ts_array_at(here, i), ts_array_at(there, i));
        *far = d > *far ? d : *far;
        first = first < 0 && d > t->tolerance ? i : first;
    }
    t->compared++;
    if (first < 0 || (*t->name && t->first <= own->place))
        return;
    t->first = own->place, t->element = first;
    t->here = ts_array_at(here, first), t->there = ts_array_at(there, first);
    snprintf(t->name, sizeof t->name, "%s", own->name);
}

bool against_look(against *t, const against_value *own, double *far, ts_error *e)
{
    ENDED_BY(text_free) text path = {0};
    ENDED_BY(ts_array_free) ts_array other = {0};
    *far = -1;
    text_add(&path, "%s/%s", t->folder, own->file);
    const bool there = file_exists(path.s);
    bool ok = !there || ts_npy_read(path.s, &other, e);
    if (ok && there && strcmp(array_type(own->value).s, array_type(&other).s) != 0)
        ok = err_set(e, TS_BAD_INPUT, "%s is %s, %s expected, as \"%s\" here", path.s, array_type(&other).s,
                     array_type(own->value).s, own->name);
    if (ok && there)
        compare(t, own, &other, far);
    return ok;
}
