/* Facts as they stand in the results: objects flattened to "name: value", an unknown value with its reason, and what
 * differs between candidates that were measured in different environments. */
#include "bench/report_parts.h"

#include <string.h>

enum { MAX_DEPTH = 4, MAX_FACTS = 200 };

static void value(page *p, const cJSON *v)
{
    const cJSON *item;
    const char *between = "";
    if (cJSON_IsString(v))
        page_text(p, v->valuestring);
    else if (cJSON_IsBool(v))
        page_add(p, cJSON_IsTrue(v) ? "yes" : "no");
    else if (cJSON_IsNumber(v))
        page_add(p, "%.10g", v->valuedouble);
    else if (cJSON_IsArray(v)) {
        cJSON_ArrayForEach(item, v)
        {
            page_add(p, "%s", between);
            if (!cJSON_IsArray(item) && !cJSON_IsObject(item))
                value(p, item);
            between = ", ";
        }
    } else
        page_add(p, "–");
}

typedef struct walk {
    page *p;
    const cJSON *why; /* reasons for nulls, by key */
    int n;
} walk;

static void flatten(walk *w, const cJSON *object, const char *prefix, int depth)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, object)
    {
        page key = {0};
        if (v == w->why || w->n >= MAX_FACTS)
            continue;
        page_add(&key, "%s%s", prefix, *prefix && v->string ? " " : "");
        page_text(&key, v->string);
        if (cJSON_IsObject(v) && depth < MAX_DEPTH) {
            flatten(w, v, page_str(&key), depth + 1);
        } else {
            w->n++;
            page_add(w->p, "<div><dt>%s</dt><dd>", page_str(&key));
            if (cJSON_IsNull(v)) {
                page_add(w->p, "<span class=\"soft\">unknown");
                if (v->string && *js_get_text(w->why, v->string))
                    page_add(w->p, ": "), page_text(w->p, js_get_text(w->why, v->string));
                page_add(w->p, "</span>");
            } else {
                value(w->p, v);
            }
            page_add(w->p, "</dd></div>\n");
        }
        page_free(&key);
    }
}

void facts(page *p, const cJSON *object)
{
    walk w = {p, cJSON_GetObjectItemCaseSensitive(object, "why"), 0};
    page_add(p, "<dl class=\"facts\">\n");
    flatten(&w, object, "", 0);
    page_add(p, "</dl>\n");
    if (w.n >= MAX_FACTS)
        page_add(p, "<p class=\"soft\">More is in the data that this page carries.</p>\n");
}

static int differences(page *p, const report *r)
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
            page_add(p, "<tr><td>");
            mark_name(p, r, i);
            page_add(p, "</td><td>");
            page_text(p, v->string);
            page_add(p, "</td><td class=\"differs\">≠ ");
            value(p, v);
            page_add(p, "</td><td>");
            value(p, common);
            page_add(p, "</td></tr>\n");
        }
    }
    return n;
}

static const char *const main_keys[] = {"cpu",        "cores", "threads",     "isa", "caches", "governor",
                                        "hypervisor", "load",  "steal_share", "os",  "tool"};

void environment_facts(page *p, const report *r)
{
    page different = {0};
    int n = differences(&different, r);
    page_add(p, "<h3>The machine and its state</h3>\n");
    if (n)
        page_add(p,
                 "<p class=\"lead\">%d value%s in which candidates were measured under other conditions than the "
                 "rest:</p><div "
                 "class=\"wide\"><table><thead><tr><th>candidate</th><th>what</th><th>here</th><th>elsewhere</th></"
                 "tr></thead><tbody>"
                 "%s</tbody></table></div>\n",
                 n, n == 1 ? "" : "s", page_str(&different));
    page_free(&different);
    if (!cJSON_IsObject(r->environment)) {
        page_add(p, "<p class=\"missing\">The results do not say where they were measured.</p>\n");
        return;
    }
    if (!n)
        page_add(p, "<p class=\"lead\">All candidates were measured in the same run on the same machine.</p>\n");
    cJSON *first = cJSON_CreateObject();
    for (size_t i = 0; first && i < sizeof main_keys / sizeof *main_keys; i++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(r->environment, main_keys[i]);
        if (v && !cJSON_IsNull(v))
            cJSON_AddItemToObject(first, main_keys[i], cJSON_Duplicate(v, true));
    }
    facts(p, first);
    cJSON_Delete(first);
    page_add(p, "<details><summary>All that was recorded</summary>\n");
    facts(p, r->environment);
    page_add(p, "</details>\n");
}
