/* page.c - one renderer: a view by a text, as HTML or Markdown. */
#include "bench/report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct page {
    form_out out;
    text *t;
    const report *r;
    style style;
} page;

/* ---- what C draws ---- */
static void draw_facts(text *t, const report *r, const cJSON *v)
{
    (void)r;
    facts_list(t, v);
}

static const struct {
    const char *name;
    void (*draw)(text *t, const report *r, const cJSON *v);
} drawn[] = {{"facts", draw_facts},         {"forest", draw_forest},     {"samples", draw_samples},
             {"waterfall", draw_waterfall}, {"bars", draw_bars},         {"buffers", draw_buffers},
             {"curves", draw_latencies},    {"roofline", draw_roofline}, {"nest", draw_nest},
             {"differing", draw_differing}, {"times", draw_times}};

static void draw(const page *p, const form_value *v)
{
    for (int i = 0; i < COUNT(drawn); i++)
        if (!strcmp(drawn[i].name, v->rest))
            drawn[i].draw(p->t, p->r, v->v);
}

/* ---- values ---- */
static void quote(const page *p, const char *s)
{
    (p->style == IN_MARKDOWN ? markdown_span : p->style == IN_CSV ? csv_field : html_text)(p->t, s);
}

static void put_as(const page *p, const char *spec, const cJSON *v)
{
    static const struct {
        const char *name;
        word (*say)(double);
    } units[] = {{"time", word_time},   {"gain", word_gain},   {"bytes", word_bytes}, {"part", word_part},
                 {"share", word_share}, {"ratio", word_ratio}, {"count", word_count}, {"number", word_number}};
    const char *s = cJSON_IsString(v) ? v->valuestring : "";
    if (*spec == '%')
        text_add(p->t, spec, cJSON_IsNumber(v) ? v->valuedouble : 0);
    else if (*spec == '.')
        html_clip(p->t, s, (int)strtol(spec + 1, NULL, 10));
    else if (!strcmp(spec, "code"))
        html_code(p->t, s);
    else if (!strcmp(spec, "name"))
        html_name(p->t, *s ? s : "(no name)");
    for (int i = 0; i < COUNT(units); i++)
        if (!strcmp(spec, units[i].name))
            text_add(p->t, "%s", units[i].say(cJSON_IsNumber(v) ? v->valuedouble : (double)NAN).s);
}

static void put_who(const page *p, const cJSON *v)
{
    const char *mark = js_get_text(v, "mark"), *name = js_get_text(v, "name");
    if (p->style != IN_HTML)
        quote(p, name);
    else if (*mark)
        text_add(p->t, "%s", mark);
    else
        html_add(p->t, "<b.name>%s</b>", name);
}

static void put_plain(const page *p, const char *key, const cJSON *v)
{
    if (cJSON_IsString(v))
        quote(p, v->valuestring);
    else if (cJSON_IsObject(v))
        put_who(p, v);
    else if (cJSON_IsNumber(v) && p->style == IN_CSV)
        text_add(p->t, "%.12g", v->valuedouble);
    else if (cJSON_IsNumber(v))
        text_add(p->t, "%s", word_member(key, v->valuedouble).s);
    else if (v && p->style != IN_CSV)
        text_add(p->t, "–");
}

static void put_list(const page *p, const cJSON *v)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, v) text_add(p->t, one == v->child ? "" : ", "), put_plain(p, "", one);
}

static void value(const form_out *to, form_value *v)
{
    page p = *(const page *)to;
    const char *key = strrchr(v->path, '/');
    const cJSON *before = v->at->o->prev; /* of the first item the last one */
    const bool plain = strncmp(v->rest, "plain ", 6) == 0;
    p.style = v->kind == '+' && plain ? PLAIN : p.style;
    switch (v->kind) {
    case '+': page_put(p.t, p.r, p.style, v->at, v->rest + (plain ? 6 : 0)); break;
    case '~': draw(&p, v); break;
    case '!': text_add(p.t, "%s", cJSON_IsString(v->v) ? v->v->valuestring : ""); break;
    case '#': text_add(p.t, "%d", cJSON_GetArraySize(v->v)); break;
    case '&': put_who(&p, v->v); break;
    case ':': put_as(&p, v->rest, v->v); break;
    case ',':
        if (*v->path)
            put_list(&p, v->v);
        else if (before && before->next)
            text_add(p.t, "%s", v->rest);
        break;
    default: put_plain(&p, key ? key + 1 : v->path, v->v);
    }
}

static void copy(const form_out *to, const char *s, size_t n)
{
    text_bytes(((const page *)to)->t, s, n);
}

void page_form(text *t, const report *r, style s, const form_place *at, const char *form)
{
    const page p = {{.kinds = "!:~#,&+", .blocks = "", .copy = copy, .value = value}, t, r, s};
    ENDED_BY(text_free) text whole = {0};
    if (s == IN_HTML)
        html_expand(&whole, form);
    form_fill(&p.out, at, s == IN_HTML ? text_str(&whole) : form);
}

void page_put(text *t, const report *r, style s, const form_place *at, const char *name)
{
    page_form(t, r, s, at, page_file(name));
}
