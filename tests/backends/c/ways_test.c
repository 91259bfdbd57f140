/* ways_test.c - scans as one kernel give the bits that tables give, which call a trip's kernels one by one: loops
 * backwards, one within another, side by side, ended early, and their gradients, for one worker and for two; how many
 * calls there are then; and an index of a trip that leads outside, which is told of the scan. */
/* ctest: large */
#include "backends/c/program.h"
#include "schedule/make.h"
#include "tests/backends/inside.h"
#include "tests/check.h"
#include "tests/scans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trial {
    target inside, apart; /* machines that differ in whether kernels may hold loops */
} trial;

static plan *plan_on_it(const target *on, graph *g, int n, const ts_tensor *out)
{
    err e = {0};
    plan *p = plan_make(g, n, out, &(plan_options){.on = on, .target = "c"}, &e);
    if (!CHECK(p != NULL))
        printf("  %s\n", e.text);
    return p;
}

/* ---- running ---- */
static void give(const plan *p, const scans_case *c, void **input)
{
    for (int i = 0; i < p->n_input; i++) {
        const size_t bytes = (size_t)type_bytes(&p->input[i]->type);
        input[i] = calloc(1, bytes + 1);
        MUST(input[i]);
        for (int k = 0; k < c->n_given; k++)
            if (!strcmp(p->input[i]->label, c->given[k].name))
                memcpy(input[i], c->given[k].value.data, bytes);
    }
}

static bool run(const plan *p, const scans_case *c, int n, ts_array *out, err *e)
{
    text facts = {0};
    void **input = calloc((size_t)p->n_input + 1, sizeof *input);
    program *made = backend_c.build(p, &(build_options){0}, &facts, e);
    MUST(input);
    give(p, c, input);
    bool ok = made && backend_c.run(made, input, e);
    for (int i = 0; i < n && ok; i++) {
        const type *t = &p->root[i]->type;
        ok = ts_array_make(&out[i], t->dtype, t->rank, t->dim, e) && backend_c.get(made, i, &out[i], e);
    }
    if (made)
        backend_c.drop(made);
    for (int i = 0; i < p->n_input; i++)
        free(input[i]);
    free(input), text_free(&facts);
    return ok;
}

/* ---- the same bits ---- */
static void compare(const trial *t, const char *name, const scans_case *c, int n, const ts_tensor *out)
{
    const target *on[] = {&t->inside, &t->apart};
    ts_array value[2][SCANS_MOST] = {{{0}}};
    MUST(n <= SCANS_MOST);
    for (int way = 0; way < 2; way++) {
        err e = {0};
        plan *p = plan_on_it(on[way], c->g, n, out);
        CHECK((inside_count(p) > 0) == !way);
        if (!CHECK(run(p, c, n, value[way], &e)))
            printf("  %s: %s\n", name, e.text);
        plan_free(p);
    }
    char how[200];
    snprintf(how, sizeof how, "%s, %d workers", name, t->inside.workers);
    scans_same(how, n, value[0], value[1]);
}

static void check_case(void *trial_, const char *name, const scans_case *c)
{
    ts_tensor slope[SCANS_MOST];
    compare(trial_, name, c, c->n, c->out);
    compare(trial_, name, c, scans_slopes(c, slope), slope);
}

/* ---- how many calls ---- */
/* h' = tanh(x[t] + h w), of which a row is kept */
static ts_tensor make_cell(ts_graph *g, int64_t wide)
{
    ts_tensor x = ts_input(g, "x", TS_F32, 2, (const int64_t[]){50, wide}),
              h0 = ts_input(g, "h", TS_F32, 2, (const int64_t[]){1, wide}),
              w = ts_weight(g, "w", TS_F32, 2, (const int64_t[]){wide, wide}, 0, 0.1, 1), out[2];
    ts_scan *s = ts_scan_begin(g, 50);
    ts_tensor h = ts_scan_state(s, h0),
              sum = ts_call2(g, "add", ts_scan_slice(s, x, false), ts_call2(g, "matmul", h, w));
    ts_scan_step(s, h, ts_call1(g, "tanh", sum)), ts_scan_gather(s, sum, true);
    CHECK(ts_scan_end(s, out));
    return out[1];
}

/* Where the loop is inside, the plan's kernels are all that is called, and no table has a loop. */
static void check_calls(const target *on, int64_t wide, bool inside)
{
    ts_graph *g = ts_graph_make();
    const ts_tensor y = make_cell(g, wide);
    err e = {0};
    c_program c;
    plan *p = plan_on_it(on, g, 1, &y);
    CHECK(inside_count(p) == inside && c_program_write(p, &c, &e));
    CHECK(c.calls == p->n_kernel && (c.all == c.calls) == inside && (c.trips.loops == 1) == inside);
    c_program_free(&c), plan_free(p), ts_graph_free(g);
}

/* ---- an index outside ---- */
/* h' = h + table[at[t]], of which the last place is none; another kernel stands before the scan. */
static void check_outside(const target *on)
{
    ts_graph *g = ts_graph_make();
    float numbers[] = {1, 2, 3, 4};
    int64_t places[] = {0, 3, 4};
    ts_tensor table = ts_input(g, "table", TS_F32, 1, (const int64_t[]){4}), out[1],
              at = ts_input(g, "at", TS_I64, 1, (const int64_t[]){3}),
              h0 = ts_call1(g, "sum", ts_call1(g, "exp", table));
    ts_scan *s = ts_scan_begin(g, 3);
    ts_tensor h = ts_scan_state(s, h0);
    ts_scan_step(s, h, ts_call2(g, "add", h, ts_call2(g, "gather axis=0", table, ts_scan_slice(s, at, false))));
    CHECK(ts_scan_end(s, out));
    const ts_given given[] = {{"table", {TS_F32, 1, {4}, numbers}}, {"at", {TS_I64, 1, {3}, places}}};
    ts_array value = {0};
    err e = {0};
    plan *p = plan_on_it(on, g, 1, out);
    CHECK(inside_count(p) == 1 && !run(p, &(scans_case){g, 1, out, 2, given}, 1, &value, &e));
    CHECK_TEXT(e.text, "iterate: an index is outside its axis\n  hint: check integer inputs against the sizes of the "
                       "tables they index");
    plan_free(p), ts_array_free(&value), ts_graph_free(g);
}

int main(void)
{
    arena mem = {0};
    err e = {0};
    for (int workers = 1; workers <= 2; workers++) {
        const target *on = cpu_target(&mem, &(machine_options){.threads = workers}, &e);
        if (!CHECK(on != NULL))
            break;
        trial t = {*on, *on};
        t.apart.loops = false;
        scans_each(check_case, &t);
        check_calls(&t.inside, 8, true), check_calls(&t.apart, 8, false), check_calls(&t.inside, 2048, false);
        check_outside(&t.inside);
    }
    arena_free(&mem);
    return check_done();
}
