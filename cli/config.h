/* config.h - what a person says once instead of in every command: some options are settings, too, of the same name,
 * and so is the compiler, which the library asks the environment for. A value is that of the command line, else of a
 * variable, TESSERA_ and the name, else of tessera.toml in the current folder, else of the person's own tessera.toml,
 * else the default. A config owns the texts of values until config_free. */
#pragma once
#include "cli/verb.h"

enum { SETTINGS_MOST = 11, SETTING_VARIABLE = 48, SETTING_FILES = 2 };
typedef struct config {
    struct settled {
        char *value, *from; /* NULL: nothing but the default; from: "tessera.toml:3", "TESSERA_ISA" */
    } of[SETTINGS_MOST];
    char *file[SETTING_FILES]; /* the person's, the folder's; NULL: it has no place */
    bool found[SETTING_FILES];
} config;

const option *setting_at(int i);                                           /* NULL past the end */
const char *setting_variable(const option *o, char out[SETTING_VARIABLE]); /* "TESSERA_CACHE_DIR"; gives out */
const struct settled *setting_of(const config *s, const char *name);       /* NULL: it is none */
/* All levels but the command line; s is config_free's whatever comes of it. What the library asks the environment for
 * by itself is put there. */
bool config_read(config *s, ts_error *e);
void config_free(config *s);
