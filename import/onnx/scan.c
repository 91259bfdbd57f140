/* scan.c - one pass over the wire format. A message's end may lie beyond the file when the file was cut; the scan goes
 * on to the last byte there is, so that the error can name the element in which the file ends. */
#include "import/onnx/scan.h"
#include "import/limits.h"
#include "import/name.h"
#include "import/onnx/onnx.pb-c.h"

#include <stdio.h>
#include <string.h>

typedef ProtobufCMessageDescriptor message;
typedef ProtobufCFieldDescriptor field;
typedef unsigned long long ull;

/* how a field is told apart on the wire: the low three bits of its tag */
enum { WIRE_VARINT = 0, WIRE_8 = 1, WIRE_LENGTH = 2, WIRE_4 = 5 };
/* of a message known here; bytes of 64 bits and of a length; the highest number of a field */
enum { MAX_FIELDS = 24, MAX_VARINT = 10, LENGTH_BYTES = 5, MAX_NUMBER = (1 << 29) - 1 };

typedef struct frame {
    const message *type;
    const field *from;         /* the field that holds this message; NULL: the file's own */
    uint32_t index;            /* which entry of it */
    uint64_t end;              /* offset behind the message */
    size_t patch;              /* where the lean copy keeps this message's length */
    uint32_t seen[MAX_FIELDS]; /* entries so far, per field */
} frame;

typedef struct scanner {
    const unsigned char *p;
    uint64_t n, at;
    bool known;              /* a declared field was met: this is the format, if perhaps a damaged file */
    uint64_t nodes, tensors; /* in the whole file, subgraphs included */
    text *lean;
    err *e;
    int depth;
    frame stack[SCAN_DEPTH + 1];
} scanner;

static uint32_t most_entries(const message *type, const field *f)
{
    static const struct {
        const message *type;
        const char *field;
        uint32_t most;
    } limit[] = {
        {&onnx__node__descriptor, "input", SCAN_PORTS},      {&onnx__node__descriptor, "output", SCAN_PORTS},
        {&onnx__node__descriptor, "attribute", SCAN_WORDS},  {&onnx__attribute__descriptor, "ints", SCAN_LIST},
        {&onnx__attribute__descriptor, "floats", SCAN_LIST}, {&onnx__tensor__descriptor, "dims", 64},
        {&onnx__tensor__descriptor, "external_data", 64},    {&onnx__tensor_shape__descriptor, "dim", 64},
        {&onnx__model__descriptor, "opset_import", 1024},
    };
    if (f->label != PROTOBUF_C_LABEL_REPEATED)
        return 1;
    for (int i = 0; i < COUNT(limit); i++)
        if (limit[i].type == type && !strcmp(limit[i].field, f->name))
            return limit[i].most;
    return SCAN_MOST;
}

/* ---- errors ---- */

/* "graph.node[3].attribute[0].name"; deep nesting is cut. */
static void add_path(text *t, const scanner *s, const field *inner)
{
    enum { SHOWN = 8 };
    for (int i = 1; i <= s->depth && i <= SHOWN; i++) {
        const frame *f = &s->stack[i];
        text_add(t, i > 1 ? ".%s" : "%s", f->from->name);
        if (f->from->label == PROTOBUF_C_LABEL_REPEATED)
            text_add(t, "[%u]", f->index);
    }
    if (s->depth > SHOWN)
        text_add(t, "...");
    if (inner)
        text_add(t, t->length ? ".%s" : "%s", inner->name);
    if (!t->length)
        text_add(t, "the file");
}

static bool fail(const scanner *s, ts_code code, const field *inner, const char *number, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
static bool fail(const scanner *s, ts_code code, const field *inner, const char *number, const char *fmt, ...)
{
    char what[160];
    ENDED_BY(text_free) text path = {0};
    va_list v;
    va_start(v, fmt);
    vsnprintf(what, sizeof what, fmt, v);
    va_end(v);
    add_path(&path, s, inner);
    return err_set(s->e, code, "%s %s in %s", number, what, text_str(&path));
}

static bool not_onnx(const scanner *s, const char *what)
{
    return err_set(s->e, TS_BAD_INPUT, "M001 not an ONNX model: %s", what);
}

static bool bad_tag(const scanner *s, uint64_t at, const char *what)
{
    char words[64];
    snprintf(words, sizeof words, "byte %llu is not a field tag", (ull)at);
    return s->known ? fail(s, TS_BAD_INPUT, NULL, "M003", "bad wire data at byte %llu: %s", (ull)at, what)
                    : not_onnx(s, words);
}

/* ---- reading ---- */

/* Whether the next k bytes belong to the message and to the file. */
static bool need(const scanner *s, uint64_t k, const field *inner)
{
    const frame *f = &s->stack[s->depth];
    if (s->depth > 0 && k > f->end - s->at)
        return fail(s, TS_BAD_INPUT, inner, "M003", "bad wire data at byte %llu: length %llu exceeds %llu remaining",
                    (ull)s->at, (ull)k, (ull)(f->end - s->at));
    if (k <= s->n - s->at)
        return true;
    const ull end = s->depth > 0 ? s->stack[1].end : k < UINT64_MAX - s->at ? s->at + k : UINT64_MAX;
    return fail(s, TS_BAD_INPUT, inner, "M002", "truncated at byte %llu of %llu", (ull)s->n, end);
}

static bool read_varint(scanner *s, const field *inner, uint64_t *out)
{
    const uint64_t start = s->at;
    *out = 0;
    for (int i = 0; i < MAX_VARINT; i++) {
        if (!need(s, 1, inner))
            return false;
        const unsigned char byte = s->p[s->at++];
        if (i < MAX_VARINT - 1 || byte <= 1)
            *out |= (uint64_t)(byte & 0x7F) << 7 * i;
        if (byte < 0x80)
            return true;
    }
    return bad_tag(s, start, "a number of more than 10 bytes");
}

/* Number of varints in the next k bytes, which exist; -1 when they do not end there or one is too long. */
static int64_t count_varints(const scanner *s, uint64_t k)
{
    int64_t n = 0;
    int run = 0;
    for (uint64_t i = 0; i < k; i++) {
        if (++run > MAX_VARINT)
            return -1;
        if (s->p[s->at + i] < 0x80)
            n++, run = 0;
    }
    return run ? -1 : n;
}

static int wire_of(const field *f)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE: return WIRE_LENGTH;
    case PROTOBUF_C_TYPE_FLOAT: return WIRE_4;
    default: return WIRE_VARINT;
    }
}

/* ---- writing ---- */
static void put_varint(text *t, uint64_t v)
{
    char byte[MAX_VARINT];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        byte[n++] = (char)(v | 0x80);
    byte[n++] = (char)v;
    text_bytes(t, byte, n);
}

static void put_tag(scanner *s, const field *f, int wire)
{
    put_varint(s->lean, (uint64_t)f->id << 3 | (unsigned)wire);
}

/* Passes k bytes on as they are. */
static void put_next(scanner *s, uint64_t k)
{
    text_bytes(s->lean, (const char *)s->p + s->at, (size_t)k);
    s->at += k;
}

static void put_span(scanner *s, const field *f, uint64_t k)
{
    const span where = {s->at, k};
    put_tag(s, f, WIRE_LENGTH);
    put_varint(s->lean, sizeof where);
    text_bytes(s->lean, (const char *)&where, sizeof where);
    s->at += k;
}

/* ---- fields ---- */
static bool enter(scanner *s, const field *f, uint32_t index, uint64_t length)
{
    const uint64_t room = (s->depth > 0 ? s->stack[s->depth].end : UINT64_MAX) - s->at;
    if (length > room)
        return need(s, length, f);
    if (s->depth == SCAN_DEPTH)
        return fail(s, TS_BAD_INPUT, NULL, "M004", "messages nested %d deep at byte %llu, at most %d expected",
                    SCAN_DEPTH + 1, (ull)s->at, SCAN_DEPTH);
    s->nodes += f->descriptor == &onnx__node__descriptor;
    s->tensors += f->descriptor == &onnx__tensor__descriptor;
    if (s->nodes > SCAN_MOST || s->tensors > SCAN_MOST)
        return fail(s, TS_BAD_INPUT, f, "M005", "%lld nodes and %lld tensors at byte %llu, at most %d of each expected",
                    (long long)s->nodes, (long long)s->tensors, (ull)s->at, SCAN_MOST);
    put_tag(s, f, WIRE_LENGTH);
    frame *inner = &s->stack[++s->depth];
    *inner = (frame){.type = f->descriptor, .from = f, .index = index, .end = s->at + length, .patch = s->lean->length};
    MUST(inner->type->n_fields <= MAX_FIELDS);
    text_bytes(s->lean, "\0\0\0\0\0", LENGTH_BYTES);
    return true;
}

static void leave(scanner *s)
{
    const frame *f = &s->stack[s->depth--];
    size_t length = s->lean->length - f->patch - LENGTH_BYTES;
    for (int i = 0; i < LENGTH_BYTES; i++, length >>= 7)
        s->lean->s[f->patch + i] = (char)((length & 0x7F) | (i < LENGTH_BYTES - 1 ? 0x80 : 0));
}

static bool read_string(scanner *s, const field *f, uint64_t length)
{
    const bool location = s->stack[s->depth].type == &onnx__string_string_entry__descriptor;
    const char *name = (const char *)s->p + s->at;
    const size_t most = location ? LOCATION_MOST : NAME_MOST;
    if (!name_check(name, (size_t)length, most, "", NULL)) {
        ENDED_BY(text_free) text path = {0};
        add_path(&path, s, f);
        name_check(name, (size_t)length, most, text_str(&path), s->e);
        return false;
    }
    put_tag(s, f, WIRE_LENGTH);
    put_varint(s->lean, length);
    put_next(s, length);
    return true;
}

/* A list of numbers written as one field; entries so far are in *seen. */
static bool read_packed(scanner *s, const field *f, uint64_t length, uint32_t *seen)
{
    const bool varints = wire_of(f) == WIRE_VARINT;
    const int64_t n = varints ? count_varints(s, length) : length % 4 ? -1 : (int64_t)(length / 4);
    if (n < 0)
        return fail(s, TS_BAD_INPUT, f, "M003", "bad wire data at byte %llu: a list that ends within a number",
                    (ull)s->at);
    const uint32_t most = most_entries(s->stack[s->depth].type, f);
    if (n + *seen > most)
        return fail(s, TS_BAD_INPUT, f, "M005", "%lld entries at byte %llu, at most %u expected",
                    (long long)(n + *seen), (ull)s->at, most);
    *seen += (uint32_t)n;
    put_tag(s, f, WIRE_LENGTH);
    put_varint(s->lean, length);
    put_next(s, length);
    return true;
}

static bool read_lengthy(scanner *s, const field *f, uint32_t *seen)
{
    uint64_t length;
    if (!read_varint(s, f, &length))
        return false;
    if (f->type == PROTOBUF_C_TYPE_MESSAGE)
        return enter(s, f, *seen - 1, length);
    if (!need(s, length, f))
        return false;
    if (f->type == PROTOBUF_C_TYPE_STRING)
        return read_string(s, f, length);
    if (f->type != PROTOBUF_C_TYPE_BYTES) {
        --*seen;
        return read_packed(s, f, length, seen);
    }
    if (s->stack[s->depth].type == &onnx__tensor__descriptor) {
        put_span(s, f, length);
        return true;
    }
    put_tag(s, f, WIRE_LENGTH);
    put_varint(s->lean, length);
    put_next(s, length);
    return true;
}

/* Bytes of the value that comes next, whose wire type is not LENGTH. */
static bool scalar_size(scanner *s, const field *f, int wire, uint64_t *out)
{
    const uint64_t start = s->at;
    uint64_t value;
    if (wire != WIRE_VARINT)
        return need(s, *out = wire == WIRE_4 ? 4 : 8, f);
    if (!read_varint(s, f, &value))
        return false;
    *out = s->at - start;
    s->at = start;
    return true;
}

static bool read_scalar(scanner *s, const field *f, int wire)
{
    uint64_t size;
    if (!scalar_size(s, f, wire, &size))
        return false;
    if (f->type == PROTOBUF_C_TYPE_BYTES) { /* an entry of a typed tensor payload, written on its own */
        put_span(s, f, size);
        return true;
    }
    put_tag(s, f, wire);
    put_next(s, size);
    return true;
}

static bool skip(scanner *s, int wire)
{
    uint64_t size;
    if (wire == WIRE_LENGTH) {
        if (!read_varint(s, NULL, &size) || !need(s, size, NULL))
            return false;
    } else if (!scalar_size(s, NULL, wire, &size))
        return false;
    s->at += size;
    return true;
}

static bool read_field(scanner *s)
{
    frame *top = &s->stack[s->depth];
    const uint64_t at = s->at;
    uint64_t tag;
    if (!read_varint(s, NULL, &tag))
        return false;
    const int wire = (int)(tag & 7);
    if (wire != WIRE_VARINT && wire != WIRE_8 && wire != WIRE_LENGTH && wire != WIRE_4)
        return bad_tag(s, at, "wire type of a group");
    if (tag >> 3 == 0 || tag >> 3 > MAX_NUMBER)
        return bad_tag(s, at, "field number out of range");
    const field *f = protobuf_c_message_descriptor_get_field(top->type, (unsigned)(tag >> 3));
    if (!f)
        return skip(s, wire);
    s->known = true;
    if (f->type == PROTOBUF_C_TYPE_STRING && top->type == &onnx__model__descriptor) /* who wrote it: not for us */
        return skip(s, wire);
    uint32_t *seen = &top->seen[f - top->type->fields];
    const uint32_t most = most_entries(top->type, f);
    if (++*seen > most && most == 1)
        return fail(s, TS_BAD_INPUT, f, "M003", "bad wire data at byte %llu: given twice", (ull)at);
    if (*seen > most)
        return fail(s, TS_BAD_INPUT, f, "M005", "%u entries at byte %llu, at most %u expected", *seen, (ull)at, most);
    const bool list = f->label == PROTOBUF_C_LABEL_REPEATED && f->type != PROTOBUF_C_TYPE_STRING &&
                      f->type != PROTOBUF_C_TYPE_MESSAGE;
    const bool payload = list && f->type == PROTOBUF_C_TYPE_BYTES && top->type == &onnx__tensor__descriptor;
    if (wire != wire_of(f) && !payload && !(list && wire == WIRE_LENGTH))
        return fail(s, TS_BAD_INPUT, f, "M003", "bad wire data at byte %llu: wire type %d, %d expected", (ull)at, wire,
                    wire_of(f));
    return wire == WIRE_LENGTH ? read_lengthy(s, f, seen) : read_scalar(s, f, wire);
}

bool onnx_scan(const unsigned char *p, size_t n, const message *root, int64_t most, text *lean, err *e)
{
    scanner s = {.p = p, .n = n, .lean = lean, .e = e};
    s.stack[0] = (frame){.type = root, .end = n};
    MUST(root->n_fields <= MAX_FIELDS);
    text_bytes(lean, "", 0);
    if (n == 0)
        return not_onnx(&s, "file is empty");
    if (n > INT32_MAX)
        return not_onnx(&s, "larger than 2 GiB, the most that the format allows; larger weights are external data");
    while (s.depth > 0 || s.at < n) {
        if (s.depth > 0 && s.at == s.stack[s.depth].end)
            leave(&s);
        else if (!read_field(&s))
            return false;
        if (lean->length > (size_t)most) {
            fail(&s, TS_MEMORY, NULL, "M005", "description of %zu bytes at byte %llu, the limit is %lld", lean->length,
                 (ull)s.at, (long long)most);
            return limits_hint("description", 2 * most, e);
        }
    }
    return true;
}
