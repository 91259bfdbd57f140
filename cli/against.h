/* against.h - the values of a run against those that another one wrote (run -o): which is the first one, in the order
 * in which they are computed, that differs. Zero and a folder, to begin with. */
#ifndef TS_AGAINST_H
#define TS_AGAINST_H
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
/* Looks at value number `place`, of which FOLDER/file may have another run's. *far: its largest difference; -1: that
 * run has none. False: what the folder has cannot be read, or is of another dtype or shape. */
bool against_look(against *t, int place, const char *name, const char *file, const ts_array *value, double *far,
                  ts_error *e);
#endif
