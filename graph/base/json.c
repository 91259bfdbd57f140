/* json.c - cJSON says what, a scan of the same text beside its tree says where. */
#include "graph/base/json.h"
#include "graph/base/suggest.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ---- */
static void add_place(text *t, const json_file *f, size_t at)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        if (f->text[i] == '\n')
            line++, column = 1;
        else if ((f->text[i] & 0xC0) != 0x80) /* UTF-8: one column a character */
            column++;
    }
    text_add(t, "%s:%zu:%zu", f->name, line, column);
}

/* RFC 6901: "/rules/0/match", from the root on. */
static void add_pointer(text *t, const json *v)
{
    if (!v->parent)
        return;
    add_pointer(t, v->parent);
    text_add(t, "/");
    if (v->parent->kind == JSON_LIST) {
        int i = 0;
        for (const json *o = v->parent->first; o && o != v; o = o->next)
            i++;
        text_add(t, "%d", i);
        return;
    }
    const bool pointer = strchr(v->key, '/'); /* a key that is a path itself, as in "override" */
    text_add(t, pointer ? "\"%s\"" : "%s", v->key);
}

/* What was put in from elsewhere is told of where it was written. */
static void add_where(text *t, const json *v)
{
    const json *at = v->origin ? v->origin : v;
    add_place(t, at->file, at->at);
    if (!at->parent)
        return;
    text_add(t, " (");
    add_pointer(t, at);
    text_add(t, ")");
}

/* FILE:LINE:COLUMN (POINTER) */
const char *json_where(arena *mem, const json *v)
{
    ENDED_BY(text_free) text t = {0};
    add_where(&t, v);
    return arena_string(mem, text_str(&t));
}

bool json_refuse(err *e, const json *v, ts_code code, const char *fmt, ...)
{
    ENDED_BY(text_free) text t = {0};
    char what[1000];
    va_list list;
    va_start(list, fmt);
    vsnprintf(what, sizeof what, fmt, list);
    va_end(list);
    add_where(&t, v);
    return err_set(e, code, "%.900s: %s", text_str(&t), what);
}

/* ---- what cJSON does not check ---- */
static bool refuse_at(err *e, const json_file *f, size_t at, const char *what)
{
    ENDED_BY(text_free) text t = {0};
    add_place(&t, f, at);
    return err_set(e, TS_BAD_INPUT, "%.900s: %s", text_str(&t), what);
}

static bool refuse_deep(err *e, const json_file *f, size_t at, int most)
{
    char what[64];
    snprintf(what, sizeof what, "nested more than %d levels deep", most);
    return refuse_at(e, f, at, what);
}

/* Depth is bounded before cJSON recurses. Texts are C strings here, so that none may hold a NUL. */
static bool check_bytes(const json_file *f, size_t n, int most, err *e)
{
    const char *s = f->text;
    bool quoted = false;
    int depth = 0;
    for (size_t i = 0, step; i < n; i += step) {
        uint32_t code;
        step = utf8_next(s + i, &code);
        if (!step || !code)
            return refuse_at(e, f, i, s[i] ? "not UTF-8" : "a NUL byte");
        if (quoted && code < 32)
            return refuse_at(e, f, i, "a control character within a string; write it as \\n, \\t or \\u00XX");
        if (quoted && code == '\\') {
            if (!strncmp(s + i, "\\u0000", 6))
                return refuse_at(e, f, i, "\\u0000 within a string");
            step = s[i + 1] >= 32 ? 2 : 1; /* ASCII; anything else is wrong and found by itself */
        } else if (code == '"')
            quoted = !quoted;
        else if (!quoted && (code == '[' || code == '{') && ++depth > most)
            return refuse_deep(e, f, i, most);
        else if (!quoted && (code == ']' || code == '}'))
            depth--;
    }
    return true;
}

/* cJSON stops behind the first byte of a string that it cannot read, or where one should start; elsewhere at
 * the place itself. */
static size_t culprit(const char *s, size_t at)
{
    size_t before = at ? at - 1 : 0;
    while (before > 0 && (unsigned char)s[before - 1] <= ' ')
        before--;
    const bool starts = before > 0 && strchr(",:[{", s[before - 1]);
    return at && starts && (unsigned char)s[at - 1] > ' ' && !strchr(",:[{", s[at - 1]) ? at - 1 : at;
}

static const char *skip_string(const char *s) /* from its quote to behind its quote */
{
    for (s++; *s && *s != '"'; s++)
        if (*s == '\\' && s[1])
            s++;
    return *s ? s + 1 : s;
}

/* The most frequent mistakes have a hint of their own: comments, single quotes, a comma too many or too few. */
static bool not_json(const json_file *f, size_t at, err *e)
{
    const char *s = f->text;
    at = culprit(s, at);
    size_t before = at;
    while (before > 0 && (unsigned char)s[before - 1] <= ' ')
        before--;
    const char last = before ? s[before - 1] : ' ';
    const bool starts = last && strchr(",:[{", last);
    refuse_at(e, f, at,
              !s[at]                                           ? "the JSON text ends too early"
              : s[at] == '\\'                                  ? "an escape that JSON does not have"
              : s[at] == '"' && starts && *skip_string(s + at) ? "a string with an escape that stands for no character"
              : s[at] == '"' && starts                         ? "a string that never ends"
                                                               : "not JSON from here on");
    if (!s[at])
        err_hint(e, "close what is open by ] or }, or get the file anew if it was cut off");
    else if (starts && s[at] == '"' && strstr(s + at, "\\u"))
        err_hint(e, "\\ud800 to \\udfff come in pairs");
    else if (s[at] == '/' || s[at] == '#')
        err_hint(e, "a comment is a member: \"//\": \"text\"");
    else if (s[at] == '\'')
        err_hint(e, "strings take double quotes");
    else if ((s[at] == '}' || s[at] == ']') && last == ',')
        err_hint(e, "no comma after the last one");
    else if (s[at] && strchr("\"{[", s[at]) && !starts)
        err_hint(e, "a comma may be missing before it");
    return false;
}

/* ---- cJSON's tree and the text, walked together ---- */
static const char *skip_blanks(const char *s)
{
    while (*s && (unsigned char)*s <= ' ')
        s++;
    return s;
}

/* In an order in which scalars come before texts, lists and objects. */
static json_kind kind_of(const cJSON *c)
{
    return cJSON_IsObject(c)   ? JSON_OBJECT
           : cJSON_IsArray(c)  ? JSON_LIST
           : cJSON_IsString(c) ? JSON_TEXT
           : cJSON_IsNumber(c) ? JSON_NUMBER
           : cJSON_IsBool(c)   ? JSON_TRUTH
                               : JSON_NULL;
}

typedef struct walk {
    arena *mem;
    const json_file *file;
    const char *s; /* how far the text is read */
} walk;

/* cJSON has checked the text, so that the scan beside its tree need only count along. */
static json *convert(walk *w, const cJSON *c, const json *parent)
{
    json *v = arena_get(w->mem, sizeof *v);
    w->s = skip_blanks(w->s);
    *v = (json){
        .kind = kind_of(c), .truth = cJSON_IsTrue(c), .number = c->valuedouble, .file = w->file, .parent = parent};
    v->at = (size_t)(w->s - w->file->text);
    if (c->string)
        v->key = arena_string(w->mem, c->string);
    if (v->kind == JSON_TEXT) {
        v->text = arena_string(w->mem, c->valuestring);
        w->s = skip_string(w->s);
    } else if (v->kind < JSON_TEXT)
        w->s += strcspn(w->s, ",]} \t\r\n");
    else {
        json **last = &v->first;
        w->s++; /* the bracket; later a comma */
        for (const cJSON *i = c->child; i; i = i->next, w->s = skip_blanks(w->s) + 1) {
            if (v->kind == JSON_OBJECT) /* the key and its colon */
                w->s = skip_blanks(skip_string(skip_blanks(w->s))) + 1;
            *last = convert(w, i, v);
            last = &(*last)->next;
        }
        if (!c->child)
            w->s = skip_blanks(w->s) + 1;
    }
    return v;
}

static int by_key(const void *a, const void *b)
{
    return strcmp((*(const json *const *)a)->key, (*(const json *const *)b)->key);
}

/* Sorted, since a file may have 100,000 keys. The second one of two is at fault. */
static bool check_keys(const json *v, err *e) /* comments may repeat */
{
    size_t n = 0;
    for (const json *i = v->first; i; i = i->next, n++)
        if (!check_keys(i, e))
            return false;
    if (v->kind != JSON_OBJECT || n < 2)
        return true;
    ENDED_BY(heap_free) const json **all = heap_array(n, sizeof *all);
    n = 0;
    for (const json *i = v->first; i; i = i->next)
        all[n++] = i;
    qsort(all, n, sizeof *all, by_key);
    bool ok = true;
    for (size_t i = 1; ok && i < n; i++)
        if (!strcmp(all[i - 1]->key, all[i]->key) && strcmp(all[i]->key, "//"))
            ok = json_refuse(e, all[i - 1]->at > all[i]->at ? all[i - 1] : all[i], TS_BAD_INPUT, "the key \"%s\" twice",
                             all[i]->key);
    return ok;
}

/* The text is copied: places are worked out from it when a message asks for one. */
json *json_read(arena *mem, const char *name, const char *source, size_t n, int depth, err *e)
{
    json_file *f = arena_get(mem, sizeof *f);
    char *own = arena_get(mem, n + 1); /* zeroed: terminated */
    memcpy(own, source, n);
    *f = (json_file){arena_string(mem, name), own};
    if (!check_bytes(f, n, depth, e))
        return NULL;
    const char *end = own;
    cJSON *c = cJSON_ParseWithLengthOpts(own, n + 1, &end, true);
    if (!c)
        return not_json(f, (size_t)(end - own), e), NULL;
    walk w = {mem, f, strncmp(own, "\xEF\xBB\xBF", 3) ? own : own + 3};
    json *v = convert(&w, c, NULL);
    cJSON_Delete(c);
    return check_keys(v, e) ? v : NULL;
}

/* ---- use ---- */
json *json_get(const json *object, const char *key)
{
    for (json *i = object->first; i; i = i->next)
        if (i->key && !strcmp(i->key, key))
            return i;
    return NULL;
}

size_t json_count(const json *list)
{
    size_t n = 0;
    for (const json *i = list ? list->first : NULL; i; i = i->next)
        n++;
    return n;
}

const char *json_kind_name(json_kind k)
{
    static const char *const name[] = {"null", "a truth value", "a number", "text", "a list", "an object"};
    return name[k];
}

bool json_want(const json *v, json_kind kind, err *e)
{
    if (v->kind == kind)
        return true;
    return json_refuse(e, v, TS_BAD_INPUT, "%s expected, not %s", json_kind_name(kind), json_kind_name(v->kind));
}

/* As the file has it, to its end or to 40 bytes; a list or object by its name. */
bool json_expect(const json *v, const char *want, err *e)
{
    enum { SHOWN = 40 };
    const json *from = v->origin ? v->origin : v;
    const char *s = from->file->text + from->at;
    size_t n = 1;
    if (v->kind == JSON_LIST || v->kind == JSON_OBJECT)
        return json_refuse(e, v, TS_BAD_INPUT, "%s expected, not %s", want, json_kind_name(v->kind));
    if (v->kind == JSON_TEXT)
        while (s[n] && s[n] != '"' && n < SHOWN)
            n += s[n] == '\\' && s[n + 1] ? 2 : 1;
    else
        n = strcspn(s, ",]} \t\r\n");
    const bool whole = n < SHOWN;
    n = whole ? n + (v->kind == JSON_TEXT) : SHOWN;
    return json_refuse(e, v, TS_BAD_INPUT, "%s expected, not %.*s%s", want, (int)n, s, whole ? "" : "...");
}

/* From the text, since cJSON's double would round beyond 2^53. */
bool json_whole(const json *v, int64_t *out)
{
    char *end;
    if (v->kind != JSON_NUMBER)
        return false;
    errno = 0;
    *out = strtoll(v->file->text + v->at, &end, 10);
    return !errno && *end != '.' && *end != 'e' && *end != 'E';
}

/* One segment of a pointer, unescaped; NULL at the end. *bad: an escape that is none. */
static char *segment(arena *mem, const char **pointer, bool *bad)
{
    if (**pointer != '/')
        return *bad = *bad || **pointer, NULL;
    const size_t n = strcspn(++*pointer, "/");
    char *out = arena_get(mem, n + 1), *to = out;
    for (const char *s = *pointer, *end = s + n; s < end; s++) {
        const bool escape = *s == '~';
        *bad = *bad || (escape && s[1] != '0' && s[1] != '1');
        *to++ = !escape ? *s : s[1] == '1' ? '/' : '~';
        s += escape && s + 1 < end;
    }
    *pointer += n;
    return out;
}

static json **child(json *v, const char *key) /* the link to it, or the one at the end */
{
    json **link = &v->first;
    char *end;
    const long at = strtol(key, &end, 10);
    const bool whole = *key >= '0' && *key <= '9' && !*end && (*key != '0' || !key[1]);
    for (long i = 0; *link; link = &(*link)->next, i++)
        if (v->kind == JSON_LIST ? whole && i == at : !strcmp((*link)->key, key))
            break;
    return link;
}

bool json_put(arena *mem, json *root, const char *pointer, const json *value, err *e)
{
    json *v = root, **link = NULL;
    const char *rest = pointer, *key = NULL;
    bool bad = false;
    for (char *s; (s = segment(mem, &rest, &bad)) && !bad; key = s) {
        if (link && !*link)
            return json_refuse(e, value, TS_BAD_INPUT, "there is no \"%s\" to go through", key);
        v = link ? *link : v;
        if (v->kind < JSON_LIST)
            return json_refuse(e, value, TS_BAD_INPUT, "%s has no parts", json_kind_name(v->kind));
        link = child(v, s);
    }
    if (bad || !link)
        return json_refuse(e, value, TS_BAD_INPUT, "\"%s\" is no JSON pointer, as \"/rules/0/loops\" is", pointer);
    if (!*link && v->kind == JSON_LIST)
        return json_refuse(e, value, TS_BAD_INPUT, "there is no element %s to put it in place of", key);
    json *put = arena_get(mem, sizeof *put);
    *put = *value;
    put->origin = value->origin ? value->origin : value;
    put->key = v->kind == JSON_OBJECT ? key : NULL;
    put->next = *link ? (*link)->next : NULL;
    *link = put;
    return true;
}

void words_split(const char *s, word_list *out)
{
    int n = 0;
    MUST(strlen(s) < sizeof out->room);
    memcpy(out->room, s, strlen(s) + 1);
    for (char *at = out->room; *at; n++) {
        MUST(n < MAX_WORDS);
        out->word[n] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = 0;
    }
    out->word[n] = NULL;
}

bool json_known(const json *object, const char *keys, err *e)
{
    word_list list;
    words_split(keys, &list);
    for (const json *i = object->first; i; i = i->next) {
        const char *const *k = list.word;
        while (*k && strcmp(*k, i->key))
            k++;
        if (*k || !strcmp(i->key, "//"))
            continue;
        json_refuse(e, i, TS_BAD_INPUT, "unknown key \"%s\"", i->key);
        ENDED_BY(suggest_free) suggestion near = {.word = i->key};
        for (k = list.word; *k; k++)
            suggest_offer(&near, *k);
        suggest_near(&near, "", e);
        return err_hint(e, "the keys here are %s, and \"//\" for comments", text_str(&near.all));
    }
    return true;
}

void json_print(text *t, const json *v)
{
    const bool object = v->kind == JSON_OBJECT;
    if (v->kind == JSON_TEXT)
        json_add(t, "%s", v->text);
    else if (v->kind == JSON_NUMBER)
        json_add(t, "%.17g", v->number);
    else if (v->kind < JSON_TEXT)
        json_add_raw(t, v->kind == JSON_NULL ? "null" : v->truth ? "true" : "false");
    else {
        json_add(t, object ? "{" : "[");
        for (const json *i = v->first; i; i = i->next)
            if (!object || strcmp(i->key, "//")) {
                if (object)
                    json_add(t, "%s:", i->key);
                json_print(t, i);
            }
        text_add(t, object ? "}" : "]");
    }
}
