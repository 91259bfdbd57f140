/* schema.c - tessera schema: starting, checking, listing and printing tiling schemas. */
#include "cli/list.h"
#include "graph/base/err.h"
#include "cli/outfile.h"
#include "cli/outline.h"
#include "cli/run_step.h"
#include "cli/say.h"
#include "cli/session.h"
#include "train/run_folder.h"

#include <stdlib.h>
#include <string.h>

/* With --json a schema still is one JSON object; it needs no wrapping. */
static bool put(char *text, const args *a, ts_error *e)
{
    const char *out = args_text(a, "out", "-");
    bool good = text && outfile_write(out, text, e);
    if (good && strcmp(out, "-") != 0)
        console_note(&a->console, "wrote %s", out);
    ts_free(text);
    return good;
}

static bool init(session *s, const args *a, ts_error *e)
{
    return session_open(s, a, args_noun(a, 0), e) && put(ts_schema_guess(s->model, &s->options, e), a, e);
}

static bool show(const args *a, ts_error *e)
{
    const ts_options o = session_options(a);
    return put(ts_schema_text(args_noun(a, 0), &o, e), a, e);
}

static bool list(const args *a, ts_error *e)
{
    cJSON *targets = reply_take(ts_schemas_json(), e);
    if (!targets)
        return false;
    if (a->console.json)
        reply_print(targets);
    else
        outline_print(targets, stdout, "", a->console.color_out);
    cJSON_Delete(targets);
    return true;
}

/* A note, with the kernels that it is about. */
typedef struct remark {
    const char *text, *op, *label; /* of the first kernel; op: NULL for a note on the whole plan */
    int kernels;
} remark;

typedef struct remarks {
    remark *all;
    int n, cap;
} remarks;

/* Once, with a count: twelve layers would say it twelve times. */
static void add_remark(remarks *r, const cJSON *note, const cJSON *kernel)
{
    const char *text = cJSON_IsString(note) ? note->valuestring : "";
    const char *op = kernel ? js_get_text(kernel, "op") : NULL;
    for (int i = 0; i < r->n; i++) {
        if (!r->all[i].op == !op && strcmp(r->all[i].text, text) == 0) {
            r->all[i].kernels++;
            return;
        }
    }
    r->all = list_grown(r->all, r->n, &r->cap, sizeof *r->all);
    r->all[r->n++] = (remark){text, op, kernel ? js_get_text(kernel, "label") : "", 1};
}

static bool has_ruled_stage(const cJSON *kernel) /* that follows what its rule says */
{
    const cJSON *s;
    bool any = false;
    cJSON_ArrayForEach(s, js_get(kernel, "stages")) any = any || (js_get(s, "rule") && !js_get(s, "guessed"));
    return any;
}

/* A note on the plan ends with it: what a rule was refused is said once for all kernels. */
static bool is_said(const cJSON *plan, const char *text)
{
    const cJSON *n;
    bool said = false;
    cJSON_ArrayForEach(n, js_get(plan, "notes"))
    {
        const size_t all = cJSON_IsString(n) ? strlen(n->valuestring) : 0, part = strlen(text);
        said = said || (all >= part && strcmp(n->valuestring + all - part, text) == 0);
    }
    return said;
}

/* What a person would want to know before timing: which kernels the rules reach, and every note about those. */
static cJSON *findings(const cJSON *plan, remarks *r)
{
    cJSON *root = reply_make("lint/1"), *notes = NULL;
    const cJSON *kernel, *note;
    int all = 0, reached = 0, guessed = 0;
    notes = js_array(root, "notes");
    cJSON_ArrayForEach(note, js_get(plan, "notes"))
    {
        cJSON_AddItemToArray(notes, cJSON_Duplicate(note, true));
        add_remark(r, note, NULL);
    }
    cJSON_ArrayForEach(kernel, js_get(plan, "kernels"))
    {
        all++;
        const bool by_stage = has_ruled_stage(kernel) ||
                              js_get(kernel, "apart"); /* or does no more than a rule lets it */
        if (strcmp(js_get_text(kernel, "rule"), "guess") == 0 && !by_stage)
            continue;
        if (js_get(kernel, "guessed") && !by_stage)
            guessed++;
        else
            reached++;
        cJSON_ArrayForEach(note, js_get(kernel, "notes"))
        {
            char *line = NULL;
            const char *text = cJSON_IsString(note) ? note->valuestring : "";
            if (is_said(plan, text))
                continue;
            if (asprintf(&line, "%s %s: %s", js_get_text(kernel, "op"), js_get_text(kernel, "label"), text) < 0)
                memory_failed(strlen(text), "a note of lint");
            js_item(notes, line);
            add_remark(r, note, kernel);
            free(line);
        }
    }
    js_put(root, "kernels:%d,reached:%d,guessed:%d", all, reached, guessed);
    return root;
}

/* The last line, for those who read no other. */
static void put_count(const cJSON *found, int warnings)
{
    say_record(
        stdout, found,
        "{reached} of {kernels} kernels follow its rules[guessed>0?, {guessed} fit[guessed=1?s] a rule whose loops are "
        "refused and follow[guessed=1?s] the guess]");
    printf(", %d warning%s\n", warnings, warnings == 1 ? "" : "s");
}

/* Warnings go to standard error, the count to standard output. */
static void put_remarks(const remarks *r, const cJSON *found, const args *a)
{
    for (int i = 0; i < r->n; i++) {
        const remark *k = &r->all[i];
        char more[64] = "";
        if (k->kernels > 1)
            snprintf(more, sizeof more, " and %d more kernel%s", k->kernels - 1, k->kernels > 2 ? "s" : "");
        console_warn(&a->console, "%s%s%s%s%s%s", k->op ? k->op : "", k->op ? " " : "", k->label, k->op ? more : "",
                     k->op ? ": " : "", k->text);
    }
    put_count(found, r->n);
}

static bool lint_plan(void *user, ts_plan *plan, ts_error *e)
{
    const args *a = user;
    cJSON *json = reply_take(ts_plan_json(plan, e), e);
    if (!json)
        return false;
    remarks r = {0};
    cJSON *found = findings(json, &r);
    if (a->console.json)
        reply_print(found);
    else
        put_remarks(&r, found, a);
    free(r.all);
    cJSON_Delete(found);
    cJSON_Delete(json);
    return true;
}

static int lint(session *s, const args *a, ts_error *e)
{
    const char *schema = args_noun(a, 0), *of = args_noun(a, 1);
    if (run_is(of))
        return run_step(a, of, schema, lint_plan, e);
    if (!session_open(s, a, of, e))
        return TS_OK;
    s->options.schema = schema;
    ts_plan *plan = ts_plan_make(s->model, &s->options, e);
    if (plan)
        lint_plan((void *)(uintptr_t)a, plan, e);
    ts_plan_free(plan);
    return TS_OK;
}

static int run(const args *a, ts_error *e)
{
    static const char *const written[] = {"out", NULL};
    session s = {0};
    int code = TS_OK;
    if ((!strcmp(a->form, "lint") || !strcmp(a->form, "list")) &&
        !args_refuse(a, written, "what it says goes to standard output: lint and list write no file", e))
        return TS_OK;
    if (strcmp(a->form, "init") == 0)
        init(&s, a, e);
    else if (strcmp(a->form, "list") == 0)
        list(a, e);
    else if (strcmp(a->form, "show") == 0)
        show(a, e);
    else
        code = lint(&s, a, e);
    session_close(&s);
    return code;
}

static const option options[] = {
    {"out", 'o', A_FILE, "FILE", "where init and show write (default: standard output)", false, 0, 0},
    {0},
};
static const char *const examples[] = {
    "tessera schema init bert-base -o mine.json # the built-in guess, to edit",
    "tessera schema lint mine.json bert-base    # what fits, what does not, and why",
    "tessera schema list                        # schemas that come with Tessera",
    "tessera schema show panels -o mine.json    # one of them, to read and to edit",
    NULL,
};

const verb verb_schema = {
    .name = "schema",
    .brief = "Start, check, list and print tiling schemas",
    .usage = "init MODEL\nlint SCHEMA MODEL\nlist\nshow SCHEMA",
    .own = {"Options", options, NULL},
    .groups = session_model_groups,
    .examples = examples,
    .details = "lint takes a run of train in place of a model, too: the schema is then one for the run's step.",
    .run = run,
};
