/* tensor.c - a file states numbers raw, in one of six typed fields, packed or not, or in a file beside it; all are
 * held against the count that the shape wants before one is read. */
#include "import/onnx/tensor.h"
#include "graph/ir/rule.h"
#include "import/onnx/scan.h"

#include <stdio.h>
#include <string.h>

typedef enum kind { RAW, FLOATS, INT32S, INT64S, DOUBLES, UINT64S, STRINGS, N_KIND } kind;
static const char *const kind_name[N_KIND] = {"raw", "float", "int32", "int64", "double", "uint64", "string"};
enum { MAX_WHAT = 600 };

/* Where a tensor's bytes lie: one or more pieces of the file. */
typedef struct payload {
    kind kind;
    size_t n;
    const ProtobufCBinaryData *piece; /* a span each */
} payload;

/* Data types of the format that are no dtype here, by their numbers. */
static const struct {
    int code;
    const char *name;
} foreign[] = {{8, "string"}, {14, "complex64"}, {15, "complex128"}};

static void *from_arena(void *mem, size_t size)
{
    return arena_get(mem, size);
}

static void leave(void *mem, void *p)
{
    (void)mem, (void)p;
}

ProtobufCAllocator onnx_allocator(arena *mem)
{
    return (ProtobufCAllocator){.alloc = from_arena, .free = leave, .allocator_data = mem};
}

bool onnx_element(int code, const char *what, dtype *out, err *e)
{
    if (onnx_dtype(code, out, NULL))
        return true;
    for (int i = 0; i < COUNT(foreign); i++)
        if (foreign[i].code == code)
            return err_set(e, TS_UNSUPPORTED, "elements of type %s", foreign[i].name);
    return err_set(e, TS_BAD_INPUT, "M019 %s: element type %d is none of the format's", what, code);
}

/* The typed field that may carry elements of d. */
static kind typed_kind(dtype d)
{
    switch (d) {
    case TS_F32: return FLOATS;
    case TS_F64: return DOUBLES;
    case TS_I64: return INT64S;
    case TS_U32:
    case TS_U64: return UINT64S;
    default: return INT32S;
    }
}

static bool read_shape(const Onnx__Tensor *t, const char *what, ts_array *out, err *e)
{
    int64_t count = 1;
    if (t->n_dims > MAX_RANK)
        return err_set(e, TS_BAD_INPUT, "M020 %s: rank %zu, limit %d", what, t->n_dims, MAX_RANK);
    out->rank = (int)t->n_dims;
    for (int i = 0; i < out->rank; i++) {
        out->dim[i] = t->dims[i];
        if (out->dim[i] < 0)
            return err_set(e, TS_BAD_INPUT, "M020 %s: dim[%d] = %lld", what, i, (long long)out->dim[i]);
        if (!int_mul(count, out->dim[i] ? out->dim[i] : 1, &count) || count > MODEL_ELEMENTS)
            return err_set(e, TS_BAD_INPUT, "M021 %s: dim[%d] = %lld makes more than 2^%d elements", what, i,
                           (long long)out->dim[i], MODEL_ELEMENTS_LOG2);
    }
    return true;
}

/* ---- payload in the file itself ---- */
static bool find_payload(const Onnx__Tensor *t, const char *what, payload *out, err *e)
{
    const payload all[N_KIND] = {
        {RAW, t->has_raw_data, &t->raw_data},        {FLOATS, t->n_float_data, t->float_data},
        {INT32S, t->n_int32_data, t->int32_data},    {INT64S, t->n_int64_data, t->int64_data},
        {DOUBLES, t->n_double_data, t->double_data}, {UINT64S, t->n_uint64_data, t->uint64_data},
        {STRINGS, t->n_string_data, t->string_data},
    };
    *out = (payload){.kind = RAW};
    for (int i = 0; i < N_KIND; i++) {
        if (all[i].n > 0 && out->n > 0)
            return err_set(e, TS_BAD_INPUT, "M022 %s: both %s and %s data", what, kind_name[out->kind], kind_name[i]);
        if (all[i].n > 0)
            *out = all[i];
    }
    return true;
}

static span piece_at(const payload *p, size_t i)
{
    span s;
    MUST(p->piece[i].len == sizeof s);
    memcpy(&s, p->piece[i].data, sizeof s);
    return s;
}

static bool decoded(onnx_source *s, size_t bytes, const char *what, void **out, err *e)
{
    if (bytes > ONNX_DECODED - s->decoded)
        return err_set(
            e, TS_MEMORY,
            "M027 %s: typed tensor fields of the file need %zu bytes or more, at most %d expected; raw data is mapped",
            what, s->decoded + bytes, ONNX_DECODED);
    s->decoded += bytes;
    *out = arena_get(&s->file->mem, bytes);
    return true;
}

/* Data that is in the file as it is in memory: pointed to, or put together when it comes in pieces. */
static bool plain_data(onnx_source *s, const payload *p, size_t bytes, const char *what, void **out, err *e)
{
    uint64_t total = 0;
    for (size_t i = 0; i < p->n; i++)
        total += piece_at(p, i).size;
    if (total != bytes)
        return err_set(e, TS_BAD_INPUT, "M022 %s: %llu bytes of %s data, shape needs %zu", what,
                       (unsigned long long)total, kind_name[p->kind], bytes);
    if (p->n <= 1) {
        *out = (void *)(uintptr_t)(p->n ? s->file->map.at + piece_at(p, 0).at : (const unsigned char *)"");
        return true;
    }
    if (!decoded(s, bytes, what, out, e))
        return false;
    char *to = *out;
    for (size_t i = 0; i < p->n; i++) {
        const span from = piece_at(p, i);
        memcpy(to, s->file->map.at + from.at, (size_t)from.size);
        to += from.size;
    }
    return true;
}

/* The next varint before end; false when it is not complete. */
static bool next_varint(const unsigned char **at, const unsigned char *end, int64_t *out)
{
    uint64_t v = 0;
    for (unsigned shift = 0; *at < end && shift < 70; shift += 7) {
        const unsigned char byte = *(*at)++;
        if (shift < 63 || byte <= 1)
            v |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out = (int64_t)v;
            return true;
        }
    }
    return false;
}

/* Reals that are written as their bits, and packed integers, of which a value holds several. */
static bool is_bits(dtype d)
{
    return d == TS_F16 || d == TS_BF16 || dtype_small(d);
}

static bool fits(dtype d, int64_t v)
{
    const int bits = 8 * ts_dtype_bytes(d);
    if (d == TS_BOOL)
        return v == 0 || v == 1;
    if (bits == 64)
        return true;
    if (dtype_small(d)) /* a byte, which some write with a sign */
        return v >= INT8_MIN && v <= UINT8_MAX;
    if (is_bits(d) || !dtype_signed(d))
        return v >= 0 && v < INT64_C(1) << bits;
    return v >= -(INT64_C(1) << (bits - 1)) && v < INT64_C(1) << (bits - 1);
}

/* Decodes into to (NULL: only counts); gives the number of values, or -1 and an error. */
static int64_t decode(const onnx_source *s, const payload *p, dtype d, const char *what, void *to, err *e)
{
    const dtype as = !is_bits(d) ? d : dtype_bits(d) == 16 ? TS_U16 : TS_U8;
    int64_t n = 0, v;
    for (size_t i = 0; i < p->n; i++) {
        const span from = piece_at(p, i);
        const unsigned char *at = s->file->map.at + from.at, *end = at + from.size;
        for (; at < end; n++) {
            const bool ok = next_varint(&at, end, &v);
            if (!ok || !fits(d, v)) {
                err_set(e, TS_BAD_INPUT, "M022 %s: element %lld of its %s data is not a value of %s", what,
                        (long long)n, kind_name[p->kind], ts_dtype_name(d));
                return -1;
            }
            if (to)
                store_whole(as, to, n, v);
        }
    }
    return n;
}

/* Bytes of a's elements in a file: those of fewer than 8 bits share bytes. */
static size_t packed_bytes(const ts_array *a)
{
    const size_t n = (size_t)ts_array_count(a), bits = (size_t)dtype_bits(a->dtype);
    return bits < 8 ? n / (8 / bits) + (n % (8 / bits) != 0) : n * (size_t)ts_dtype_bytes(a->dtype);
}

/* Elements that share bytes, the first one in the lowest bits, come to have one each. */
static bool unpack(onnx_source *s, ts_array *a, const char *what, err *e)
{
    const int bits = dtype_bits(a->dtype), each = 8 / bits;
    const uint8_t *from = a->data;
    void *to = NULL;
    if (bits >= 8)
        return true;
    if (!decoded(s, (size_t)ts_array_count(a), what, &to, e))
        return false;
    const bool real = dtype_class(a->dtype) == D_REAL;
    for (int64_t i = 0, n = ts_array_count(a); i < n; i++) {
        const int v = from[i / each] >> (bits * (int)(i % each)) & ((1 << bits) - 1);
        store_whole(real ? TS_U8 : a->dtype, to, i, v);
    }
    a->data = to;
    return true;
}

static bool varint_data(onnx_source *s, const payload *p, const ts_array *a, const char *what, void **out, err *e)
{
    const int64_t n = decode(s, p, a->dtype, what, NULL, e), want = (int64_t)packed_bytes(a) / ts_dtype_bytes(a->dtype);
    if (n < 0)
        return false;
    if (n != want)
        return err_set(e, TS_BAD_INPUT, "M022 %s: %lld values of %s data, shape needs %lld", what, (long long)n,
                       kind_name[p->kind], (long long)want);
    if (!decoded(s, (size_t)n * (size_t)ts_dtype_bytes(a->dtype), what, out, e))
        return false;
    return decode(s, p, a->dtype, what, *out, e) == n;
}

/* ---- payload in another file ---- */
static bool read_number(const char *s, uint64_t *out)
{
    uint64_t v = 0;
    if (!*s || strlen(s) > 18)
        return false;
    for (; *s; s++) {
        if (*s < '0' || *s > '9')
            return false;
        v = v * 10 + (uint64_t)(*s - '0');
    }
    *out = v;
    return true;
}

/* Keys other than these three say nothing that is needed to find the bytes; they are ignored, never stored. */
static bool external_data(onnx_source *s, const Onnx__Tensor *t, uint64_t bytes, const char *what, void **out, err *e)
{
    external_range r = {.size = bytes};
    uint64_t length = bytes;
    for (size_t i = 0; i < t->n_external_data; i++) {
        const char *key = t->external_data[i]->key, *value = t->external_data[i]->value;
        if (!key || !value)
            continue;
        uint64_t *number = !strcmp(key, "offset") ? &r.offset : !strcmp(key, "length") ? &length : NULL;
        if (!strcmp(key, "location"))
            r.location = value;
        else if (number && !read_number(value, number))
            return err_set(e, TS_BAD_INPUT, "X003 %s: external %s \"%s\" is not a number of bytes", what, key, value);
    }
    if (!r.location)
        return err_set(e, TS_BAD_INPUT, "X002 %s: external data without a location", what);
    if (length && length != bytes) /* 0: as much as the shape needs */
        return err_set(e, TS_BAD_INPUT, "M022 %s: %llu bytes of external data, shape needs %llu", what,
                       (unsigned long long)length, (unsigned long long)bytes);
    const unsigned char *p;
    if (!external_get(&s->file->external, &r, what, &p, e))
        return false;
    *out = (void *)(uintptr_t)p;
    return true;
}

bool onnx_external(onnx_source *s, const Onnx__Tensor *t, ts_array *out, size_t *bytes, err *e)
{
    char what[MAX_WHAT];
    snprintf(what, sizeof what, "tensor \"%s\"", t->name ? t->name : "");
    *out = (ts_array){0};
    if (!onnx_element(t->data_type, what, &out->dtype, e) || !read_shape(t, what, out, e))
        return false;
    *bytes = packed_bytes(out);
    return external_data(s, t, *bytes, what, &out->data, e);
}

static bool check_truth(const ts_array *a, const char *what, err *e)
{
    const unsigned char *p = a->data;
    for (int64_t i = 0, n = ts_array_count(a); a->dtype == TS_BOOL && i < n; i++)
        if (p[i] > 1)
            return err_set(e, TS_BAD_INPUT, "M022 %s: element %lld is %d, a bool is 0 or 1", what, (long long)i, p[i]);
    return true;
}

bool onnx_tensor(onnx_source *s, const Onnx__Tensor *t, ts_array *out, err *e)
{
    char what[MAX_WHAT];
    payload p;
    *out = (ts_array){0};
    snprintf(what, sizeof what, "tensor \"%s\"", t->name ? t->name : "");
    if (!onnx_element(t->data_type, what, &out->dtype, e) || !read_shape(t, what, out, e) ||
        !find_payload(t, what, &p, e))
        return false;
    if (t->segment)
        return err_set(e, TS_UNSUPPORTED, "%s: stored in segments, data in one piece expected", what);
    const size_t bytes = packed_bytes(out);
    bool ok;
    if (t->data_location == 1)
        ok = p.n ? err_set(e, TS_BAD_INPUT, "M022 %s: both external and %s data", what, kind_name[p.kind])
                 : external_data(s, t, bytes, what, &out->data, e);
    else if (p.kind != RAW && p.kind != typed_kind(out->dtype))
        ok = err_set(e, TS_BAD_INPUT, "M022 %s: %s data for elements of type %s", what, kind_name[p.kind],
                     ts_dtype_name(out->dtype));
    else if (p.kind == RAW || p.kind == FLOATS || p.kind == DOUBLES)
        ok = plain_data(s, &p, bytes, what, &out->data, e);
    else
        ok = varint_data(s, &p, out, what, &out->data, e);
    return ok && unpack(s, out, what, e) && check_truth(out, what, e);
}
