/* Values that go from plan to plan on processors: whole ones, parts, and the interpreter. */
#include "tests/backends/merged.h"
#include "tests/check.h"

int main(void)
{
    merged_check("c", "c", 1000);
    merged_check("c:cores0", "c:numa0", 1000);
    merged_check("interp", "c", 1000);
    merged_check("c", "interp", 1000);
    merged_check("c", "c,interp", 100);
    return check_done();
}
