#include "bench/report/report.h"
#include "bench/report/parts.h"

typedef struct section {
    const char *id, *nav, *question, *lead;
    part_writer *write;
} section;

static const section sections[] = {
    {"verdict", "Verdict", "Which is better, and is it sure?", NULL, part_verdict},
    {"trust", "Trust", "Can I trust it?", NULL, part_trust},
    {"where", "Where", "Where did the difference come from?", NULL, part_where},
    {"why", "Why", "Why?", NULL, part_why},
    {"time", "Time", "Where does the time go?", NULL, part_time},
    {"memory", "Memory", "How much memory?", NULL, part_memory},
    {"latency", "Latency", "How much does one pass vary?", NULL, part_latency},
    {"kernels", "Kernels", "What does each kernel do?", NULL, part_kernels},
    {"appendix", "Appendix", "How was this made, and what do the words mean?", NULL, part_appendix},
};

static void fact(page *p, const cJSON *object, const char *key, void (*text)(page *, const char *))
{
    const cJSON *v = js_get(object, key), *item;
    const char *s = js_get_text(object, key);
    if (*s)
        page_add(p, " · "), text(p, s);
    if (cJSON_IsNumber(v))
        page_add(p, " · %s %s", word_count(v->valuedouble).s, key);
    cJSON_ArrayForEach(item, v)
    {
        if (cJSON_IsString(item))
            page_add(p, " · "), text(p, item->valuestring);
    }
}

void report_line(page *p, const report *r, void (*text)(page *, const char *))
{
    const cJSON *model = cJSON_GetObjectItemCaseSensitive(r->root, "model");
    fact(p, model, "dims", text);
    fact(p, model, "dtype", text);
    fact(p, r->environment, "cpu", text);
    fact(p, r->environment, "threads", text);
    fact(p, r->environment, "isa", text);
}

static void head(page *p, const report *r)
{
    page_add(p, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta "
                "http-equiv=\"Content-Security-Policy\" "
                "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<meta name=\"viewport\" "
                "content=\"width=device-width\">\n"
                "<title>Tessera report: ");
    page_text(p, report_model(r));
    page_add(p, "</title>\n<style>");
    report_style(p);
    page_add(p, "</style></head>\n<body><header>\n<p class=\"brand\"><svg class=\"logo\" viewBox=\"0 0 14 14\" "
                "aria-hidden=\"true\"><path "
                "class=\"fill k0\" d=\"M0 0h6v6h-6z\"/><path class=\"fill k1\" d=\"M8 8h6v6h-6z\"/><path class=\"fill "
                "kp\" d=\"M8 0h6v6h-6zM0 8h6v6h-6z\"/>"
                "</svg>TESSERA REPORT</p>\n<h1>");
    page_text(p, report_model(r));
    page_add(p, "</h1><p class=\"soft\">one pass");
    report_line(p, r, page_text);
    page_add(p, "</p>\n");
}

static void tail(page *p, const report *r, const char *results_json)
{
    page_add(p, "</main><footer><p>Made by tessera %s from a results/1 file, which this page carries inside.",
             TS_VERSION);
    if (r->n_left)
        page_add(p, " %d further candidates or comparisons are in the data only.", r->n_left);
    page_add(p, "</p></footer>\n<script type=\"application/json\" id=\"results\">");
    report_embed(p, r, results_json);
    page_add(p, "</script>\n</body></html>\n");
}

static void body(page *p, const report *r)
{
    page parts = {0};
    page_add(p, "<nav>");
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        const section *s = &sections[i];
        page one = {0};
        const char *lacking = s->write(&one, r);
        if (lacking) {
            page_add(&parts, "<p class=\"missing\">%zu · %s is left out: %s.</p>\n", i + 1, s->nav, lacking);
        } else {
            page_add(p, "<a href=\"#%s\">%zu %s</a>", s->id, i + 1, s->nav);
            page_add(&parts, "<section class=\"card\" id=\"%s\"><h2><i>%zu</i>%s</h2>\n", s->id, i + 1, s->question);
            page_bytes(&parts, page_str(&one), one.len);
            page_add(&parts, "</section>\n");
        }
        page_free(&one);
    }
    page_add(p, "</nav></header><main>\n");
    page_bytes(p, page_str(&parts), parts.len);
    page_free(&parts);
}

bool report_write(const char *results_json, char **html, ts_error *e)
{
    report r;
    if (!report_read(&r, results_json, e))
        return false;
    page p = {0};
    head(&p, &r);
    body(&p, &r);
    tail(&p, &r, results_json);
    report_free(&r);
    *html = page_take(&p);
    return true;
}
