/* pattern.h - what is looked for in a text: a string as it is, or a regular expression as tokenizer.json has them
 * (Oniguruma's, in Ruby's dialect), which PCRE2 runs. A pattern is untrusted: its size is bounded when it is made, the
 * steps that it may take over a text when it runs. */
#pragma once
#include "graph/base/base.h"

typedef struct pattern pattern;
pattern *pattern_literal(const char *s);            /* copies */
pattern *pattern_regex(const char *source, err *e); /* NULL with e set: what is wrong, without its place */
void pattern_free(pattern *p);

/* Matches from left to right that do not overlap. Bytes that are no UTF-8 match nothing. */
typedef struct finder {
    const pattern *pattern;
    const char *s;
    size_t n, at, low, high; /* well-formed UTF-8: [low, high) */
    size_t begin, end;       /* of the match */
    size_t last;             /* end of the match before */
    int group;               /* the last one of the expression that took part; 0: none */
    int64_t budget;          /* steps left; below 0: nothing is found any more */
    void *data, *limits;     /* of PCRE2 */
} finder;
finder finder_make(const pattern *p, const char *s, size_t n);
bool finder_next(finder *f);
void finder_free(finder *f);
