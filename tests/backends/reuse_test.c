/* ctest: large Og
 * reuse_test N SEED: N random graphs whose results lie over operands and whose state is written in place compute the
 * bits that they compute with a place for every value, and nothing overlaps that is needed at once. */
#include "backends/cpu/cpu.h"
#include "backends/backend.h"
#include "schedule/make.h"
#include "tests/backends/random_row.h"
#include "tests/backends/row.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 6, DEFAULT_CASES = 24, RUNS = 2 };

typedef struct trial {
    ts_graph *g;
    text row[AT_ONCE];
    ts_tensor root[AT_ONCE];
    row_inputs in;
    int n_state;
    ts_state state[MAX_ROW_INPUTS];
} trial;
static struct {
    int values, over, state, in_place;
} total;

/* ---- places ---- */
static bool lies_over(const plan *p, const buffer *a, const buffer *b) /* a is written as b is read for the last time */
{
    return a->over && &p->buffer[a->over->id] == b && b->last == a->first;
}

static void check_places(const plan *p)
{
    for (int i = 0; i < p->g->n; i++)
        for (int j = 0; j < i; j++) {
            const buffer *a = &p->buffer[i], *b = &p->buffer[j];
            if (a->where != IN_ARENA || b->where != IN_ARENA || a->last < b->first || b->last < a->first)
                continue;
            const bool apart = a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset;
            CHECK(apart || lies_over(p, a, b) || lies_over(p, b, a));
        }
    for (int i = 0; i < p->g->n; i++)
        if (p->buffer[i].where == IN_ARENA)
            total.values++, total.over += p->buffer[i].over != NULL;
}

static bool compute(const trial *t, const plan_options *w, bool own_places, ts_array *out)
{
    err e = {0};
    plan_options own = *w;
    text facts = {0};
    own.own_places = own_places;
    const backend *c = backend_find("c", &e);
    plan *p = plan_make(t->g, AT_ONCE, t->root, &own, &e);
    program *g = p ? c->build(p, &(build_options){.cache_folder = "none"}, &facts, &e) : NULL;
    void *input[MAX_ROW_INPUTS];
    for (int i = 0; g && i < p->n_input; i++)
        for (int k = 0; k < t->in.n; k++)
            if (!strcmp(p->input[i]->label, t->in.name[k]))
                input[i] = t->in.given[k].value.data;
    bool ok = g && c->run(g, input, &e);
    for (int i = 0; ok && i < AT_ONCE; i++) {
        const type *y = &t->root[i]->type;
        ok = ts_array_make(&out[i], y->dtype, y->rank, y->dim, &e) && c->get(g, i, &out[i], &e);
    }
    if (p && !own_places)
        check_places(p);
    if (!CHECK(ok))
        printf("  %s\n", e.text);
    if (g)
        c->drop(g);
    plan_free(p), text_free(&facts);
    return ok;
}

static void test_places(const trial *t, const plan_options *w)
{
    ts_array reused[AT_ONCE] = {0}, apart[AT_ONCE] = {0};
    if (compute(t, w, false, reused) && compute(t, w, true, apart))
        for (int i = 0; i < AT_ONCE; i++)
            if (!CHECK(row_differs(&apart[i], &reused[i], 0) < 0))
                printf("  %s, %d threads: %s\n", w->on->model, w->on->workers, text_str(&t->row[i]));
    for (int i = 0; i < AT_ONCE; i++)
        ts_array_free(&reused[i]), ts_array_free(&apart[i]);
}

/* ---- state ---- */
/* Every input becomes itself, moved by its row's result: x' = clamp(x + clamp(sum of y)), all within -4 ... 4. */
static ts_tensor clamp(ts_graph *g, ts_tensor x, double most)
{
    return ts_call2(g, "minimum", ts_call2(g, "maximum", x, ts_scalar(g, TS_F32, -most)), ts_scalar(g, TS_F32, most));
}

static void add_state(trial *t)
{
    for (int i = 0; i < AT_ONCE; i++) {
        ts_tensor leaves[64], y = t->root[i];
        if (ts_type(y) != TS_F32)
            y = ts_call1(t->g, "cast to=f32", y);
        const ts_tensor sum = clamp(t->g, ts_call1(t->g, "sum", y), 1);
        const int n = ts_leaves(1, &t->root[i], leaves);
        for (int k = 0; k < n; k++)
            if (leaves[k]->leaf->kind == LEAF_INPUT && ts_type(leaves[k]) == TS_F32)
                t->state[t->n_state++] = (ts_state){leaves[k], clamp(t->g, ts_call2(t->g, "add", leaves[k], sum), 4)};
    }
}

static bool run_state(const trial *t, const char *by, const plan_options *w, ts_array *out, ts_array *state)
{
    err e = {0};
    const ts_options o = {.target = by, .isa = w->on->model, .threads = w->on->workers, .cache_folder = "none"};
    ts_plan *p = ts_plan_of(t->g, AT_ONCE, t->root, t->n_state, t->state, &o, &e);
    bool ok = p != NULL;
    for (int i = 0; ok && i < t->in.n; i++) {
        const int k = ts_plan_find(p, t->in.name[i]);
        ok = k < 0 || ts_plan_set(p, k, &t->in.given[i].value, &e);
    }
    for (int r = 0; ok && r < RUNS; r++)
        ok = ts_plan_run(p, &e);
    for (int i = 0; ok && i < AT_ONCE; i++)
        ok = ts_plan_get(p, i, &out[i], &e);
    for (int i = 0; ok && i < t->n_state; i++)
        ok = ts_plan_value(p, ts_plan_find(p, ts_name(t->state[i].from)), &state[i], &e);
    char *json = ok ? ts_plan_json(p, &e) : NULL;
    for (const char *at = json; at && (at = strstr(at, "\"in_place\":")); at++)
        total.state++, total.in_place += !strncmp(at, "\"in_place\":true", 15);
    ts_free(json);
    if (!CHECK(ok))
        printf("  %s: %s\n", by, e.text);
    ts_plan_free(p);
    return ok;
}

static void test_state(trial *t, const plan_options *w)
{
    static ts_array want[AT_ONCE + MAX_ROW_INPUTS], got[AT_ONCE + MAX_ROW_INPUTS];
    add_state(t);
    if (run_state(t, "interp", w, want, want + AT_ONCE) && run_state(t, "c", w, got, got + AT_ONCE))
        for (int i = 0; i < AT_ONCE + t->n_state; i++)
            if (!CHECK(row_differs(&want[i], &got[i], 0) < 0))
                printf("  %s %d, %s, %d threads\n", i < AT_ONCE ? "output" : "state", i % AT_ONCE, w->on->model,
                       w->on->workers);
    for (int i = 0; i < AT_ONCE + MAX_ROW_INPUTS; i++)
        ts_array_free(&want[i]), ts_array_free(&got[i]);
}

static void try_once(const machine *on, uint64_t seed)
{
    trial t = {.g = ts_graph_make()};
    dice d = {seed, 0};
    bool ok = true;
    for (int i = 0; ok && i < AT_ONCE; i++) {
        random_row(&d, &t.row[i]);
        ok = (t.root[i] = row_build(t.g, text_str(&t.row[i]), i, &t.in)) != NULL;
    }
    target made;
    const plan_options w = {.on = &made, .target = "c"};
    cpu_target_of(&made, on, on->isa, 1 + (int)roll(&d, 4));
    if (ok)
        test_places(&t, &w), test_state(&t, &w);
    for (int i = 0; i < AT_ONCE; i++)
        text_free(&t.row[i]);
    row_inputs_free(&t.in), ts_graph_free(t.g);
}

int main(int argc, char **argv)
{
    const long cases = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_CASES;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    machine on;
    err e = {0};
    if (CHECK(machine_load(&on, NULL, &e)))
        for (long i = 0; i < cases; i += AT_ONCE)
            try_once(&on, seed + (uint64_t)(i / AT_ONCE));
    printf("%d values, %d over others; %d states, %d in place\n", total.values, total.over, total.state,
           total.in_place);
    CHECK(total.over > 0 && total.in_place > 0);
    return check_done();
}
