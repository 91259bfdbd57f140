/* model.c of emitted programs, as it is: memory for what its tables say, weights from a file, runs on a team, state
 * that stays from run to run. y = x * w + s and s += 1, by two parts. */
#include "backends/c/runtime/model.h"
#include "backends/c/runtime/tables.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 6 };

const model_port model_input[] = {{"x", N * sizeof(float)}, {NULL, 0}},
                 model_output[] = {{"y", N * sizeof(float)}, {NULL, 0}},
                 model_state[] = {{"s", N * sizeof(float)}, {NULL, 0}};
const int model_spaces = 4, model_state_space[] = {1};
const model_space model_table[] = {
    {WEIGHT, 64, N * sizeof(float)},
    {STATE, -1, N * sizeof(float)},
    {INPUT, -1, N * sizeof(float)},
    {OUTPUT, -1, N * sizeof(float)},
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
        test_runs(m);
    model_close(m);
    close(file), unlink(path);
    return check_done();
}
