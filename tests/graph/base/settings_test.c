/* The folder for temporary files: TMPDIR where it is the same place in every working directory. */
#include "graph/base/base.h"
#include "tests/check.h"

#include <stdlib.h>

int main(void)
{
    CHECK(setenv("TMPDIR", "/var/tmp", 1) == 0);
    CHECK_TEXT(file_temporary(), "/var/tmp");
    CHECK(setenv("TMPDIR", "here", 1) == 0);
    CHECK_TEXT(file_temporary(), "/tmp");
    CHECK(unsetenv("TMPDIR") == 0);
    CHECK_TEXT(file_temporary(), "/tmp");
    return check_done();
}
