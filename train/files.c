/* files.c - limits of what is read, and names that appear only once all is on disk. */
#include "train/files.h"

#include "graph/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_all(int fd, const char *path, bytes *out, ts_error *e)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return file_failed(e, "read", path, errno);
    if (S_ISDIR(st.st_mode))
        return file_failed(e, "read", path, EISDIR);
    if (!S_ISREG(st.st_mode)) {
        err_set(e, TS_FILES, "cannot read '%s': it is a pipe or a device, not a file", path);
        return err_hint(e, "write what comes out of it into a file: it is read again when a run goes on");
    }
    const size_t size = (size_t)st.st_size;
    out->at = malloc(size + 1);
    if (!out->at)
        return err_memory(e, size + 1, "'%s'", path);
    while (out->n < size) {
        const ssize_t n = read(fd, out->at + out->n, size - out->n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return file_failed(e, "read", path, errno);
        if (n == 0) {
            err_set(e, TS_FILES, "'%s' shrank from %zu to %zu bytes while it was read", path, size, out->n);
            return err_hint(e, "train on a file that nothing else writes");
        }
        out->n += (size_t)n;
    }
    out->at[size] = 0;
    return true;
}

bool bytes_read(const char *path, bytes *out, ts_error *e)
{
    *out = (bytes){0};
    int fd = file_open(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0) {
        const bool none = errno == ENOENT;
        file_failed(e, "open", path, errno);
        return none ? err_hint(e, "give the path of what is there; names without a folder are looked for in this one")
                    : false;
    }
    const bool ok = read_all(fd, path, out, e);
    close(fd);
    if (!ok)
        bytes_free(out);
    return ok;
}

void bytes_free(bytes *b)
{
    free(b->at);
    *b = (bytes){0};
}

bool files_write(const char *folder, const char *name, const char *s, size_t n, ts_error *e)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return ts_file_write(path, s, n, e);
}

bool files_publish(const char *from, const char *to, ts_error *e)
{
    return (rename(from, to) == 0 && file_sync_holder(to)) || file_failed(e, "write", to, errno);
}

bool files_hash_model(const char *model, char hash[65], ts_error *e)
{
    char path[4096];
    struct stat st;
    static const char *const in_folder[] = {"", "/model.onnx", "/graph.json"};
    *hash = 0;
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", model, in_folder[i]);
        if (stat(path, &st) == 0 ? !S_ISDIR(st.st_mode) : errno != ENOENT && errno != ENOTDIR)
            return ts_file_hash(path, hash, e);
    }
    return true;
}

enum { SUM_DIGITS = 64 }; /* of a SHA-256 */

char *files_seal_text(const char *object)
{
    text t = {0};
    char sum[65];
    size_t n = strlen(object);
    while (n > 0 && object[n - 1] != '}')
        n--;
    while (n > 1 && strchr("} \t\r\n", object[n - 1]))
        n--;
    text_add(&t, "%.*s,\"sha256\":\"", (int)n, object);
    ts_hash_bytes(t.s, t.length, sum);
    text_add(&t, "%s\"}\n", sum);
    return text_take(&t);
}

static bool seal_holds(const bytes *b)
{
    static const char end[] = "\"}\n";
    char sum[65];
    const size_t tail = SUM_DIGITS + sizeof end - 1;
    if (b->n < tail || memcmp(b->at + b->n - (sizeof end - 1), end, sizeof end - 1) != 0)
        return false;
    ts_hash_bytes(b->at, b->n - tail, sum);
    return memcmp(b->at + b->n - tail, sum, SUM_DIGITS) == 0;
}

bool files_damaged(const char *path, const sealed *want, ts_error *e)
{
    err_set(e, TS_BAD_INPUT, "'%s' is damaged: its bytes are not those that were saved", path);
    return err_hint(e, "%s", want->damaged);
}

cJSON *files_sealed_read(const char *path, const sealed *want, ts_error *e)
{
    ENDED_BY(bytes_free) bytes b = {0};
    if (!bytes_read(path, &b, e))
        return NULL;
    cJSON *o = cJSON_ParseWithLength(b.at, b.n);
    const char *is = js_get_text(o, "format");
    if (strncmp(is, want->format, strcspn(want->format, "/") + 1) == 0 && strcmp(is, want->format) != 0) {
        err_set(e, TS_UNSUPPORTED, "'%s' is of the format %.40s; this program reads %s", path, is, want->format);
        err_hint(e, "%s", want->other);
    } else if (o && seal_holds(&b))
        return o;
    else
        files_damaged(path, want, e);
    cJSON_Delete(o);
    return NULL;
}
