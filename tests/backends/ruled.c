#include "tests/backends/ruled.h"
#include "graph/ir/graph.h"
#include "tests/backends/row.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

typedef struct trial {
    ts_graph *g;
    row_inputs in;
    ts_tensor y[MOST];
    ts_array want[MOST], got[MOST];
} trial;

static bool make(trial *t, int n, const ruled *c, const op *const *then, const char *path, err *e)
{
    text schema = {0};
    bool ok = n <= MOST;
    t->g = ts_graph_make();
    text_add(&schema, "{\"format\":\"tiling/1\",\"rules\":[");
    for (int i = 0; ok && i < n; i++) {
        ok = (t->y[i] = row_build(t->g, c[i].row, i, &t->in)) != NULL;
        if (ok && then && then[i])
            ok = (t->y[i] = g_make(t->g, then[i], 1, &t->y[i], NULL, 0)) != NULL;
        if (c[i].op)
            text_add(&schema, "%s{\"match\":{%s%s%s\"dims\":{%s}},\"loops\":[\"%s\"]}", i ? ",\n" : "\n",
                     *c[i].op ? "\"op\":[\"" : "", c[i].op, *c[i].op ? "\"]," : "", c[i].dim, c[i].loops);
    }
    text_add(&schema, "]}\n");
    ok = ok && file_save(path, schema.s, schema.length, e);
    text_free(&schema);
    return ok;
}

static void check_rules(const trial *t, int n, const ruled *c, const ts_options *o) /* each decides a kernel */
{
    err e = {0};
    ts_plan *p = ts_plan_of(t->g, n, t->y, 0, NULL, o, &e);
    char *json = p ? ts_plan_json(p, &e) : NULL, name[32];
    for (int i = 0; CHECK(json) && i < n && c[i].op; i++) {
        snprintf(name, sizeof name, "\"rule\":\"rule %d\"", i);
        if (!CHECK(strstr(json, name)))
            printf("  no kernel goes by %s: %s\n", name, c[i].loops);
    }
    ts_free(json), ts_plan_free(p);
}

void ruled_check(int n, const ruled *c, const ts_options *on)
{
    ruled_check_then(n, c, NULL, on);
}

void ruled_check_sets(int n, const ruled *c, const char *sets)
{
    char isa[32];
    for (int length = 0; sscanf(sets, "%31s%n", isa, &length) == 1; sets += length) {
        ts_error lacks = {0};
        const ts_options on = {.target = "c", .isa = isa};
        char *machine = ts_machine_json(&on, &lacks);
        if (machine)
            ruled_check(n, c, &on);
        ts_free(machine);
    }
}

void ruled_check_then(int n, const ruled *c, const op *const *then, const ts_options *on)
{
    static trial t;
    scratch own = scratch_make();
    err e = {0};
    const char *path = scratch_in(&own, "ruled.json");
    const ts_options interp = {.target = "interp"};
    ts_options o = *on;
    o.schema = path, o.cache_folder = "none";
    if (!CHECK(make(&t, n, c, then, path, &e) && ts_eval(n, t.y, t.in.n, t.in.given, &interp, t.want, &e)))
        printf("  %s\n", e.text);
    check_rules(&t, n, c, &o);
    if (!CHECK(ts_eval(n, t.y, t.in.n, t.in.given, &o, t.got, &e)))
        printf("  %s\n", e.text);
    for (int i = 0; i < n && !err_is(&e); i++) {
        const int64_t at = row_differs(&t.want[i], &t.got[i], 0);
        if (!CHECK(at < 0))
            printf("  %s\n  %s\n  element %lld\n", c[i].row, c[i].loops ? c[i].loops : "no rule", (long long)at);
    }
    for (int i = 0; i < n; i++)
        ts_array_free(&t.want[i]), ts_array_free(&t.got[i]);
    row_inputs_free(&t.in), ts_graph_free(t.g), scratch_free(&own);
}
