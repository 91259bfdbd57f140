/* cache.c - tessera cache: what compiled programs take on disk, whether they are whole, and less of them. */
#include "cli/args.h"
#include "cli/say.h"
#include "cli/session.h"

#include <string.h>

/* The member that a form of the verb has a line of its own for comes first, then what the cache takes. */
#define SIZE "{entries} entries, {bytes}; limit {limit:bytes}\n"
#define REMOVED "{removed} entries removed, {freed:bytes}\n" SIZE
static const struct {
    const char *form, *says;
} forms[] = {
    {"path", "{path}\n"},
    {"size", SIZE "{path}\n"},
    {"ls", "{list!used|>bytes=size|key=entry}" SIZE},
    {"verify", "{good} entries are whole, {damaged} were damaged\n" SIZE},
    {"warm", "[warmed*{model}: {compiled} units compiled, {seconds:%.1f} s\n]" SIZE},
    {"prune", REMOVED},
    {"clear", REMOVED},
};

static const char *form_of(const args *a)
{
    int i = 0;
    while (strcmp(forms[i].form, a->form) != 0)
        i++;
    return forms[i].says;
}

/* What a run of the model would have compiled; it runs once, since some drivers compile when a kernel is launched. What
 * random inputs are refused for is no matter here. */
static bool warm(const args *a, const char *what, cJSON *list, ts_error *e)
{
    session s;
    bool ok = session_open(&s, a, what, e);
    ts_plan *p = ok ? session_plan_make(&s, e) : NULL;
    ok = p && ts_plan_build(p, e) && session_fill(&s, 0, e);
    ts_error ignored = {0};
    if (ok && session_feed(&s, p, &ignored))
        ts_plan_run(p, &ignored);
    progress_close(&s.progress);
    if (ok) {
        cJSON *row = js_object(list, NULL);
        js_text(row, "model", what);
        session_tell(&s, p, row);
        double seconds = 0;
        const cJSON *phase;
        cJSON_ArrayForEach(phase, js_get(row, "phases")) seconds += phase->valuedouble;
        js_number(row, "seconds", seconds);
    }
    ts_plan_free(p), session_close(&s);
    return ok;
}

static int run(const args *a, ts_error *e)
{
    static const char *const of_warm[] = {"dim", "in",      "from",       "to",   "schema",    "threads",
                                          "isa", "machine", "as-written", "bits", "mem-limit", NULL},
                             *const of_others[] = {"limit", NULL};
    const bool warms = strcmp(a->form, "warm") == 0;
    const ts_options o = {.cache_folder = args_text(a, "cache-dir"), .target = warms ? NULL : args_text(a, "target")};
    cJSON *warmed = warms ? cJSON_CreateArray() : NULL;
    if (!args_refuse(a, warms ? of_others : of_warm, warms ? "prune takes a limit" : "warm takes it", e))
        return TS_OK;
    for (int i = 0; warms && args_noun(a, i); i++)
        if (!warm(a, args_noun(a, i), warmed, e))
            return cJSON_Delete(warmed), TS_OK;
    const bool clear = strcmp(a->form, "clear") == 0;
    const cJSON *note;
    char *answer;
    if (clear || strcmp(a->form, "prune") == 0)
        answer = ts_cache_prune(&o, clear ? 0 : args_count(a, "limit") ? args_integer(a, "limit") : -1, e);
    else if (strcmp(a->form, "verify") == 0)
        answer = ts_cache_check(&o, e);
    else
        answer = ts_cache_json(&o, e);
    cJSON *root = reply_make("cache/1"), *found = reply_take(answer, e);
    const bool damaged = js_get_number(found, "damaged", 0) > 0;
    for (cJSON *part; found && (part = found->child);) {
        cJSON_DetachItemViaPointer(found, part);
        cJSON_AddItemToObject(root, part->string, part);
    }
    cJSON_AddItemToObject(root, "warmed", warmed);
    cJSON_ArrayForEach(note, js_get(root, "notes")) console_note(&a->console, "%s", note->valuestring);
    reply_done(a, found != NULL, root, form_of(a));
    cJSON_Delete(found);
    return damaged ? TS_FAILED : TS_OK;
}

static const option options[] = {
    {"limit", 0, BYTES, "SIZE", "prune to this size, as in 200M (default: what it is kept to)", ONCE},
    {"schema", 's', A_SCHEMA, "FILE|NAME", "warm for this tiling schema (default: the built-in guess)", ONCE},
    {0},
};
static const option_group *const groups[] = {&session_model_options, &session_plan_options, NULL};

const verb verb_cache = {
    .name = "cache",
    .brief = "Show, verify, fill and empty the cache of compiled programs",
    .usage = "size\nls\nverify\nprune\nclear\npath\nwarm MODEL...",
    .own = {"Options", options, NULL},
    .groups = groups,
    .examples = "tessera cache size               # how much compiled programs take, and where\n"
                "tessera cache ls                 # every entry, the least recently used first\n"
                "tessera cache verify             # reads all; damaged entries are set aside\n"
                "tessera cache prune --limit 200M # removes the least recently used\n"
                "tessera cache clear\n"
                "tessera cache path\n"
                "tessera cache warm minilm bert-base --dim seq=128 # compiles what run would",
    .details =
        "Running programs are not affected; removed programs are compiled again when needed. verify ends with exit "
        "code 1 if it finds damage. warm compiles what run of these models would with the same --dim, --threads, "
        "--isa, "
        "--target and --schema, so that the first run is as quick as all others.",
    .run = run,
};
