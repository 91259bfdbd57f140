#include "tests/backends/inside.h"
#include "backends/driver.h"
#include "tests/check.h"
#include "tests/scans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trial {
    const ts_options *on;
    int share, cases, loops;
} trial;

int inside_count(const plan *p)
{
    int n = 0;
    for (int k = 0; k < p->n_kernel; k++)
        if (p->kernel[k].scan)
            n += p->kernel[k].scan->inside + inside_count(p->kernel[k].scan->plan);
    return n;
}

void inside_walk(plan *p)
{
    for (int k = 0; k < p->n_kernel; k++)
        if (p->kernel[k].scan)
            p->kernel[k].scan->inside = false, inside_walk(p->kernel[k].scan->plan);
}

/* ---- running ---- */
static bool give(ts_plan *p, const scans_case *c, ts_error *e)
{
    bool ok = true;
    for (int i = 0; i < p->plan->n_input && ok; i++)
        for (int k = 0; k < c->n_given && ok; k++)
            if (!strcmp(p->plan->input[i]->label, c->given[k].name))
                ok = ts_plan_set(p, i, &c->given[k].value, e);
    return ok;
}

static bool run(trial *t, const scans_case *c, int n, const ts_tensor *out, bool walked, ts_array *value, ts_error *e)
{
    ts_plan *p = ts_plan_of(c->g, n, out, 0, NULL, t->on, e);
    bool ok = p != NULL;
    if (ok && walked)
        inside_walk(p->plan);
    else if (ok)
        t->loops += inside_count(p->plan);
    ok = ok && give(p, c, e) && ts_plan_run(p, e);
    for (int i = 0; i < n && ok; i++)
        ok = ts_plan_get(p, i, &value[i], e);
    ts_plan_free(p);
    return ok;
}

static void compare(trial *t, const char *name, const scans_case *c, int n, const ts_tensor *out)
{
    ts_array value[2][SCANS_MOST] = {{{0}}};
    MUST(n <= SCANS_MOST);
    for (int walked = 0; walked < 2; walked++) {
        ts_error e = {0};
        if (!CHECK(run(t, c, n, out, walked, value[walked], &e)))
            printf("  %s: %s\n", name, e.text);
    }
    char how[200];
    snprintf(how, sizeof how, "%s on %s", name, t->on->target);
    scans_same(how, n, value[0], value[1]);
}

/* ---- what is compared ---- */
static void check_case(void *user, const char *name, const scans_case *c)
{
    trial *t = user;
    ts_tensor slope[SCANS_MOST];
    if (t->cases++ % t->share)
        return;
    compare(user, name, c, c->n, c->out);
    compare(user, name, c, scans_slopes(c, slope), slope);
}

static void check_cell(trial *t, const char *call, int gates, bool cells)
{
    enum { TRIPS = 20, WIDE = 24 };
    float x[TRIPS * 2 * WIDE];
    for (int i = 0; i < COUNT(x); i++)
        x[i] = (float)(i * 37 % 101) / 50 - 1;
    ts_graph *g = ts_graph_make();
    const ts_tensor in[] = {ts_input(g, "x", TS_F32, 3, (const int64_t[]){TRIPS, 2, WIDE}),
                            ts_weight(g, "w", TS_F32, 2, (const int64_t[]){gates * WIDE, WIDE}, 0, 0.1, 1),
                            ts_weight(g, "r", TS_F32, 2, (const int64_t[]){gates * WIDE, WIDE}, 0, 0.1, 2),
                            ts_weight(g, "b", TS_F32, 1, (const int64_t[]){2 * gates * WIDE}, 0, 0.1, 3),
                            ts_input(g, "h", TS_F32, 2, (const int64_t[]){2, WIDE}),
                            ts_input(g, "c", TS_F32, 2, (const int64_t[]){2, WIDE}),
                            ts_weight(g, "p", TS_F32, 1, (const int64_t[]){3 * WIDE}, 0, 0.1, 4)};
    const ts_tensor y = ts_call(g, call, cells ? 7 : 5, in);
    const ts_given given[] = {{"x", {TS_F32, 3, {TRIPS, 2, WIDE}, x}},
                              {"h", {TS_F32, 2, {2, WIDE}, x}},
                              {"c", {TS_F32, 2, {2, WIDE}, x + 2 * WIDE}}};
    check_case(t, call, &(scans_case){g, 1, &y, COUNT(given), given});
    ts_graph_free(g);
}

void inside_check(const ts_options *on, int share)
{
    trial t = {.on = on, .share = share};
    scans_each(check_case, &t);
    check_cell(&t, "lstm", 4, true), check_cell(&t, "gru", 3, false);
    printf("%s: %d loops inside of kernels\n", on->target, t.loops);
    CHECK(t.loops > 20 / share);
}
