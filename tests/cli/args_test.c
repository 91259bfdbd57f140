/* ctest: fast */
#include "cli/args.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static const option options[] = {
    {"schema", 's', A_FILE, "FILE", "a schema", REPEATS},
    {"threads", 0, INTEGER, "N", "threads", NULL, false, 1, 64},
    {"time", 't', SECONDS, "TIME", "time", "2.5s", false, 0, 0},
    {"limit", 0, BYTES, "SIZE", "limit", ONCE},
    {"all", 'a', FLAG, NULL, "all", ONCE},
    {0},
};
static const option_group group = {"Options", options, NULL};
static const option_group *const groups[] = {&group, NULL};
static const verb one = {.name = "one", .brief = "One", .usage = "MODEL [OTHER]", .groups = groups};
static const verb forms = {
    .name = "forms", .brief = "Forms", .usage = "init MODEL\nlist\nall FILE...", .groups = groups};

static bool parse(args *a, const verb *v, const char *line, ts_error *e)
{
    static char text[256]; /* arguments are borrowed */
    static char *words[32];
    snprintf(text, sizeof text, "%s", line);
    int n = 0;
    char *rest = text;
    for (char *w; (w = strsep(&rest, " "));) {
        if (*w)
            words[n++] = w;
    }
    words[n] = NULL;
    *e = (ts_error){0};
    return args_parse(a, v, n, words, e);
}

static void accepted(void)
{
    args a;
    ts_error e;
    CHECK(parse(&a, &one, "-s a.json model --schema=b.json -qasc.json --threads 3 --threads 4 other", &e));
    CHECK(a.n_nouns == 2);
    CHECK_TEXT(args_noun(&a, 0), "model");
    CHECK_TEXT(args_noun(&a, 1), "other");
    CHECK(!args_noun(&a, 2));
    CHECK(args_count(&a, "schema") == 3);
    CHECK_TEXT(args_at(&a, "schema", 0), "a.json");
    CHECK_TEXT(args_at(&a, "schema", 1), "b.json");
    CHECK_TEXT(args_at(&a, "schema", 2), "c.json");
    CHECK(!args_at(&a, "schema", 3));
    CHECK(args_flag(&a, "all") && args_flag(&a, "quiet") && a.console.quiet);
    CHECK(args_integer(&a, "threads") == 4); /* the last one counts */
    CHECK(args_integer(&a, "limit") == 0 && args_number(&a, "time") == 2.5);
    args_free(&a);

    CHECK(parse(&a, &one, "-t 1.5s --limit 2K -- --threads", &e));
    CHECK(args_number(&a, "time") == 1.5 && args_integer(&a, "limit") == 2048);
    CHECK_TEXT(args_noun(&a, 0), "--threads");
    args_free(&a);

    CHECK(parse(&a, &one, "- --json", &e) && a.console.json);
    CHECK_TEXT(args_noun(&a, 0), "-");
    args_free(&a);

    CHECK(parse(&a, &one, "--nonsense -h", &e) && a.help);
    args_free(&a);
}

static void with_forms(void)
{
    args a;
    ts_error e;
    CHECK(parse(&a, &forms, "-a init model", &e));
    CHECK_TEXT(a.form, "init");
    CHECK_TEXT(args_noun(&a, 0), "model");
    CHECK(a.n_nouns == 1 && !args_noun(&a, 1));
    args_free(&a);
    CHECK(parse(&a, &forms, "all a b c", &e) && a.n_nouns == 3);
    CHECK_TEXT(args_noun(&a, 2), "c");
    args_free(&a);
    CHECK(parse(&a, &forms, "list", &e) && a.n_nouns == 0 && !args_noun(&a, 0));
    args_free(&a);
}

static void refused(void)
{
    static const struct {
        const verb *verb;
        const char *line, *text;
    } rows[] = {
        {&one, "", "one: MODEL is missing\n  hint: tessera one MODEL [OTHER]; see tessera help one"},
        {&one, "a b c",
         "one: do not know what to do with \"c\", 2 arguments expected\n  hint: tessera one MODEL [OTHER]; see tessera "
         "help one"},
        {&one, "a --al", "one has no option --al\n  hint: did you mean --all?"},
        {&one, "a -time", "--time \"ime\": must be a time, as in 2s, 500ms or 1m"},
        {&one, "a -limit 3", "one has no option -l\n  hint: did you mean --limit?"},
        {&one, "a --threads", "--threads needs a value: N"},
        {&one, "a --threads -a", "--threads needs a value: N\n  hint: if \"-a\" is the value, write --threads=-a"},
        {&one, "a --threads -1", "--threads \"-1\": must be a whole number from 1 to 64"},
        {&one, "a --all=1", "--all takes no value, \"1\" was given"},
        {&forms, "", "forms: say what to do\n  hint: it knows init, list, all; tessera help forms"},
        {&forms, "int",
         "forms does not know \"int\"\n  hint: did you mean init?\n  hint: it knows init, list, all; tessera help "
         "forms"},
        {&forms, "init", "forms init: MODEL is missing\n  hint: tessera forms init MODEL; see tessera help forms"},
        {&forms, "all", "forms all: FILE is missing\n  hint: tessera forms all FILE...; see tessera help forms"},
        {&forms, "list x",
         "forms list: do not know what to do with \"x\", 0 arguments expected\n  hint: tessera forms list; see tessera "
         "help forms"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        args a;
        ts_error e;
        CHECK(!parse(&a, rows[i].verb, rows[i].line, &e) && e.code == TS_USAGE);
        CHECK_TEXT(e.text, rows[i].text);
        args_free(&a);
    }
}

int main(void)
{
    accepted();
    with_forms();
    refused();
    return check_done();
}
