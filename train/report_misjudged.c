/* What the model got wrong: who is taken for whom, and the examples in which it is surest of being right. */
#include "train/report_parts.h"
#include "graph/base/base.h"
#include "train/task.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { TEXT_COLUMNS = 400, SHOWN = 12, MOST_WIDE = 1024 }; /* letters of a text; examples; pixels */

/* The name that the data gave the class, or its number. */
static word class_word(const cJSON *names, double v)
{
    const cJSON *name = v >= 0 && v < cJSON_GetArraySize(names) ? cJSON_GetArrayItem(names, (int)v) : NULL;
    word w = word_count(v);
    uint32_t code;
    if (cJSON_IsString(name))
        for (size_t n = 0, step; (step = utf8_next(name->valuestring + n, &code)) && n + step < sizeof w.s; n += step)
            memcpy(w.s + n, name->valuestring + n, step), w.s[n + step] = 0;
    return w;
}

static void confusion(text *t, const cJSON *table, const cJSON *names)
{
    const int n = cJSON_GetArraySize(table);
    const cJSON *row, *cell;
    int i = 0;
    if (n < 2)
        return;
    html_add(t, "<h3>Confusion matrix</h3>\n<div.wide><table.confusion><thead><tr><th>label \\ predicted</th>");
    for (int k = 0; k < n; k++)
        html_add(t, "<th.num>%s</th>", class_word(names, k).s);
    html_add(t, "<th.num>of</th><th.num>right</th></tr></thead><tbody>\n");
    cJSON_ArrayForEach(row, table)
    {
        double sum = 0, right = 0;
        int k = 0;
        cJSON_ArrayForEach(cell, row) sum += cell->valuedouble;
        html_add(t, "<tr><th>%s</th>", class_word(names, i).s);
        cJSON_ArrayForEach(cell, row)
        {
            const double share = sum > 0 ? cell->valuedouble / sum : 0;
            right = k == i ? cell->valuedouble : right;
            html_add(t, "<td.num style='background:color-mix(in srgb,var(--%s) %.0f%%,transparent)'>%s</td>",
                     k == i ? "k0" : "k1", 60 * share, cell->valuedouble > 0 ? word_count(cell->valuedouble).s : "·");
            k++;
        }
        html_add(t, "<td.num.soft>%s</td><td.num>%s</td></tr>\n", word_count(sum).s,
                 sum > 0 ? word_percent(right / sum).s : "–");
        i++;
    }
    html_add(t, "<end/>");
}

/* One path for each shade. */
static void picture(text *t, const char *shades, int wide)
{
    const int n = (int)strlen(shades), high = wide > 0 ? n / wide : 0;
    if (!high)
        return;
    html_add(t, "<svg.picture viewBox='0 0 %d %d' role=img aria-label='the example'>", wide, high);
    for (char shade = '1'; shade <= '8'; shade++) {
        bool any = false;
        for (int i = 0; i < high * wide; i++) {
            if (shades[i] != shade)
                continue;
            text_add(t, "%sM%d %dh1v1h-1z", any ? "" : "<path d=\"", i % wide, i / wide);
            any = true;
        }
        if (any)
            text_add(t, "\" fill-opacity=\"%.2f\"/>", (shade - '0') / 8.0);
    }
    html_add(t, "</svg>");
}

static void one(text *t, const cJSON *row, const cJSON *names, bool classes)
{
    const double label = js_get_number(row, "label", NAN), predicted = js_get_number(row, "predicted", NAN);
    const bool words = js_get(row, "text") != NULL;
    html_add(t, "<tr><td.num.soft>%s</td><td>", word_count(js_get_number(row, words ? "line" : "example", NAN)).s);
    if (words)
        html_add(t, "%.*s", TEXT_COLUMNS, js_get_text(row, "text"));
    else
        picture(t, js_get_text(row, "shades"), (int)fmin(fmax(js_get_number(row, "width", 0), 0), MOST_WIDE));
    html_add(t, "</td><td.num>%s</td><td.num.differs>%s</td>",
             (classes ? class_word(names, label) : word_number(label)).s,
             (classes ? class_word(names, predicted) : word_number(predicted)).s);
    if (classes) {
        const double sure = js_get_number(row, "confidence", NAN);
        html_add(t, "<td.num>%s<span.share style=width:%.0f%%></span></td>", word_percent(sure).s,
                 fmin(100, 100 * sure));
    }
    html_add(t, "</tr>\n");
}

/* Rows from `from` to before `end`; all but the first ones are folded away. */
static void some(text *t, const cJSON *list, const cJSON *names, int from, int end, bool classes)
{
    const bool words = js_get(cJSON_GetArrayItem(list, 0), "text") != NULL;
    const cJSON *row;
    int i = 0;
    html_add(t, from ? "<details><summary>More of them</summary>" : "");
    html_add(
        t, classes ? "<sheet>#%s|%s|#label|#predicted|#confidence</sheet>" : "<sheet>#%s|%s|#label|#predicted</sheet>",
        words ? "line" : "example", words ? "text" : "");
    cJSON_ArrayForEach(row, list)
    {
        if (i >= from && i < end)
            one(t, row, names, classes);
        i++;
    }
    html_add(t, from ? "<end/></details>\n" : "<end/>");
}

const char *story_misjudged(text *t, const story *s)
{
    const cJSON *m = s->misjudged, *list = js_get(m, "worst"), *names = js_get(m, "names");
    const double n = js_get_number(m, "n", 0), wrong = js_get_number(m, "wrong", NAN),
                 step = js_get_number(m, "step", NAN);
    const bool classes = isfinite(wrong);
    if (!m && s->asked->eval && (s->asked->loss || !task_of(s->asked)->labels))
        return "the task gives no label to an example";
    if (!m)
        return s->asked->eval && *s->asked->eval ? "no examples were evaluated"
                                                 : "there are no held-out examples (--eval)";
    if (classes)
        html_add(t, "<p.lead>%s of %s held-out examples are classified wrongly after step %s.</p>\n",
                 word_count(wrong).s, word_count(n).s, word_count(step).s);
    else
        html_add(t, "<p.lead>The held-out examples that are furthest off, of %s, after step %s.</p>\n", word_count(n).s,
                 word_count(step).s);
    confusion(t, js_get(m, "confusion"), names);
    if (!cJSON_GetArraySize(list))
        return NULL;
    html_add(t, "<h3>%s</h3>\n", classes ? "Most confident mistakes" : "Largest errors");
    for (int from = 0; from < cJSON_GetArraySize(list); from = from ? INT_MAX : SHOWN)
        some(t, list, names, from, from ? INT_MAX : SHOWN, classes);
    return NULL;
}
