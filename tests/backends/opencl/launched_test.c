/* ctest: large */
#include "tests/backends/launched.h"
#include "tests/check.h"

int main(void)
{
    launched_check("opencl", 100);
    return check_done();
}
