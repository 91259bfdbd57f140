/* The results inside the page: the page is the data. Digit for digit as they came, unless that would burst the
 * budget of 1.5 MB for the page; then the bulkiest lists go first, and "x-left-out" says which. */
#include "bench/report/parts.h"
#include "graph/base/err.h"

enum { BUDGET = 900 * 1024 }; /* bytes of results in a page of a megabyte */

static void drop(cJSON *at, const char *key)
{
    cJSON *item;
    cJSON_DeleteItemFromObjectCaseSensitive(at, key);
    cJSON_ArrayForEach(item, at) drop(item, key);
}

void report_embed(text *t, const report *r, const char *results_json)
{
    static const char *const bulky[] = {"samples", "buffers", "declined",   "levels",
                                        "notes",   "kernels", "candidates", "environment"};
    size_t start = t->length;
    html_embed(t, results_json);
    if (t->length - start <= BUDGET)
        return;
    cJSON *less = cJSON_Duplicate(r->root, true), *left = less ? cJSON_AddArrayToObject(less, "x-left-out") : NULL;
    if (!left)
        memory_failed(0, "the results within the report");
    for (size_t i = 0; i < sizeof bulky / sizeof *bulky && t->length - start > BUDGET; i++) {
        drop(less, bulky[i]);
        cJSON_AddItemToArray(left, cJSON_CreateString(bulky[i]));
        ENDED_BY(heap_free) char *s = cJSON_PrintUnformatted(less);
        if (!s)
            memory_failed(0, "the results within the report");
        t->length = start;
        html_embed(t, s);
    }
    cJSON_Delete(less);
}
