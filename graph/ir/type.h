/* type.h - data type and extents: plain values, copied and compared, never allocated. An extent may be 0; rank 0
 * is one element. */
#ifndef TS_TYPE_H
#define TS_TYPE_H
#include "graph/base/base.h"

typedef ts_dtype dtype;
enum { MAX_RANK = TS_MAX_RANK, OPEN_EXTENT = -1 /* an extent that is not known yet: open.c */ };

typedef struct type {
    dtype dtype;
    int rank;
    int64_t dim[MAX_RANK];
} type;

typedef enum dclass { D_REAL, D_WHOLE, D_TRUTH } dclass; /* how values compute: double, int64_t (wrapping), 0 or 1 */
dclass dtype_class(dtype d);
bool dtype_real(dtype d); /* of class D_REAL */
bool dtype_signed(dtype d);
int dtype_bits(dtype d);     /* of a value; in memory an element has ts_dtype_bytes */
bool dtype_small(dtype d);   /* reals of 8 bits and fewer, integers of fewer: kept, not computed with */
dtype dtype_in_npy(dtype d); /* as which an npy file has it: reals that numpy does not know are there as their bits */
bool dtype_parse(const char *name, dtype *out);
bool dtype_read(const char *name, dtype *out, err *e); /* the same, whose refusal lists the dtypes */
dtype dtype_promote(dtype a, dtype b);                 /* numpy.result_type of two arrays */
/* What numpy's sqrt gives: real types stay, small integers f16/f32, others f64 */
dtype dtype_float(dtype d);
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
#endif
