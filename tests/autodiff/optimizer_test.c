/* Fifty steps of every optimizer on a small problem against plain loops that say the same; clipping, rules, averages,
 * schedules; and that every recipe of the table is tested here. */
/* ctest: fast */
#include "graph/ir/rule.h"
#include "tests/autodiff/rows.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3, COLUMNS = 4, SIZE = ROWS * COLUMNS, STEPS = 50 };
typedef struct oracle { /* one matrix of parameters */
    double p[SIZE], g[SIZE], m[SIZE], v[SIZE], rows[ROWS], columns[COLUMNS];
    double lr, t;
} oracle;

static void sgd(oracle *o)
{
    for (int i = 0; i < SIZE; i++)
        o->p[i] -= o->lr * o->g[i];
}

static void nesterov(oracle *o)
{
    for (int i = 0; i < SIZE; i++) {
        const double g = o->g[i] + 0.1 * o->p[i];
        o->m[i] = 0.9 * o->m[i] + g;
        o->p[i] -= o->lr * (g + 0.9 * o->m[i]);
    }
}

static void adam_like(oracle *o, double outer, double inner)
{
    for (int i = 0; i < SIZE; i++) {
        const double g = o->g[i] + inner * o->p[i];
        o->m[i] = 0.9 * o->m[i] + 0.1 * g;
        o->v[i] = 0.999 * o->v[i] + 0.001 * g * g;
        const double m = o->m[i] / (1 - pow(0.9, o->t)), v = o->v[i] / (1 - pow(0.999, o->t));
        o->p[i] -= o->lr * (m / (sqrt(v) + 1e-8) + outer * o->p[i]);
    }
}

static void adam(oracle *o)
{
    adam_like(o, 0, 0.05);
}

static void adamw(oracle *o)
{
    adam_like(o, 0.1, 0);
}

static void lion(oracle *o)
{
    for (int i = 0; i < SIZE; i++) {
        const double c = 0.9 * o->m[i] + 0.1 * o->g[i];
        o->p[i] -= o->lr * ((c > 0) - (c < 0) + 0.01 * o->p[i]);
        o->m[i] = 0.99 * o->m[i] + 0.01 * o->g[i];
    }
}

static void adafactor(oracle *o)
{
    const double keep = 1 - pow(o->t, -0.8);
    double all = 0, square = 0, u[SIZE];
    for (int r = 0; r < ROWS; r++) {
        double sum = 0;
        for (int c = 0; c < COLUMNS; c++)
            sum += o->g[r * COLUMNS + c] * o->g[r * COLUMNS + c] + 1e-30;
        o->rows[r] = keep * o->rows[r] + (1 - keep) * sum / COLUMNS, all += o->rows[r] / ROWS;
    }
    for (int c = 0; c < COLUMNS; c++) {
        double sum = 0;
        for (int r = 0; r < ROWS; r++)
            sum += o->g[r * COLUMNS + c] * o->g[r * COLUMNS + c] + 1e-30;
        o->columns[c] = keep * o->columns[c] + (1 - keep) * sum / ROWS;
    }
    for (int i = 0; i < SIZE; i++) {
        u[i] = o->g[i] / sqrt(o->rows[i / COLUMNS] / all * o->columns[i % COLUMNS]);
        square += u[i] * u[i] / SIZE;
    }
    for (int i = 0; i < SIZE; i++)
        o->p[i] -= o->lr / fmax(1, sqrt(square)) * u[i];
}

/* ---- steps by the interpreter ---- */
typedef struct training {
    graph *g;
    row r; /* its operands: parameters and the step */
    values v;
    ts_updates u;
} training;

static void set(training *t, const node *n, const ts_array *a)
{
    if (n->id >= t->v.n) {
        t->v.of = reallocarray(t->v.of, (size_t)n->id + 1, sizeof *t->v.of);
        MUST(t->v.of);
        memset(t->v.of + t->v.n, 0, (size_t)(n->id + 1 - t->v.n) * sizeof *t->v.of);
        t->v.n = n->id + 1;
    }
    ts_array_free(&t->v.of[n->id]);
    t->v.of[n->id] = *a;
}

static void start(training *t)
{
    for (int i = 0; i < t->u.n; i++) {
        ts_array a;
        if (t->u.update[i].start && CHECK(values_of(&t->v, t->u.update[i].start, &a, NULL)))
            set(t, t->u.update[i].from, &a);
    }
}

static void step(training *t)
{
    ts_array *next = calloc((size_t)t->u.n, sizeof *next);
    MUST(next);
    for (int i = 0; i < t->u.n; i++)
        CHECK(values_of(&t->v, t->u.update[i].to, &next[i], NULL));
    for (int i = 0; i < t->u.n; i++)
        set(t, t->u.update[i].from, &next[i]);
    free(next);
}

static double element(const training *t, const node *n, int i)
{
    return ts_array_at(&t->v.of[n->id], i);
}

static const node *input(training *t, const char *name, int rank, const int64_t *dim, double v)
{
    type y = {.dtype = TS_F64, .rank = rank};
    memcpy(y.dim, dim, (size_t)rank * sizeof *dim);
    const node *n = g_input(t->g, name, &y, NULL);
    ts_array a;
    MUST(ts_array_make(&a, TS_F64, rank, y.dim, NULL));
    for (int64_t i = 0; i < ts_array_count(&a); i++)
        ((double *)a.data)[i] = v + (rank ? random_unit(5, (uint64_t)i) : 0);
    return set(t, n, &a), n;
}

/* One matrix w whose gradient is w * w - 0.3. */
static void against(const char *recipe, void (*plain)(oracle *))
{
    static const int64_t shape[] = {ROWS, COLUMNS};
    training t = {.g = ts_graph_make()};
    const node *w = input(&t, "w", 2, shape, 0), *s = input(&t, "step", 0, shape, 1);
    const node *grad = g_formula(t.g, 1, &w, "a*a-0.3");
    const ts_optimizer o = {.recipe = recipe, .rate = ts_scalar(t.g, TS_F64, 0.01), .step = s};
    oracle want = {.lr = 0.01};
    for (int i = 0; i < SIZE; i++)
        want.p[i] = element(&t, w, i);
    if (!CHECK(ts_optimize(t.g, &o, 1, &w, &grad, &t.u)))
        printf("  %s: %s\n", recipe, t.g->err.text);
    start(&t);
    double worst = 0;
    for (int k = 0; k < STEPS && t.u.n; k++) {
        want.t = k + 1;
        for (int i = 0; i < SIZE; i++)
            want.g[i] = want.p[i] * want.p[i] - 0.3;
        step(&t), plain(&want);
        for (int i = 0; i < SIZE; i++)
            worst = fmax(worst, fabs(element(&t, w, i) - want.p[i]));
    }
    if (!CHECK(worst < 1e-12))
        printf("  %s: off by %g\n", recipe, worst);
    values_free(&t.v), ts_graph_free(t.g);
}

static void test_recipes(void)
{
    static const struct {
        const char *recipe;
        void (*plain)(oracle *);
    } rows[] = {{"sgd", sgd},
                {"sgd momentum=0.9 nesterov=1 decay=0.1", nesterov},
                {"adam decay=0.05", adam},
                {"adamw decay=0.1", adamw},
                {"lion decay=0.01", lion},
                {"adafactor", adafactor}};
    const char *name;
    for (int i = 0; i < COUNT(rows); i++)
        against(rows[i].recipe, rows[i].plain);
    for (int i = 0; (name = ts_optimizer_name(i)); i++) {
        bool here = false;
        for (int k = 0; k < COUNT(rows); k++)
            here = here || !strncmp(rows[k].recipe, name, strlen(name));
        if (!CHECK(here))
            printf("  %s has no oracle\n", name);
    }
}

/* Two parameters with gradients (3, 4 in all): clipped to 1 they are a fifth; one is frozen, one has its own rate. */
static void test_rules(void)
{
    static const int64_t one[] = {1};
    training t = {.g = ts_graph_make()};
    const node *p[] = {input(&t, "a.weight", 1, one, 0), input(&t, "a.bias", 1, one, 0),
                       input(&t, "b.weight", 1, one, 0)};
    const node *s = input(&t, "step", 0, one, 1);
    const node *grad[] = {g_filled(t.g, &p[0]->type, 3), g_filled(t.g, &p[0]->type, 4), g_filled(t.g, &p[0]->type, 9)};
    const ts_rule rules[] = {{.names = "b.*", .frozen = true},
                             {.names = "x,*bias", .rate = 2, .settings = "decay=0.5"}};
    const ts_optimizer o = {.recipe = "sgd momentum=0",
                            .rate = ts_scalar(t.g, TS_F64, 0.1),
                            .step = s,
                            .clip = 1,
                            .average = 0.9,
                            .n_rule = 2,
                            .rule = rules};
    const double a = element(&t, p[0], 0), b = element(&t, p[1], 0), c = element(&t, p[2], 0);
    CHECK(ts_optimize(t.g, &o, 3, p, grad, &t.u));
    CHECK(t.u.n == 6); /* three parameters, two averages, the step */
    start(&t), step(&t);
    CHECK(fabs(element(&t, p[0], 0) - (a - 0.1 * 0.6)) < 1e-6);
    CHECK(fabs(element(&t, p[1], 0) - (b - 0.2 * (0.8 + 0.5 * b))) < 1e-6);
    CHECK(element(&t, p[2], 0) == c && t.u.update[2].to == p[2]);
    CHECK(element(&t, s, 0) == 2);
    CHECK_TEXT(t.u.update[3].from->label, "a.weight.average");
    CHECK(fabs(element(&t, t.u.update[3].from, 0) - (0.9 * a + 0.1 * element(&t, p[0], 0))) < 1e-12);
    ts_array norm;
    CHECK(values_of(&t.v, t.u.norm, &norm, NULL) && fabs(ts_array_at(&norm, 0) - 5) < 1e-12);
    CHECK(t.u.square[0] && t.u.square[1] && !t.u.square[2]);
    ts_array_free(&norm), values_free(&t.v), ts_graph_free(t.g);
}

static void test_schedules(void)
{
    static const struct {
        ts_schedule_kind kind;
        double step, rate;
    } rows[] = {
        {{"constant", 2, 0, 0, 0}, 1, 2},           {{"constant", 2, 4, 0, 0}, 1, 0.5},
        {{"constant", 2, 4, 0, 0}, 9, 2},           {{"linear", 5e-5, 64, 648, 0}, 1, 5e-5 / 64},
        {{"linear", 5e-5, 64, 648, 0}, 64, 5e-5},   {{"linear", 5e-5, 64, 648, 0}, 65, 5e-5},
        {{"linear", 1, 64, 648, 0}, 648, 1 / 584.}, {{"linear", 1, 0, 10, 0.1}, 11, 0.1},
        {{"cosine", 1, 0, 10, 0.2}, 6, 0.6},        {{"cosine", 1, 2, 10, 0.2}, 99, 0.2},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        graph *g = ts_graph_make();
        ts_array a;
        const node *rate = ts_schedule(g, &rows[i].kind, ts_scalar(g, TS_F64, rows[i].step));
        if (CHECK(rate && values_of(&(values){0}, rate, &a, NULL))) {
            if (!CHECK(fabs(ts_array_at(&a, 0) - rows[i].rate) < 1e-12))
                printf("  %s at %g: %g, not %g\n", rows[i].kind.name, rows[i].step, ts_array_at(&a, 0), rows[i].rate);
            ts_array_free(&a);
        }
        ts_graph_free(g);
    }
}

#define ADAM_HAS "\n  hint: its settings: beta1=0.9, beta2=0.999, eps=1e-08, decay=0"

static void refuse(ts_optimizer o, const char *want)
{
    graph *g = ts_graph_make();
    const node *w = g_input(g, "w", &(type){.dtype = TS_F64}, NULL);
    ts_updates u;
    o.rate = o.rate ? ts_scalar(g, TS_F32, 1) : ts_scalar(g, TS_F64, 1), o.step = ts_scalar(g, TS_F64, 1);
    CHECK(!ts_optimize(g, &o, 1, &w, &w, &u));
    CHECK_TEXT(g->err.text, want);
    ts_graph_free(g);
}

/* What moves a parameter has its shape: said of both, before any formula is made of them. */
static void test_other_shape(void)
{
    graph *g = ts_graph_make();
    const node *w = g_input(g, "w", &(type){.dtype = TS_F32, .rank = 1, .dim = {3}}, NULL),
               *grad = g_input(g, "d", &(type){.dtype = TS_F32, .rank = 1, .dim = {2}}, NULL), *none = NULL;
    const ts_optimizer o = {.recipe = "sgd", .rate = ts_scalar(g, TS_F64, 1), .step = ts_scalar(g, TS_F64, 1)};
    ts_updates u;
    CHECK(!ts_optimize(g, &o, 1, &w, &grad, &u));
    CHECK_TEXT(g->err.text, "the gradient of w is f32[2], expected f32[3]");
    g->err = (err){0};
    CHECK(!ts_optimize(g, &o, 1, &w, &none, &u));
    CHECK_TEXT(g->err.text, "w: its gradient is missing");
    ts_graph_free(g);
}

static void test_refusals(void)
{
    refuse((ts_optimizer){.recipe = "adamx"}, "no optimizer \"adamx\"; there are: adafactor, adam, adamw, lion, sgd");
    refuse((ts_optimizer){.recipe = "adam lr=1"}, "adam: no setting \"lr=1\" with a number" ADAM_HAS);
    refuse((ts_optimizer){.recipe = "adam beta1=x"}, "adam: no setting \"beta1=x\" with a number" ADAM_HAS);
    refuse((ts_optimizer){.recipe = "adam", .average = 2}, "average: 2 is not in 0...1");
    refuse((ts_optimizer){.recipe = "adam", .n_rule = 1, .rule = &(ts_rule){.names = "w", .frozen = true}},
           "0 parameters are to be trained, at least 1 expected");
    refuse((ts_optimizer){.recipe = "sgd", .rate = (ts_tensor) & (char){0}},
           "the optimizer is given f32[] and f64[]; a learning rate and a step of type f64[] expected");
}

int main(void)
{
    test_recipes();
    test_rules();
    test_schedules();
    test_refusals();
    test_other_shape();
    return check_done();
}
