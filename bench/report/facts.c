/* Facts as they stand in the results: objects flattened to "name: value", an unknown value with its reason, and what
 * differs between candidates that were measured in different environments. */
#include "bench/report/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 4, MAX_FACTS = 200 }; /* of objects in objects; rows */

/* Numbers whose key is a unit, or ends in one, are said in it. */
static const struct {
    const char *ending;
    word (*say)(double);
    double factor;
    const char *unit; /* that say does not say */
} units[] = {{"_bytes", word_bytes, 1, ""},
             {"_ns", word_time, 1, ""},
             {"_share", word_share, 1, ""},
             {"_s", word_time, 1e9, ""},
             {"_seconds", word_time, 1e9, ""},
             {"_gbs", word_number, 1, "\u00a0GB/s"},
             {"_gflops", word_number, 1, "\u00a0GFLOP/s"},
             {"_mhz", word_number, 1, "\u00a0MHz"}};

static size_t unit_of(const char *key)
{
    if (key && !strncmp(key, "bytes_", 6)) /* bytes_per_thread */
        return 0;
    for (size_t i = 0; key && i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(key), m = strlen(units[i].ending);
        if ((n > m && !strcmp(key + n - m, units[i].ending)) || !strcmp(key, units[i].ending + 1))
            return i;
    }
    return SIZE_MAX;
}

word word_member(const char *key, double n)
{
    const size_t unit = unit_of(key);
    word w = unit != SIZE_MAX ? units[unit].say(units[unit].factor * n)
             : n == floor(n)  ? word_count(n)
                              : word_number(n);
    if (unit != SIZE_MAX)
        snprintf(w.s + strlen(w.s), sizeof w.s - strlen(w.s), "%s", units[unit].unit);
    return w;
}

/* Nothing is said where nothing is: no text, an empty list, null without a reason. */
static bool is_empty(const cJSON *v)
{
    return cJSON_IsNull(v) || (cJSON_IsString(v) && !*v->valuestring) ||
           ((cJSON_IsArray(v) || cJSON_IsObject(v)) && !v->child);
}

static void value(text *t, const cJSON *v);

static void list(text *t, const cJSON *v)
{
    const cJSON *item;
    const bool shape = v->string && !strcmp(v->string, "shape");
    const char *between = "";
    cJSON_ArrayForEach(item, v)
    {
        if (is_empty(item))
            continue;
        text_add(t, "%s", between);
        value(t, item);
        between = shape ? " × " : ", ";
    }
}

static void value(text *t, const cJSON *v)
{
    if (cJSON_IsString(v))
        html_text(t, v->valuestring);
    else if (cJSON_IsBool(v))
        text_add(t, cJSON_IsTrue(v) ? "yes" : "no");
    else if (cJSON_IsNumber(v))
        text_add(t, "%s", word_member(v->string, v->valuedouble).s);
    else if (cJSON_IsArray(v))
        list(t, v);
    else
        text_add(t, "–");
}

/* "l2_bytes" in "caches" -> "caches l2": the data itself has the exact keys. */
static void label(text *t, const char *prefix, const cJSON *v)
{
    ENDED_BY(text_free) text plain = {0};
    const char *key = v->string ? v->string : "";
    const size_t unit = cJSON_IsNumber(v) ? unit_of(key) : SIZE_MAX;
    size_t n = strlen(key);
    if (unit != SIZE_MAX && n > strlen(units[unit].ending))
        n -= strlen(units[unit].ending);
    if (unit == 0 && !strncmp(key, "bytes_", 6))
        key += 6, n = strlen(key);
    text_bytes(&plain, key, n);
    for (char *c = plain.s; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    html_add(t, "%-s%s%s", prefix, *prefix ? " " : "", plain.s);
}

static const char *reason_for(const cJSON *object, const cJSON *v)
{
    return v->string ? js_get_text(cJSON_GetObjectItemCaseSensitive(object, "why"), v->string) : "";
}

typedef struct walk {
    text *t;
    text tables; /* of lists of objects, behind the facts */
    int n;
} walk;

/* A list of objects as a table: its columns are the members of the first one. */
static void rows(walk *w, const char *name, const cJSON *of)
{
    const cJSON *head, *row;
    text *t = &w->tables;
    html_add(t, "<div.wide><table.rows><thead><tr>");
    cJSON_ArrayForEach(head, of->child)
    {
        const bool first = head == of->child->child;
        html_add(t, cJSON_IsNumber(head) ? "<th.num>%s%s" : "<th>%s%s", first ? name : "", first ? ": " : "");
        label(t, "", head);
        html_add(t, "</th>");
    }
    html_add(t, "</tr></thead><tbody>\n");
    cJSON_ArrayForEach(row, of)
    {
        html_add(t, "<tr>");
        cJSON_ArrayForEach(head, of->child)
        {
            const cJSON *v = head->string ? cJSON_GetObjectItemCaseSensitive(row, head->string) : NULL;
            html_add(t, cJSON_IsNumber(head) ? "<td.num>" : "<td>");
            if (v && !is_empty(v))
                value(t, v);
            html_add(t, "</td>");
        }
        html_add(t, "</tr>\n");
        w->n++;
    }
    html_add(t, "<end/>");
}

static void flatten(walk *w, const cJSON *object, const char *prefix, int depth)
{
    const cJSON *v, *why = cJSON_GetObjectItemCaseSensitive(object, "why");
    cJSON_ArrayForEach(v, object)
    {
        ENDED_BY(text_free) text name = {0};
        if (v == why || w->n >= MAX_FACTS || (is_empty(v) && !(cJSON_IsNull(v) && *reason_for(object, v))))
            continue;
        label(&name, prefix, v);
        if (cJSON_IsObject(v) && depth < MAX_DEPTH) {
            flatten(w, v, text_str(&name), depth + 1);
        } else if (cJSON_IsArray(v) && cJSON_IsObject(v->child) && v->child->child) {
            rows(w, text_str(&name), v);
        } else {
            w->n++;
            html_add(w->t, "<div><dt>%-s</dt><dd>", text_str(&name));
            if (cJSON_IsNull(v))
                html_add(w->t, "<span.soft>unknown: %s</span>", reason_for(object, v));
            else
                value(w->t, v);
            html_add(w->t, "</dd></div>\n");
        }
    }
}

void facts_list(text *t, const cJSON *object)
{
    walk w = {.t = t};
    html_add(t, "<dl.facts>\n");
    flatten(&w, object, "", 0);
    html_add(t, "</dl>\n");
    text_bytes(t, text_str(&w.tables), w.tables.length);
    text_free(&w.tables);
    if (w.n >= MAX_FACTS)
        html_add(t, "<p.soft>More is in the data that this page carries.</p>\n");
}

/* What v says of the environment of one candidate, and the common one does not */
static bool differs(const report *r, const cJSON *v)
{
    const cJSON *common = v->string ? cJSON_GetObjectItemCaseSensitive(r->environment, v->string) : NULL;
    return !cJSON_IsObject(v) && !(common && cJSON_Compare(v, common, true));
}

void draw_differing(text *t, const report *r, const cJSON *v)
{
    const cJSON *d;
    cJSON_ArrayForEach(d, js_get(v, "different"))
    {
        const int c = (int)js_get_number(d, "index", 0);
        const cJSON *own = cJSON_GetArrayItem(js_get(r->of[c].json, "environment"), (int)js_get_number(d, "place", 0));
        html_add(t, "<tr><td>%-s</td><td>", r->of[c].mark);
        label(t, "", own);
        html_add(t, "</td><td.differs>≠ ");
        value(t, own);
        html_add(t, "</td><td>");
        value(t, own->string ? cJSON_GetObjectItemCaseSensitive(r->environment, own->string) : NULL);
        html_add(t, "</td></tr>\n");
    }
}

void fill_environment(cJSON *o, const report *r)
{
    static const char *const main_keys[] = {"cpu",        "cores", "threads",     "isa", "caches", "governor",
                                            "hypervisor", "load",  "steal_share", "os",  "tool"};
    cJSON *different = js_array(o, "different"), *main;
    for (int i = 0, n = 0; i < r->n; i++) {
        const cJSON *v, *own = cJSON_GetObjectItemCaseSensitive(r->of[i].json, "environment");
        int place = 0;
        cJSON_ArrayForEach(v, own)
        {
            if (differs(r, v) && n++ < MAX_FACTS)
                js_row(different, "index:%d,place:%d", i, place);
            place++;
        }
    }
    if (!cJSON_IsObject(r->environment))
        return;
    cJSON_AddItemToObject(o, "environment", cJSON_CreateObjectReference(r->environment->child));
    main = js_object(o, "main");
    for (int i = 0; i < COUNT(main_keys); i++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(r->environment, main_keys[i]);
        if (v && !cJSON_IsNull(v))
            cJSON_AddItemToObject(main, main_keys[i], cJSON_Duplicate(v, true));
    }
}
