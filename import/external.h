/* external.h - files beside a model that hold its numbers. Where a model says they lie is not to be believed: a kernel
 * refuses to leave the model's own folder; or that of the file that the model's name is a link to, where what the first
 * lacks is looked for, and where links may lead: download caches keep both as links into one folder of blobs. Each file
 * is mapped once, and stays so until external_free; names and lists are of the arena given. */
#pragma once
#include "graph/base/base.h"

enum { EXTERNAL_FILES = 1024 }; /* beside one model */

typedef struct external_file {
    const char *location;
    mapping map;
} external_file;

typedef struct external {
    arena *mem;
    const char *model; /* path as given */
    const char *real;  /* folder of the model file behind all links; NULL while not needed */
    int folder;        /* folder of the model file as given; -1: not open */
    external_file *file;
    int n_file;
} external;

typedef struct external_range {
    const char *location;
    uint64_t offset, size; /* bytes */
} external_range;

bool external_open(external *x, arena *mem, const char *model, err *e);
/* The whole file, mapped until external_free; NULL with e set. */
const mapping *external_map(external *x, const char *location, const char *what, err *e);
/* The bytes, mapped until external_free. Errors X001 to X004 name `what` wants them. */
bool external_get(external *x, const external_range *r, const char *what, const unsigned char **out, err *e);
void external_close(external *x); /* nothing more will be asked for; what is mapped stays */
void external_free(external *x);

/* The file at location below folder, or -1 with errno, without the kernel's rule: no link is followed at all. */
int external_descend_stepwise(int folder, const char *location);
