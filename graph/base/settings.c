/* settings.c - what every folder asks of the environment. */
#include "graph/base/base.h"

#include <stdlib.h>

const char *file_temporary(void)
{
    const char *s = secure_getenv("TMPDIR");
    return s && s[0] == '/' ? s : "/tmp";
}
