/* What is left of a run is judged by steps after the first one, whatever an evaluation between two of them takes. */
#include "train/pace.h"
#include "tests/check.h"

#include <math.h>

int main(void)
{
    pace p = {0};
    double now = 7;
    CHECK(isnan(pace_left(&p, 5)));
    pace_step(&p, now += 40); /* with compiling */
    CHECK(isnan(pace_left(&p, 5)) && pace_left(&p, 0) == 0);
    pace_step(&p, now += 2);
    CHECK(pace_left(&p, 5) == 10);
    pace_step(&p, now += 30); /* an evaluation */
    pace_step(&p, now += 2);
    CHECK(pace_left(&p, 5) == 10);
    for (int i = 0; i < PACE_KEPT; i++)
        pace_step(&p, now += 4); /* from here on the machine has less time for it */
    CHECK(pace_left(&p, 5) == 20);
    return check_done();
}
