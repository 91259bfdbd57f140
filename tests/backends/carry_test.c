/* ctest: Og
 * carry_test.c - state: what the next run finds in its inputs, written in place or copied, is what the last one made of
 * it; held against plans without state, whose outputs are handed on by hand. */
#include "backends/driver.h"
#include "tests/backends/row.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <string.h>

enum { N = 6, RUNS = 3 };

/* A step of descent with momentum, v' = v / 2 + x^T (x p), p' = p - v' / 8, and the old sum of p; two inputs that
 * change places, one of which is an output; a turn, which cannot be in place. */
typedef struct step {
    ts_graph *g;
    ts_tensor out[2]; /* sum, left */
    ts_state state[5];
    ts_tensor input[N];
} step;

static void make_step(step *s)
{
    const int64_t square[] = {40, 40}, row[] = {9};
    ts_graph *g = s->g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F32, 2, square), p = ts_input(g, "p", TS_F32, 2, square),
              v = ts_input(g, "v", TS_F32, 2, square), left = ts_input(g, "left", TS_F32, 1, row),
              right = ts_input(g, "right", TS_F32, 1, row), turned = ts_input(g, "turned", TS_F32, 2, square),
              slope = ts_call2(g, "matmul", ts_call1(g, "transpose", x), ts_call2(g, "matmul", x, p)),
              speed = ts_call2(g, "add", ts_call2(g, "multiply", v, ts_scalar(g, TS_F32, 0.5)), slope),
              next = ts_call2(g, "subtract", p, ts_call2(g, "multiply", speed, ts_scalar(g, TS_F32, 0.125)));
    *s = (step){
        .g = g,
        .out = {ts_call1(g, "sum", p), left},
        .state = {{p, next}, {v, speed}, {left, right}, {right, left}, {turned, ts_call1(g, "transpose", turned)}},
        .input = {x, p, v, left, right, turned}};
}

static bool set_all(const step *s, ts_plan *p, ts_error *e)
{
    bool ok = true;
    for (int i = 0; ok && i < N; i++) {
        ts_array a;
        ok = ts_array_make(&a, ts_type(s->input[i]), ts_rank(s->input[i]), ts_shape(s->input[i]), e);
        ts_array_random(&a, 7 + (uint64_t)i, 0);
        ok = ok && ts_plan_set(p, ts_plan_find(p, ts_name(s->input[i])), &a, e);
        ts_array_free(&a);
    }
    return ok;
}

/* RUNS runs, state handed on by hand: last the outputs of the last one, then what the state became. */
static bool run_by_hand(const step *s, const ts_options *o, ts_array *last, ts_error *e)
{
    ts_tensor all[COUNT(s->out) + COUNT(s->state)] = {s->out[0], s->out[1]};
    for (int i = 0; i < COUNT(s->state); i++)
        all[COUNT(s->out) + i] = s->state[i].to;
    ts_plan *p = ts_plan_of(s->g, COUNT(all), all, 0, NULL, o, e);
    bool ok = p && set_all(s, p, e);
    for (int r = 0; ok && r < RUNS; r++) {
        ok = ts_plan_run(p, e);
        for (int i = 0; ok && i < COUNT(all); i++)
            ts_array_free(&last[i]), ok = ts_plan_get(p, i, &last[i], e);
        for (int i = 0; ok && i < COUNT(s->state); i++)
            ok = ts_plan_set(p, ts_plan_find(p, ts_name(s->state[i].from)), &last[COUNT(s->out) + i], e);
    }
    ts_plan_free(p);
    return ok;
}

/* On several devices other operations are computed together, and each rounds in its own way. */
static bool same_state(const step *s, ts_plan *p, const ts_array *want, ts_error *e)
{
    const double tolerance = p->plan->n_site ? 1e-5 : 0;
    bool same = true;
    for (int i = 0; same && i < COUNT(s->out) + COUNT(s->state); i++) {
        ts_array got = {0};
        const int k = i - COUNT(s->out);
        same = k < 0 ? ts_plan_get(p, i, &got, e)
                     : ts_plan_value(p, ts_plan_find(p, ts_name(s->state[k].from)), &got, e);
        same = same && CHECK(row_differs(&want[i], &got, tolerance) < 0);
        ts_array_free(&got);
    }
    return same;
}

static void test_target(const step *s, const ts_options *o)
{
    ts_error e = {0};
    ts_array want[COUNT(s->out) + COUNT(s->state)] = {0};
    double seconds[64];
    bool ok = run_by_hand(s, o, want, &e);
    ts_plan *p = ts_plan_of(s->g, COUNT(s->out), s->out, COUNT(s->state), s->state, o, &e);
    ok = ok && p && set_all(s, p, &e);
    for (int r = 0; ok && r < RUNS; r++)
        ok = ts_plan_run(p, &e);
    ok = ok && same_state(s, p, want, &e);
    if (ok && !strcmp(o->target, "c")) /* profiling leaves the state alone */
        ok = set_all(s, p, &e) && ts_plan_profile(p, 2, seconds, COUNT(seconds), &e);
    for (int r = 0; ok && !strcmp(o->target, "c") && r < RUNS; r++)
        ok = ts_plan_run(p, &e);
    ok = ok && same_state(s, p, want, &e);
    if (!CHECK(ok))
        printf("  %s: %s\n", o->target, e.text);
    for (int i = 0; i < COUNT(want); i++)
        ts_array_free(&want[i]);
    ts_plan_free(p);
}

/* State that one device reads and another one makes, or both read; the profile counts transfers as kernels. */
static void test_devices(const step *s)
{
    static const char *const rules[] = {"{\"match\":{\"op\":[\"matmul\"]},\"place\":\"interp\"}",
                                        "{\"match\":{\"op\":[\"subtract\",\"sum\"]},\"place\":\"interp\"}",
                                        "{\"match\":{\"op\":[\"transpose\"]},\"place\":\"interp\"}",
                                        "{\"place\":\"interp\"}"};
    for (int i = 0; i < COUNT(rules); i++) {
        scratch folder = scratch_make();
        char path[200], all[200];
        err e = {0};
        snprintf(path, sizeof path, "%s/places.json", folder.path);
        snprintf(all, sizeof all, "{\"format\":\"tiling/1\",\"rules\":[%s]}", rules[i]);
        if (CHECK(file_save(path, all, strlen(all), &e)))
            test_target(s, &(ts_options){.target = "c", .threads = 2, .schema = path});
        scratch_free(&folder);
    }
}

static void test_places(const step *s)
{
    ts_error e = {0};
    ts_plan *p = ts_plan_of(s->g, 2, s->out, COUNT(s->state), s->state, &(ts_options){.threads = 2}, &e);
    char *json = p ? ts_plan_json(p, &e) : NULL, *at = json ? strstr(json, "\"state\"") : NULL;
    if (CHECK(at != NULL)) {
        at[strcspn(at, "]") + 1] = 0;
        CHECK_TEXT(at, "\"state\":[{\"input\":\"p\",\"in_place\":true},{\"input\":\"v\",\"in_place\":true},"
                       "{\"input\":\"left\",\"in_place\":false},{\"input\":\"right\",\"in_place\":false},"
                       "{\"input\":\"turned\",\"in_place\":false}]");
    }
    ts_free(json);
    ts_plan_free(p);
}

static void refused(const step *s, int n, const ts_state *state, const char *want)
{
    ts_error e = {0};
    ts_plan *p = ts_plan_of(s->g, 1, s->out, n, state, NULL, &e);
    CHECK(!p && e.code == TS_USAGE);
    CHECK_TEXT(e.text, want);
    ts_plan_free(p);
}

#define INPUTS_ONLY                                                                                                 \
    "\n  hint: what a plan carries over, parameters of a step too, is made by ts_input, not by ts_weight, and has " \
    "its "                                                                                                          \
    "first value by ts_plan_set"

/* A carried input that was never set is told where its first value is. */
static void test_no_value(const step *s)
{
    ts_error e = {0};
    const ts_state halved = {s->input[1], ts_call2(s->g, "multiply", s->input[1], ts_scalar(s->g, TS_F32, 0.5))};
    ts_plan *p = ts_plan_of(s->g, 1, s->out, 1, &halved, NULL, &e);
    CHECK(p && !ts_plan_run(p, &e) && e.code == TS_USAGE);
    CHECK_TEXT(e.text, "input \"p\" has no value: ts_plan_set gives it one\n  hint: it is carried from run to run: its "
                       "first value is that of `start` of its ts_update, evaluated by ts_eval, or a parameter's own");
    ts_plan_free(p);
}

typedef struct marks {
    ts_plan *p;
    ts_memory at[3][TS_N_TAG];
} marks;

static void look(void *user, int i)
{
    marks *m = user;
    CHECK(ts_plan_memory(m->p, m->at[i], &(ts_error){0}));
    if (i == 1)
        ts_plan_mark(m->p);
}

/* exp(x) and x x are there at once before they are added; a mark begins a peak anew. */
static void test_memory(void)
{
    enum { BYTES = 64 * 64 * 4 };
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F32, 2, (int64_t[]){64, 64}), xx = ts_call2(g, "matmul", x, x),
              y = ts_call2(g, "matmul", xx, ts_call2(g, "matmul", xx, x)), sum = ts_call1(g, "sum", y);
    marks m = {.p = ts_plan_of(g, 1, &sum, 0, NULL, &(ts_options){.target = "c", .threads = 1}, &e)};
    ts_memory *all = m.at[0];
    ts_array one = {0};
    CHECK(m.p && ts_plan_memory(m.p, all, &e) && !all[TS_TAG_INPUTS].now && !all[TS_TAG_VALUES].peak);
    CHECK(all[TS_TAG_PLAN].now > 0);
    CHECK(ts_array_make(&one, TS_F32, 2, (int64_t[]){64, 64}, &e) && ts_plan_set(m.p, 0, &one, &e));
    const int n = m.p->plan->n_kernel;
    const bool ran = ts_plan_run_stops(m.p, 3, (int[]){0, 2, n}, look, &m, &e);
    if (!CHECK(ran && n > 2))
        printf("  %s\n", e.text);
    CHECK(m.at[0][TS_TAG_VALUES].now == 0 && m.at[0][TS_TAG_INPUTS].now == BYTES);
    CHECK(m.at[1][TS_TAG_VALUES].now == 2 * BYTES && m.at[1][TS_TAG_VALUES].peak == 2 * BYTES);
    CHECK(ts_plan_memory(m.p, all, &e) && all[TS_TAG_VALUES].peak <= m.p->plan->lower_bound);
    ts_plan_mark(m.p);
    CHECK(ts_plan_memory(m.p, all, &e) && all[TS_TAG_VALUES].peak == all[TS_TAG_VALUES].now);
    CHECK(ts_plan_run(m.p, &e) && ts_plan_memory(m.p, all, &e));
    CHECK(all[TS_TAG_VALUES].peak == m.p->plan->lower_bound && all[TS_TAG_VALUES].now >= 4);
    CHECK(!strcmp(ts_tag_name(TS_TAG_VALUES), "values"));
    ts_array_free(&one), ts_plan_free(m.p), ts_graph_free(g);
}

static void test_refusals(const step *s)
{
    const ts_tensor p = s->state[0].from, next = s->state[0].to, v = s->state[1].from, turned = s->state[4].from;
    test_no_value(s), test_memory();
    refused(s, 2, (ts_state[]){{p, next}, {p, v}}, "state 1: \"p\" becomes something else already");
    refused(s, 1, &(ts_state){p, s->out[0]}, "state 0: \"p\" is f32[40,40] and would become f32[]");
    refused(s, 1, &(ts_state){turned, next}, "state 0: \"turned\" is no input that the tensors need" INPUTS_ONLY);
    refused(s, 1, &(ts_state){next, p}, "state 0: \"\" is no input that the tensors need" INPUTS_ONLY);
    refused(s, 1, &(ts_state){NULL, p}, "tensor 1 is NULL");
}

int main(void)
{
    step s;
    make_step(&s);
    for (int threads = 1; threads <= 3; threads++)
        test_target(&s, &(ts_options){.target = "c", .threads = threads});
    test_target(&s, &(ts_options){.target = "c", .threads = 2, .reference = true});
    test_target(&s, &(ts_options){.target = "interp"});
    test_devices(&s);
    test_places(&s);
    test_refusals(&s);
    ts_graph_free(s.g);
    return check_done();
}
