/* ctest: large timeout=1800
 * Rows of exact sums on the stand-in for the driver, with all its checks. */
#include "tests/backends/cuda/rig.h"
#include "tests/backends/exact.h"
#include "tests/check.h"

int main(void)
{
    const int skipped = rig_begin();
    if (skipped)
        return skipped;
    exact_check_on("cuda");
    return check_done();
}
