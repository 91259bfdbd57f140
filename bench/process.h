/* process.h - a contestant as a process: started pinned, asked by lines, halted while others run, ended for certain.
 * It leads a process group of its own and dies with this one. Its stderr goes to a file, read only to explain a death.
 * While any lives, SIGPIPE must be blocked or ignored by the caller (bench/run.c does). A process is its opener's until
 * process_close; what was asked is borrowed for the call. */
#pragma once
#include "backends/probe/cpus.h"
#include "tessera.h"

#include <stddef.h>
#include <sys/types.h>

typedef struct process {
    pid_t pid; /* 0: none */
    int to, from;
    bool halted;
    char *buffer; /* what was read but not asked for yet */
    size_t length, cap;
    char log[512];
} process;

typedef struct process_spec {
    const char *const *argv;
    const cpu_list *cpus; /* the first `threads` of them may be used */
    int threads;
    const char *log; /* a path for stderr */
} process_spec;
bool process_open(process *p, const process_spec *s, ts_error *e);

typedef enum answer { ANSWERED, DIED, TOO_LATE, INTERRUPTED } answer;
typedef struct question {
    const char *text;                            /* without the end of line */
    double timeout;                              /* seconds */
    int interrupt;                               /* a descriptor that becomes readable when all must stop; -1: none */
    void (*aside)(void *user, const char *line); /* lines that start with "PROGRESS "; may be NULL */
    void *user;
} question;
/* line: the answer without its end, valid until the next call. */
answer process_ask(process *p, const question *q, const char **line);

/* The end of what a file has, as one line. */
void last_words(int fd, char *out, size_t size);
void process_halt(process *p);               /* returns once it stands still; asking wakes it again */
double process_peak_bytes(const process *p); /* largest resident set so far; NaN where it cannot be read */
/* Ends it: kindly if it answers, else by force. why (may be NULL) gets how it ended, with the end of its stderr. */
void process_close(process *p, char *why, size_t size);
