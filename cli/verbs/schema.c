/* schema.c - tessera schema: starting, checking, listing and printing tiling schemas. */
#include "graph/base/base.h"
#include "cli/lint.h"
#include "cli/outfile.h"
#include "cli/say.h"
#include "cli/schema_files.h"
#include "cli/session.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 }; /* of a schema that is formatted or compared */

/* With --json a schema still is one JSON object; it needs no wrapping. */
static bool put(char *schema, const args *a, ts_error *e)
{
    const char *out = args_text(a, "out");
    bool ok = schema && outfile_write(out, schema, e);
    if (ok && strcmp(out, "-") != 0)
        console_note(&a->console, "wrote %s", out);
    ts_free(schema);
    return ok;
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
        code = lint_model(a, args_noun(a, 1), args_noun(a, 0), e);
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
