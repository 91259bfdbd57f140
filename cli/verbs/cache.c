/* cache.c - tessera cache: what compiled programs take on disk, whether they are whole, and less of them. */
#include "cli/args.h"
#include "cli/columns.h"
#include "cli/reply.h"
#include "cli/session.h"

#include <string.h>

static void put_bytes(char *out, size_t size, double bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB"};
    int i = 0;
    while (bytes >= 1024 && i < 3)
        bytes /= 1024, i++;
    snprintf(out, size, i && bytes < 100 ? "%.1f %s" : "%.0f %s", bytes, unit[i]);
}

static void put_size(const cJSON *root)
{
    char bytes[32], limit[32];
    put_bytes(bytes, sizeof bytes, js_get_number(root, "bytes", 0));
    put_bytes(limit, sizeof limit, js_get_number(root, "limit", 0));
    printf("%.0f entries, %s; limit %s\n", js_get_number(root, "entries", 0), bytes, limit);
}

static void put_path(const cJSON *root)
{
    put_safe(stdout, js_get_text(root, "path"));
    putchar('\n');
}

static void put_list(const cJSON *root, bool color)
{
    columns t = columns_make("used|>size|entry");
    const cJSON *entry;
    cJSON_ArrayForEach(entry, js_get(root, "list"))
    {
        char bytes[32];
        put_bytes(bytes, sizeof bytes, js_get_number(entry, "bytes", 0));
        columns_add(&t, "%s", js_get_text(entry, "used"));
        columns_add(&t, "%s", bytes);
        columns_add(&t, "%s", js_get_text(entry, "key"));
    }
    columns_print(&t, stdout, "", color);
}

static void show(const args *a, const cJSON *root)
{
    char freed[32];
    put_bytes(freed, sizeof freed, js_get_number(root, "freed", 0));
    if (strcmp(a->form, "path") == 0) {
        put_path(root);
        return;
    }
    if (strcmp(a->form, "ls") == 0)
        put_list(root, a->console.color_out);
    if (strcmp(a->form, "verify") == 0)
        printf("%.0f entries are whole, %.0f were damaged\n", js_get_number(root, "good", 0),
               js_get_number(root, "damaged", 0));
    if (js_get(root, "removed"))
        printf("%.0f entries removed, %s\n", js_get_number(root, "removed", 0), freed);
    put_size(root);
    if (strcmp(a->form, "size") == 0)
        put_path(root);
}

static int run(const args *a, ts_error *e)
{
    const ts_options o = {.cache_folder = args_text(a, "cache-dir", NULL), .target = args_text(a, "target", NULL)};
    const bool clear = strcmp(a->form, "clear") == 0;
    const cJSON *note;
    char *text;
    if (clear || strcmp(a->form, "prune") == 0)
        text = ts_cache_prune(&o, clear ? 0 : args_integer(a, "limit", -1), e);
    else if (strcmp(a->form, "verify") == 0)
        text = ts_cache_check(&o, e);
    else
        text = ts_cache_json(&o, e);
    cJSON *root = reply_make("cache/1"), *found = reply_take(text, e);
    for (cJSON *part = found ? found->child : NULL, *next; part; part = next) {
        next = part->next;
        cJSON_DetachItemViaPointer(found, part);
        cJSON_AddItemToObject(root, part->string, part);
    }
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
    {"cache-dir", 0, A_FOLDER, "FOLDER", "which one (default: the user's cache)", false, 0, 0},
    {"target", 0, A_TARGET, "NAME", "back end whose cache it is", false, 0, 0},
    {0},
};
static const option_group group = {"Options", options, session_plan_usual};
static const option_group *const groups[] = {&group, NULL};
static const char *const examples[] = {
    "tessera cache size               # how much compiled programs take, and where",
    "tessera cache ls                 # every entry, the least recently used first",
    "tessera cache verify             # reads all; damaged entries are set aside",
    "tessera cache prune --limit 200M # removes the least recently used",
    "tessera cache clear",
    "tessera cache path",
    NULL,
};

const verb verb_cache = {
    .name = "cache",
    .brief = "Show, verify and empty the cache of compiled programs",
    .usage = "size\nls\nverify\nprune\nclear\npath",
    .groups = groups,
    .examples = examples,
    .details =
        "Running programs are not affected; removed programs are compiled again when needed. verify ends with exit "
        "code 1 if it finds damage.",
    .run = run,
};
