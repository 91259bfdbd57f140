/* Section 9: how was this made? What the words mean stands in appendix.html. */
#include "bench/report/page.h"

static void fill_candidate(cJSON *list, const report *r, int c)
{
    static const char *const keys[] = {"schema", "schema_hash", "flops", "warm_passes", "passes_per_sample",
                                       "build",  "settings"};
    cJSON *o = js_object(list, NULL), *facts = js_object(o, "facts");
    view_who(o, "who", r, c, NULL);
    for (int k = 0; k < COUNT(keys); k++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(r->of[c].json, keys[k]);
        if (v)
            cJSON_AddItemToObject(facts, keys[k], cJSON_Duplicate(v, true));
    }
    if (!facts->child)
        cJSON_Delete(cJSON_DetachItemViaPointer(list, o));
}

const char *fill_appendix(cJSON *o, const report *r)
{
    cJSON *list = js_array(o, "candidates");
    view_text(o, "repro", js_get_text(r->root, "repro"));
    view_ref(o, "model", cJSON_GetObjectItemCaseSensitive(r->root, "model"));
    view_ref(o, "config", r->config), view_ref(o, "ceilings", r->ceilings);
    js_flag(o, "stated", js_get_flag(r->ceilings, "stated"));
    for (int i = 0; i < r->n; i++)
        fill_candidate(list, r, i);
    return NULL;
}
