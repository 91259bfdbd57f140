/* settings.c - reads the environment once per build, into a value that is handed on. */
#include "backends/store/settings.h"
#include "graph/base/base.h"

#include <stdlib.h>

/* The XDG rules say to ignore a relative folder, which would mean another place in every working directory. */
static const char *folder(const char *variable)
{
    const char *s = getenv(variable);
    return s && s[0] == '/' ? s : NULL;
}

settings settings_read(void)
{
    const char *compiler = getenv("TESSERA_CC"), *opencl = getenv("TESSERA_OPENCL"), *path = getenv("PATH");
    return (settings){
        .compiler = compiler && *compiler ? compiler : NULL,
        .opencl = opencl && *opencl ? opencl : NULL,
        .path = path ? path : "",
        .cache = folder("XDG_CACHE_HOME"),
        .home = folder("HOME"),
        .temp = file_temporary(),
    };
}
