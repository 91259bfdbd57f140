/* A contestant's process: asked, halted with all that it started, explained when it dies, and gone afterwards. */
#include "backends/probe/clock.h"
#include "bench/process.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char log_path[512];

static process started(const char *script)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    process_spec s = {argv, NULL, 1, log_path};
    process p;
    ts_error e = {0};
    CHECK(process_open(&p, &s, &e));
    return p;
}

static answer ask(process *p, const char *text, double timeout, const char **line)
{
    question q = {text, timeout, -1, NULL, NULL};
    return process_ask(p, &q, line);
}

/* Processor time of a process in ticks, and its state letter. */
static long ticks_of(pid_t pid, char *state)
{
    char path[64];
    long user = -1, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return -1;
    if (fscanf(f, "%*d (%*[^)]) %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", state, &user, &system) != 3)
        user = -1;
    fclose(f);
    return user + system;
}

static void test_halt(void)
{
    process p = started("while :; do :; done & echo $!; while read -r l; do echo \"got $l\"; done");
    const char *line;
    char state = '?';
    CHECK(ask(&p, "first", 20, &line) == ANSWERED); /* the number that was printed unasked */
    int busy = 0;
    CHECK(sscanf(line, "%d", &busy) == 1 && busy > 1);
    process_halt(&p);
    usleep(20000); /* it is the leader that is waited for */
    long before = ticks_of((pid_t)busy, &state);
    CHECK(state == 'T' && before >= 0);
    usleep(200000);
    CHECK(ticks_of((pid_t)busy, &state) == before && state == 'T'); /* halted with its leader */
    CHECK(ask(&p, "second", 20, &line) == ANSWERED && strstr(line, "got ") == line);
    CHECK(process_peak_bytes(&p) > 1e5);
    process_close(&p, NULL, 0);
    usleep(50000);
    CHECK(ticks_of((pid_t)busy, &state) < 0 || state == 'Z'); /* gone, or waiting for init to count it */
    CHECK(p.pid == 0 && isnan(process_peak_bytes(&p)) && access(log_path, F_OK) != 0);
}

static void test_answers(void)
{
    process p = started("read -r l; echo \"PROGRESS half\"; printf 'whole '; sleep 0.1; echo line; sleep 5");
    const char *line;
    CHECK(ask(&p, "x", 20, &line) == ANSWERED);
    CHECK_TEXT(line, "whole line");
    int64_t start = clock_ns();
    CHECK(ask(&p, "y", 0.2, &line) == TOO_LATE && clock_ns() - start < 3000000000);
    char why[256];
    process_close(&p, why, sizeof why);
    CHECK(strstr(why, "killed by signal 15") != NULL); /* asked, and given the time to clear away */
    p = started("trap '' TERM; read -r l; sleep 30 & echo ready; wait; wait");
    CHECK(ask(&p, "x", 20, &line) == ANSWERED);
    process_close(&p, why, sizeof why);
    CHECK(strstr(why, "killed by signal 9") != NULL);
}

static void count_aside(void *user, const char *line)
{
    CHECK_TEXT(line, "half");
    ++*(int *)user;
}

/* What is no text breaks no framing: a line ends at its end. */
static void test_zero_bytes(void)
{
    process p = started("read -r l; printf 'PROGRESS half\\0way\\nwhole line\\n'; sleep 5");
    const char *line;
    int n = 0;
    question q = {"x", 20, -1, count_aside, &n};
    CHECK(process_ask(&p, &q, &line) == ANSWERED && n == 1);
    CHECK_TEXT(line, "whole line");
    process_close(&p, NULL, 0);
}

static void test_death(void)
{
    process p = started("read -r l; echo 'it was' >&2; echo 'the butler' >&2; exit 3");
    const char *line;
    char why[256];
    CHECK(ask(&p, "x", 20, &line) == DIED);
    process_close(&p, why, sizeof why);
    CHECK_TEXT(why, "ended with code 3: it was the butler");
    CHECK(ask(&p, "x", 20, &line) == DIED); /* of nobody */
}

static void test_interrupt(void)
{
    int fd[2];
    CHECK(pipe(fd) == 0 && write(fd[1], "!", 1) == 1);
    process p = started("read -r l; sleep 20");
    const char *line;
    question q = {"x", 20, fd[0], NULL, NULL};
    CHECK(process_ask(&p, &q, &line) == INTERRUPTED);
    process_close(&p, NULL, 0);
    close(fd[0]);
    close(fd[1]);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    scratch s = scratch_make();
    snprintf(log_path, sizeof log_path, "%s/log", s.path);
    test_halt();
    test_answers();
    test_zero_bytes();
    test_death();
    test_interrupt();
    scratch_free(&s);
    return check_done();
}
