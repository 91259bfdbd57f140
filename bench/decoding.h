/* decoding.h - tokens a second of a language model: a prompt at once, then one token at a time behind it, as generate
 * runs them, on tokens that are drawn. What a race is given is borrowed; rows are added to the caller's. */
#pragma once
#include "tessera.h"

struct cJSON;
typedef struct decoding_race {
    const char *model, *dims;      /* dims: of --dim, a line each; NULL: none */
    int64_t batch, prompt, tokens; /* texts at once; tokens of each prompt, and behind it */
    uint64_t seed;
    double seconds; /* to go on for: one text is made to its end in any case */
    ts_options options;
} decoding_race;

/* Two rows, "prefill" and "decode": "phase", "batch", "tokens" of each text, "count" of runs, "per_second" tokens of
 * all texts, "p50_ns", "p90_ns" of a run. note: "", or why it is slow; for free(). */
bool decoding_run(const decoding_race *r, struct cJSON *rows, char **note, ts_error *e);
