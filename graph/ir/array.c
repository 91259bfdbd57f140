/* array.c - arrays as the public interface shows them: values in memory, row-major, owned by whoever made them. */
#include "graph/ir/type.h"

#include <stdlib.h>
#include <string.h>

void ts_free(void *p)
{
    free(p);
}

/* ---- blocks: what lies before the data says how it is given back ---- */
enum { LINE = 64, MUCH = 2 << 20, STARTS = 61 };

typedef struct block {
    void *at;
    size_t mapped; /* bytes, or 0 where free takes it */
} block;

static block *block_of(void *data)
{
    return (block *)((char *)data - LINE);
}

/* Data begins at a multiple of LINE; much of it not always at the same one of a page: what is walked side by side, like
 * a weight and its moments, would otherwise meet where little is kept near. */
static void *block_get(size_t bytes)
{
    size_t whole;
    if (!size_add(bytes, LINE * (size_t)(STARTS + 2), &whole))
        return NULL;
    const bool much = bytes >= MUCH;
    whole = much ? whole : (bytes + 2 * LINE) / LINE * LINE;
    char *at = much ? pages_map(whole, NULL) : aligned_alloc(LINE, whole);
    if (!at)
        return NULL;
    if (!much)
        memset(at, 0, whole);
    char *data = at + LINE * (much ? 1 + (uintptr_t)at / MUCH % STARTS : 1);
    *block_of(data) = (block){.at = at, .mapped = much ? whole : 0};
    return data;
}

static void memory_free(void *data)
{
    const block b = data ? *block_of(data) : (block){0};
    if (b.mapped)
        pages_unmap(b.at, b.mapped);
    else
        free(b.at);
}

bool array_sound(const ts_array *a, const char *what, err *e)
{
    if (!err_given(a, what, e))
        return false;
    type t = {.dtype = a->dtype, .rank = a->rank};
    memcpy(t.dim, a->dim, sizeof t.dim);
    if (!type_valid(&t, e))
        return err_in(e, "%s", what);
    return a->data || !type_count(&t) || err_set(e, TS_USAGE, "%s has no data: NULL was given", what);
}

void array_copy(const ts_array *a, dtype d, void *to)
{
    const int64_t n = ts_array_count(a);
    if (a->dtype == d && n)
        memcpy(to, a->data, (size_t)(n * ts_dtype_bytes(d)));
    for (int64_t i = 0; a->dtype != d && i < n; i++)
        store_real(d, to, i, load_real(a->dtype, a->data, i));
}

bool ts_array_make(ts_array *a, ts_dtype d, int rank, const int64_t *dim, ts_error *e)
{
    *a = (ts_array){.dtype = TS_N_DTYPE};
    type t = {.dtype = d, .rank = rank};
    if (rank > 0 && !dim)
        return err_set(e, TS_BAD_INPUT, "an array of rank %d: the list of its extents is missing", rank);
    for (int i = 0; i < rank && i < MAX_RANK; i++)
        t.dim[i] = dim[i];
    if (!type_valid(&t, e))
        return false;
    int64_t bytes = type_bytes(&t);
    void *data = block_get((size_t)bytes);
    if (!data)
        return err_memory(e, (size_t)bytes, "an array %s", type_said(&t).s);
    *a = (ts_array){.dtype = d, .rank = rank, .data = data};
    for (int i = 0; i < rank; i++)
        a->dim[i] = dim[i];
    return true;
}

void ts_array_free(ts_array *a)
{
    if (!a)
        return;
    memory_free(a->data);
    *a = (ts_array){.dtype = TS_N_DTYPE};
}

int64_t ts_array_count(const ts_array *a)
{
    int64_t n = a != NULL;
    for (int i = 0; a && i < a->rank; i++)
        n *= a->dim[i];
    return n;
}

double ts_array_at(const ts_array *a, int64_t i)
{
    return load_real(a->dtype, a->data, i);
}

void ts_array_set(ts_array *a, int64_t i, double v)
{
    store_real(a->dtype, a->data, i, v);
}

/* Real values lie in [-1, 1) and are exact in f32; half types round them. Integers: where nothing is known of an input,
 * 0 and 1 are the values that masks, segment numbers and token ids all accept. */
void ts_array_random(ts_array *a, uint64_t seed, int64_t below)
{
    bool real = dtype_class(a->dtype) == D_REAL;
    uint64_t range = below > 0 ? (uint64_t)below : 2;
    int64_t n = ts_array_count(a);
    for (int64_t i = 0; i < n; i++) {
        if (real)
            store_real(a->dtype, a->data, i, random_unit(seed, (uint64_t)i));
        else
            store_whole(a->dtype, a->data, i, (int64_t)(random_bits(seed, (uint64_t)i) % range));
    }
}
