/* A place outside of its axis is an error of the run wherever places come from: given, known, counted, computed, or one
 * number that a plan writes into the kernel. Places inside come out alike on all targets.
 * ctest: Og */
#include "graph/ir/type.h"
#include "tests/check.h"

#include "tessera.h"

#include <stdio.h>
#include <string.h>

enum { EXTENT = 5, MOST = 6 };

/* How n places come about; "= v": a constant v is the second operand of what follows. */
static const struct source {
    const char *first, *second;
    int64_t v;
} sources[] = {
    {"given", NULL, 0},
    {"known", NULL, 0},
    {"iota count=%d", NULL, 0},
    {"iota count=%d to=u8", NULL, 0},
    {"iota count=%d to=u64", NULL, 0},
    {"iota count=%d", "add", 5},
    {"iota count=%d", "subtract", 6},
    {"iota count=%d", "multiply", 2},
    {"const", "broadcast_to shape=[%d]", -6},
    {"const", "broadcast_to shape=[%d]", 5},
    {"const", "broadcast_to shape=[%d]", 4},
    {"const", "broadcast_to shape=[%d]", INT64_MIN},
};

static const struct reader {
    const char *call, *shape; /* shape: of the places, where they are no list */
    bool updates;
} readers[] = {
    {"gather", NULL, false},
    {"take_along_axis", NULL, false},
    {"gather_nd", "reshape shape=[%d,1]", false},
    {"index key=b", NULL, false},
    {"scatter reduce=add", NULL, true},
    {"put_along_axis reduce=add", NULL, true},
    {"scatter_nd reduce=add", "reshape shape=[%d,1]", true},
};

static int64_t place_of(const struct source *s, int i)
{
    if (!strcmp(s->first, "const"))
        return s->v;
    if (!s->second)
        return i;
    return !strcmp(s->second, "add") ? i + s->v : !strcmp(s->second, "subtract") ? i - s->v : i * s->v;
}

static ts_tensor called(ts_graph *g, const char *form, int count, int n, const ts_tensor *in)
{
    char call[64];
    snprintf(call, sizeof call, form, count);
    return ts_call(g, call, n, in);
}

static ts_tensor places_of(ts_graph *g, const struct source *s, int n, const ts_array *list)
{
    ts_error e = {0};
    ts_array v = {0};
    if (!strcmp(s->first, "given"))
        return ts_input(g, "places", TS_I64, 1, list->dim);
    if (!strcmp(s->first, "known"))
        return ts_constant(g, "places", list);
    CHECK(ts_array_make(&v, TS_I64, 0, NULL, &e));
    store_whole(TS_I64, v.data, 0, s->v);
    const ts_tensor k = ts_constant(g, "k", &v);
    ts_array_free(&v);
    if (!strcmp(s->first, "const"))
        return called(g, s->second, n, 1, &k);
    const ts_tensor i = called(g, s->first, n, 0, NULL);
    return s->second ? ts_call2(g, s->second, i, k) : i;
}

/* x[places], or x with 1 added at them, as one number in *sum; false where that is an error that says so. */
static bool run(const struct reader *r, const struct source *s, int n, const char *target, double *sum)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    ts_array x = {0}, list = {0}, one = {0}, y = {0};
    CHECK(ts_array_make(&x, TS_F32, 1, (int64_t[]){EXTENT}, &e) &&
          ts_array_make(&list, TS_I64, 1, (int64_t[]){n}, &e) && ts_array_make(&one, TS_F32, 1, (int64_t[]){n}, &e));
    for (int i = 0; i < EXTENT; i++)
        store_real(TS_F32, x.data, i, i + 1);
    for (int i = 0; i < n; i++)
        store_whole(TS_I64, list.data, i, place_of(s, i)), store_real(TS_F32, one.data, i, 1);
    const ts_given given[] = {{"x", x}, {"one", one}, {"places", list}};
    ts_tensor in[3] = {ts_input(g, "x", TS_F32, 1, x.dim), places_of(g, s, n, &list)};
    if (r->shape)
        in[1] = called(g, r->shape, n, 1, &in[1]);
    if (r->updates)
        in[2] = ts_input(g, "one", TS_F32, 1, one.dim);
    ts_tensor t = ts_call(g, r->call, r->updates ? 3 : 2, in);
    const int n_given = !strcmp(s->first, "given") ? 3 : r->updates ? 2 : 1;
    const ts_given two[] = {given[0], given[2]};
    const bool no_updates = n_given == 3 && !r->updates;
    const bool ok = ts_eval(1, &t, no_updates ? 2 : n_given, no_updates ? two : given,
                            &(ts_options){.target = target, .threads = 1}, &y, &e);
    char means[128] = "an index leads to ";
    const char *range = "outside 0...4 of axis 0";
    if (!strcmp(s->first, "given")) { /* the first that is outside has a place there */
        const bool unnamed = r->updates || (!strcmp(target, "interp") && !strncmp(r->call, "index ", 6)); /* a view */
        range = unnamed ? "axis 0 of what it indexes goes from 0 to 4" : "x has rows 0 to 4";
        snprintf(means, sizeof means, "input \"places\" holds 5 at [5]; ");
    } else if (!strcmp(target, "c")) {
        snprintf(means, sizeof means, "an index is ");
    }
    if (!ok && !CHECK(strstr(e.text, means) && strstr(e.text, range) && e.code == TS_NUMERICS))
        printf("  %s of %s %s, %d, %s: %s\n", r->call, s->first, s->second ? s->second : "", n, target, e.text);
    *sum = 0;
    for (int64_t i = 0; ok && i < ts_array_count(&y); i++)
        *sum += (double)(i + 1) * ts_array_at(&y, i);
    ts_array_free(&x), ts_array_free(&list), ts_array_free(&one), ts_array_free(&y), ts_graph_free(g);
    return ok;
}

static void check(const struct reader *r, const struct source *s, int n)
{
    bool inside = true;
    double sum[2], want = 0;
    for (int i = 0; i < n; i++) {
        int64_t at = place_of(s, i);
        at += at < 0 ? EXTENT : 0;
        inside = inside && at >= 0 && at < EXTENT;
        want += r->updates ? (double)at + 1 : (i + 1) * ((double)at + 1);
    }
    for (int i = 0; r->updates && i < EXTENT; i++)
        want += (i + 1) * (i + 1);
    for (int t = 0; t < 2; t++) {
        const char *target = t ? "c" : "interp";
        const bool ok = run(r, s, n, target, &sum[t]);
        if (!CHECK(ok == inside) || !CHECK(!ok || sum[t] == want))
            printf("  %s of %s %s %lld, %d places, %s: %s, %g, not %g\n", r->call, s->first, s->second ? s->second : "",
                   (long long)s->v, n, target, ok ? "ran" : "refused", sum[t], want);
    }
}

/* A value of an input that is a row itself, and leads to none: the message says where to. */
static void check_led(void)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    ts_array x = {0}, place = {0}, y = {0};
    const int64_t dim[] = {EXTENT, 2};
    CHECK(ts_array_make(&x, TS_F32, 1, dim, &e) && ts_array_make(&place, TS_I64, 1, dim + 1, &e));
    store_whole(TS_I64, place.data, 0, -1), store_whole(TS_I64, place.data, 1, 3);
    const ts_tensor in = ts_input(g, "places", TS_I64, 1, place.dim), by = ts_scalar(g, TS_I64, EXTENT);
    const ts_tensor t = ts_call2(g, "gather", ts_input(g, "x", TS_F32, 1, x.dim), ts_call2(g, "add", in, by));
    const ts_given given[] = {{"x", x}, {"places", place}};
    CHECK(!ts_eval(1, &t, 2, given, &(ts_options){.target = "c", .threads = 1}, &y, &e));
    if (!CHECK(strstr(e.text, "input \"places\" holds 3 at [1], which leads to 8; x has rows 0 to 4")))
        printf("  %s\n", e.text);
    ts_array_free(&x), ts_array_free(&place), ts_graph_free(g);
}

int main(void)
{
    check_led();
    static const int counts[] = {1, 2, EXTENT, MOST};
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        for (size_t k = 0; k < sizeof sources / sizeof *sources; k++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                check(&readers[i], &sources[k], counts[c]);
    return check_done();
}
