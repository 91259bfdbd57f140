/* fewer.h - a matrix of f32 in 8 or 4 bits, symmetric around zero. What is made is the caller's, for fewer_free. */
#pragma once
#include "graph/base/base.h"

/* w[i, j] = data[i * of_row + j * of_column], i < k, which a product sums over, j < n */
typedef struct matrix {
    const void *data; /* of f32, perhaps not aligned */
    int64_t k, n, of_row, of_column;
} matrix;

typedef struct fewer {
    char *pages; /* of all that follows */
    size_t size;
    float *scale;
    void *numbers;
    const void *zeros; /* as many as scales, of i8 */
    size_t bytes;      /* of the numbers */
    int64_t scales;    /* how many */
    double error;      /* |w - q| / |w|, the root of the sum of squares over that of w */
} fewer;

bool fewer_fits(const matrix *w); /* every element is finite */
/* i8 in -127..127 in the order of w in memory, which is one without gaps; a scale for each column. */
bool fewer_by_column(const matrix *w, fewer *out, err *e);
/* MatMulNBits: u8 [n, blocks, block / 2], the first of two elements in the low bits, zero is 8; scales [n * blocks].
 * block: at most FEWER_BLOCK */
enum { FEWER_BLOCK = 256 };
bool fewer_by_block(const matrix *w, int block, fewer *out, err *e);
void fewer_free(fewer *f);
