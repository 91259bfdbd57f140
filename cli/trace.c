/* trace.c - spans of kernels as events of a trace. */
#include "cli/trace.h"

#include "graph/base/base.h"
#include "graph/base/clock.h"
#include "cli/outfile.h"
#include "cli/say.h"
#include "cli/session.h"

#include <math.h>
#include <stdlib.h>

enum { WARM = 2, PASSES = 3 };

trace trace_make(void)
{
    trace t = {.root = cJSON_CreateObject()};
    js_text(t.root, "displayTimeUnit", "ns");
    t.events = js_array(t.root, "traceEvents");
    return t;
}

void trace_free(trace *t)
{
    cJSON_Delete(t->root);
}

/* ---- one plan ---- */
typedef struct process { /* of a trace */
    const trace *t;
    const char **op, **label, **loops; /* of each kernel, the plan's JSON's */
    bool *lane;                        /* of each lane: it has its name */
    int lanes, pass;
    double begin; /* of the pass, seconds since the first one */
} process;

static double microseconds(double seconds) /* to the nanosecond: more says nothing, and is long */
{
    return round(seconds * 1e9) / 1e3;
}

static void put_name(const process *p, const char *what, int lane, const char *name)
{
    cJSON *row = js_row(p->t->events, "name:%s,ph:%s,pid:%d,tid:%d", what, "M", p->t->processes, lane);
    js_text(js_object(row, "args"), "name", name);
}

static void name_lane(process *p, const ts_span *s)
{
    ENDED_BY(text_free) text name = {0};
    text_add(&name, s->thread < 0 ? "%s" : "%s thread %d", s->device, s->thread);
    put_name(p, "thread_name", s->lane, text_str(&name));
    p->lane[s->lane] = true;
}

static void put_span(void *user, const ts_span *s)
{
    process *p = user;
    const int k = s->kernel;
    if (s->lane < p->lanes && !p->lane[s->lane])
        name_lane(p, s);
    ENDED_BY(text_free) text name = {0};
    text_add(&name, *p->label[k] ? "%s %s" : "%s", p->op[k], p->label[k]);
    cJSON *row = js_row(p->t->events, "name:%s,cat:%s,ph:%s,ts:%g,dur:%g,pid:%d,tid:%d", text_str(&name), p->op[k], "X",
                        microseconds(p->begin + s->begin), microseconds(s->end - s->begin), p->t->processes, s->lane);
    js_put(js_object(row, "args"), "kernel:%d,loops:%s,pass:%d", k, p->loops[k], p->pass);
}

static bool run_passes(process *p, ts_plan *plan, int passes, ts_error *e)
{
    const double start = seconds_now();
    bool ok = true;
    for (; ok && p->pass < passes; p->pass++) {
        p->begin = seconds_now() - start;
        ok = ts_plan_run_traced(plan, put_span, p, e);
    }
    return ok;
}

static bool run_pipeline(process *p, ts_plan *plan, const ts_pipeline *w, ts_error *e)
{
    ts_pipeline own = *w;
    own.seen = put_span, own.user = p;
    return ts_plan_pipeline(plan, &own, e);
}

bool trace_plan(trace *t, const char *who, ts_plan *plan, const trace_runs *runs, ts_error *e)
{
    ENDED_BY(js_free) cJSON *root = reply_take(ts_plan_json(plan, e), e);
    if (!root)
        return false;
    const cJSON *list = js_get(root, "kernels"), *k;
    const size_t n = (size_t)cJSON_GetArraySize(list) + 1;
    process p = {.t = t, .lanes = TS_MAX_THREADS};
    p.op = heap_array(n, sizeof *p.op), p.label = heap_array(n, sizeof *p.label);
    p.loops = heap_array(n, sizeof *p.loops), p.lane = heap_array((size_t)p.lanes, sizeof *p.lane);
    int i = 0;
    cJSON_ArrayForEach(k, list)
    {
        p.op[i] = js_get_text(k, "op"), p.label[i] = js_get_text(k, "label");
        p.loops[i++] = js_get_text(k, js_get(k, "derived") ? "derived" : "loops");
    }
    t->processes++;
    put_name(&p, "process_name", 0, who);
    const bool ok = runs->pipeline ? run_pipeline(&p, plan, runs->pipeline, e) : run_passes(&p, plan, runs->passes, e);
    free(p.op), free(p.label), free(p.loops), free(p.lane);
    return ok;
}

bool trace_write(const trace *t, const char *path, ts_error *e)
{
    ENDED_BY(heap_free) char *words = js_to_text(t->root, false);
    return outfile_write(path, words, e);
}

/* ---- of a race ---- */
static bool trace_schema(trace *t, session *s, const char *schema, ts_error *e)
{
    s->options.schema = schema;
    ts_plan *p = session_plan_make(s, e);
    bool ok = p && ts_plan_build(p, e) && session_feed(s, p, e);
    for (int i = 0; ok && i < WARM; i++)
        ok = ts_plan_run(p, e);
    ok = ok && trace_plan(t, schema ? schema : "guess", p, &(trace_runs){.passes = PASSES}, e);
    ts_plan_free(p);
    return ok;
}

bool trace_schemas(const args *a, const char *path, ts_error *e)
{
    session s = {0};
    trace t = trace_make();
    const int n = args_count(a, "schema");
    bool ok = session_open(&s, a, args_noun(a, 0), e) && session_fill(&s, (uint64_t)args_integer(a, "seed"), e);
    for (int i = 0; ok && i < (n ? n : 1); i++)
        ok = trace_schema(&t, &s, n ? args_at(a, "schema", i) : NULL, e);
    ok = ok && trace_write(&t, path, e);
    trace_free(&t);
    session_close(&s);
    return ok;
}
