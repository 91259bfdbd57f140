/* safetensors.c - the header is held against the file before any entry is believed: entries sorted by place have to
 * cover the data without gap or overlap. */
#include "import/safetensors.h"

#include "graph/base/json.h"
#include "import/name.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;
enum { LENGTH_BYTES = 8, HEADER_DEPTH = 4 }; /* before the header, little-endian; of objects in the header */

/* One tensor and where its data lies behind the header. */
typedef struct place {
    const json *entry;
    int64_t begin, end;
} place;

/* ---- one entry: "w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]} ---- */
static const struct {
    const char *name;
    dtype dtype;
} known[] = {{"F64", TS_F64},   {"F32", TS_F32},          {"F16", TS_F16},        {"BF16", TS_BF16},
             {"I64", TS_I64},   {"I32", TS_I32},          {"I16", TS_I16},        {"I8", TS_I8},
             {"U64", TS_U64},   {"U32", TS_U32},          {"U16", TS_U16},        {"U8", TS_U8},
             {"BOOL", TS_BOOL}, {"F8_E4M3", TS_F8E4M3FN}, {"F8_E5M2", TS_F8E5M2}, {"F8_E8M0", TS_F8E8M0}};

const char *safetensors_dtype(dtype d)
{
    for (int i = 0; i < COUNT(known); i++)
        if (known[i].dtype == d)
            return known[i].name;
    return NULL;
}

static bool read_dtype(const json *entry, held *out, err *e)
{
    const json *v = json_get(entry, "dtype");
    if (!v)
        return json_refuse(e, entry, TS_BAD_INPUT, "W008 no dtype");
    if (!json_want(v, JSON_TEXT, e))
        return false;
    for (int i = 0; i < COUNT(known); i++)
        if (!strcmp(known[i].name, v->text)) {
            out->value.dtype = known[i].dtype;
            return true;
        }
    if (!strncmp(v->text, "F8_", 3) || !strncmp(v->text, "F4", 2) || !strncmp(v->text, "F6", 2)) {
        out->refused = v->text;
        return true;
    }
    return json_refuse(e, v, TS_BAD_INPUT, "W008 dtype \"%s\" is none of the format's", v->text);
}

static bool read_wholes(const json *entry, const char *key, int most, int64_t *out, int *n, err *e)
{
    const json *v = json_get(entry, key);
    if (!v)
        return json_refuse(e, entry, TS_BAD_INPUT, "W007 no %s", key);
    if (!json_want(v, JSON_LIST, e))
        return false;
    *n = 0;
    for (const json *i = v->first; i; i = i->next, ++*n) {
        if (*n == most)
            return json_refuse(e, v, TS_BAD_INPUT, "W007 %zu entries, at most %d expected", json_count(v), most);
        if (!json_whole(i, &out[*n]) || out[*n] < 0)
            return json_expect(i, "W007 a whole number that is not negative", e);
    }
    return true;
}

static bool read_entry(const json *entry, int64_t size, held *out, place *where, err *e)
{
    int64_t offset[2], count = 1, bytes = 0;
    int n;
    if (!json_want(entry, JSON_OBJECT, e) || !json_known(entry, "dtype shape data_offsets", e))
        return false;
    *out = (held){.name = entry->key};
    if (!read_dtype(entry, out, e) || !read_wholes(entry, "shape", MAX_RANK, out->value.dim, &out->value.rank, e) ||
        !read_wholes(entry, "data_offsets", 2, offset, &n, e))
        return false;
    if (n != 2)
        return json_refuse(e, entry, TS_BAD_INPUT, "W004 data_offsets has %d entries, not begin and end", n);
    if (offset[0] > offset[1])
        return json_refuse(e, entry, TS_BAD_INPUT, "W004 offsets %lld...%lld are reversed", (long long)offset[0],
                           (long long)offset[1]);
    if (offset[1] > size)
        return json_refuse(e, entry, TS_BAD_INPUT, "W005 data ends at byte %lld of %lld", (long long)offset[1],
                           (long long)size);
    for (int i = 0; i < out->value.rank; i++)
        if (!int_mul(count, out->value.dim[i], &count))
            return json_refuse(e, entry, TS_BAD_INPUT, "W007 dim[%d] = %lld makes more than 2^63 - 1 elements", i,
                               (long long)out->value.dim[i]);
    if (!out->refused && (!int_mul(count, ts_dtype_bytes(out->value.dtype), &bytes) || bytes != offset[1] - offset[0]))
        return json_refuse(e, entry, TS_BAD_INPUT, "W007 %lld bytes of data, dtype and shape need %lld",
                           (long long)(offset[1] - offset[0]), (long long)bytes);
    *where = (place){entry, offset[0], offset[1]};
    return true;
}

static bool check_metadata(const json *v, err *e)
{
    if (!json_want(v, JSON_OBJECT, e))
        return false;
    for (const json *i = v->first; i; i = i->next)
        if (i->kind != JSON_TEXT)
            return json_expect(i, "W009 metadata as text", e);
    return true;
}

/* ---- the whole file ---- */
static int by_begin(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin) : (x->end > y->end) - (x->end < y->end);
}

/* From the first byte to the last, without holes and without sharing. */
static bool check_cover(place *all, int n, int64_t size, err *e)
{
    int64_t at = 0;
    if (n > 0)
        qsort(all, (size_t)n, sizeof *all, by_begin);
    for (int i = 0; i < n; at = all[i++].end) {
        if (all[i].begin < at)
            return json_refuse(e, all[i].entry, TS_BAD_INPUT, "W005 shares bytes %lld...%lld with another tensor",
                               (long long)all[i].begin, (long long)at);
        if (all[i].begin > at)
            return json_refuse(e, all[i].entry, TS_BAD_INPUT, "W006 hole of %lld bytes before it",
                               (long long)(all[i].begin - at));
    }
    return at == size || err_set(e, TS_BAD_INPUT, "W006 %lld bytes behind the last tensor", (long long)(size - at));
}

static bool read_all(const json *header, const unsigned char *data, int64_t size, arena *mem, held *out, int *n, err *e)
{
    int count = 0;
    for (const json *i = header->first; i; i = i->next)
        count++;
    place *where = arena_array(mem, (size_t)count, sizeof *where);
    *n = 0;
    for (const json *i = header->first; i; i = i->next) {
        if (!strcmp(i->key, "__metadata__")) {
            if (!check_metadata(i, e))
                return false;
            continue;
        }
        if (!name_check(i->key, strlen(i->key), NAME_MOST, "tensor name", e) ||
            !read_entry(i, size, &out[*n], &where[*n], e))
            return false;
        out[*n].value.data = (void *)(uintptr_t)(data + where[*n].begin);
        ++*n;
    }
    return check_cover(where, *n, size, e);
}

static bool header_length(const mapping *file, size_t *out, err *e)
{
    uint64_t n;
    if (file->size < LENGTH_BYTES)
        return err_set(e, TS_BAD_INPUT, "W001 %zu bytes are no safetensors file", file->size);
    memcpy(&n, file->at, sizeof n);
    if (n > SAFETENSORS_HEADER || n > file->size - LENGTH_BYTES)
        return err_set(e, TS_BAD_INPUT, "W001 header of %llu bytes, the file has %zu and the limit is %d", (ull)n,
                       file->size, SAFETENSORS_HEADER);
    if (n == 0 || file->at[LENGTH_BYTES] != '{')
        return err_set(e, TS_BAD_INPUT, "W002 the header of %llu bytes begins with byte 0x%02x, { expected", (ull)n,
                       n ? file->at[LENGTH_BYTES] : 0);
    *out = (size_t)n;
    return true;
}

held *safetensors_read(arena *mem, const char *name, const mapping *file, int *n, err *e)
{
    size_t length = 0;
    err own = {0};
    held *out = NULL;
    if (header_length(file, &length, &own)) {
        const json *header = json_read(mem, name, (const char *)file->at + LENGTH_BYTES, length, HEADER_DEPTH, e);
        if (!header)
            return NULL;
        size_t count = 0;
        for (const json *i = header->first; i; i = i->next)
            count++;
        out = arena_array(mem, count + 1, sizeof *out);
        const unsigned char *data = file->at + LENGTH_BYTES + length;
        if (read_all(header, data, (int64_t)(file->size - LENGTH_BYTES - length), mem, out, n, &own))
            return out;
    }
    if (!strstr(own.text, name)) /* places in the header have it already */
        err_in(&own, "%s", name);
    err_set(e, own.code, "%s", own.text);
    return NULL;
}
