/* npy.c - numpy's file format, versions 1.0, 2.0, 3.0: a magic, a version, the length of a header, the header, the
 * values. The header is a Python dict; only the literals that numpy writes are read, and nothing is evaluated. Fortran
 * order and foreign byte order are turned into ours. Files are untrusted: sizes are checked against the file before
 * memory is asked for. bf16 has no name in the format and is written as '<u2', its bits. */
#include "graph/ir/type.h"

#include <stdlib.h>
#include <string.h>

static const char magic[] = "\x93NUMPY";
enum { MAGIC_SIZE = 6, START_V1 = 10, START_V2 = 12, BLOCK = 64 };

typedef struct header {
    type type;
    bool fortran, swapped;
    bool has_descr, has_order, has_shape;
} header;

/* What is left of the header's text. Spaces are skipped between tokens. */
typedef struct cursor {
    const char *at, *end;
    err *e;
} cursor;

static bool bad(const cursor *c, const char *what)
{
    return err_set(c->e, TS_BAD_INPUT, "N002 bad header: %s", what);
}

/* 0 at the end, which no header holds. */
static char peek(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n'))
        c->at++;
    return c->at < c->end ? *c->at : 0;
}

/* Whether it is next; only then is it passed. */
static bool take(cursor *c, char ch)
{
    if (peek(c) != ch)
        return false;
    c->at++;
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    size_t n = strlen(word);
    peek(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

/* A quoted string without escapes, as numpy's keys and type names are; longer ones than any of those are refused. */
static bool read_string(cursor *c, char *out, size_t size)
{
    char quote = peek(c);
    if (quote != '\'' && quote != '"')
        return bad(c, "a string was expected");
    size_t n = 0;
    for (c->at++; c->at < c->end && *c->at != quote; c->at++) {
        if (n + 1 >= size)
            return err_set(c->e, TS_BAD_INPUT, "N002 bad header: a string of %zu bytes or more, at most %zu expected",
                           size, size - 1);
        if (*c->at == '\\' || *c->at < ' ')
            return err_set(c->e, TS_BAD_INPUT,
                           "N002 bad header: byte %d in a string, none below 32 and no escape expected",
                           (unsigned char)*c->at);
        out[n++] = *c->at;
    }
    out[n] = 0;
    return take(c, quote) || bad(c, "a string does not end");
}

/* Digit by digit with a check: the number may have any length. */
static bool read_extent(cursor *c, int64_t *out)
{
    char ch = peek(c);
    if (ch < '0' || ch > '9')
        return bad(c, "shape: a whole number was expected");
    const char *from = c->at;
    int64_t v = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (!int_mul(v, 10, &v) || !int_add(v, *c->at - '0', &v))
            return err_set(c->e, TS_BAD_INPUT, "N005 shape: an extent from %.*s on, at most 2^63 - 1 expected",
                           (int)(c->at - from) + 1, from);
    *out = v;
    return true;
}

/* "()", "(3,)", "(3, 4)". */
static bool read_shape(cursor *c, type *t)
{
    if (!take(c, '('))
        return bad(c, "shape is not a tuple");
    t->rank = 0;
    bool comma = true;
    while (!take(c, ')')) {
        if (t->rank == MAX_RANK)
            return err_set(c->e, TS_BAD_INPUT, "N005 shape: %d extents or more, at most %d expected", MAX_RANK + 1,
                           MAX_RANK);
        if (!comma || !read_extent(c, &t->dim[t->rank]))
            return comma ? false : bad(c, "shape: a comma is missing");
        t->rank++;
        comma = take(c, ',');
    }
    /* (3) is a number in Python, not a tuple. */
    return t->rank != 1 || comma || bad(c, "shape is a number, not a tuple");
}

/* Objects are pickles, programs that numpy would run: they are named apart, and never read. */
static bool refuse_descr(cursor *c, const char *descr)
{
    if (strchr(descr, 'O')) {
        err_set(c->e, TS_BAD_INPUT, "N003 object arrays are not accepted");
        return err_hint(c->e, "save numbers, as in numpy.asarray(a, dtype=numpy.float32)");
    }
    ENDED_BY(text_free) text shown = {0};
    text_safe(&shown, descr);
    err_set(c->e, TS_BAD_INPUT, "N004 data type '%s' is not supported", text_str(&shown));
    return err_hint(c->e, "save the array as float32, float64, float16, bool or an integer type");
}

/* '<f4': byte order, kind, bytes. */
static bool read_descr(cursor *c, header *h)
{
    static const struct {
        const char *name;
        dtype dtype;
    } known[] = {{"f4", TS_F32}, {"f8", TS_F64}, {"f2", TS_F16}, {"i8", TS_I64}, {"i4", TS_I32}, {"i2", TS_I16},
                 {"i1", TS_I8},  {"u8", TS_U64}, {"u4", TS_U32}, {"u2", TS_U16}, {"u1", TS_U8},  {"b1", TS_BOOL}};
    char descr[32];
    if (peek(c) == '[')
        return err_set(c->e, TS_BAD_INPUT,
                       "N004 descr is a list of fields, one element type expected: records are not supported");
    if (!read_string(c, descr, sizeof descr))
        return false;
    for (int i = 0; i < COUNT(known); i++)
        if (descr[0] && strcmp(descr + 1, known[i].name) == 0) {
            bool single = ts_dtype_bytes(known[i].dtype) == 1;
            if (descr[0] != '<' && descr[0] != '>' && !(single && descr[0] == '|'))
                break;
            h->type.dtype = known[i].dtype;
            h->swapped = descr[0] == '>' && !single;
            return true;
        }
    return refuse_descr(c, descr);
}

/* 'key': value. Every key once, none that is not known. */
static bool read_entry(cursor *c, header *h)
{
    char key[16];
    if (!read_string(c, key, sizeof key))
        return false;
    if (!take(c, ':'))
        return bad(c, "a colon is missing");
    bool *seen = strcmp(key, "descr") == 0           ? &h->has_descr
                 : strcmp(key, "fortran_order") == 0 ? &h->has_order
                 : strcmp(key, "shape") == 0         ? &h->has_shape
                                                     : NULL;
    if (!seen || *seen)
        return bad(c, seen ? "a key is there twice" : "a key other than descr, fortran_order, shape");
    *seen = true;
    if (seen == &h->has_descr)
        return read_descr(c, h);
    if (seen == &h->has_shape)
        return read_shape(c, &h->type);
    h->fortran = take_word(c, "True");
    return h->fortran || take_word(c, "False") || bad(c, "fortran_order is neither True nor False");
}

/* A comma may stand behind the last entry, as numpy writes it. */
static bool read_dict(cursor *c, header *h)
{
    if (!take(c, '{'))
        return bad(c, "it is not a dict");
    for (bool comma = true; !take(c, '}'); comma = take(c, ','))
        if (!comma || !read_entry(c, h))
            return comma ? false : bad(c, "a comma or the closing brace is missing");
    if (peek(c) != 0 || c->at != c->end)
        return bad(c, "something follows the dict");
    return (h->has_descr && h->has_order && h->has_shape) || bad(c, "descr, fortran_order or shape is missing");
}

/* Finds where the values start. */
static bool read_header(const mapping *m, header *h, size_t *start, err *e)
{
    if (m->size < START_V1)
        return err_set(e, TS_BAD_INPUT, "N001 not an npy file: it has %zu bytes", m->size);
    if (memcmp(m->at, magic, MAGIC_SIZE) != 0)
        return err_set(e, TS_BAD_INPUT,
                       "N001 not an npy file: it begins with %02x %02x %02x, 93 4e 55 (\\x93NUMPY) expected", m->at[0],
                       m->at[1], m->at[2]);
    int major = m->at[6], minor = m->at[7];
    if (major < 1 || major > 3 || minor != 0)
        return err_set(e, TS_BAD_INPUT, "N001 npy version %d.%d is not 1.0, 2.0 or 3.0", major, minor);
    size_t length = m->at[8] | (size_t)m->at[9] << 8, from = START_V1;
    if (major > 1) {
        if (m->size < START_V2)
            return err_set(e, TS_BAD_INPUT, "N002 bad header: the file has %zu bytes, expected %d or more", m->size,
                           START_V2);
        length |= (size_t)m->at[10] << 16 | (size_t)m->at[11] << 24;
        from = START_V2;
    }
    if (length > m->size - from)
        return err_set(e, TS_BAD_INPUT, "N002 bad header: %zu bytes, but only %zu remain", length, m->size - from);
    *start = from + length;
    cursor c = {.at = (const char *)m->at + from, .end = (const char *)m->at + *start, .e = e};
    return read_dict(&c, h);
}

/* Copies one element, in our byte order. */
static void copy_element(unsigned char *to, const unsigned char *from, int bytes, bool swapped)
{
    for (int i = 0; i < bytes; i++)
        to[i] = from[swapped ? bytes - 1 - i : i];
}

/* Walks the result in row-major order; `from` follows with Fortran strides, the first axis contiguous. */
static void copy_values(ts_array *a, const unsigned char *from, bool fortran, bool swapped)
{
    int bytes = ts_dtype_bytes(a->dtype), rank = a->rank;
    int64_t count = ts_array_count(a), index[MAX_RANK] = {0}, stride[MAX_RANK], at = 0;
    for (int i = 0, step = fortran ? 0 : rank - 1; i < rank; i++, step += fortran ? 1 : -1) {
        int before = fortran ? step - 1 : step + 1;
        stride[step] = i == 0 ? bytes : stride[before] * a->dim[before];
    }
    for (int64_t n = 0; n < count; n++) {
        copy_element((unsigned char *)a->data + n * bytes, from + at, bytes, swapped);
        for (int i = rank - 1; i >= 0; i--) {
            at += stride[i];
            if (++index[i] < a->dim[i])
                break;
            at -= stride[i] * a->dim[i];
            index[i] = 0;
        }
    }
}

/* The bytes must be exactly those of the shape: no memory is asked for before that is known. */
static bool read_values(const mapping *m, ts_array *out, err *e)
{
    header h = {0};
    size_t start = 0;
    if (!read_header(m, &h, &start, e))
        return false;
    err own = {0};
    if (!type_valid(&h.type, &own)) /* whatever it would cost: the file does not hold it */
        return err_set(e, TS_BAD_INPUT, "N005 shape: %s", own.text);
    size_t need = (size_t)type_bytes(&h.type), have = m->size - start;
    if (need != have) {
        err_set(e, TS_BAD_INPUT, "N006 %zu bytes of values, but %s needs %zu", have, type_said(&h.type).s, need);
        return err_hint(e, have < need ? "the file is truncated" : "bytes follow the values");
    }
    if (!ts_array_make(out, h.type.dtype, h.type.rank, h.type.dim, e))
        return false;
    if (h.swapped || (h.fortran && h.type.rank > 1))
        copy_values(out, m->at + start, h.fortran, h.swapped);
    else if (need > 0)
        memcpy(out->data, m->at + start, need);
    if (out->dtype == TS_BOOL) /* a byte of 2 would be a truth value that equals neither */
        for (int64_t i = 0, n = ts_array_count(out); i < n; i++)
            store_whole(TS_BOOL, out->data, i, load_whole(TS_BOOL, out->data, i));
    return true;
}

/* On failure out is an empty array. */
bool ts_npy_read(const char *path, ts_array *out, ts_error *e)
{
    err own = {0};
    *out = (ts_array){.dtype = TS_N_DTYPE};
    mapping m;
    if (!file_map(path, &m, e))
        return false;
    bool done = read_values(&m, out, &own);
    file_unmap(&m);
    if (!done && e && !err_is(e)) {
        *e = own;
        err_in(e, "%s", path);
    }
    return done;
}

/* As which it is stored: bits, where the format has no name. */
dtype dtype_in_npy(dtype d)
{
    if (d != TS_BF16 && !(dtype_class(d) == D_REAL && dtype_small(d)))
        return d;
    return ts_dtype_bytes(d) == 2 ? TS_U16 : TS_U8;
}

static char kind_letter(dtype d)
{
    d = dtype_in_npy(d);
    dclass c = dtype_class(d);
    return c == D_REAL ? 'f' : c == D_TRUTH ? 'b' : dtype_signed(d) ? 'i' : 'u';
}

/* Magic to the end of the header, padded so that the values are aligned for every vector unit. */
static void print_start(text *t, const ts_array *a)
{
    int bytes = ts_dtype_bytes(a->dtype);
    ENDED_BY(text_free) text dict = {0};
    text_add(&dict, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (", bytes > 1 ? '<' : '|',
             kind_letter(a->dtype), bytes);
    for (int i = 0; i < a->rank; i++)
        text_add(&dict, "%s%lld", i ? ", " : "", (long long)a->dim[i]);
    text_add(&dict, a->rank == 1 ? ",), }" : "), }");
    size_t pad = BLOCK - (START_V1 + dict.length + 1) % BLOCK;
    text_add(&dict, "%*s\n", (int)(pad % BLOCK), "");
    const char start[] = {1, 0, (char)(dict.length & 0xFF), (char)(dict.length >> 8)};
    text_bytes(t, magic, MAGIC_SIZE);
    text_bytes(t, start, sizeof start);
    text_bytes(t, dict.s, dict.length);
}

/* Whole or not at all: file_save goes by way of a rename. */
bool ts_npy_write(const char *path, const ts_array *a, ts_error *e)
{
    if (!err_given(path, "the path of a file", e) || !array_sound(a, "the array to be written", e))
        return false;
    type y = {.dtype = a->dtype, .rank = a->rank};
    memcpy(y.dim, a->dim, sizeof y.dim);
    ENDED_BY(text_free) text start = {0};
    print_start(&start, a);
    size_t bytes = (size_t)type_bytes(&y), total;
    ENDED_BY(heap_free) char *whole = size_add(start.length, bytes, &total) ? malloc(total) : NULL;
    if (whole) {
        memcpy(whole, start.s, start.length);
        if (bytes > 0)
            memcpy(whole + start.length, a->data, bytes);
    }
    return whole ? file_save(path, whole, total, e) : err_memory(e, bytes, "what '%s' is to hold", path);
}
