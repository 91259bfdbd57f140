/* external.c - openat2 with RESOLVE_BENEATH where the system has it, else one part of the path after the other
 * without following links. */
#include "import/external.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef unsigned long long ull;
enum { READ = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY }; /* a pipe must not hang, a terminal not be taken */

/* ---- containment ---- */

/* Each component opened without following links; ".." was refused before. */
int external_descend_stepwise(int folder, const char *location)
{
    int at = dup(folder);
    while (at >= 0) {
        char name[NAME_MAX + 1];
        const size_t n = strcspn(location, "/"), next_part = n + strspn(location + n, "/");
        const bool last = !location[n];
        if (n > NAME_MAX) {
            close(at);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(name, location, n);
        name[n] = 0;
        const int next = openat(at, name, O_NOFOLLOW | (last ? READ : O_PATH | O_DIRECTORY | O_CLOEXEC));
        const int why = errno;
        close(at);
        errno = why;
        if (last || next < 0)
            return next;
        at = next;
        location += next_part;
    }
    return -1;
}

static int descend(int folder, const char *location)
{
    const struct open_how how = {.flags = READ, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    const long fd = syscall(SYS_openat2, folder, location, &how, sizeof how);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* an old kernel, or a sandbox that does not know the call */
        return external_descend_stepwise(folder, location);
    return (int)fd;
}

/* Relative, no "..", with a name at its end: what can only mean a file below. */
static bool is_below(const char *location)
{
    for (const char *s = location;; s += strspn(s, "/")) {
        const size_t n = strcspn(s, "/");
        if (n == 0 || (n == 2 && s[0] == '.' && s[1] == '.'))
            return false;
        s += n;
        if (!*s)
            return true;
    }
}

static char *folder_of(arena *mem, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return arena_string(mem, ".");
    return arena_format(mem, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* What the model's folder lacks (errno is ENOENT) is looked for in the folder where the model file really lies. A link
 * that leads out of the model's folder is followed only to a file in that one. */
static int descend_linked(external *x, const char *location)
{
    const bool lacks = errno == ENOENT;
    char real[PATH_MAX];
    if (!x->real && realpath(x->model, real))
        x->real = folder_of(x->mem, real);
    if (!x->real || (!lacks && !realpath(arena_format(x->mem, "%s/%s", folder_of(x->mem, x->model), location), real)))
        return -1;
    errno = EXDEV;
    if (!lacks && strcmp(folder_of(x->mem, real), x->real))
        return -1;
    const int folder = open(x->real, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -1;
    const int fd = lacks ? descend(folder, location) : external_descend_stepwise(folder, strrchr(real, '/') + 1);
    const int why = errno;
    close(folder);
    errno = why;
    return fd;
}

/* ---- files ---- */
static bool leaves(const char *location, const char *what, err *e)
{
    err_set(e, TS_BAD_INPUT, "X001 %s: external file \"%s\" leaves the model's folder", what, location);
    return err_hint(e, "put the file beside the model; only names relative to the model's folder are followed");
}

static bool absent(const char *location, const char *what, int why, err *e)
{
    char words[128];
    err_set(e, TS_BAD_INPUT, "X002 %s: external file \"%s\": %s", what, location, strerror_r(why, words, sizeof words));
    return err_hint(e, "put that file beside the model: its numbers are there, and both belong together");
}

static bool map(external *x, const char *location, const char *what, mapping *out, err *e)
{
    if (!is_below(location))
        return leaves(location, what, e);
    int fd = descend(x->folder, location);
    if (fd < 0 && (errno == EXDEV || errno == ELOOP || errno == ENOENT))
        fd = descend_linked(x, location);
    if (fd < 0)
        return errno == EXDEV || errno == ELOOP ? leaves(location, what, e) : absent(location, what, errno, e);
    err own = {0};
    const bool ok = file_map_fd(fd, location, out, &own);
    close(fd);
    return ok || err_set(e, TS_BAD_INPUT, "X002 %s: external file: %s", what, own.text);
}

const mapping *external_map(external *x, const char *location, const char *what, err *e)
{
    for (int i = 0; i < x->n_file; i++)
        if (!strcmp(x->file[i].location, location))
            return &x->file[i].map;
    if (x->n_file == EXTERNAL_FILES) {
        err_set(e, TS_BAD_INPUT, "X004 %s: \"%s\" is external file %d, at most %d expected", what, location,
                EXTERNAL_FILES + 1, EXTERNAL_FILES);
        return NULL;
    }
    external_file *f = &x->file[x->n_file];
    if (!map(x, location, what, &f->map, e))
        return NULL;
    f->location = arena_string(x->mem, location);
    x->n_file++;
    return &f->map;
}

bool external_open(external *x, arena *mem, const char *model, err *e)
{
    *x = (external){.mem = mem, .model = arena_string(mem, model)};
    x->file = arena_array(mem, EXTERNAL_FILES, sizeof *x->file);
    x->folder = open(folder_of(mem, model), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (x->folder >= 0)
        return true;
    char words[128];
    return err_set(e, TS_FILES, "cannot open the folder of '%s': %s", model, strerror_r(errno, words, sizeof words));
}

bool external_get(external *x, const external_range *r, const char *what, const unsigned char **out, err *e)
{
    const mapping *m = external_map(x, r->location, what, e);
    if (!m)
        return false;
    if (r->offset > m->size || r->size > m->size - r->offset)
        return err_set(e, TS_BAD_INPUT, "X003 %s: needs %llu bytes from byte %llu on, external file \"%s\" has %zu",
                       what, (ull)r->size, (ull)r->offset, r->location, m->size);
    *out = m->size ? m->at + r->offset : (const unsigned char *)"";
    return true;
}

void external_close(external *x)
{
    if (x->folder >= 0)
        close(x->folder);
    x->folder = -1;
}

void external_free(external *x)
{
    if (!x->mem) /* never opened */
        return;
    external_close(x);
    for (int i = 0; i < x->n_file; i++)
        file_unmap(&x->file[i].map);
    x->n_file = 0;
}
