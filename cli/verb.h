/* verb.h - a command of tessera as one row of data. The row drives parsing, help, suggestions, completions, the manual
 * page and docs/commands.md, so that none of them can drift from another. A new verb is a new file cli/verbs/NAME.c
 * that exports `const verb verb_NAME`; the build lists the folder and writes the table. Everything here is a literal
 * and lives for ever.
 *
 * The room:  main -> args (value, usage, suggest) -> verbs/ -> session, say, outline, columns -> console, outfile
 *            help, manual, codes, completion: from the same tables      draw/: pictures      cases/: conformance */
#pragma once
#include "tessera.h"

typedef enum value_kind {
    FLAG,    /* no value */
    WORD,    /* any text */
    PAIR,    /* NAME=VALUE */
    INTEGER, /* a whole number in [least, most] */
    NUMBER,  /* a real number in [least, most]: 5e-5 */
    SECONDS, /* a positive time: 2s, 500ms, 1m, 1.5 */
    BYTES,   /* a size: 512M, 4G, 1000000 */
    LIMITS,  /* sizes, of one or of each by its name: 4G or c:numa0=8G,c:numa1=4G */
    PERCENT, /* 1%, 99%, 0.5% */
    CHOICE,  /* one of the words that `value` lists, separated by | */
    A_FILE,  /* from here on a text: what shells complete it with is what differs from WORD */
    A_FOLDER,
    A_SCHEMA, /* a built-in one, or a file */
    A_PEER,
    A_TARGET,
    AN_ISA,
    AN_OPTIMIZER
} value_kind;

typedef struct option {
    const char *name; /* without dashes; NULL ends a table */
    char letter;      /* of the short spelling, or 0 */
    value_kind kind;
    const char *value; /* how help names the value: "FILE" */
    const char *brief; /* one line, no full stop; says the default where that is no value */
    const char *usual; /* what it is where it is not given; NULL: nothing, or option_group.usual says it */
    bool repeats;      /* every occurrence counts; otherwise the last one does */
    int64_t least, most;
} option;

/* How rows end that have neither bounds nor a default. */
#define ONCE NULL, false, 0, 0
#define REPEATS NULL, true, 0, 0

enum { OPTION_TEXT_MOST = 400 }; /* bytes of what an option does, and of its default */
typedef struct option_group {
    const char *title; /* "Options", "Machine" */
    const option *options;
    /* What an option is where it is not given, where another room decides it; "" where it does not. NULL: rows do. */
    void (*usual)(const option *o, char out[OPTION_TEXT_MOST]);
} option_group;

struct args;

typedef struct verb {
    const char *name, *brief;
    /* What follows the verb, one line per form: lower-case words are literal, upper-case ones are values, [X] may be
     * left out, X... may be repeated, a|b is a choice: "init MODEL\nlint SCHEMA MODEL\nlist". */
    const char *usage;
    option_group own; /* without options: none */
    const option_group *const
        *groups;          /* further ones, ends with NULL; the one that all verbs share is added by itself */
    const char *examples; /* one a line, "tessera ... # what for"; the first ones are shown first */
    const char *details;  /* what the options do not say, as one paragraph or several; may be NULL */
    int (*run)(const struct args *a, ts_error *e); /* an exit code; if e holds an error, that one's code counts */
    bool hidden;                                   /* absent from lists, still runs */
} verb;

extern const verb *const verbs[]; /* all commands by name, ends with NULL; written by the build */

const verb *verb_find(const char *name); /* NULL if there is none */
/* The i-th option group of a verb, the shared one last; NULL past the end. */
const option_group *verb_group(const verb *v, int i);
const option *verb_option_at(const verb *v, int i); /* of all groups; NULL past the end */
const option *verb_option(const verb *v, const char *name);
bool verb_answers_json(const verb *v); /* --json puts an object on standard output: it takes no file */
const option *verb_letter(const verb *v, char letter);
/* What an option of the group does, and its default; gives out. */
const char *option_brief(const option_group *g, const option *o, char out[OPTION_TEXT_MOST]);
/* Defaults that are numbers, for option_group.usual: the list ends with NULL; "" where o is not in it. */
typedef struct usual_number {
    const char *option;
    double value;
} usual_number;
void option_usual(const usual_number *list, const option *o, char out[OPTION_TEXT_MOST]);
