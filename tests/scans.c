#include "tests/scans.h"
#include "graph/ir/graph.h"
#include "tests/check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIPS = 7, N = 5, M = 6, MOST = 8 };

typedef struct made { /* the same values twice: by a scan, and written out */
    int n;
    ts_tensor scan[MOST], flat[MOST];
} made;
typedef void maker(ts_graph *g, made *m);

static ts_tensor input(ts_graph *g, const char *name, int rank, int64_t a, int64_t b)
{
    return ts_input(g, name, TS_F32, rank, (const int64_t[]){a, b});
}

static ts_tensor row(ts_graph *g, ts_tensor x, int64_t t)
{
    char call[64];
    snprintf(call, sizeof call, "index key=%lld", (long long)t);
    return ts_call1(g, call, x);
}

static ts_tensor stacked(ts_graph *g, int n, const ts_tensor *rows)
{
    ts_tensor all[TRIPS + 2];
    for (int i = 0; i < n; i++)
        all[i] = ts_call1(g, "expand_dims axes=[0]", rows[i]);
    return ts_call(g, "concat axis=0", n, all);
}

/* h' = tanh(x[t] w + h r), with all h gathered */
static ts_tensor cell(ts_graph *g, ts_tensor x, ts_tensor h, ts_tensor w, ts_tensor r)
{
    ts_tensor a = ts_call2(g, "matmul", ts_call1(g, "expand_dims axes=[0]", x), w);
    ts_tensor b = ts_call2(g, "matmul", ts_call1(g, "expand_dims axes=[0]", h), r);
    return ts_call1(g, "reshape shape=[5]", ts_call1(g, "tanh", ts_call2(g, "add", a, b)));
}

static void make_cell(ts_graph *g, made *m, bool back, bool weights)
{
    const int64_t wide[] = {M, N}, square[] = {N, N};
    ts_tensor x = input(g, "x", 2, TRIPS, M), h0 = input(g, "h", 1, N, 0);
    ts_tensor w = weights ? ts_weight(g, "w", TS_F32, 2, wide, 0, 0.5, 3) : ts_input(g, "w", TS_F32, 2, wide);
    ts_tensor r = weights ? ts_weight(g, "r", TS_F32, 2, square, 0, 0.5, 4) : ts_input(g, "r", TS_F32, 2, square);
    ts_scan *s = ts_scan_begin(g, TRIPS);
    ts_tensor h = ts_scan_state(s, h0), next = cell(g, ts_scan_slice(s, x, back), h, w, ts_call1(g, "transpose", r));
    ts_scan_step(s, h, next);
    ts_scan_gather(s, next, back);
    ts_scan_end(s, m->scan);
    ts_tensor rows[TRIPS], flat = h0;
    for (int i = 0; i < TRIPS; i++) {
        const int t = back ? TRIPS - 1 - i : i;
        rows[t] = flat = cell(g, row(g, x, t), flat, w, ts_call1(g, "transpose", r));
    }
    m->flat[0] = flat, m->flat[1] = stacked(g, TRIPS, rows), m->n = 2;
}

static void make_forward(ts_graph *g, made *m)
{
    make_cell(g, m, false, false);
}

static void make_backward(ts_graph *g, made *m)
{
    make_cell(g, m, true, true);
}

/* Two states that change places, one that stays, and the trip's number in the sum */
static void make_swap(ts_graph *g, made *m)
{
    ts_tensor a0 = input(g, "a", 1, N, 0), b0 = input(g, "b", 1, N, 0), c0 = input(g, "c", 1, N, 0);
    ts_scan *s = ts_scan_begin(g, TRIPS);
    ts_tensor a = ts_scan_state(s, a0), b = ts_scan_state(s, b0), c = ts_scan_state(s, c0),
              t = ts_call1(g, "cast to=f32", ts_scan_trip(s));
    ts_scan_step(s, a, b);
    ts_scan_step(s, b, ts_call2(g, "add", a, t));
    ts_scan_gather(s, c, false);
    ts_scan_gather(s, t, false);
    ts_scan_end(s, m->scan);
    ts_tensor x = a0, y = b0, rows[TRIPS], numbers[TRIPS];
    for (int i = 0; i < TRIPS; i++) {
        ts_tensor was = x;
        numbers[i] = ts_scalar(g, TS_F32, i), rows[i] = c0;
        x = y, y = ts_call2(g, "add", was, numbers[i]);
    }
    m->flat[0] = x, m->flat[1] = y, m->flat[2] = c0;
    m->flat[3] = stacked(g, TRIPS, rows), m->flat[4] = stacked(g, TRIPS, numbers), m->n = 5;
}

/* A loop within a loop: sums along rows of what an outer state is at hand */
static void make_nested(ts_graph *g, made *m)
{
    ts_tensor x = input(g, "x", 2, TRIPS, N), h0 = input(g, "h", 1, N, 0);
    ts_scan *outer = ts_scan_begin(g, 3);
    ts_tensor h = ts_scan_state(outer, h0);
    ts_scan *inner = ts_scan_begin(g, TRIPS);
    ts_tensor sum = ts_scan_state(inner, ts_call1(g, "negative", h)), in = ts_scan_slice(inner, x, false), out[1];
    ts_scan_step(inner, sum, ts_call2(g, "add", ts_call2(g, "multiply", sum, h), in));
    ts_scan_end(inner, out);
    ts_tensor next = ts_call1(g, "tanh", out[0]);
    ts_scan_step(outer, h, next);
    ts_scan_gather(outer, next, true);
    ts_scan_end(outer, m->scan);
    ts_tensor flat = h0, rows[3];
    for (int i = 0; i < 3; i++) {
        ts_tensor y = ts_call1(g, "negative", flat);
        for (int t = 0; t < TRIPS; t++)
            y = ts_call2(g, "add", ts_call2(g, "multiply", y, flat), row(g, x, t));
        rows[2 - i] = flat = ts_call1(g, "tanh", y);
    }
    m->flat[0] = flat, m->flat[1] = stacked(g, 3, rows), m->n = 2;
}

/* Ends behind trip 3; states of two dtypes, so that the value is bytes */
static void make_until(ts_graph *g, made *m)
{
    const int64_t none = 0;
    ts_tensor x = input(g, "x", 2, TRIPS, N), h0 = input(g, "h", 1, N, 0),
              n0 = ts_constant(g, "", &(ts_array){.dtype = TS_I64, .data = (void *)(uintptr_t)&none});
    ts_scan *s = ts_scan_begin(g, TRIPS);
    ts_tensor h = ts_scan_state(s, h0), n = ts_scan_state(s, n0), in = ts_scan_slice(s, x, false),
              next = ts_call2(g, "add", h, in), more = ts_call2(g, "add", n, ts_scalar(g, TS_I64, 1));
    ts_scan_step(s, h, next), ts_scan_step(s, n, more);
    ts_scan_gather(s, next, false), ts_scan_gather(s, next, true);
    ts_scan_until(s, ts_call2(g, "equal", ts_scan_trip(s), ts_scalar(g, TS_I64, 3)));
    ts_scan_end(s, m->scan);
    ts_tensor flat = h0, rows[TRIPS], turned[TRIPS],
              none_left = ts_call2(g, "multiply", ts_call1(g, "abs", h0), ts_scalar(g, TS_F32, 0));
    for (int t = 0; t < TRIPS; t++)
        turned[TRIPS - 1 - t] = rows[t] = t < 4 ? flat = ts_call2(g, "add", flat, row(g, x, t)) : none_left;
    m->flat[0] = flat, m->flat[1] = ts_scalar(g, TS_I64, 4), m->flat[2] = stacked(g, TRIPS, rows);
    m->flat[3] = stacked(g, TRIPS, turned), m->n = 4;
}

/* A state and rows that begin behind one of 5 elements, in the middle of what a device reads at once */
static void make_apart(ts_graph *g, made *m)
{
    enum { WIDE = 64 };
    ts_tensor a0 = input(g, "a", 1, N, 0), b0 = input(g, "b", 1, WIDE, 0), x = input(g, "x", 2, TRIPS, WIDE),
              half = ts_scalar(g, TS_F32, 0.5);
    ts_scan *s = ts_scan_begin(g, TRIPS);
    ts_tensor a = ts_scan_state(s, a0), b = ts_scan_state(s, b0),
              next = ts_call2(g, "add", ts_call2(g, "multiply", b, half), ts_scan_slice(s, x, false));
    ts_scan_step(s, a, ts_call2(g, "add", a, half)), ts_scan_step(s, b, next);
    ts_scan_gather(s, next, true);
    ts_scan_end(s, m->scan);
    ts_tensor flat = a0, wide = b0, rows[TRIPS];
    for (int t = 0; t < TRIPS; t++) {
        flat = ts_call2(g, "add", flat, half);
        rows[TRIPS - 1 - t] = wide = ts_call2(g, "add", ts_call2(g, "multiply", wide, half), row(g, x, t));
    }
    m->flat[0] = flat, m->flat[1] = wide, m->flat[2] = stacked(g, TRIPS, rows), m->n = 3;
}

/* Loops that need nothing of one another, of which one reads what another must not have written over, and a loop over
 * what they gather */
static void make_beside(ts_graph *g, made *m)
{
    made forth = {0}, back = {0};
    make_cell(g, &forth, false, false), make_cell(g, &back, true, false);
    ts_scan *s = ts_scan_begin(g, TRIPS);
    ts_tensor h = ts_scan_state(s, back.scan[0]),
              next = ts_call2(g, "multiply", ts_call2(g, "add", h, ts_scan_slice(s, forth.scan[1], true)),
                              ts_scan_slice(s, back.scan[1], false));
    ts_scan_step(s, h, next);
    ts_scan_end(s, m->scan);
    ts_tensor flat = back.flat[0];
    for (int t = 0; t < TRIPS; t++)
        flat = ts_call2(g, "multiply", ts_call2(g, "add", flat, row(g, forth.flat[1], TRIPS - 1 - t)),
                        row(g, back.flat[1], t));
    m->flat[0] = flat, m->scan[1] = back.scan[1], m->flat[1] = back.flat[1], m->n = 2;
}

static void give(ts_given *given, int *n, int n_root, const ts_tensor *root)
{
    ts_tensor all[32];
    ts_error e = {0};
    const int count = ts_leaves(n_root, root, all);
    for (int i = *n = 0; i < count; i++) {
        if (strcmp(ts_op_name(all[i]), "input"))
            continue;
        given[*n] = (ts_given){.name = ts_name(all[i])};
        CHECK(ts_array_make(&given[*n].value, ts_type(all[i]), ts_rank(all[i]), ts_shape(all[i]), &e));
        ts_array_random(&given[*n].value, 11 + (uint64_t)i, 0), ++*n;
    }
}

/* As near as sums in another order, of values as large as the largest, bring them; and, with reals in f64, as states
 * that are rounded from trip to trip. */
static bool near(const ts_array *a, const ts_array *b)
{
    double most = 0, scale = 1;
    for (int64_t i = 0; i < ts_array_count(a); i++) {
        most = fmax(most, fabs(ts_array_at(a, i) - ts_array_at(b, i)));
        scale = fmax(scale, fabs(ts_array_at(b, i)));
    }
    return most <= 16 * TRIPS * FLT_EPSILON * scale;
}

static bool same_bits(const ts_array *a, const ts_array *b)
{
    const size_t bytes = (size_t)ts_array_count(a) * (size_t)ts_dtype_bytes(a->dtype);
    return a->dtype == b->dtype && ts_array_count(a) == ts_array_count(b) && !memcmp(a->data, b->data, bytes);
}

static bool values(int n, const ts_tensor *of, const ts_options *o, ts_array *out, ts_error *e)
{
    ts_given given[32];
    int n_given;
    give(given, &n_given, n, of);
    const bool ok = ts_eval(n, of, n_given, given, o, out, e);
    for (int i = 0; i < n_given; i++)
        ts_array_free(&given[i].value);
    return ok;
}

/* What is only to be near is held against the interpreter's, which compiles nothing. */
static void compare(const char *name, const made *m, const ts_options *o, bool bits)
{
    const ts_options interp = {.target = "interp"};
    ts_array got[MOST] = {{0}}, want[MOST] = {{0}};
    ts_error e = {0};
    if (!CHECK(values(m->n, m->scan, o, got, &e) && values(m->n, m->flat, bits ? o : &interp, want, &e)))
        fprintf(stderr, "%s on %s: %s\n", name, o->target, e.text);
    else
        for (int i = 0; i < m->n; i++)
            if (!CHECK(bits ? same_bits(&got[i], &want[i]) : near(&got[i], &want[i]))) {
                fprintf(stderr, "%s on %s, %d threads, output %d:\n", name, o->target, o->threads, i);
                for (int64_t k = 0; k < ts_array_count(&got[i]) && k < 64; k++)
                    fprintf(stderr, " %g/%g", ts_array_at(&got[i], k), ts_array_at(&want[i], k));
                fprintf(stderr, "\n");
            }
    for (int i = 0; i < m->n; i++)
        ts_array_free(&got[i]), ts_array_free(&want[i]);
}

static void check_printed(const char *name, const made *m)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    ts_tensor again[MOST];
    int n = 0;
    char *is = ts_print(m->n, m->scan), *was = is;
    if (!CHECK(ts_parse(g, is, MOST, again, &n, &e) && n == m->n))
        fprintf(stderr, "%s: %s\n%s", name, e.text, is);
    else if (!strstr(is, "weight")) {
        was = ts_print(n, again);
        CHECK_TEXT(was, is);
    }
    if (was != is)
        free(was);
    free(is);
    CHECK(g_check(g, &e));
    ts_graph_free(g);
}

/* Of the sum of all squares, with respect to all inputs of reals */
static void slopes(ts_graph *g, int n, const ts_tensor *out, int n_in, const ts_tensor *in, ts_tensor *grad)
{
    ts_tensor sum = ts_scalar(g, TS_F32, 0);
    for (int i = 0; i < n; i++)
        if (ts_type(out[i]) == TS_F32)
            sum = ts_call2(g, "add", sum, ts_call1(g, "sum", ts_call2(g, "multiply", out[i], out[i])));
    ts_chain_rule(g, 1, &sum, NULL, n_in, in, grad);
}

static made gradients(ts_graph *g, const made *m)
{
    ts_tensor all[32], in[MOST];
    made d = {0};
    const int n = ts_leaves(m->n, m->flat, all);
    for (int i = 0; i < n && d.n < MOST; i++)
        if (ts_type(all[i]) == TS_F32)
            in[d.n++] = all[i];
    slopes(g, m->n, m->scan, d.n, in, d.scan);
    slopes(g, m->n, m->flat, d.n, in, d.flat);
    return d;
}

static void check_made(const char *name, maker *f, int orders, int n_on, const scans_on *on)
{
    made m = {0};
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    f(g, &m);
    if (!CHECK(ts_graph_ok(g, &e)))
        fprintf(stderr, "%s: %s\n", name, e.text);
    else {
        check_printed(name, &m);
        for (int i = 0; i < n_on; i++)
            compare(name, &m, &on[i].options, on[i].bits);
    }
    for (int k = 0; k < orders && ts_graph_ok(g, &e); k++) {
        char call[64];
        snprintf(call, sizeof call, "%s, gradient %d", name, k + 1);
        m = gradients(g, &m);
        if (!CHECK(ts_graph_ok(g, &e)))
            fprintf(stderr, "%s: %s\n", call, e.text);
        for (int i = 0; i < n_on && ts_graph_ok(g, &e); i++)
            if (k < on[i].slopes)
                compare(call, &m, &on[i].options, false);
    }
    ts_graph_free(g);
}

static const struct {
    const char *name;
    maker *make;
    int orders; /* of gradients */
} cases[] = {{"forward", make_forward, 2}, {"backward", make_backward, 1}, {"swap", make_swap, 1},
             {"nested", make_nested, 1},   {"until", make_until, 1},       {"apart", make_apart, 0},
             {"beside", make_beside, 1}};

void scans_check(int n, const scans_on *on)
{
    for (int i = 0; i < COUNT(cases); i++)
        check_made(cases[i].name, cases[i].make, cases[i].orders, n, on);
}

void scans_each(void (*f)(void *user, const char *name, const scans_case *c), void *user)
{
    for (int i = 0; i < COUNT(cases); i++) {
        ts_graph *g = ts_graph_make();
        ts_given given[32];
        made m = {0};
        int n;
        cases[i].make(g, &m);
        give(given, &n, m.n, m.scan);
        f(user, cases[i].name, &(scans_case){g, m.n, m.scan, n, given});
        for (int k = 0; k < n; k++)
            ts_array_free(&given[k].value);
        ts_graph_free(g);
    }
}

/* ---- states kept of some trips ---- */
static ts_tensor keeping(ts_graph *g, int64_t every, bool back)
{
    ts_tensor x = input(g, "x", 2, TRIPS, M), h0 = input(g, "h", 1, N, 0), out[2];
    ts_tensor w = ts_input(g, "w", TS_F32, 2, (const int64_t[]){M, N}),
              r = ts_input(g, "r", TS_F32, 2, (const int64_t[]){N, N});
    ts_scan *s = ts_scan_begin(g, TRIPS);
    ts_tensor h = ts_scan_state(s, h0), next = cell(g, ts_scan_slice(s, x, back), h, w, r);
    ts_tensor t = ts_call1(g, "cast to=f32", ts_scan_trip(s));
    ts_scan_step(s, h, next);
    ts_scan_gather(s, ts_call2(g, "multiply", next, t), !back);
    ts_scan_keep(s, every);
    ts_scan_end(s, out);
    ts_tensor sum = ts_call1(g, "sum", ts_call2(g, "multiply", out[1], out[1]));
    return ts_call2(g, "add", sum, ts_call1(g, "sum", out[0]));
}

/* Gradients of the same bits, whatever is kept; of gradients, near. */
void scans_check_keep(int64_t every, bool back, const ts_options *o)
{
    ts_graph *g = ts_graph_make();
    made m = {.n = 4};
    ts_tensor in[] = {input(g, "x", 2, TRIPS, M), input(g, "h", 1, N, 0),
                      ts_input(g, "w", TS_F32, 2, (const int64_t[]){M, N}),
                      ts_input(g, "r", TS_F32, 2, (const int64_t[]){N, N})};
    ts_tensor one = keeping(g, every, back), all = keeping(g, 1, back);
    ts_error e = {0};
    if (!CHECK(ts_chain_rule(g, 1, &one, NULL, 4, in, m.scan) && ts_chain_rule(g, 1, &all, NULL, 4, in, m.flat))) {
        ts_graph_ok(g, &e);
        fprintf(stderr, "keep %lld: %s\n", (long long)every, e.text);
    } else {
        compare("keep", &m, o, true);
        slopes(g, 4, m.scan, 4, in, m.scan), slopes(g, 4, m.flat, 4, in, m.flat);
        if (CHECK(ts_graph_ok(g, &e)))
            compare("keep, gradient 2", &m, o, false);
        else
            fprintf(stderr, "keep %lld: %s\n", (long long)every, e.text);
    }
    ts_graph_free(g);
}

/* A row of a table by the number of the trip, which has fewer rows than there are trips */
void scans_check_outside(const ts_options *o)
{
    ts_graph *g = ts_graph_make();
    ts_given given[4];
    ts_error e = {0};
    int n;
    ts_scan *s = ts_scan_begin(g, TRIPS);
    ts_tensor h = ts_scan_state(s, input(g, "h", 1, N, 0)), t = ts_call1(g, "reshape shape=[1]", ts_scan_trip(s)),
              from = ts_call2(g, "gather axis=0", input(g, "table", 2, TRIPS - 1, N), t), out[1];
    ts_scan_step(s, h, ts_call2(g, "add", h, ts_call1(g, "reshape shape=[5]", from)));
    ts_array got = {0};
    if (CHECK(ts_scan_end(s, out))) {
        give(given, &n, 1, out);
        CHECK(!ts_eval(1, out, n, given, o, &got, &e));
        CHECK(e.code == TS_NUMERICS);
        CHECK_TEXT(e.text,
                   "iterate: an index is outside its axis\n  hint: check integer inputs against the sizes of the "
                   "tables they index");
        for (int i = 0; i < n; i++)
            ts_array_free(&given[i].value);
    }
    ts_graph_free(g);
}

int scans_slopes(const scans_case *c, ts_tensor slope[SCANS_MOST])
{
    ts_tensor all[SCANS_MOST], in[SCANS_MOST], sum = ts_scalar(c->g, TS_F32, 0);
    int n = 0;
    for (int i = 0; i < c->n; i++)
        if (ts_type(c->out[i]) == TS_F32)
            sum = ts_call2(c->g, "add", sum, ts_call1(c->g, "sum", ts_call2(c->g, "multiply", c->out[i], c->out[i])));
    const int leaves = ts_leaves(c->n, c->out, all);
    for (int i = 0; i < leaves; i++)
        if (!strcmp(ts_op_name(all[i]), "input") && ts_type(all[i]) == TS_F32)
            in[n++] = all[i];
    CHECK(ts_chain_rule(c->g, 1, &sum, NULL, n, in, slope));
    return n;
}

static bool same(const ts_array *a, const ts_array *b)
{
    return a->data && b->data &&
           !memcmp(a->data, b->data, (size_t)ts_array_count(a) * (size_t)ts_dtype_bytes(a->dtype));
}

void scans_same(const char *how, int n, ts_array *a, ts_array *b)
{
    for (int i = 0; i < n; i++) {
        if (!CHECK(same(&a[i], &b[i])))
            printf("  %s: output %d of %d differs\n", how, i, n);
        ts_array_free(&a[i]), ts_array_free(&b[i]);
    }
}
