/* results.c - forms of results, and what they need beside what the files have. */
#include "cli/results.h"

#include "bench/report/outcome.h"
#include "bench/report/proportion.h"
#include "cli/outfile.h"
#include "cli/say.h"
#include "graph/base/base.h"
#include "graph/base/formats.h"

#include <math.h>
#include <signal.h>
#include <string.h>

/* The ratio is of times, b over a: above 1 where a is faster. */
#define VERDICT                                                                                    \
    "{a} vs {b}: {verdict~}[ratio? {ratio:%.3f}x (99% CI {low:%.3f} … {high:%.3f}), {launches} " \
    "launch[launches=1?|es], {pairs} pairs[detectable?, detectable >= {detectable:%.1f%}%]|, no samples count]\n"
/* Stands at times that a busy machine may have made longer, and where it is said once why. */
#define MARK "†"
#define NOTES "[notes*note: {}\n]"

static const char results_form[] =
    "{model/name}[model/dims*  {}]   {environment/threads} thread[environment/threads=1?|s] ({environment/cpu}, "
    "{environment/isa})   peak {ceilings/fma_f32_gflops:rate} GFLOP/s f32, {ceilings/read_gbs:rate} GB/s "
    "([ceilings/stated?as the device states|probed])\n"
    "[candidates!<contestant|>median|>95% CI|>p90|>GFLOP/s|>peak|>memory|>error|~status|^reason\n"
    "{name}\t{stats/median_ns}[stats/median_ns?[../machine_state/why?" MARK "]]\t"
    "[stats/median_ns?{stats/low_ns} … {stats/high_ns}|-]\t{stats/p90_ns}\t{rate}\t[share?{share:%.0f%} %|-]\t"
    "{memory/peak_bytes}\t[numerics/max_rel?{numerics/max_rel:%.1e}|-]\t{status}\t[reason?{reason}]]"
    "[machine_state?machine: {machine_state/state~}[machine_state/why? (" MARK "): {machine_state/why}]; "
    "{machine_state/counted_rounds} of {machine_state/rounds} rounds count"
    "[machine_state/state=overloaded?, less what threads waited for a processor][machine_state/why?. The times may be "
    "too high]\n]"
    "[comparisons*" VERDICT
    "[a_error?  not equally accurate: {a} is off by {a_error:%.1e} of the largest value, {b} by {b_error:%.1e}\n]"
    "[where?  [share>1?the largest gain|{share:%.0f%} % of the difference] is in \"{where}\": "
    "{a_ns} against {b_ns}[by?; {with} computes it by {by}, {without} does not]\n]]" NOTES;

/* First what else differs between the two files: a verdict over two machines says little. */
static const char comparison_form[] = "[differences*differs: {key}: {before} before, {after} after\n]"
                                      "[comparisons*" VERDICT "[reason?  {reason}\n]]" NOTES;

/* Peers behind candidates, in the order of the command line, with a rate: of the model's arithmetic as the first
 * candidate's plan counts it, the same work for everybody. */
static void add_rates(cJSON *v)
{
    cJSON *all = cJSON_GetObjectItemCaseSensitive(v, "candidates"), *peers, *c;
    double flops = 0, peak = js_get_number(v, "ceilings/fma_f32_gflops", NAN);
    cJSON_ArrayForEach(c, all) flops = flops > 0 ? flops : js_get_number(c, "flops", 0);
    all = all ? all : js_array(v, "candidates"), peers = cJSON_GetObjectItemCaseSensitive(v, "peers");
    while (peers && (c = cJSON_DetachItemFromArray(peers, 0)))
        cJSON_AddItemToArray(all, c);
    cJSON_ArrayForEach(c, all)
    {
        const double rate = flops > 0 ? flops / js_get_number(c, "stats/median_ns", NAN) : NAN;
        js_put(c, "rate:%g,share:%g", rate, rate / peak);
    }
}

/* What a kernel does as the model says it: what Strassen makes of a product counts as the product. */
static const char *op_of(const cJSON *k)
{
    return js_get_text(k, js_get(k, "work") ? "work/operation" : "op");
}

/* The way that a candidate goes to an operation, "Strassen"; "": as it is defined. */
static const char *way_of(const cJSON *c, const char *op)
{
    const cJSON *k;
    cJSON_ArrayForEach(k, js_get(c, "kernels"))
    {
        if (strcmp(op_of(k), op) == 0 && *js_get_text(k, "work/by") != 0)
            return js_get_text(k, "work/by");
    }
    return "";
}

/* Nanoseconds of the kernels of an operation, of those of the pass. */
static double time_in(const cJSON *c, const char *op)
{
    const cJSON *k;
    double sum = 0;
    cJSON_ArrayForEach(k, js_get(c, "kernels"))
    {
        const double ns = js_get_number(k, "median_ns", NAN);
        sum += strcmp(op_of(k), op) == 0 && isfinite(ns) ? ns : 0;
    }
    return sum * kernels_scale(c);
}

/* Where the difference comes from: the operation with the largest part of it. Only what both were profiled for. */
static void add_where(const cJSON *v, cJSON *comparison)
{
    const cJSON *all = js_get(v, "candidates"), *k;
    const cJSON *a = js_find(all, "name", js_get_text(comparison, "a"));
    const cJSON *b = js_find(all, "name", js_get_text(comparison, "b"));
    const double whole = js_get_number(b, "stats/median_ns", NAN) - js_get_number(a, "stats/median_ns", NAN);
    const outcome is = outcome_read(js_get_text(comparison, "verdict"));
    const char *where = NULL;
    double most = 0;
    if (!a || !b || (is != FASTER && is != SLOWER))
        return;
    cJSON_ArrayForEach(k, js_get(a, "kernels"))
    {
        const char *op = op_of(k);
        const double part = (time_in(b, op) - time_in(a, op)) / whole;
        if (isfinite(part) && part > most)
            most = part, where = op;
    }
    if (!where || most < 0.05)
        return;
    js_put(comparison, "where:%s,share:%g,a_ns:%g,b_ns:%g", where, most, time_in(a, where), time_in(b, where));
    const char *way = way_of(a, where), *other = way_of(b, where);
    if (strcmp(way, other) != 0)
        js_put(comparison, "by:%s,with:%s,without:%s", *way != 0 ? way : other,
               js_get_text(comparison, *way != 0 ? "a" : "b"), js_get_text(comparison, *way != 0 ? "b" : "a"));
}

static bool unknown_format(const char *format, ts_error *e)
{
    ENDED_BY(text_free) text safe = {0};
    text_safe(&safe, format);
    err_set(e, TS_BAD_INPUT, "results: \"format\" is \"%.40s\", " FORMAT_RESULTS " or " FORMAT_COMPARISON " expected",
            text_str(&safe));
    return err_hint(e, "give a file that tessera bench wrote with -o, or what compare --json printed");
}

bool results_show(const paper *on, const char *results, bool quiet, ts_error *e)
{
    cJSON *v = js_parse(results, "results", e), *c;
    const char *format = js_get_text(v, "format");
    const bool whole = strcmp(format, FORMAT_RESULTS) == 0, good = whole || strcmp(format, FORMAT_COMPARISON) == 0;
    if (quiet)
        cJSON_DeleteItemFromObjectCaseSensitive(v, "notes");
    if (v && !good)
        unknown_format(format, e);
    if (whole) {
        add_rates(v);
        cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(v, "comparisons")) add_where(v, c);
    }
    if (good)
        say_form(on, v, whole ? results_form : comparison_form);
    cJSON_Delete(v);
    return good;
}

bool results_give(const args *a, const char *results, ts_error *e)
{
    const paper on = console_paper(&a->console);
    return a->console.json ? outfile_write("-", results, e) : results_show(&on, results, a->console.quiet, e);
}

bool results_write(const args *a, const char *json, bool (*page)(const char *json, char **html, ts_error *e),
                   ts_error *e)
{
    const char *out = args_text(a, "out"), *report = args_text(a, "report");
    ENDED_BY(heap_free) char *html = NULL;
    return (!out || outfile_write(out, json, e)) &&
           (!report || (page(json, &html, e) && outfile_write(report, html, e)));
}

bool results_written_out(const args *a)
{
    const char *out = args_text(a, "out");
    return out && strcmp(out, "-") == 0;
}

void results_stop(const args *a, int signal)
{
    if (!signal)
        return;
    console_note(&a->console, "stopped; the same command with --resume FILE goes on from what -o FILE kept");
    fflush(stdout);
    raise(signal);
}
