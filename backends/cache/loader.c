/* loader.c - dlopen of a sealed memory file. */
#include "backends/cache/loader.h"
#include "backends/cache/elf.h"
#include "backends/cache/work_folder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATH_SIZE = 64 };

/* The name dlopen sees. It knows libraries by name, and a closed descriptor's number is used again. */
static void descriptor_path(int fd, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "/proc/self/fd/%d", fd);
}

static bool open_sealed(loaded *l, const void *image, size_t n)
{
    char path[PATH_SIZE];
    l->fd = memfd_create("tessera", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    l->sealed = l->fd >= 0;
    if (!l->sealed)
        return false;
    descriptor_path(l->fd, path);
    const int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
    if (file_write(l->fd, image, n) && fcntl(l->fd, F_ADD_SEALS, seals) == 0)
        l->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return l->handle;
}

static bool open_file(loaded *l, const void *image, size_t n, const char *temporary, err *e)
{
    work_folder folder;
    ENDED_BY(arena_free) arena mem = {0};
    if (!work_folder_make(&folder, temporary, e))
        return false;
    if (work_folder_write(&folder, "program.so", image, n, e)) {
        l->handle = dlopen(work_folder_name(&folder, &mem, "program.so"), RTLD_NOW | RTLD_LOCAL);
        if (!l->handle)
            err_set(e, TS_TOOLCHAIN, "T007 the compiled program cannot be loaded: %s", dlerror());
    }
    work_folder_free(&folder);
    return l->handle;
}

bool loader_open(loaded *l, const void *image, size_t n, const char *temporary, err *e)
{
    *l = (loaded){0};
    const char *fault = elf_fault(image, n, ELF_SHARED);
    if (fault)
        return err_set(e, TS_TOOLCHAIN, "T005 the compiled program %s", fault);
    if (open_sealed(l, image, n) || open_file(l, image, n, temporary, e))
        return true;
    loader_close(l);
    return false;
}

void *loader_symbol(const loaded *l, const char *name)
{
    return dlsym(l->handle, name);
}

void loader_close(loaded *l)
{
    if (l->handle)
        dlclose(l->handle);
    if (l->sealed)
        close(l->fd);
    *l = (loaded){0};
}
