/* Walking a graph by tessera.h, and where calls stand in the program that made it. */
/* ctest: fast */
#define TS_SITES
#include "tests/check.h"
#include "tessera.h"

#include <stdio.h>
#include <string.h>

/* Each call says a line; what is refused names the call's, its operands' and those of the inputs and weights behind. */
static void test_sites(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    char want[600];
    const int line = __LINE__ + 1;
    ts_tensor x = ts_input(g, "x", TS_F32, 2, (const int64_t[]){4, 8});
    ts_tensor w = ts_weight(g, "w", TS_F32, 2, (const int64_t[]){8, 6}, 0, 1, 1);
    ts_tensor h = ts_call2(g, "matmul", x, w), y = ts_call1(g, "relu", h);
    ts_tensor v = ts_weight(g, "v", TS_F32, 2, (const int64_t[]){5, 6}, 0, 1, 1);
    CHECK(!ts_call2(g, "matmul", y, v) && !ts_graph_ok(g, &e));
    snprintf(want, sizeof want,
             "matmul: inner extents 6 and 5 differ, equal ones expected\n  hint: the call is at %s:%d; relu at %s:%d "
             "from weight \"w\" at %s:%d, input \"x\" at %s:%d; weight \"v\" at %s:%d",
             __FILE__, line + 4, __FILE__, line + 2, __FILE__, line + 1, __FILE__, line, __FILE__, line + 3);
    CHECK_TEXT(e.text, want);
    ts_graph_recover(g, NULL), e = (ts_error){0};
    ts_input(g, "x", TS_F64, 1, (const int64_t[]){4});
    ts_graph_ok(g, &e);
    snprintf(want, sizeof want, "the call is at %s:%d", __FILE__, __LINE__ - 2);
    CHECK(strstr(e.text, want));
    ts_graph_recover(g, NULL), e = (ts_error){0};
    ts_call2(ts_at(g, NULL, 0), "matmul", y, v); /* the macro's place is the one that counts */
    ts_graph_ok(g, &e);
    CHECK(strstr(e.text, "the call is at "));
    ts_graph_free(g);
}

static void test_walk(void)
{
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F32, 2, (const int64_t[]){4, 8});
    ts_tensor e = ts_call1(g, "exp", x), s = ts_call1(g, "sum axes=[1] keepdims=1", e), y = ts_call2(g, "divide", e, s);
    ts_tensor all[4], readers[2];
    ts_attribute a;
    CHECK(ts_nodes(1, &y, NULL) == 4 && ts_nodes(1, &y, all) == 4);
    CHECK(all[0] == x && all[1] == e && all[2] == s && all[3] == y);
    CHECK(ts_operand(y, 0) == e && ts_operand(y, 1) == s && !ts_operand(y, 2) && !ts_operand(y, -1));
    CHECK(!ts_operand(x, 0));
    CHECK(ts_consumers(1, &y, e, readers) == 2 && readers[0] == s && readers[1] == y);
    CHECK(ts_consumers(1, &y, y, NULL) == 0 && ts_consumers(1, &s, e, NULL) == 1);
    CHECK(ts_attribute_at(s, 0, &a) && !strcmp(a.name, "axes") && a.kind == 'I' && a.n == 1 && a.ints[0] == 1);
    CHECK(ts_attribute_at(s, 1, &a) && !strcmp(a.name, "keepdims") && a.kind == 'i' && a.i == 1);
    CHECK(!ts_attribute_at(s, 2, &a) && !ts_attribute_at(s, -1, &a) && !ts_attribute_at(x, 0, &a));
    ts_graph_free(g);
}

int main(void)
{
    test_sites();
    test_walk();
    return check_done();
}
