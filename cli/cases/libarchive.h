/* libarchive.h - the functions of libarchive that are used, opened when there is an archive to read: the libraries
 * that it brings along take longer to start than all else that the command is linked with. It stays open until the
 * process ends; the functions are a plain value. */
#pragma once
#include "graph/base/base.h"

#include <archive.h>
#include <archive_entry.h>

typedef struct libarchive {
    struct archive *(*read_new)(void);
    int (*support_filters)(struct archive *), (*support_formats)(struct archive *);
    int (*open_file)(struct archive *, const char *path, size_t block);
    int (*next)(struct archive *, struct archive_entry **);
    la_ssize_t (*read_data)(struct archive *, void *to, size_t bytes);
    const char *(*error)(struct archive *);
    int (*free)(struct archive *);
    const char *(*entry_path)(struct archive_entry *);
    __LA_MODE_T (*entry_type)(struct archive_entry *);
} libarchive;

/* Stays open until the process ends. False with e set, TS_FILES: it is not here. */
bool libarchive_open(libarchive *out, ts_error *e);
