/* compiler.h - the system's C compiler: where it is, and exactly which one.
 * The identity is a hash of its version text and of the contents of its driver and of the compiler proper behind it. It
 * is worked out once and remembered in the cache under the files' paths, times, sizes and inodes, so that a later start
 * runs nothing. Strings belong to the compiler until compiler_free. */
#pragma once
#include "backends/cache/cache.h"
#include "backends/cache/child.h"
#include "backends/cache/settings.h"
#include "graph/base/base.h"

typedef struct compiler {
    char *path;    /* what is run: absolute, or as TESSERA_CC says */
    char *version; /* first line of its version text */
    digest identity;
    const char *env[4]; /* the whole environment of its processes, ends with NULL */
    char *env_path, *env_temporary;
} compiler;

bool compiler_find(compiler *c, const settings *env, err *e); /* TESSERA_CC, else gcc, cc, clang in PATH */
void compiler_temporary(compiler *c, const char *temporary);  /* where its temporary files go from now on */
bool compiler_identify(compiler *c, cache *known, err *e);
void compiler_free(compiler *c);

/* Says why an option may not be passed on (it names files, loads plug-ins, or changes which programs run);
 * NULL: fine. */
const char *compiler_flag_fault(const char *flag);
