/* args.h - a parsed command line. Options may stand anywhere; -- ends them; names are never abbreviated. Values are
 * checked here, so that reading one cannot fail; asking for an option that the verb does not declare is a bug and
 * aborts. What is parsed is of args until args_free; words are argv's. */
#pragma once
#include "cli/console.h"
#include "cli/config.h"
#include "cli/verb.h"

typedef struct given {
    const option *option;
    const char *value; /* NULL for a flag */
} given;

typedef enum help_asked { HELP_NONE, HELP_BRIEF, HELP_WHOLE } help_asked; /* no, -h, --help */

typedef struct args {
    const verb *verb;
    console console;
    help_asked help;   /* if -h or --help was among them, nothing else was checked */
    const char *form;  /* which line of verb->usage fits: its first literal word, or "" */
    const char **noun; /* what is no option, in order, without the literal word; owned array of pointers into argv */
    int n_nouns;
    given *given; /* owned */
    int n_given;
    config config; /* what holds where an option was not given */
} args;

/* argv holds what follows the verb. Whatever the outcome, args_free releases it, and a->console can be used. */
bool args_parse(args *a, const verb *v, int argc, char **argv, ts_error *e);
void args_free(args *a);

const char *args_noun(const args *a, int i); /* NULL past the end */
bool args_flag(const args *a, const char *name);
/* Of an option that was not given: what the settings say, then what its row says it is, else NULL or 0. */
const char *args_text(const args *a, const char *name);
int64_t args_integer(const args *a, const char *name); /* INTEGER and BYTES */
double args_number(const args *a, const char *name);   /* NUMBER, SECONDS in seconds, PERCENT as a fraction */
/* Its text; NULL, and an error that it is missing, where it was not given. */
const char *args_needed(const args *a, const char *name, const char *remedy, ts_error *e);
int args_count(const args *a, const char *name);             /* occurrences */
const char *args_at(const args *a, const char *name, int i); /* value of the i-th occurrence */
/* All values of a repeated option, in order, with room for one more; for free(), the texts are argv's. */
const char **args_list(const args *a, const char *name, int *n);
/* Refuses those of the options, a list that ends with NULL, that were given: the verb would not read them here. */
bool args_refuse(const args *a, const char *const *names, const char *remedy, ts_error *e);
/* Options that mean nothing with another one, or without it. */
typedef struct clash {
    const char *with, *without;        /* one of them */
    const char *const *names;          /* as args_refuse has them */
    const char *before, *why, *remedy; /* as args_clash */
} clash;
bool args_clashes(const args *a, int n, const clash *of, ts_error *e);
/* As args_refuse, with what is said in front of the option and behind it: "train --resume run: ", " was settled". */
bool args_clash(const args *a, const char *const *names, const char *before, const char *why, const char *remedy,
                ts_error *e);
