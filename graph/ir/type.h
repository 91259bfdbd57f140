/* type.h - data type and extents: plain values, copied and compared, never allocated. An extent may be 0; rank 0
 * is one element. */
#pragma once
#include "graph/base/dtype.h"

enum { MAX_RANK = TS_MAX_RANK, OPEN_EXTENT = -1 /* an extent that is not known yet: open.c */ };

typedef struct type {
    dtype dtype;
    int rank;
    int64_t dim[MAX_RANK];
} type;

int64_t type_count(const type *t); /* elements; extents are valid, so it fits */
int64_t type_bytes(const type *t);
bool type_equal(const type *a, const type *b);
bool type_valid(const type *t, err *e);       /* rank, negative extents, overflow of count and bytes */
bool type_valid_known(const type *t, err *e); /* the same of what is known, where extents may be open */
/* Numpy's rule for the extents; dtype untouched */
bool type_broadcast(int n, const type *const *in, type *out, err *e);
bool axis_norm(int64_t axis, int rank, int *out, err *e); /* negative axes count from the end */
ts_array type_array(const type *t, void *data);           /* over data, which stays the caller's */
/* As errors name it: type_said(t).s lasts as long as the call that it is handed to. */
typedef struct type_words {
    char s[192];
} type_words;
type_words type_said(const type *t);
void type_print(text *t, const type *y); /* f32[2,3] */

/* One element between memory and the two computing classes. Half types round to nearest even. */
bool array_sound(const ts_array *a, const char *what, err *e); /* there is one, of a type, with data where it counts */
void array_copy(const ts_array *a, dtype d, void *to);         /* all of it; another dtype than its own: of reals */
double load_real(dtype d, const void *p, int64_t i);
int64_t load_whole(dtype d, const void *p, int64_t i); /* real types truncate, saturating */
void store_real(dtype d, void *p, int64_t i, double v);
void store_whole(dtype d, void *p, int64_t i, int64_t v);
