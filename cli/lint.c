/* lint.c - what a person would want to know of a schema before anything is timed. */
#include "cli/lint.h"
#include "graph/base/base.h"
#include "cli/run_step.h"
#include "cli/say.h"
#include "cli/session.h"
#include "train/run_folder.h"

#include <math.h>
#include <string.h>

/* A note, with the first of the kernels that it is about and how many there are; op: null for one on the whole plan.
 * Once, with a count: twelve layers would say it twelve times. */
static void add_warning(cJSON *warnings, const char *says, const cJSON *kernel)
{
    const char *op = kernel ? js_get_text(kernel, "op") : NULL;
    cJSON *w;
    cJSON_ArrayForEach(w, warnings)
    {
        if (!*js_get_text(w, "op") == !op && strcmp(js_get_text(w, "text"), says) == 0) {
            cJSON_GetObjectItemCaseSensitive(w, "kernels")->valuedouble++;
            return;
        }
    }
    js_row(warnings, "op:%s,label:%s,kernels:%d,text:%s", op, js_get_text(kernel, "label"), 1, says);
}

static bool has_ruled_stage(const cJSON *kernel) /* that follows what its rule says */
{
    const cJSON *s;
    bool any = false;
    cJSON_ArrayForEach(s, js_get(kernel, "stages")) any = any || (js_get(s, "rule") && !js_get(s, "guessed"));
    return any;
}

/* A note on the plan ends with it: what a rule was refused is said once for all kernels. */
static bool is_said(const cJSON *plan, const char *says)
{
    const cJSON *n;
    bool said = false;
    cJSON_ArrayForEach(n, js_get(plan, "notes"))
    {
        const size_t all = cJSON_IsString(n) ? strlen(n->valuestring) : 0, part = strlen(says);
        said = said || (all >= part && strcmp(n->valuestring + all - part, says) == 0);
    }
    return said;
}

/* Where the tile of a kernel's outermost loop fits: kernels by level */
static void add_tile(cJSON *tiles, const cJSON *kernel)
{
    const char *level = js_get_text(cJSON_GetArrayItem(js_get(kernel, "levels"), 0), "level");
    cJSON *t = tiles->child;
    while (t && strcmp(js_get_text(t, "level"), level) != 0)
        t = t->next;
    if (t)
        cJSON_GetObjectItemCaseSensitive(t, "kernels")->valuedouble++;
    else if (*level)
        js_row(tiles, "level:%s,kernels:%d", level, 1);
}

/* Which kernels the rules reach, and every note about those */
static cJSON *findings(const cJSON *plan)
{
    cJSON *root = reply_make("lint/1"), *notes = js_array(root, "notes"), *warnings = js_array(root, "warnings"),
          *tiles = js_array(root, "tiles");
    const cJSON *kernel, *note;
    int all = 0, reached = 0, guessed = 0, converting = 0;
    cJSON_ArrayForEach(note, js_get(plan, "notes"))
    {
        cJSON_AddItemToArray(notes, cJSON_Duplicate(note, true));
        add_warning(warnings, cJSON_IsString(note) ? note->valuestring : "", NULL);
    }
    cJSON_ArrayForEach(kernel, js_get(plan, "kernels"))
    {
        all++, converting += strcmp(js_get_text(kernel, "op"), "convert") == 0;
        const bool by_stage = has_ruled_stage(kernel) ||
                              js_get(kernel, "apart"); /* or does no more than a rule lets it */
        if (strcmp(js_get_text(kernel, "rule"), "guess") == 0 && !by_stage)
            continue;
        if (js_get(kernel, "guessed") && !by_stage)
            guessed++;
        else
            reached++, add_tile(tiles, kernel);
        cJSON_ArrayForEach(note, js_get(kernel, "notes"))
        {
            ENDED_BY(text_free) text line = {0};
            const char *says = cJSON_IsString(note) ? note->valuestring : "";
            if (is_said(plan, says))
                continue;
            text_add(&line, "%s %s: %s", js_get_text(kernel, "op"), js_get_text(kernel, "label"), says);
            js_item(notes, text_str(&line));
            add_warning(warnings, says, kernel);
        }
    }
    js_put(root, "kernels:%d,reached:%d,guessed:%d,converting:%d", all, reached, guessed, converting);
    js_put(js_object(root, "memory"), "arena_bytes:%g,weights_bytes:%g", js_get_number(plan, "memory/arena_bytes", NAN),
           js_get_number(plan, "memory/weights_bytes", NAN));
    return root;
}

static void warn(const args *a, const cJSON *w)
{
    const char *op = js_get_text(w, "op"), *says = js_get_text(w, "text");
    const int others = (int)js_get_number(w, "kernels", 1) - 1;
    char more[64] = "";
    if (others)
        snprintf(more, sizeof more, " and %d more kernel%s", others, others > 1 ? "s" : "");
    if (*op)
        console_warn(&a->console, "%s %s%s: %s", op, js_get_text(w, "label"), more, says);
    else
        console_warn(&a->console, "%s", says);
}

/* Warnings go to standard error; the last line to standard output, for those who read no other. */
static const char lint_form[] =
    "{reached} of {kernels} kernels follow its rules[guessed>0?, {guessed} fit[guessed=1?s] a rule whose loops are "
    "refused and follow[guessed=1?s] the guess][converting>0?, {converting} cop[converting=1?ies|y] values to other "
    "layouts], {warnings#} warning[warnings#=1?|s][tiles#>0?; tiles: [tiles*{;}{kernels} in {level}]]; memory: "
    "{memory/weights_bytes} "
    "of weights, {memory/arena_bytes} of values\n";

static bool lint_plan(void *user, ts_plan *plan, ts_error *e)
{
    const args *a = user;
    cJSON *json = reply_take(ts_plan_json(plan, e), e), *found = json ? findings(json) : NULL;
    const cJSON *w;
    cJSON_ArrayForEach(w, js_get(found, "warnings")) if (!a->console.json) warn(a, w);
    if (found)
        reply_give(a, found, lint_form);
    cJSON_Delete(json);
    return found != NULL;
}

int lint_model(const args *a, const char *model, const char *schema, ts_error *e)
{
    session s = {0};
    if (run_is(model))
        return run_step(a, model, schema, lint_plan, e);
    if (session_open(&s, a, model, e)) {
        s.options.schema = schema;
        ts_plan *plan = ts_plan_make(s.model, &s.options, e);
        if (plan)
            lint_plan((void *)(uintptr_t)a, plan, e);
        ts_plan_free(plan);
    }
    session_close(&s);
    return TS_OK;
}
