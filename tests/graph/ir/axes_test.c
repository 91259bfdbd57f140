/* Names of axes: they pass on through definitions, tell units apart, and find an axis after it has moved. */
/* ctest: fast */
#define TS_SITES
#include "tests/check.h"
#include "tessera.h"

#include <stdio.h>
#include <string.h>

static const char *names(ts_tensor t, const char *const *of) /* places of names in t, as "1 0 -1" */
{
    static char out[64];
    size_t used = 0;
    for (*out = 0; *of; of++)
        used += (size_t)snprintf(out + used, sizeof out - used, "%s%d", used ? " " : "", ts_axis(t, *of));
    return out;
}

static void test_follow(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    const char *const of[] = {"batch", "heads", "features", NULL};
    const ts_tensor x = ts_axes(g, ts_input(g, "x", TS_F32, 3, (const int64_t[]){2, 8, 5}), "batch heads features"),
                    b = ts_axes(g, ts_input(g, "b", TS_F32, 1, (const int64_t[]){5}), "features"),
                    w = ts_input(g, "w", TS_F32, 2, (const int64_t[]){5, 7}),
                    one = ts_input(g, "one", TS_F32, 2, (const int64_t[]){8, 1});
    CHECK_TEXT(names(x, of), "0 1 2");
    CHECK_TEXT(names(ts_call1(g, "transpose axes=[2,0,1]", x), of), "1 2 0");
    CHECK_TEXT(names(ts_call1(g, "sum axes=[0]", x), of), "-1 0 1");
    CHECK_TEXT(names(ts_call1(g, "softmax axis=-1", x), of), "0 1 2");
    CHECK_TEXT(names(ts_call2(g, "add", x, b), of), "0 1 2");
    CHECK_TEXT(names(ts_call2(g, "multiply", b, x), of), "0 1 2");
    CHECK_TEXT(names(ts_call2(g, "add", x, one), of), "0 1 2");
    CHECK_TEXT(names(ts_call2(g, "matmul", x, w), of), "0 1 -1");
    CHECK_TEXT(names(ts_call1(g, "reshape shape=[16,5]", x), of), "-1 -1 1");
    CHECK_TEXT(names(ts_call2(g, "einsum equation=bhf,f->fb", x, b), of), "1 -1 0");
    CHECK(ts_graph_ok(g, &e));
    ts_graph_free(g);
}

/* An axis is taken by its name, before and after a transpose: the same numbers. */
static void test_select(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    float v[24];
    ts_array got[2] = {{0}};
    ts_tensor y[2];
    const ts_given given = {"x", {TS_F32, 2, {4, 6}, v}};
    for (int i = 0; i < 24; i++)
        v[i] = (float)(i * i % 17);
    const ts_tensor x = ts_axes(g, ts_input(g, "x", TS_F32, 2, given.value.dim), "rows columns");
    for (int k = 0; k < 2; k++) {
        char call[32];
        const ts_tensor from = k ? ts_call1(g, "transpose axes=[1,0]", x) : x;
        snprintf(call, sizeof call, "max axes=[%d]", ts_axis(from, "rows"));
        y[k] = ts_call1(g, call, from);
    }
    if (CHECK(ts_eval(2, y, 1, &given, &(ts_options){.target = "interp"}, got, &e)) && CHECK(got[0].dim[0] == 6))
        CHECK(got[1].dim[0] == 6 && !memcmp(got[0].data, got[1].data, 6 * sizeof(float)));
    ts_array_free(&got[0]), ts_array_free(&got[1]);
    ts_graph_free(g);
}

static void refused(ts_graph *g, ts_tensor t, const char *want)
{
    ts_error e = {0};
    CHECK(!t && !ts_graph_ok(g, &e));
    e.text[strcspn(e.text, "\n")] = 0;
    CHECK_TEXT(e.text, want);
    ts_graph_recover(g, NULL);
}

static void test_refused(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    char want[64];
    const ts_tensor x = ts_axes(g, ts_input(g, "x", TS_F32, 2, (const int64_t[]){8, 8}), "batch heads"),
                    y = ts_axes(g, ts_input(g, "y", TS_F32, 1, (const int64_t[]){8}), "features");
    CHECK(!ts_call2(g, "add", x, y) && !ts_graph_ok(g, &e));
    snprintf(want, sizeof want, "%s:%d", strrchr(__FILE__, '/') + 1, __LINE__ - 1);
    if (!CHECK(strstr(e.text, want)))
        printf("  %s\n", e.text);
    ts_graph_recover(g, NULL);
    refused(g, ts_call2(g, "add", x, y), "add: axis \"heads\" of x meets axis \"features\" of y");
    refused(g, ts_call2(g, "einsum equation=bh,h->b", x, y),
            "einsum: contract: axis \"heads\" of x meets axis \"features\" of y");
    refused(g, ts_call1(g, "einsum equation=ii->i", x),
            "einsum: contract: axis \"batch\" of x meets axis \"heads\" of x");
    CHECK(ts_axes(g, x, "_ heads") == x && ts_axis(x, "batch") == 0 && ts_axis(x, "_") == -1);
    refused(g, ts_axes(g, x, "batch"), "names of axes: \"batch\", 2 expected for x");
    refused(g, ts_axes(g, x, "batch heads more"), "names of axes: \"batch heads more\", 2 expected for x");
    refused(g, ts_axes(g, x, "batch features"), "axis 1 of x is \"heads\" already, not \"features\"");
    refused(g, ts_axes(g, ts_input(g, "z", TS_F32, 2, (const int64_t[]){8, 8}), "a a"), "two axes of z are \"a\"");
    ts_graph_free(g);
}

int main(void)
{
    test_follow();
    test_select();
    test_refused();
    return check_done();
}
