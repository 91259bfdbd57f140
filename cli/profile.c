/* profile.c - the kernels of a race in the terminal: a table for each candidate, the heaviest first, as the report
 * counts them (one product in twelve layers is one row, and what Strassen makes of it is that product). */
#include "cli/profile.h"

#include "bench/report/data.h"
#include "cli/say.h"

#include <math.h>

enum { MOST_ROWS = 20 }; /* the rest is one row */

static const char form[] =
    "[candidates*\n{!bold}{name}{!}\n"
    "[rows!  kernel|op|>count|>time|>of a pass|>GFLOP/s|>of the ceiling|bound\n{kernel}\t{op}\t{count}\t{median_ns}\t"
    "[share?{share:%.1f%} %|-]\t{rate}\t[peak?{peak:%.1f%} %|-]\t{bound}]]";

static void add_kind(cJSON *rows, const kind *k, const part *of, double pass_ns)
{
    const bool counted = k->flops > 0 && of->ns > 0;
    js_row(rows, "kernel:%s,op:%s,count:%d,median_ns:%g,rate:%g,bound:%s,share:%g,peak:%g", k->name, k->op, of->count,
           of->ns, counted ? k->flops * of->count / of->ns : NAN, of->heaviest->bound, of->ns / pass_ns,
           of->peak_share);
}

static void add_other(cJSON *rows, const char *what, int count, double ns, double pass_ns)
{
    js_row(rows, "kernel:%s,op:%s,count:%g,median_ns:%g,share:%g", what, "", count > 0 ? (double)count : NAN, ns,
           ns / pass_ns);
}

static void add_candidate(cJSON *list, const report *r, int c)
{
    const contestant *of = &r->of[c];
    ENDED_BY(heap_free) ranked *all = kinds_ranked(r, c, -1);
    cJSON *rows = js_array(js_row(list, "name:%s", of->name), "rows");
    int n = 0, left = 0;
    double rest = 0;
    for (int i = 0; i < r->n_kind; i++) {
        const part *p = &all[i].k->of[c];
        if (p->heaviest && n++ < MOST_ROWS)
            add_kind(rows, all[i].k, p, of->stats.median);
        else if (p->heaviest)
            rest += p->ns, left += p->count;
    }
    if (left)
        add_other(rows, "all others", left, rest, of->stats.median);
    if (isfinite(of->gap_ns))
        add_other(rows, of->gap_ns < 0 ? "less in a whole pass" : "outside kernels", 0, of->gap_ns, of->stats.median);
}

bool profile_show(const paper *on, const char *results, ts_error *e)
{
    report r;
    if (!report_read(&r, results, e))
        return false;
    cJSON *v = cJSON_CreateObject(), *list = js_array(v, "candidates");
    for (int c = 0; c < r.charted; c++)
        if (r.of[c].n_kernel && r.of[c].valid)
            add_candidate(list, &r, c);
    say_form(on, v, form);
    cJSON_Delete(v);
    report_free(&r);
    return true;
}
