/* settings.c - reads the environment once per build, into a value that is handed on. */
#include "backends/cache/settings.h"
#include "graph/base/base.h"

settings settings_read(void)
{
    const char *path = env_text("PATH");
    return (settings){
        .path = path ? path : "",
        .cache = env_folder("XDG_CACHE_HOME"),
        .home = env_folder("HOME"),
        .temporary = file_temporary(),
    };
}
