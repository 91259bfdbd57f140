/* usage.c - matching nouns with usage lines. */
#include "cli/usage.h"

#include "cli/bug.h"
#include "graph/base/err.h"
#include "graph/base/suggest.h"

#include <ctype.h>
#include <string.h>

bool usage_token_next(const char **at, usage_token *out)
{
    const char *s = *at + strspn(*at, " ");
    size_t length = strcspn(s, " \n");
    if (length == 0)
        return false;
    *at = s + length;
    *out = (usage_token){.optional = *s == '['};
    s += out->optional, length -= out->optional;
    size_t word = strcspn(s, ".] \n");
    out->repeats = word + 2 < length && s[word] == '.';
    out->literal = islower((unsigned char)*s) != 0;
    if (word >= USAGE_WORD)
        fail_bug("a usage word is too long", s);
    memcpy(out->word, s, word);
    return true;
}

const char *usage_next(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : NULL;
}

int usage_length(const char *line)
{
    return (int)strcspn(line, "\n");
}

/* The literal word that starts a line, or false. */
static bool literal_of(const char *line, usage_token *out)
{
    return usage_token_next(&line, out) && out->literal;
}

static const char *find_form(const verb *v, const char *word)
{
    for (const char *line = v->usage; line; line = usage_next(line)) {
        usage_token t;
        if (!literal_of(line, &t))
            return line;
        if (word && strcmp(t.word, word) == 0)
            return line;
    }
    return NULL;
}

enum { FORMS = 12 }; /* of one verb, at most */

static bool no_form(const verb *v, const char *word, ts_error *e)
{
    usage_token t[FORMS];
    int n = 0;
    ENDED_BY(suggest_free) suggestion near = {.word = word ? word : ""};
    for (const char *line = v->usage; line && n < FORMS; line = usage_next(line)) {
        if (literal_of(line, &t[n]))
            suggest_offer(&near, t[n++].word);
    }
    if (word)
        err_set(e, TS_USAGE, "%s does not know \"%s\"", v->name, word);
    else
        err_set(e, TS_USAGE, "%s: say what to do", v->name);
    suggest_near(&near, "", e);
    return err_hint(e, "it knows %s; tessera help %s", text_str(&near.all), v->name);
}

static bool check_count(const verb *v, const char *line, const char *form, const char **noun, int n, ts_error *e)
{
    const char *at = line, *gap = *form ? " " : "";
    usage_token t;
    int i = 0;
    bool endless = false;
    if (*form)
        usage_token_next(&at, &t);
    for (; usage_token_next(&at, &t); i++) {
        endless |= t.repeats;
        if (i < n || t.optional)
            continue;
        err_set(e, TS_USAGE, "%s%s%s: %s is missing", v->name, gap, form, t.word);
        err_hint(e, "tessera %s %.*s; see tessera help %s", v->name, usage_length(line), line, v->name);
        return false;
    }
    if (endless || n <= i)
        return true;
    err_set(e, TS_USAGE, "%s%s%s: do not know what to do with \"%s\", %d argument%s expected", v->name, gap, form,
            noun[i], i, i == 1 ? "" : "s");
    const int length = usage_length(line);
    err_hint(e, "tessera %s%s%.*s; see tessera help %s", v->name, length ? " " : "", length, line, v->name);
    return false;
}

bool usage_match(const verb *v, const char **noun, int *n, const char **form, ts_error *e)
{
    const char *line = find_form(v, noun[0]);
    if (!line)
        return no_form(v, noun[0], e);
    usage_token t;
    if (literal_of(line, &t)) {
        *form = noun[0];
        memmove(noun, noun + 1, (size_t)*n * sizeof *noun); /* with the NULL behind the last */
        --*n;
    }
    return check_count(v, line, *form, noun, *n, e);
}
