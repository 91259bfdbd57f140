/* ctest: fast */
#include "cli/suggest.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static void distances(void)
{
    static const struct {
        const char *a, *b;
        int distance;
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
        if (!CHECK(suggest_distance(rows[i].a, rows[i].b) == rows[i].distance))
            fprintf(stderr, "  %s %s\n", rows[i].a, rows[i].b);
        CHECK(suggest_distance(rows[i].b, rows[i].a) == rows[i].distance);
    }
}

static const char *hint_for(const char *word, ts_error *e)
{
    static const char *const known[] = {"threads", "target", "seed", "schema", "in", "isa"};
    suggestion s = suggest_begin(word);
    for (int i = 0; i < 6; i++)
        suggest_offer(&s, known[i]);
    *e = (ts_error){.code = TS_USAGE, .text = ""};
    return suggest_hint(&s, "--", e) ? e->text : "none";
}

static void hints(void)
{
    ts_error e;
    CHECK_TEXT(hint_for("thraeds", &e), "\n  hint: did you mean --threads?");
    CHECK_TEXT(hint_for("theads", &e), "\n  hint: did you mean --threads?");
    CHECK_TEXT(hint_for("is", &e), "\n  hint: did you mean --in or --isa?"); /* one edit from both */
    CHECK_TEXT(hint_for("workspace", &e), "none");
    char endless[5000];
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    CHECK_TEXT(hint_for(endless, &e), "none");
}

int main(void)
{
    distances();
    hints();
    return check_done();
}
