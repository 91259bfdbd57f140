/* outfile.h - what verbs write besides standard output: whole files or none.
 * Texts read are the caller's, for free(); names that a model gives reach a path through outfile_name only. */
#pragma once
#include "tessera.h"

#include <stddef.h>

enum { RESULTS_MOST = 256 << 20 }; /* bytes of a file of results that is read: samples of thousands of kernels */
enum { OUTFILE_NAME = 256 };       /* bytes: what file systems take, with the end */

/* Replaces path by text, whole or not at all, or writes to a device or pipe; "-" is standard output. */
bool outfile_write(const char *path, const char *text, ts_error *e);
/* Of long work, what there is so far: user is the path, or NULL; to standard output only the end goes. */
bool outfile_keep(void *user, const char *json, ts_error *e);
/* Whether outfile_write is likely to work: asked before long work whose result would be lost. */
bool outfile_check(const char *path, ts_error *e);
/* Reads a text of at most `limit` bytes; "-" is standard input. The result is for free(). */
char *outfile_text(const char *path, size_t limit, ts_error *e);
bool outfile_folder_check(const char *path, ts_error *e); /* before what takes long: whether it can be made */
bool outfile_folder(const char *path, ts_error *e);       /* makes it, with parents; an existing one is fine */
/* A file name for something named in a model: every byte outside [A-Za-z0-9._-] becomes _, and a number is added if one
 * of the n names in `taken` is the same. Says whether it is another name than the model's. */
bool outfile_name(char out[OUTFILE_NAME], const char *name, const char *ending, int n, char (*taken)[OUTFILE_NAME]);
