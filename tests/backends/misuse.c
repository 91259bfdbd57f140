#include "tessera_shared.h"
#include "tests/backends/misuse.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

/* y = rows of w by ids; s becomes s + y, and is given as it was. Ids beyond 3 make a run fail. */
static const int64_t two[] = {2}, pair[] = {2, 3}, good_ids[] = {3, 0}, bad_ids[] = {1, 99};
static const float rows[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, start[] = {1, 1, 1, 1, 1, 1};
enum { IDS, S }; /* inputs of the plan, by its numbers below */

typedef struct rig {
    const ts_options *on;
    ts_graph *g;
    ts_plan *p;
    int input[2]; /* what ts_plan_find gave */
    ts_error e;
} rig;

static ts_array over(ts_dtype d, int rank, const int64_t *dim, const void *data)
{
    ts_array a = {.dtype = d, .rank = rank, .data = (void *)(uintptr_t)data};
    for (int i = 0; dim && i < rank && i < TS_MAX_RANK; i++)
        a.dim[i] = dim[i];
    return a;
}

static bool set(rig *r, int which, ts_dtype d, int rank, const int64_t *dim, const void *data)
{
    const ts_array a = over(d, rank, dim, data);
    return ts_plan_set(r->p, which >= 0 && which < 2 ? r->input[which] : which, &a, &r->e);
}

/* ---- states: each one goes on from the one before ---- */
enum { MADE, BUILT, SET, RAN, FAILED, AGAIN, PROFILED, GONE, N_STATE };
static const char *const states[] = {"made", "built", "set", "ran", "failed", "ran again", "profiled", "without graph"};

static bool bring_to(rig *r, int state)
{
    ts_error e = {0};
    const ts_array w = over(TS_F32, 2, (const int64_t[]){4, 3}, rows);
    double seconds[8];
    r->g = ts_graph_make();
    ts_tensor ids = ts_input(r->g, "ids", TS_I64, 1, two), s = ts_input(r->g, "s", TS_F32, 2, pair);
    ts_tensor y = ts_call2(r->g, "gather axis=0", ts_constant(r->g, "w", &w), ids), out[] = {y, s};
    const ts_state becomes = {s, ts_call2(r->g, "add", s, y)};
    r->p = ts_plan_of(r->g, 2, out, 1, &becomes, r->on, &r->e);
    r->input[IDS] = ts_plan_find(r->p, "ids"), r->input[S] = ts_plan_find(r->p, "s");
    bool ok = r->p && r->input[IDS] >= 0 && r->input[S] >= 0;
    ok = ok && (state < BUILT || ts_plan_build(r->p, &r->e));
    ok = ok && (state < SET || (set(r, IDS, TS_I64, 1, two, good_ids) && set(r, S, TS_F32, 2, pair, start)));
    ok = ok && (state < RAN || ts_plan_run(r->p, &r->e));
    ok = ok && (state < FAILED || (set(r, IDS, TS_I64, 1, two, bad_ids) && !ts_plan_run(r->p, &e)));
    ok = ok && (state < AGAIN || (set(r, IDS, TS_I64, 1, two, good_ids) && set(r, S, TS_F32, 2, pair, start) &&
                                  ts_plan_run(r->p, &r->e)));
    if (ok && state == PROFILED)
        ok = ts_plan_profile(r->p, 1, seconds, 8, &r->e) || r->e.code == TS_UNSUPPORTED;
    if (ok && state == GONE)
        ts_graph_free(r->g), r->g = NULL;
    if (!ok)
        printf("%s: %s\n", states[state], r->e.text);
    return ok;
}

/* ---- calls ---- */
static bool get(rig *r, int output, const float want[6])
{
    ts_array a = {0};
    if (!ts_plan_get(r->p, output, &a, &r->e))
        return false;
    CHECK(a.dtype == TS_F32 && ts_array_count(&a) == 6 && !memcmp(a.data, want, 6 * sizeof *want));
    ts_array_free(&a);
    return true;
}

static const float want_y[] = {9, 10, 11, 0, 1, 2};
static bool build(rig *r)
{
    return ts_plan_build(r->p, &r->e);
}
static bool runs(rig *r)
{
    return ts_plan_runs(r->p, &r->e);
}
static bool device(rig *r) /* the plan's own word, which needs neither graph nor program */
{
    return ts_plan_device(r->p) != NULL;
}
static bool set_again(rig *r)
{
    return set(r, S, TS_F32, 2, pair, start);
}
static bool set_rank(rig *r)
{
    return set(r, S, TS_F32, 1, (const int64_t[]){6}, start);
}
static bool set_high_rank(rig *r)
{
    return set(r, S, TS_F32, 1000000, NULL, NULL);
}
static bool set_low_rank(rig *r)
{
    const ts_array a = {.dtype = TS_F32, .rank = -1, .data = (void *)(uintptr_t)start};
    return ts_plan_set(r->p, r->input[S], &a, &r->e);
}
static bool set_dtype(rig *r)
{
    return set(r, S, TS_I32, 2, pair, start);
}
static bool set_no_dtype(rig *r)
{
    return set(r, S, (ts_dtype)99, 2, pair, start);
}
static bool set_size(rig *r)
{
    return set(r, S, TS_F32, 2, (const int64_t[]){3, 2}, start);
}
static bool set_negative(rig *r)
{
    return set(r, S, TS_F32, 2, (const int64_t[]){-2, -3}, start);
}
static bool set_empty(rig *r)
{
    return set(r, S, TS_F32, 2, pair, NULL);
}
static bool set_nothing(rig *r)
{
    return ts_plan_set(r->p, r->input[S], NULL, &r->e);
}
static bool set_before(rig *r)
{
    return set(r, -1, TS_F32, 2, pair, start);
}
static bool set_behind(rig *r)
{
    return set(r, 2, TS_F32, 2, pair, start);
}
static bool run(rig *r)
{
    return ts_plan_run(r->p, &r->e);
}
static bool get_y(rig *r)
{
    return get(r, 0, want_y);
}
static bool get_old(rig *r)
{
    return get(r, 1, start);
}
static bool get_before(rig *r)
{
    return get(r, -1, want_y);
}
static bool get_behind(rig *r)
{
    return get(r, 2, want_y);
}
static bool get_nothing(rig *r)
{
    return ts_plan_get(r->p, 0, NULL, &r->e);
}
static bool profile(rig *r)
{
    return ts_plan_profile(r->p, 1, (double[8]){0}, 8, &r->e);
}
static bool profile_never(rig *r)
{
    return ts_plan_profile(r->p, 0, (double[8]){0}, 8, &r->e);
}
static bool profile_small(rig *r)
{
    return ts_plan_profile(r->p, 1, (double[1]){0}, 0, &r->e);
}
static bool profile_nothing(rig *r)
{
    return ts_plan_profile(r->p, 1, NULL, 8, &r->e);
}
static bool timed(rig *r)
{
    return ts_plan_run_timed(r->p, (double[8]){0}, 8, &r->e);
}
static bool timed_small(rig *r)
{
    return ts_plan_run_timed(r->p, (double[1]){0}, 0, &r->e);
}
static bool timed_nothing(rig *r)
{
    return ts_plan_run_timed(r->p, NULL, 8, &r->e);
}
static bool strays(rig *r)
{
    ts_stray nan, infinite;
    return ts_plan_strays(r->p, &nan, &infinite, &r->e);
}
static bool strays_nothing(rig *r)
{
    return ts_plan_strays(r->p, NULL, NULL, &r->e);
}
static bool json(rig *r)
{
    char *s = ts_plan_json(r->p, &r->e);
    ts_free(s);
    return s;
}
static bool assemble(rig *r)
{
    return ts_plan_assemble(r->p), json(r);
}
static bool emit_nothing(rig *r)
{
    return ts_plan_emit(r->p, NULL, NULL, &r->e);
}
static bool value(rig *r)
{
    ts_array a;
    const bool ok = ts_plan_value(r->p, r->input[S], &a, &r->e);
    if (ok)
        CHECK(ts_array_count(&a) == 6), ts_array_free(&a);
    return ok;
}
static bool value_before(rig *r)
{
    return ts_plan_value(r->p, -1, &(ts_array){0}, &r->e);
}
static bool value_nothing(rig *r)
{
    return ts_plan_value(r->p, r->input[S], NULL, &r->e);
}
static bool view(rig *r)
{
    ts_array a;
    return ts_plan_view(r->p, r->input[S], &a, &r->e) && CHECK(ts_array_count(&a) == 6);
}
static bool view_behind(rig *r)
{
    return ts_plan_view(r->p, 2, &(ts_array){0}, &r->e);
}
static bool view_nothing(rig *r)
{
    return ts_plan_view(r->p, r->input[S], NULL, &r->e);
}

static bool stops(rig *r)
{
    return ts_plan_run_stops(r->p, 0, NULL, NULL, NULL, &r->e);
}
static bool stops_nothing(rig *r)
{
    return ts_plan_run_stops(r->p, 1, NULL, NULL, NULL, &r->e);
}
static void see(void *user, const ts_span *s)
{
    CHECK(user && s->kernel >= 0);
}
static bool traced(rig *r)
{
    return ts_plan_run_traced(r->p, see, r, &r->e);
}
static bool memory(rig *r)
{
    ts_memory m[TS_N_TAG];
    ts_plan_mark(r->p);
    return ts_plan_memory(r->p, m, &r->e);
}
static bool pipeline(rig *r)
{
    ts_array in[2], out[2];
    float y[6] = {0}, after[6] = {0};
    in[r->input[IDS]] = over(TS_I64, 1, two, good_ids), in[r->input[S]] = over(TS_F32, 2, pair, start);
    out[0] = over(TS_F32, 2, pair, y), out[1] = over(TS_F32, 2, pair, after);
    return ts_plan_pipeline(r->p, &(ts_pipeline){.n = 1, .in = in, .out = out}, &r->e);
}
static bool pipeline_nothing(rig *r)
{
    return ts_plan_pipeline(r->p, NULL, &r->e);
}
static bool shares(rig *r)
{
    return ts_plan_shares(r->p, 1, &r->e);
}
static bool shared_made(rig *r)
{
    ts_shared *s = ts_shared_make(r->p, 64, &r->e);
    ts_shared_free(s);
    return s != NULL;
}
static bool share_nothing(rig *r)
{
    return ts_plan_share(r->p, r->input[S], NULL, 0, &r->e);
}
static bool touched(rig *r)
{
    int first, written;
    return ts_plan_touched(r->p, r->input[S], &first, &written, &r->e);
}
static bool touched_behind(rig *r)
{
    int first, written;
    return ts_plan_touched(r->p, 2, &first, &written, &r->e);
}
static bool given(rig *r, char *text)
{
    const bool is = text != NULL;
    ts_free(text);
    return is && CHECK(r->e.code == TS_OK);
}
static bool ledger(rig *r)
{
    return given(r, ts_plan_ledger(r->p, &r->e));
}
static bool nests(rig *r)
{
    return given(r, ts_plan_nests(r->p, 0, 1, 0, &r->e));
}
static bool nests_behind(rig *r)
{
    return given(r, ts_plan_nests(r->p, 1000, 1, 0, &r->e));
}
static bool kernel_behind(rig *r)
{
    return given(r, ts_plan_kernel(r->p, 1000, "tree", &r->e));
}
static bool kernel_unknown(rig *r)
{
    return given(r, ts_plan_kernel(r->p, 0, "soup", &r->e));
}
static bool link_itself(rig *r)
{
    return ts_merge_link(r->p, "s", r->p, 0, TS_ADD, &r->e);
}
static bool link_nothing(rig *r)
{
    return ts_merge_link(r->p, "s", NULL, 0, TS_ADD, &r->e);
}
static bool link_unknown(rig *r)
{
    return ts_merge_link(r->p, "soup", r->p, 0, TS_ADD, &r->e);
}
static bool lend_behind(rig *r)
{
    const ts_array a = over(TS_F32, 2, pair, start);
    return ts_plan_lend(r->p, 2, &a, &r->e);
}
static bool lend_size(rig *r)
{
    const ts_array a = over(TS_F32, 1, two, start);
    return ts_plan_lend(r->p, r->input[S], &a, &r->e);
}

static const struct call {
    const char *name;
    bool (*go)(rig *r);
    const char *done; /* in each state: - refused, = done, + done, and the plan is another one; ~: + if a target can */
} calls[] = {
    {"build", build, "+++++++-"},
    {"runs", runs, "=======-"},
    {"device", device, "========"},
    {"set", set_again, "+++++++-"},
    {"set: another rank", set_rank, "--------"},
    {"set: a rank that there is not", set_high_rank, "--------"},
    {"set: a rank below 0", set_low_rank, "--------"},
    {"set: another dtype", set_dtype, "--------"},
    {"set: a dtype that there is not", set_no_dtype, "--------"},
    {"set: another size", set_size, "--------"},
    {"set: extents below 0", set_negative, "--------"},
    {"set: no data", set_empty, "--------"},
    {"set: no value", set_nothing, "--------"},
    {"set: input -1", set_before, "--------"},
    {"set: input 2 of 2", set_behind, "--------"},
    {"run", run, "--++-++-"},
    {"get", get_y, "---=-=--"},
    {"get what was", get_old, "---=-=--"},
    {"get: output -1", get_before, "--------"},
    {"get: output 2 of 2", get_behind, "--------"},
    {"get: nowhere to", get_nothing, "--------"},
    {"profile", profile, "--~~-~~-"},
    {"profile: no repeat", profile_never, "--------"},
    {"profile: no room", profile_small, "--------"},
    {"profile: nowhere to", profile_nothing, "--------"},
    {"run timed", timed, "--~~-~~-"},
    {"run timed: no room", timed_small, "--------"},
    {"run timed: nowhere to", timed_nothing, "--------"},
    {"strays", strays, "--~~-~~-"},
    {"strays: nowhere to", strays_nothing, "--------"},
    {"json", json, "=======-"},
    {"assemble", assemble, "=======-"},
    {"emit: nowhere to", emit_nothing, "--------"},
    {"value", value, "--=====-"},
    {"value: input -1", value_before, "--------"},
    {"value: nowhere to", value_nothing, "--------"},
    {"run, with no stops", stops, "--++-++-"},
    {"run with stops nowhere", stops_nothing, "--------"},
    {"run traced", traced, "--~~-~~-"},
    {"memory", memory, "=======-"},
    {"pipeline", pipeline, "+++++++-"},
    {"pipeline: nowhere from", pipeline_nothing, "--------"},
    {"shares", shares, "~~~~~~~-"},
    {"shared memory", shared_made, "~~~~~~~-"},
    {"share: nowhere", share_nothing, "--------"},
    {"touched", touched, "=======-"},
    {"touched: input 2 of 2", touched_behind, "--------"},
    {"ledger", ledger, "=======-"},
    {"nests", nests, "~~~~~~~-"},
    {"nests: kernel 1000", nests_behind, "--------"},
    {"kernel: 1000", kernel_behind, "--------"},
    {"kernel: at no stage", kernel_unknown, "--------"},
    {"link: a plan to itself", link_itself, "--------"},
    {"link: from nothing", link_nothing, "--------"},
    {"link: an input that there is not", link_unknown, "--------"},
    {"lend: input 2 of 2", lend_behind, "--------"},
    {"lend: another size", lend_size, "--------"},
    {"view", view, "--=====-"},
    {"view: input 2 of 2", view_behind, "--------"},
    {"view: nowhere to", view_nothing, "--------"},
};

static void check_call(rig *r, const struct call *c, int state, char want)
{
    r->e = (ts_error){0};
    const bool done = c->go(r), says = r->e.code != TS_OK && *r->e.text;
    const bool right = done ? !says && want != '-'
                            : says && (want == '-' || (want == '~' && r->e.code == TS_UNSUPPORTED));
    if (!CHECK(right) || !CHECK(r->e.code != TS_BUG))
        printf("%s, %s: %s \"%s\"\n", r->on->target, c->name, states[state], r->e.text);
}

/* What is refused, or only looks, leaves a plan as it was: those calls follow each other on one. */
static void check_state(const ts_options *on, int state)
{
    rig own = {.on = on};
    const bool ok = CHECK(bring_to(&own, state));
    const int as = own.e.code == TS_UNSUPPORTED ? AGAIN : state; /* a target that profiles nothing */
    for (size_t i = 0; ok && i < sizeof calls / sizeof *calls; i++) {
        const struct call *c = &calls[i];
        rig fresh = {.on = on};
        if (strchr("-=", c->done[as]))
            check_call(&own, c, state, c->done[as]);
        else if (CHECK(bring_to(&fresh, state)))
            check_call(&fresh, c, state, c->done[as]);
        ts_plan_free(fresh.p), ts_graph_free(fresh.g);
    }
    ts_plan_free(own.p), ts_graph_free(own.g);
}

/* ---- what is said ---- */
static void check_words(const ts_options *on)
{
    static const struct {
        int state;
        bool (*go)(rig *r);
        const char *says;
    } told[] = {
        {BUILT, get_y, "the plan has not run yet: ts_plan_run comes first"},
        {FAILED, get_y, "the last run failed, so that there are no results of it"},
        {BUILT, run, "input \"ids\" has no value: ts_plan_set gives it one"},
        {SET, set_rank, "input \"s\" is f32[6], the model takes f32[2,3]"},
        {SET, set_empty, "the value of an input has no data: NULL was given"},
        {SET, set_behind, "input 2, but the plan has 2 of them, counted from 0"},
        {RAN, get_behind, "output 2, but the plan has 2 of them, counted from 0"},
        {GONE, run,
         "the graph of the plan was freed, or its model bound again: only ts_plan_free is left\n  hint: free plans "
         "before "
         "what they are of; ts_model_take keeps a graph beyond its model's next bind"},
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        rig r = {.on = on};
        if (CHECK(bring_to(&r, told[i].state))) {
            CHECK(!told[i].go(&r));
            CHECK_TEXT(r.e.text, told[i].says);
        }
        ts_plan_free(r.p), ts_graph_free(r.g);
    }
}

/* ---- models, runners, and what is computed at once ---- */
static void check_bound_again(const ts_options *on)
{
    ts_error e = {0}, f = {0};
    const char *const dim = "layers=1", *const other = "layers=2";
    ts_model *m = ts_model_open("products", &e);
    CHECK(!ts_plan_make(m, on, &f) && f.code == TS_USAGE); /* before it is bound */
    CHECK(ts_model_bind(m, 1, &dim, NULL, &e));
    ts_plan *p = ts_plan_make(m, on, &e);
    CHECK(p && ts_plan_build(p, &e) && ts_plan_build(p, &e));
    CHECK(ts_model_bind(m, 1, &other, NULL, &e));
    f = (ts_error){0};
    CHECK(!ts_plan_run(p, &f) && f.code == TS_USAGE && strstr(f.text, "bound again"));
    ts_plan_free(p), ts_model_free(m);
}

static void check_runner(const ts_options *on)
{
    ts_error e = {0};
    float x[16] = {0};
    ts_model *m = ts_model_open("products", &e);
    const char *const dims[] = {"layers=1", "m=2", "k=8", "n=8"};
    ts_runner *r = ts_runner_make(m, 4, dims, on, &e);
    const ts_array good = over(TS_F32, 2, (const int64_t[]){2, 8}, x), dtype = over(TS_I32, 2, good.dim, x),
                   empty = over(TS_F32, 2, good.dim, NULL), rank = over(TS_F32, 1, (const int64_t[]){16}, x);
    const ts_array *const wrong[] = {&dtype, &empty, &rank};
    ts_array y = {0};
    if (!CHECK(r))
        printf("%s\n", e.text);
    for (int i = 0; r && i < 4; i++) { /* and what was refused leaves it as it was */
        const bool ok = i < 3 || ts_runner_run(r, &good, 1, &y, &e);
        ts_error f = {0};
        if (!CHECK(ok) || (i < 3 && !CHECK(!ts_runner_run(r, wrong[i], 1, &y, &f) && f.code != TS_OK && *f.text)))
            printf("%s\n", e.text);
    }
    ts_array_free(&y), ts_runner_free(r), ts_model_free(m);
}

static void check_eval(const ts_options *on)
{
    ts_graph *g = ts_graph_make();
    ts_tensor y = ts_call1(g, "exp", ts_input(g, "x", TS_F32, 2, pair));
    const ts_given wrong[] = {{NULL, over(TS_F32, 2, pair, start)},
                              {"z", over(TS_F32, 2, pair, start)},
                              {"x", over(TS_F32, 2, pair, NULL)},
                              {"x", over(TS_F32, 1, two, start)}};
    ts_array out = {0};
    for (int i = 0; i < 5; i++) { /* the last: nothing is given */
        ts_error e = {0};
        CHECK(!ts_eval(1, &y, i < 4, &wrong[i % 4], on, &out, &e) && e.code != TS_OK && *e.text && !out.data);
    }
    ts_graph_free(g);
}

void misuse_check(const ts_options *on)
{
    for (int state = 0; state < N_STATE; state++)
        check_state(on, state);
    check_words(on);
    check_bound_again(on);
    check_runner(on);
    check_eval(on);
}
