/* ranked.c - passes between two barriers, and what the ranks' clocks say of them. */
#include "bench/ranked.h"
#include "graph/base/base.h"
#include "graph/base/clock.h"
#include "graph/base/js.h"
#include "graph/base/stats.h"

#include <math.h>
#include <stdlib.h>

enum { WARM = 3, LEAST = 5, MOST = 1000 };

typedef struct lap { /* seconds: from the first barrier to the last one, own work in it; as ranked_pass */
    double all, works, exchanged, waited;
} lap;

static void barrier(const ranks *r)
{
    ENDED_BY(heap_free) char *all = heap_array((size_t)r->count, 1);
    ranks_spread(r, all, (size_t)r->count);
}

static bool one_lap(const ranked *r, int64_t number, lap *out, ts_error *e)
{
    ranked_pass p = {0};
    barrier(r->ranks);
    if (number > WARM) /* the first ones may compile */
        ranks_judge(r->ranks, number);
    else
        ranks_works(r->ranks, "its first passes");
    const double from = seconds_now();
    if (!r->pass(r->user, &p, e))
        return false;
    const double works = seconds_now() - from - p.waited;
    barrier(r->ranks);
    *out = (lap){seconds_now() - from, works, p.exchanged, p.waited};
    return true;
}

/* As rank 0 has it: all must make as many. */
static int find_count(const ranked *r, double each)
{
    const double fits = each > 0 ? r->seconds / each : MOST;
    int n = (int)fmin(fmax(fits, LEAST), MOST);
    ranks_take(r->ranks, &n, sizeof n);
    return n;
}

typedef struct column { /* of a table [piece][lap] of all ranks: a member, of one rank or over all */
    const ranks *ranks;
    const lap *table;
    int n;
} column;

static const lap *laps_of(const column *c, int rank)
{
    return c->table + (size_t)ranks_piece(c->ranks, rank) * (size_t)c->n;
}

static int find_slowest(const column *c, double *v)
{
    int slowest = 0;
    double most = -1;
    for (int rank = 0; rank < c->ranks->count; rank++) {
        for (int i = 0; i < c->n; i++)
            v[i] = laps_of(c, rank)[i].works;
        const double median = stats_median(v, c->n);
        if (median > most)
            most = median, slowest = rank;
    }
    return slowest;
}

static double spread_of(const column *c, double *v)
{
    for (int i = 0; i < c->n; i++) {
        double least = INFINITY, most = 0;
        for (int rank = 0; rank < c->ranks->count; rank++) {
            const double works = laps_of(c, rank)[i].works;
            least = fmin(least, works), most = fmax(most, works);
        }
        v[i] = most / least - 1;
    }
    return stats_median(v, c->n);
}

static double at(const column *c, int rank, size_t member, double quantile, double *v)
{
    for (int i = 0; i < c->n; i++)
        v[i] = 1e9 * *(const double *)((const char *)&laps_of(c, rank)[i] + member);
    return stats_quantile(v, c->n, quantile);
}

static void put_all(const column *c, cJSON *out)
{
    ENDED_BY(heap_free) double *v = heap_array((size_t)c->n, sizeof *v);
    const double sent = at(c, 0, offsetof(lap, exchanged), 0.5, v);
    js_put(out, "count:%d,p50_ns:%g,p90_ns:%g,slowest:%d,spread:%g", c->n, at(c, 0, offsetof(lap, all), 0.5, v),
           at(c, 0, offsetof(lap, all), 0.9, v), find_slowest(c, v), spread_of(c, v));
    if (sent > 0)
        js_put(out, "exchange_ns:%g,exposed_ns:%g", sent, at(c, 0, offsetof(lap, waited), 0.5, v));
    cJSON *rows = js_array(out, "rows");
    for (int rank = 0; rank < c->ranks->count; rank++) {
        const double works = at(c, rank, offsetof(lap, works), 0.5, v);
        js_row(rows, "rank:%d,p50_ns:%g,p90_ns:%g,waits_ns:%g", rank, works, at(c, rank, offsetof(lap, works), 0.9, v),
               fmax(at(c, rank, offsetof(lap, all), 0.5, v) - works, 0));
    }
}

bool ranked_run(const ranked *r, cJSON *out, ts_error *e)
{
    lap one = {0};
    for (int i = 0; i < WARM; i++)
        if (!one_lap(r, i + 1, &one, e))
            return false;
    const int n = find_count(r, one.all);
    const size_t count = (size_t)r->ranks->count;
    lap *table = heap_array(count * (size_t)n, sizeof *table),
        *own = table + (size_t)ranks_piece(r->ranks, r->ranks->rank) * (size_t)n;
    bool ok = true;
    for (int i = 0; ok && i < n; i++)
        ok = one_lap(r, WARM + 1 + i, &own[i], e);
    ranks_works(r->ranks, NULL);
    if (ok) {
        ranks_spread(r->ranks, table, count * (size_t)n * sizeof *table);
        put_all(&(column){r->ranks, table, n}, out);
    }
    free(table);
    return ok;
}
