/* The short forms of results: Markdown to paste into an issue or a chat, and CSV for spreadsheets. Names are hostile
 * here, too: in Markdown they are code spans, in CSV they cannot start a formula. */
#include "bench/report/report.h"
#include "bench/report/page.h"

#include <math.h>
#include <string.h>

/* A code span: no character in it means anything, if its fence is longer than any run of backquotes inside. */
void markdown_span(text *t, const char *s)
{
    ENDED_BY(text_free) text plain = {0};
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
    ENDED_BY(js_free) cJSON *o = cJSON_CreateObject();
    const form_place root = {r->view, NULL}, at = {o, &root};
    fill_headline(o, r);
    page_put(t, r, IN_MARKDOWN, &at, "results.md");
    text_add(t, "\n");
    plain_spaces(t);
}

/* ---- CSV ---- */

void csv_field(text *t, const char *s)
{
    ENDED_BY(text_free) text plain = {0};
    html_plain(&plain, s);
    bool formula = *s && strchr("=+-@", *s);
    text_add(t, "\"%s", formula ? "'" : "");
    for (const char *c = text_str(&plain); *c; c++)
        text_add(t, *c == '"' ? "\"\"" : "%c", *c);
    text_add(t, "\"");
}

static void csv(text *t, const report *r)
{
    ENDED_BY(text_free) text rows = {0};
    page_put(&rows, r, IN_CSV, &(form_place){r->view, NULL}, "results.csv");
    for (const char *s = text_str(&rows), *end; *s; s = end + 1) {
        end = s + strcspn(s, "\n");
        text_bytes(t, s, (size_t)(end - s)), text_add(t, "\r\n");
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
