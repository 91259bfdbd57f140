/* report.c - tessera report: results as one HTML page. */
#include "bench/report/report.h"
#include "train/report.h"
#include "train/run_folder.h"
#include "cli/args.h"
#include "graph/base/err.h"
#include "graph/base/formats.h"
#include "cli/outfile.h"
#include "cli/outline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef bool (*writer)(const char *, char **, ts_error *);

static bool write_page(const args *a, const char *of, const char *out, writer write, ts_error *e)
{
    ENDED_BY(heap_free) char *page = NULL;
    const bool ok = write(of, &page, e) && outfile_write(out, page, e);
    if (ok && strcmp(out, "-") != 0)
        console_note(&a->console, "wrote %s", out);
    return ok;
}

/* A suite as a table to paste */
static bool suite_markdown(const char *json, char **out, ts_error *e)
{
    ENDED_BY(js_free) cJSON *view = report_suite_view(json, e);
    size_t n = 0;
    FILE *f = view ? open_memstream(out, &n) : NULL;
    if (!f)
        return view && err_memory(e, 0, "the table");
    fprintf(f, "%s\n", js_get_text(view, "machine"));
    outline_markdown(js_get(view, "rows"), NULL, f);
    return fclose(f) == 0 || err_memory(e, n, "the table");
}

/* The page of a training run, as it stands now. */
static bool page_of_run(const args *a, const char *folder, ts_error *e)
{
    char beside[4200];
    snprintf(beside, sizeof beside, "%s/report.html", folder);
    const char *out = args_text(a, "out") ? args_text(a, "out") : beside;
    if (!args_flag(a, "csv") && !args_flag(a, "markdown"))
        return outfile_check(out, e) && write_page(a, folder, out, run_page, e);
    err_set(e, TS_USAGE, "report %s: a run is shown as a page only", folder);
    return err_hint(e, "%s/metrics.jsonl has its numbers", folder);
}

/* Of several suites one: the races of all. For free(). */
static char *results_of(const args *a, ts_error *e)
{
    ENDED_BY(js_free) cJSON *all = NULL;
    for (int i = 0; args_noun(a, i); i++) {
        char *text = outfile_text(args_noun(a, i), RESULTS_MOST, e);
        if (!text || !args_noun(a, 1))
            return text;
        cJSON *one = report_is(text, FORMAT_SUITE) ? js_parse(text, args_noun(a, i), e) : NULL, *race;
        free(text);
        if (!one) {
            err_set(e, TS_USAGE, "%s: of several files each is a suite's", args_noun(a, i));
            return err_hint(e, "tessera compare holds results against each other"), NULL;
        }
        while (all && (race = cJSON_DetachItemFromArray(cJSON_GetObjectItem(one, "races"), 0)))
            cJSON_AddItemToArray(cJSON_GetObjectItem(all, "races"), race);
        if (all)
            cJSON_Delete(one);
        else
            all = one;
    }
    return js_to_text(all, false);
}

static int run(const args *a, ts_error *e)
{
    const bool csv = args_flag(a, "csv"), markdown = args_flag(a, "markdown");
    const char *chosen = args_text(a, "out"), *out = chosen ? chosen : csv || markdown ? "-" : "report.html";
    if (run_is(args_noun(a, 0)) && !args_noun(a, 1))
        return page_of_run(a, args_noun(a, 0), e), TS_OK;
    ENDED_BY(heap_free) char *results = outfile_check(out, e) ? results_of(a, e) : NULL;
    if (results)
        write_page(a, results, out,
                   csv                                ? report_csv
                   : report_is(results, FORMAT_SUITE) ? markdown ? suite_markdown : report_suite
                   : markdown                         ? report_markdown
                   : report_is(results, FORMAT_SWEEP) ? report_sweep
                                                      : report_write,
                   e);
    return TS_OK;
}

static const option options[] = {
    {"out", 'o', A_FILE, "FILE", "where to write (default: report.html; rows: standard output)", ONCE},
    {"markdown", 0, FLAG, NULL, "verdict and table to paste, instead of a page", ONCE},
    {"csv", 0, FLAG, NULL, "one row per contestant, instead of a page", ONCE},
    {0},
};

const verb verb_report = {
    .name = "report",
    .brief = "Turn results or a training run into one HTML page",
    .usage = "RESULTS|RUN...",
    .own = {"Options", options, NULL},
    .examples = "tessera report results.json -o report.html\n"
                "tessera report results.json --markdown      # to paste into a review\n"
                "tessera report suite.json --markdown        # the table of a suite\n"
                "tessera report avx512.json avx2.json --markdown # of several suites as one\n"
                "tessera report run                          # a training run, as it stands now",
    .run = run,
};
