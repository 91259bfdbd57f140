/* against.h - the values of a run against those that another one wrote (run -o): which is the first one, in the order
 * in which they are computed, that differs. Zero and a folder, to begin with. A plain value: folder and names are
 * borrowed, values are only read. */
#pragma once
#include "tessera.h"

typedef struct against {
    const char *folder;
    double tolerance; /* largest |x - y| / max(1, |x| + |y|) that is none */
    int compared;     /* values that the folder has too */
    int first;        /* place of the first one that differs; valid where name is not "" */
    char name[256];
    int64_t element; /* of it, and what that is here and there */
    double here, there;
} against;
typedef struct against_value { /* of this run */
    int place;                 /* its number, in the order in which values are computed */
    const char *name;          /* and that of FOLDER/file, which may have another run's */
    const char *file;
    const ts_array *value;
} against_value;
/* *far: the largest difference of one value; -1: the other run has none. False: what the folder has cannot be read, or
 * is of another dtype or shape. */
bool against_look(against *t, const against_value *own, double *far, ts_error *e);
