/* Facts as they stand in the results: objects flattened to "name: value", an unknown value with its reason, and what
 * differs between candidates that were measured in different environments. */
#include "bench/report/parts.h"

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

static void number(text *t, const cJSON *v)
{
    const size_t unit = unit_of(v->string);
    const double n = v->valuedouble;
    if (unit != SIZE_MAX)
        text_add(t, "%s%s", units[unit].say(units[unit].factor * n).s, units[unit].unit);
    else
        text_add(t, "%s", n == floor(n) ? word_count(n).s : word_number(n).s);
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
        number(t, v);
    else if (cJSON_IsArray(v))
        list(t, v);
    else
        text_add(t, "–");
}

/* "l2_bytes" in "caches" -> "caches l2": the data itself has the exact keys. */
static void label(text *t, const char *prefix, const cJSON *v)
{
    text plain = {0};
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
    text_free(&plain);
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
    sheet_close(t);
}

static void flatten(walk *w, const cJSON *object, const char *prefix, int depth)
{
    const cJSON *v, *why = cJSON_GetObjectItemCaseSensitive(object, "why");
    cJSON_ArrayForEach(v, object)
    {
        text name = {0};
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
        text_free(&name);
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

static int differences(text *t, const report *r)
{
    int n = 0;
    for (int i = 0; i < r->n; i++) {
        const cJSON *own = cJSON_GetObjectItemCaseSensitive(r->of[i].json, "environment"), *v;
        cJSON_ArrayForEach(v, own)
        {
            const cJSON *common = v->string ? cJSON_GetObjectItemCaseSensitive(r->environment, v->string) : NULL;
            if (cJSON_IsObject(v) || (common && cJSON_Compare(v, common, true)) || n >= MAX_FACTS)
                continue;
            n++;
            html_add(t, "<tr><td>%-s</td><td>", r->of[i].mark);
            label(t, "", v);
            html_add(t, "</td><td.differs>≠ ");
            value(t, v);
            html_add(t, "</td><td>");
            value(t, common);
            html_add(t, "</td></tr>\n");
        }
    }
    return n;
}

static const char *const main_keys[] = {"cpu",        "cores", "threads",     "isa", "caches", "governor",
                                        "hypervisor", "load",  "steal_share", "os",  "tool"};

void environment_facts(text *t, const report *r)
{
    text different = {0};
    int n = differences(&different, r);
    html_add(t, "<h3>The machine and its state</h3>\n");
    if (n)
        html_add(t,
                 "<p.lead>%d value%s in which candidates were measured under other conditions than the "
                 "rest:</p><div.wide><table><thead><tr><th>candidate</th><th>what</th><th>here</th><th>elsewhere</th></"
                 "tr></thead><tbody>%-s</tbody></table></div>\n",
                 n, n == 1 ? "" : "s", text_str(&different));
    text_free(&different);
    if (!cJSON_IsObject(r->environment)) {
        html_add(t, "<p.missing>The results do not say where they were measured.</p>\n");
        return;
    }
    if (!n)
        html_add(t, "<p.lead>All candidates were measured in the same run on the same machine.</p>\n");
    cJSON *first = cJSON_CreateObject();
    for (size_t i = 0; first && i < sizeof main_keys / sizeof *main_keys; i++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(r->environment, main_keys[i]);
        if (v && !cJSON_IsNull(v))
            cJSON_AddItemToObject(first, main_keys[i], cJSON_Duplicate(v, true));
    }
    facts_list(t, first);
    cJSON_Delete(first);
    html_add(t, "<details.full><summary>All that was recorded</summary>\n");
    facts_list(t, r->environment);
    html_add(t, "</details>\n");
}
