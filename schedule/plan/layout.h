/* layout.h - where the elements of a tensor lie. A layout is a list of digits from outside in: digit i counts
 * rest / step, stride elements apart, where rest is what the dimension's digits outside it leave of the subscript (mod
 * their steps, which need not divide each other) and lies below span: the extent, then the step before.
 * "i/64 j/64 i/8 j/16 i j" is a two-level tiled matrix. A ragged last block is padded; what lies in
 * padding is unspecified. A layout is a plain value; indices are of the space given, and elements stay the caller's. */
#pragma once
#include "graph/affine/index.h"

enum { MAX_DIGIT = 16 };
typedef struct digit {
    int dim;
    int64_t step, span, stride;
} digit;
typedef struct layout {
    int n;
    digit digit[MAX_DIGIT];
    int64_t size; /* elements, padding included */
} layout;

void layout_rows(layout *y, const type *t); /* row-major */
bool layout_is_rows(const layout *y, const type *t);
bool layout_in_blocks(const layout *y); /* some dimension goes in steps of more than one element */
bool layout_same(const layout *a, const layout *b);
/* Appends a digit for dim: subscript / step within span. layout_seal computes strides and size when all are there and
 * merges neighbours of one dimension; false when a dimension of more than one element never reaches step 1. */
bool layout_digit(layout *y, int dim, int64_t step, int64_t span);
bool layout_seal(layout *y, const type *t);
/* "n/48 k n", dimensions by the letters given, or by their number, d0, d1, ...; several of one letter are walked as
 * one, from outside in, and "" is none; layout_print writes what layout_parse reads. tile: by dimension, what
 * "n/tile" stands for, 0 for nothing; NULL: for nothing anywhere. */
bool layout_parse(layout *y, const type *t, const char *const *letter, const int64_t *tile, const char *source, err *e);
void layout_print(text *t, const layout *y, const char *const *letter);
const affine *layout_offset(space *s, const layout *y, const affine *const *subscript); /* in elements */
int64_t layout_place(const layout *y, const int64_t *subscript);                        /* the same of numbers */
/* Copies a row-major tensor into the layout (padding zeroed), or part `part` of `parts` of its outermost digit. */
void layout_pack(const layout *y, const type *t, void *to, const void *from, int part, int parts);
