/* report.c - the page from top to bottom: head, the sections of a table, and the results themselves at its end. */
#include "bench/report/report.h"
#include "bench/report/parts.h"
#include "graph/base/formats.h"

#include <string.h>

static const struct {
    part_words words;
    part_writer *write;
} sections[] = {
    {{"verdict", "Verdict", "Which is better, and is it sure?"}, part_verdict},
    {{"trust", "Trust", "Can I trust it?"}, part_trust},
    {{"where", "Where", "Where did the difference come from?"}, part_where},
    {{"why", "Why", "Why?"}, part_why},
    {{"time", "Time", "Where does the time go?"}, part_time},
    {{"memory", "Memory", "How much memory?"}, part_memory},
    {{"latency", "Latency", "How much does one pass vary?"}, part_latency},
    {{"kernels", "Kernels", "What does each kernel do?"}, part_kernels},
    {{"appendix", "Appendix", "How was this made, and what do the words mean?"}, part_appendix},
};

static void fact(text *t, const cJSON *object, const char *key, void (*say)(text *, const char *))
{
    const cJSON *v = js_get(object, key), *item;
    const char *s = js_get_text(object, key);
    if (*s)
        text_add(t, " · "), say(t, s);
    if (cJSON_IsNumber(v))
        text_add(t, " · %s %s", word_count(v->valuedouble).s, key);
    cJSON_ArrayForEach(item, v)
    {
        if (cJSON_IsString(item))
            text_add(t, " · "), say(t, item->valuestring);
    }
}

void report_line(text *t, const report *r, void (*say)(text *, const char *))
{
    const cJSON *model = cJSON_GetObjectItemCaseSensitive(r->root, "model");
    fact(t, model, "dims", say);
    fact(t, model, "dtype", say);
    fact(t, r->environment, "cpu", say);
    fact(t, r->environment, "threads", say);
    fact(t, r->environment, "isa", say);
}

void page_open(text *t, const char *what, const char *title)
{
    html_add(t,
             "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>\n<meta http-equiv=\"Content-Security-Policy\" "
             "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<meta name=viewport "
             "content='width=device-width'>\n<title>%s: %s</title>\n<style>",
             what, title);
    report_style(t);
}

void page_part(text *nav, text *parts, int i, const part_words *w, const char *lacking, text *one)
{
    if (lacking) {
        html_add(parts, "<p.missing>%d · %s is left out: %s.</p>\n", i + 1, w->nav, lacking);
    } else {
        html_add(nav, "<a href=#%s>%d %s</a>", w->id, i + 1, w->nav);
        html_add(parts, "<section.card id=%s><h2><i>%d</i>%s</h2>\n", w->id, i + 1, w->question);
        text_bytes(parts, text_str(one), one->length);
        html_add(parts, "</section>\n");
    }
    text_free(one);
}

static void head(text *t, const report *r)
{
    page_open(t, "Tessera report", report_model(r));
    html_add(t,
             "</style></head>\n<body><header>\n<p.brand><svg.logo viewBox='0 0 14 14' aria-hidden=true><path.fill.k0 "
             "d='M0 0h6v6h-6z'/><path.fill.k1 d='M8 8h6v6h-6z'/><path.fill.kp d='M8 0h6v6h-6zM0 "
             "8h6v6h-6z'/></svg>TESSERA REPORT</p>\n<h1>%s</h1><p.soft>%s",
             report_model(r),
             strcmp(js_get_text(r->root, "format"), FORMAT_STEP) == 0 ? "one training step" : "one pass");
    report_line(t, r, html_text);
    html_add(t, "</p>\n");
}

static void tail(text *t, const report *r, const char *results_json)
{
    html_add(t, "</main><footer><p>Made by tessera %s from a results file, which this page carries inside.",
             TS_VERSION);
    if (r->n_left)
        text_add(t, " %d further candidates or comparisons are in the data only.", r->n_left);
    html_add(t, "</p></footer>\n<script type='application/json' id=results>");
    report_embed(t, r, results_json);
    html_add(t, "</script>\n</body></html>\n");
}

static void body(text *t, const report *r)
{
    text parts = {0};
    html_add(t, "<nav>");
    for (int i = 0; i < COUNT(sections); i++) {
        text one = {0};
        const char *lacking = sections[i].write(&one, r);
        page_part(t, &parts, i, &sections[i].words, lacking, &one);
    }
    html_add(t, "</nav></header><main>\n");
    text_bytes(t, text_str(&parts), parts.length);
    text_free(&parts);
}

bool report_write(const char *results_json, char **html, ts_error *e)
{
    report r;
    if (!report_read(&r, results_json, e))
        return false;
    text t = {0};
    head(&t, &r);
    body(&t, &r);
    tail(&t, &r, results_json);
    report_free(&r);
    *html = text_take(&t);
    return true;
}
