/* run.h - what a program's function `run` takes: where everything lies, and how parts wait for each other. */
#ifndef RUN_H
#define RUN_H
typedef struct ts_run {
    char *arena;
    void *const *leaf, *const *input;
    char *scratch;
    long scratch_bytes; /* for each part */
    int *fault;
    void (*wait)(void *team);
    void *team;
} ts_run;
#endif
