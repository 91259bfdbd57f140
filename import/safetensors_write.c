/* safetensors_write.c - tensors to a safetensors file, large elements first, so that all data is aligned. */
#include "import/safetensors.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 8 }; /* bytes, of the widest dtype */

static int by_width(const void *a, const void *b)
{
    const held *x = *(const held *const *)a, *y = *(const held *const *)b;
    const int wide = ts_dtype_bytes(y->value.dtype) - ts_dtype_bytes(x->value.dtype);
    return wide ? wide : strcmp(x->name, y->name);
}

static void add_entry(text *t, const held *h, size_t begin, size_t end)
{
    json_add(t, "%s:{dtype:%s", h->name, safetensors_dtype(h->value.dtype));
    json_add_wholes(t, "shape", h->value.rank, h->value.dim);
    json_add(t, "data_offsets:[%zu,%zu]}", begin, end);
}

static size_t bytes_of(const held *h)
{
    return (size_t)ts_array_count(&h->value) * (size_t)ts_dtype_bytes(h->value.dtype);
}

static void add(saver *s, hasher *sum, const void *p, size_t n)
{
    saver_add(s, p, n);
    hash_bytes(sum, p, n);
}

static bool add_value(saver *s, hasher *sum, const held *h, const held_parts *by, err *e)
{
    enum { PART = 1 << 22 }; /* bytes */
    bool ok = true;
    for (size_t from = 0, n; ok && from < bytes_of(h); from += n) {
        n = bytes_of(h) - from < PART ? bytes_of(h) - from : PART;
        const void *p = by ? by->at(by->user, h, from, n, e) : (const char *)h->value.data + from;
        ok = p != NULL;
        if (ok)
            add(s, sum, p, n);
    }
    return ok;
}

bool safetensors_write(const char *path, int n, const held *const *all, const held_parts *by, digest *out, err *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    const held **order = arena_array(&mem, (size_t)n + 1, sizeof *order);
    ENDED_BY(text_free) text header = {0};
    size_t total = 0;
    for (int i = 0; i < n; i++)
        order[i] = all[i];
    qsort(order, (size_t)n, sizeof *order, by_width);
    text_add(&header, "{");
    for (int i = 0; i < n; i++) {
        add_entry(&header, order[i], total, total + bytes_of(order[i]));
        total += bytes_of(order[i]);
    }
    text_add(&header, "}");
    while (header.length % ALIGNMENT)
        text_add(&header, " ");
    const uint64_t length = header.length;
    saver *s = saver_open(path, sizeof length + header.length + total);
    hasher *sum = hash_open();
    add(s, sum, &length, sizeof length);
    add(s, sum, header.s, header.length);
    bool ok = true;
    for (int i = 0; ok && i < n; i++)
        ok = add_value(s, sum, order[i], by, e);
    *out = hash_close(sum);
    return ok ? saver_close(s, e) : (saver_drop(s), false);
}
