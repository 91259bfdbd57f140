#include "tests/backends/placed.h"
#include "backends/driver.h"
#include "tests/backends/random_row.h"
#include "tests/backends/row.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 6, MOST_ROOTS = 40, MOST_OPS = 64 };

typedef struct trial {
    dice d;
    ts_graph *g;
    row_inputs in;
    text row[AT_ONCE], rules;
    int n_root, n_op;
    ts_tensor root[MOST_ROOTS];
    const char *op[MOST_OPS];
} trial;
static struct {
    int several, transfers, wrong;
} total;

static bool is_routine(ts_tensor y) /* not every device takes those */
{
    arena mem = {0};
    err e = {0};
    defn d;
    const bool is = g_defn(y, &mem, &d, &e) && d.value->kind == X_ROUTINE;
    arena_free(&mem);
    return is;
}

static void note_ops(trial *t, ts_tensor y)
{
    int k = 0;
    while (k < t->n_op && strcmp(t->op[k], y->op->name))
        k++;
    if (!y->leaf && k == t->n_op && k < MOST_OPS && !is_routine(y))
        t->op[t->n_op++] = y->op->name;
    for (int i = 0; i < y->n_in; i++)
        note_ops(t, y->in[i]);
}

static bool make_graphs(trial *t)
{
    t->g = ts_graph_make();
    for (int i = 0; i < AT_ONCE; i++) {
        random_row(&t->d, &t->row[i]);
        int k = t->in.n_also;
        const ts_tensor last = row_build(t->g, text_str(&t->row[i]), i, &t->in);
        if (!last)
            return false;
        t->root[t->n_root++] = last;
        while (k < t->in.n_also && t->n_root < MOST_ROOTS)
            t->root[t->n_root++] = t->in.also[k++];
    }
    for (int i = 0; i < t->n_root; i++)
        note_ops(t, t->root[i]);
    return true;
}

/* A third of the operations elsewhere, by a rule each; sometimes the rest there and these at home. */
static void make_rules(trial *t, const char *path, const char *other)
{
    const char *const place[] = {"c", other};
    const int home = roll(&t->d, 4) == 0;
    err e = {0};
    text_add(&t->rules, "{\"format\":\"tiling/1\",\"rules\":[");
    for (int i = 0; i < t->n_op; i++)
        if (roll(&t->d, 3) == 0)
            text_add(&t->rules, "\n{\"match\":{\"op\":[\"%s\"]},\"place\":\"%s\"},", t->op[i], place[!home]);
    text_add(&t->rules, "\n{\"place\":\"%s\"}]}\n", place[home]);
    CHECK(file_save(path, text_str(&t->rules), t->rules.length, &e));
}

static void show(const trial *t)
{
    printf("  seed %llu\n", (unsigned long long)t->d.seed);
    for (int i = 0; i < AT_ONCE; i++)
        printf("  %s\n", text_str(&t->row[i]));
    printf("%s", text_str(&t->rules));
}

static bool give_all(const trial *t, ts_plan *p, err *e)
{
    bool ok = true;
    for (int i = 0; i < t->in.n && ok; i++) {
        const int at = ts_plan_find(p, t->in.given[i].name);
        ok = at < 0 || ts_plan_set(p, at, &t->in.given[i].value, e);
    }
    return ok;
}

/* Runs in a row, the second of other values: who takes what the run before left, or the next one brings, is found. */
static void check_pipeline(const trial *t, ts_plan *p, const ts_array *want)
{
    enum { RUNS = 3 };
    const int n_in = p->n_port;
    ts_array *in = calloc((size_t)(RUNS * n_in) + 1, sizeof *in), out[RUNS * MOST_ROOTS];
    err e = {0};
    bool ok = true;
    for (int i = 0; i < RUNS * n_in && ok; i++) {
        const node *n = p->plan->input[i % n_in];
        ok = ts_array_make(&in[i], n->type.dtype, n->type.rank, n->type.dim, &e);
        for (int k = 0; k < t->in.n && ok && i / n_in != 1; k++)
            if (!strcmp(t->in.given[k].name, n->label))
                memcpy(in[i].data, t->in.given[k].value.data, (size_t)type_bytes(&n->type));
    }
    for (int i = 0; i < RUNS * t->n_root && ok; i++)
        ok = ts_array_make(&out[i], want[i % t->n_root].dtype, want[i % t->n_root].rank, want[i % t->n_root].dim, &e);
    if (!CHECK(ok && ts_plan_pipeline(p, &(ts_pipeline){.n = RUNS, .in = in, .out = out}, &e)))
        printf("  %s\n", e.text), show(t);
    for (int i = 0; i < RUNS * t->n_root && ok; i++) {
        if (i / t->n_root != 1 && !CHECK(row_differs(&want[i % t->n_root], &out[i], 0) < 0) && !total.wrong++)
            printf("  result %d of run %d of a pipeline\n", i % t->n_root, i / t->n_root), show(t);
        ts_array_free(&out[i]);
    }
    for (int i = 0; i < RUNS * n_in; i++)
        ts_array_free(&in[i]);
    free(in);
}

static void compare(const trial *t, const ts_options *o, const ts_array *want)
{
    err e = {0};
    ts_plan *p = ts_plan_of(t->g, t->n_root, t->root, 0, NULL, o, &e);
    bool ok = p && give_all(t, p, &e) && ts_plan_run(p, &e) && ts_plan_run(p, &e); /* twice: memory is used again */
    if (!CHECK(ok))
        printf("  %s\n", e.text), show(t);
    for (int k = 0; ok && k < p->plan->n_kernel; k++)
        total.transfers += p->plan->kernel[k].moves != NULL;
    total.several += ok && p->plan->n_site > 1;
    for (int i = 0; ok && i < t->n_root; i++) {
        ts_array got = {0};
        const int64_t at = ts_plan_get(p, i, &got, &e) ? row_differs(&want[i], &got, 0) : 0;
        if (!CHECK(at < 0) && !total.wrong++) {
            printf("  element %lld of result %d is %.9g, not %.9g\n", (long long)at, i, ts_array_at(&got, at),
                   ts_array_at(&want[i], at));
            show(t);
        }
        ts_array_free(&got);
    }
    if (ok)
        check_pipeline(t, p, want);
    ts_plan_free(p);
}

static void try_once(const char *path, const char *other, uint64_t seed)
{
    trial t = {.d = {seed, 0}};
    ts_array want[MOST_ROOTS];
    err e = {0};
    if (make_graphs(&t) &&
        CHECK(ts_eval(t.n_root, t.root, t.in.n, t.in.given, &(ts_options){.target = "interp"}, want, &e))) {
        make_rules(&t, path, other);
        compare(&t, &(ts_options){.schema = path, .cache_folder = "none", .threads = (int)roll(&t.d, 2)}, want);
        for (int i = 0; i < t.n_root; i++)
            ts_array_free(&want[i]);
    }
    for (int i = 0; i < AT_ONCE; i++)
        text_free(&t.row[i]);
    row_inputs_free(&t.in), text_free(&t.rules), ts_graph_free(t.g);
}

void placed_check(int64_t cases, uint64_t seed, const char *other)
{
    scratch s = scratch_make();
    const char *path = scratch_in(&s, "places.json");
    for (int64_t i = 0; i < cases; i += AT_ONCE)
        try_once(path, other, seed + (uint64_t)(i / AT_ONCE));
    printf("%d plans over several devices, %d transfers\n", total.several, total.transfers);
    CHECK(total.several * AT_ONCE * 2 >= cases && total.transfers * 2 >= cases);
    scratch_free(&s);
}
