/* schema.c - tessera schema: starting, checking and listing tiling schemas. */
#include "cli/columns.h"
#include "cli/fail.h"
#include "cli/reply.h"
#include "cli/outfile.h"
#include "cli/session.h"

#include <string.h>

/* With --json a schema still is one JSON object; it needs no wrapping. */
static bool init(session *s, const args *a, ts_error *e)
{
    if (!session_open(s, a, args_noun(a, 0), e))
        return false;
    char *text = ts_schema_guess(s->model, &s->options, e);
    bool good = text && outfile_write(args_text(a, "out", "-"), text, e);
    ts_free(text);
    return good;
}

static bool list(const args *a, ts_error *e)
{
    cJSON *targets = reply_take(ts_schemas_json(), e);
    if (!targets)
        return false;
    columns t = columns_make("target|schema");
    for (const cJSON *target = targets->child; target; target = target->next) {
        for (const cJSON *name = target->child; name; name = name->next) {
            columns_add(&t, "%s", target->string);
            columns_add(&t, "%s", cJSON_IsString(name) ? name->valuestring : js_get_text(name, "name"));
        }
    }
    if (a->console.json)
        reply_print(targets);
    else
        columns_print(&t, stdout, "", a->console.color_out);
    columns_free(&t);
    cJSON_Delete(targets);
    return true;
}

static bool lint(session *s, const args *a, ts_error *e)
{
    if (!session_open(s, a, args_noun(a, 1), e))
        return false;
    s->options.schema = args_noun(a, 0);
    ts_plan *plan = ts_plan_make(s->model, &s->options, e);
    cJSON *json = plan ? reply_take(ts_plan_json(plan, e), e) : NULL;
    ts_plan_free(plan);
    if (!json)
        return false;
    cJSON_Delete(json);
    return true;
}

static int run(const args *a, ts_error *e)
{
    session s = {0};
    if (strcmp(a->form, "init") == 0)
        init(&s, a, e);
    else if (strcmp(a->form, "list") == 0)
        list(a, e);
    else
        lint(&s, a, e);
    session_close(&s);
    return TS_OK;
}

static const option options[] = {
    {"out", 'o', A_FILE, "FILE", "where init writes (default: standard output)", false, 0, 0},
    {0},
};
static const option_group group = {"Options", options};
static const option_group *const groups[] = {&group, &session_model_options, &session_plan_options, NULL};
static const char *const examples[] = {
    "tessera schema init bert-base -o mine.json # the built-in guess, to edit",
    "tessera schema lint mine.json bert-base    # what fits, what does not, and why",
    "tessera schema list                        # schemas that come with Tessera",
    NULL,
};

const verb verb_schema = {
    .name = "schema",
    .brief = "Start, check and list tiling schemas",
    .usage = "init MODEL\nlint FILE MODEL\nlist",
    .groups = groups,
    .examples = examples,
    .run = run,
};
