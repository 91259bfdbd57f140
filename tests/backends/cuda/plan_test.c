/* ctest: O3
 * Plans on the stand-in for the driver: state that runs leave for the next one, kernels one by one with their values
 * looked at, an index that leads outside, a second build that compiles nothing, more operands than a kernel takes, one
 * plan over two devices. (Of a kernel of so many operands NVRTC takes longer where it optimises less.) */
#include "backends/backend.h"
#include "graph/ir/graph.h"
#include "schedule/make.h"
#include "tests/backends/cuda/rig.h"
#include "tests/backends/many.h"
#include "tests/backends/row.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 6, RUNS = 3 };

/* ---- state ---- */
typedef struct step { /* v' = v / 2 + x^T (x p), p' = p - v' / 8; left and right change places; the sum of the old p */
    ts_graph *g;
    ts_tensor out[2], input[5];
    ts_state state[4];
} step;

static step make_step(void)
{
    const int64_t square[] = {SIDE, SIDE}, list[] = {9};
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F32, 2, square), p = ts_input(g, "p", TS_F32, 2, square),
              v = ts_input(g, "v", TS_F32, 2, square), left = ts_input(g, "left", TS_F32, 1, list),
              right = ts_input(g, "right", TS_F32, 1, list),
              slope = ts_call2(g, "matmul", ts_call1(g, "transpose", x), ts_call2(g, "matmul", x, p)),
              speed = ts_call2(g, "add", ts_call2(g, "multiply", v, ts_scalar(g, TS_F32, 0.5)), slope),
              next = ts_call2(g, "subtract", p, ts_call2(g, "multiply", speed, ts_scalar(g, TS_F32, 0.125)));
    return (step){g,
                  {ts_call1(g, "sum", p), left},
                  {x, p, v, left, right},
                  {{p, next}, {v, speed}, {left, right}, {right, left}}};
}

static bool run_step(const step *s, const char *name, ts_array *out, ts_error *e)
{
    ts_plan *p = ts_plan_of(s->g, COUNT(s->out), s->out, COUNT(s->state), s->state, &(ts_options){.target = name}, e);
    bool ok = p != NULL;
    for (int i = 0; ok && i < COUNT(s->input); i++) {
        ts_array a;
        ok = ts_array_make(&a, ts_type(s->input[i]), ts_rank(s->input[i]), ts_shape(s->input[i]), e);
        for (int64_t k = 0; ok && k < ts_array_count(&a); k++)
            ((float *)a.data)[k] = (float)((7 * k + i) % 3 - 1); /* whole numbers: sums are exact in any order */
        ok = ok && ts_plan_set(p, ts_plan_find(p, ts_name(s->input[i])), &a, e);
        ts_array_free(&a);
    }
    for (int r = 0; ok && r < RUNS; r++)
        ok = ts_plan_run(p, e);
    for (int i = 0; ok && i < COUNT(s->out); i++)
        ok = ts_plan_get(p, i, &out[i], e);
    for (int i = 0; ok && i < COUNT(s->state); i++)
        ok = ts_plan_value(p, ts_plan_find(p, ts_name(s->state[i].from)), &out[COUNT(s->out) + i], e);
    ts_plan_free(p);
    return ok;
}

static void check_state(void)
{
    enum { N = 6 };
    ts_array want[N] = {0}, got[N] = {0};
    err e = {0};
    const step s = make_step();
    if (!CHECK(run_step(&s, "c", want, &e) && run_step(&s, "cuda", got, &e)))
        printf("  %s\n", e.text);
    for (int i = 0; i < N; i++) {
        CHECK(row_differs(&want[i], &got[i], 0) < 0);
        ts_array_free(&want[i]), ts_array_free(&got[i]);
    }
    ts_graph_free(s.g);
}

/* ---- an index that leads outside ---- */
static void ask_outside(const char *name, err *e)
{
    const int64_t table[] = {5, 3}, list[] = {4};
    ts_graph *g = ts_graph_make();
    ts_tensor t = ts_input(g, "table", TS_F32, 2, table), i = ts_input(g, "places", TS_I64, 1, list),
              y = ts_call1(g, "relu", ts_call2(g, "gather", t, i));
    ts_array a, b, out;
    CHECK(ts_array_make(&a, TS_F32, 2, table, e) && ts_array_make(&b, TS_I64, 1, list, e));
    ((int64_t *)b.data)[2] = 5;
    const ts_given given[] = {{"table", a}, {"places", b}};
    CHECK(!ts_eval(1, &y, 2, given, &(ts_options){.target = name}, &out, e));
    ts_array_free(&a), ts_array_free(&b);
    ts_graph_free(g);
}

static void check_outside(void)
{
    err want = {0}, got = {0};
    ask_outside("c", &want);
    ask_outside("cuda", &got);
    CHECK(got.code == TS_NUMERICS);
    CHECK_TEXT(got.text, want.text);
}

/* ---- kernel by kernel ---- */
typedef struct seen {
    const backend *by;
    program *program;
    const plan *p;
    int n, right;
} seen;

static void look(void *user, int k)
{
    seen *s = user;
    dtype stored;
    const node *n = s->p->kernel[k].stage[s->p->kernel[k].n_stage - 1].node;
    const float *at = s->by->at(s->program, n, &stored);
    s->n++;
    s->right += at && stored == TS_F32 && at[0] == (n->type.rank == 2 ? 48 : 16); /* 16 times 3; 16 ones */
}

static void check_each(void)
{
    const int64_t square[] = {16, 16};
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F32, 2, square), w = ts_input(g, "w", TS_F32, 2, square),
              root[] = {ts_call2(g, "matmul", x, w), ts_call1(g, "sum axes=[0]", x)};
    err e = {0};
    arena mem = {0};
    text facts = {0};
    float one[256], three[256];
    for (int i = 0; i < 256; i++)
        one[i] = 1, three[i] = 3;
    const backend *by = backend_find("cuda", &e);
    const target *on = by->target(&mem, &(machine_options){0}, &e);
    plan *p = plan_make(g, 2, root, &(plan_options){.on = on, .target = "cuda"}, &e);
    for (int again = 0; again < 2 && CHECK(p != NULL); again++) {
        facts.length = 0;
        program *made = by->build(p, &(build_options){0}, &facts, &e);
        if (!CHECK(made != NULL))
            break;
        seen s = {by, made, p, 0, 0};
        void *input[] = {one, three};
        if (strcmp(p->input[0]->label, "x"))
            input[0] = three, input[1] = one;
        CHECK(by->kernels->each(made, input, look, &s, &e));
        CHECK(s.n == 2 && s.right == 2);
        double took[2] = {-1, -1};
        CHECK(by->kernels->time(made, input, took, &e) && took[0] > 0 && took[1] > 0 && took[0] + took[1] < 60);
        CHECK(!again || strstr(text_str(&facts), "\"compiled\":0") != NULL);
        by->drop(made);
    }
    CHECK_TEXT(e.text, "");
    plan_free(p), text_free(&facts), arena_free(&mem);
    ts_graph_free(g);
}

/* ---- several devices ---- */

/* Products here or there, the rest elsewhere; an order is no device's but the processor's. */
static void try_places(const char *rules, const ts_array *want, int n, const ts_tensor *y, const ts_given *given)
{
    err e = {0};
    ts_array got[3] = {0};
    scratch folder = scratch_make();
    const char *path = scratch_in(&folder, "rules.json");
    CHECK(file_save(path, rules, strlen(rules), &e));
    if (!CHECK(ts_eval(n, y, 2, given, &(ts_options){.target = "c,cuda:0", .schema = path}, got, &e)))
        printf("  %s: %s\n", rules, e.text);
    for (int i = 0; i < n; i++)
        CHECK(row_differs(&want[i], &got[i], 0) < 0), ts_array_free(&got[i]);
    scratch_free(&folder);
}

static void check_places(void)
{
    const int64_t left[] = {8, 6}, right[] = {6, 5};
    ts_graph *g = ts_graph_make();
    ts_tensor a = ts_input(g, "a", TS_F32, 2, left), b = ts_input(g, "b", TS_F32, 2, right),
              p = ts_call2(g, "matmul", a, b), r = ts_call1(g, "relu", p),
              y[] = {ts_call1(g, "sum axes=[0]", r), ts_call1(g, "argsort", r), ts_call2(g, "matmul", a, b)};
    ts_array x, z, want[3] = {0};
    err e = {0};
    CHECK(ts_array_make(&x, TS_F32, 2, left, &e) && ts_array_make(&z, TS_F32, 2, right, &e));
    for (int i = 0; i < 48; i++)
        ((float *)x.data)[i] = (float)(5 * i % 7 - 3);
    for (int i = 0; i < 30; i++)
        ((float *)z.data)[i] = (float)(3 * i % 5 - 2);
    const ts_given given[] = {{"a", x}, {"b", z}};
    CHECK(ts_eval(COUNT(y), y, 2, given, &(ts_options){.target = "interp"}, want, &e));
    try_places("{\"format\":\"tiling/1\",\"rules\":[{\"match\":{\"op\":[\"matmul\"]},\"place\":\"cuda:0\"},"
               "{\"place\":\"cpu\"}]}",
               want, COUNT(y), y, given);
    try_places("{\"format\":\"tiling/1\",\"rules\":[{\"match\":{\"op\":[\"matmul\",\"order\"]},\"place\":\"cpu\"},"
               "{\"place\":\"cuda:0\"}]}",
               want, COUNT(y), y, given);
    for (int i = 0; i < COUNT(want); i++)
        ts_array_free(&want[i]);
    ts_array_free(&x), ts_array_free(&z), ts_graph_free(g);
}

int main(void)
{
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    check_state();
    check_outside();
    check_each();
    many_check("cuda", 600);
    check_places();
    return check_done();
}
