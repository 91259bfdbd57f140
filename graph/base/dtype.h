/* dtype.h - data types: what elements of an array are. Values of one enumeration, ts_dtype; everything known of one
 * stands in one table. */
#pragma once
#include "graph/base/base.h"

typedef ts_dtype dtype;
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
bool dtype_has_gradient(dtype d); /* a real that is computed with: small ones are only kept */
