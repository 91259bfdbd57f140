#include "tests/graph/ops/way.h"
#include "backends/cpu/cpu.h"
#include "schedule/passes/passes.h"
#include "tests/check.h"

#include <stdio.h>

static bool fill(ts_array *x, const type *t, int step, int period, ts_error *e)
{
    if (!ts_array_make(x, TS_F32, t->rank, t->dim, e))
        return false;
    for (int64_t i = 0; i < ts_array_count(x); i++)
        ((float *)x->data)[i] = (float)(i * step % period - period / 2);
    return true;
}

/* The inputs above n, each of small whole numbers */
static int inputs_of(const node *n, ts_given *given, int most, ts_error *e)
{
    enum { NODES = 32 };
    const node *need[NODES];
    int count = 0;
    const int nodes = g_reach(1, &n, NULL) <= NODES ? g_reach(1, &n, need) : 0;
    for (int i = 0; i < nodes; i++)
        if (need[i]->leaf && need[i]->leaf->kind == LEAF_INPUT && count < most) {
            given[count].name = need[i]->label;
            if (!fill(&given[count].value, &need[i]->type, 5 + 2 * count, 13 - 2 * count, e))
                return -1;
            count++;
        }
    return count;
}

static bool pays(const node *n, const char *line)
{
    arena mem = {0};
    err e = {0};
    declined no = {0};
    const target *on = cpu_target(&mem, &(machine_options){.machine = line}, &e);
    const bool is = CHECK(on) && alternative_pays(on, n, &no);
    arena_free(&mem);
    return is;
}

#define MACHINE "l3:1(32MB) core:8 isa:avx2"

bool way_pays(const node *n)
{
    return pays(n, MACHINE);
}

/* Where passes over values are cheap, so that small problems gain as large ones do */
static bool pays_at_last(const node *n)
{
    return pays(n, MACHINE
                " rates:avx2(clock=3000,fma=200,latency=4,l1=6400,l2=3200,l3=1174,memory=600,near=6400,far=6400,"
                "seen=25,start=1000)");
}

void way_is_same(graph *g, const node *plain, const char *by, int threads)
{
    enum { MOST = 2 };
    const node *other = plain && pays_at_last(plain) ? plain->op->alternative(g, plain) : NULL;
    const ts_options o = {.target = by, .threads = threads}, interp = {.target = "interp"};
    ts_array want = {0}, got = {0};
    ts_given given[MOST] = {0};
    ts_error e = {0};
    const int n = plain ? inputs_of(plain, given, MOST, &e) : -1;
    if (CHECK(other && type_equal(&other->type, &plain->type)) && CHECK(n >= 0)) {
        if (!CHECK(ts_eval(1, &plain, n, given, &interp, &want, &e) && ts_eval(1, &other, n, given, &o, &got, &e)))
            printf("  %s\n", e.text);
        for (int64_t i = 0; got.data && i < ts_array_count(&want); i++)
            if (!CHECK(ts_array_at(&want, i) == ts_array_at(&got, i)))
                break;
    }
    for (int i = 0; i < MOST; i++)
        ts_array_free(&given[i].value);
    ts_array_free(&want), ts_array_free(&got);
}

void way_is_none(const node *plain)
{
    CHECK(plain && !way_pays(plain));
}
