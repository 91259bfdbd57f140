/* schema_files.c - tiling/1 as text. Rules go by their names, for their order is what a person edits; comments count
 * for nothing in a comparison and stay in a file. */
#include "cli/schema_files.h"
#include "graph/base/base.h"
#include "graph/base/formats.h"
#include "graph/base/json.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32, WIDTH = 120, STEP = 2 };

static json *read_schema(arena *mem, const char *name, const char *source, ts_error *e)
{
    json *v = json_read(mem, name, source, strlen(source), DEPTH, e), *format = v ? json_get(v, "format") : NULL;
    if (!v || (format && format->kind == JSON_TEXT && strcmp(format->text, FORMAT_TILING) == 0))
        return v;
    json_refuse(e, format ? format : v, TS_BAD_INPUT, "no schema: \"format\": \"" FORMAT_TILING "\" is expected in it");
    return NULL;
}

/* ---- layout ---- */

static void put(text *t, const json *v);

static void put_item(text *t, const json *v, bool member)
{
    if (member)
        json_add(t, "%s", v->key), text_add(t, ": ");
    put(t, v);
}

/* On one line: { "a": [1, 2] } */
static void put(text *t, const json *v)
{
    const bool object = v->kind == JSON_OBJECT;
    if (v->kind < JSON_LIST) {
        ENDED_BY(text_free) text one = {0};
        json_print(&one, v);
        text_add(t, "%s", text_str(&one));
        return;
    }
    text_add(t, v->first && object ? "{ " : object ? "{" : "[");
    for (const json *i = v->first; i; i = i->next) {
        ENDED_BY(text_free) text one = {0};
        put_item(&one, i, object);
        text_add(t, "%s%s", text_str(&one), i->next ? ", " : "");
    }
    text_add(t, v->first && object ? " }" : object ? "}" : "]");
}

/* Over several lines where one is too short; the whole file and its list of rules always are. */
static void lay_out(text *t, const json *v, int depth, size_t used)
{
    const bool object = v->kind == JSON_OBJECT, whole = depth == 0 || (v->key && strcmp(v->key, "rules") == 0);
    ENDED_BY(text_free) text line = {0};
    put(&line, v);
    if (v->kind < JSON_LIST || !v->first || (!whole && used + line.length <= WIDTH)) {
        text_add(t, "%s", text_str(&line));
        return;
    }
    text_add(t, object ? "{\n" : "[\n");
    for (const json *i = v->first; i; i = i->next) {
        ENDED_BY(text_free) text key = {0};
        if (object)
            json_add(&key, "%s", i->key), text_add(&key, ": ");
        text_add(t, "%*s%s", STEP * (depth + 1), "", text_str(&key));
        lay_out(t, i, depth + 1, STEP * ((size_t)depth + 1) + key.length + (i->next != NULL));
        text_add(t, i->next ? ",\n" : "\n");
    }
    text_add(t, "%*s%s", STEP * depth, "", object ? "}" : "]");
}

char *schema_format_text(const char *name, const char *source, ts_error *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    text t = {0};
    const json *v = read_schema(&mem, name, source, e);
    if (v)
        lay_out(&t, v, 0, 0), text_add(&t, "\n");
    return v ? text_take(&t) : NULL;
}

/* ---- differences ---- */

static const json *named(const json *list, const char *name)
{
    for (const json *i = list ? list->first : NULL; i; i = i->next) {
        const json *own = i->kind == JSON_OBJECT ? json_get(i, "name") : NULL;
        if (own && own->kind == JSON_TEXT && strcmp(own->text, name) == 0)
            return i;
    }
    return NULL;
}

static bool all_named(const json *list) /* each by a name of its own */
{
    for (const json *i = list->first; i; i = i->next) {
        const json *own = i->kind == JSON_OBJECT ? json_get(i, "name") : NULL;
        if (!own || own->kind != JSON_TEXT || named(list, own->text) != i)
            return false;
    }
    return list->kind == JSON_LIST && list->first;
}

static char *words(const json *v)
{
    text t = {0};
    json_print(&t, v);
    return text_take(&t);
}

static void add(cJSON *out, const char *path, const json *x, const json *y)
{
    char *before = x ? words(x) : NULL, *after = y ? words(y) : NULL;
    if (!before || !after || strcmp(before, after) != 0)
        js_row(out, "path:%s,before:%s,after:%s", path, before, after);
    free(before), free(after);
}

static void compare(cJSON *out, const char *path, const json *x, const json *y);

/* Item i of one is to be compared with `same` of the other, NULL: there is none. */
static void compare_item(cJSON *out, const char *path, const char *name, const json *i, const json *same)
{
    ENDED_BY(text_free) text at = {0};
    text_add(&at, "%s%s%s", path, *path ? "/" : "", name);
    compare(out, text_str(&at), i, same);
}

static void compare_order(cJSON *out, const char *path, const json *x, const json *y)
{
    ENDED_BY(text_free) text before = {0}, after = {0};
    for (const json *i = x->first; i; i = i->next)
        if (named(y, json_get(i, "name")->text))
            text_add(&before, "%s%s", before.length ? ", " : "", json_get(i, "name")->text);
    for (const json *i = y->first; i; i = i->next)
        if (named(x, json_get(i, "name")->text))
            text_add(&after, "%s%s", after.length ? ", " : "", json_get(i, "name")->text);
    if (strcmp(text_str(&before), text_str(&after)) != 0)
        js_row(out, "path:%s,before:%s,after:%s", path, text_str(&before), text_str(&after));
}

static void compare(cJSON *out, const char *path, const json *x, const json *y)
{
    const bool lists = x && y && all_named(x) && all_named(y);
    if (!lists && !(x && y && x->kind == JSON_OBJECT && y->kind == JSON_OBJECT)) {
        add(out, path, x, y);
        return;
    }
    for (const json *i = x->first; i; i = i->next) {
        const char *name = lists ? json_get(i, "name")->text : i->key;
        if (lists || strcmp(name, "//") != 0)
            compare_item(out, path, name, i, lists ? named(y, name) : json_get(y, name));
    }
    for (const json *i = y->first; i; i = i->next) {
        const char *name = lists ? json_get(i, "name")->text : i->key;
        if ((lists || strcmp(name, "//") != 0) && !(lists ? named(x, name) : json_get(x, name)))
            compare_item(out, path, name, NULL, i);
    }
    if (lists)
        compare_order(out, path, x, y);
}

cJSON *schema_diff(const char *const name[2], const char *const source[2], ts_error *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    const json *x = read_schema(&mem, name[0], source[0], e), *y = x ? read_schema(&mem, name[1], source[1], e) : NULL;
    cJSON *root = y ? reply_make("schema-diff/1") : NULL;
    if (y)
        compare(js_array(root, "differences"), "", x, y);
    return root;
}
