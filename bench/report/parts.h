/* parts.h - the sections of a report, in order. Each writes its HTML, or writes nothing and returns one sentence on
 * what the results lack. Private to bench/report/. A report is only read and outlives the call; texts are the caller's
 * and grow at their end. */
#ifndef TS_REPORT_PARTS_H
#define TS_REPORT_PARTS_H
#include "bench/report/chart.h"
#include "bench/report/data.h"
#include "bench/report/html.h"
#include "bench/report/outcome.h"
#include "bench/report/word.h"

typedef const char *part_writer(text *t, const report *r);
part_writer part_verdict, part_trust, part_where, part_why, part_time, part_memory, part_latency, part_kernels,
    part_appendix;

void report_style(text *t); /* the style sheet */
void plain_spaces(text *t); /* in place of those that do not break, for text to paste */
typedef struct part_words { /* of a section: its anchor, what the list of sections calls it, its title */
    const char *id, *nav, *question;
} part_words;
void page_open(text *t, const char *what, const char *title); /* a page to within its style sheet */
/* Section i, from 0: its link goes to nav; its text, or what it lacks, to parts. Frees one. */
void page_part(text *nav, text *parts, int i, const part_words *w, const char *lacking, text *one);
void facts_list(text *t, const cJSON *object); /* "name: value" for all that is in it */
void samples_strip(text *t, const report *r);
double canary_median(const contestant *c); /* ns; NAN */
void roofline_figure(text *t, const report *r);
/* The loop that weighs most on a cache level, or NULL. */
const level *level_fullest(const kernel *k, const char *name);
void environment_facts(text *t, const report *r);
/* " · batch=1 seq=128 · f32 · cpu · 2 threads · avx512", what is known of it; text writes foreign text */
void report_line(text *t, const report *r, void (*s)(text *, const char *));
void report_embed(text *t, const report *r, const char *results_json); /* the data, within the budget */

/* The verdict in one sentence, and in a second one how sure it is; name writes contestant c, or the text when c is
 * -1. */
typedef void name_writer(text *t, const report *r, int c, const char *s);
bool verdict_decided(const report *r); /* the explained pair differs, and that is sure; or nothing compared them */
void verdict_sentence(text *t, const report *r, const pairing *c, name_writer *name);
void verdict_certainty(text *t, const report *r, const pairing *c);
/* What the run as a whole says: the explained pair, or the fastest, or that nothing is valid. */
void verdict_headline(text *t, const report *r, name_writer *name);

/* Why one of the pair is faster, by fixed rules from the numbers; the strongest first. */
typedef struct reason {
    text html;
    double weight; /* ns that it speaks of */
} reason;
enum { MAX_REASONS = 14 };                    /* that a section lists; the rest is counted */
double inner_loops(const report *r, text *t); /* the innermost loops, of a decided pair: the weight, or 0 */
void made_of(text *t, const report *r);       /* the table of what the difference is made of */
int reasons_find(const report *r, reason out[MAX_REASONS]); /* text_free each */
#endif
