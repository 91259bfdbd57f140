/* config.c - levels of settings: variables and files.
 *
 * Of TOML a file has lines "name = value" and comments, which # begins; a value is a number, true, false or a text
 * between double quotes, in which a backslash stands before a quote and before itself. Nobody vouches for a folder's
 * file: it is there wherever somebody goes, so it may not say which programs run. */
#include "cli/config.h"

#include "cli/value.h"
#include "graph/base/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MOST = 64 << 10, NAME_MOST = 40 };
static const char prefix[] = "TESSERA_";

/* What no option says: the library asks for it by itself. */
static const option programs[] = {
    {"cc", 0, WORD, "PROGRAM", "the C compiler: a name or a path", "gcc, cc or clang", false, 0, 0},
};

/* ---- the table ---- */
static const struct {
    const char *name;      /* an option's, of the verb config too, or one of the programs' */
    const option *program; /* NULL: it is an option */
    bool own;              /* it decides which programs run: the person's to say */
} settings_table[] = {
    {"target", NULL, false},   {"threads", NULL, false},    {"isa", NULL, false},       {"machine", NULL, false},
    {"cache-dir", NULL, true}, {"as-written", NULL, false}, {"bits", NULL, false},      {"mem-limit", NULL, false},
    {"color", NULL, false},    {"quiet", NULL, false},      {"cc", &programs[0], true},
};
_Static_assert(COUNT(settings_table) <= SETTINGS_MOST, "a config has room for all");

const option *setting_at(int i)
{
    if (i >= COUNT(settings_table))
        return NULL;
    return settings_table[i].program ? settings_table[i].program
                                     : verb_option(verb_find("config"), settings_table[i].name);
}

const char *setting_variable(const option *o, char out[SETTING_VARIABLE])
{
    snprintf(out, SETTING_VARIABLE, "%s%s", prefix, o->name);
    for (char *c = out; *c; c++)
        *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    return out;
}

static int find(const char *name)
{
    int i = COUNT(settings_table) - 1;
    while (i >= 0 && strcmp(settings_table[i].name, name) != 0)
        i--;
    return i;
}

const struct settled *setting_of(const config *s, const char *name)
{
    const int i = find(name);
    return i < 0 ? NULL : &s->of[i];
}

static char *format(const char *form, const char *what)
{
    text t = {0};
    text_add(&t, form, what);
    return text_take(&t);
}

static bool put(config *s, int i, const char *value, const char *from, ts_error *e)
{
    const option *o = setting_at(i);
    const bool flag = o->kind == FLAG, truth = !strcmp(value, "true") || !strcmp(value, "false");
    if (flag ? !truth && !err_set(e, TS_USAGE, "%s \"%s\": must be true or false", o->name, value)
             : !value_check(o, value, e))
        return err_in(e, "%s", from);
    free(s->of[i].value), free(s->of[i].from);
    s->of[i] = (struct settled){format("%s", value), format("%s", from)};
    return true;
}

/* ---- files ---- */
typedef struct reader {
    config *s;
    const char *at, *path;
    int line;
    bool own;                /* the person's */
    int seen[SETTINGS_MOST]; /* the line that has it */
    ts_error *e;
} reader;

static bool wrong(const reader *r, const char *what)
{
    err_set(r->e, TS_USAGE, "%s:%d: %s", r->path, r->line, what);
    return err_hint(r->e,
                    "a line is NAME = VALUE, of a text in \"quotes\", a number, true or false; # begins a comment");
}

static void skip_blanks(reader *r)
{
    r->at += strspn(r->at, " \t\r");
}

static bool read_name(reader *r, char name[NAME_MOST])
{
    size_t n = 0;
    while (isalnum((unsigned char)r->at[n]) || r->at[n] == '-' || r->at[n] == '_')
        n++;
    if (n == 0 || n >= NAME_MOST)
        return wrong(r, n ? "a name as long as no setting's" : "expected the name of a setting");
    memcpy(name, r->at, n);
    name[n] = 0;
    r->at += n;
    skip_blanks(r);
    return *r->at == '=' ? r->at++, skip_blanks(r), true : wrong(r, "expected = behind the name");
}

static bool read_quoted(reader *r, text *value)
{
    for (r->at++; *r->at != '"'; r->at++) {
        if (*r->at == '\\' && (r->at[1] == '"' || r->at[1] == '\\'))
            r->at++;
        else if ((unsigned char)*r->at < ' ' || *r->at == '\\' || *r->at == 127)
            return wrong(r, "expected the end of the text, a quote, on its line; \\ stands before \" and \\ alone");
        text_bytes(value, r->at, 1);
    }
    return r->at++, true;
}

static bool read_value(reader *r, text *value)
{
    const size_t n = strcspn(r->at, " \t\r\n#");
    double number;
    if (*r->at == '"')
        return read_quoted(r, value);
    text_bytes(value, r->at, n);
    r->at += n;
    const char *s = text_str(value);
    return strcmp(s, "true") == 0 || strcmp(s, "false") == 0 || value_number(s, &number) ||
           wrong(r, "expected a text in quotes, a number, true or false");
}

static bool unknown(const reader *r, const char *name)
{
    err_set(r->e, TS_USAGE, "%s:%d: there is no setting \"%s\"", r->path, r->line, name);
    ENDED_BY(suggest_free) suggestion near = {.word = name};
    for (int i = 0; i < COUNT(settings_table); i++)
        suggest_offer(&near, settings_table[i].name);
    if (!suggest_near(&near, "", r->e))
        err_hint(r->e, "tessera config lists them");
    return false;
}

static bool take(reader *r, const char *name, const char *value)
{
    const int i = find(name);
    char from[512], variable[SETTING_VARIABLE];
    if (i < 0)
        return unknown(r, name);
    const option *o = setting_at(i);
    if (settings_table[i].own && !r->own) {
        err_set(r->e, TS_USAGE, "%s:%d: a folder's file may not say \"%s\": it decides which programs run", r->path,
                r->line, name);
        return err_hint(r->e, "%s says it, or a file of your own: %s", setting_variable(o, variable),
                        r->s->file[0] ? r->s->file[0] : "tessera/tessera.toml in XDG_CONFIG_HOME");
    }
    if (r->seen[i]) {
        err_set(r->e, TS_USAGE, "%s:%d: \"%s\" is set in line %d already", r->path, r->line, name, r->seen[i]);
        return err_hint(r->e, "leave one of them out");
    }
    r->seen[i] = r->line;
    snprintf(from, sizeof from, "%s:%d", r->path, r->line);
    return put(r->s, i, value, from, r->e);
}

static bool read_line(reader *r)
{
    char name[NAME_MOST];
    ENDED_BY(text_free) text value = {0};
    skip_blanks(r);
    bool ok = true;
    if (*r->at != '#' && *r->at != '\n' && *r->at) {
        ok = read_name(r, name) && read_value(r, &value);
        skip_blanks(r);
        ok = ok && (!*r->at || strchr("\n#", *r->at) || wrong(r, "expected the end of the line behind the value")) &&
             take(r, name, text_str(&value));
    }
    r->at += strcspn(r->at, "\n");
    return ok;
}

static bool read_file(config *s, int which, ts_error *e)
{
    reader r = {.s = s, .path = s->file[which], .own = which == 0, .e = e};
    struct stat st;
    ENDED_BY(text_free) text t = {0};
    if (!r.path || stat(r.path, &st) != 0)
        return true;
    s->found[which] = true;
    if (!S_ISREG(st.st_mode))
        return err_set(e, TS_FILES, "%s: settings are read from a file, and this is none", r.path);
    bool ok = file_read(r.path, FILE_MOST, &t, e);
    if (ok && strlen(text_str(&t)) != t.length)
        ok = err_set(e, TS_USAGE, "%s: it holds a byte 0, and is no text", r.path);
    r.at = text_str(&t);
    for (r.line = 1; ok && *r.at; r.line++) {
        ok = read_line(&r);
        r.at += *r.at == '\n';
    }
    return ok;
}

/* ---- variables ---- */
/* Other programs may have variables that begin alike: only what looks like a slip is one. */
static bool check_names(ts_error *e)
{
    const char *pair;
    for (int i = 0; (pair = env_next(prefix, i)); i++) {
        char name[SETTING_VARIABLE], all[SETTINGS_MOST][SETTING_VARIABLE];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(pair, "="), pair);
        ENDED_BY(suggest_free) suggestion near = {.word = name + strlen(prefix)};
        const option *o;
        for (int k = 0; (o = setting_at(k)); k++)
            suggest_offer(&near, setting_variable(o, all[k]) + strlen(prefix));
        ts_error own = {0};
        err_set(&own, TS_USAGE, "the environment: there is no setting %s", name);
        if (near.distance > 0 && suggest_near(&near, prefix, &own))
            return *e = own, false;
    }
    return true;
}

static bool read_variables(config *s, ts_error *e)
{
    const option *o;
    for (int i = 0; (o = setting_at(i)); i++) {
        char variable[SETTING_VARIABLE];
        const char *value = env_text(setting_variable(o, variable));
        if (value && !put(s, i, value, variable, e))
            return false;
        if (!value && settings_table[i].program && s->of[i].value)
            setenv(variable, s->of[i].value, 1);
    }
    return check_names(e);
}

bool config_read(config *s, ts_error *e)
{
    const char *base = env_folder("XDG_CONFIG_HOME"), *home = env_folder("HOME");
    s->file[1] = format("%s", "tessera.toml");
    if (base)
        s->file[0] = format("%s/tessera/tessera.toml", base);
    else if (home)
        s->file[0] = format("%s/.config/tessera/tessera.toml", home);
    return read_file(s, 0, e) && read_file(s, 1, e) && read_variables(s, e);
}

void config_free(config *s)
{
    for (int i = 0; i < SETTINGS_MOST; i++)
        free(s->of[i].value), free(s->of[i].from);
    for (int i = 0; i < SETTING_FILES; i++)
        free(s->file[i]);
}
