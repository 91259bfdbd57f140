/* ctest: large Og
 * bits_test N SEED: N random graphs, planned as reproducible, have the same bits by every instruction set that this
 * processor has, and on any number of threads. */
#include "tests/backends/random_row.h"
#include "tests/backends/row.h"
#include "tests/check.h"
#include "tessera.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 6, DEFAULT_CASES = 36 };
static const char *const isas[] = {"plain", "avx2", "avx512", "neon"};
static int compared;

typedef struct trial {
    ts_graph *g;
    text row[AT_ONCE];
    ts_tensor root[AT_ONCE];
    row_inputs in;
} trial;

/* False where this processor has not that instruction set. */
static bool compute(const trial *t, const char *isa, int threads, ts_array *out)
{
    ts_error e = {0};
    const ts_options o = {.target = "c", .isa = isa, .threads = threads, .reproducible = true};
    ts_plan *p = ts_plan_of(t->g, AT_ONCE, t->root, 0, NULL, &o, &e);
    bool ok = p != NULL;
    for (int i = 0; ok && i < t->in.n; i++) {
        const int k = ts_plan_find(p, t->in.name[i]);
        ok = k < 0 || ts_plan_set(p, k, &t->in.given[i].value, &e);
    }
    ok = ok && ts_plan_run(p, &e);
    for (int i = 0; ok && i < AT_ONCE; i++)
        ok = ts_plan_get(p, i, &out[i], &e);
    ts_plan_free(p);
    if (!CHECK(ok || strstr(e.text, "this processor lacks")))
        printf("  %s: %s\n", isa, e.text);
    return ok;
}

static void compare(const trial *t, const char *isa, int threads, const ts_array *want)
{
    ts_array got[AT_ONCE] = {0};
    const bool here = compute(t, isa, threads, got);
    compared += here;
    for (int i = 0; here && i < AT_ONCE; i++)
        if (!CHECK(row_differs(&want[i], &got[i], 0) < 0))
            printf("  %s, %d threads: %s\n", isa, threads, text_str(&t->row[i]));
    for (int i = 0; i < AT_ONCE; i++)
        ts_array_free(&got[i]);
}

static void try_once(uint64_t seed)
{
    trial t = {.g = ts_graph_make()};
    dice d = {seed, 0};
    ts_array want[AT_ONCE] = {0};
    bool ok = true;
    for (int i = 0; ok && i < AT_ONCE; i++) {
        random_row(&d, &t.row[i]);
        ok = (t.root[i] = row_build(t.g, text_str(&t.row[i]), i, &t.in)) != NULL;
    }
    if (CHECK(ok) && compute(&t, isas[0], 1, want))
        for (int i = 0; i < COUNT(isas); i++)
            compare(&t, isas[i], 1 + (int)roll(&d, 4), want);
    for (int i = 0; i < AT_ONCE; i++)
        text_free(&t.row[i]), ts_array_free(&want[i]);
    row_inputs_free(&t.in), ts_graph_free(t.g);
}

int main(int argc, char **argv)
{
    const long cases = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_CASES;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (long i = 0; i < cases; i += AT_ONCE)
        try_once(seed + (uint64_t)(i / AT_ONCE));
    printf("%d plans compared\n", compared);
    return check_done();
}
