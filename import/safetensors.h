/* safetensors.h - the tensors of a safetensors file: 8 bytes with the length of a JSON header, the header, then the
 * data, every byte of which belongs to exactly one tensor. Tensors lie in the mapping, which is the caller's, names and
 * lists in the arena given. */
#pragma once
#include "import/reader.h"

enum { SAFETENSORS_HEADER = 100000000 }; /* bytes, the most that the format allows */

/* The tensors in file, which stays mapped as long as they are used; NULL with e set. Names and list live in mem. */
held *safetensors_read(arena *mem, const char *name, const mapping *file, int *n, err *e);
typedef struct held_parts { /* bytes of a value, from there on, until the next call; NULL with e set */
    const void *(*at)(void *user, const held *h, size_t from, size_t bytes, err *e);
    void *user;
} held_parts;
/* Replaces the file at path by one with these tensors, whose dtypes the format has; its SHA-256 in *out. by: asked for
 * the bytes of each, in order; NULL: values have their data. */
bool safetensors_write(const char *path, int n, const held *const *all, const held_parts *by, digest *out, err *e);
const char *safetensors_dtype(dtype d); /* "F32"; NULL: the format has none */
