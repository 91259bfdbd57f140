/* report.h - one self-contained HTML page from a results/1 document.
 * It needs no network, no fonts and no scripts, carries the results inside, and is byte for byte the same for the
 * same input. Names in the results are hostile and shown escaped. See docs/report.md for how to read it. Results are
 * only read; pages and texts are the caller's to free.
 *
 * The room:  data -> sections, in the order of the page: verdict, checks, where, why, time, memory,
 *            kinds   latency, kernel_list, appendix; reasons, inner and factors say why; roofline and
 *                    chart draw, word says numbers, sentence says verdicts, html lets names in,
 *                    style has the look
 * It sees graph/base and nothing of bench or train, which both write reports with it. */
#pragma once
#include "tessera.h"

#include <stdbool.h>

/* The least difference that matters, as a share, where neither a person nor a document says another. */
#define USUAL_THRESHOLD 0.01

/* *html is malloc'ed and the caller's. False when the text is neither results/1 nor step/1. */
bool report_write(const char *results_json, char **html, ts_error *e);

/* The page of a sweep/1 document: a map of who wins where, and curves. */
bool report_sweep(const char *sweep_json, char **html, ts_error *e);
/* Of a suite/1 document: its page; and what that says, for cJSON_Delete: the "machine", "heads", a row for each race.
 * False, and NULL, where it has none. */
bool report_suite(const char *suite_json, char **html, ts_error *e);
struct cJSON *report_suite_view(const char *suite_json, ts_error *e);
/* The page of a model and its plans, from the data that cli/draw/explore.h writes. */
char *report_explore_text(const char *name, const char *data_json);
bool report_is(const char *json, const char *format); /* FORMAT_SWEEP, FORMAT_SUITE */

/* The short forms of the same results: Markdown to paste (verdict, table, environment), and one CSV row per
 * contestant. */
bool report_markdown(const char *results_json, char **markdown, ts_error *e);
bool report_csv(const char *results_json, char **csv, ts_error *e);
