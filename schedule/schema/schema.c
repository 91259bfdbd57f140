/* schema.c - finding and reading schema files: what they extend, what they override there, and their rules.
 *
 * The rules that count are the file's own, then those of the schema that it extends, with the overrides put in.
 * Pointers of "override" lead into the schema extended as it stands, before any rule of the file itself comes
 * in front. */
#include "schedule/schema/schema.h"
#include "graph/base/formats.h"
#include "graph/base/suggest.h"
#include "schedule/schema/rule.h"
#include "schedule/schema/schemas.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RULES = 1024, MAX_EXTENDS = 8, SCHEMA_DEPTH = 32, SCHEMA_BYTES = 1 << 20 };
static const char guess_name[] = "guess";

typedef struct loading {
    arena *mem;
    const char *target;
    const schema_use *use;
    int n;
    const char *chain[MAX_EXTENDS]; /* from the one asked for to the one being read */
    err *e;
} loading;

static bool ends_in_json(const char *s)
{
    const size_t n = strlen(s);
    return n > 5 && !strcmp(s + n - 5, ".json");
}

/* Each target has its own: a schema says roles and spaces, which are the target's. */
static const builtin_schema *builtin(const char *by, const char *name)
{
    for (const builtin_schema *b = builtin_schemas; b->name; b++)
        if (!strcmp(b->target, by) && !strcmp(b->name, name))
            return b;
    return NULL;
}

/* "no schema "x"", with those that there are; from: who asks, NULL for the person. */
static bool no_schema(loading *l, const char *what, const json *from)
{
    ENDED_BY(suggest_free) suggestion near = {.word = what};
    suggest_offer(&near, guess_name);
    for (const builtin_schema *b = builtin_schemas; b->name; b++)
        if (!strcmp(b->target, l->target))
            suggest_offer(&near, b->name);
    if (from)
        json_refuse(l->e, from, TS_BAD_INPUT, "no schema \"%s\" is built in for target %s", what, l->target);
    else
        err_set(l->e, TS_BAD_INPUT, "no schema \"%s\" is built in for target %s", what, l->target);
    suggest_near(&near, "", l->e);
    return err_hint(l->e, "built in are: %s; files end in .json or have a / in their path", text_str(&near.all));
}

/* from: the "extends" that leads there, which the message points at; NULL for the command line. */
static json *read_source(loading *l, const char *what, bool file, const json *from)
{
    ENDED_BY(text_free) text t = {0};
    json *root = NULL;
    if (!file) {
        const builtin_schema *b = builtin(l->target, what);
        if (!b)
            return no_schema(l, what, from), NULL;
        return json_read(l->mem, arena_format(l->mem, "%s (built in)", what), b->text, strlen(b->text), SCHEMA_DEPTH,
                         l->e);
    }
    err own = {0};
    if (file_read(what, SCHEMA_BYTES, &t, &own))
        root = json_read(l->mem, what, t.s, t.length, SCHEMA_DEPTH, l->e);
    else if (from)
        json_refuse(l->e, from, own.code, "%s", own.text);
    else
        err_set(l->e, own.code, "%s", own.text);
    return root;
}

static bool load_rules(loading *l, const char *what, bool file, const json *from, json **top, json **rules);

/* Where "extends" leads: the rules there, or none for the guess. */
static bool load_base(loading *l, const json *v, const char *here, bool file, json **rules)
{
    json *top;
    *rules = NULL;
    if (!json_want(v, JSON_TEXT, l->e))
        return false;
    if (!strcmp(v->text, guess_name))
        return true;
    if (strchr(v->text, '/')) {
        json_refuse(l->e, v, TS_BAD_INPUT, "extends \"%s\" leads out of the file's folder", v->text);
        return err_hint(l->e, "extends takes a file of the same folder, a built-in schema, or \"guess\"");
    }
    if (!ends_in_json(v->text))
        return load_rules(l, v->text, false, v, &top, rules);
    if (!file)
        return json_refuse(l->e, v, TS_BAD_INPUT, "a built-in schema extends built-in ones only");
    const char *slash = strrchr(here, '/');
    const char *path = arena_format(l->mem, "%.*s%s", slash ? (int)(slash - here + 1) : 0, here, v->text);
    return load_rules(l, path, true, v, &top, rules);
}

/* "/rules/N" and what follows: whether there is a rule N. */
static bool has_rule(loading *l, const json *key, const json *extends, const json *rules)
{
    const char *number = key->key + strlen("/rules/");
    int n = 0;
    for (const json *r = rules->first; r; r = r->next)
        n++;
    char *end;
    const long asked = strtol(number, &end, 10);
    if (end == number || (*end && *end != '/') || (asked >= 0 && asked < n))
        return true; /* said by who looks for it */
    return json_refuse(l->e, key, TS_BAD_INPUT,
                       n == 0   ? "\"%s\" has no rules"
                       : n == 1 ? "\"%s\" has rule 0 only"
                       : n == 2 ? "\"%s\" has only rules 0 and 1"
                                : "\"%s\" has only rules 0 to %d",
                       extends->text, n - 1);
}

static bool override(loading *l, const json *v, const json *extends, json *base)
{
    json root = {.kind = JSON_OBJECT, .first = base, .file = v->file, .at = v->at};
    if (!json_want(v, JSON_OBJECT, l->e))
        return false;
    if (!extends)
        return json_refuse(l->e, v, TS_BAD_INPUT, "\"override\" without \"extends\": there is nothing to override");
    for (const json *i = v->first; i; i = i->next) {
        if (!strcmp(i->key, "//"))
            continue;
        if (strncmp(i->key, "/rules/", 7))
            return json_refuse(l->e, i, TS_BAD_INPUT, "\"%s\": only what is under \"/rules/\" can be overridden",
                               i->key);
        if (base && !has_rule(l, i, extends, base))
            return false;
        if (!json_put(l->mem, &root, i->key, i, l->e))
            return false;
    }
    return true;
}

/* A schema without "target" is for all of them. */
static bool check_top(loading *l, const json *top)
{
    const char *const format = FORMAT_TILING;
    const json *v;
    if (!json_want(top, JSON_OBJECT, l->e))
        return false;
    if (!(v = json_get(top, "format"))) {
        json_refuse(l->e, top, TS_BAD_INPUT, "no \"format\"");
        return err_hint(l->e, "a schema starts { \"format\": \"%s\", ...", format);
    }
    if (!json_want(v, JSON_TEXT, l->e))
        return false;
    if (strcmp(v->text, format))
        return json_refuse(l->e, v, TS_BAD_INPUT, "format \"%s\" is not known; this is \"%s\"", v->text, format);
    if (!json_known(top, "format name extends override target rules", l->e))
        return false;
    if ((v = json_get(top, "name")) && !json_want(v, JSON_TEXT, l->e))
        return false;
    if ((v = json_get(top, "target"))) {
        if (!json_want(v, JSON_TEXT, l->e))
            return false;
        if (strcmp(v->text, l->target) && (!l->use->kind || strcmp(v->text, l->use->kind)))
            return json_refuse(l->e, v, TS_BAD_INPUT, "the schema is for target \"%s\", the plan for \"%s\"", v->text,
                               l->target);
    }
    return true;
}

/* Own rules in front of the others; where messages say they stand does not change. */
static json *join(arena *mem, json *own, json *base)
{
    json *all = arena_get(mem, sizeof *all), **end = &all->first;
    *all = own ? *own : (json){.kind = JSON_LIST};
    all->key = "rules", all->next = NULL;
    if (base) {
        while (*end)
            end = &(*end)->next;
        *end = base->first;
    }
    return all;
}

static bool load_rules(loading *l, const char *what, bool file, const json *from, json **top, json **rules)
{
    json *base = NULL, *own, *v;
    for (int i = 0; i < l->n; i++)
        if (!strcmp(l->chain[i], what))
            return json_refuse(l->e, from, TS_BAD_INPUT, "\"%s\" extends itself", what);
    if (l->n == MAX_EXTENDS)
        return json_refuse(l->e, from, TS_BAD_INPUT, "%d schemas extend each other, at most %d expected", l->n + 1,
                           MAX_EXTENDS);
    l->chain[l->n++] = what;
    if (!(*top = read_source(l, what, file, from)) || !check_top(l, *top))
        return false;
    const json *extends = json_get(*top, "extends");
    if (extends && !load_base(l, extends, what, file, &base))
        return false;
    if ((own = json_get(*top, "rules")) && !json_want(own, JSON_LIST, l->e))
        return false;
    if (!own && !extends)
        return json_refuse(l->e, *top, TS_BAD_INPUT, "neither \"rules\" nor \"extends\"");
    base = join(l->mem, base, NULL);
    if ((v = json_get(*top, "override")) && !override(l, v, extends, base))
        return false;
    *rules = join(l->mem, own, base);
    return true;
}

/* Of the rules that count, extended and overridden: two files with the same rules have one hash. */
static void hash_rules(const json *rules, char hex[65])
{
    ENDED_BY(text_free) text t = {0};
    hasher *h = hash_open();
    json_print(&t, rules);
    hash_bytes(h, t.s, t.length);
    const digest d = hash_close(h);
    digest_hex(&d, hex);
}

static bool check_target(const rule *r, const char *name, const char *const *known, err *e)
{
    ENDED_BY(suggest_free) suggestion near = {.word = name};
    for (; *known; suggest_offer(&near, *known++))
        if (!strcmp(*known, name))
            return true;
    err_set(e, TS_BAD_INPUT, "%s: there is no target \"%s\"", r->target_place, name);
    return suggest_hint(&near, "rules are for back ends or kinds of machines:", e);
}

/* A rule for a target that does not exist would never be used, and nobody told. known NULL: whoever asks knows no other
 * targets, and takes any name. */
static bool check_targets(const schema *s, const schema_use *by, err *e)
{
    for (int i = 0; by->known && i < s->n_rule; i++)
        for (int k = 0; k < s->rule[i].n_target; k++)
            if (!check_target(&s->rule[i], s->rule[i].target[k], by->known, e))
                return false;
    return true;
}

/* Rules that name targets count for these only. */
void schema_set_aside(arena *mem, schema *s, const schema_use *by)
{
    bool *aside = arena_array(mem, (size_t)s->n_rule + 1, sizeof *aside);
    for (int i = 0; i < s->n_rule; i++) {
        const rule *r = &s->rule[i];
        aside[i] = r->n_target > 0;
        for (int k = 0; k < r->n_target; k++)
            if (!strcmp(r->target[k], by->by) || (by->kind && !strcmp(r->target[k], by->kind)))
                aside[i] = false;
    }
    s->aside = aside;
}

/* what: a built-in schema's name, a path, NULL for the guess, which has no rules. */
bool schema_load(arena *mem, const char *what, const schema_use *by, schema *out, err *e)
{
    loading l = {.mem = mem, .target = by->by, .use = by, .e = e};
    json *top, *rules = &(json){.kind = JSON_LIST}, *name;
    *out = (schema){.name = guess_name, .source = "built in"};
    const bool guess = !what || !strcmp(what, guess_name);
    const bool file = !guess && (strchr(what, '/') || ends_in_json(what));
    if (!guess) {
        if (!load_rules(&l, what, file, NULL, &top, &rules))
            return false;
        const char *slash = strrchr(what, '/');
        out->name = (name = json_get(top, "name")) ? name->text : arena_string(mem, slash ? slash + 1 : what);
        out->source = file ? arena_string(mem, what) : out->source;
    }
    hash_rules(rules, out->hash);
    const int n = (int)json_count(rules);
    if (n > MAX_RULES)
        return json_refuse(e, rules, TS_BAD_INPUT, "%d rules, at most %d expected", n, MAX_RULES);
    out->rule = arena_array(mem, (size_t)n + 1, sizeof *out->rule);
    for (const json *i = rules->first; i; i = i->next, out->n_rule++)
        if (!rule_read(mem, by->g, i, out->n_rule, &out->rule[out->n_rule], e))
            return false;
    schema_set_aside(mem, out, by);
    return check_targets(out, by, e);
}

/* For free(). */
char *schema_text(const char *name, const char *by, err *e)
{
    loading l = {.target = by, .e = e};
    const builtin_schema *b = builtin(l.target, name);
    text t = {0};
    if (b)
        return text_add(&t, "%s", b->text), text_take(&t);
    if (strcmp(name, guess_name))
        return no_schema(&l, name, NULL), NULL;
    err_set(e, TS_BAD_INPUT, "the schema \"%s\" is no file: it depends on the model", name);
    return err_hint(e, "tessera schema init MODEL prints what it amounts to"), NULL;
}

char *ts_schemas_json(void) /* {"TARGET": ["NAME", ...], ...} */
{
    text t = {0};
    const builtin_schema *before = NULL;
    text_add(&t, "{");
    for (const builtin_schema *b = builtin_schemas; b->name; before = b++) {
        if (!before || strcmp(before->target, b->target))
            text_add(&t, before ? "]" : ""), json_add(&t, before ? "\n %s:[" : "%s:[", b->target);
        json_add(&t, "%s", b->name);
    }
    text_add(&t, before ? "]}\n" : "}\n");
    return text_take(&t);
}
