#include "tessera_shared.h"
#include "tests/backends/merged.h"
#include "tests/check.h"
#include "graph/base/base.h"
#include "graph/base/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 16384 };
static const int64_t size[] = {N};

typedef struct rig { /* y = x + x, twice; z = g + g */
    const char *a, *b;
    ts_graph *g;
    ts_plan *y[2], *z;
    float *v;
} rig;

static ts_plan *plan_of(ts_graph *g, const char *on, ts_tensor t)
{
    err e = {0};
    ts_plan *p = ts_plan_of(g, 1, &t, 0, NULL, &(ts_options){.target = on}, &e);
    if (!CHECK(p != NULL))
        printf("  %s\n", e.text), exit(1);
    return p;
}

static rig rig_make(const char *a, const char *b)
{
    rig r = {.a = a, .b = b, .g = ts_graph_make(), .v = heap_array(N, sizeof *r.v)};
    const ts_tensor x = ts_input(r.g, "x", TS_F32, 1, size), g = ts_input(r.g, "g", TS_F32, 1, size); /* [N] */
    const ts_tensor y = ts_named(r.g, ts_call2(r.g, "add", x, x), "y"), z = ts_call2(r.g, "add", g, g);
    for (int i = 0; i < 2; i++)
        r.y[i] = plan_of(r.g, i ? b : a, y);
    r.z = plan_of(r.g, b, z);
    return r;
}

static void rig_free(rig *r)
{
    ts_plan_free(r->y[0]), ts_plan_free(r->y[1]), ts_plan_free(r->z), ts_graph_free(r->g), free(r->v);
}

static bool set(rig *r, ts_plan *p, const char *name, float v, err *e)
{
    for (int i = 0; i < N; i++)
        r->v[i] = v;
    return ts_plan_set(p, ts_plan_find(p, name), &(ts_array){TS_F32, 1, {N}, r->v}, e);
}

static bool make(rig *r, int i, float x, err *e)
{
    return set(r, r->y[i], "x", x, e) && ts_plan_run(r->y[i], e);
}

static bool gives(rig *r, float want)
{
    err e = {0};
    ts_array z = {0};
    bool ok = CHECK(ts_plan_run(r->z, &e) && ts_plan_get(r->z, 0, &z, &e));
    if (!ok)
        printf("  %s to %s: %s\n", r->a, r->b, e.text);
    for (int i = 0; ok && i < N; i += N - 1)
        ok = CHECK(ts_array_at(&z, i) == want) ||
             (printf("  %s to %s: %g, not %g\n", r->a, r->b, ts_array_at(&z, i), want), false);
    return ts_array_free(&z), ok;
}

static void refused(bool done, ts_code code, const err *e, const char *form, const char *b, const char *a)
{
    char want[512];
    snprintf(want, sizeof want, form, b, a);
    CHECK(!done && e->code == code);
    CHECK_TEXT(e->text, want);
}

static bool joined(const rig *r, int from, ts_merging how)
{
    err e = {0};
    return CHECK(ts_merge_link(r->z, "g", r->y[from], 0, how, &e)) || (printf("  %s\n", e.text), false);
}

/* In a random order: nobody overtakes, and what comes through is right. */
static void test_order(rig *r, int n)
{
    bool made[2] = {false};
    float x[2] = {0};
    if (!joined(r, 1, TS_ADD) || !joined(r, 0, TS_REPLACE))
        return;
    for (int i = 0; i < n; i++) {
        const int who = (int)(random_bits(7, (uint64_t)i) % 3);
        err e = {0};
        if (who < 2 && !made[who]) {
            x[who] = (float)(i + who), made[who] = true;
            CHECK(make(r, who, x[who], &e));
        } else if (who < 2)
            CHECK(!ts_plan_run(r->y[who], &e) && e.code == TS_USAGE);
        else if (!made[0] || !made[1])
            CHECK(!ts_plan_run(r->z, &e) && e.code == TS_USAGE);
        else if (made[0] = made[1] = false, !gives(r, 4 * (x[0] + x[1])))
            return;
    }
}

static void test_refusals(rig *r)
{
    err e[8] = {{0}};
    joined(r, 0, TS_REPLACE);
    refused(
        ts_plan_run(r->z, &e[0]), TS_USAGE, &e[0],
        "input \"g\" of %s takes output \"y\" of %s, which has not run yet\n  hint: run the plan of the output before "
        "each run of the input's",
        r->b, r->a);
    CHECK(make(r, 0, 1, &e[1]));
    refused(ts_plan_run(r->y[0], &e[1]), TS_USAGE, &e[1],
            "input \"g\" of %s takes output \"y\" of %s, which it has not read since the last run\n  hint: run the "
            "input's plan between two runs",
            r->b, r->a);
    gives(r, 4);
    refused(
        ts_plan_run(r->z, &e[2]), TS_USAGE, &e[2],
        "input \"g\" of %s takes output \"y\" of %s, which has not run since that was read\n  hint: run the plan of "
        "the output before each run of the input's",
        r->b, r->a);
    refused(
        set(r, r->z, "g", 1, &e[3]), TS_USAGE, &e[3],
        "input \"g\" of %s takes output \"y\" of %s, and nothing else\n  hint: link it by TS_ADD to add to what it is "
        "set to",
        r->b, r->a);
    refused(ts_merge_link(r->z, "g", r->y[1], 0, TS_REPLACE, &e[4]), TS_USAGE, &e[4],
            "input \"g\" of %s takes output \"y\" of %s, and is replaced by one output only\n  hint: link others by "
            "TS_ADD or TS_COMPARE",
            r->b, r->a);
    CHECK(make(r, 0, 2, &e[5]) && gives(r, 8));
    ts_plan_free(r->y[0]), r->y[0] = NULL;
    refused(
        ts_plan_run(r->z, &e[6]), TS_USAGE, &e[6],
        "input \"g\" of %s takes output \"y\" of %s, whose plan was freed\n  hint: free plans behind those that take "
        "their values",
        r->b, r->a);
}

static void test_types(rig *r)
{
    err e = {0};
    const int64_t half[] = {N / 2};
    ts_graph *g = ts_graph_make();
    ts_plan *p = plan_of(g, r->a, ts_call1(g, "relu", ts_input(g, "h", TS_F32, 1, half)));
    refused(ts_merge_link(r->z, "g", p, 0, TS_ADD, &e), TS_BAD_INPUT, &e,
            "input \"g\" of %s takes output \"0\" of %s: the one is f32[16384], the other f32[8192]", r->b, r->a);
    ts_plan_free(p), ts_graph_free(g);
}

static void test_own(rig *r) /* what is added to what the input holds stays there */
{
    err e = {0};
    if (joined(r, 0, TS_ADD) && CHECK(set(r, r->z, "g", 1, &e) && make(r, 0, 1, &e)))
        gives(r, 6);
    CHECK(make(r, 0, 2, &e));
    gives(r, 14);
    CHECK(set(r, r->z, "g", 0, &e) && make(r, 0, 2, &e));
    gives(r, 8);
}

static void test_compared(rig *r)
{
    err e = {0};
    joined(r, 0, TS_REPLACE), joined(r, 1, TS_COMPARE);
    CHECK(make(r, 0, 3, &e) && make(r, 1, 3, &e));
    gives(r, 12);
    CHECK(make(r, 0, 3, &e) && make(r, 1, 3.5f, &e));
    refused(ts_plan_run(r->z, &e), TS_FAILED, &e,
            "input \"g\" of %s takes output \"y\" of %s, and they differ: element 0 is 6 in the one, 7 in the other",
            r->b, r->b);
}

static void test_ledger(rig *r)
{
    err e = {0};
    joined(r, 0, TS_REPLACE);
    for (int i = 0; i < 3; i++) {
        static const char *const state[] = {"missing", "arrived", "read"};
        char want[256];
        CHECK(i != 1 || make(r, 0, 1, &e)), i == 2 && gives(r, 4);
        char *takes = ts_plan_ledger(r->z, &e), *given = ts_plan_ledger(r->y[0], &e);
        snprintf(want, sizeof want,
                 "\"takes\":[{\"output\":\"y\",\"device\":\"%s\",\"by\":\"replace\",\"state\":\"%s\"}]", r->a,
                 state[i]);
        CHECK(takes && strstr(takes, want));
        snprintf(want, sizeof want,
                 "\"gives\":[{\"input\":\"g\",\"device\":\"%s\",\"by\":\"replace\",\"state\":\"%s\"}]", r->b, state[i]);
        CHECK(given && strstr(given, want));
        ts_free(takes), ts_free(given);
    }
}

void merged_check(const char *a, const char *b, int n)
{
    void (*const tests[])(rig * r) = {test_refusals, test_types, test_own, test_compared, test_ledger};
    for (int i = 0; i < COUNT(tests); i++) {
        rig r = rig_make(a, b);
        tests[i](&r);
        rig_free(&r);
    }
    rig r = rig_make(a, b);
    test_order(&r, n);
    rig_free(&r);
}
