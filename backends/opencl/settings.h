/* settings.h - what TESSERA_OPENCL says: words with commas or blanks between. "loader=PATH", of which the first one
 * counts, is for who opens the library; all others are for the devices' compilers, which refuse what means nothing to
 * them. A plain value; texts lie in it, so it is not copied. */
#pragma once
#include "graph/base/base.h"

typedef struct ocl_settings {
    const char *loader;  /* the library that knows the drivers, a name or a path; NULL: the system's */
    const char *options; /* in place of those that the device needs; NULL: none are given */
    char words[8192], others[8192];
} ocl_settings;
bool ocl_settings_read(ocl_settings *s, err *e);
