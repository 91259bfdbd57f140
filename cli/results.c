/* results.c - forms of results, and what they need beside what the files have. */
#include "cli/results.h"

#include "bench/report/form.h"
#include "bench/report/outcome.h"
#include "bench/report/proportion.h"
#include "cli/outfile.h"
#include "cli/say.h"
#include "graph/base/base.h"
#include "graph/base/formats.h"

#include <math.h>
#include <signal.h>
#include <string.h>

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
    const bool whole = strcmp(format, FORMAT_RESULTS) == 0, ok = whole || strcmp(format, FORMAT_COMPARISON) == 0;
    if (quiet)
        cJSON_DeleteItemFromObjectCaseSensitive(v, "notes");
    if (v && !ok)
        unknown_format(format, e);
    if (whole) {
        add_rates(v);
        cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(v, "comparisons")) add_where(v, c);
    }
    if (ok)
        say_form(on, v, page_file("results.form"));
    cJSON_Delete(v);
    return ok;
}

bool results_give(const args *a, const char *results, ts_error *e)
{
    const paper on = console_paper(&a->console);
    return a->console.json ? outfile_write("-", results, e) : results_show(&on, results, a->console.quiet, e);
}

bool results_publish(const args *a, const char *json, const published *how, ts_error *e)
{
    const char *out = args_text(a, "out"), *report = args_text(a, "report");
    ENDED_BY(heap_free) char *html = NULL;
    if ((out && !outfile_write(out, json, e)) ||
        (report && !(how->page(json, &html, e) && outfile_write(report, html, e))))
        return false;
    if (out && strcmp(out, "-") == 0)
        return true;
    return a->console.json ? outfile_write("-", json, e) : how->show(a, json, e);
}

void results_stop(const args *a, int signal)
{
    if (!signal)
        return;
    console_note(&a->console, "stopped; the same command with --resume FILE goes on from what -o FILE kept");
    fflush(stdout);
    raise(signal);
}
