/* admin.c - listing, checking and emptying the cache of compiled programs. Entries leave it by a rename, so that
 * whoever reads one at that moment has it whole, and whoever comes later builds it again. */
#include "backends/cache/admin.h"
#include "backends/cache/cache.h"
#include "backends/cache/cache_folder.h"

#include <stdlib.h>
#include <string.h>

enum { STALE = 24 * 3600 }; /* seconds after which what a killed process left is nobody's */

typedef struct opened {
    cache *c;
    text notes;
    arena mem;
} opened;

/* Opens the folder, starts the object with what is known of it. False with nothing open: there is none. */
static bool begin(opened *o, const char *folder, text *out, err *e)
{
    const settings env = settings_read();
    *o = (opened){0};
    if (folder && !strcmp(folder, "none")) {
        err_set(e, TS_USAGE, "cache folder \"none\": there is nothing to look at");
        return err_hint(e, "name a folder with --cache-dir, or leave it out for the user's own");
    }
    const char *path = cache_path(&o->mem, folder, &env);
    if (!cache_open(&o->c, folder, &env, &o->notes, e))
        return arena_free(&o->mem), false;
    json_add(out, "{path:%s,usable:%i", path ? path : "", o->c != NULL);
    return true;
}

static bool end(opened *o, text *out)
{
    json_add_lines(out, "notes", text_str(&o->notes)), text_add(out, "}");
    cache_close(o->c);
    text_free(&o->notes);
    arena_free(&o->mem);
    return true;
}

static void sums(const opened *o, cache_entries *all, text *out)
{
    *all = (cache_entries){0};
    if (o->c)
        cache_list(o->c, all);
    json_add(out, "entries:%d,bytes:%lld,limit:%lld", all->n, (long long)all->bytes, (long long)CACHE_LIMIT);
}

static bool list(const char *folder, text *out, err *e)
{
    opened o;
    cache_entries all;
    if (!begin(&o, folder, out, e))
        return false;
    sums(&o, &all, out);
    json_add(out, "list:[");
    for (int i = 0; i < all.n; i++) {
        char used[32] = "";
        struct tm at;
        if (gmtime_r(&all.at[i].used, &at))
            strftime(used, sizeof used, "%Y-%m-%dT%H:%M:%SZ", &at);
        json_add(out, "{key:%s,bytes:%lld,used:%s}", all.at[i].name + 3, (long long)all.at[i].bytes, used);
    }
    text_add(out, "]");
    free(all.at);
    return end(&o, out);
}

static bool key_read(const char *hex, digest *out)
{
    for (size_t i = 0; i < sizeof out->b; i++) {
        char two[3] = {hex[2 * i]}, *stop;
        two[1] = two[0] ? hex[2 * i + 1] : 0;
        out->b[i] = (unsigned char)strtoul(two, &stop, 16);
        if (stop != two + 2)
            return false;
    }
    return true;
}

static bool check(const char *folder, text *out, err *e)
{
    opened o;
    cache_entries all;
    int whole = 0, damaged = 0;
    if (!begin(&o, folder, out, e))
        return false;
    sums(&o, &all, out);
    for (int i = 0; i < all.n; i++) {
        digest key;
        const size_t before = o.notes.length;
        if (key_read(all.at[i].name + 3, &key) && cache_check(o.c, &key))
            whole++;
        else
            damaged += o.notes.length > before; /* else it went while this was looking */
    }
    json_add(out, "good:%d,damaged:%d", whole, damaged);
    free(all.at);
    return end(&o, out);
}

static bool prune(const char *folder, int64_t limit, text *out, err *e)
{
    opened o;
    cache_entries all;
    if (!begin(&o, folder, out, e))
        return false;
    const cache_sum gone = cache_prune(o.c, limit < 0 ? CACHE_LIMIT : limit, STALE);
    sums(&o, &all, out);
    json_add(out, "removed:%lld,freed:%lld", (long long)gone.n, (long long)gone.bytes);
    free(all.at);
    return end(&o, out);
}

const keeper c_cache = {.list = list, .check = check, .prune = prune};
