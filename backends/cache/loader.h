/* loader.h - makes code out of bytes in memory. What was verified is what runs: the bytes are copied into a memory file
 * that is sealed against change, and that file is loaded. Where the system forbids such files a private
 * temporary one serves. What is loaded is its opener's until loader_close; the bytes are borrowed for the call. */
#pragma once
#include "graph/base/base.h"

typedef struct loaded {
    void *handle; /* of dlopen */
    bool sealed;  /* from a memory file, whose fd stays open: while it does, no other library can get the same name */
    int fd;
} loaded;

/* image: a shared library for this machine. temporary: where a temporary file may go. */
bool loader_open(loaded *l, const void *image, size_t n, const char *temporary, err *e);
void *loader_symbol(const loaded *l, const char *name); /* NULL: not there */
void loader_close(loaded *l);
