#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static int file = -1;
static char path[64];

const char *fuzz_file(const uint8_t *data, size_t size)
{
    if (file < 0) {
        file = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    MUST(file >= 0 && pwrite(file, data, size, 0) == (ssize_t)size && ftruncate(file, (off_t)size) == 0);
    return path;
}

void fuzz_refused(const err *e)
{
    MUST(e->code != TS_OK && e->code != TS_BUG && *e->text);
}
