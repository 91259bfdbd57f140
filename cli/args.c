/* args.c - from argv to nouns and options of one verb. */
#include "cli/args.h"

#include "cli/bug.h"
#include "cli/usage.h"
#include "cli/value.h"
#include "graph/base/suggest.h"

#include <stdlib.h>
#include <string.h>

typedef struct reader {
    args *a;
    int argc, at;
    char **argv;
    ts_error *e;
} reader;

/* The nearest name of all groups that the verb takes is offered. */
static bool unknown_option(reader *r, const char *name)
{
    const verb *v = r->a->verb;
    err_set(r->e, TS_USAGE, "%s has no option --%s", v->name, name);
    ENDED_BY(suggest_free) suggestion near = {.word = name};
    const option *o;
    for (int i = 0; (o = verb_option_at(v, i)); i++)
        suggest_offer(&near, o->name);
    if (!suggest_near(&near, "--", r->e))
        err_hint(r->e, "tessera help %s lists its options", v->name);
    return false;
}

/* "-threads" most likely lacks a dash. */
static bool unknown_letter(reader *r, const char *arg, const char *letter)
{
    const verb *v = r->a->verb;
    err_set(r->e, TS_USAGE, "%s has no option -%.1s", v->name, letter);
    size_t length = strcspn(arg + 1, "=");
    char name[64] = "";
    if (length < sizeof name)
        memcpy(name, arg + 1, length);
    if (length > 1 && verb_option(v, name))
        err_hint(r->e, "did you mean --%s?", name);
    else
        err_hint(r->e, "tessera help %s lists its options", v->name);
    return false;
}

/* Checked as it is read, so that a verb may convert it without asking again. */
static bool record(reader *r, const option *o, const char *value)
{
    if (value && !value_check(o, value, r->e))
        return false;
    r->a->given[r->a->n_given++] = (given){o, value};
    return true;
}

/* The value of an option that did not bring it along: the next argument. One that looks like an option is taken for a
 * forgotten value. */
static bool record_next(reader *r, const option *o)
{
    const char *next = r->at + 1 < r->argc ? r->argv[r->at + 1] : NULL;
    int64_t number;
    if (next && (next[0] != '-' || !next[1] || value_integer(next, &number))) {
        r->at++;
        return record(r, o, next);
    }
    err_set(r->e, TS_USAGE, "--%s needs a value: %s", o->name, o->value);
    if (next && strcmp(next, "--") != 0)
        err_hint(r->e, "if \"%s\" is the value, write --%s=%s", next, o->name, next);
    return false;
}

/* --name VALUE and --name=VALUE are the same. */
static bool read_long(reader *r, const char *arg)
{
    const char *equals = strchr(arg, '=');
    size_t length = equals ? (size_t)(equals - arg) : strlen(arg);
    char name[64];
    if (length >= sizeof name)
        return unknown_option(r, arg);
    memcpy(name, arg, length);
    name[length] = 0;
    const option *o = verb_option(r->a->verb, name);
    if (!o)
        return unknown_option(r, name);
    if (o->kind != FLAG)
        return equals ? record(r, o, equals + 1) : record_next(r, o);
    if (equals)
        return err_set(r->e, TS_USAGE, "--%s takes no value, \"%s\" was given", name, equals + 1);
    return record(r, o, NULL);
}

/* -q, -sFILE, -s FILE, -qsFILE. */
static bool read_letters(reader *r, const char *arg)
{
    for (const char *c = arg + 1; *c; c++) {
        const option *o = verb_letter(r->a->verb, *c);
        if (!o)
            return unknown_letter(r, arg, c);
        if (o->kind == FLAG) {
            if (!record(r, o, NULL))
                return false;
            continue;
        }
        return c[1] ? record(r, o, c + 1) : record_next(r, o);
    }
    return true;
}

/* Options and nouns in any order; behind "--" all are nouns. "-" alone is a noun, too: standard input. */
static bool read_all(reader *r)
{
    bool only_nouns = false;
    for (; r->at < r->argc; r->at++) {
        const char *arg = r->argv[r->at];
        bool ok = true;
        if (only_nouns || arg[0] != '-' || !arg[1])
            r->a->noun[r->a->n_nouns++] = arg;
        else if (strcmp(arg, "--") == 0)
            only_nouns = true;
        else if (arg[1] == '-')
            ok = read_long(r, arg + 2);
        else
            ok = read_letters(r, arg);
        if (!ok)
            return false;
    }
    return true;
}

/* Before anything is parsed: help is given, and errors come as JSON, even where other arguments are wrong. */
static bool holds(int argc, char **argv, const char *word)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], word) == 0)
            return true;
    }
    return false;
}

bool args_parse(args *a, const verb *v, int argc, char **argv, ts_error *e)
{
    *a = (args){.verb = v,
                .form = "",
                .console = console_make(NULL, false, verb_answers_json(v) && holds(argc, argv, "--json"))};
    a->help = holds(argc, argv, "--help") ? HELP_WHOLE : holds(argc, argv, "-h") ? HELP_BRIEF : HELP_NONE;
    if (a->help)
        return true;
    size_t room = 1;
    for (int i = 0; i < argc; i++)
        room += strlen(argv[i]) + 1; /* letters may be several options to an argument */
    a->noun = heap_array((size_t)argc + 1, sizeof *a->noun);
    a->given = heap_array(room, sizeof *a->given);
    reader r = {.a = a, .argc = argc, .argv = argv, .e = e};
    if (!read_all(&r) || !config_read(&a->config, e))
        return false;
    a->console = console_make(args_text(a, "color"), args_flag(a, "quiet"),
                              verb_answers_json(v) && args_flag(a, "json"));
    return usage_match(v, a->noun, &a->n_nouns, &a->form, e);
}

void args_free(args *a)
{
    free(a->noun);
    free(a->given);
    config_free(&a->config);
}

const char *args_noun(const args *a, int i)
{
    return i < a->n_nouns ? a->noun[i] : NULL;
}

/* A misspelt name would otherwise be an option that nobody ever gives. */
static const option *declared(const args *a, const char *name)
{
    const option *o = verb_option(a->verb, name);
    if (!o)
        fail_bug("a verb asks for an option that it does not declare", name);
    return o;
}

int args_count(const args *a, const char *name)
{
    const option *o = declared(a, name);
    int n = 0;
    for (int i = 0; i < a->n_given; i++)
        n += a->given[i].option == o;
    return n;
}

const char *args_at(const args *a, const char *name, int i)
{
    const option *o = declared(a, name);
    for (int g = 0; g < a->n_given; g++) {
        if (a->given[g].option == o && i-- == 0)
            return a->given[g].value;
    }
    return NULL;
}

const char **args_list(const args *a, const char *name, int *n)
{
    *n = args_count(a, name);
    const char **list = heap_array((size_t)*n + 2, sizeof *list);
    for (int i = 0; i < *n; i++)
        list[i] = args_at(a, name, i);
    return list;
}

/* What the settings say of an option; NULL: nothing. */
static const char *settled(const args *a, const char *name)
{
    const struct settled *s = setting_of(&a->config, name);
    return s ? s->value : NULL;
}

bool args_flag(const args *a, const char *name)
{
    const char *set = settled(a, name);
    return args_count(a, name) > 0 || (set && strcmp(set, "true") == 0);
}

/* The last one counts, so that a script's own options can be overridden behind it. */
const char *args_text(const args *a, const char *name)
{
    const int n = args_count(a, name);
    const char *set = settled(a, name);
    return n ? args_at(a, name, n - 1) : set ? set : declared(a, name)->usual;
}

int64_t args_integer(const args *a, const char *name)
{
    const char *s = args_text(a, name);
    int64_t v = 0;
    if (s)
        (declared(a, name)->kind == BYTES ? value_bytes : value_integer)(s, &v);
    return v;
}

double args_number(const args *a, const char *name)
{
    const char *s = args_text(a, name);
    const value_kind kind = declared(a, name)->kind;
    double v = 0;
    if (s)
        (kind == PERCENT ? value_percent : kind == NUMBER ? value_number : value_seconds)(s, &v);
    return v;
}

const char *args_needed(const args *a, const char *name, const char *remedy, ts_error *e)
{
    const char *s = args_text(a, name);
    if (!s)
        err_set(e, TS_USAGE, "%s: --%s is missing", a->verb->name, name), err_hint(e, "%s", remedy);
    return s;
}

/* What an option cannot mean is said, rather than ignored. */
bool args_refuse(const args *a, const char *const *names, const char *remedy, ts_error *e)
{
    char before[128];
    snprintf(before, sizeof before, "%s%s%s: ", a->verb->name, *a->form ? " " : "", a->form);
    return args_clash(a, names, before, " means nothing here", remedy, e);
}

bool args_clash(const args *a, const char *const *names, const char *before, const char *why, const char *remedy,
                ts_error *e)
{
    for (; *names; names++)
        if (args_count(a, *names)) {
            err_set(e, TS_USAGE, "%s--%s%s", before, *names, why);
            return err_hint(e, "%s", remedy);
        }
    return true;
}

bool args_clashes(const args *a, int n, const clash *of, ts_error *e)
{
    bool ok = true;
    for (const clash *c = of; ok && c < of + n; c++)
        if (c->with ? args_count(a, c->with) : !args_count(a, c->without))
            ok = args_clash(a, c->names, c->before, c->why, c->remedy, e);
    return ok;
}
