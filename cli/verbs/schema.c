/* schema.c - tessera schema: starting, checking, listing and printing tiling schemas. */
#include "graph/base/base.h"
#include "cli/outfile.h"
#include "cli/run_step.h"
#include "cli/say.h"
#include "cli/schema_files.h"
#include "cli/session.h"
#include "train/run_folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 }; /* of a schema that is formatted or compared */

/* With --json a schema still is one JSON object; it needs no wrapping. */
static bool put(char *schema, const args *a, ts_error *e)
{
    const char *out = args_text(a, "out");
    bool good = schema && outfile_write(out, schema, e);
    if (good && strcmp(out, "-") != 0)
        console_note(&a->console, "wrote %s", out);
    ts_free(schema);
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
    if (targets)
        reply_give(a, targets, "{.!!}");
    return targets != NULL;
}

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

/* What a person would want to know before timing: which kernels the rules reach, and every note about those. */
static cJSON *findings(const cJSON *plan)
{
    cJSON *root = reply_make("lint/1"), *notes = js_array(root, "notes"), *warnings = js_array(root, "warnings");
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
            reached++;
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
    "layouts], {warnings#} warning[warnings#=1?|s]; memory: {memory/weights_bytes} "
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

/* ---- as files ---- */

/* As schemas are named elsewhere: a file, or one that comes with Tessera. For free(). */
static char *source_of(const args *a, const char *name, ts_error *e)
{
    const ts_options o = session_options(a);
    const size_t n = strlen(name);
    if (strchr(name, '/') || (n > 5 && strcmp(name + n - 5, ".json") == 0) || strcmp(name, "-") == 0)
        return outfile_text(name, MOST_BYTES, e);
    return ts_schema_text(name, &o, e);
}

static bool format(const args *a, ts_error *e)
{
    char *source = source_of(a, args_noun(a, 0), e),
         *laid = source ? schema_format_text(args_noun(a, 0), source, e) : NULL;
    free(source);
    return put(laid, a, e);
}

static const char diff_form[] =
    "[differences#=0?no difference\n|[differences*{path}\n[before?  - {before}\n][after?  + {after}\n]]]";

/* As of diff: 1 where there is a difference. */
static int differ(const args *a, ts_error *e)
{
    const char *const name[] = {args_noun(a, 0), args_noun(a, 1)};
    char *source[2] = {source_of(a, name[0], e), NULL};
    source[1] = source[0] ? source_of(a, name[1], e) : NULL;
    cJSON *found = source[1] ? schema_diff(name, (const char *const *)source, e) : NULL;
    const bool any = cJSON_GetArraySize(js_get(found, "differences")) > 0;
    free(source[0]), free(source[1]);
    if (found)
        reply_give(a, found, diff_form);
    return any ? TS_FAILED : TS_OK;
}

static int run(const args *a, ts_error *e)
{
    static const char *const written[] = {"out", NULL};
    session s = {0};
    int code = TS_OK;
    if ((!strcmp(a->form, "lint") || !strcmp(a->form, "list") || !strcmp(a->form, "diff")) &&
        !args_refuse(a, written, "what it says goes to standard output: lint, list and diff write no file", e))
        return TS_OK;
    if (strcmp(a->form, "init") == 0)
        init(&s, a, e);
    else if (strcmp(a->form, "list") == 0)
        list(a, e);
    else if (strcmp(a->form, "show") == 0)
        show(a, e);
    else if (strcmp(a->form, "fmt") == 0)
        format(a, e);
    else if (strcmp(a->form, "diff") == 0)
        code = differ(a, e);
    else
        code = lint(&s, a, e);
    session_close(&s);
    return code;
}

static const option options[] = {
    {"out", 'o', A_FILE, "FILE", "where init, show and fmt write; - is standard output", "-", false, 0, 0},
    {0},
};

const verb verb_schema = {
    .name = "schema",
    .brief = "Start, check, compare, format, list and print tiling schemas",
    .usage = "init MODEL\nlint SCHEMA MODEL\nlist\nshow SCHEMA\ndiff SCHEMA SCHEMA\nfmt SCHEMA",
    .own = {"Options", options, NULL},
    .groups = session_model_groups,
    .examples = "tessera schema init bert-base -o mine.json # the built-in guess, to edit\n"
                "tessera schema lint mine.json bert-base    # what fits, what does not, and why\n"
                "tessera schema list                        # schemas that come with Tessera\n"
                "tessera schema show panels -o mine.json    # one of them, to read and to edit\n"
                "tessera schema diff panels mine.json       # what differs; exit 1 then\n"
                "tessera schema fmt mine.json -o mine.json  # laid out as built-in ones are",
    .details = "lint takes a run of train in place of a model, too: the schema is then one for the run's step.",
    .run = run,
};
