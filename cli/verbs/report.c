/* report.c - tessera report: results as one HTML page. */
#include "bench/report/report.h"
#include "train/ask.h"
#include "train/report.h"
#include "train/run_folder.h"
#include "cli/args.h"
#include "graph/base/err.h"
#include "cli/outfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The page of a training run, as it stands now. */
static int run_of(const args *a, ts_error *e)
{
    const char *folder = args_noun(a, 0);
    char beside[4200], *page = NULL;
    snprintf(beside, sizeof beside, "%s/report.html", folder);
    const char *out = args_text(a, "out") ? args_text(a, "out") : beside;
    if (args_flag(a, "csv") || args_flag(a, "markdown")) {
        err_set(e, TS_USAGE, "report %s: a run is shown as a page only", folder);
        return err_hint(e, "%s/metrics.jsonl has its numbers", folder), TS_USAGE;
    }
    if (outfile_check(out, e) && run_page(folder, &page, e) && outfile_write(out, page, e) && strcmp(out, "-") != 0)
        console_note(&a->console, "wrote %s", out);
    free(page);
    return e->code;
}

static int run(const args *a, ts_error *e)
{
    if (run_is(args_noun(a, 0)))
        return run_of(a, e);
    bool csv = args_flag(a, "csv"), markdown = args_flag(a, "markdown");
    const char *chosen = args_text(a, "out"), *out = chosen ? chosen : csv || markdown ? "-" : "report.html";
    if (!outfile_check(out, e))
        return e->code;
    char *results = outfile_text(args_noun(a, 0), RESULTS_MOST, e), *page = NULL;
    bool (*write)(const char *, char **, ts_error *) = report_write;
    if (csv || markdown)
        write = csv ? report_csv : report_markdown;
    else if (results && report_is_sweep(results))
        write = report_sweep;
    bool good = results && write(results, &page, e) && outfile_write(out, page, e);
    if (good && strcmp(out, "-") != 0)
        console_note(&a->console, "wrote %s", out);
    free(results);
    free(page);
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
    .usage = "RESULTS|RUN",
    .own = {"Options", options, NULL},
    .examples = "tessera report results.json -o report.html\n"
                "tessera report results.json --markdown      # to paste into a review\n"
                "tessera report run                          # a training run, as it stands now",
    .run = run,
};
