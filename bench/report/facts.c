/* Facts as they stand in the results: objects flattened to "name: value", an unknown value with its reason, and what
 * differs between candidates that were measured in different environments. */
#include "bench/report/parts.h"

#include <string.h>

enum { MAX_DEPTH = 4, MAX_FACTS = 200 };

/* Numbers whose key ends in a unit are said in it. */
static const struct {
    const char *ending;
    word (*say)(double);
} units[] = {{"_bytes", word_bytes}, {"_ns", word_time}, {"_share", word_share}};

static size_t unit_of(const char *key)
{
    for (size_t i = 0; key && i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(key), m = strlen(units[i].ending);
        if (n > m && !strcmp(key + n - m, units[i].ending))
            return i;
    }
    return SIZE_MAX;
}

static void value(text *t, const cJSON *v)
{
    const cJSON *item;
    const char *between = "";
    if (cJSON_IsString(v)) {
        html_text(t, v->valuestring);
    } else if (cJSON_IsBool(v)) {
        text_add(t, cJSON_IsTrue(v) ? "yes" : "no");
    } else if (cJSON_IsNumber(v)) {
        size_t unit = unit_of(v->string);
        if (unit != SIZE_MAX)
            text_add(t, "%s", units[unit].say(v->valuedouble).s);
        else
            text_add(t, "%.10g", v->valuedouble);
    } else if (cJSON_IsArray(v)) {
        cJSON_ArrayForEach(item, v)
        {
            text_add(t, "%s", between);
            if (!cJSON_IsArray(item) && !cJSON_IsObject(item))
                value(t, item);
            between = ", ";
        }
    } else {
        text_add(t, "–");
    }
}

/* "l2_bytes" in "caches" -> "caches l2": the data itself has the exact keys. */
static void label(text *t, const char *prefix, const cJSON *v)
{
    text plain = {0};
    const char *key = v->string ? v->string : "";
    size_t unit = cJSON_IsNumber(v) ? unit_of(key) : SIZE_MAX;
    text_bytes(&plain, key, strlen(key) - (unit == SIZE_MAX ? 0 : strlen(units[unit].ending)));
    for (char *c = plain.s; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    text_add(t, "%s%s", prefix, *prefix ? " " : "");
    html_text(t, plain.s);
    text_free(&plain);
}

static void unknown(text *t, const cJSON *object, const cJSON *v)
{
    const char *why = v->string ? js_get_text(cJSON_GetObjectItemCaseSensitive(object, "why"), v->string) : "";
    text_add(t, "<span class=\"soft\">unknown%s", *why ? ": " : "");
    html_text(t, why);
    text_add(t, "</span>");
}

typedef struct walk {
    text *t;
    int n;
} walk;

static void flatten(walk *w, const cJSON *object, const char *prefix, int depth)
{
    const cJSON *v, *why = cJSON_GetObjectItemCaseSensitive(object, "why");
    cJSON_ArrayForEach(v, object)
    {
        text name = {0};
        if (v == why || w->n >= MAX_FACTS)
            continue;
        label(&name, prefix, v);
        if (cJSON_IsObject(v) && depth < MAX_DEPTH) {
            flatten(w, v, text_str(&name), depth + 1);
        } else {
            w->n++;
            text_add(w->t, "<div><dt>%s</dt><dd>", text_str(&name));
            if (cJSON_IsNull(v))
                unknown(w->t, object, v);
            else
                value(w->t, v);
            text_add(w->t, "</dd></div>\n");
        }
        text_free(&name);
    }
}

void facts(text *t, const cJSON *object)
{
    walk w = {t, 0};
    text_add(t, "<dl class=\"facts\">\n");
    flatten(&w, object, "", 0);
    text_add(t, "</dl>\n");
    if (w.n >= MAX_FACTS)
        text_add(t, "<p class=\"soft\">More is in the data that this page carries.</p>\n");
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
            text_add(t, "<tr><td>");
            mark_name(t, r, i);
            text_add(t, "</td><td>");
            label(t, "", v);
            text_add(t, "</td><td class=\"differs\">≠ ");
            value(t, v);
            text_add(t, "</td><td>");
            value(t, common);
            text_add(t, "</td></tr>\n");
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
    text_add(t, "<h3>The machine and its state</h3>\n");
    if (n)
        text_add(t,
                 "<p class=\"lead\">%d value%s in which candidates were measured under other conditions than the "
                 "rest:</p><div "
                 "class=\"wide\"><table><thead><tr><th>candidate</th><th>what</th><th>here</th><th>elsewhere</th></"
                 "tr></thead><tbody>"
                 "%s</tbody></table></div>\n",
                 n, n == 1 ? "" : "s", text_str(&different));
    text_free(&different);
    if (!cJSON_IsObject(r->environment)) {
        text_add(t, "<p class=\"missing\">The results do not say where they were measured.</p>\n");
        return;
    }
    if (!n)
        text_add(t, "<p class=\"lead\">All candidates were measured in the same run on the same machine.</p>\n");
    cJSON *first = cJSON_CreateObject();
    for (size_t i = 0; first && i < sizeof main_keys / sizeof *main_keys; i++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(r->environment, main_keys[i]);
        if (v && !cJSON_IsNull(v))
            cJSON_AddItemToObject(first, main_keys[i], cJSON_Duplicate(v, true));
    }
    facts(t, first);
    cJSON_Delete(first);
    text_add(t, "<details class=\"full\"><summary>All that was recorded</summary>\n");
    facts(t, r->environment);
    text_add(t, "</details>\n");
}
