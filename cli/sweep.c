/* sweep.c - bench --sweep: its file after each point, its table, its page. */
#include "cli/sweep.h"

#include "bench/report/report.h"
#include "bench/sweep.h"
#include "cli/outfile.h"
#include "cli/say.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char form[] =
    "[points!at|<winner|times|<medians|~state\n{at=}\t[winner?{winner}|not decided]\t[times?{times:%.2f}x|-]\t"
    "[contestants*{;}{name} {median_ns}]\t{state}]";

static bool show(const args *a, const char *json, ts_error *e)
{
    if (a->console.json)
        return outfile_write("-", json, e);
    return reply_give(a, cJSON_Parse(json), form), true;
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
    return args_clash(a, others, "bench: ", " belongs to one race, and --sweep runs many", "leave one of them out", e);
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
