/* splice.c - tags, numbers and lengths of the wire format. */
#include "import/onnx/splice.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_8 = 1, WIRE_LENGTH = 2, WIRE_4 = 5, MAX_VARINT = 10 };

void splice_add(splice *s, const void *p, size_t n)
{
    piece *last = s->n ? &s->all[s->n - 1] : NULL;
    s->size += n;
    if (last && (const char *)last->at + last->size == p) {
        last->size += n;
    } else if (n > 0) {
        s->all = arena_grown(s->mem, s->all, s->n, &s->cap, sizeof *s->all);
        s->all[s->n++] = (piece){p, n};
    }
}

static void add_varint(splice *s, uint64_t v)
{
    unsigned char *to = arena_get(s->mem, MAX_VARINT);
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        to[n++] = (unsigned char)(v | 0x80);
    to[n++] = (unsigned char)v;
    splice_add(s, to, n);
}

void splice_number(splice *s, int field, uint64_t v)
{
    add_varint(s, (uint64_t)field << 3 | WIRE_VARINT);
    add_varint(s, v);
}

static void add_length(splice *s, int field, size_t n)
{
    add_varint(s, (uint64_t)field << 3 | WIRE_LENGTH);
    add_varint(s, n);
}

void splice_bytes(splice *s, int field, const void *p, size_t n)
{
    add_length(s, field, n);
    splice_add(s, p, n);
}

void splice_text(splice *s, int field, const char *v)
{
    splice_bytes(s, field, v, strlen(v));
}

void splice_message(splice *s, int field, const splice *inner)
{
    add_length(s, field, inner->size);
    for (int i = 0; i < inner->n; i++)
        splice_add(s, inner->all[i].at, inner->all[i].size);
}

static uint64_t take_varint(piece *rest)
{
    const unsigned char *p = rest->at;
    uint64_t v = 0;
    size_t n = 0;
    do {
        MUST(n < rest->size && n < MAX_VARINT);
        v |= (uint64_t)(p[n] & 0x7F) << 7 * n;
    } while (p[n++] >= 0x80);
    *rest = (piece){p + n, rest->size - n};
    return v;
}

bool wire_next(piece *rest, wire_field *out)
{
    if (!rest->size)
        return false;
    const char *from = rest->at;
    const uint64_t tag = take_varint(rest);
    const int wire = tag & 7;
    size_t n = wire == WIRE_8 ? 8 : wire == WIRE_4 ? 4 : 0;
    if (wire == WIRE_VARINT)
        take_varint(rest);
    else if (wire == WIRE_LENGTH)
        n = (size_t)take_varint(rest);
    MUST(n <= rest->size && (wire <= WIRE_LENGTH || wire == WIRE_4));
    const char *at = rest->at;
    *out = (wire_field){(int)(tag >> 3), {from, (size_t)(at - from) + n}, {at, n}};
    *rest = (piece){at + n, rest->size - n};
    return true;
}
