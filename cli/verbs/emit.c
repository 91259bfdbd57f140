/* emit.c - tessera emit: the model as a program of its own. */
#include "cli/fail.h"
#include "cli/reply.h"
#include "cli/session.h"

static bool work(session *s, const args *a, const char *folder, ts_error *e)
{
    if (!folder) {
        fail(e, TS_USAGE, "emit: --out is missing");
        return fail_hint(e, "-o DIR says where the sources go");
    }
    if (!session_open(s, a, args_noun(a, 0), e))
        return false;
    s->options.schema = args_text(a, "schema", NULL);
    ts_plan *plan = ts_plan_make(s->model, &s->options, e);
    bool good = plan && ts_plan_emit(plan, folder, NULL, e);
    ts_plan_free(plan);
    return good;
}

static int run(const args *a, ts_error *e)
{
    const char *folder = args_text(a, "out", NULL);
    session s = {0};
    bool good = work(&s, a, folder, e);
    session_close(&s);
    if (!good)
        return e->code;
    if (!a->console.json) {
        console_note(&a->console, "wrote %s; build it with make -C %s", folder, folder);
        return TS_OK;
    }
    cJSON *root = reply_make("emit/1");
    js_text(root, "folder", folder);
    reply_print(root);
    cJSON_Delete(root);
    return TS_OK;
}

static const option options[] = {
    {"out", 'o', A_FOLDER, "DIR", "where to write sources, weights and Makefile", false, 0, 0},
    {"schema", 's', A_FILE, "FILE|NAME", "tiling schema (default: the built-in guess)", false, 0, 0},
    {0},
};
static const option_group group = {"Options", options};
static const option_group *const groups[] = {&group, &session_model_options, &session_plan_options, NULL};
static const char *const examples[] = {
    "tessera emit bert-base -o bert # C sources, weights, Makefile",
    "tessera emit model.onnx -s mine.json --dim batch=1 --target c -o generated",
    NULL,
};

const verb verb_emit = {
    .name = "emit",
    .brief = "Write a model as a C program that needs no Tessera",
    .usage = "MODEL",
    .groups = groups,
    .examples = examples,
    .run = run,
};
