/* sweep.c - points of the grid in order, the last axis first; of each race what a map and curves need is kept. */
#include "bench/sweep.h"
#include "graph/base/err.h"
#include "graph/base/formats.h"
#include "graph/base/js.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = 4, MOST_VALUES = 64, MOST_POINTS = 1000, MOST_DIMS = 64 };

typedef struct grid {
    cJSON *root, *axes, *points; /* of the document */
    int n, points_n;             /* axes; races in all */
} grid;

/* ---- the grid ---- */

/* Before the first race, which may take long */
static bool is_value(const char *s, int64_t least, int64_t most)
{
    const bool whole = *s && strlen(s) <= 18 && strspn(s, "0123456789") == strlen(s);
    return whole && strtoll(s, NULL, 10) >= least && strtoll(s, NULL, 10) <= most;
}

/* A name or a file, which is looked for when it is raced */
static bool check_value(const char *axis, const char *text, const char *v, ts_error *e)
{
    const bool threads = !strcmp(axis, "threads"), models = !strcmp(axis, "models");
    if (models ? *v != 0 : is_value(v, threads ? 1 : 0, threads ? TS_MAX_THREADS : INT64_MAX))
        return true;
    return err_set(e, TS_USAGE, "--sweep %s: \"%.20s\" is no %s", text, v,
                   models    ? "model"
                   : threads ? "number of threads"
                             : "extent");
}

/* Of models the first is that of the race itself. */
static bool add_axis(grid *g, const char *text, const char *model, ts_error *e)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || equals[1] == 0) {
        err_set(e, TS_USAGE, "--sweep %s: NAME=VALUE,VALUE expected", text);
        return err_hint(e, "as in --sweep seq=32,64,128 or --sweep threads=1,2");
    }
    ENDED_BY(heap_free) char *name = strndup(text, (size_t)(equals - text)), *values = strdup(equals + 1);
    char *rest = values;
    if (!name || !values)
        return err_memory(e, strlen(text), "an axis");
    bool ok = true;
    if (js_find(g->axes, "name", name))
        ok = err_set(e, TS_USAGE, "--sweep %s: the axis %s is given twice", text, name);
    cJSON *list = js_array(js_row(g->axes, "name:%s", name), "values");
    if (!strcmp(name, "models"))
        js_item(list, model);
    for (const char *v; ok && (v = strsep(&rest, ","));) {
        ok = check_value(name, text, v, e);
        if (ok && js_find(list, NULL, v))
            ok = err_set(e, TS_USAGE, "--sweep %s: %s is given twice", text, v);
        js_item(list, v);
    }
    if (!ok)
        err_hint(e, "as in --sweep seq=32,64,128 or --sweep threads=1,2");
    const int n = cJSON_GetArraySize(list);
    if (ok && (n > MOST_VALUES || g->points_n * n > MOST_POINTS))
        ok = err_set(e, TS_USAGE, "--sweep %s: %d values, of %d at most, and %d races in all, of %d at most", text, n,
                     MOST_VALUES, g->points_n * n, MOST_POINTS);
    g->points_n *= n;
    return ok;
}

static const char *value_at(const grid *g, int axis, int point)
{
    int of = point;
    for (int a = g->n - 1; a > axis; a--)
        of /= cJSON_GetArraySize(js_get(cJSON_GetArrayItem(g->axes, a), "values"));
    const cJSON *values = js_get(cJSON_GetArrayItem(g->axes, axis), "values");
    return cJSON_GetArrayItem(values, of % cJSON_GetArraySize(values))->valuestring;
}

static cJSON *place_make(const grid *g, int point)
{
    cJSON *at = cJSON_CreateObject();
    for (int a = 0; a < g->n; a++)
        js_text(at, js_get_text(cJSON_GetArrayItem(g->axes, a), "name"), value_at(g, a, point));
    return at;
}

/* ---- a point ---- */

static bool race_at(const bench_options *o, const cJSON *at, char **results, ts_error *e)
{
    bench_options here = *o;
    const char *dims[MOST_DIMS];
    char own[MOST_AXES][160];
    int n = 0, k = 0;
    for (; n < o->n_dims && n < MOST_DIMS - MOST_AXES; n++)
        dims[n] = o->dims[n];
    const cJSON *v;
    cJSON_ArrayForEach(v, at)
    {
        const size_t length = strlen(v->string);
        for (int d = 0; d < o->n_dims; d++)
            if (strncmp(o->dims[d], v->string, length) == 0 && o->dims[d][length] == '=')
                return err_set(e, TS_USAGE, "--sweep %.60s and --dim %.60s: one of them says the extent", v->string,
                               o->dims[d]);
        if (strcmp(v->string, "models") == 0) {
            here.model = v->valuestring;
            continue;
        }
        if (strcmp(v->string, "threads") == 0) {
            here.threads = (int)strtol(v->valuestring, NULL, 10);
            continue;
        }
        snprintf(own[k], sizeof own[k], "%.120s=%.20s", v->string, v->valuestring);
        dims[n++] = own[k++];
    }
    here.dims = dims;
    here.n_dims = n;
    return bench_run(&here, results, e);
}

static void add_row(cJSON *rows, const cJSON *c)
{
    js_row(rows, "name:%s,status:%s,median_ns:%g,low_ns:%g,high_ns:%g", js_get_text(c, "name"),
           js_get_text(c, "status"), js_get_number(c, "stats/median_ns", NAN), js_get_number(c, "stats/low_ns", NAN),
           js_get_number(c, "stats/high_ns", NAN));
}

/* Whether every comparison of the contestant is decided for it. */
static bool wins(const cJSON *comparisons, const char *name)
{
    const cJSON *c;
    int won = 0;
    cJSON_ArrayForEach(c, comparisons)
    {
        const bool first = strcmp(js_get_text(c, "a"), name) == 0;
        if (!first && strcmp(js_get_text(c, "b"), name) != 0)
            continue;
        if (strcmp(js_get_text(c, "verdict"), first ? "FASTER" : "SLOWER") != 0)
            return false;
        won++;
    }
    return won > 0;
}

/* winner: null where nobody is faster than all others for sure; times: how much longer the next one takes. */
static void add_point(cJSON *points, const cJSON *at, const char *results)
{
    ENDED_BY(js_free) cJSON *v = cJSON_Parse(results);
    cJSON *point = js_object(points, NULL);
    const cJSON *lists[] = {js_get(v, "candidates"), js_get(v, "peers")}, *c;
    cJSON_AddItemToObject(point, "at", cJSON_Duplicate(at, true));
    js_put(point, "state:%s", js_get_text(v, "machine_state/state"));
    cJSON *rows = js_array(point, "contestants");
    for (int i = 0; i < 2; i++)
        cJSON_ArrayForEach(c, lists[i]) add_row(rows, c);
    const char *winner = NULL;
    double best = NAN, next = NAN;
    cJSON_ArrayForEach(c, rows)
    {
        const double ns = js_get_number(c, "median_ns", NAN);
        if (wins(js_get(v, "comparisons"), js_get_text(c, "name")))
            winner = js_get_text(c, "name"), best = ns;
    }
    cJSON_ArrayForEach(c, rows) if (winner && strcmp(js_get_text(c, "name"), winner) != 0)
        next = fmin(next, js_get_number(c, "median_ns", NAN));
    js_put(point, "winner:%s,times:%g", winner, next / best);
}

/* ---- the whole ---- */

static grid grid_make(const bench_options *o, const sweep *s, ts_error *e)
{
    grid g = {.root = cJSON_CreateObject(), .n = s->n, .points_n = 1};
    js_put(g.root, "format:%s,tool:%s,model:%s", FORMAT_SWEEP, "tessera " TS_VERSION, o->model);
    cJSON *asked = js_object(g.root, "asked"), *schemas = js_array(asked, "schemas"), *peers = js_array(asked, "peers"),
          *dims = js_array(asked, "dims");
    for (int i = 0; i < o->n_schemas; i++)
        js_item(schemas, o->schemas[i]);
    for (int i = 0; i < o->n_peers; i++)
        js_item(peers, o->peers[i]);
    for (int i = 0; i < o->n_dims; i++)
        js_item(dims, o->dims[i]);
    js_put(asked, "target:%s,isa:%s,precision:%s", o->target, o->isa, o->precision);
    g.axes = js_array(g.root, "axes");
    g.points = js_array(g.root, "points");
    if (s->n > MOST_AXES || o->n_dims > MOST_DIMS - MOST_AXES)
        err_set(e, TS_USAGE, "--sweep: %d axes and %d --dim, at most %d and %d expected", s->n, o->n_dims, MOST_AXES,
                MOST_DIMS - MOST_AXES);
    for (int a = 0; a < s->n && e->code == TS_OK; a++)
        add_axis(&g, s->axes[a], o->model, e);
    return g;
}

/* Of a sweep with more or fewer values the points are taken, too; of another model or other contestants none. */
static bool same_sweep(const cJSON *old, const grid *g, ts_error *e)
{
    if (strcmp(js_get_text(old, "format"), FORMAT_SWEEP) != 0) {
        err_set(e, TS_BAD_INPUT, "--resume: \"format\" is \"%.40s\", expected " FORMAT_SWEEP,
                js_get_text(old, "format"));
        return err_hint(e, "give the file that bench --sweep wrote with -o");
    }
    if (strcmp(js_get_text(old, "model"), js_get_text(g->root, "model")) == 0 &&
        cJSON_Compare(js_get(old, "asked"), js_get(g->root, "asked"), true))
        return true;
    err_set(e, TS_USAGE, "--resume: the sweep was of another model, or other options");
    return err_hint(e, "a sweep goes on with the options and the model that it began with; more values may be given");
}

static const cJSON *known_point(const cJSON *old, const cJSON *at)
{
    const cJSON *p;
    cJSON_ArrayForEach(p, js_get(old, "points")) if (cJSON_Compare(js_get(p, "at"), at, true)) return p;
    return NULL;
}

static bool race_points(const bench_options *o, const sweep *s, grid *g, const cJSON *old, int *signal, ts_error *e)
{
    for (int i = 0; i < g->points_n && *signal == 0; i++) {
        ENDED_BY(js_free) cJSON *at = place_make(g, i);
        const cJSON *known = known_point(old, at);
        ENDED_BY(heap_free) char *results = NULL;
        if (known)
            cJSON_AddItemToArray(g->points, cJSON_Duplicate(known, true));
        else if (!race_at(o, at, &results, e))
            return false;
        *signal = results ? bench_stopped(results) : 0;
        if (results && *signal == 0)
            add_point(g->points, at, results);
        ENDED_BY(heap_free) char *text = known || !s->keep ? NULL : js_to_text(g->root, false);
        if (text && !s->keep(s->user, text, e))
            return false;
    }
    return true;
}

bool bench_sweep(const bench_options *o, const sweep *s, char **out, int *signal, ts_error *e)
{
    grid g = grid_make(o, s, e);
    ENDED_BY(js_free) cJSON *old = s->earlier && e->code == TS_OK ? js_parse(s->earlier, "--resume", e) : NULL;
    *signal = 0;
    const bool ok = e->code == TS_OK && (!old || same_sweep(old, &g, e)) && race_points(o, s, &g, old, signal, e);
    *out = ok ? js_to_text(g.root, false) : NULL;
    cJSON_Delete(g.root);
    return ok;
}
