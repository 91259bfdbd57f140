/* explain.c - tessera explain: what a schema makes of a model, kernel by kernel. */
#include "train/run_folder.h"
#include "graph/base/err.h"
#include "cli/outline.h"
#include "cli/run_step.h"
#include "cli/session.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Kernels that are walked alike, for the same reasons where these are shown: a projection in twelve layers is
 * explained once. */
typedef struct family {
    const cJSON *first;
    int place, count; /* of the first one among all kernels; how many there are */
    char *walk;       /* what they have in common, as text */
} family;

static char *walk_of(const cJSON *kernel, bool why) /* for free() */
{
    static const char *const keys[] = {"op",     "rule",  "dtype", "dims",     "loops",   "derived",
                                       "levels", "notes", "place", "transfer", "declined"};
    const size_t n = sizeof keys / sizeof *keys - (why ? 0 : 1);
    char *all = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&all, &size);
    if (!f)
        memory_failed(0, "the walk of a kernel");
    for (size_t i = 0; i < n; i++) {
        const cJSON *x = js_get(kernel, keys[i]);
        char *s = x ? cJSON_PrintUnformatted(x) : NULL;
        fprintf(f, "%s\n", s ? s : "");
        free(s);
    }
    if (fclose(f))
        memory_failed(size, "the walk of a kernel");
    return all;
}

static int by_walk(const void *a, const void *b)
{
    const family *x = a, *y = b;
    const int order = strcmp(x->walk, y->walk);
    return order ? order : x->place - y->place;
}

static int by_place(const void *a, const void *b)
{
    return ((const family *)a)->place - ((const family *)b)->place;
}

static bool wanted(const cJSON *kernel, const char *glob)
{
    static const char *const keys[] = {"label", "op", "name"};
    bool found = !glob;
    for (size_t i = 0; !found && i < sizeof keys / sizeof *keys; i++)
        found = fnmatch(glob, js_get_text(kernel, keys[i]), 0) == 0;
    return found;
}

/* Leaves the kernels that glob names; false if there are none. */
static bool keep(cJSON *kernels, const char *glob, ts_error *e)
{
    const int all = cJSON_GetArraySize(kernels);
    for (cJSON *k = kernels->child, *next; k; k = next) {
        next = k->next;
        if (!wanted(k, glob))
            cJSON_Delete(cJSON_DetachItemViaPointer(kernels, k));
    }
    if (kernels->child || !glob)
        return true;
    err_set(e, TS_USAGE, "--op \"%s\": no kernel of this plan has such an operation or name", glob);
    return err_hint(e, "tessera explain without --op shows all %d", all);
}

/* In order of first appearance; for families_free. */
static family *families(const cJSON *kernels, bool all, bool why, int *n)
{
    family *list = calloc((size_t)cJSON_GetArraySize(kernels) + 1, sizeof *list);
    if (!list)
        memory_failed(((size_t)cJSON_GetArraySize(kernels) + 1) * sizeof *list, "the list of kernels");
    int count = 0;
    const cJSON *k;
    cJSON_ArrayForEach(k, kernels) list[count] = (family){k, count, 1, walk_of(k, why)}, count++;
    if (!all)
        qsort(list, (size_t)count, sizeof *list, by_walk);
    *n = 0;
    for (int i = 0; i < count; i++)
        if (!all && *n && !strcmp(list[*n - 1].walk, list[i].walk))
            list[*n - 1].count++, free(list[i].walk);
        else
            list[(*n)++] = list[i];
    qsort(list, (size_t)*n, sizeof *list, by_place);
    return list;
}

static void families_free(family *list, int n)
{
    for (int i = 0; i < n; i++)
        free(list[i].walk);
    free(list);
}

/* ---- printing ---- */

typedef struct view {
    FILE *f;
    bool color;
    bool why; /* what was declined, too */
} view;

static void put_toned(const view *v, tone t, const char *s)
{
    fputs(console_on(v->color, t), v->f);
    put_safe(v->f, s);
    fputs(console_off(v->color), v->f);
}

/* "k2  matmul f32  encoder.layer.0.query.weight and 5 alike" */
static void put_name(const view *v, const family *m)
{
    const char *label = js_get_text(m->first, "label");
    put_toned(v, BOLD, js_get_text(m->first, "name"));
    fprintf(v->f, "  %s %s%s", js_get_text(m->first, "op"), js_get_text(m->first, "dtype"), *label ? "  " : "");
    put_safe(v->f, label);
    if (m->count > 1)
        fprintf(v->f, "%sand %d alike", *label ? " " : "  ", m->count - 1);
}

/* Behind the name: "  on device:0  (rule projections)" */
static void put_title(const view *v, const family *m)
{
    put_name(v, m);
    if (js_get(m->first, "place"))
        fprintf(v->f, "  on %s", js_get_text(m->first, "place"));
    fputs("  (rule ", v->f);
    put_safe(v->f, js_get_text(m->first, "rule"));
    fputs(js_get(m->first, "guessed") ? " is refused: guess)\n" : ")\n", v->f);
}

/* Behind the name: "  cpu to device:0, 64.0 KiB each" */
static void put_transfer(const view *v, const family *m)
{
    const cJSON *t = js_get(m->first, "transfer");
    char bytes[64];
    outline_value(bytes, sizeof bytes, "bytes", js_get(t, "bytes"));
    put_name(v, m);
    fprintf(v->f, "  %s to %s, %s%s\n\n", js_get_text(t, "from"), js_get_text(t, "to"), bytes,
            m->count > 1 ? " each" : "");
}

static void put_fact(const view *v, const char *before, const cJSON *kernel, const char *name, const char *after)
{
    char value[64];
    outline_value(value, sizeof value, name, js_get(kernel, name));
    fprintf(v->f, "%s%s%s", before, value, after);
}

/* "m=128 n=768 k=768  151 MFLOP  2.77 MiB  28 of 32 registers  tail waste 0 %" */
static void put_facts(const view *v, const cJSON *kernel)
{
    const cJSON *d, *used = js_get(kernel, "registers/used");
    fputs("   ", v->f);
    cJSON_ArrayForEach(d, js_get(kernel, "dims")) fprintf(v->f, " %s=%.0f", d->string, d->valuedouble);
    put_fact(v, "  ", kernel, "flops", "");
    put_fact(v, "  ", kernel, "bytes", "");
    if (used)
        fprintf(v->f, "  %.0f of %.0f registers", used->valuedouble, js_get_number(kernel, "registers/of", 0));
    if (js_get_number(kernel, "tail_waste", 0) > 0)
        fprintf(v->f, "  tail waste %.3g %%", 100 * js_get_number(kernel, "tail_waste", 0));
    fputc('\n', v->f);
}

/* A device need not say how many lanes its processors run: then there is no share of them. */
static void put_occupancy(const view *v, const cJSON *g)
{
    const double share = js_get_number(g, "occupancy", 0);
    if (share > 0)
        fprintf(v->f, "  occupancy %.3g %% (%.0f on a processor: %s)", 100 * share, js_get_number(g, "resident", 0),
                js_get_text(g, "limit"));
}

/* "matmul: the device brings slices of a", "matmul: lanes copy slices of b: its slices are no boxes" */
static void put_slices(const view *v, const cJSON *product)
{
    const cJSON *one = NULL, *boxes = js_get(product, "boxes");
    if (boxes)
        fprintf(v->f, "    %s: the device brings slices of", js_get_text(product, "stage"));
    cJSON_ArrayForEach(one, boxes) fprintf(v->f, "%s %s", one != boxes->child ? "," : "", one->valuestring);
    if (boxes)
        fputc('\n', v->f);
    cJSON_ArrayForEach(one, js_get(product, "lanes"))
        fprintf(v->f, "    %s: lanes copy slices of %s: %s\n", js_get_text(product, "stage"),
                js_get_text(one, "operand"), js_get_text(one, "why"));
}

/* "about 104 registers", or as the assembler says: "98 registers (estimated: 104)  0 B spilled" */
static void put_registers(const view *v, const cJSON *g)
{
    const cJSON *estimated = js_get(g, "estimated");
    fprintf(v->f, "  %s%.0f registers", estimated ? "" : "about ", js_get_number(g, "registers", 0));
    if (!estimated)
        return;
    fprintf(v->f, " (estimated: %.0f)", js_get_number(estimated, "registers", 0));
    put_fact(v, "  ", g, "spilled_bytes", " spilled");
}

/* On machines whose workers are groups of lanes: "96 groups of 256 lanes  about 104 registers  8 KiB shared  occupancy
 * 25 % (2 groups a processor: registers)  1 wave", and how lanes touch memory. */
static void put_group(const view *v, const cJSON *g)
{
    const cJSON *one = NULL;
    if (!g)
        return;
    const double waves = js_get_number(g, "waves", 0), conflicts = js_get_number(g, "bank_conflicts", -1);
    fprintf(v->f, "    %.0f groups of %.0f lanes", js_get_number(g, "groups", 0), js_get_number(g, "lanes", 0));
    put_registers(v, g);
    put_fact(v, "  ", g, "shared_bytes", " shared");
    put_occupancy(v, g);
    fprintf(v->f, "  %.0f wave%s, the last %.3g %% full\n", waves, waves == 1 ? "" : "s",
            100 * js_get_number(g, "last_wave", 0));
    fprintf(v->f, "    %.3g %% coalesced", 100 * js_get_number(g, "coalesced", 0));
    if (conflicts >= 0)
        fprintf(v->f, "  %.3g bank conflicts an access", conflicts);
    put_fact(v, "  ", g, "predicted_ns", " predicted");
    fprintf(v->f, ", bound by %s\n", js_get_text(g, "bound"));
    cJSON_ArrayForEach(one, js_get(g, "products"))
    {
        const bool unit = js_get(one, "unit") != NULL;
        fprintf(v->f, "    %s: %s %s\n", js_get_text(one, "stage"),
                unit ? "by matrix units," : "not by matrix units:", js_get_text(one, unit ? "unit" : "why"));
        put_slices(v, one);
    }
}

/* "512 trips of 3 kernels, by one worker, the loop inside one kernel" */
static void put_trips(const view *v, const cJSON *s)
{
    const double kernels = js_get_number(s, "kernels", 0);
    if (!s)
        return;
    fprintf(v->f, "    %s%.0f trips of %.0f kernel%s%s%s\n", cJSON_IsTrue(js_get(s, "ends")) ? "at most " : "",
            js_get_number(s, "count", 0), kernels, kernels == 1 ? "" : "s",
            js_get_number(s, "threads", 0) == 1 ? ", by one worker" : "",
            cJSON_IsTrue(js_get(s, "inside")) ? ", the loop inside one kernel" : "");
}

/* "launched with 25 others, at k121" */
static void put_launch(const view *v, const cJSON *l)
{
    const double others = js_get_number(l, "kernels", 1) - 1;
    if (others > 0)
        fprintf(v->f, "    launched with %.0f other%s, at %s\n", others, others == 1 ? "" : "s",
                js_get_text(l, "last"));
}

/* Shared loops, then those of each stage: "r/4 ; mean: r c@vector ; add: r e@vector", one a line. */
static void put_loops(const view *v, const char *s, const cJSON *stages)
{
    const cJSON *stage = NULL;
    for (int i = 0; *s; i++) {
        const char *end = strstr(s, " ; ");
        size_t n = end ? (size_t)(end - s) : strlen(s);
        char *line = strndup(s, n);
        if (!line)
            memory_failed(n + 1, "the loops of a stage");
        fputs("    ", v->f);
        put_safe(v->f, line);
        stage = i == 0 ? NULL : i == 1 && stages ? stages->child : stage ? stage->next : NULL;
        if (stage && js_get(stage, "rule")) {
            fputs("  (rule ", v->f);
            put_safe(v->f, js_get_text(stage, "rule"));
            fputs(js_get(stage, "guessed") ? " is refused: guess)" : ")", v->f);
        }
        fputc('\n', v->f);
        free(line);
        s += end ? n + 3 : n;
    }
}

/* What a trip of each loop works on, down to the register tile. */
static void put_levels(const view *v, const cJSON *levels)
{
    cJSON *shown = cJSON_CreateArray();
    const cJSON *l;
    bool stages = false;
    cJSON_ArrayForEach(l, levels)
    {
        if (strcmp(js_get_text(l, "level"), "registers") == 0)
            continue;
        stages |= js_get(l, "stage") != NULL;
        cJSON_AddItemToArray(shown, cJSON_Duplicate(l, true));
    }
    const char *heads = "loop|>trips|>tail|>working_set|level|>share";
    const char *with_stages = "stage|loop|>trips|>tail|>working_set|level|>share";
    if (cJSON_GetArraySize(shown))
        outline_table(shown, stages ? with_stages : heads, v->f, "    ", v->color);
    cJSON_Delete(shown);
}

static bool same_row(const cJSON *a, const cJSON *b)
{
    static const char *const keys[] = {"tensor", "type", "layout", "stage"};
    bool same = true;
    for (size_t i = 0; same && i < sizeof keys / sizeof *keys; i++)
        same = strcmp(js_get_text(a, keys[i]), js_get_text(b, keys[i])) == 0;
    return same;
}

/* "a", "a b", or "a...p": operands that follow each other with the same tensor, type and layout are one row, as the
 * sixteen places of a tile that an unrolled formula reads. */
static void put_operands(const view *v, const cJSON *operands)
{
    cJSON *rows = cJSON_CreateArray();
    for (const cJSON *first = operands ? operands->child : NULL, *next; first; first = next) {
        int n = 1;
        const cJSON *last = first;
        for (next = first->next; next && same_row(first, next); next = next->next)
            last = next, n++;
        cJSON *row = cJSON_Duplicate(first, true);
        char *names = NULL;
        if (asprintf(&names, "%s%s%s", js_get_text(first, "operand"),
                     n == 1   ? ""
                     : n == 2 ? " "
                              : "...",
                     n == 1 ? "" : js_get_text(last, "operand")) < 0)
            memory_failed(strlen(js_get_text(first, "operand")), "the names of operands");
        cJSON_ReplaceItemInObjectCaseSensitive(row, "operand", cJSON_CreateString(names));
        cJSON_AddItemToArray(rows, row);
        free(names);
    }
    outline_table(rows, "operand|tensor|type|layout", v->f, "    ", v->color);
    cJSON_Delete(rows);
}

static void put_lines(const view *v, const char *indent, const char *name, tone t, const cJSON *lines)
{
    const cJSON *n;
    cJSON_ArrayForEach(n, lines)
    {
        fputs(indent, v->f);
        put_toned(v, t, name);
        put_safe(v->f, cJSON_IsString(n) ? n->valuestring : "");
        fputc('\n', v->f);
    }
}

static void put_notes(const view *v, const char *indent, const cJSON *notes)
{
    put_lines(v, indent, "note: ", CAUTION, notes);
}

static void put_kernel(const view *v, const family *m)
{
    const cJSON *k = m->first;
    if (js_get(k, "transfer")) {
        put_transfer(v, m);
        return;
    }
    put_title(v, m);
    put_facts(v, k);
    put_trips(v, js_get(k, "trips"));
    put_launch(v, js_get(k, "launch"));
    put_group(v, js_get(k, "group"));
    /* with what was derived, where that adds anything */
    put_loops(v, js_get_text(k, js_get(k, "derived") ? "derived" : "loops"), js_get(k, "stages"));
    put_levels(v, js_get(k, "levels"));
    put_operands(v, js_get(k, "operands"));
    put_notes(v, "    ", js_get(k, "notes"));
    if (v->why)
        put_lines(v, "    ", "declined: ", PLAIN, js_get(k, "declined"));
    fputc('\n', v->f);
}

/* What rules that compute values again save and cost. */
static void put_savings(const view *v, const cJSON *list)
{
    const cJSON *s;
    cJSON_ArrayForEach(s, list)
    {
        fputs("recompute: rule \"", v->f);
        put_safe(v->f, js_get_text(s, "rule"));
        put_fact(v, "\": ", s, "saved_bytes", " less at once; ");
        put_fact(v, "", s, "forgone_bytes", "");
        fprintf(v->f, " in %.0f values recomputed instead of saved, ", js_get_number(s, "values", 0));
        put_fact(v, "", s, "flops", "");
        fprintf(v->f, " computed again, %.3g %% of all\n", 100 * js_get_number(s, "share", 0));
    }
}

static void put_assembler(const view *v, const cJSON *a)
{
    const char *reason = js_get_text(a, "reason");
    if (!a)
        return;
    if (!*reason)
        fprintf(v->f, "assembler: %s for %s: registers, spills and what follows from them are as it says\n",
                js_get_text(a, "name"), js_get_text(a, "arch"));
    else {
        fputs("assembler: none, registers and what follows from them are estimated: ", v->f);
        put_safe(v->f, reason);
        fputc('\n', v->f);
    }
}

static void put_all(const args *a, const cJSON *root)
{
    view v = {stdout, a->console.color_out, args_flag(a, "why")};
    int n;
    family *list = families(js_get(root, "kernels"), args_flag(a, "all"), v.why, &n);
    printf("target %s  %s  %.0f threads  schema ", js_get_text(root, "target"), js_get_text(root, "isa"),
           js_get_number(root, "threads", 0));
    put_toned(&v, PLAIN, js_get_text(root, "schema/name"));
    printf("  %d kernels", cJSON_GetArraySize(js_get(root, "kernels")));
    if (js_get(root, "launches"))
        printf(" in %.0f launches", js_get_number(root, "launches", 0));
    fputs("\n\n", stdout);
    for (int i = 0; i < n; i++)
        put_kernel(&v, &list[i]);
    families_free(list, n);
    if (js_get(root, "places")) {
        outline_table(js_get(root, "places"),
                      "name|target|model|>kernels|>flops|>transfers|>received_bytes|>sent_bytes|>arena_bytes|"
                      ">weights_bytes",
                      v.f, "", v.color);
        putchar('\n');
    }
    const cJSON *memory = js_get(root, "memory");
    put_fact(&v, "memory: ", memory, "arena_bytes", "");
    put_fact(&v, " of values (at least ", memory, "lower_bound_bytes", ")");
    put_fact(&v, ", ", memory, "weights_bytes", " of weights");
    put_fact(&v, ", ", memory, "resident_weights_bytes", " of them resident\n");
    put_savings(&v, js_get(root, "recompute"));
    put_assembler(&v, js_get(root, "build/assembler"));
    put_notes(&v, "", js_get(root, "notes"));
}

static bool explain_plan(const args *a, ts_plan *plan, ts_error *e)
{
    ts_plan_assemble(plan);
    cJSON *root = reply_take(ts_plan_json(plan, e), e);
    bool good = root && keep(cJSON_GetObjectItemCaseSensitive(root, "kernels"), args_text(a, "op", NULL), e);
    if (good && a->console.json)
        reply_print(root);
    else if (good)
        put_all(a, root);
    cJSON_Delete(root);
    return good;
}

static bool explain(session *s, const args *a, ts_error *e)
{
    s->options.schema = args_text(a, "schema", NULL);
    ts_plan *plan = session_plan_make(s, e);
    const bool good = plan && explain_plan(a, plan, e);
    ts_plan_free(plan);
    return good;
}

static bool explain_step(void *user, ts_plan *step, ts_error *e)
{
    return explain_plan(user, step, e);
}

static int run(const args *a, ts_error *e)
{
    session s = {0};
    if (run_is(args_noun(a, 0)))
        return run_step(a, args_noun(a, 0), args_text(a, "schema", NULL), explain_step, e);
    if (session_open(&s, a, args_noun(a, 0), e))
        explain(&s, a, e);
    session_close(&s);
    return TS_OK;
}

static const option options[] = {
    {"schema", 's', A_SCHEMA, "FILE|NAME", "tiling schema (default: the built-in guess)", false, 0, 0},
    {"op", 0, WORD, "GLOB", "kernels of this operation or name only", false, 0, 0},
    {"why", 0, FLAG, NULL, "other ways that were weighed, and the numbers for which they were declined", false, 0, 0},
    {"all", 0, FLAG, NULL, "every kernel, equal ones too", false, 0, 0},
    {0},
};
static const option_group group = {"Options", options, NULL};
static const option_group *const groups[] = {&group, &session_model_options, &session_limit_options,
                                             &session_plan_options, NULL};
static const char *const examples[] = {
    "tessera explain bert-base",
    "tessera explain resnet-18 --why --op conv2d",
    "tessera explain bert-base -s mine.json --op '*query*'",
    "tessera explain model.onnx --op matmul --dim batch=1 --dim seq=128",
    "tessera explain run -s lean.json # the step of a run of tessera train",
    NULL,
};

const verb verb_explain = {
    .name = "explain",
    .brief = "Show what a schema makes of a model: loops, fit, refusals",
    .usage = "MODEL",
    .groups = groups,
    .examples = examples,
    .run = run,
};
