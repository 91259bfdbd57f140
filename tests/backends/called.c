#include "tests/backends/called.h"
#include "graph/ir/type.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>

static void put(ts_array *a, ts_dtype d, const double *value)
{
    ts_error e = {0};
    CHECK(ts_array_make(a, d, 1, (int64_t[]){CALLED}, &e));
    for (int i = 0; i < CALLED; i++)
        store_real(d, a->data, i, value[i]);
}

static bool same(double a, double b)
{
    return isnan(b) ? isnan(a) : a == b && signbit(a) == signbit(b);
}

void called_check(const called *r, int n_in, const char *target, bool known)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    ts_array in[2], y = {0};
    put(&in[0], r->dtype, r->a), put(&in[1], r->dtype, r->b);
    const ts_given given[] = {{"a", in[0]}, {"b", in[1]}};
    ts_tensor t[2];
    for (int i = 0; i < n_in; i++)
        t[i] = known ? ts_constant(g, given[i].name, &in[i])
                     : ts_input(g, given[i].name, r->dtype, 1, (int64_t[]){CALLED});
    ts_tensor made = ts_call(g, r->call, n_in, t);
    if (CHECK(ts_eval(1, &made, known ? 0 : n_in, given, &(ts_options){.target = target, .threads = 1}, &y, &e))) {
        for (int i = 0; i < CALLED; i++)
            if (!CHECK(same(ts_array_at(&y, i), r->want[i])))
                printf("  %s of %s, %s, %s: %.17g, %.17g gives %.17g, not %.17g\n", r->call, ts_dtype_name(r->dtype),
                       target, known ? "known" : "given", r->a[i], r->b[i], ts_array_at(&y, i), r->want[i]);
    } else
        printf("  %s: %s\n", r->call, e.text);
    ts_array_free(&y), ts_array_free(&in[0]), ts_array_free(&in[1]);
    ts_graph_free(g);
}
