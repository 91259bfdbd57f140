/* report.c - the page from top to bottom: head, the sections of a table, and the results themselves at its end. */
#include "bench/report/report.h"
#include "bench/report/page.h"

#include <stdio.h>
#include <string.h>

static const struct {
    part_words words;
    section_filler *fill;
} sections[] = {
    {{"verdict", "Verdict", "Which is better, and is it sure?"}, fill_verdict},
    {{"trust", "Trust", "Can I trust it?"}, fill_trust},
    {{"where", "Where", "Where did the difference come from?"}, fill_where},
    {{"why", "Why", "Why?"}, fill_why},
    {{"time", "Time", "Where does the time go?"}, fill_time},
    {{"memory", "Memory", "How much memory?"}, fill_memory},
    {{"latency", "Latency", "How much does one pass vary?"}, fill_latency},
    {{"kernels", "Kernels", "What does each kernel do?"}, fill_kernels},
    {{"appendix", "Appendix", "How was this made, and what do the words mean?"}, fill_appendix},
    {{"roofline", NULL, NULL}, fill_roofline}, /* these are parts of other pages alone */
    {{"all-kernels", NULL, NULL}, fill_all_kernels},
};

void page_open_with(text *t, const char *what, const char *title, const char *policy)
{
    html_add(t,
             "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>\n<meta http-equiv=\"Content-Security-Policy\" "
             "content=\"default-src 'none'; style-src 'unsafe-inline'%-s\">\n<meta name=viewport "
             "content='width=device-width'>\n<title>%s: %s</title>\n<style>",
             policy, what, title);
    text_add(t, "%s\n", page_file("style.css"));
}

void page_open(text *t, const char *what, const char *title)
{
    page_open_with(t, what, title, "");
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

static const char *section_write(text *t, const report *r, int i)
{
    char name[32];
    ENDED_BY(js_free) cJSON *o = cJSON_CreateObject();
    const form_place root = {r->view, NULL}, at = {o, &root};
    snprintf(name, sizeof name, "%s.html", sections[i].words.id);
    const char *lacking = sections[i].fill(o, r);
    if (!lacking)
        page_put(t, r, IN_HTML, &at, name);
    return lacking;
}

const char *part_write(text *t, const report *r, const char *id)
{
    int i = 0;
    while (strcmp(sections[i].words.id, id) != 0)
        i++;
    return section_write(t, r, i);
}

static void page_write(text *t, const report *r, const char *results_json)
{
    const form_place root = {r->view, NULL};
    ENDED_BY(text_free) text nav = {0}, parts = {0};
    page_open(t, "Tessera report", report_model(r));
    page_put(t, r, IN_HTML, &root, "head.html");
    for (int i = 0; sections[i].words.nav; i++) {
        text one = {0};
        const char *lacking = section_write(&one, r, i);
        page_part(&nav, &parts, i, &sections[i].words, lacking, &one);
    }
    text_bytes(t, text_str(&nav), nav.length);
    html_add(t, "</nav></header><main>\n");
    text_bytes(t, text_str(&parts), parts.length);
    page_put(t, r, IN_HTML, &root, "tail.html");
    report_embed(t, r, results_json);
    html_add(t, "</script>\n</body></html>\n");
}

bool report_write(const char *results_json, char **html, ts_error *e)
{
    report r;
    if (!report_read(&r, results_json, e))
        return false;
    text t = {0};
    page_write(&t, &r, results_json);
    report_free(&r);
    *html = text_take(&t);
    return true;
}
