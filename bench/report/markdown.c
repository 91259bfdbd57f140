/* The short forms of results: Markdown to paste into an issue or a chat, and CSV for spreadsheets. Names are hostile
 * here, too: in Markdown they are code spans, in CSV they cannot start a formula. */
#include "bench/report/report.h"
#include "bench/report/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A code span: no character in it means anything, if its fence is longer than any run of backquotes inside. */
static void span(page *p, const char *s)
{
    page plain = {0};
    page_plain(&plain, *s ? s : "(no name)");
    size_t longest = 0, run = 0;
    for (const char *c = page_str(&plain); *c; c++) {
        run = *c == '`' ? run + 1 : 0;
        if (run > longest)
            longest = run;
    }
    const char *pad = longest ? " " : "";
    for (size_t i = 0; i <= longest; i++)
        page_add(p, "`");
    page_add(p, "%s", pad);
    for (const char *c = page_str(&plain); *c; c++)
        page_add(p, *c == '|' ? "\\|" : "%c", *c); /* tables cut at bars even here */
    page_add(p, "%s", pad);
    for (size_t i = 0; i <= longest; i++)
        page_add(p, "`");
    page_free(&plain);
}

static void span_name(page *p, const report *r, int c, const char *text)
{
    (void)r, (void)c;
    span(p, text);
}

static void rows(page *p, const report *r)
{
    page_add(p, "| candidate | median | best | 90 %% within | times the fastest | peak memory | status "
                "|\n|---|--:|--:|--:|--:|--:|---|\n");
    for (int i = 0; i < r->n; i++) {
        const contestant *c = &r->of[i];
        double best = r->best < 0 ? (double)NAN : r->of[r->best].stats.median;
        page_add(p, "| ");
        span(p, c->name);
        if (*c->version)
            page_add(p, " "), span(p, c->version);
        page_add(p, " | %s | %s | %s | %s | %s | ", word_time(c->stats.median).s, word_time(c->stats.min).s,
                 word_time(c->stats.p90).s, word_ratio(c->stats.median / best).s, word_bytes(c->peak_bytes).s);
        if (c->valid)
            page_add(p, c->peer ? "peer" : "valid");
        else
            span(p, *c->status ? c->status : "no time");
        if (*c->reason)
            page_add(p, ": "), span(p, c->reason);
        page_add(p, " |\n");
    }
}

/* Spaces that do not break are for pages; pasted text is easier to search with plain ones. */
static void plain_spaces(page *p)
{
    char *to = p->s;
    for (const char *from = p->s; from && *from; from++) {
        bool wide = from[0] == '\xc2' && from[1] == '\xa0';
        *to++ = wide ? ' ' : *from;
        from += wide;
    }
    if (to)
        *to = 0;
}

static void markdown(page *p, const report *r)
{
    page_add(p, "**");
    verdict_headline(p, r, span_name);
    page_add(p, "**");
    if (r->match) {
        page_add(p, " ");
        verdict_certainty(p, r, r->match);
    }
    page_add(p, "\n\n");
    rows(p, r);
    page_add(p, "\n");
    span(p, report_model(r));
    report_line(p, r, span);
    page_add(p, " · tessera %s\n", TS_VERSION);
    plain_spaces(p);
}

/* ---- CSV ---- */

static void field(page *p, const char *s)
{
    page plain = {0};
    page_plain(&plain, s);
    bool formula = *s && strchr("=+-@", *s);
    page_add(p, "\"%s", formula ? "'" : "");
    for (const char *c = page_str(&plain); *c; c++)
        page_add(p, *c == '"' ? "\"\"" : "%c", *c);
    page_add(p, "\"");
    page_free(&plain);
}

static void csv(page *p, const report *r)
{
    page_add(p, "name,kind,version,status,reason,samples,launches,flagged,min_ns,median_ns,p90_ns,kernels_ns,peak_"
                "bytes,arena_bytes,max_abs,max_rel\r\n");
    for (int i = 0; i < r->n; i++) {
        const contestant *c = &r->of[i];
        const double numbers[] = {c->stats.n,
                                  c->n_launch ? c->n_launch : (double)NAN,
                                  c->n_sample ? c->n_flagged : (double)NAN,
                                  c->stats.min,
                                  c->stats.median,
                                  c->stats.p90,
                                  c->kernel_ns,
                                  c->peak_bytes,
                                  c->arena_bytes,
                                  c->max_abs,
                                  c->max_rel};
        field(p, c->name);
        page_add(p, ",%s,", c->peer ? "peer" : "candidate");
        field(p, c->version);
        page_add(p, ",");
        field(p, *c->status ? c->status : c->valid ? "VALID" : "");
        page_add(p, ",");
        field(p, c->reason);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            page_add(p, isnan(numbers[k]) ? "," : ",%.12g", numbers[k]);
        page_add(p, "\r\n");
    }
}

static bool convert(const char *results_json, char **out, ts_error *e, void (*write)(page *, const report *))
{
    report r;
    if (!report_read(&r, results_json, e))
        return false;
    page p = {0};
    write(&p, &r);
    report_free(&r);
    *out = page_take(&p);
    return true;
}

bool report_markdown(const char *results_json, char **out, ts_error *e)
{
    return convert(results_json, out, e, markdown);
}

bool report_csv(const char *results_json, char **out, ts_error *e)
{
    return convert(results_json, out, e, csv);
}
