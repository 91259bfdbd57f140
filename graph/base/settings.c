/* settings.c - what every folder asks of the environment: no other file reads it. */
#include "graph/base/base.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *env_text(const char *name)
{
    const char *s = secure_getenv(name);
    return s && *s ? s : NULL;
}

const char *env_next(const char *prefix, int i)
{
    for (char **s = environ; s && *s; s++)
        if (!strncmp(*s, prefix, strlen(prefix)) && i-- == 0)
            return *s;
    return NULL;
}

const char *env_setting(const char *word, const char *name)
{
    const size_t n = strlen(name);
    return !strncmp(word, name, n) && word[n] == '=' && word[n + 1] ? word + n + 1 : NULL;
}

const char *env_folder(const char *name)
{
    const char *s = env_text(name);
    return s && s[0] == '/' ? s : NULL;
}

const char *file_temporary(void)
{
    const char *s = env_folder("TMPDIR");
    return s ? s : "/tmp";
}
