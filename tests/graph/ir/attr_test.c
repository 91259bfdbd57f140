/* Attributes as a call writes them: texts with blanks, in quotes, and what is said where the quotes are missing. */
/* ctest: fast */
#include "graph/ir/graph.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static ts_tensor formula(ts_graph *g, const char *call)
{
    const int64_t dim[] = {3};
    return ts_call(g, call, 2, (const ts_tensor[]){ts_input(g, "a", TS_F32, 1, dim), ts_input(g, "b", TS_F32, 1, dim)});
}

/* The same text with and without blanks, printed such that it parses back. */
static void test_quoted(void)
{
    static const char *const all[] = {"formula text=\"a + b * 2\"", "formula text=\"a < b ? a : b\"",
                                      "formula text=a<b?a:b", "element dims=[3] text=\"a[i0] + b[2 - i0]\" folds=[]"};
    for (int i = 0; i < COUNT(all); i++) {
        err e = {0};
        ts_graph *g = ts_graph_make(), *h = ts_graph_make();
        ts_tensor y = formula(g, all[i]), back;
        int n;
        if (!CHECK(y))
            printf("  %s: %s\n", all[i], g->err.text);
        char *said = y ? ts_print(1, &y) : NULL, *again = NULL;
        if (y && CHECK(ts_parse(h, said, 1, &back, &n, &e)))
            CHECK_TEXT(again = ts_print(1, &back), said);
        else
            printf("  %s\n", e.text);
        ts_free(said), ts_free(again);
        ts_graph_free(g), ts_graph_free(h);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *call, *says;
    } all[] = {
        {"formula text=a + 1", "formula: text=a is followed by \"+ 1\", which is no attribute\n"
                               "  hint: a text with blanks stands in quotes: text=\"a + 1\""},
        {"element text=a[i0] * b[i0] dims=[3]",
         "element: text=a[i0] is followed by \"* b[i0]\", which is no attribute\n"
         "  hint: a text with blanks stands in quotes: text=\"a[i0] * b[i0]\""},
        {"formula text=\"a + 1", "formula: attribute text: \"text=\"a + 1\" is not a word, or a text in quotes"},
        {"formula text=\"a\"b", "formula: attribute text: \"text=\"a\"b\" is not a word, or a text in quotes"},
        {"formula text=a txet=b", "formula: no attribute \"txet\"; it has: text"},
        {"formula txet=a", "formula: no attribute \"txet\"; it has: text"},
    };
    for (int i = 0; i < COUNT(all); i++) {
        ts_graph *g = ts_graph_make();
        CHECK(!formula(g, all[i].call));
        CHECK_TEXT(g->err.text, all[i].says);
        ts_graph_free(g);
    }
}

int main(void)
{
    test_quoted();
    test_refused();
    return check_done();
}
