/* files.h - what a run reads whole and what it writes for good.
 * A name appears when all bytes under it are on disk, never before; who reads one needs no lock. Bytes and texts are
 * the caller's to free; nothing is kept. */
#pragma once
#include "graph/base/js.h"

typedef struct bytes {
    char *at; /* terminated */
    size_t n;
} bytes;
/* The whole file; one that shrinks while it is read is an error. For bytes_free, or at for free(). */
bool bytes_read(const char *path, bytes *out, ts_error *e);
void bytes_free(bytes *b);

/* ts_file_write of a file in a folder */
bool files_write(const char *folder, const char *name, const char *s, size_t n, ts_error *e);
/* Renames a folder whose files are on disk, for good: the folder that holds it is synced too. */
bool files_publish(const char *from, const char *to, ts_error *e);

/* SHA-256 of the model's file, in hex; empty where it is no file but built in. */
bool files_hash_model(const char *model, char hash[65], ts_error *e);

/* JSON objects whose last member is the SHA-256 of everything before it, so that no damage stays unseen. */
char *files_seal_text(const char *object); /* for free() */
typedef struct sealed {
    const char *format;          /* "checkpoint/1" */
    const char *other, *damaged; /* what to do about another version of it; where bytes are not those that were saved */
} sealed;
/* For cJSON_Delete; NULL with the reason. */
cJSON *files_sealed_read(const char *path, const sealed *want, ts_error *e);
bool files_damaged(const char *path, const sealed *want, ts_error *e); /* refuses it */
