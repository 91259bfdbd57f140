/* ctest: fast
 * Parts of a plan over several devices run at once: two operations that end only when both are under way; what fails in
 * one of them, or in both, ends the run with the sentence of the first in order; the next run is as good as any. Of a
 * pipeline each run but the last ends only when the next one is under way, and none is begun before there is room. */
#include "backends/driver.h"
#include "graph/base/clock.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PATIENCE = 60 }; /* seconds that nobody waits who is not alone */

typedef struct side {
    const char *fails;      /* with these words; NULL: it does not */
    struct side *waits_for; /* to be under way; NULL: for nobody */
    int runs;               /* then, of a pipeline: to be at the run behind this one; 0: at any */
    int fails_at;           /* in that run of those */
    atomic_int begun;
} side;

static bool kernel_of(const ts_use *u, ts_error *e) /* y = x + 1 */
{
    side *own = u->user;
    const double until = seconds_now() + PATIENCE;
    const int turn = atomic_fetch_add(&own->begun, 1), want = turn + 2 < own->runs ? turn + 2 : own->runs;
    while (own->waits_for && atomic_load(&own->waits_for->begun) < (want ? want : 1)) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        if (seconds_now() > until)
            return snprintf(e->text, sizeof e->text, "it is alone"), false;
    }
    for (int64_t i = 0; i < ts_array_count(&u->in[0]); i++)
        ((float *)u->out[0].data)[i] = ((const float *)u->in[0].data)[i] + 1;
    return !own->fails || turn < own->fails_at || (snprintf(e->text, sizeof e->text, "%s", own->fails), false);
}

typedef struct subject {
    ts_graph *g;
    scratch folder;
    side left, right;
    ts_plan *p;
} subject;

/* (left(x) + 1) * right(x), right(left(x)) + 1, or right(left(x)); `right` is done elsewhere. */
enum { SIDE_BY_SIDE, CHAINED, HANDED_ON };
static void make(subject *s, int shape)
{
    static const char rules[] =
        "{\"format\":\"tiling/1\",\"rules\":[{\"match\":{\"op\":\"right\"},\"place\":\"c:cores0\"}]}";
    const int64_t dim[] = {3, 4};
    err e = {0};
    *s = (subject){.g = ts_graph_make(), .folder = scratch_make()};
    CHECK(ts_define(s->g,
                    &(ts_operation){.name = "left", .n_in = 1, .kernel = kernel_of, .serial = true, .user = &s->left}));
    CHECK(ts_define(
        s->g, &(ts_operation){.name = "right", .n_in = 1, .kernel = kernel_of, .serial = true, .user = &s->right}));
    ts_tensor x = ts_input(s->g, "x", TS_F32, 2, dim), one = ts_scalar(s->g, TS_F32, 1),
              left = ts_call1(s->g, "left", x), right = ts_call1(s->g, "right", shape != SIDE_BY_SIDE ? left : x),
              y = shape == HANDED_ON ? right
                  : shape == CHAINED ? ts_call2(s->g, "add", right, one)
                                     : ts_call2(s->g, "multiply", ts_call2(s->g, "add", left, one), right);
    const char *path = scratch_in(&s->folder, "s.json");
    CHECK(file_save(path, rules, strlen(rules), &e));
    s->p = ts_plan_of(s->g, 1, &y, 0, NULL, &(ts_options){.target = "c:numa0", .schema = path, .threads = 1}, &e);
    float value[12];
    for (int i = 0; i < 12; i++)
        value[i] = (float)i;
    if (!CHECK(s->p && s->p->plan->n_site == 2 &&
               ts_plan_set(s->p, 0, &(ts_array){.dtype = TS_F32, .rank = 2, .dim = {3, 4}, .data = value}, &e)))
        printf("  %s\n", e.text);
}

static void drop(subject *s)
{
    ts_plan_free(s->p), ts_graph_free(s->g), scratch_free(&s->folder);
}

static void check_good(subject *s, bool chained)
{
    err e = {0};
    ts_array y = {0};
    s->left.begun = s->right.begun = 0;
    if (!CHECK(ts_plan_run(s->p, &e) && ts_plan_get(s->p, 0, &y, &e)))
        printf("  %s\n", e.text);
    for (int i = 0; i < 12 && y.data; i++)
        CHECK(((float *)y.data)[i] == (float)(chained ? i + 3 : (i + 2) * (i + 1)));
    ts_array_free(&y);
}

static void check_fails(subject *s, const char *want)
{
    err e = {0};
    s->left.begun = s->right.begun = 0;
    CHECK(!ts_plan_run(s->p, &e) && e.code == TS_FAILED);
    CHECK_TEXT(e.text, want);
    s->left.fails = s->right.fails = NULL;
}

static void test_meeting(void)
{
    subject s;
    make(&s, SIDE_BY_SIDE);
    s.left.waits_for = &s.right, s.right.waits_for = &s.left;
    for (int i = 0; i < 20; i++)
        check_good(&s, false);
    drop(&s);
}

static void test_failures(void)
{
    subject s;
    make(&s, SIDE_BY_SIDE);
    for (int i = 0; i < 20; i++) {
        s.left.fails = "first";
        check_fails(&s, "left: first");
        s.right.fails = "second";
        check_fails(&s, "right: second");
        s.left.fails = "first", s.right.fails = "second", s.left.waits_for = &s.right; /* and that one fails before */
        check_fails(&s, "left: first");
        s.left.waits_for = NULL;
        check_good(&s, false);
    }
    drop(&s);
}

static void test_chain(void) /* whoever waits for what failed is told */
{
    subject s;
    make(&s, CHAINED);
    for (int i = 0; i < 20; i++) {
        s.left.fails = "first";
        check_fails(&s, "left: first");
        CHECK(!s.right.begun);
        s.right.fails = "second";
        check_fails(&s, "right: second");
        check_good(&s, true);
    }
    drop(&s);
}

enum { RUNS = 9, MANY = 12 }; /* elements */
static bool pipe_runs(subject *s, float (*x)[MANY + 1], float (*y)[MANY], err *e)
{
    ts_array in[RUNS], out[RUNS];
    for (int i = 0; i < RUNS; i++) { /* values lie as a batch has them, not as kernels want them */
        in[i] = (ts_array){.dtype = TS_F32, .rank = 2, .dim = {3, 4}, .data = x[i]};
        out[i] = (ts_array){.dtype = TS_F32, .rank = 2, .dim = {3, 4}, .data = y[i]};
        for (int k = 0; k < MANY; k++)
            x[i][k] = (float)(100 * i + k);
    }
    s->left.begun = s->right.begun = 0;
    return ts_plan_pipeline(s->p, &(ts_pipeline){.n = RUNS, .in = in, .out = out}, e);
}

static void test_pipeline(void)
{
    subject s;
    float x[RUNS][MANY + 1], y[RUNS][MANY];
    err e = {0};
    make(&s, HANDED_ON);
    s.right.waits_for = &s.left, s.right.runs = RUNS;
    if (!CHECK(pipe_runs(&s, x, y, &e)))
        printf("  %s\n", e.text);
    for (int i = 0; i < RUNS; i++)
        for (int k = 0; k < MANY; k++)
            CHECK(y[i][k] == (float)(100 * i + k + 2));
    s.right.waits_for = NULL, s.right.fails = "second", s.right.fails_at = 3;
    CHECK(!pipe_runs(&s, x, y, &e) && s.right.begun == 4 && s.left.begun <= 6);
    CHECK_TEXT(e.text, "run 3: right: second");
    s.right.fails = NULL, e = (err){0};
    CHECK(pipe_runs(&s, x, y, &e) && y[RUNS - 1][0] == 100 * (RUNS - 1) + 2);
    CHECK(!ts_plan_pipeline(s.p, &(ts_pipeline){.n = 1, .in = &(ts_array){0}, .out = &(ts_array){0}}, &e));
    CHECK_TEXT(e.text, "run 0: the array for output 0 has another dtype or shape than f32[3,4]");
    drop(&s);
}

int main(void)
{
    test_pipeline();
    test_meeting();
    test_failures();
    test_chain();
    return check_done();
}
