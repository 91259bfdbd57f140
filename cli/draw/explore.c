/* explore.c - the data of a page: lists in place of objects where there are many, and what is alike said once. */
#include "cli/draw/explore.h"

#include "cli/draw/boxes.h"
#include "cli/say.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the graph ---- */

/* [name, how many, the one around it] each; frees them */
static void put_branches(text *t, frames *f)
{
    for (int i = 0; i < f->n; i++)
        json_add(t, "[%s,%d,%d]", f->of[i].name, f->of[i].times, f->of[i].outer);
    text_add(t, "]");
    frames_free(f);
}

/* [op, label, dtype, shape, operands, flops, number in the graph, attributes, box, which of its like, branch where
 * equal layers are one, branch] */
static void put_node(text *t, const cJSON *o, int box, int copy, int folded, int whole)
{
    const cJSON *d;
    json_add(t, "[%s,%s,%s,[", js_get_text(o, "op"), js_get_text(o, "label"), js_get_text(o, "dtype"));
    cJSON_ArrayForEach(d, js_get(o, "shape")) json_add(t, "%.0f", d->valuedouble);
    json_add(t, "],[");
    cJSON_ArrayForEach(d, js_get(o, "in")) json_add(t, "%d", d->valueint);
    json_add(t, "],%.17g,%d,%s,%d,%d,%d,%d]", js_get_number(o, "flops", 0), (int)js_get_number(o, "graph_node", -1),
             js_get_text(o, "attributes"), box, copy, folded, whole);
}

static void put_graph(text *t, const cJSON *model)
{
    const cJSON *o, *id, *nodes = js_get(model, "nodes");
    const int n = cJSON_GetArraySize(nodes);
    branch *tree = tree_make(model);
    frames folded = frames_make(tree, n, true), whole = frames_make(tree, n, false);
    boxes b = boxes_make(model, tree, &(fold){0});
    ENDED_BY(heap_free) int *seen = heap_array((size_t)n + 1, sizeof *seen);
    json_add(t, "nodes:[");
    cJSON_ArrayForEach(o, nodes)
    {
        const int i = (int)js_get_number(o, "id", 0), first = b.twin[i];
        put_node(t, o, box_of(&b, i), seen[first]++, folded.home[i], whole.home[i]);
    }
    text_add(t, "]");
    json_add(t, "groups:[");
    cJSON_ArrayForEach(o, js_get(model, "groups"))
    {
        json_add(t, "[%s,%d,[", js_get_text(o, "op"), (int)js_get_number(o, "result", 0));
        cJSON_ArrayForEach(id, js_get(o, "nodes")) json_add(t, "%d", id->valueint);
        text_add(t, "]]");
    }
    text_add(t, "]");
    json_add(t, "folded:["), put_branches(t, &folded);
    json_add(t, "whole:["), put_branches(t, &whole);
    boxes_free(&b);
    tree_free(tree);
}

/* ---- kernels ---- */

typedef struct shelf { /* texts, each once */
    char **of;
    int n, cap;
} shelf;

static int shelve(shelf *s, char *what) /* takes it */
{
    for (int i = s->n; i-- > 0;)
        if (strcmp(s->of[i], what) == 0)
            return free(what), i;
    s->of = heap_grown(s->of, s->n, &s->cap, sizeof *s->of);
    s->of[s->n] = what;
    return s->n++;
}

static void put_shelf(text *t, shelf *s, bool json) /* frees it */
{
    for (int i = 0; i < s->n; i++) {
        if (json)
            json_add_raw(t, s->of[i]);
        else
            json_add(t, "%s", s->of[i]);
        free(s->of[i]);
    }
    text_add(t, "]");
    free(s->of);
}

/* What kernels that are walked alike have in common, with their text. A kernel that has none, a custom one or what
 * moves data between devices, goes without. */
static int fact_of(shelf *facts, shelf *texts, ts_plan *p, int i, const cJSON *kernel)
{
    static const char *const own[] = {"name",  "label",   "graph_node", "work",     "launch",
                                      "calls", "traffic", "tile",       "declined", "instructions"};
    ts_error none = {0};
    cJSON *o = cJSON_Duplicate(kernel, true), *operand;
    char *words = ts_plan_kernel(p, i, "text", &none);
    for (int k = 0; k < COUNT(own); k++)
        cJSON_DeleteItemFromObjectCaseSensitive(o, own[k]);
    if (js_get(o, "derived"))
        cJSON_ReplaceItemInObjectCaseSensitive(o, "loops", cJSON_DetachItemFromObjectCaseSensitive(o, "derived"));
    cJSON_ArrayForEach(operand, js_get(o, "operands")) cJSON_DeleteItemFromObjectCaseSensitive(operand, "tensor");
    if (words)
        js_number(o, "text", shelve(texts, words));
    char *all = js_to_text(o, false);
    cJSON_Delete(o);
    return shelve(facts, all);
}

/* As it was measured, if it is the same kernel still; null. */
static double measured_ns(const cJSON *kernel, const cJSON *then)
{
    const bool same = strcmp(js_get_text(kernel, "loops"), js_get_text(then, "loops")) == 0 &&
                      strcmp(js_get_text(kernel, "op"), js_get_text(then, "op")) == 0;
    return same ? js_get_number(then, "median_ns", NAN) * js_get_number(then, "calls", 1) : NAN;
}

static void put_buffers(text *t, const cJSON *memory)
{
    const cJSON *b;
    json_add(t, "arena_bytes:%.0f,lower_bound_bytes:%.0f,weights_bytes:%.0f,buffers:[",
             js_get_number(memory, "arena_bytes", 0), js_get_number(memory, "lower_bound_bytes", 0),
             js_get_number(memory, "weights_bytes", 0));
    cJSON_ArrayForEach(b, js_get(memory, "buffers"))
        json_add(t, "[%s,%.0f,%.0f,%.0f,%.0f]", js_get_text(b, "name"), js_get_number(b, "bytes", 0),
                 js_get_number(b, "offset", 0), js_get_number(b, "first", 0), js_get_number(b, "last", 0));
    text_add(t, "]");
}

static bool put_plan(text *t, const explored *of, shelf *facts, shelf *texts, shelf *declined, ts_error *e)
{
    ENDED_BY(js_free) cJSON *root = reply_take(ts_plan_json(of->plan, e), e);
    const cJSON *k, *then = js_get(of->measured, "kernels");
    if (!root)
        return false;
    json_add(t, "{name:%s,target:%s,isa:%s,threads:%.0f,schema:%s,kernels:[", of->name, js_get_text(root, "target"),
             js_get_text(root, "isa"), js_get_number(root, "threads", 0), js_get_text(root, "schema/name"));
    then = then ? then->child : NULL;
    int i = 0;
    cJSON_ArrayForEach(k, js_get(root, "kernels"))
    {
        const char *label = js_get_text(k, js_get(k, "work/label") ? "work/label" : "label");
        json_add(t, "[%s,%d,%d,%.6g,%s,%d]", label, (int)js_get_number(k, "graph_node", -1),
                 fact_of(facts, texts, of->plan, i, k), measured_ns(k, then), js_get_text(k, "work/by"),
                 shelve(declined, js_get(k, "declined") ? js_to_text(js_get(k, "declined"), false) : strdup("[]")));
        then = then ? then->next : NULL;
        i++;
    }
    text_add(t, "]");
    put_buffers(t, js_get(root, "memory"));
    text_add(t, "}");
    return true;
}

/* ---- the race ---- */

static void put_race(text *t, const cJSON *results)
{
    const cJSON *c, *lists[] = {js_get(results, "candidates"), js_get(results, "peers")};
    json_add(t, "race:{state:%s,rows:[", js_get_text(results, "machine_state/state"));
    for (int i = 0; i < COUNT(lists); i++)
        cJSON_ArrayForEach(c, lists[i])
            json_add(t, "{name:%s,status:%s,peer:%i,median:%g,low:%g,high:%g}", js_get_text(c, "name"),
                     js_get_text(c, "status"), i, js_get_number(c, "stats/median_ns", NAN),
                     js_get_number(c, "stats/low_ns", NAN), js_get_number(c, "stats/high_ns", NAN));
    json_add(t, "],comparisons:[");
    cJSON_ArrayForEach(c, js_get(results, "comparisons"))
        json_add(t, "[%s,%s,%s,%g,%g,%g]", js_get_text(c, "a"), js_get_text(c, "b"), js_get_text(c, "verdict"),
                 js_get_number(c, "ratio", NAN), js_get_number(c, "low", NAN), js_get_number(c, "high", NAN));
    text_add(t, "]}");
}

bool explore_data(text *t, ts_model *m, int n, const explored *of, const cJSON *results, ts_error *e)
{
    ENDED_BY(js_free) cJSON *model = reply_take(ts_model_json(m, e), e);
    const cJSON *d;
    shelf facts = {0}, texts = {0}, declined = {0};
    bool ok = model;
    if (!model)
        return false;
    json_add(t, "{name:%s,parameters:%.0f,weight_bytes:%.0f,flops:%.0f,dims:[", js_get_text(model, "name"),
             js_get_number(model, "parameters", 0), js_get_number(model, "weight_bytes", 0),
             js_get_number(model, "flops", 0));
    cJSON_ArrayForEach(d, js_get(model, "dims")) json_add(t, "[%s,%.0f]", d->string, d->valuedouble);
    text_add(t, "]");
    put_graph(t, model);
    json_add(t, "plans:[");
    for (int i = 0; i < n && ok; i++)
        ok = put_plan(t, &of[i], &facts, &texts, &declined, e);
    text_add(t, "]");
    json_add(t, "facts:["), put_shelf(t, &facts, true);
    json_add(t, "declined:["), put_shelf(t, &declined, true);
    json_add(t, "texts:["), put_shelf(t, &texts, false);
    if (results)
        put_race(t, results);
    text_add(t, "}");
    return ok;
}
