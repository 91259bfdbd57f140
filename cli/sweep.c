/* sweep.c - bench --sweep: its file after each point, its table, its page. */
#include "cli/sweep.h"

#include "bench/report/report.h"
#include "bench/sweep.h"
#include "cli/outfile.h"
#include "cli/results.h"
#include "cli/say.h"

#include <stdlib.h>

static const char form[] =
    "[points!at|<winner|times|<medians|~state\n{at=}\t[winner?{winner}|not decided]\t[times?{times:%.2f}x|-]\t"
    "[contestants*{;}{name} {median_ns}]\t{state}]";

static bool show(const args *a, const char *json, ts_error *e)
{
    (void)e;
    reply_give(a, cJSON_Parse(json), form);
    return true;
}

int sweep_race(const args *a, const bench_options *o, ts_error *e)
{
    sweep s = {.earlier = o->resume, .keep = outfile_keep, .user = (void *)args_text(a, "out")};
    bench_options each = *o;
    ENDED_BY(heap_free) char *json = NULL;
    int signal = 0;
    each.resume = NULL;
    s.axes = args_list(a, "sweep", &s.n);
    if (bench_sweep(&each, &s, &json, &signal, e))
        results_publish(a, json, &(published){report_sweep, show}, e);
    free((void *)s.axes);
    results_stop(a, e->code == TS_OK ? signal : 0);
    return e->code;
}
