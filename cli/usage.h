/* usage.h - the usage lines of a verb as a grammar of its nouns: "init MODEL\nlint SCHEMA MODEL\nlist". See verb.h.
 * Tokens are copies; the lines are constant text and stay as they are. */
#pragma once
#include "cli/verb.h"

enum { USAGE_WORD = 32 }; /* bytes, with the end */

typedef struct usage_token {
    char word[USAGE_WORD]; /* without brackets and dots */
    bool literal, optional, repeats;
} usage_token;

/* Reads the token at *at and moves on; false at the end of a line (stays there). */
bool usage_token_next(const char **at, usage_token *out);
/* The line after the one that holds `line`, or NULL. */
const char *usage_next(const char *line);
int usage_length(const char *line); /* bytes, without the line break */
/* Finds the line that the nouns fit and checks their number. Its literal word is moved from the nouns to *form ("" if
 * the line has none). */
bool usage_match(const verb *v, const char **noun, int *n, const char **form, ts_error *e);
