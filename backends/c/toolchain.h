/* toolchain.h - turns C text into functions that can be called.
 * Each unit is compiled on its own and kept in the cache under a key of everything that matters: Tessera's version,
 * text, compiler, flags, instruction set, processor features. The linked program is kept too, so a second process runs
 * no compiler. Units are compiled in parallel, without a shell, under limits. A broken, missing or read-only cache
 * costs time, never correctness. Unit texts are ours: nothing from a model's file is in them. A request is borrowed for
 * the call; a program is its maker's until cc_free, a report until cc_report_free. */
#pragma once
#include "backends/cache/child.h"
#include "backends/phases.h"
#include "graph/base/base.h"

typedef struct cc_unit {
    const char *text;  /* C source of one translation unit; includes nothing but the system's headers */
    const char *level; /* of optimisation; NULL: as the flags say */
    const char *label; /* what people call what is in it; NULL: nothing */
    size_t bytes;      /* of the text, what is to be compiled; 0: all of it */
    bool shared;       /* functions in it that are alike remain apart, as if each were in a unit of its own */
} cc_unit;

typedef struct cc_request {
    int n;
    const cc_unit *unit;
    const char *const *flags;   /* "-O3", "-march=...", NULL at the end; for compiling and linking */
    const char *isa;            /* name of the instruction set that the flags stand for */
    const char *cache_folder;   /* NULL: the user's; "none": no cache */
    const char *const *symbols; /* functions that the program must have, NULL at the end; NULL: none */
    int jobs;                   /* compilers at once; 0: as many as processors are allowed */
    const child_limits *limits; /* of each compiler; NULL: by the size of its unit */
    void (*progress)(void *user, const char *what, int done, int total); /* may be NULL */
    void *user;
    phases *phases; /* NULL: nobody asks where the time goes */
} cc_request;

typedef struct cc_report {
    int compiled, cached; /* units; both 0 when the whole program was found */
    bool found;           /* the whole program was in the cache */
    double seconds;       /* of cc_make */
    text compiler;        /* its version line */
    text notes;           /* a line each: what a person should know */
} cc_report;
void cc_report_free(cc_report *r);

typedef struct cc_program cc_program;
/* report may be NULL; else it is set, also on failure. NULL with e set: TS_TOOLCHAIN, or TS_FILES for an
 * unsafe cache. */
cc_program *cc_make(const cc_request *r, cc_report *report, err *e);
bool cc_assembly(const cc_request *r, text *out, err *e); /* adds what the compiler makes of the one unit, as text */
void *cc_symbol(const cc_program *p, const char *name);
void cc_free(cc_program *p);

/* Path and version line of the compiler that would be used. */
bool cc_compiler(const char *cache_folder, text *path, text *version, err *e);
