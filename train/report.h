/* report.h - a run as a page: RUN/report.html, from metrics.jsonl, misjudged.json and step.json. It needs nothing from
 * outside and no scripts; the look, the charts and the breakdown by kernels are those of the bench report. A page is
 * the caller's to free; the run is only read. */
#pragma once
#include "train/run_folder.h"

/* Writes the page into folder `run`, from the files that are there. */
bool run_report(const char *run, const train_options *w, const run_facts *f, ts_error *e);
/* The page as a text, of any run, one under way too; for free(). */
bool run_page(const char *run, char **html, ts_error *e);
