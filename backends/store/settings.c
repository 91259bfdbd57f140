/* settings.c - reads the environment once per build, into a value that is handed on. */
#include "backends/store/settings.h"
#include "graph/base/base.h"

#include <stdlib.h>
#include <string.h>

/* The XDG rules say to ignore a relative folder, which would mean another place in every working directory. */
static const char *folder(const char *variable)
{
    const char *s = getenv(variable);
    return s && s[0] == '/' ? s : NULL;
}

static const char *given(const char *variable) /* NULL: unset, or empty */
{
    const char *s = getenv(variable);
    return s && *s ? s : NULL;
}

settings settings_read(void)
{
    const char *path = getenv("PATH"), *ptx = given("TESSERA_CUDA_PTX");
    return (settings){
        .compiler = given("TESSERA_CC"),
        .opencl = given("TESSERA_OPENCL"),
        .cuda = given("TESSERA_CUDA_DRIVER"),
        .nvrtc = given("TESSERA_NVRTC"),
        .ptx = ptx && !strcmp(ptx, "1"),
        .path = path ? path : "",
        .cache = folder("XDG_CACHE_HOME"),
        .home = folder("HOME"),
        .temp = file_temporary(),
    };
}
