/* codes.h - what exit codes and the codes of messages mean, and what to do about each. Constant tables, from which help
 * and the manual are printed; a code keeps its meaning for good. */
#pragma once

typedef struct code_page {
    const char *code;   /* "M014", "3" */
    const char *what;   /* one sentence */
    const char *remedy; /* what to look at or to do next */
} code_page;
extern const code_page message_codes[]; /* in front of messages, as in "M014 ..."; ends with {0} */
extern const code_page exit_codes[];    /* ends with {0} */

const code_page *code_find(const char *code); /* of both; NULL: there is none */
