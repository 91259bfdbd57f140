/* device_file.c - what make built, or wrote, beside the program; how much of it is copied at once. */
#include "backends/emit/runtime/device_run.h"

#include <stdio.h>
#include <stdlib.h>

static long most_of(const device_port *p, int n, long most)
{
    for (int i = 0; i < n; i++)
        most = p[i].bytes > most ? p[i].bytes : most;
    return most;
}

long device_most(const device_program *p)
{
    return most_of(p->leaf, p->leaves, most_of(p->input, p->inputs, most_of(p->value, p->values, 0)));
}

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
