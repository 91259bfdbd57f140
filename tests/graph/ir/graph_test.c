/* Calls: what has no definition, as leaves and what readers of files resolve, is refused wherever a call can come from;
 * what is printed, leaves among it, parses back. */
/* ctest: fast */
#include "graph/ir/op.h"
#include "tests/check.h"
#include "tessera.h"

#include <stdio.h>
#include <string.h>

static void test_refused(const op *o)
{
    char source[128], want[256];
    ts_error e = {0}, f = {0};
    ts_tensor y;
    int n;
    ts_graph *g = ts_graph_make(), *h = ts_graph_make();
    CHECK(!ts_call(g, o->name, 0, NULL) && !ts_graph_ok(g, &e) && e.code == TS_BAD_INPUT);
    snprintf(want, sizeof want, "%s: cannot be called: no value follows from operands", o->name);
    CHECK_TEXT(e.text, want);
    snprintf(source, sizeof source, "n0 = %s() : f32[]\nreturn n0\n", o->name);
    CHECK(!ts_parse(h, source, 1, &y, &n, &f) && f.code == TS_BAD_INPUT);
    snprintf(want, sizeof want, "graph text, line 1: %s: cannot be called: no value follows from operands", o->name);
    CHECK_TEXT(f.text, want);
    ts_graph_free(g);
    ts_graph_free(h);
}

static void test_all_refused(void)
{
    int n = 0;
    for (const op *o = op_next(NULL); o; o = op_next(o))
        if (!o->text && !o->body && !o->lower)
            test_refused(o), n++;
    CHECK(n > 3); /* leaves, and at least one record of a file's calls */
}

static void test_parses_back(void)
{
    const int64_t dim[] = {3};
    ts_error e = {0};
    ts_graph *g = ts_graph_make(), *h = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F32, 1, dim), w = ts_weight(g, "w", TS_F32, 1, dim, 0, 0.5, 7), back;
    ts_tensor sum = ts_call2(g, "add", ts_call2(g, "multiply", x, w), ts_scalar(g, TS_F32, 2));
    ts_tensor y = ts_call2(g, "add", sum, ts_call(g, "iota count=3 to=f32", 0, NULL)); /* a call without operands */
    int n;
    char *said = ts_print(1, &y);
    if (CHECK(ts_parse(h, said, 1, &back, &n, &e) && n == 1)) {
        char *again = ts_print(1, &back);
        CHECK_TEXT(again, said);
        ts_free(again);
    }
    ts_free(said);
    ts_graph_free(g);
    ts_graph_free(h);
}

int main(void)
{
    test_all_refused();
    test_parses_back();
    return check_done();
}
