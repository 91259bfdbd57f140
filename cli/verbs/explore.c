/* explore.c - tessera explore: a model and what schemas make of it, as one page to click through. */
#include "bench/report/report.h"
#include "cli/draw/explore.h"
#include "cli/outfile.h"
#include "cli/session.h"
#include "graph/base/formats.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PLANS = 8 };

typedef struct exploration {
    session s;
    cJSON *results;  /* of a race, or NULL: a model was given */
    ts_model *model; /* of the session, or that the results are of */
    int n;
    explored of[MOST_PLANS];
} exploration;

/* Results are JSON; a model's file may be as long as it likes, and is not read here. */
static bool open_results(exploration *x, const char *path, ts_error *e)
{
    FILE *f = fopen(path, "rb");
    const int first = f ? fgetc(f) : EOF;
    if (f)
        fclose(f);
    ENDED_BY(heap_free) char *all = first == '{' ? outfile_text(path, RESULTS_MOST, e) : NULL;
    x->results = all && report_is(all, FORMAT_RESULTS) ? js_parse(all, path, e) : NULL;
    return e->code == TS_OK;
}

static bool add_plan(exploration *x, const char *schema, const char *name, const cJSON *measured, ts_error *e)
{
    if (x->n == MOST_PLANS) {
        err_set(e, TS_USAGE, "explore: more than %d schemas", MOST_PLANS);
        return err_hint(e, "give those that are to be compared with -s");
    }
    x->s.options.schema = schema;
    ts_plan *p = x->results ? ts_plan_make(x->model, &x->s.options, e) : session_plan_make(&x->s, e);
    x->of[x->n++] = (explored){p, name, measured};
    return p;
}

/* The model that was raced, bound as it was; plans by what raced. */
static bool open_race(exploration *x, const args *a, ts_error *e)
{
    static const char *const settled[] = {"dim", "in", "from", "to", "schema", NULL};
    if (!args_clash(a, settled, "explore RESULTS: ", " was settled when the race began", "leave it out", e))
        return false;
    const cJSON *dim, *c, *dims = js_get(x->results, "model/dims");
    const char **bound = heap_array((size_t)cJSON_GetArraySize(dims) + 1, sizeof *bound);
    int n = 0;
    cJSON_ArrayForEach(dim, dims) bound[n++] = cJSON_IsString(dim) ? dim->valuestring : "";
    x->s = (session){.args = a, .progress = progress_open(&a->console), .options = session_options(a)};
    ts_options *o = &x->s.options;
    const char *target = js_get_text(x->results, "config/target"), *isa = js_get_text(x->results, "config/isa");
    o->target = *target ? target : o->target, o->isa = *isa ? isa : o->isa;
    o->threads = (int)js_get_number(x->results, "config/threads", o->threads);
    o->as_written = js_get_flag(x->results, "config/as_written");
    x->model = x->s.model = session_model_make(a, js_get_text(x->results, "model/name"), e);
    bool ok = x->model && ts_model_bind(x->model, n, bound, NULL, e);
    free((void *)bound);
    cJSON_ArrayForEach(c, js_get(x->results, "candidates"))
    {
        const char *schema = js_get_text(c, "schema");
        ok = ok && add_plan(x, strcmp(schema, "guess") == 0 ? NULL : schema, js_get_text(c, "name"), c, e);
    }
    return ok;
}

static bool open_model(exploration *x, const args *a, ts_error *e)
{
    const int n = args_count(a, "schema");
    bool ok = session_open(&x->s, a, args_noun(a, 0), e);
    x->model = x->s.model;
    for (int i = 0; ok && i < (n ? n : 1); i++) {
        const char *schema = args_at(a, "schema", i);
        ok = add_plan(x, schema, schema ? schema : "guess", NULL, e);
    }
    return ok;
}

static bool write_page(const exploration *x, const args *a, ts_error *e)
{
    ENDED_BY(text_free) text data = {0};
    const char *out = args_text(a, "out");
    bool ok = explore_data(&data, x->model, x->n, x->of, x->results, e);
    ENDED_BY(heap_free) char *page = ok ? report_explore_text(args_noun(a, 0), text_str(&data)) : NULL;
    ok = ok && outfile_write(out, page, e);
    if (ok && strcmp(out, "-") != 0)
        console_note(&a->console, "wrote %s", out);
    return ok;
}

static int run(const args *a, ts_error *e)
{
    exploration x = {0};
    if (outfile_check(args_text(a, "out"), e) && open_results(&x, args_noun(a, 0), e) &&
        (x.results ? open_race : open_model)(&x, a, e))
        write_page(&x, a, e);
    for (int i = 0; i < x.n; i++)
        ts_plan_free(x.of[i].plan);
    session_close(&x.s);
    cJSON_Delete(x.results);
    return TS_OK;
}

static const option options[] = {
    {"out", 'o', A_FILE, "FILE", "where to write", "explore.html", false, 0, 0},
    {"schema", 's', A_SCHEMA, "FILE|NAME", "a schema to look at; repeats (default: the built-in guess)", REPEATS},
    {0},
};

const verb verb_explore = {
    .name = "explore",
    .brief = "Write a page to click through: graph, kernels, memory",
    .usage = "MODEL|RESULTS",
    .own = {"Options", options, NULL},
    .groups = session_model_groups,
    .examples = "tessera explore bert-base -o bert.html\n"
                "tessera explore bert-base -s rows -s panels # the same kernels in two schemas\n"
                "tessera explore results.json -o race.html   # what a race measured, as well",
    .details = "One file without network. RESULTS of tessera bench bring the model, its schemas and the times of "
               "kernels.",
    .run = run,
};
