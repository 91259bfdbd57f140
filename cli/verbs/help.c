/* help.c - tessera help: verbs, topics, and the same as documents. */
#include "cli/help.h"
#include "cli/args.h"
#include "cli/columns.h"
#include "cli/fail.h"
#include "cli/field.h"
#include "cli/manual.h"
#include "cli/suggest.h"

#include <string.h>

static int topic_exit(const args *a, ts_error *e)
{
    (void)e;
    columns t = columns_make(">code|meaning");
    const char *meaning;
    int code;
    for (int i = 0; (meaning = help_exit_code(i, &code)); i++) {
        columns_add(&t, "%d", code);
        columns_add(&t, "%s", meaning);
    }
    columns_print(&t, stdout, "", a->console.color_out);
    return TS_OK;
}

static int topic_axes(const args *a, ts_error *e)
{
    cJSON *axes = field_parse(ts_axes_json(), e);
    columns t = columns_make("operation|axes");
    for (const cJSON *op = axes ? axes->child : NULL; op; op = op->next) {
        columns_add(&t, "%s", op->string);
        columns_add(&t, "%s", cJSON_IsString(op) ? op->valuestring : "");
    }
    fputs("The letters by which schemas name the loops of an operation.\n\n", stdout);
    columns_print(&t, stdout, "", a->console.color_out);
    cJSON_Delete(axes);
    return TS_OK;
}

typedef struct topic {
    const char *name;
    int (*show)(const args *a, ts_error *e);
} topic;
static const topic topics[] = {{"axes", topic_axes}, {"exit", topic_exit}, {0}};

static int unknown(const char *name, ts_error *e)
{
    fail(e, TS_USAGE, "no help on \"%s\"", name);
    suggestion s = suggest_begin(name);
    for (int i = 0; verbs[i]; i++) {
        if (!verbs[i]->hidden)
            suggest_offer(&s, verbs[i]->name);
    }
    for (const topic *t = topics; t->name; t++)
        suggest_offer(&s, t->name);
    if (!suggest_hint(&s, "tessera help ", e))
        fail_hint(e, "tessera alone lists the verbs; topics are axes and exit");
    return e->code;
}

/* The tables as data, for those who write wrappers and editors. */
static int print_json(void)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "format", "help/1");
    cJSON *list = cJSON_AddArrayToObject(root, "verbs");
    for (int i = 0; verbs[i]; i++) {
        cJSON *v = cJSON_CreateObject(), *options;
        cJSON_AddItemToArray(list, v);
        cJSON_AddStringToObject(v, "name", verbs[i]->name);
        cJSON_AddStringToObject(v, "brief", verbs[i]->brief);
        cJSON_AddStringToObject(v, "usage", verbs[i]->usage);
        cJSON_AddBoolToObject(v, "hidden", verbs[i]->hidden);
        options = cJSON_AddArrayToObject(v, "options");
        const option_group *g;
        for (int k = 0; (g = verb_group(verbs[i], k)); k++) {
            for (const option *o = g->options; o->name; o++) {
                cJSON *item = cJSON_CreateObject();
                cJSON_AddItemToArray(options, item);
                cJSON_AddStringToObject(item, "name", o->name);
                cJSON_AddStringToObject(item, "value", o->kind == FLAG ? "" : o->value);
                cJSON_AddStringToObject(item, "brief", o->brief);
                cJSON_AddBoolToObject(item, "repeats", o->repeats);
            }
        }
    }
    field_print(root, stdout);
    cJSON_Delete(root);
    return TS_OK;
}

static int run(const args *a, ts_error *e)
{
    const char *name = args_noun(a, 0);
    if (a->console.json)
        return print_json();
    if (args_flag(a, "markdown"))
        return manual_markdown(stdout), TS_OK;
    if (args_flag(a, "man"))
        return manual_man(stdout), TS_OK;
    if (!name)
        return help_overview(stdout, a->console.color_out), TS_OK;
    for (const topic *t = topics; t->name; t++) {
        if (strcmp(t->name, name) == 0)
            return t->show(a, e);
    }
    const verb *v = verb_find(name);
    if (!v)
        return unknown(name, e);
    help_verb(stdout, v, a->console.color_out);
    return TS_OK;
}

static const option options[] = {
    {"markdown", 0, FLAG, NULL, "all commands as Markdown (docs/commands.md)", false, 0, 0},
    {"man", 0, FLAG, NULL, "all commands as a manual page", false, 0, 0},
    {0},
};
static const option_group group = {"Options", options};
static const option_group *const groups[] = {&group, NULL};
static const char *const examples[] = {
    "tessera help bench",
    "tessera help axes               # the letters for loops in schemas",
    "tessera help exit               # what exit codes mean",
    "tessera help --man | man -l -   # everything, as a manual page",
    NULL,
};

const verb verb_help = {
    .name = "help",
    .brief = "Explain a verb, the axis letters or the exit codes",
    .usage = "[TOPIC]",
    .groups = groups,
    .examples = examples,
    .run = run,
};
