/* model.c of emitted programs, as it is: memory for what its tables say, weights from a file, runs on a team, state
 * that stays from run to run. y = x * w + s and s += 1, by two parts. */
/* ctest: fast */
#include "backends/c/runtime/model.h"
#include "backends/c/runtime/tables.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 6 };

const model_port model_input[] = {{"(#, 3, #)", N *N * sizeof(float),
                                   (const model_axis[]){{N, {1}, 0, 1}, {2 * N, {2}, 0, 1}}},
                                  {NULL, 0, NULL}},
                 model_output[] = {{"y", N * sizeof(float), NULL}, {NULL, 0, NULL}},
                 model_state[] = {{"s", N * sizeof(float), NULL}, {NULL, 0, NULL}};
const model_range model_size[] = {{1, N, 1}};
const int model_spaces = 5, model_state_space[] = {1}, model_size_space = 4;
const model_space model_table[] = {
    {KIND_WEIGHT, 64, N * sizeof(float)}, {KIND_STATE, -1, N * sizeof(float)}, {KIND_INPUT, -1, N * sizeof(float)},
    {KIND_OUTPUT, -1, N * sizeof(float)}, {KIND_SCRATCH, -1, sizeof(long)},
};
static const int cpu[] = {0, 1 << 20}; /* there is no such processor: then any will do */
const int *const model_cpu = cpu;

static void program(void *const *space, int *fault, int part, int parts, void (*wait)(void *team), void *team)
{
    const float *w = space[0], *x = space[2];
    float *s = space[1], *y = space[3];
    for (int i = N * part / parts; i < N * (part + 1) / parts; i++)
        y[i] = x[i] * w[i] + s[i];
    wait(team);
    for (int i = 0; part == 0 && i < N; i++)
        s[i] += 1;
    if (part == 0 && x[0] < 0)
        *fault = 1;
}
model_program *const model_entry = program;

static void test_runs(model *m)
{
    float x[N] = {1, 2, 3, 4, 5, 6}, y[N], *s = model_state_of(m, 0);
    for (int run = 0; run < 3; run++) {
        CHECK(model_run(m, (const void *const[]){x}, (void *const[]){y}));
        for (int i = 0; i < N; i++)
            CHECK(y[i] == x[i] * (float)(i + 1) + (float)run && s[i] == (float)run + 1);
    }
    x[0] = -1;
    CHECK(!model_run(m, (const void *const[]){x}, (void *const[]){y}));
    x[0] = 1;
    CHECK(model_run(m, (const void *const[]){x}, (void *const[]){y}));
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0)
        _exit(model_run(m, (const void *const[]){x}, (void *const[]){y}));
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* The largest before it is said; what is outside of the range changes nothing. */
static void test_sizes(model *m)
{
    char npy[MODEL_TEXT];
    CHECK_TEXT(model_now(m, model_input, npy).npy, "(6, 3, 12)");
    CHECK(model_resize(m, 0, 1) && !model_resize(m, 0, 0) && !model_resize(m, 0, N + 1) && !model_resize(m, 1, 1));
    const model_port now = model_now(m, model_input, npy);
    CHECK_TEXT(now.npy, "(1, 3, 2)");
    CHECK(now.bytes == sizeof(float));
    CHECK(model_now(m, model_output, npy).npy == model_output->npy);
}

int main(void)
{
    char path[] = "/tmp/tessera-model-XXXXXX";
    const int file = mkstemp(path);
    const float w[N] = {1, 2, 3, 4, 5, 6};
    CHECK(MODEL_INPUTS == 1 && MODEL_OUTPUTS == 1 && MODEL_STATES == 1 && MODEL_THREADS == 2);
    CHECK(file >= 0 && pwrite(file, w, sizeof w - 4, 64) == sizeof w - 4);
    CHECK(!model_open(path) && !model_open("/absent")); /* too short */
    CHECK(pwrite(file, w, sizeof w, 64) == sizeof w);
    model *m = model_open(path);
    if (CHECK(m != NULL))
        test_runs(m), test_sizes(m);
    model_close(m);
    close(file), unlink(path);
    return check_done();
}
