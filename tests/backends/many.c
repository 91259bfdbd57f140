#include "tests/backends/many.h"
#include "graph/base/err.h"
#include "tests/backends/row.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>

enum { EACH = 4, NAME = 16 };

void many_check(const char *target, int n)
{
    const int64_t dim[] = {EACH};
    float *value = calloc((size_t)n, EACH * sizeof *value);
    char(*name)[NAME] = calloc((size_t)n, sizeof *name);
    ts_given *given = calloc((size_t)n, sizeof *given);
    ts_graph *g = ts_graph_make();
    ts_array want = {0}, got = {0};
    ts_error e = {0};
    ts_tensor y = NULL;
    MUST(value && name && given);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < EACH; k++)
            value[EACH * i + k] = (float)((7 * i + k) % 5 - 2); /* whole numbers: any order gives the same sum */
        snprintf(name[i], NAME, "x%d", i);
        const ts_tensor x = ts_input(g, name[i], TS_F32, 1, dim);
        given[i] = (ts_given){name[i], {.dtype = TS_F32, .rank = 1, .dim = {EACH}, .data = &value[EACH * i]}};
        y = y ? ts_call2(g, "add", y, x) : x;
    }
    if (!CHECK(ts_eval(1, &y, n, given, &(ts_options){.target = "interp"}, &want, &e) &&
               ts_eval(1, &y, n, given, &(ts_options){.target = target, .cache_folder = "none"}, &got, &e)))
        printf("  a sum of %d values on %s: %s\n", n, target, e.text);
    else
        CHECK(row_differs(&want, &got, 0) < 0);
    ts_array_free(&want), ts_array_free(&got);
    free(value), free(name), free(given), ts_graph_free(g);
}
