/* Several processes build the same program at once in one cache, and some are killed meanwhile: the others get it right
 * and in time, and what stays in the cache serves the next one. ctest: O3 */
#include "backends/c/toolchain.h"
#include "tests/backends/c/rig.h"
#include "tests/check.h"
#include "graph/base/clock.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BUILDERS = 4, ROUNDS = 5 };
static const char *const flags[] = {"-O1", NULL}, *const symbols[] = {"run", NULL};
typedef int function(void);

/* 0: built and right. */
static int build(const char *cache_folder, int number, cc_report *report)
{
    arena mem = {0};
    err e = {0};
    const cc_unit unit[] = {{.text = arena_format(&mem, "int part(void) { return %d; }\n", number)},
                            {.text = "int part(void); int other(void) { return part() + 1; }\n"},
                            {.text = "int other(void); int run(void) { return other() + 1; }\n"}};
    cc_request r = {
        .n = COUNT(unit), .unit = unit, .flags = flags, .cache_folder = cache_folder, .symbols = symbols, .jobs = 2};
    cc_program *p = cc_make(&r, report, &e);
    void *symbol = p ? cc_symbol(p, "run") : NULL;
    function *run;
    memcpy(&run, &symbol, sizeof run);
    bool ok = p && run() == number + 2 && report->notes.length == 0;
    if (!ok)
        fprintf(stderr, "  %s%s\n", e.text, text_str(&report->notes));
    cc_free(p);
    arena_free(&mem);
    return ok ? 0 : 1;
}

static void start(pid_t *pid, const char *cache_folder, int number)
{
    fflush(stdout);
    for (int i = 0; i < BUILDERS; i++)
        if ((pid[i] = fork()) == 0) {
            cc_report report;
            _exit(build(cache_folder, number, &report));
        }
}

/* How many compilations the stand-in was asked for. */
static int compilations(rig *g)
{
    text log = {0};
    CHECK(file_read(rig_path(g, "cc.log"), 1 << 20, &log, NULL));
    const int n = check_count(text_str(&log), " -c -x c ");
    text_free(&log);
    return n;
}

static void test_together(rig *g)
{
    pid_t pid[BUILDERS];
    start(pid, rig_path(g, "together"), 1);
    for (int i = 0; i < BUILDERS; i++) {
        int status;
        CHECK(waitpid(pid[i], &status, 0) == pid[i] && status == 0);
    }
    CHECK(compilations(g) == 3); /* the lock spared the others the work */
}

static void test_killed(rig *g, int round)
{
    pid_t pid[BUILDERS];
    char *folder = rig_path(g, arena_format(&g->mem, "killed%d", round / 2));
    double begin = seconds_now();
    start(pid, folder, round);
    usleep((unsigned)(random_bits(3, (uint64_t)round) % 120000));
    for (int i = 0; i < BUILDERS; i++) {
        int status;
        if (i % 2 == 0)
            kill(pid[i], SIGKILL);
        CHECK(waitpid(pid[i], &status, 0) == pid[i]);
        CHECK(status == 0 || (i % 2 == 0 && WIFSIGNALED(status)));
    }
    cc_report report;
    CHECK(build(folder, round, &report) == 0 && report.found);
    cc_report_free(&report);
    CHECK(seconds_now() - begin < 20);
}

int main(void)
{
    rig g;
    rig_make(&g);
    rig_compiler(&g, "cc", "exec gcc \"$@\"");
    test_together(&g);
    for (int round = 0; round < ROUNDS; round++)
        test_killed(&g, round);
    rig_free(&g);
    return check_done();
}
