/* ctest: drivers
 * Memory of a card that plans share: what one writes another one reads, also where graphs knew another place; what
 * members on two cards send to each other; and what is refused. */
#include "tessera_shared.h"
#include "tests/backends/cuda/rig.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 32, AT = 48, ALL = 96 };
static const int64_t size[] = {N};

static ts_plan *adding(ts_graph *g, const char *target) /* y' = x + y */
{
    err e = {0};
    const ts_tensor x = ts_input(g, "x", TS_F32, 1, size), y = ts_input(g, "y", TS_F32, 1, size); /* [N] */
    const ts_state state = {y, ts_call2(g, "add", x, y)};
    ts_plan *p = ts_plan_of(g, 0, NULL, 1, &state, &(ts_options){.target = target, .cache_folder = "none"}, &e);
    if (!CHECK(p != NULL))
        printf("  %s\n", e.text), exit(1);
    return p;
}

static bool set(ts_plan *p, const char *name, float v)
{
    float all[N];
    for (int i = 0; i < N; i++)
        all[i] = v;
    return ts_plan_set(p, ts_plan_find(p, name), &(ts_array){.dtype = TS_F32, .rank = 1, .dim = {N}, .data = all},
                       &(err){0});
}

static bool holds(const ts_shared *s, int64_t at, float want)
{
    float all[N];
    err e = {0};
    bool ok = CHECK(ts_shared_read(s, at, all, N, &e));
    for (int i = 0; ok && i < N; i++)
        ok = all[i] == want || (printf("  element %d is %g, not %g\n", i, (double)all[i], (double)want), false);
    return ok;
}

static void test_plans(void)
{
    err e = {0};
    ts_graph *g = ts_graph_make();
    ts_plan *a = adding(g, "cuda:0"), *b = adding(g, "cuda:0");
    CHECK(ts_plan_shares(a, 1, &e) && ts_plan_shares(a, 2, &e));
    ts_shared *s = ts_shared_make(a, ALL, &e);
    CHECK(s && holds(s, 0, 0) && holds(s, AT, 0));
    CHECK(set(a, "x", 1) && set(a, "y", 5) && set(b, "x", 10) && set(b, "y", 5));
    CHECK(ts_plan_run(a, &e)); /* at a place of its own */
    CHECK(ts_plan_share(a, ts_plan_find(a, "y"), s, AT, &e) && ts_plan_share(b, ts_plan_find(b, "y"), s, AT, &e));
    CHECK(ts_plan_run(a, &e) && ts_plan_run(b, &e) && ts_plan_run(a, &e) && holds(s, AT, 12) && holds(s, 0, 0));
    ts_array seen = {0};
    CHECK(ts_plan_view(b, ts_plan_find(b, "y"), &seen, &e) && ts_array_at(&seen, N - 1) == 12);
    CHECK(ts_plan_run(a, &e) && ts_plan_view(b, ts_plan_find(b, "y"), &seen, &e) && ts_array_at(&seen, 0) == 13);
    const float two[2] = {100, 100};
    CHECK(ts_shared_write(s, AT, two, 2, &e) && ts_plan_run(b, &e) &&
          ts_plan_view(a, ts_plan_find(a, "y"), &seen, &e) && ts_array_at(&seen, 1) == 110 &&
          ts_array_at(&seen, 2) == 23);
    CHECK(set(b, "y", 7) && ts_plan_run(b, &e) && holds(s, AT, 17)); /* it stays where it is */
    ts_plan_free(a), ts_plan_free(b), ts_shared_free(s), ts_graph_free(g);
}

static void test_members(void)
{
    err e = {0}, alone = {0}, unmet = {0};
    ts_graph *g = ts_graph_make();
    ts_plan *p[2] = {adding(g, "cuda:0"), adding(g, "cuda:1")};
    ts_shared *s[2] = {ts_shared_make(p[0], ALL, &e), ts_shared_make(p[1], ALL, &e)};
    float one[N];
    ts_shared_id id;
    for (int i = 0; i < N; i++)
        one[i] = 1;
    CHECK(s[0] && s[1] && ts_shared_write(s[0], 0, one, N, &e));
    const ts_transfer all[] = {
        {s[0], 1, true, 0, N}, {s[0], 1, false, AT, N}, {s[1], 0, true, 0, N}, {s[1], 0, false, AT, N}};
    CHECK(!ts_shared_exchange(4, all, &alone));
    CHECK_TEXT(alone.text, "shared memory that has not joined others cannot send to them: ts_shared_join");
    CHECK(ts_shared_meeting(s[0], &id, &e) && ts_shared_join(2, s, 0, 2, &id, &e) && ts_shared_exchange(4, all, &e));
    CHECK(holds(s[0], AT, 0) && holds(s[1], AT, 1) && holds(s[0], 0, 1));
    CHECK(!ts_shared_exchange(1, all, &unmet) && unmet.code == TS_DEVICE);
    CHECK_TEXT(unmet.text, "NCCL: an exchange between cards failed: invalid usage (5)");
    for (int i = 0; i < 2; i++)
        ts_plan_free(p[i]), ts_shared_free(s[i]);
    ts_graph_free(g);
}

static void refused(bool done, const err *e, const char *why)
{
    CHECK(!done);
    CHECK_TEXT(e->text, why);
}

static void test_refusals(void)
{
    err e[9] = {{0}};
    float one[N];
    ts_graph *g = ts_graph_make();
    ts_plan *a = adding(g, "cuda:0"), *b = adding(g, "cuda:1"), *c = adding(g, "interp");
    ts_shared *s = ts_shared_make(a, ALL, &e[0]);
    const int y = ts_plan_find(a, "y");
    refused(ts_shared_make(c, 1, &e[1]) != NULL, &e[1], "plans for target interp share no memory");
    refused(ts_shared_make(a, 0, &e[2]) != NULL, &e[2], "memory of 0 elements to be shared, at least 1 expected");
    refused(ts_shared_read(s, ALL - N + 1, one, N, &e[3]), &e[3], "elements 65 to 96 of shared memory that has 96");
    refused(ts_plan_share(a, y, s, AT, &e[4]), &e[4], "input 1 has no value, or decides shapes, and cannot be shared");
    CHECK(set(a, "y", 1) && set(b, "y", 1));
    refused(ts_plan_share(a, y, s, 8, &e[5]), &e[5],
            "input \"y\" cannot lie at element 8 of shared memory: f32 of one device at a multiple of 16 expected");
    refused(ts_plan_share(a, y, s, 80, &e[6]), &e[6], "elements 80 to 111 of shared memory that has 96");
    refused(ts_plan_share(b, y, s, 0, &e[7]), &e[7], "memory of cuda:0 cannot be shared by a plan for cuda:1");
    setenv("TESSERA_CUDA", "nccl=/nowhere/nccl.so", 1);
    CHECK(!ts_plan_shares(a, 2, &e[8]) && e[8].code == TS_DEVICE);
    ts_plan_free(a), ts_plan_free(b), ts_plan_free(c), ts_shared_free(s), ts_graph_free(g);
}

int main(void)
{
    char words[4096];
    const char *build = getenv("BUILD"), *asked = getenv("TESSERA_CUDA");
    snprintf(words, sizeof words, "nccl=%s/tests/gpusim/libnccl.so.2%s%s", build ? build : "build", asked ? "," : "",
             asked ? asked : "");
    setenv("TESSERA_CUDA", words, 1), setenv("SIMCUDA_DEVICES", "2", 1);
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    test_plans();
    test_members();
    test_refusals();
    return check_done();
}
