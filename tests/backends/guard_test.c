/* ctest: large
 * guard_test ROWS SHARE SEED: kernels touch what their operands hold and nothing beside it. Every weight, input and
 * value lies right behind a page that faults, then right before one; random graphs, which must give what the
 * interpreter gives, and the problems that operations state, one in SHARE of them. The long run: guard_test 2000 1. */
#include "backends/cpu/cpu.h"
#include "graph/ir/problem.h"
#include "schedule/make.h"
#include "tests/backends/guard.h"
#include "tests/backends/random_row.h"
#include "tests/backends/row.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_ONCE = 6, MOST_PROBLEMS = 24, DEFAULT_ROWS = 12, DEFAULT_SHARE = 12 };
static int plans;

typedef struct trial {
    ts_graph *g;
    int n;
    const node *root[MOST_PROBLEMS];
    text what;
    row_inputs in;
    const ts_array *want; /* NULL: whatever comes out */
} trial;

/* ---- one plan ---- */

/* As the graph was given it, or zeros, which are numbers of rows everywhere. */
static void fill(const trial *t, const node *input, void *to)
{
    for (int i = 0; i < t->in.n; i++)
        if (!strcmp(input->label, t->in.name[i]))
            memcpy(to, t->in.given[i].value.data, (size_t)type_bytes(&input->type));
}

static bool run(const trial *t, const plan *p, const backend *c, program *made, guard *g, err *e)
{
    void **input = calloc((size_t)p->n_input + 1, sizeof *input);
    MUST(input);
    for (int i = 0; i < p->n_input; i++) {
        input[i] = guard_take(g, (size_t)type_bytes(&p->input[i]->type), e);
        fill(t, p->input[i], input[i]);
    }
    const bool ok = c->run(made, input, e);
    free(input);
    return ok || (!t->want && e->code == TS_NUMERICS);
}

static bool compare(const trial *t, const plan *p, const backend *c, program *made)
{
    err e = {0};
    bool same = true;
    for (int i = 0; i < t->n && t->want; i++) {
        ts_array got;
        if (p->root[i]->leaf || p->buffer[p->root[i]->id].where != IN_ARENA)
            continue;
        const type *y = &p->root[i]->type;
        MUST(ts_array_make(&got, y->dtype, y->rank, y->dim, &e) && c->get(made, i, &got, &e));
        same = CHECK(row_differs(&t->want[i], &got, 0) < 0) && same;
        ts_array_free(&got);
    }
    return same;
}

static bool try_edge(const trial *t, const target *on, edge at)
{
    static guard g;
    err e = {0};
    text facts = {0};
    const backend *c = backend_find("c", &e);
    const plan_options w = {.on = on, .target = "c", .own_places = true};
    plan *p = plan_make(t->g, t->n, t->root, &w, &e);
    program *made = NULL;
    guard_make(&g, at);
    if (p) {
        guard_spread(&g, p);
        made = c->build(p, &(build_options){.memory = &g.memory}, &facts, &e);
    }
    if (made)
        guard_close(p, c, made);
    bool ok = CHECK(made && run(t, p, c, made, &g, &e));
    if (!ok)
        printf("  %s\n%s", e.text, text_str(&t->what));
    ok = ok && compare(t, p, c, made);
    if (made)
        c->drop(made);
    plan_free(p), text_free(&facts), guard_free(&g);
    return ok;
}

/* In a process of its own, whose end by a signal is the failure that is looked for. */
static void try(const trial *t, const target *on)
{
    for (edge at = AT_START; at <= AT_END; at++) {
        int status = 0;
        fflush(stdout);
        const pid_t pid = fork();
        if (pid == 0) {
            const bool ok = try_edge(t, on, at);
            fflush(stdout);
            _exit(!ok);
        }
        CHECK(waitpid(pid, &status, 0) == pid && (!WIFEXITED(status) || WEXITSTATUS(status) == 0));
        if (!CHECK(!WIFSIGNALED(status)))
            printf("  signal %d: something %s an operand is touched\n%s", WTERMSIG(status),
                   at == AT_END ? "behind" : "before", text_str(&t->what));
    }
    plans++;
}

/* ---- random graphs ---- */
static void try_rows(const machine *on, uint64_t seed)
{
    trial t = {.g = ts_graph_make()};
    dice d = {seed, 0};
    ts_array want[AT_ONCE] = {0};
    err e = {0};
    bool ok = true;
    for (int i = 0; ok && i < AT_ONCE; i++) {
        text row = {0};
        random_row(&d, &row);
        ok = (t.root[t.n++] = row_build(t.g, text_str(&row), i, &t.in)) != NULL;
        text_line(&t.what, "  %s", text_str(&row));
        text_free(&row);
    }
    target made;
    cpu_target_of(&made, on, on->isa, 1 + (int)roll(&d, 3));
    if (CHECK(ok && ts_eval(t.n, t.root, t.in.n, t.in.given, &(ts_options){.target = "interp"}, want, &e))) {
        t.want = want;
        try(&t, &made);
    }
    for (int i = 0; i < AT_ONCE; i++)
        ts_array_free(&want[i]);
    row_inputs_free(&t.in), text_free(&t.what), ts_graph_free(t.g);
}

/* ---- what operations state ---- */
static void finish(trial *t, const machine *on)
{
    target made;
    cpu_target_of(&made, on, on->isa, 1);
    if (t->n)
        try(t, &made);
    text_free(&t->what), ts_graph_free(t->g);
    *t = (trial){.g = ts_graph_make()};
}

static bool builds(const op *o, const char *line, size_t n) /* of a graph that failed, nothing more is built */
{
    ts_graph *g = ts_graph_make();
    problem p;
    problem_build(g, o, line, n, TS_N_DTYPE, &p);
    const bool ok = p.y && ts_graph_ok(g, NULL);
    ts_graph_free(g);
    return ok;
}

static void try_cases(const machine *on, long share, uint64_t seed)
{
    trial t = {.g = ts_graph_make()};
    uint64_t number = seed;
    for (const op *o = op_next(NULL); o; o = op_next(o)) {
        const char *at = o->cases, *line;
        size_t n;
        while (at && (line = problem_next(&at, &n))) {
            problem p;
            if (number++ % (uint64_t)share || !builds(o, line, n))
                continue;
            problem_build(t.g, o, line, n, TS_N_DTYPE, &p);
            t.root[t.n++] = p.y;
            text_line(&t.what, "  %s %.*s", o->name, (int)n, line);
            if (t.n == MOST_PROBLEMS)
                finish(&t, on);
        }
    }
    finish(&t, on);
    ts_graph_free(t.g);
}

/* The guard itself: one byte outside ends a process, those inside do not. */
static void test_guard(edge at, size_t place, bool outside)
{
    static guard g;
    int status = 0;
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        guard_make(&g, at);
        volatile char *bytes = guard_take(&g, 40, NULL);
        bytes[place]++;
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && !!WIFSIGNALED(status) == outside);
}

int main(int argc, char **argv)
{
    const long rows = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_ROWS;
    const long share = argc > 2 ? strtol(argv[2], NULL, 10) : DEFAULT_SHARE;
    const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    machine on;
    err e = {0};
    test_guard(AT_START, (size_t)-1, true), test_guard(AT_START, 0, false);
    test_guard(AT_END, 40, true), test_guard(AT_END, 39, false);
    if (CHECK(machine_load(&on, NULL, &e))) {
        for (long i = 0; i < rows; i += AT_ONCE)
            try_rows(&on, seed + (uint64_t)(i / AT_ONCE));
        try_cases(&on, share > 0 ? share : 1, seed);
    }
    printf("%d plans\n", plans);
    CHECK(plans > 0);
    return check_done();
}
