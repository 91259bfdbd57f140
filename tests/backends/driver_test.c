/* Plans for a machine that is described in text instead of the host, and evaluation of no tensor at all. */
/* ctest: fast */
#include "backends/backend.h"
#include "backends/cpu/machine.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <string.h>

static ts_plan *planned(ts_graph *g, const char *on, err *e)
{
    ts_tensor y = ts_call2(g, "matmul", ts_input(g, "x", TS_F32, 2, (int64_t[]){32, 48}),
                           ts_weight(g, "w", TS_F32, 2, (int64_t[]){48, 64}, 0, 1, 1));
    return ts_plan_of(g, 1, &y, 0, NULL, &(ts_options){.target = "interp", .machine = on}, e);
}

static void test_nothing(void)
{
    err e = {0}, f = {0};
    const ts_options o = {.target = "interp"};
    ts_array one = {0};
    CHECK(ts_eval(0, NULL, 0, NULL, &o, NULL, &e) && e.code == TS_OK);
    CHECK(!ts_eval(0, NULL, 1, &(ts_given){"x", one}, &o, NULL, &f) && f.code == TS_USAGE);
}

/* Where nobody names a target it is the one that says so; and what it kept is found, and its schemas, too. */
static void test_usual(void)
{
    err e = {0};
    const backend *usual = backend_usual();
    int marked = 0;
    for (const backend *const *b = backends; *b; b++)
        marked += (*b)->usual;
    CHECK(marked == 1 && usual->usual && usual->in_host);
    scratch s = scratch_make();
    const ts_options named = {.target = usual->name, .cache_folder = s.path}, none = {.cache_folder = s.path};
    char *a = ts_cache_json(&none, &e), *b = ts_cache_json(&named, &e);
    CHECK(a && b && !strcmp(a, b));
    ts_free(a), ts_free(b);
    a = ts_schema_text("panels", &none, &e), b = ts_schema_text("panels", &named, &e);
    CHECK(a && b && !strcmp(a, b));
    ts_free(a), ts_free(b);
    scratch_free(&s);
}

int main(void)
{
    test_nothing();
    test_usual();
    err e = {0};
    ts_graph *g = ts_graph_make();
    ts_plan *p = planned(g, "l3:1(32MB) core:8 isa:avx2", &e);
    if (CHECK(p)) {
        char *json = ts_plan_json(p, &e);
        CHECK(strstr(json, "\"threads\":8") && strstr(json, "\"isa\":\"avx2\""));
        const bool able = ts_plan_build(p, &e); /* runs only where the host has what was described */
        CHECK(able == (isa_includes(isa_of_host(), isa_find("avx2"))) && (able || e.code == TS_UNSUPPORTED));
        ts_free(json);
    }
    ts_plan_free(p);
    CHECK(!planned(g, "cores:8", &e) && e.code == TS_BAD_INPUT);
    ts_graph_free(g);
    return check_done();
}
