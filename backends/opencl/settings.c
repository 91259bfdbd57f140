/* settings.c - TESSERA_OPENCL, read: the loader's word is taken out, the compilers' stay in their order. */
#include "backends/opencl/settings.h"

#include <stdio.h>
#include <string.h>

bool ocl_settings_read(ocl_settings *s, err *e)
{
    const char *asked = env_text("TESSERA_OPENCL"); /* "loader=PATH"; options for OpenCL's compilers */
    size_t n = 0;
    *s = (ocl_settings){0};
    const int size = snprintf(s->words, sizeof s->words, "%s", asked ? asked : "");
    if (size >= (int)sizeof s->words)
        return err_set(e, TS_USAGE, "TESSERA_OPENCL has %d bytes, at most %d expected", size, (int)sizeof s->words - 1);
    char *rest = NULL;
    for (char *word = strtok_r(s->words, " ,", &rest); word; word = strtok_r(NULL, " ,", &rest)) {
        const char *loader = env_setting(word, "loader");
        if (loader)
            s->loader = s->loader ? s->loader : loader;
        else
            n += (size_t)snprintf(s->others + n, sizeof s->others - n, "%s%s", n ? " " : "", word);
    }
    s->options = n ? s->others : NULL;
    return true;
}
