/* restate_scan_test.c - loops written as Scan and Loop of ONNX and read back: the same values, with states, slices,
 * gathered rows, numbers of trips, early ends, and loops within loops; as a loop again where its trips are many. */
#include "import/model.h"
#include "import/writer.h"
#include "tests/check.h"
#include "tests/scans.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, TRIPS = 24, N = 5 };
static scratch folder;

static ts_port port_of(const node *n, const char *name)
{
    ts_port p = {.name = name, .dtype = n->type.dtype, .rank = n->type.rank};
    memcpy(p.dim, n->type.dim, sizeof p.dim);
    return p;
}

static bool save(const graph *g, int n, const ts_tensor *out, const char *path, err *e)
{
    static const char *const label[MOST] = {"o0", "o1", "o2", "o3", "o4", "o5", "o6", "o7"};
    ts_port input[32], output[MOST];
    ts_tensor all[64];
    made_graph from = {.name = "loops", .graph = g, .ports = {.n_output = n, .input = input, .output = output}, out};
    model_file f;
    const writer *const *w = writers;
    while (strcmp((*w)->name, "onnx"))
        w++;
    for (int i = 0; i < n; i++)
        output[i] = port_of(out[i], label[i]);
    for (int i = 0, count = ts_leaves(n, out, all); i < count; i++)
        if (!strcmp(ts_op_name(all[i]), "input"))
            input[from.ports.n_input++] = port_of(all[i], ts_name(all[i]));
    const bool ok = restate_graph(&from, &f, e) && (*w)->write(&f, path, e);
    arena_free(&f.mem);
    return ok;
}

static bool same(const ts_array *a, const ts_array *b)
{
    const size_t bytes = (size_t)ts_array_count(a) * (size_t)ts_dtype_bytes(a->dtype);
    return a->dtype == b->dtype && ts_array_count(a) == ts_array_count(b) && !memcmp(a->data, b->data, bytes);
}

/* Written and read; by the interpreter, to the bit */
static void check_again(void *user, const char *name, const scans_case *c)
{
    const char *holds = user;
    ts_error e = {0};
    ts_array want[MOST] = {{0}}, got[MOST] = {{0}};
    ts_tensor again[MOST];
    const char *path = scratch_in(&folder, "m.onnx");
    ts_model *m = save(c->g, c->n, c->out, path, &e) ? ts_model_open(path, &e) : NULL;
    bool ok = m && ts_model_bind(m, 0, NULL, NULL, &e);
    for (int i = 0; i < c->n && ok; i++)
        again[i] = ts_model_tensor(m, i);
    ok = ok && ts_eval(c->n, c->out, c->n_given, c->given, &(ts_options){.target = "interp"}, want, &e) &&
         ts_eval(c->n, again, c->n_given, c->given, &(ts_options){.target = "interp"}, got, &e);
    if (!CHECK(ok))
        fprintf(stderr, "%s: %s\n", name, e.text);
    for (int i = 0; i < c->n && ok; i++)
        if (!CHECK(same(&want[i], &got[i])))
            fprintf(stderr, "%s: output %d differs\n", name, i);
    char *printed = ok ? ts_print(c->n, again) : NULL;
    if (printed && holds && !CHECK(strstr(printed, holds)))
        fprintf(stderr, "%s: no \"%s\" in\n%s", name, holds, printed);
    free(printed);
    for (int i = 0; i < c->n; i++)
        ts_array_free(&want[i]), ts_array_free(&got[i]);
    ts_model_free(m);
}

/* h' = h / 2 + x[t] + t, which ends when `last` trips are made; rows: all h, and where they are read backwards */
static void check_many(bool turned, bool rows, int64_t last, const char *holds)
{
    const int64_t shape[] = {TRIPS, N};
    ts_graph *g = ts_graph_make();
    ts_given given[2] = {{.name = "x"}, {.name = "h"}};
    ts_error e = {0};
    ts_tensor out[2];
    for (int i = 0; i < 2; i++) {
        CHECK(ts_array_make(&given[i].value, TS_F32, 2 - i, shape + i, &e));
        ts_array_random(&given[i].value, 5 + (uint64_t)i, 0);
    }
    ts_scan *s = ts_scan_begin(g, TRIPS);
    ts_tensor h = ts_scan_state(s, ts_input(g, "h", TS_F32, 1, shape + 1)),
              x = ts_scan_slice(s, ts_input(g, "x", TS_F32, 2, shape), turned), number = ts_scan_trip(s),
              next = ts_call2(g, "add", ts_call2(g, "multiply", h, ts_scalar(g, TS_F32, 0.5)), x);
    next = ts_call2(g, "add", next, ts_call1(g, "cast to=f32", number));
    ts_scan_step(s, h, next);
    if (rows)
        ts_scan_gather(s, next, turned);
    if (last)
        ts_scan_until(s, ts_call2(g, "equal", number, ts_scalar(g, TS_I64, (double)last - 1)));
    if (CHECK(ts_scan_end(s, out)))
        check_again((void *)(uintptr_t)holds, holds, &(scans_case){g, 1 + rows, out, 2, given});
    ts_array_free(&given[0].value), ts_array_free(&given[1].value);
    ts_graph_free(g);
}

int main(void)
{
    folder = scratch_make();
    scans_each(check_again, NULL);
    check_many(false, true, 0, "iterate");
    check_many(true, true, 0, "iterate");
    check_many(true, false, 9, "until=1");
    check_many(false, false, 9, "until=1");
    check_many(true, true, 9, "iterate");
    scratch_free(&folder);
    return check_done();
}
