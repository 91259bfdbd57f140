/* Variables of the environment: an empty one is as good as none, and a folder is the same place in every working
 * directory. */
/* ctest: fast */
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
    CHECK(setenv("TESSERA_SOMETHING", "", 1) == 0);
    CHECK(!env_text("TESSERA_SOMETHING"));
    CHECK(setenv("TESSERA_SOMETHING", "here", 1) == 0);
    CHECK_TEXT(env_text("TESSERA_SOMETHING"), "here");
    CHECK(!env_folder("TESSERA_SOMETHING"));
    CHECK(setenv("TESSERA_SOMETHING", "/there", 1) == 0);
    CHECK_TEXT(env_folder("TESSERA_SOMETHING"), "/there");
    CHECK_TEXT(env_setting("library=a=b", "library"), "a=b");
    CHECK(!env_setting("library=", "library") && !env_setting("library", "library") &&
          !env_setting("library=a", "lib"));
    CHECK(unsetenv("TESSERA_SOMETHING") == 0);
    CHECK(!env_text("TESSERA_SOMETHING") && !env_folder("TESSERA_SOMETHING"));
    return check_done();
}
