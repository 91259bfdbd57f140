/* tensors.c - sets of named tensors in safetensors files, and files written whole, for who sees tessera.h alone. */
#include "import/safetensors.h"

#include <stdlib.h>
#include <string.h>

struct ts_tensors {
    arena mem;
    mapping map;
    held *all;
    int n;
};

ts_tensors *ts_tensors_open(const char *path, ts_error *e)
{
    ts_tensors *t = heap_array(1, sizeof *t);
    if (file_map(path, &t->map, e) && (t->all = safetensors_read(&t->mem, path, &t->map, &t->n, e)))
        return t;
    ts_tensors_free(t);
    return NULL;
}

void ts_tensors_free(ts_tensors *t)
{
    if (!t)
        return;
    file_unmap(&t->map);
    arena_free(&t->mem);
    free(t);
}

int ts_tensors_count(const ts_tensors *t)
{
    return t ? t->n : 0;
}

const char *ts_tensors_name(const ts_tensors *t, int i)
{
    return t && i >= 0 && i < t->n ? t->all[i].name : NULL;
}

bool ts_tensors_get(const ts_tensors *t, const char *name, ts_array *out, ts_error *e)
{
    if (!err_given(t, "the set of tensors", e) || !err_given(name, "the name of a tensor", e))
        return false;
    for (int i = 0; i < t->n; i++) {
        if (strcmp(t->all[i].name, name))
            continue;
        const ts_array *from = &t->all[i].value;
        if (t->all[i].refused)
            return err_set(e, TS_UNSUPPORTED, "tensor \"%s\": %s", name, t->all[i].refused);
        if (!ts_array_make(out, from->dtype, from->rank, from->dim, e))
            return false;
        memcpy(out->data, from->data, (size_t)ts_array_count(from) * (size_t)ts_dtype_bytes(from->dtype));
        return true;
    }
    return err_set(e, TS_BAD_INPUT, "there is no tensor \"%s\"", name);
}

typedef struct parts { /* of tensors by their number */
    const held *first;
    ts_tensors_part *part;
    void *user;
} parts;

static const void *part_at(void *user, const held *h, size_t from, size_t bytes, err *e)
{
    const parts *p = user;
    return p->part(p->user, (int)(h - p->first), from, bytes, e);
}

bool ts_tensors_write_parts(const char *path, int n, const ts_given *all, ts_tensors_part *part, void *user,
                            char sha256[65], ts_error *e)
{
    bool ok = err_given(path, "the path of a file", e) && (!n || err_given(all, "the list of tensors", e));
    for (int i = 0; ok && i < n; i++) {
        ts_array value = all[i].value;
        value.data = part ? (void *)&value : value.data; /* it comes later */
        ok = err_given(all[i].name, "the name of a tensor", e) && array_sound(&value, all[i].name, e);
    }
    if (!ok)
        return false;
    ENDED_BY(arena_free) arena mem = {0};
    held *own = arena_array(&mem, (size_t)n + 1, sizeof *own);
    const held **list = arena_array(&mem, (size_t)n + 1, sizeof *list);
    for (int i = 0; i < n; i++) {
        own[i] = (held){.name = all[i].name, .value = all[i].value};
        list[i] = &own[i];
    }
    digest d;
    parts from = {own, part, user};
    ok = safetensors_write(path, n, list, part ? &(held_parts){part_at, &from} : NULL, &d, e);
    digest_hex(&d, sha256);
    return ok;
}

bool ts_tensors_write(const char *path, int n, const ts_given *all, char sha256[65], ts_error *e)
{
    return ts_tensors_write_parts(path, n, all, NULL, NULL, sha256, e);
}

bool ts_file_write(const char *path, const void *bytes, size_t n, ts_error *e)
{
    if (!err_given(path, "the path of a file", e) || (n && !err_given(bytes, "what is to be written", e)))
        return false;
    return file_save(path, bytes, n, e);
}

void ts_hash_bytes(const void *bytes, size_t n, char sha256[65])
{
    hasher *h = hash_open();
    hash_bytes(h, bytes, n);
    const digest d = hash_close(h);
    digest_hex(&d, sha256);
}

bool ts_file_hash(const char *path, char sha256[65], ts_error *e)
{
    mapping m;
    if (!err_given(sha256, "where the sum goes", e) || !file_map(path, &m, e))
        return false;
    ts_hash_bytes(m.at, m.size, sha256);
    file_unmap(&m);
    return true;
}
