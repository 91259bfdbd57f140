/* The short forms of results: Markdown to paste into an issue or a chat, and CSV for spreadsheets. Names are hostile
 * here, too: in Markdown they are code spans, in CSV they cannot start a formula. */
#include "bench/report/report.h"
#include "bench/report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A code span: no character in it means anything, if its fence is longer than any run of backquotes inside. */
void markdown_span(text *t, const char *s)
{
    text plain = {0};
    html_plain(&plain, *s ? s : "(no name)");
    size_t longest = 0, run = 0;
    for (const char *c = text_str(&plain); *c; c++) {
        run = *c == '`' ? run + 1 : 0;
        if (run > longest)
            longest = run;
    }
    const char *pad = longest ? " " : "";
    for (size_t i = 0; i <= longest; i++)
        text_add(t, "`");
    text_add(t, "%s", pad);
    for (const char *c = text_str(&plain); *c; c++)
        text_add(t, *c == '|' ? "\\|" : "%c", *c); /* tables cut at bars even here */
    text_add(t, "%s", pad);
    for (size_t i = 0; i <= longest; i++)
        text_add(t, "`");
    text_free(&plain);
}

/* Spaces that do not break are for pages; pasted text is easier to search with plain ones. */
void plain_spaces(text *t)
{
    char *to = t->s;
    for (const char *from = t->s; from && *from; from++) {
        bool wide = from[0] == '\xc2' && from[1] == '\xa0';
        *to++ = wide ? ' ' : *from;
        from += wide;
    }
    if (to)
        *to = 0;
}

static void markdown(text *t, const report *r)
{
    cJSON *o = cJSON_CreateObject();
    const form_place root = {r->view, NULL}, at = {o, &root};
    fill_headline(o, r);
    page_put(t, r, IN_MARKDOWN, &at, "results.md");
    text_add(t, "\n");
    plain_spaces(t);
    cJSON_Delete(o);
}

/* ---- CSV ---- */

static void field(text *t, const char *s)
{
    text plain = {0};
    html_plain(&plain, s);
    bool formula = *s && strchr("=+-@", *s);
    text_add(t, "\"%s", formula ? "'" : "");
    for (const char *c = text_str(&plain); *c; c++)
        text_add(t, *c == '"' ? "\"\"" : "%c", *c);
    text_add(t, "\"");
    text_free(&plain);
}

static void csv(text *t, const report *r)
{
    text_add(t, "name,kind,version,status,reason,samples,launches,flagged,min_ns,median_ns,p90_ns,kernels_ns,peak_"
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
        field(t, c->name);
        text_add(t, ",%s,", c->peer ? "peer" : "candidate");
        field(t, c->version);
        text_add(t, ",");
        field(t, *c->status ? c->status : c->valid ? "VALID" : "");
        text_add(t, ",");
        field(t, c->reason);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            text_add(t, isnan(numbers[k]) ? "," : ",%.12g", numbers[k]);
        text_add(t, "\r\n");
    }
}

static bool convert(const char *results_json, char **out, ts_error *e, void (*write)(text *, const report *))
{
    report r;
    if (!report_read(&r, results_json, e))
        return false;
    text t = {0};
    write(&t, &r);
    report_free(&r);
    *out = text_take(&t);
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
