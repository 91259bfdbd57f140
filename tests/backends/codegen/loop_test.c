/* loop_test.c - a scan as one kernel: the text has the loop over the trips, each kernel of a trip is a function of it,
 * there once for equal ones, and is called in the loop. A trip of more workers than one has no such text. */
/* ctest: fast */
#include "backends/c/dialect.h"
#include "backends/codegen/codegen.h"
#include "backends/cpu/cpu.h"
#include "schedule/make.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

/* h' = tanh(h + x[t] w), and what is gathered of it, in rows of n */
static const node *make_cell(ts_graph *g, int64_t n)
{
    ts_tensor x = ts_input(g, "x", TS_F32, 3, (const int64_t[]){20, 2, n}),
              h0 = ts_input(g, "h", TS_F32, 2, (const int64_t[]){2, n}),
              w = ts_weight(g, "w", TS_F32, 2, (const int64_t[]){n, n}, 0, 0.1, 1), out[2];
    ts_scan *s = ts_scan_begin(g, 20);
    ts_tensor h = ts_scan_state(s, h0),
              next = ts_call1(g, "tanh", ts_call2(g, "add", ts_scan_slice(s, x, false), ts_call2(g, "matmul", h, w)));
    ts_scan_step(s, h, next), ts_scan_gather(s, next, false);
    return CHECK(ts_scan_end(s, out)) ? out[1] : NULL;
}

static void check_unit(const plan *p, const kernel *k)
{
    const scan_plan *s = k->scan;
    kernel_text t = {0};
    err e = {0};
    if (!CHECK(s->inside && kernel_write(&c_dialect, p, k, &t, &e))) {
        printf("  %s\n", e.text);
        return;
    }
    const char *trips = strstr(t.text, "for (long trip = 0; trip < 20; trip++) {");
    CHECK(trips && check_count(t.text, "for (long trip ") == 1 && check_count(t.text, "void *const *at") == 1);
    CHECK(trips && check_count(trips, ", &alone);") == s->plan->n_kernel);
    CHECK(strstr(t.header, "20 trips, each of k_"));
    kernel_text_free(&t);
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        arena mem = {0};
        err e = {0};
        ts_graph *g = ts_graph_make();
        const node *out = make_cell(g, i ? 2048 : 16);
        const target *on = cpu_target(&mem, &(machine_options){.machine = "l3:1(32MB) core:4 isa:avx2", .threads = 4},
                                      &e);
        plan *p = on ? plan_make(g, 1, &out, &(plan_options){.on = on, .target = "c"}, &e) : NULL;
        int scans = 0;
        if (!CHECK(p != NULL))
            printf("  %s\n", e.text);
        for (int k = 0; p && k < p->n_kernel; k++)
            if (p->kernel[k].scan && ++scans && i)
                CHECK(!p->kernel[k].scan->inside && p->kernel[k].scan->plan->threads == 4);
            else if (p->kernel[k].scan)
                check_unit(p, &p->kernel[k]);
        CHECK(scans == 1);
        plan_free(p), ts_graph_free(g), arena_free(&mem);
    }
    return check_done();
}
