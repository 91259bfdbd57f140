#include "schedule/make.h"
#include "tests/backends/fuzz.h"
#include "backends/backend.h"
#include "tests/backends/row.h"
#include "tests/backends/shrink.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AT_ONCE = 6, MOST_ROOTS = 40, MOST_SHOWN = 10 };

typedef struct trial {
    const fuzz_of *of;
    dice d;
    ts_graph *g;
    const target *on;
    text row[AT_ONCE];
    int n_root, row_of[MOST_ROOTS];
    ts_tensor root[MOST_ROOTS]; /* the rows' last values, and those that are results beside them */
    ts_array want[MOST_ROOTS];
    row_inputs in;
    text schema;
    const char *path; /* of the schema */
    ts_options o;
} trial;
static struct { /* over all trials, for the last line */
    int kernels, as_asked, refused, wrong;
} total;

static void add_root(trial *t, ts_tensor y, int row)
{
    if (t->n_root < MOST_ROOTS)
        t->row_of[t->n_root] = row, t->root[t->n_root++] = y;
}

static bool make_graphs(trial *t)
{
    const ts_options interp = {.target = "interp"};
    err e = {0};
    t->g = ts_graph_make();
    for (int i = 0; i < AT_ONCE; i++) {
        random_row(&t->d, &t->row[i]);
        int k = t->in.n_also;
        const ts_tensor last = row_build(t->g, text_str(&t->row[i]), i, &t->in);
        if (!last)
            return false;
        add_root(t, last, i);
        while (k < t->in.n_also)
            add_root(t, t->in.also[k++], i);
    }
    if (CHECK(ts_eval(t->n_root, t->root, t->in.n, t->in.given, &interp, t->want, &e)))
        return true;
    printf("  interpreter: %s\n", e.text);
    return false;
}

static void add_rule(trial *t, const plan *p, const kernel *k, bool strict, bool laid)
{
    const stage *s = &k->stage[k->main];
    text loops = {0};
    total.kernels += stage_nested(s);
    t->of->loops(&t->d, p, k, &loops);
    text_add(&t->schema, "{\"match\":{\"op\":[\"%s\"],\"dims\":{", k->op);
    for (int a = 0; a < s->n_axis; a++)
        text_add(&t->schema, "%s\"%s\":%lld", a ? "," : "", s->letter[a], (long long)s->extent[a]);
    text_add(&t->schema, "}},\"loops\":[");
    text_json(&t->schema, text_str(&loops));
    text_add(&t->schema, "%s]", strict ? "" : ",\"guess\"");
    for (int i = -1, n = 0; laid && i < s->n_load && i < 24; i++) { /* the result, then operands a ... x */
        text lay = {0};
        if (roll(&t->d, 3) == 0)
            random_layout(&t->d, s, i < 0 ? MAX_LOADS : i, &lay);
        if (lay.length) {
            text_add(&t->schema, "%s\"%c\":", n++ ? "," : ",\"layout\":{", i < 0 ? 'y' : 'a' + i);
            text_json(&t->schema, text_str(&lay));
        }
        text_free(&lay);
        if (i + 1 == s->n_load || i == 23)
            text_add(&t->schema, n ? "}" : "");
    }
    text_add(&t->schema, "}");
    text_free(&loops);
}

static plan *plan_with(trial *t, const char *schema, err *e)
{
    const plan_options w = {.on = t->on, .target = t->of->target, .schema = schema};
    return plan_make(t->g, t->n_root, t->root, &w, e);
}

static void show(const trial *t, int i)
{
    printf("  seed %llu: %s, %d threads\n  %s\n%s", (unsigned long long)t->d.seed, t->on->model, t->o.threads,
           i < 0 ? "" : text_str(&t->row[i]), text_str(&t->schema));
}

/* A schema with a rule for every kernel; strict ones are refused when one alternative is, those that say layouts when a
 * kernel like another has other operands. */
static bool make_schema(trial *t, bool strict, bool laid)
{
    err e = {0};
    plan *p = plan_with(t, NULL, &e);
    if (!CHECK(p != NULL)) {
        printf("  the guess: %s\n", e.text);
        for (int i = 0; i < AT_ONCE; i++)
            show(t, i);
        return false;
    }
    t->schema.length = 0;
    text_add(&t->schema, "{\"format\":\"tiling/1\",\"rules\":[");
    for (int i = 0, n = 0; i < p->n_kernel; i++) {
        if (!p->kernel[i].stage[p->kernel[i].main].n_axis) /* one element: there are no loops */
            continue;
        text_add(&t->schema, n++ ? "\n," : "\n");
        add_rule(t, p, &p->kernel[i], strict, laid);
    }
    text_add(&t->schema, "\n]}\n");
    plan_free(p);
    return CHECK(file_save(t->path, text_str(&t->schema), t->schema.length, &e));
}

/* Does the schema plan? A refusal needs its reason; one with "guess" everywhere is none. */
static bool plans(trial *t, bool may_be_refused)
{
    err e = {0};
    plan *p = plan_with(t, t->path, &e);
    if (!p) {
        total.refused++;
        if (!CHECK(may_be_refused && (e.code == TS_BAD_INPUT || e.code == TS_UNSUPPORTED) && strlen(e.text) > 20)) {
            printf("  refused: %s\n", e.text);
            for (int i = 0; i < AT_ONCE; i++)
                show(t, i);
        }
        return false;
    }
    for (int i = 0; i < p->n_kernel; i++)
        total.as_asked += stage_nested(p->kernel[i].stage) && !*p->kernel[i].notes;
    plan_free(p);
    return true;
}

static void show_small(const trial *t, int i)
{
    fault f = {.number = i, .o = t->o};
    text_add(&f.row, "%s", text_str(&t->row[i])), text_add(&f.schema, "%s", text_str(&t->schema));
    if (fault_shows(&f)) {
        fault_shrink(&f);
        printf("  as few as show it:\n  %s\n%s\n", text_str(&f.row), text_str(&f.schema));
    }
    text_free(&f.row), text_free(&f.schema);
}

static void compare(trial *t)
{
    ts_array got[MOST_ROOTS];
    err e = {0};
    if (!ts_eval(t->n_root, t->root, t->in.n, t->in.given, &t->o, got, &e)) {
        if (!CHECK(e.code == TS_UNSUPPORTED)) { /* too many shapes of tile */
            printf("  %s\n", e.text);
            show(t, -1);
            for (int i = 0; i < AT_ONCE; i++)
                show_small(t, i);
        }
        return;
    }
    for (int i = 0; i < t->n_root; i++) {
        const int64_t at = row_differs(&t->want[i], &got[i], 0);
        if (!CHECK(at < 0) && total.wrong++ < MOST_SHOWN) {
            printf("  element %lld is %.9g, not %.9g\n", (long long)at, ts_array_at(&got[i], at),
                   ts_array_at(&t->want[i], at));
            show(t, t->row_of[i]), show_small(t, t->row_of[i]);
        }
        ts_array_free(&got[i]);
    }
}

static void try_once(const fuzz_of *of, const char *path, uint64_t seed)
{
    trial t = {.of = of,
               .d = {seed, 0},
               .path = path,
               .o = {.target = of->target, .machine = of->machine, .schema = path, .cache_folder = "none"}};
    arena mem = {0};
    t.on = of->settle(&t.d, &mem, &t.o);
    if (CHECK(t.on) && make_graphs(&t)) {
        const bool strict = roll(&t.d, 4) == 0, laid = roll(&t.d, 4) == 0;
        bool ok = make_schema(&t, strict, laid) && plans(&t, strict || laid);
        if (!ok && (strict || laid))
            ok = make_schema(&t, false, false) && plans(&t, false);
        if (ok)
            compare(&t);
    }
    for (int i = 0; i < t.n_root; i++)
        ts_array_free(&t.want[i]);
    for (int i = 0; i < AT_ONCE; i++)
        text_free(&t.row[i]);
    row_inputs_free(&t.in), text_free(&t.schema), ts_graph_free(t.g), arena_free(&mem);
}

const target *fuzz_device(dice *d, arena *mem, ts_options *o)
{
    err e = {0};
    const backend *by = backend_find(o->target, &e);
    (void)d;
    return by ? by->target(mem, &(machine_options){.machine = o->machine}, &e) : NULL;
}

int fuzz_run(const fuzz_of *of, long cases, uint64_t seed)
{
    char path[] = "/tmp/tessera-fuzz-XXXXXX.json";
    const int file = mkstemps(path, 5);
    if (CHECK(file >= 0))
        for (long i = 0; i < cases; i += AT_ONCE)
            try_once(of, path, seed + (uint64_t)(i / AT_ONCE));
    printf("%d kernels, %d walked as asked, %d schemas refused, %d wrong results\n", total.kernels, total.as_asked,
           total.refused, total.wrong);
    CHECK(total.as_asked * 2 > total.kernels); /* schedules are tried, not only refused */
    close(file), unlink(path);
    return check_done();
}
