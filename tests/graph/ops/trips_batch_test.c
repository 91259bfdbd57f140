/* trips_batch_test.c - batches of scans: each part of what comes out is what the scan gives for that part of what goes
 * in, whichever inputs have the batch, and where parts end after different numbers of trips. */
#include "graph/ir/graph.h"
#include "tests/check.h"
#include "tests/scans.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 3, MOST = 8 };

static bool near(const ts_array *all, int part, const ts_array *one)
{
    const int64_t n = ts_array_count(one);
    bool ok = ts_array_count(all) == BATCH * n && all->rank == one->rank + 1;
    for (int64_t i = 0; i < n && ok; i++) {
        const double a = ts_array_at(all, part * n + i), b = ts_array_at(one, i);
        ok = fabs(a - b) <= 1e-5 * (1 + fabs(b));
    }
    return ok;
}

static ts_array part_of(const ts_array *all, int part)
{
    ts_array one = *all;
    memmove(one.dim, one.dim + 1, (size_t)--one.rank * sizeof *one.dim);
    one.data = (char *)all->data + part * ts_array_count(&one) * ts_dtype_bytes(one.dtype);
    return one;
}

typedef struct batch {
    const scans_case *c;
    unsigned which;               /* inputs that have it */
    ts_tensor all[MOST];          /* outputs of the batch */
    ts_given given[16], part[16]; /* the batch's inputs; one part of them */
} batch;

static bool make(batch *b, const char *target)
{
    const scans_case *c = b->c;
    ts_tensor found[64], from[16], to[16];
    ts_error e = {0};
    int pairs = 0;
    const int leaves = ts_leaves(c->n, c->out, found);
    for (int i = 0; i < c->n_given; i++) {
        ts_array *v = &b->given[i].value;
        b->given[i] = c->given[i];
        int k = 0;
        while (k < leaves && strcmp(ts_name(found[k]), c->given[i].name))
            k++;
        if (!(b->which >> i & 1) || !CHECK(k < leaves))
            continue;
        int64_t shape[8] = {BATCH};
        memcpy(shape + 1, v->dim, (size_t)v->rank * sizeof *shape);
        const char *name = i == 0 ? "batch0" : i == 1 ? "batch1" : i == 2 ? "batch2" : "batch3";
        from[pairs] = found[k], to[pairs++] = ts_input(c->g, name, v->dtype, v->rank + 1, shape);
        CHECK(ts_array_make(&b->given[i].value, v->dtype, c->given[i].value.rank + 1, shape, &e));
        ts_array_random(&b->given[i].value, 31 + (uint64_t)i, 0), b->given[i].name = name;
    }
    if (CHECK(ts_batch(c->g, c->n, c->out, pairs, from, to, b->all)))
        return true;
    ts_graph_ok(c->g, &e);
    fprintf(stderr, "  %s: %s\n", target, e.text);
    return false;
}

static void compare(batch *b, const char *name, const char *target)
{
    const scans_case *c = b->c;
    const ts_options o = {.target = target, .threads = 2};
    ts_array got[MOST] = {{0}};
    ts_error e = {0};
    if (!CHECK(ts_eval(c->n, b->all, c->n_given, b->given, &o, got, &e)))
        fprintf(stderr, "%s, %#x: %s\n", name, b->which, e.text);
    for (int p = 0; p < BATCH && e.code == TS_OK; p++) {
        ts_array one[MOST] = {{0}};
        for (int i = 0; i < c->n_given; i++) {
            b->part[i] = c->given[i];
            if (b->which >> i & 1)
                b->part[i].value = part_of(&b->given[i].value, p);
        }
        if (CHECK(ts_eval(c->n, c->out, c->n_given, b->part, &o, one, &e)))
            for (int k = 0; k < c->n; k++)
                if (!CHECK(near(&got[k], p, &one[k])))
                    fprintf(stderr, "%s, %#x: output %d, part %d\n", name, b->which, k, p);
        for (int k = 0; k < c->n; k++)
            ts_array_free(&one[k]);
    }
    for (int k = 0; k < c->n; k++)
        ts_array_free(&got[k]);
}

static void check_batch(void *user, const char *name, const scans_case *c)
{
    const char *target = user;
    for (unsigned which = 1; which < 1u << c->n_given && which < 8; which++) {
        batch b = {.c = c, .which = which};
        if (make(&b, name))
            compare(&b, name, target);
        for (int i = 0; i < c->n_given; i++)
            if (which >> i & 1)
                ts_array_free(&b.given[i].value);
    }
}

/* s' = 2 s + |x|, up to 1000: each part ends when its own is there */
static void test_ends(void)
{
    enum { TRIPS = 20, N = 2 };
    ts_graph *g = ts_graph_make();
    ts_given given[2] = {{.name = "h"}, {.name = "x"}};
    ts_error e = {0};
    ts_tensor out[2];
    for (int i = 0; i < 2; i++) {
        CHECK(ts_array_make(&given[i].value, TS_F32, 1, (const int64_t[]){N}, &e));
        ts_array_random(&given[i].value, 3 + (uint64_t)i, 0);
    }
    ts_scan *s = ts_scan_begin(g, TRIPS);
    ts_tensor h = ts_scan_state(s, ts_input(g, "h", TS_F32, 1, (const int64_t[]){N})),
              x = ts_call1(g, "abs", ts_input(g, "x", TS_F32, 1, (const int64_t[]){N})),
              next = ts_call2(g, "add", ts_call2(g, "add", ts_call1(g, "abs", h), ts_call1(g, "abs", h)), x);
    ts_scan_step(s, h, next), ts_scan_gather(s, next, false);
    ts_scan_until(s, ts_call2(g, "greater", ts_call1(g, "max", next), ts_scalar(g, TS_F32, 1000)));
    if (CHECK(ts_scan_end(s, out)))
        check_batch((void *)(uintptr_t) "interp", "ends", &(scans_case){g, 2, out, 2, given});
    ts_array_free(&given[0].value), ts_array_free(&given[1].value);
    ts_graph_free(g);
}

int main(void)
{
    scans_each(check_batch, (void *)(uintptr_t) "interp");
    test_ends();
    return check_done();
}
