/* One program for all extents within a bound: every extent gives what a plan for it alone gives, on one thread and on
 * two the same bits; networks of random operations along a varying axis do so too; what cannot vary is refused by the
 * name of the first operation that forbids it.
 * ctest: Og */
#include "tests/check.h"
#include "tests/scratch.h"

#include "graph/base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4, BOUND = 16 };
static scratch folder;
static const char *rules; /* a schema's path; NULL: the guess */

static ts_model *open_network(const char *source)
{
    err e = {0};
    const char *path = scratch_in(&folder, "graph.json");
    CHECK(file_save(path, source, strlen(source), &e));
    ts_model *m = ts_model_open(path, &e);
    if (!CHECK(m != NULL))
        fprintf(stderr, "%s\n%s\n", e.text, source);
    return m;
}

/* ---- one run ---- */
typedef struct values {
    int n;
    ts_array of[MOST];
} values;

static void values_free(values *v)
{
    for (int i = 0; i < v->n; i++)
        ts_array_free(&v->of[i]);
    *v = (values){0};
}

/* Of all inputs, by their names: the same numbers for the same extents. */
static void inputs_at(ts_model *m, const char *dim, values *in)
{
    err e = {0};
    ts_port p;
    in->n = 0;
    CHECK(ts_model_bind(m, 1, &dim, NULL, &e));
    for (int i = 0; ts_model_input(m, i, &p) && i < MOST; i++, in->n++) {
        CHECK(ts_array_make(&in->of[i], p.dtype, p.rank, p.dim, &e));
        ts_array_random(&in->of[i], (uint64_t)i + 1, strstr(p.name, "mask") ? 2 : p.below);
        if (strstr(p.name, "mask")) /* what is masked whole is not a number */
            ((int64_t *)in->of[i].data)[0] = 1;
    }
}

static bool run(ts_plan *p, const values *in, int n_output, values *out, err *e)
{
    bool ok = true;
    for (int i = 0; ok && i < in->n; i++)
        ok = ts_plan_set(p, i, &in->of[i], e);
    ok = ok && ts_plan_run(p, e);
    *out = (values){0};
    for (int i = 0; ok && i < n_output && i < MOST; i++)
        ok = ts_plan_get(p, i, &out->of[i], e), out->n += ok;
    return ok;
}

static double apart(const ts_array *a, const ts_array *b) /* by the largest number among them; infinite: of two kinds */
{
    double most = 0, scale = 1;
    bool same = a->dtype == b->dtype && a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++)
        same = a->dim[d] == b->dim[d];
    for (int64_t i = 0; same && i < ts_array_count(a); i++) {
        const double x = ts_array_at(a, i), y = ts_array_at(b, i);
        most = fmax(most, isnan(x) && isnan(y) ? 0
                          : isnan(x - y)       ? INFINITY
                                               : fabs(x - y)),
        scale = fmax(scale, fabs(x));
    }
    return same ? most / scale : INFINITY;
}

static bool same_bits(const ts_array *a, const ts_array *b)
{
    return !memcmp(a->data, b->data, (size_t)ts_array_count(a) * (size_t)ts_dtype_bytes(a->dtype));
}

/* ---- every extent ---- */
static int next(int n, bool all) /* extents from the bound down */
{
    return all || n <= 2 ? n - 1 : n > 13 ? 13 : n > 7 ? 7 : 2;
}

static void test_every(const char *what, const char *source, double near)
{
    err e = {0};
    const char *range = "seq=1..16";
    ts_model *m = source ? open_network(source) : ts_model_open(what, &e),
             *alone = source ? open_network(source) : ts_model_open(what, &e);
    ts_options one = {.threads = 1, .schema = rules}, two = {.threads = 2, .schema = rules};
    ts_plan *p = ts_plan_make_varying(m, 1, &range, &one, &e);
    ts_bound *bound = ts_model_take(m);
    ts_plan *q = p ? ts_plan_make_varying(m, 1, &range, &two, &e) : NULL;
    const int n_output = ts_model_outputs(m);
    if (!CHECK(p && q))
        fprintf(stderr, "%s: %s\n%s\n", what, e.text, source ? source : "");
    for (int n = BOUND; p && q && n >= 1; n = next(n, !source)) {
        char dim[16];
        values in, got = {0}, also = {0}, want = {0};
        snprintf(dim, sizeof dim, "seq=%d", n);
        inputs_at(alone, dim, &in);
        ts_plan *s = ts_plan_make(alone, &one, &e);
        CHECK(s && run(s, &in, n_output, &want, &e));
        if (!CHECK(run(p, &in, n_output, &got, &e) && run(q, &in, n_output, &also, &e)))
            fprintf(stderr, "%s at %d: %s\n", what, n, e.text);
        for (int i = 0; i < got.n && i < also.n; i++) {
            const double far = apart(&want.of[i], &got.of[i]);
            if (!CHECK(far <= near) || !CHECK(same_bits(&got.of[i], &also.of[i])))
                fprintf(stderr, "%s at %d, output %d: %g apart, wanted %g\n%s\n", what, n, i, far, near,
                        source ? source : "");
        }
        values_free(&in), values_free(&got), values_free(&also), values_free(&want);
        ts_plan_free(s);
    }
    ts_plan_free(p), ts_plan_free(q);
    ts_bound_free(bound);
    ts_model_free(m), ts_model_free(alone);
}

/* Sums of varying extents in parts, of which short runs have fewer: the others hold what longer runs left. */
static void test_parts(void)
{
    static const char source[] =
        "{\"format\":\"graph/1\",\"opset\":{\"\":17},\"inputs\":[{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[3,"
        "\"seq\"]}],\"outputs\":[{\"name\":\"y\"},{\"name\":\"z\"}],\"nodes\":[{\"op\":\"ReduceProd\",\"in\":[\"x\"],"
        "\"out\":[\"y\"],\"attr\":{\"axes\":[1],\"keepdims\":0}},{\"op\":\"ArgMax\",\"in\":[\"x\"],\"out\":[\"z\"],"
        "\"attr\":{\"axis\":1,\"keepdims\":0}}]}";
    static const char schema[] = "{\"format\":\"tiling/1\",\"rules\":[{\"match\":{},\"loops\":[\"c/3@core r c\"]}]}";
    err e = {0};
    const char *path = scratch_in(&folder, "parts.json");
    CHECK(file_save(path, schema, strlen(schema), &e));
    rules = path;
    test_every("parts", source, 1e-6);
    rules = NULL;
}

/* ---- random networks ---- */
enum { STEPS = 8 };
typedef struct random_net {
    text t;
    uint64_t seed;
    int n;
    char shape[STEPS + 4][3]; /* of value v0, v1, ...: 's' varies, '5', '1' */
} random_net;

static int pick(random_net *r, int n)
{
    r->seed = r->seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((r->seed >> 33) % (uint64_t)n);
}

static int add(random_net *r, const char *op, const char *attrs, int a, int b, const char *shape)
{
    text_add(&r->t, "%s{\"op\":\"%s\",\"in\":[\"v%d\"", r->n > 2 ? ",\n" : "", op, a);
    if (b >= 0)
        text_add(&r->t, ",\"v%d\"", b);
    text_add(&r->t, "],\"out\":[\"v%d\"]%s%s%s}", r->n, *attrs ? ",\"attr\":{" : "", attrs, *attrs ? "}" : "");
    memcpy(r->shape[r->n], shape, 3);
    return r->n++;
}

static bool broadcasts(const char *a, const char *b, char *out)
{
    bool ok = true;
    for (int d = 0; d < 2; d++)
        ok = ok && (a[d] == b[d] || a[d] == '1' || b[d] == '1'), out[d] = a[d] == '1' ? b[d] : a[d];
    return ok;
}

static void add_step(random_net *r)
{
    static const char *const one[] = {"Tanh", "Relu", "Sigmoid", "Neg"};
    static const char *const fold[] = {"ReduceMax", "ReduceMean", "ReduceL2", "ReduceMin", "ReduceLogSumExp"};
    const int a = pick(r, r->n), b = pick(r, r->n), axis = pick(r, 2);
    const char *x = r->shape[a], *y = r->shape[b];
    char shape[3] = {x[1], x[0], 0}, attrs[64];
    switch (pick(r, 7)) {
    case 0: add(r, one[pick(r, COUNT(one))], "", a, -1, x); return;
    case 1: add(r, "Transpose", "\"perm\":[1,0]", a, -1, shape); return;
    case 2:
        snprintf(attrs, sizeof attrs, "\"axis\":%d", axis);
        add(r, "Softmax", attrs, a, -1, x);
        return;
    case 3:
    case 4:
        snprintf(attrs, sizeof attrs, "\"axes\":[%d],\"keepdims\":1", axis);
        memcpy(shape, x, 3), shape[axis] = '1';
        add(r, fold[pick(r, COUNT(fold))], attrs, a, -1, shape);
        return;
    case 5:
        if (x[1] == y[0]) {
            shape[0] = x[0], shape[1] = y[1];
            add(r, "Tanh", "", add(r, "MatMul", "", a, b, shape), -1, shape);
            return;
        } /* fall through */
    default:
        if (broadcasts(x, y, shape))
            add(r, pick(r, 2) ? "Add" : "Mul", "", a, b, shape);
    }
}

static void test_random(uint64_t seed)
{
    random_net r = {.seed = seed, .n = 2, .shape = {"s5", "5s"}};
    text all = {0};
    while (r.n < STEPS)
        add_step(&r);
    text_add(&all,
             "{\"format\":\"graph/1\",\"opset\":{\"\":17},\n\"inputs\":[{\"name\":\"v0\",\"dtype\":\"f32\",\"shape\":"
             "[\"seq\",5]},{\"name\":\"v1\",\"dtype\":\"f32\",\"shape\":[5,\"seq\"]}],\n"
             "\"outputs\":[{\"name\":\"v%d\"},{\"name\":\"v%d\"}],\n\"nodes\":[%s]}\n",
             r.n - 1, r.n - 2, text_str(&r.t));
    test_every("random", all.s, 2e-5);
    text_free(&r.t), text_free(&all);
}

/* ---- loops of which a run says the trips ---- */
/* All outputs, of a layer of that kind over x, which has 3 sequences of 4, and perhaps their lengths */
static void test_layer(const char *kind, int gates, const char *direction, bool lengths)
{
    const int ways = strcmp(direction, "bidirectional") ? 1 : 2;
    text t = {0};
    text_add(&t,
             "{\"format\":\"graph/"
             "1\",\"opset\":{\"\":17},\"inputs\":[{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[\"seq\",3,"
             "4]},{\"name\":\"w\",\"dtype\":\"f32\",\"shape\":[%d,%d,4]},{\"name\":\"r\",\"dtype\":\"f32\",\"shape\":[%"
             "d,%d,2]}%s],",
             ways, gates * 2, ways, gates * 2,
             lengths ? ",{\"name\":\"lengths\",\"dtype\":\"i32\",\"shape\":[3]}" : "");
    text_add(&t,
             "\"outputs\":[{\"name\":\"y\"},{\"name\":\"h\"}%s],\"nodes\":[{\"op\":\"%s\",\"in\":[\"x\",\"w\",\"r\","
             "\"\",\"%s\"],"
             "\"out\":[\"y\",\"h\"%s],\"attr\":{\"hidden_size\":2,\"direction\":\"%s\"}}]}",
             gates == 4 ? ",{\"name\":\"c\"}" : "", kind, lengths ? "lengths" : "", gates == 4 ? ",\"c\"" : "",
             direction);
    test_every(kind, text_str(&t), 2e-5);
    text_free(&t);
}

/* ---- what is refused ---- */
#define NETWORK(nodes)                                                                         \
    "{ \"format\": \"graph/1\", \"opset\": { \"\": 17 },\n"                                    \
    "  \"inputs\": [ { \"name\": \"x\", \"dtype\": \"f32\", \"shape\": [2, \"seq\", 4] } ],\n" \
    "  \"outputs\": [ { \"name\": \"y\" } ],\n  \"nodes\": [ " nodes " ] }\n"

static void test_refused(void)
{
    static const struct {
        const char *source, *dim, *text;
    } wrong[] = {
        {NETWORK("{ \"op\": \"Relu\", \"in\": [\"x\"], \"out\": [\"y\"] }"), "seq=0..8",
         "--dim seq=0..8: a dimension that varies has at least one element"},
        {NETWORK("{ \"op\": \"Relu\", \"in\": [\"x\"], \"out\": [\"y\"] }"), "seq=1..2",
         "--dim seq=1..2: a range ends at 3 or more: what an extent does is seen at two from 2 on"},
    };
    for (int i = 0; i < COUNT(wrong); i++) {
        err e = {0};
        ts_model *m = open_network(wrong[i].source);
        CHECK(!ts_plan_make_varying(m, 1, &wrong[i].dim, NULL, &e) && e.code == TS_UNSUPPORTED);
        e.text[strcspn(e.text, "\n")] = 0;
        CHECK_TEXT(e.text, wrong[i].text);
        ts_model_free(m);
    }
}

static void test_values(void)
{
    err e = {0};
    const char *range = "seq=..8",
               *source = "{ \"format\": \"graph/1\", \"opset\": { \"\": 17 },\n"
                         "  \"inputs\": [ { \"name\": \"x\", \"dtype\": \"f32\", \"shape\": [\"seq\", 4] },\n"
                         "    { \"name\": \"z\", \"dtype\": \"f32\", \"shape\": [\"seq\", 4] } ],\n"
                         "  \"outputs\": [ { \"name\": \"y\" } ],\n"
                         "  \"nodes\": [ { \"op\": \"Add\", \"in\": [\"x\", \"z\"], \"out\": [\"y\"] } ] }\n";
    ts_model *m = open_network(source);
    ts_plan *p = ts_plan_make_varying(m, 1, &range, NULL, &e);
    ts_array five, six, nine, wide, y = {0};
    CHECK(p && ts_array_make(&five, TS_F32, 2, (int64_t[]){5, 4}, &e) &&
          ts_array_make(&six, TS_F32, 2, (int64_t[]){6, 4}, &e) &&
          ts_array_make(&nine, TS_F32, 2, (int64_t[]){9, 4}, &e) &&
          ts_array_make(&wide, TS_F32, 2, (int64_t[]){5, 3}, &e));
    ts_array_random(&five, 1, 0);
    CHECK(!ts_plan_set(p, 0, &nine, &e) && e.code == TS_BAD_INPUT);
    CHECK_TEXT(e.text, "input \"x\": dimension 0 is 9, outside of seq=1..8");
    e = (err){0};
    CHECK(!ts_plan_set(p, 0, &wide, &e) && e.code == TS_BAD_INPUT);
    CHECK_TEXT(e.text, "input \"x\": dimension 1 is 3, the model takes 4");
    e = (err){0};
    CHECK(ts_plan_set(p, 0, &five, &e) && ts_plan_set(p, 1, &six, &e) && !ts_plan_run(p, &e));
    CHECK_TEXT(e.text, "dimension \"seq\" is 5 by input \"x\" and 6 by input \"z\"");
    e = (err){0};
    CHECK(ts_plan_set(p, 1, &five, &e) && ts_plan_run(p, &e) && ts_plan_get(p, 0, &y, &e)); /* nothing is lost */
    CHECK(y.dim[0] == 5 && ts_array_at(&y, 19) == 2 * ts_array_at(&five, 19));
    ts_array_free(&y);
    CHECK(ts_plan_value(p, 0, &y, &e) && y.dim[0] == 5 && same_bits(&y, &five));
    ts_array_free(&five), ts_array_free(&six), ts_array_free(&nine), ts_array_free(&wide), ts_array_free(&y);
    ts_plan_free(p), ts_model_free(m);
}

int main(void)
{
    folder = scratch_make();
    test_refused();
    test_values();
    for (uint64_t seed = 1; seed <= 12; seed++)
        test_random(seed);
    test_every("bert-tiny", NULL, 2e-5);
    test_parts();
    for (int lengths = 0; lengths < 2; lengths++) {
        test_layer("RNN", 1, "forward", lengths), test_layer("GRU", 3, "reverse", lengths);
        test_layer("LSTM", 4, "bidirectional", lengths);
    }
    scratch_free(&folder);
    return check_done();
}
