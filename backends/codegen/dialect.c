/* dialect.c - types and forms, as a dialect has them. */
#include "backends/codegen/dialect.h"

#include <string.h>

const char *memory_type(const dialect *d, dtype t)
{
    const char *const *whole = dtype_signed(t) ? d->whole : d->natural;
    const int bytes = ts_dtype_bytes(t);
    int size = 0;
    while (1 << size < bytes)
        size++;
    if (dtype_class(t) == D_REAL && bytes >= 4)
        return d->real[bytes == 8];
    return (dtype_class(t) == D_WHOLE ? whole : d->natural)[size]; /* other reals are bits */
}

const char *value_type(const dialect *d, dtype t, bool wide)
{
    if (dtype_class(t) != D_REAL)
        return t == TS_BOOL ? d->truth : memory_type(d, t);
    return d->real[t == TS_F64 || wide];
}

void form_write(text *t, callees *f, const dialect *d, const char *form, const char *const *arg)
{
    if (f)
        callees_form(f, d, form, d->suffix);
    for (const char *s = form; *s; s++)
        if (*s == '$')
            text_add(t, "%s", arg[*++s - '0']);
        else
            text_bytes(t, s, 1);
}

const role_form *role_form_of(const dialect *d, const char *role)
{
    for (const role_form *r = d->role; r && r->role; r++)
        if (!strcmp(r->role, role))
            return r;
    return NULL;
}
