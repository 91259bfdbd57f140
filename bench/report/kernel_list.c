/* Section 8: what does each kernel do? For every kind its nest, trip counts, working sets and notes, per candidate,
 * folded. */
#include "bench/report/page.h"

#include <string.h>

enum { MAX_KINDS = 40, MAX_NOTES = 12, MAX_LEVEL_ROWS = 16 }; /* rows of each list; the rest is counted */

/* "shared ; a: loops ; b: loops": a line for each stage. */
static void fill_loops(cJSON *o, const char *s)
{
    ENDED_BY(text_free) text lines = {0};
    for (const char *end; (end = strstr(s, " ; ")); s = end + 3)
        text_bytes(&lines, s, (size_t)(end - s)), text_add(&lines, "\n");
    text_add(&lines, "%s", s);
    cJSON_AddStringToObject(o, "loops", text_str(&lines));
}

static void fill_one(cJSON *list, const report *r, const kind *k, int c)
{
    const part *of = &k->of[c];
    if (!of->heaviest)
        return;
    const double work = k->flops * of->count;
    cJSON *o = js_row(list, "shown:%s,time_ns:%g,count:%d,calls:%g,work:%g,bytes:%g", k->shown, of->ns, of->count,
                      of->heaviest->calls * of->count, work, of->bytes);
    js_put(o, "gflops:%g,gbs:%g,roof_share:%g", work / of->ns, of->bytes / of->ns, of->peak_share);
    view_who(o, "who", r, c, NULL);
    view_text(o, "rule", of->heaviest->rule);
    fill_loops(o, of->heaviest->loops);
    view_some(o, "levels", js_get(of->heaviest->json, "levels"), MAX_LEVEL_ROWS, false);
    view_some(o, "notes", of->heaviest->notes, MAX_NOTES, true);
}

const char *fill_kernels(cJSON *o, const report *r)
{
    cJSON *list = js_array(o, "kinds");
    if (!r->n_kind)
        return "the results hold no kernels";
    for (int i = 0; i < r->n_kind && i < MAX_KINDS; i++) {
        cJSON *k = js_row(list, "shown:%s", r->kinds[i].shown), *of = js_array(k, "of");
        if (r->best >= 0)
            js_number(k, "best_ns", r->kinds[i].of[r->best].ns);
        for (int c = 0; c < r->charted; c++)
            fill_one(of, r, &r->kinds[i], c);
    }
    js_number(o, "more", r->n_kind - MAX_KINDS);
    return NULL;
}

/* As a table, with operations and bytes */
const char *fill_all_kernels(cJSON *o, const report *r)
{
    cJSON *list = js_array(o, "kinds");
    for (int i = 0; i < r->n_kind; i++)
        fill_one(list, r, &r->kinds[i], 0);
    return NULL;
}
