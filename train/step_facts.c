/* step_facts.c - what a step takes in memory, and what rules that compute values again save of it. */
#include "train/shards.h"

#include <stdio.h>

cJSON *plan_facts(ts_plan *p, ts_error *e)
{
    ENDED_BY(heap_free) char *json = ts_plan_json(p, e);
    return json ? js_parse(json, "the plan", e) : NULL;
}

cJSON *step_facts(const step *s, ts_error *e)
{
    static const char *const lists[] = {"recompute", "notes"};
    ENDED_BY(js_free) cJSON *plan = plan_facts(s->plan, e);
    if (!plan)
        return NULL;
    double own;
    const double kept = js_get_number(plan, "memory/weights_bytes", 0) +
                        (s->shards ? shards_bytes(s, s->shards->own, &own)
                                   : js_get_number(plan, "memory/inputs_bytes", 0));
    cJSON *facts = js_put(cJSON_CreateObject(), "bytes:%g,alive_bytes:%g",
                          kept + js_get_number(plan, "memory/arena_bytes", 0),
                          kept + js_get_number(plan, "memory/lower_bound_bytes", 0));
    for (int i = 0; i < 2; i++)
        cJSON_AddItemToObject(facts, lists[i],
                              js_get(plan, lists[i]) ? cJSON_Duplicate(js_get(plan, lists[i]), true)
                                                     : cJSON_CreateArray());
    if (s->shards && *s->shards->why)
        cJSON_AddItemToArray(cJSON_GetObjectItem(facts, "notes"), cJSON_CreateString(s->shards->why));
    return facts;
}

void step_saving(const cJSON *saving, char *out, size_t n)
{
    snprintf(
        out, n,
        "rule \"%s\": %.1f MiB less at once; %.1f MiB in %.0f values are not kept, %.3g GFLOP computed again, %.3g %% "
        "of a step",
        js_get_text(saving, "rule"), js_get_number(saving, "saved_bytes", 0) / 1048576,
        js_get_number(saving, "forgone_bytes", 0) / 1048576, js_get_number(saving, "values", 0),
        js_get_number(saving, "flops", 0) / 1e9, 100 * js_get_number(saving, "share", 0));
}
