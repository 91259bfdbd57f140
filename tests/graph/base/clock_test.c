/* The clock goes forward, by about as much as was waited. */
/* ctest: fast */
#include "graph/base/clock.h"
#include "tests/check.h"

#include <time.h>

int main(void)
{
    const double start = seconds_now();
    CHECK(nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL) == 0);
    const double waited = seconds_now() - start;
    CHECK(waited >= 0.02 && waited < 20);
    return check_done();
}
