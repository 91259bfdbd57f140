/* outfile.c - reading, replacing and naming files. */
#include "cli/outfile.h"

#include "graph/base/base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool outfile_keep(void *user, const char *json, ts_error *e)
{
    const char *path = user;
    return !path || strcmp(path, "-") == 0 || outfile_write(path, json, e);
}

/* Before work that takes long: a path that cannot be written is told at once. */
bool outfile_check(const char *path, ts_error *e)
{
    struct stat st;
    if (strcmp(path, "-") == 0)
        return true;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return err_set(e, TS_FILES, "cannot write '%s': it is a folder", path);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return access(path, W_OK) == 0 || file_failed(e, "write", path, errno);
    const char *slash = strrchr(path, '/');
    ENDED_BY(text_free) text folder = {0};
    text_bytes(&folder, slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
    const bool ok = access(folder.s, W_OK | X_OK) == 0;
    const int why = errno;
    if (!ok)
        file_failed(e, "write", path, why);
    if (!ok && why == ENOENT)
        err_hint(e, "the folder %s is not there: make it first", folder.s);
    return ok;
}

bool outfile_write(const char *path, const char *whole, ts_error *e)
{
    if (strcmp(path, "-") == 0)
        return fputs(whole, stdout) >= 0 || file_failed(e, "write", "standard output", errno);
    return outfile_check(path, e) && file_save(path, whole, strlen(whole), e);
}

/* The caller frees it. A limit, since "-" may be a stream without an end. */
char *outfile_text(const char *path, size_t limit, ts_error *e)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdin : fopen(path, "r");
    if (!f) {
        file_failed(e, "read", path, errno);
        return NULL;
    }
    char *s = NULL;
    size_t n = 0, cap = 1 << 16;
    for (;;) {
        char *more = realloc(s, cap + 1);
        if (!more)
            break;
        s = more;
        n += fread(s + n, 1, cap - n, f);
        if (n < cap || n > limit)
            break;
        cap *= 2;
    }
    if (ferror(f))
        file_failed(e, "read", path, errno);
    else if (!s || (!feof(f) && n <= limit))
        err_memory(e, cap + 1, "%s", path);
    else if (n > limit)
        err_set(e, TS_BAD_INPUT, "%s has %zu bytes or more, at most %zu expected", path, n, limit);
    else if (memchr(s, 0, n))
        err_set(e, TS_BAD_INPUT, "%s is no text: it holds zero bytes", path);
    if (!standard)
        fclose(f);
    if (e->code) {
        free(s);
        return NULL;
    }
    s[n] = 0;
    return s;
}

/* Cuts the last name off: "a/b" becomes "a", "a" becomes "", which stands for the working directory. */
static void cut_name(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash && slash > path)
        *slash = 0;
    else
        path[slash ? 1 : 0] = 0;
}

static bool is_folder_name(const char *path, ts_error *e)
{
    if (strcmp(path, "-") != 0)
        return true;
    err_set(e, TS_USAGE, "-: stands for standard output, which takes no folder");
    return err_hint(e, "name a folder; one that is called - is ./-");
}

/* Up to the first folder that is there: that is where the others will be made. */
bool outfile_folder_check(const char *path, ts_error *e)
{
    if (!is_folder_name(path, e))
        return false;
    ENDED_BY(heap_free) char *there = strdup(path);
    struct stat st;
    if (!there)
        return err_memory(e, strlen(path) + 1, "a folder name");
    int why;
    while ((why = stat(*there ? there : ".", &st) == 0 ? 0 : errno) && *there && (why == ENOENT || why == ENOTDIR))
        cut_name(there);
    bool ok = true;
    if (why)
        ok = file_failed(e, "make the folder", path, why);
    else if (!S_ISDIR(st.st_mode))
        ok = err_set(e, TS_FILES, "cannot make the folder '%s': %s is a file", path,
                     strcmp(path, there) ? there : "it");
    else if (access(*there ? there : ".", W_OK | X_OK) != 0)
        ok = file_failed(e, "write into", *there ? there : ".", errno);
    return ok;
}

bool outfile_folder(const char *path, ts_error *e)
{
    return is_folder_name(path, e) && file_make_folder(path, e) &&
           (access(path, W_OK) == 0 || file_failed(e, "write into", path, errno));
}

/* On every file system, and in every shell. */
static bool harmless(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
}

static bool is_taken(const char *name, int n, char (*taken)[OUTFILE_NAME])
{
    for (int i = 0; i < n; i++) {
        if (strcmp(taken[i], name) == 0)
            return true;
    }
    return false;
}

/* Names come from models: "a/b" becomes "a_b", a second one "a_b-2". True where it is not the name itself. */
bool outfile_name(char out[OUTFILE_NAME], const char *name, const char *ending, int n, char (*taken)[OUTFILE_NAME])
{
    enum { LONGEST = 200 }; /* of the 255 bytes that file systems allow, for a number and a temporary's ending */
    char stem[LONGEST + 1];
    int length = 0;
    for (; name[length] && length < LONGEST; length++)
        stem[length] = harmless(name[length]) ? name[length] : '_';
    stem[length] = 0;
    bool other = strncmp(stem, name, sizeof stem) != 0; /* cut, or characters replaced */
    snprintf(out, OUTFILE_NAME, "%s%s", stem, ending);
    int number = 1;
    while (is_taken(out, n, taken))
        snprintf(out, OUTFILE_NAME, "%s-%d%s", stem, ++number, ending);
    return other || number > 1;
}
