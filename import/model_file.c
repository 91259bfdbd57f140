#include "import/reader.h"

#include <stdio.h>
#include <string.h>

void model_file_refuse(model_file *f, const char *fmt, ...)
{
    char line[512];
    va_list v;
    va_start(v, fmt);
    vsnprintf(line, sizeof line, fmt, v);
    va_end(v);
    if (f->n_refused == f->cap_refused) {
        const int cap = f->cap_refused ? 2 * f->cap_refused : 16;
        const char **more = arena_array(&f->mem, (size_t)cap, sizeof *more);
        if (f->n_refused > 0)
            memcpy(more, f->refused, (size_t)f->n_refused * sizeof *more);
        f->refused = more;
        f->cap_refused = cap;
    }
    f->refused[f->n_refused++] = arena_string(&f->mem, line);
}

void model_file_free(model_file *f)
{
    external_free(&f->external);
    file_unmap(&f->map);
    arena_free(&f->mem);
    *f = (model_file){0};
}
