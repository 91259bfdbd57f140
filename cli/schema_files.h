/* schema_files.h - schemas as files: one layout for all, and what two of them differ in. Texts are only read. */
#pragma once
#include "cli/say.h"

/* The same schema, comments too, laid out as those that come with Tessera; for free(). name: for messages. */
char *schema_format_text(const char *name, const char *source, ts_error *e);
/* schema-diff/1: "differences" of "path", as in rules/wide/loops, and "before" and "after", null where there is none.
 * Yours, for cJSON_Delete. */
cJSON *schema_diff(const char *const name[2], const char *const source[2], ts_error *e);
