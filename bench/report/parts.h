/* parts.h - the sections of a report, in order. Each fills in what its text of bench/report/page says, or returns one
 * sentence on what the results lack; charts are drawn where that text names them. Private to bench/report/. A report is
 * only read and outlives the call; texts and objects are the caller's and grow at their end. */
#pragma once
#include "bench/report/chart.h"
#include "bench/report/data.h"
#include "bench/report/form.h"
#include "bench/report/html.h"
#include "bench/report/outcome.h"
#include "bench/report/word.h"

typedef const char *section_filler(cJSON *o, const report *r);
section_filler fill_verdict, fill_trust, fill_where, fill_why, fill_time, fill_memory, fill_latency, fill_kernels,
    fill_appendix, fill_roofline, fill_all_kernels;
typedef void drawer(text *t, const report *r, const cJSON *v); /* v: what its form names it with */
drawer draw_forest, draw_samples, draw_waterfall, draw_bars, draw_buffers, draw_latencies, draw_roofline, draw_nest,
    draw_differing, draw_times;
void fill_headline(cJSON *o, const report *r), fill_samples(cJSON *o, const report *r),
    fill_environment(cJSON *o, const report *r), fill_made_of(cJSON *o, const report *r);

void plain_spaces(text *t); /* in place of those that do not break, for text to paste */
typedef struct part_words { /* of a section: its anchor, what the list of sections calls it, its title */
    const char *id, *nav, *question;
} part_words;
void page_open(text *t, const char *what, const char *title); /* a page to within its style sheet */
void page_open_with(text *t, const char *what, const char *title, const char *policy); /* what else it may do, as CSP */
/* Section i, from 0: its link goes to nav; its text, or what it lacks, to parts. Frees one. */
void page_part(text *nav, text *parts, int i, const part_words *w, const char *lacking, text *one);
/* The section of that anchor, or a part, within another page; returns what it lacks, or NULL. */
const char *part_write(text *t, const report *r, const char *id);
void facts_list(text *t, const cJSON *object); /* "name: value" for all that is in it */
void markdown_span(text *t, const char *s);    /* foreign text as code */
void csv_field(text *t, const char *s);        /* in quotes, and no formula */
word word_member(const char *key, double v);   /* as the key's ending says: "l2_bytes" */
double canary_median(const contestant *c);     /* ns; NAN */
/* The loop that weighs most on a cache level, or NULL. */
const level *level_fullest(const kernel *k, const char *name);
void report_embed(text *t, const report *r, const char *results_json); /* the data, within the budget */
bool verdict_decided(const report *r); /* the explained pair differs, and that is sure; or nothing compared them */

/* Why one of the pair is faster, by fixed rules from the numbers, the strongest first: "reasons" of o. */
void view_reasons(cJSON *o, const report *r, int most);
double inner_loops(const report *r, cJSON *o); /* the innermost loops, of a decided pair: the weight, or 0 */
