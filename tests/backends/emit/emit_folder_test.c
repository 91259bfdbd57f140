/* A program written to a folder builds without a warning, and gives what the same units give here; what stands in the
 * way is said, and nothing half-written stays. */
#include "backends/emit/emit_folder.h"
#include "tests/backends/c/rig.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

enum { ROWS = 3, COLUMNS = 5 };
/* y = x * w + b over rows, by parts, through scratch memory; z counts the parts that came. */
static const carried_file units[] = {
    {.name = "k0",
     .text = "void k0(const float *x, const float *w, float *s, long from, long to)\n{\n"
             "    for (long i = from; i < to; i++)\n        for (long j = 0; j < 5; j++)\n            s[5 * i + j] = "
             "x[5 * i + "
             "j] * w[j];\n}\n"},
    {.name = "whole",
     .text = "void k0(const float *x, const float *w, float *s, long from, long to);\n"
             "void run7(void *const *space, int *fault, int part, int parts, void (*wait)(void *), void *team)\n{\n"
             "    const float *x = space[1], *w = space[0], *b = space[3];\n    float *s = space[2], *y = space[4];\n"
             "    int *z = space[5];\n    k0(x, w, s, 3l * part / parts, 3l * (part + 1) / parts);\n    wait(team);\n"
             "    for (long i = part; i < 15; i += parts)\n        y[14 - i] = s[14 - i] + b[0];\n"
             "    wait(team);\n    if (part == 0)\n        z[0] = parts;\n    *fault = x[0] > 1;\n}\n"}};
static const float w[COLUMNS] = {1, 2, 3, 4, 5}, b[1] = {0.25f};
static const char *const flags[] = {"-O2", "-std=c11", "-Wall", "-Wextra", "-Werror", NULL};

static emit_space spaces[] = {
    {.kind = EMIT_WEIGHT, .bytes = sizeof w},
    {.kind = EMIT_INPUT, .bytes = ROWS * COLUMNS * 4, .dtype = TS_F32, .rank = 2, .dim = {ROWS, COLUMNS}},
    {.kind = EMIT_SCRATCH, .bytes = ROWS * COLUMNS * 4},
    {.kind = EMIT_WEIGHT, .bytes = sizeof b},
    {.kind = EMIT_OUTPUT, .bytes = ROWS * COLUMNS * 4, .dtype = TS_F32, .rank = 2, .dim = {ROWS, COLUMNS}},
    {.kind = EMIT_OUTPUT, .bytes = 4, .dtype = TS_I32}};

static void weight(void *arg, int space, void *to)
{
    (void)arg;
    memcpy(to, space ? b : w, space ? sizeof b : sizeof w);
}

static emit_parts parts(int threads)
{
    return (emit_parts){.n_unit = COUNT(units),
                        .unit = units,
                        .entry = "run7",
                        .n_space = COUNT(spaces),
                        .space = spaces,
                        .weight = weight,
                        .threads = threads,
                        .flags = flags,
                        .program = "model",
                        .ports = "{\"inputs\": [\"x\"]}\n"};
}

static char *content(rig *g, const char *path)
{
    text t = {0};
    err e = {0};
    if (!CHECK(file_read(path, 1 << 20, &t, &e)))
        fprintf(stderr, "  %s\n", e.text);
    char *copy = arena_string(&g->mem, text_str(&t));
    text_free(&t);
    return copy;
}

static void check_outputs(const char *folder, rig *g, const ts_array *x, int threads)
{
    err e = {0};
    ts_array y, z;
    if (!CHECK(ts_npy_read(arena_format(&g->mem, "%s/output0.npy", folder), &y, &e)) ||
        !CHECK(ts_npy_read(arena_format(&g->mem, "%s/output1.npy", folder), &z, &e))) {
        fprintf(stderr, "  %s\n", e.text);
        return;
    }
    CHECK(y.dtype == TS_F32 && y.rank == 2 && y.dim[0] == ROWS && y.dim[1] == COLUMNS);
    CHECK(z.dtype == TS_I32 && z.rank == 0 && ((int *)z.data)[0] == threads);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        CHECK(((float *)y.data)[i] == ((float *)x->data)[i] * w[i % COLUMNS] + b[0]);
    ts_array_free(&y);
    ts_array_free(&z);
}

static void test_program(rig *g, int threads)
{
    static const char *const make[] = {"make", "-s", NULL}, *const run[] = {"./model", "x.npy", NULL},
                             *const zeros[] = {"./model", NULL}, *const wrong[] = {"./model", "output1.npy", NULL},
                             *const many[] = {"./model", "x.npy", "x.npy", NULL},
                             *const longer[] = {"sh", "-c", "cat x.npy x.npy >longer.npy; ./model longer.npy", NULL};
    err e = {0};
    char *folder = rig_path(g, arena_format(&g->mem, "emitted%d", threads));
    emit_parts p = parts(threads);
    if (!CHECK(emit_folder(folder, &p, &e)))
        fprintf(stderr, "  %s\n", e.text);
    CHECK(rig_count(folder) == 13);
    struct stat st;
    CHECK(stat(arena_format(&g->mem, "%s/weights.bin", folder), &st) == 0 && st.st_size == 128);
    mode_t mask = umask(0);
    umask(mask);
    CHECK((st.st_mode & 0777) == (0666 & ~mask));
    if (!CHECK(rig_program(folder, make) == 0))
        fprintf(stderr, "%s", content(g, arena_format(&g->mem, "%s/log", folder)));
    ts_array x;
    CHECK(ts_array_make(&x, TS_F32, 2, (int64_t[]){ROWS, COLUMNS}, &e));
    ts_array_random(&x, 1, 0);
    CHECK(ts_npy_write(arena_format(&g->mem, "%s/x.npy", folder), &x, &e));
    CHECK(rig_program(folder, run) == 0);
    check_outputs(folder, g, &x, threads);
    char *log = arena_format(&g->mem, "%s/log", folder);
    CHECK(rig_program(folder, wrong) == 1 && strstr(content(g, log), "output1.npy: does not hold {'descr': '<f4'"));
    CHECK(rig_program(folder, longer) == 1 && strstr(content(g, log), "longer.npy: has bytes behind its values"));
    CHECK(rig_program(folder, many) == 2 && strstr(content(g, log), "usage: ./model [1 .npy files]"));
    ((float *)x.data)[0] = 2;
    CHECK(ts_npy_write(arena_format(&g->mem, "%s/x.npy", folder), &x, &e));
    CHECK(rig_program(folder, run) == 1 && strstr(content(g, log), "the inputs: an index lies outside its axis"));
    CHECK(rig_program(folder, zeros) == 0 && strstr(content(g, log), "runs: median"));
    ts_array_free(&x);
}

/* The same parts give the same bytes, and nobody's files are overwritten. */
static void test_folder(rig *g)
{
    err e = {0};
    emit_parts p = parts(2);
    char *one = rig_path(g, "one"), *two = rig_path(g, "two"), *slash = rig_path(g, "two/");
    static const char *const same[] = {"diff", "-r", "one", "two", NULL};
    MUST(mkdir(two, 0700) == 0);
    CHECK(emit_folder(one, &p, &e) && emit_folder(slash, &p, &e));
    CHECK(rig_program(g->root, same) == 0);
    CHECK(!emit_folder(one, &p, &e) && e.code == TS_FILES && strstr(e.text, "not empty") && strstr(e.text, "hint: "));
    e = (err){0};
    CHECK(!emit_folder(rig_path(g, "absent/one"), &p, &e) && e.code == TS_FILES && strstr(e.text, "No such file"));
    char *file = rig_path(g, "one/Makefile");
    e = (err){0};
    CHECK(!emit_folder(file, &p, &e) && e.code == TS_FILES && strstr(e.text, "Not a directory"));
}

/* A disk that fills up half-way leaves nothing. */
static void test_full(rig *g)
{
    err e = {0};
    enum { LARGE = 1 << 16 }; /* more than any text */
    emit_space many[COUNT(spaces)];
    memcpy(many, spaces, sizeof many);
    many[3].bytes = LARGE;
    emit_parts p = parts(1);
    p.space = many;
    struct rlimit limit, less;
    int before = rig_count(g->root);
    MUST(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    less = limit;
    less.rlim_cur = LARGE / 2;
    signal(SIGXFSZ, SIG_IGN);
    MUST(setrlimit(RLIMIT_FSIZE, &less) == 0);
    CHECK(!emit_folder(rig_path(g, "full"), &p, &e) && e.code == TS_FILES && strstr(e.text, "weights.bin"));
    MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(rig_count(g->root) == before);
}

int main(void)
{
    rig g;
    rig_make(&g);
    test_program(&g, 1);
    test_program(&g, 3);
    test_folder(&g);
    test_full(&g);
    rig_free(&g);
    return check_done();
}
