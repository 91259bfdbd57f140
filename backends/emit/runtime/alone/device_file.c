/* device_file.c - reads what make built, or wrote, beside the program. */
#include "backends/emit/runtime/device_run.h"

#include <stdio.h>
#include <stdlib.h>

char *device_file(const char *name)
{
    long n = 0;
    FILE *f = fopen(name, "rb");
    char *all = f && !fseek(f, 0, SEEK_END) && (n = ftell(f)) >= 0 ? calloc((size_t)n + 1, 1) : NULL;
    if (all) {
        rewind(f);
        if (fread(all, 1, (size_t)n, f) != (size_t)n)
            free(all), all = NULL;
    }
    if (f)
        fclose(f);
    if (!all)
        fprintf(stderr, "%s: cannot be read; run the program in the folder where make built it\n", name);
    return all;
}
