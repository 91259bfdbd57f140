/* dims.c - extents for the named dimensions of a model: as asked for, as the inputs have them, or as the model falls
 * back to. */
#include "import/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef long long ll;

dimension *dims_find(const dims *d, const char *symbol)
{
    for (int i = 0; i < d->n; i++)
        if (!strcmp(d->all[i].symbol, symbol))
            return &d->all[i];
    return NULL;
}

void dims_reset(dims *d)
{
    for (int i = 0; i < d->n; i++)
        d->all[i].extent = -1;
}

static bool unknown(const dims *d, const char *assignment, int length, err *e)
{
    text list = {0};
    for (int i = 0; i < d->n; i++)
        text_add(&list, "%s%s", i ? ", " : "", d->all[i].symbol);
    err_set(e, TS_USAGE, "the model has no dimension \"%.*s\"", length, assignment);
    err_hint(e, d->n ? "its dimensions are %s" : "all its extents are fixed%s", text_str(&list));
    text_free(&list);
    return false;
}

static bool bind(dimension *d, int64_t n, const char *by, err *e)
{
    if (d->extent >= 0 && d->extent != n)
        return err_set(e, TS_BAD_INPUT, "dimension \"%s\" is %lld by %s and %lld by %s", d->symbol, (ll)d->extent,
                       d->by, (ll)n, by);
    if (n < d->least || (d->most > 0 && n > d->most))
        return err_set(e, TS_BAD_INPUT, "dimension \"%s\" is %lld by %s, the model allows %lld to %lld", d->symbol,
                       (ll)n, by, (ll)d->least, (ll)d->most);
    d->extent = n;
    d->by = by;
    return true;
}

bool dims_set(dims *d, const char *assignment, err *e)
{
    const char *equals = strrchr(assignment, '='); /* names may hold one themselves */
    if (!equals)
        return err_set(e, TS_USAGE, "\"%s\" is not of the form NAME=EXTENT", assignment);
    char *end;
    errno = 0;
    const ll n = strtoll(equals + 1, &end, 10);
    if (end == equals + 1 || *end || errno || n < 0 || n > MODEL_ELEMENTS)
        return err_set(e, TS_USAGE, "\"%s\": an extent is a whole number from 0 to 2^40", assignment);
    char *name = arena_format(d->mem, "%.*s", (int)(equals - assignment), assignment);
    dimension *found = dims_find(d, name);
    return found ? bind(found, n, arena_format(d->mem, "--dim %s", assignment), e)
                 : unknown(d, assignment, (int)(equals - assignment), e);
}

bool dims_match(dims *d, ts_port *p, const ts_array *shape, err *e)
{
    const bool single = p->rank == 0 && shape->rank == 1 && shape->dim[0] == 1; /* exporters mix them up */
    if (p->rank >= 0 && p->rank != shape->rank && !single)
        return err_set(e, TS_BAD_INPUT, "input \"%s\" has rank %d, the value given has rank %d", p->name, p->rank,
                       shape->rank);
    const char *by = arena_format(d->mem, "the value of input \"%s\"", p->name);
    for (int i = 0; i < shape->rank; i++) {
        const bool stated = p->rank > i;
        if (stated && p->dim[i] >= 0 && p->dim[i] != shape->dim[i])
            return err_set(e, TS_BAD_INPUT, "input \"%s\": dimension %d is %lld in the value given, %lld in the model",
                           p->name, i, (ll)shape->dim[i], (ll)p->dim[i]);
        dimension *named = stated && p->symbol[i] ? dims_find(d, p->symbol[i]) : NULL;
        if (named && !bind(named, shape->dim[i], by, e))
            return false;
        p->dim[i] = shape->dim[i];
    }
    p->rank = shape->rank;
    return true;
}

bool dims_default(dims *d, err *e)
{
    for (int i = 0; i < d->n; i++)
        if (d->all[i].extent < 0 && d->all[i].fallback >= 0 &&
            !bind(&d->all[i], d->all[i].fallback, "the model's default", e))
            return false;
    return true;
}

bool dims_fill(const dims *d, ts_port *p, err *e)
{
    if (p->rank < 0) {
        err_set(e, TS_USAGE, "the model does not state the shape of input \"%s\"", p->name);
        return err_hint(e, "give a value: --in %s=FILE.npy", p->name);
    }
    for (int i = 0; i < p->rank; i++) {
        const dimension *named = p->dim[i] < 0 && p->symbol[i] ? dims_find(d, p->symbol[i]) : NULL;
        if (!named)
            continue;
        if (named->extent < 0) {
            err_set(e, TS_USAGE, "dimension \"%s\" of input \"%s\" has no extent", named->symbol, p->name);
            return err_hint(e, "bind it: --dim %s=128", named->symbol);
        }
        p->dim[i] = named->extent;
    }
    return true;
}
