/* A message of protocol buffers as a list of fields: a tag, then a varint, 4 or 8 bytes, or a length and as many bytes,
 * which may be a message again. Changing a field inside changes the lengths around it. */
#include "tests/fuzz/mutate.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FIELDS = 200, MOST_NUMBER = 64, DEPTH = 12 };
typedef struct field {
    uint64_t tag, value; /* value: of a varint */
    piece all, load;     /* all: with its tag; load: what follows tag and length */
} field;

static bool varint(piece *s, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; s->n > 0 && shift < 64; shift += 7) {
        const uint8_t byte = *s->at;
        s->at++, s->n--;
        *out |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

static void put_varint(text *t, uint64_t v)
{
    do {
        const char byte = (char)(v > 127 ? v | 128 : v);
        text_bytes(t, &byte, 1);
    } while (v >>= 7);
}

static bool next_field(piece *s, field *f)
{
    f->all = *s;
    if (!varint(s, &f->tag) || f->tag >> 3 == 0 || f->tag >> 3 > MOST_NUMBER)
        return false;
    size_t n = 0;
    f->load = *s;
    switch (f->tag & 7) {
    case 0:
        if (!varint(s, &f->value))
            return false;
        break;
    case 1: n = 8; break;
    case 2:
        if (!varint(s, &f->value) || f->value > s->n)
            return false;
        n = (size_t)f->value, f->load = *s;
        break;
    case 5: n = 4; break;
    default: return false;
    }
    if (n > s->n)
        return false;
    s->at += n, s->n -= n;
    f->load.n = (size_t)(s->at - f->load.at);
    f->all.n = (size_t)(s->at - f->all.at);
    return true;
}

/* -1: not a message. */
static int fields(piece s, field *out)
{
    int n = 0;
    while (s.n > 0)
        if (n == MOST_FIELDS || !next_field(&s, &out[n++]))
            return -1;
    return n;
}

static void put_piece(text *t, piece p)
{
    text_bytes(t, (const char *)p.at, p.n);
}

static void put_load(text *t, uint64_t tag, const char *s, size_t n)
{
    put_varint(t, tag), put_varint(t, n), text_bytes(t, s, n);
}

/* Any field of that tag, anywhere in the message, or of any tag. */
static bool find_like(dice *d, piece in, const uint64_t *tag, field *out)
{
    field *f = reallocarray(NULL, MOST_FIELDS, sizeof *f);
    MUST(f);
    bool found = false;
    for (int depth = 0; depth < DEPTH; depth++) {
        const int n = fields(in, f);
        if (n <= 0)
            break;
        for (int tries = 0; tries < 8 && !(found && dice_below(d, 2)); tries++) {
            const field *one = &f[dice_below(d, (size_t)n)];
            if (!tag || one->tag == *tag)
                *out = *one, found = true;
        }
        const field *inner = &f[dice_below(d, (size_t)n)];
        if ((inner->tag & 7) != 2)
            break;
        in = inner->load;
    }
    free(f);
    return found;
}

static uint64_t odd_number(dice *d, uint64_t old)
{
    static const uint64_t some[] = {0,          1,
                                    2,          3,
                                    5,          7,
                                    16,         127,
                                    255,        65536,
                                    INT32_MAX,  (uint64_t)INT32_MIN,
                                    INT64_MAX,  (uint64_t)INT64_MIN,
                                    UINT64_MAX, UINT64_MAX - 1};
    switch (dice_below(d, 4)) {
    case 0: return old + 1;
    case 1: return old - 1;
    case 2: return old ^ (UINT64_C(1) << dice_below(d, 16));
    default: return some[dice_below(d, COUNT(some))];
    }
}

static void change_bytes(dice *d, const field *f, text *out)
{
    text load = {0};
    put_piece(&load, f->load);
    switch (dice_below(d, 4)) {
    case 0: {
        const char *name = mutate_operator(d);
        load.length = 0;
        text_bytes(&load, name, strlen(name));
        break;
    }
    case 1: load.length = dice_below(d, load.length + 1); break;
    case 2: put_piece(&load, f->load); break;
    default:
        for (size_t k = 1 + dice_below(d, 3); k > 0 && load.length > 0; k--)
            load.s[dice_below(d, load.length)] = (char)dice_below(d, 256);
    }
    put_load(out, f->tag, text_str(&load), load.length);
    text_free(&load);
}

static void change(dice *d, const field *f, text *out)
{
    if ((f->tag & 7) == 0)
        put_varint(out, f->tag), put_varint(out, odd_number(d, f->value));
    else if ((f->tag & 7) == 2)
        change_bytes(d, f, out);
    else {
        put_varint(out, f->tag);
        for (size_t i = 0; i < f->load.n; i++) {
            const char byte = (char)(dice_below(d, 4) ? f->load.at[i] : dice_below(d, 256));
            text_bytes(out, &byte, 1);
        }
    }
}

static bool message(dice *d, piece in, piece whole, piece other, int depth, text *out);

/* One field, changed in place or within. */
static void change_field(dice *d, const field *f, piece whole, piece other, int depth, text *out)
{
    text inner = {0};
    field like;
    if ((f->tag & 7) == 2 && depth < DEPTH && dice_below(d, 5) &&
        message(d, f->load, whole, other, depth + 1, &inner)) {
        put_load(out, f->tag, text_str(&inner), inner.length);
        text_free(&inner);
        return;
    }
    text_free(&inner);
    switch (dice_below(d, other.n ? 8 : 7)) {
    case 0: break; /* gone */
    case 1: put_piece(out, f->all), put_piece(out, f->all); break;
    case 2:
    case 7:
        if (find_like(d, other.n ? other : whole, &f->tag, &like)) {
            put_piece(out, like.all);
            break;
        }
        change(d, f, out);
        break;
    case 3:
        put_piece(out, f->all);
        if (find_like(d, other.n ? other : whole, NULL, &like))
            put_piece(out, like.all);
        break;
    default: change(d, f, out);
    }
}

static bool message(dice *d, piece in, piece whole, piece other, int depth, text *out)
{
    field *f = reallocarray(NULL, MOST_FIELDS, sizeof *f);
    MUST(f);
    const int n = in.n ? fields(in, f) : -1;
    /* A field is met as often as its bytes say, or all as often. */
    int chosen = n > 0 ? (int)dice_below(d, (size_t)n) : 0;
    if (n > 0 && dice_below(d, 2)) {
        const uint8_t *at = in.at + dice_below(d, in.n);
        for (chosen = 0; chosen + 1 < n && f[chosen + 1].all.at <= at;)
            chosen++;
    }
    const int turned = n > 1 && !dice_below(d, 12) ? (int)dice_below(d, (size_t)n) : -1; /* changes places with it */
    for (int i = 0; i < n; i++)
        if (turned >= 0)
            put_piece(out, f[i == chosen ? turned : i == turned ? chosen : i].all);
        else if (i == chosen)
            change_field(d, &f[i], whole, other, depth, out);
        else
            put_piece(out, f[i].all);
    free(f);
    return n > 0;
}

bool mutate_wire(dice *d, piece in, piece other, text *out)
{
    return message(d, in, in, other, 0, out);
}
