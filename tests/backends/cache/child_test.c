/* A child that does nothing is ended, and not one that nobody looked at for a long time: who looks was suspended. */
#include "backends/cache/child.h"
#include "tests/check.h"

#include <unistd.h>

extern char **environ;

/* Whether `sh -c says` succeeds where it is looked at after so many seconds. */
static bool lives(const char *says, double idle, double unseen)
{
    const char *const words[] = {"/bin/sh", "-c", says, NULL};
    const child_limits limits = {.wall = 60, .idle = idle, .cpu = 10, .memory = INT64_C(1) << 30, .file = 1 << 20};
    child c = {0};
    err e = {0};
    CHECK(child_start(&c, &(child_job){words, (const char *const *)environ, NULL, &limits}, &e));
    usleep((useconds_t)(1e6 * unseen));
    CHECK(child_wait(&c, 1) == 0);
    const bool ok = child_succeeded(&c);
    child_free(&c, 1);
    return ok;
}

int main(void)
{
    CHECK(lives("sleep 2.4", 1, 2.1));
    CHECK(!lives("sleep 9", 1, 0));
    CHECK(!lives("sleep 19", 1, 2.1));
    return check_done();
}
