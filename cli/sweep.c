/* sweep.c - bench --sweep: its file after each point, its table, its page. */
#include "cli/sweep.h"

#include "bench/report/report.h"
#include "bench/sweep.h"
#include "cli/outfile.h"
#include "cli/outline.h"
#include "cli/say.h"
#include "graph/base/base.h"
#include "graph/base/err.h"
#include "graph/base/js.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char form[] = "{rows!<at|<winner|times|<medians|~state}";

static void add_row(cJSON *rows, const cJSON *point)
{
    const cJSON *v, *c;
    text at = {0}, medians = {0};
    char times[32] = "-";
    const double by = js_get_number(point, "times", NAN);
    cJSON_ArrayForEach(v, js_get(point, "at"))
        text_add(&at, "%s%s=%s", at.length ? " " : "", v->string, v->valuestring);
    cJSON_ArrayForEach(c, js_get(point, "contestants"))
    {
        char ns[64];
        outline_value(ns, sizeof ns, "ns", js_get(c, "median_ns"));
        text_add(&medians, "%s%s %s", medians.length ? ", " : "", js_get_text(c, "name"), ns);
    }
    if (isfinite(by))
        snprintf(times, sizeof times, "%.2fx", by);
    js_row(rows, "at:%s,winner:%s,times:%s,medians:%s,state:%s", text_str(&at),
           *js_get_text(point, "winner") ? js_get_text(point, "winner") : "not decided", times, text_str(&medians),
           js_get_text(point, "state"));
    text_free(&at), text_free(&medians);
}

static bool show(const args *a, const char *json, ts_error *e)
{
    if (a->console.json)
        return outfile_write("-", json, e);
    cJSON *v = cJSON_Parse(json), *p, *rows = js_array(v, "rows");
    cJSON_ArrayForEach(p, js_get(v, "points")) add_row(rows, p);
    const paper on = console_paper(&a->console);
    say_form(&on, v, form);
    cJSON_Delete(v);
    return true;
}

static bool publish(const args *a, const char *json, ts_error *e)
{
    const char *out = args_text(a, "out"), *page = args_text(a, "report");
    char *html = NULL;
    if (out && !outfile_write(out, json, e))
        return false;
    const bool good = !page || (report_sweep(json, &html, e) && outfile_write(page, html, e));
    free(html);
    return good && ((out && strcmp(out, "-") == 0) || show(a, json, e));
}

bool sweep_fits(const args *a, ts_error *e)
{
    static const char *const others[] = {"at", "train", "profile", "fail-on", NULL};
    for (int i = 0; others[i]; i++)
        if (args_count(a, others[i])) {
            err_set(e, TS_USAGE, "bench: --%s belongs to one race, and --sweep runs many", others[i]);
            return err_hint(e, "leave one of them out");
        }
    return true;
}

int sweep_race(const args *a, const bench_options *o, ts_error *e)
{
    sweep s = {.earlier = o->resume, .keep = outfile_keep, .user = (void *)args_text(a, "out")};
    bench_options each = *o;
    char *json = NULL;
    int signal = 0;
    each.resume = NULL;
    s.axes = args_list(a, "sweep", &s.n);
    if (bench_sweep(&each, &s, &json, &signal, e))
        publish(a, json, e);
    free((void *)s.axes);
    free(json);
    if (signal != 0 && e->code == TS_OK) {
        console_note(&a->console, "stopped; the same command with --resume FILE goes on from what -o FILE kept");
        fflush(stdout);
        raise(signal);
    }
    return e->code;
}
