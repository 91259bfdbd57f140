/* A plan with state as a program of its own: from run to run it holds what the plan holds here, whether it is written
 * in place, changes places with other state, becomes a constant or is a result as it was; main.c and the name are
 * ours. */
#include "tests/backends/c/rig.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 5, STATES = 5, OUTPUTS = 3, RUNS = 3 };

static const char main_c[] =
    "#include \"model.h\"\n#include <stdio.h>\n"
    "static float out[MODEL_OUTPUTS][5], x[5];\n"
    "static void print(const float *v)\n{\n    for (int i = 0; i < 5; i++)\n        printf(\"%a \", (double)v[i]);\n"
    "    printf(\"\\n\");\n}\n"
    "int main(void)\n{\n    model *m = model_open(\"weights.bin\");\n    const void *in[] = {x};\n"
    "    void *to[] = {out[0], out[1], out[2]};\n    for (int run = 0; m && run < 3; run++) {\n"
    "        for (int i = 0; i < 5; i++)\n            x[i] = (float)(run + i) / 3;\n        if (!model_run(m, in, "
    "to))\n"
    "            return 2;\n        for (int i = 0; i < MODEL_OUTPUTS; i++)\n            print(out[i]);\n"
    "        for (int i = 0; i < MODEL_STATES; i++)\n            print(model_state_of(m, i));\n    }\n"
    "    model_close(m);\n    return m ? 0 : 1;\n}\n";

static bool add_main(void *user, const char *folder, ts_error *e)
{
    rig *g = user;
    return ts_file_write(arena_format(&g->mem, "%s/main.c", folder), main_c, sizeof main_c - 1, e);
}

static bool add_nothing(void *user, const char *folder, ts_error *e)
{
    (void)user, (void)folder;
    e->code = TS_FILES;
    snprintf(e->text, sizeof e->text, "no more files");
    return false;
}

static void print(text *t, const ts_array *a)
{
    for (int i = 0; i < N; i++)
        text_add(t, "%a ", ts_array_at(a, i));
    text_add(t, "\n");
}

static ts_plan *make(ts_graph *g, int threads, ts_error *e)
{
    const int64_t n = N;
    const float five[N] = {1, 2, 3, 4, 5};
    ts_tensor x = ts_input(g, "x", TS_F32, 1, &n), a = ts_input(g, "a", TS_F32, 1, &n),
              b = ts_input(g, "b", TS_F32, 1, &n), w = ts_input(g, "w", TS_F32, 1, &n),
              c = ts_input(g, "c", TS_F32, 1, &n), d = ts_input(g, "d", TS_F32, 1, &n);
    ts_tensor constant = ts_constant(g, "k", &(ts_array){TS_F32, 1, {N}, (void *)(uintptr_t)five});
    ts_tensor sum = ts_call2(g, "add", w, ts_call2(g, "multiply", x, b));
    ts_tensor out[OUTPUTS] = {ts_call2(g, "add", sum, ts_call2(g, "subtract", c, d)), a, sum};
    const ts_state state[STATES] = {{a, b}, {b, a}, {w, sum}, {c, constant}, {d, ts_call1(g, "exp", x)}};
    const ts_options o = {.threads = threads, .cache_folder = "none"};
    return ts_plan_of(g, OUTPUTS, out, STATES, state, &o, e);
}

/* What the plan itself does, as the program prints it. */
static void expect_runs(ts_plan *p, bool bare, text *want)
{
    static const char *const name[STATES] = {"a", "b", "w", "c", "d"};
    ts_error e = {0};
    for (int i = 0; i < STATES; i++) {
        float v[N];
        for (int k = 0; k < N; k++)
            v[k] = bare ? 0 : (float)(i + 1) / (float)(k + 2);
        CHECK(ts_plan_set(p, ts_plan_find(p, name[i]), &(ts_array){TS_F32, 1, {N}, v}, &e));
    }
    for (int run = 0; want && run < RUNS; run++) {
        float x[N];
        ts_array y;
        for (int i = 0; i < N; i++)
            x[i] = (float)(run + i) / 3;
        CHECK(ts_plan_set(p, ts_plan_find(p, "x"), &(ts_array){TS_F32, 1, {N}, x}, &e) && ts_plan_run(p, &e));
        for (int i = 0; i < OUTPUTS; i++)
            if (CHECK(ts_plan_get(p, i, &y, &e)))
                print(want, &y), ts_array_free(&y);
        for (int i = 0; i < STATES; i++)
            if (CHECK(ts_plan_value(p, ts_plan_find(p, name[i]), &y, &e)))
                print(want, &y), ts_array_free(&y);
    }
}

/* What the folder's program prints. */
static void run_program(rig *g, const char *folder, text *got)
{
    static const char *const make[] = {"make", "-s", "CPPFLAGS=-Wall -Wextra -Werror", NULL}, *const run[] = {"./three",
                                                                                                              NULL};
    ts_error e = {0};
    CHECK(rig_program(folder, make) == 0 && rig_program(folder, run) == 0);
    CHECK(file_read(arena_format(&g->mem, "%s/log", folder), 1 << 20, got, &e));
}

static void test(rig *r, int threads, bool bare)
{
    ts_error e = {0};
    text want = {0}, got = {0};
    ts_graph *g = ts_graph_make();
    ts_plan *p = make(g, threads, &e);
    const char *folder = rig_path(r, arena_format(&r->mem, "state%d%d", threads, bare));
    if (CHECK(p != NULL)) {
        expect_runs(p, false, NULL); /* what is set is what the program begins with, unless it is bare */
        const ts_emission how = {.program = "three", .bare = bare, .add = add_main, .user = r};
        CHECK(ts_plan_emit(p, folder, &how, &e));
        expect_runs(p, bare, &want);
        run_program(r, folder, &got);
        CHECK_TEXT(text_str(&got), text_str(&want));
        const char *other = rig_path(r, "nothing");
        CHECK(!ts_plan_emit(p, other, &(ts_emission){.add = add_nothing}, &e) && e.code == TS_FILES);
        CHECK(rig_count(other) == -1);
    }
    if (e.code)
        printf("%s\n", e.text);
    ts_plan_free(p);
    ts_graph_free(g);
    text_free(&want), text_free(&got);
}

int main(void)
{
    rig r;
    rig_make(&r);
    test(&r, 1, false);
    test(&r, 2, false);
    test(&r, 2, true);
    rig_free(&r);
    return check_done();
}
