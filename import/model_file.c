/* model_file.c - what every reader fills and who frees it: the arena, the mappings, the versions of operators. */
#include "import/reader.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

void model_file_refuse(model_file *f, const char *fmt, ...)
{
    char line[512];
    va_list v;
    va_start(v, fmt);
    vsnprintf(line, sizeof line, fmt, v);
    va_end(v);
    f->refused = arena_grown(&f->mem, f->refused, f->n_refused, &f->cap_refused, sizeof *f->refused);
    f->refused[f->n_refused++] = arena_string(&f->mem, line);
}

bool opset_add(opset *list, int *n, const char *domain, int64_t version, err *e)
{
    if (version < 1)
        return err_set(e, TS_BAD_INPUT, "M010 opset %lld of domain \"%s\" is no version", (long long)version, domain);
    if (!*domain && version > NEWEST_OPSET) {
        err_set(e, TS_UNSUPPORTED, "M010 opset %lld of domain \"\" is newer than %d", (long long)version, NEWEST_OPSET);
        return err_hint(e, "export the model for an older opset");
    }
    for (int i = 0; i < *n; i++)
        if (!strcmp(list[i].domain, domain))
            return list[i].version == version || /* said twice, as some exporters do */
                   err_set(e, TS_BAD_INPUT, "M010 domain \"%s\" has two opsets, %d and %lld", domain, list[i].version,
                           (long long)version);
    list[(*n)++] = (opset){domain, version > INT_MAX ? INT_MAX : (int)version};
    return true;
}

void model_file_free(model_file *f)
{
    external_free(&f->external);
    file_unmap(&f->map);
    arena_free(&f->mem);
    *f = (model_file){0};
}
