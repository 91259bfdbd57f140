/* splice.h - a message of the wire format put together from pieces of a file and new ones, so that what is not changed
 * is copied through byte for byte, fields that nobody here knows too. Pieces are borrowed and have to outlive the
 * splice; the list and the new bytes are its arena's. What is walked was scanned before (scan.h). */
#pragma once
#include "graph/base/base.h"

typedef struct piece {
    const void *at;
    size_t size;
} piece;

typedef struct splice {
    arena *mem;
    piece *all;
    int n, cap;
    size_t size; /* bytes of all pieces */
} splice;

void splice_add(splice *s, const void *p, size_t n);
void splice_number(splice *s, int field, uint64_t v);
void splice_bytes(splice *s, int field, const void *p, size_t n);
void splice_text(splice *s, int field, const char *v);
void splice_message(splice *s, int field, const splice *inner);

/* A field as it lies in a message: all of it, and what is in it where it has a length. */
typedef struct wire_field {
    int number;
    piece whole, inner;
} wire_field;
bool wire_next(piece *rest, wire_field *out); /* takes one off; false at the end */
