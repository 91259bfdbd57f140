/* help.c - tessera help: verbs, topics, and the same as documents. */
#include "cli/help.h"
#include "cli/args.h"
#include "cli/codes.h"
#include "cli/manual.h"
#include "cli/say.h"
#include "graph/base/suggest.h"

#include <string.h>

/* As data: what each code means. */
static int put_codes(const args *a, const char *kind, const char *form)
{
    ENDED_BY(js_free) cJSON *all = codes_make();
    const cJSON *one;
    cJSON *root = cJSON_CreateObject();
    cJSON_ArrayForEach(one, js_get(all, kind)) js_text(root, one->string, js_get_text(one, "meaning"));
    reply_give(a, root, form);
    return TS_OK;
}

static int topic_exit(const args *a, ts_error *e)
{
    (void)e;
    return put_codes(a, "exit", "{.!>@=code|=meaning}");
}

static int topic_codes(const args *a, ts_error *e)
{
    (void)e;
    return put_codes(a, "messages", "{.!@=code|=meaning}");
}

/* False: it is none. */
static bool put_code(const args *a, const char *name)
{
#define PAGE "{code}{!}\n\n[^0|{meaning}]\n\n[^0|{remedy}]\n"
    ENDED_BY(js_free) cJSON *all = codes_make();
    const cJSON *exit = cJSON_GetObjectItem(js_get(all, "exit"), name), /* M014 is m014, too */
        *page = exit ? exit : cJSON_GetObjectItem(js_get(all, "messages"), name);
    if (page)
        reply_give(a,
                   js_put(reply_make("code/1"), "code:%s,meaning:%s,remedy:%s", page->string,
                          js_get_text(page, "meaning"), js_get_text(page, "remedy")),
                   exit ? "{!bold}exit code " PAGE : "{!bold}" PAGE);
    return page != NULL;
}

static int topic_axes(const args *a, ts_error *e)
{
    cJSON *axes = reply_take(ts_axes_json(), e);
    if (axes)
        reply_give(a, axes, "The letters by which schemas name the loops of an operation.\n\n{.!@=operation|=axes}");
    return axes ? TS_OK : TS_BUG;
}

static int topic_passes(const args *a, ts_error *e)
{
    cJSON *passes = reply_take(ts_passes_json(), e);
    if (passes)
        reply_give(a, passes,
                   "How a plan is made, step by step, and then the text of each of its kernels.\n"
                   "[*\n{name} ({of}): {does}\n  requires    {requires}\n  guarantees  {guarantees}\n]");
    return passes ? TS_OK : TS_BUG;
}

typedef struct topic {
    const char *name;
    int (*show)(const args *a, ts_error *e);
} topic;
static const topic topics[] = {{"axes", topic_axes},       {"codes", topic_codes},   {"exit", topic_exit},
                               {"exit-codes", topic_exit}, {"passes", topic_passes}, {0}};

const char *help_topic(int i)
{
    return topics[i].name;
}

static int unknown(const char *name, ts_error *e)
{
    err_set(e, TS_USAGE, "no help on \"%s\"", name);
    ENDED_BY(suggest_free) suggestion near = {.word = name};
    for (int i = 0; verbs[i]; i++) {
        if (!verbs[i]->hidden)
            suggest_offer(&near, verbs[i]->name);
    }
    for (const topic *t = topics; t->name; t++)
        suggest_offer(&near, t->name);
    if (!suggest_near(&near, "tessera help ", e))
        err_hint(e, "tessera alone lists the verbs; topics are axes, codes, exit and passes, and every code");
    return e->code;
}

/* As help/1 has a verb: all of its options in one list. */
static cJSON *described(const verb *v)
{
    static const char *const of_pages[] = {"lines", "examples", "details", "groups"};
    cJSON *root = help_json(v);
    help_options_take(root);
    for (int i = 0; i < COUNT(of_pages); i++)
        cJSON_DeleteItemFromObjectCaseSensitive(root, of_pages[i]);
    return root;
}

/* The tables as data, for those who write wrappers and editors. */
static cJSON *all_described(void)
{
    cJSON *root = reply_make("help/1");
    cJSON *list = js_array(root, "verbs");
    for (int i = 0; verbs[i]; i++) {
        if (!verbs[i]->hidden)
            cJSON_AddItemToArray(list, described(verbs[i]));
    }
    return root;
}

static int run(const args *a, ts_error *e)
{
    const char *name = args_noun(a, 0);
    if (args_flag(a, "markdown"))
        return manual_markdown(stdout), TS_OK;
    if (args_flag(a, "man"))
        return manual_man(stdout), TS_OK;
    if (!name && a->console.json)
        return reply_end(all_described()), TS_OK;
    if (!name)
        return help_overview(stdout, a->console.color_out), TS_OK;
    for (const topic *t = topics; t->name; t++) {
        if (strcmp(t->name, name) == 0)
            return t->show(a, e);
    }
    if (put_code(a, name))
        return TS_OK;
    const verb *v = verb_find(name);
    if (!v)
        return unknown(name, e);
    if (a->console.json)
        return reply_end(described(v)), TS_OK;
    help_verb(stdout, v, a->console.color_out);
    return TS_OK;
}

static const option options[] = {
    {"markdown", 0, FLAG, NULL, "all commands as Markdown (docs/commands.md)", ONCE},
    {"man", 0, FLAG, NULL, "all commands as a manual page", ONCE},
    {0},
};

const verb verb_help = {
    .name = "help",
    .brief = "Explain a verb, a code, or the axis letters",
    .usage = "[TOPIC]",
    .own = {"Options", options, NULL},
    .examples = "tessera help bench\n"
                "tessera help axes               # the letters for loops in schemas\n"
                "tessera help passes             # how a plan is made, step by step\n"
                "tessera help exit               # what exit codes mean\n"
                "tessera help 3                  # one of them, and what to do\n"
                "tessera help M014               # a code in front of a message; all: codes\n"
                "tessera help --man | man -l -   # everything, as a manual page",
    .run = run,
};
