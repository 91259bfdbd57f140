/* dims.c - extents for the named dimensions of a model: as asked for, as the inputs have them, or as the model falls
 * back to. */
#include "import/model.h"
#include "graph/base/suggest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef long long ll;
enum { LONGEST_NAME = 256 }; /* in a sum */

dimension *dims_find(const dims *d, const char *symbol)
{
    const int i = row_named(d->all, d->n, sizeof *d->all, symbol);
    return i < 0 ? NULL : &d->all[i];
}

void dims_reset(dims *d)
{
    for (int i = 0; i < d->n; i++)
        d->all[i].extent = d->all[i].high = -1, d->all[i].named = false, d->all[i].sum = NULL;
    d->notes = NULL, d->ranged = false;
}

static bool unknown(const dims *d, const char *name, err *e)
{
    ENDED_BY(suggest_free) suggestion near = {.word = name};
    for (int i = 0; i < d->n; i++)
        suggest_offer(&near, d->all[i].symbol);
    err_set(e, TS_USAGE, "the model has no dimension \"%s\"", name);
    return d->n ? suggest_hint(&near, "its dimensions are", e) : err_hint(e, "all its extents are fixed");
}

static bool bind(dimension *d, int64_t n, const char *by, err *e)
{
    if (d->extent >= 0 && d->extent != n)
        return err_set(e, TS_BAD_INPUT, "dimension \"%s\" is %lld by %s and %lld by %s", d->symbol, (ll)d->extent,
                       d->by, (ll)n, by);
    if (n < d->least || (d->most > 0 && n > d->most))
        return err_set(e, TS_BAD_INPUT, "dimension \"%s\" is %lld by %s, the model allows %lld to %lld", d->symbol,
                       (ll)n, by, (ll)d->least, (ll)d->most);
    if (d->high >= 0 && (n < d->low || n > d->high || n % d->step))
        return err_set(e, TS_BAD_INPUT, "dimension \"%s\" is %lld by %s, outside of %s", d->symbol, (ll)n, by,
                       d->range);
    if (d->extent < 0)
        d->by = by;
    d->extent = n;
    return true;
}

static bool confine(dimension *d, const dimension *to, err *e) /* to the range of `to` */
{
    if (d->high >= 0 && (d->low != to->low || d->high != to->high || d->step != to->step))
        return err_set(e, TS_BAD_INPUT, "dimension \"%s\" has two ranges: %s and %s", d->symbol, d->range, to->range);
    if (to->low < d->least || (d->most > 0 && to->high > d->most))
        return err_set(e, TS_BAD_INPUT, "dimension \"%s\" is %lld to %lld by %s, the model allows %lld to %lld",
                       d->symbol, (ll)to->low, (ll)to->high, to->range, (ll)d->least, (ll)d->most);
    d->low = to->low, d->high = to->high, d->step = to->step, d->range = to->range;
    return d->extent < 0 || bind(d, d->extent, d->by, e);
}

/* A whole number at *at, which moves behind it. */
static bool read_extent(const char **at, int64_t *out)
{
    char *end;
    errno = 0;
    const ll n = strtoll(*at, &end, 10);
    const bool ok = **at >= '0' && **at <= '9' && !errno && n <= MODEL_ELEMENTS;
    *at = end, *out = n;
    return ok;
}

/* "past + 1", "past+seq": dimensions and whole numbers, put together. Of what is not bound yet *out is -1. */
static bool read_sum(const dims *d, const char *at, int64_t *out)
{
    bool bound = true;
    int64_t sum = 0;
    for (int n = 0;; n++) {
        char name[LONGEST_NAME];
        at += strspn(at, " ");
        const size_t length = strcspn(at, "+");
        size_t used = length;
        while (used && at[used - 1] == ' ')
            used--;
        if (!used || used >= sizeof name)
            return false;
        snprintf(name, sizeof name, "%.*s", (int)used, at);
        const char *end = name;
        int64_t number = 0;
        const dimension *of = dims_find(d, name);
        if (!of && !(read_extent(&end, &number) && !*end))
            return false;
        bound = bound && (!of || of->extent >= 0);
        if (!int_add(sum, of ? of->extent : number, &sum))
            return false;
        at += length;
        if (!*at)
            return *out = bound ? sum : -1, n > 0 || of;
        at++;
    }
}

/* Its extent is what that sum comes to when all in it are bound. */
static bool tie(dims *d, dimension *to, const char *sum, const char *by, err *e)
{
    if (to->sum && strcmp(to->sum, sum) != 0)
        return err_set(e, TS_BAD_INPUT, "dimension \"%s\" has two sums: %s and %s", to->symbol, to->tied, by);
    to->sum = arena_format(d->mem, "%s", sum), to->tied = by, to->named = true;
    return true;
}

bool dims_set(dims *d, const char *assignment, err *e)
{
    const char *equals = strrchr(assignment, '='); /* names may hold one themselves */
    if (!equals)
        return err_set(e, TS_USAGE, "--dim \"%s\" is not of the form NAME=EXTENT", assignment);
    const char *at = equals + 1;
    int64_t low, high, every = 1, sum;
    bool ok = !strncmp(at, "..", 2) ? (low = 1, true) : read_extent(&at, &low);
    const bool range = ok && !strncmp(at, "..", 2);
    if (range)
        at += 2, ok = read_extent(&at, &high);
    if (ok && range && *at == '/')
        at++, ok = read_extent(&at, &every) && every > 0;
    const bool tied = (!ok || *at) && read_sum(d, equals + 1, &sum);
    if ((!ok || *at) && !tied)
        return err_set(
            e, TS_USAGE,
            "--dim \"%s\": an extent is a whole number from 0 to 2^%d, a range two of them: %.*s=1..128, a sum "
            "of dimensions and numbers: %.*s=past+1",
            assignment, MODEL_ELEMENTS_LOG2, (int)(equals - assignment), assignment, (int)(equals - assignment),
            assignment);
    if (!tied && range && low > high)
        return err_set(e, TS_USAGE, "--dim \"%s\": the range is empty", assignment);
    if (!tied && range && ((low % every && strncmp(equals + 1, "..", 2)) || high % every))
        return err_set(e, TS_USAGE, "--dim \"%s\": a range in steps of %lld begins and ends at multiples of it",
                       assignment, (ll)every);
    char *name = arena_format(d->mem, "%.*s", (int)(equals - assignment), assignment);
    const char *by = arena_format(d->mem, "--dim %s", assignment);
    dimension *found = dims_find(d, name);
    d->ranged = d->ranged || (range && !tied);
    if (found)
        found->named = !range;
    return !found  ? unknown(d, name, e)
           : tied  ? tie(d, found, equals + 1, by, e)
           : range ? confine(found, &(dimension){.low = low, .high = high, .step = every, .range = by}, e)
                   : bind(found, low, by, e);
}

bool dims_give(dims *d, const char *symbol, int64_t n, err *e)
{
    return bind(dims_find(d, symbol), n, arena_format(d->mem, "the value of input \"%s\"", symbol), e);
}

/* Files name one dimension where their model has two, as "seq" of a mask over what was kept and what is new. */
static bool contradicts(dims *d, const dimension *named, const ts_port *p, int i, int64_t n)
{
    if (!d->labels || named->named || named->high >= 0 || named->extent < 0 || named->extent == n)
        return false;
    d->notes = arena_format(
        d->mem, "%s%sdimension \"%s\" is %lld by %s; dimension %d of input \"%s\", of the same name, is %lld",
        d->notes ? d->notes : "", d->notes ? "\n" : "", named->symbol, (ll)named->extent, named->by, i, p->name, (ll)n);
    return true;
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
        if (named && !contradicts(d, named, p, i, shape->dim[i]) && !bind(named, shape->dim[i], by, e))
            return false;
        p->dim[i] = shape->dim[i];
    }
    p->rank = shape->rank;
    return true;
}

/* What is tied to others, as often as something was found: sums may be of sums. A name that is a sum, as exporters give
 * ("past + seq"), is one where nothing else says the extent. */
static bool add_up(dims *d, err *e)
{
    bool found = true;
    while (found) {
        found = false;
        for (int i = 0; i < d->n; i++) {
            dimension *one = &d->all[i];
            const bool open = one->extent < 0, named = !one->sum && strchr(one->symbol, '+');
            int64_t sum;
            if (!(one->sum || (named && open && one->high < 0)) || !read_sum(d, named ? one->symbol : one->sum, &sum) ||
                sum < 0)
                continue;
            if (!bind(one, sum, named ? "its name" : one->tied, e))
                return false;
            found = found || open;
        }
    }
    return true;
}

bool dims_default(dims *d, err *e)
{
    for (int i = 0; i < d->n; i++) {
        dimension *one = &d->all[i];
        if (one->extent >= 0 || one->sum)
            continue;
        if (one->high >= 0 && !bind(one, one->high, one->range, e))
            return false;
        if (one->extent < 0 && one->fallback >= 0 && !bind(one, one->fallback, "the model's default", e))
            return false;
    }
    return add_up(d, e);
}

/* All dimensions without an extent at once: nobody wants to be asked for one after the other. */
static bool no_extent(const dims *d, const dimension *first, const ts_port *p, err *e)
{
    ENDED_BY(text_free) text list = {0}, remedy = {0};
    int n = 0;
    for (int i = 0; i < d->n; i++) {
        if (d->all[i].extent >= 0)
            continue;
        text_add(&list, "%s\"%s\"", n++ ? ", " : "", d->all[i].symbol);
        text_add(&remedy, " --dim %s=N", d->all[i].symbol);
    }
    if (n == 1)
        err_set(e, TS_USAGE, "dimension \"%s\" of input \"%s\" has no extent", first->symbol, p->name);
    else
        err_set(e, TS_USAGE, "%d dimensions have no extent: %s", n, text_str(&list));
    return err_hint(e, "give %s:%s", n == 1 ? "it one" : "each of them one", text_str(&remedy));
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
        if (named->extent < 0)
            return no_extent(d, named, p, e);
        p->dim[i] = named->extent;
    }
    return true;
}
