/* ctest: fast */
#include "graph/base/suggest.h"
#include "tests/check.h"

#include <stdio.h>

static void distances(void)
{
    static const struct {
        const char *a, *b;
        int edits;
    } rows[] = {
        {"", "", 0},
        {"bench", "bench", 0},
        {"bench", "bnech", 1},
        {"bench", "benchh", 1},
        {"bench", "bech", 1},
        {"bench", "bemch", 1},
        {"", "abc", 3},
        {"abc", "", 3},
        /* a swap may not be edited again: the restricted distance */
        {"run", "show", 4},
        {"kitten", "sitting", 3},
        {"ca", "abc", 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int there = suggest_distance(rows[i].a, rows[i].b), back = suggest_distance(rows[i].b, rows[i].a);
        if (!CHECK(there == EDIT * rows[i].edits && back == there))
            fprintf(stderr, "  %s %s\n", rows[i].a, rows[i].b);
    }
    CHECK(suggest_distance("transb", "transB") == EDIT / 2);
}

static const char *hint_for(const char *word, err *e)
{
    static const char *const names[] = {"threads", "target", "seed", "schema", "in", "isa"};
    ENDED_BY(suggest_free) suggestion near = {.word = word};
    for (int i = 0; i < COUNT(names); i++)
        suggest_offer(&near, names[i]);
    *e = (err){.code = TS_USAGE, .text = ""};
    return suggest_near(&near, "--", e) ? e->text : "none";
}

static void hints(void)
{
    err e;
    CHECK_TEXT(hint_for("thraeds", &e), "\n  hint: did you mean --threads?");
    CHECK_TEXT(hint_for("theads", &e), "\n  hint: did you mean --threads?");
    CHECK_TEXT(hint_for("is", &e), "\n  hint: did you mean --in or --isa?"); /* one edit from both */
    CHECK_TEXT(hint_for("workspace", &e), "none");
    CHECK_TEXT(hint_for("", &e), "none");
    CHECK_TEXT(hint_for("threads-of-a-name-that-is-longer-than-any-name-that-there-is-in-all-of-it", &e), "none");
    /* The nearest name comes before the list, however long that is. */
    ENDED_BY(suggest_free) suggestion near = {.word = "guess"}, none = {.word = "guess"};
    e = (err){.code = TS_USAGE, .text = "no"};
    CHECK(!suggest_hint(&none, "there are", &e));
    CHECK_TEXT(e.text, "no");
    suggest_offer(&near, "rows"), suggest_offer(&near, "guest");
    CHECK(!suggest_hint(&near, "there are", &e));
    CHECK_TEXT(e.text, "no\n  hint: did you mean guest?\n  hint: there are rows, guest");
}

int main(void)
{
    distances();
    hints();
    return check_done();
}
