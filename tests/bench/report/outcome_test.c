/* Words of verdicts: each is read as it is written, and what is none of them is no verdict. */
#include "bench/report/outcome.h"
#include "tests/check.h"

int main(void)
{
    for (int o = FASTER; o < NO_VERDICT; o++)
        CHECK(outcome_read(outcome_name((outcome)o)) == (outcome)o);
    CHECK_TEXT(outcome_name(SLOWER), "SLOWER");
    CHECK(outcome_read("slower") == NO_VERDICT && outcome_read("") == NO_VERDICT);
    return check_done();
}
