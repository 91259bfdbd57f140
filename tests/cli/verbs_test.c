/* What must hold of every row of the table of verbs, the ones to come included. */
#include "cli/args.h"
#include "cli/help.h"
#include "cli/value.h"
#include "graph/base/base.h"
#include "graph/base/suggest.h"
#include "tests/check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef void (*page)(FILE *f, const verb *v, bool color);

static void overview(FILE *f, const verb *v, bool color)
{
    (void)v;
    help_overview(f, color);
}

static char *text_of(page write, const verb *v)
{
    char *s = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&s, &n);
    write(f, v, false);
    fclose(f);
    return s;
}

static void fits_a_terminal(page write, const verb *v, int most)
{
    char *s = text_of(write, v);
    int lines = 0;
    for (const char *c = s; *c; lines++) {
        size_t n = strcspn(c, "\n");
        if (!CHECK(n <= HELP_WIDTH))
            fprintf(stderr, "  %.*s\n", (int)n, c);
        c += n + (c[n] == '\n');
    }
    if (!CHECK(lines <= most))
        fprintf(stderr, "  %s: %d lines, wanted %d at most\n", v ? v->name : "overview", lines, most);
    free(s);
}

/* The short page names every option and explains as many as there is room for. */
static void short_page_is_whole(const verb *v)
{
    char *brief = text_of(help_short, v), *whole = text_of(help_verb, v), name[128];
    const option_group *g;
    for (int i = 0; (g = verb_group(v, i)); i++) {
        for (const option *o = g->options; o->name; o++) {
            snprintf(name, sizeof name, "--%s", o->name);
            if (!CHECK(strstr(brief, name) && strstr(whole, name)))
                fprintf(stderr, "  %s -h does not name %s\n", v->name, name);
        }
    }
    if (!CHECK(strlen(brief) < strlen(whole) || !strstr(brief, "More options")))
        fprintf(stderr, "  %s -h is longer than --help\n", v->name);
    CHECK(strstr(brief, v->brief) && strstr(brief, "\n  tessera ") && strstr(brief, " --help "));
    free(brief), free(whole);
}

/* A default that is a value comes from the place that decides it (option_group.usual), and an option takes it: what a
 * brief says by itself is no value, but words. */
static void defaults_are_read(const verb *v, const option_group *g, const option *o)
{
    char usual[OPTION_TEXT_MOST] = "", brief[OPTION_TEXT_MOST];
    const char *said = strstr(o->brief, "(default: ");
    if (o->usual)
        snprintf(usual, sizeof usual, "%s", o->usual);
    else if (g->usual)
        g->usual(o, usual);
    if (!CHECK(!said || !(isdigit((unsigned char)said[10]) || *usual)))
        fprintf(stderr, "  %s --%s says its default by itself: %s\n", v->name, o->name, o->brief);
    CHECK(strstr(option_brief(g, o, brief), *usual ? usual : o->brief));
    ts_error e = {0};
    usual[strcspn(usual, " ;")] = 0; /* "adamw; others: ..." */
    if (*usual && !CHECK(value_check(o, usual, &e)))
        fprintf(stderr, "  %s: the default %s\n", v->name, e.text);
}

static void is_whole(const verb *v)
{
    CHECK(verb_find(v->name) == v);
    CHECK(v->brief[0] && isupper((unsigned char)v->brief[0]) && v->brief[strlen(v->brief) - 1] != '.');
    CHECK(v->usage && v->run && v->examples && v->examples[0]);
    const option_group *g;
    for (int i = 0; (g = verb_group(v, i)); i++) {
        for (const option *o = g->options; o->name; o++) {
            if (!CHECK(verb_option(v, o->name) == o && (!o->letter || verb_letter(v, o->letter) == o)))
                fprintf(stderr, "  %s --%s is declared twice\n", v->name, o->name);
            CHECK(o->brief && o->brief[0] && (o->kind == FLAG) == !o->value);
            CHECK((o->kind == INTEGER || o->kind == NUMBER) == (o->least < o->most));
            defaults_are_read(v, g, o);
        }
    }
}

/* An example up to its # or | is a command line that its verb accepts. */
static void example_parses(const verb *v, const char *example)
{
    char line[512];
    snprintf(line, sizeof line, "%s", example);
    line[strcspn(line, "#|>")] = 0;
    char *words[64], *rest = line;
    int n = 0;
    for (char *w; n < 64 && (w = strsep(&rest, " "));)
        if (*w)
            words[n++] = w;
    if (!CHECK(n >= 2 && strcmp(words[0], "tessera") == 0 && strcmp(words[1], v->name) == 0))
        return;
    args a;
    ts_error e = {0};
    if (!CHECK(args_parse(&a, v, n - 2, words + 2, &e)))
        fprintf(stderr, "  %s: %s\n", example, e.text);
    args_free(&a);
}

static void offer_all(suggestion *s, const verb *v)
{
    const option_group *g;
    for (int i = 0; v && (g = verb_group(v, i)); i++)
        for (const option *o = g->options; o->name; o++)
            suggest_offer(s, o->name);
    for (int i = 0; !v && verbs[i]; i++)
        suggest_offer(s, verbs[i]->name);
}

/* One typing slip in `word` (of verb v, or a verb's own name if NULL) leads back to it, unless it makes
 * another known word. */
static void slip(const verb *v, const char *word, const char *typed)
{
    if (!*typed || (v ? verb_option(v, typed) != NULL : verb_find(typed) != NULL))
        return;
    ENDED_BY(suggest_free) suggestion near = {.word = typed};
    offer_all(&near, v);
    ts_error e = {.code = TS_USAGE};
    if (!CHECK(suggest_near(&near, "", &e) && (near.n == SUGGEST_MAX || strstr(e.text, word))))
        fprintf(stderr, "  \"%s\" does not lead to \"%s\"\n", typed, word);
}

static void all_slips(const verb *v, const char *word)
{
    size_t n = strlen(word);
    char typed[64];
    for (size_t i = 0; i <= n; i++) {
        for (char c = 'a'; c <= 'z'; c++) {
            snprintf(typed, sizeof typed, "%.*s%c%s", (int)i, word, c, word + i);
            slip(v, word, typed);
            if (i == n)
                continue;
            snprintf(typed, sizeof typed, "%.*s%c%s", (int)i, word, c, word + i + 1);
            slip(v, word, typed);
        }
        if (i == n)
            continue;
        snprintf(typed, sizeof typed, "%.*s%s", (int)i, word, word + i + 1);
        slip(v, word, typed);
        if (i + 1 == n)
            continue;
        snprintf(typed, sizeof typed, "%.*s%c%c%s", (int)i, word, word[i + 1], word[i], word + i + 2);
        slip(v, word, typed);
    }
}

static void slips_of(const verb *v)
{
    all_slips(NULL, v->name);
    const option_group *g;
    for (int i = 0; (g = verb_group(v, i)); i++)
        for (const option *o = g->options; o->name; o++)
            all_slips(v, o->name);
}

int main(void)
{
    fits_a_terminal(overview, NULL, HELP_LINES);
    for (int i = 0; verbs[i]; i++) {
        is_whole(verbs[i]);
        fits_a_terminal(help_verb, verbs[i], HELP_PAGE);
        fits_a_terminal(help_short, verbs[i], HELP_SHORT);
        short_page_is_whole(verbs[i]);
        char line[256];
        for (const char *at = verbs[i]->examples; line_next(&at, line, sizeof line);)
            example_parses(verbs[i], line);
        slips_of(verbs[i]);
    }
    return check_done();
}
