/* cache.c - tessera cache: what compiled programs take on disk, whether they are whole, and less of them. */
#include "cli/args.h"
#include "cli/columns.h"
#include "cli/reply.h"
#include "cli/session.h"
#include "graph/base/base.h"

#include <string.h>

static void put_size(const cJSON *root)
{
    text bytes = {0}, limit = {0};
    text_size(&bytes, js_get_number(root, "bytes", 0)), text_size(&limit, js_get_number(root, "limit", 0));
    printf("%.0f entries, %s; limit %s\n", js_get_number(root, "entries", 0), bytes.s, limit.s);
    text_free(&bytes), text_free(&limit);
}

static void put_path(const cJSON *root)
{
    put_safe(stdout, js_get_text(root, "path")), putchar('\n');
}

static void put_list(const cJSON *root, bool color)
{
    columns t = columns_make("used|>size|entry");
    const cJSON *entry;
    cJSON_ArrayForEach(entry, js_get(root, "list"))
    {
        text bytes = {0};
        text_size(&bytes, js_get_number(entry, "bytes", 0));
        columns_add(&t, "%s", js_get_text(entry, "used"));
        columns_add(&t, "%s", bytes.s);
        text_free(&bytes);
        columns_add(&t, "%s", js_get_text(entry, "key"));
    }
    columns_print(&t, stdout, "", color);
}

static void put_warmed(const cJSON *list)
{
    const cJSON *row, *phase;
    cJSON_ArrayForEach(row, list)
    {
        double seconds = 0;
        cJSON_ArrayForEach(phase, js_get(row, "phases")) seconds += phase->valuedouble;
        put_safe(stdout, js_get_text(row, "model"));
        printf(": %.0f units compiled, %.1f s\n", js_get_number(row, "compiled", 0), seconds);
    }
}

static void show(const args *a, const cJSON *root)
{
    text freed = {0};
    if (strcmp(a->form, "path") == 0) {
        put_path(root);
        return;
    }
    if (strcmp(a->form, "ls") == 0)
        put_list(root, a->console.color_out);
    if (strcmp(a->form, "verify") == 0)
        printf("%.0f entries are whole, %.0f were damaged\n", js_get_number(root, "good", 0),
               js_get_number(root, "damaged", 0));
    text_size(&freed, js_get_number(root, "freed", 0));
    put_warmed(js_get(root, "warmed"));
    if (js_get(root, "removed"))
        printf("%.0f entries removed, %s\n", js_get_number(root, "removed", 0), freed.s);
    text_free(&freed);
    put_size(root);
    if (strcmp(a->form, "size") == 0)
        put_path(root);
}

/* What a run of the model would have compiled; it runs once, since some drivers compile when a kernel is launched. What
 * random inputs are refused for is no matter here. */
static bool warm(const args *a, const char *what, cJSON *list, ts_error *e)
{
    session s;
    bool ok = session_open(&s, a, what, e);
    s.options.schema = args_text(a, "schema", NULL);
    ts_plan *p = ok ? session_plan_make(&s, e) : NULL;
    ok = p && ts_plan_build(p, e) && session_fill(&s, 0, e);
    ts_error ignored = {0};
    for (int i = 0; ok && i < s.n_inputs; i++)
        ts_plan_set(p, i, &s.value[i], &ignored);
    if (ok)
        ts_plan_run(p, &ignored);
    progress_close(&s.progress);
    if (ok) {
        cJSON *row = js_object(list, NULL);
        js_text(row, "model", what);
        session_tell(&s, p, row);
    }
    ts_plan_free(p), session_close(&s);
    return ok;
}

static int run(const args *a, ts_error *e)
{
    static const char *const of_warm[] = {"dim",     "in",         "schema",    "threads", "isa",
                                          "machine", "as-written", "mem-limit", NULL},
                             *const of_others[] = {"limit", NULL};
    const bool warms = strcmp(a->form, "warm") == 0;
    const ts_options o = {.cache_folder = args_text(a, "cache-dir", NULL),
                          .target = warms ? NULL : args_text(a, "target", NULL)};
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
        answer = ts_cache_prune(&o, clear ? 0 : args_integer(a, "limit", -1), e);
    else if (strcmp(a->form, "verify") == 0)
        answer = ts_cache_check(&o, e);
    else
        answer = ts_cache_json(&o, e);
    cJSON *root = reply_make("cache/1"), *found = reply_take(answer, e);
    for (cJSON *part = found ? found->child : NULL, *next; part; part = next) {
        next = part->next;
        cJSON_DetachItemViaPointer(found, part);
        cJSON_AddItemToObject(root, part->string, part);
    }
    if (warmed)
        cJSON_AddItemToObject(root, "warmed", warmed);
    if (found && a->console.json)
        reply_print(root);
    else if (found)
        show(a, root);
    cJSON_ArrayForEach(note, js_get(root, "notes")) console_note(&a->console, "%s", note->valuestring);
    const bool damaged = js_get_number(root, "damaged", 0) > 0;
    cJSON_Delete(found), cJSON_Delete(root);
    return damaged ? TS_FAILED : TS_OK;
}

static const option options[] = {
    {"limit", 0, BYTES, "SIZE", "prune to this size, as in 200M (default: what it is kept to)", false, 0, 0},
    {"schema", 's', A_SCHEMA, "FILE|NAME", "warm for this tiling schema (default: the built-in guess)", false, 0, 0},
    {0},
};
static const option_group group = {"Options", options, NULL};
static const option_group *const groups[] = {&group, &session_model_options, &session_plan_options, NULL};
static const char *const examples[] = {
    "tessera cache size               # how much compiled programs take, and where",
    "tessera cache ls                 # every entry, the least recently used first",
    "tessera cache verify             # reads all; damaged entries are set aside",
    "tessera cache prune --limit 200M # removes the least recently used",
    "tessera cache clear",
    "tessera cache path",
    "tessera cache warm minilm bert-base --dim seq=128 # compiles what run would",
    NULL,
};

const verb verb_cache = {
    .name = "cache",
    .brief = "Show, verify, fill and empty the cache of compiled programs",
    .usage = "size\nls\nverify\nprune\nclear\npath\nwarm MODEL...",
    .groups = groups,
    .examples = examples,
    .details =
        "Running programs are not affected; removed programs are compiled again when needed. verify ends with exit "
        "code 1 if it finds damage. warm compiles what run of these models would with the same --dim, --threads, "
        "--isa, "
        "--target and --schema, so that the first run is as quick as all others.",
    .run = run,
};
