/* evaluate.h - a bound model's outputs by the interpreter, node by node. The model is only read; new arrays are the
 * caller's. */
#ifndef TS_TEST_EVALUATE_H
#define TS_TEST_EVALUATE_H
#include "tessera.h"

/* in: a value per input of the model; out: a new array per output, yours. */
bool evaluate(ts_model *m, const ts_array *in, ts_array *out, ts_error *e);
/* |got - want| <= relative * max |want| over all elements; infinities and NaN must be in the same places. Says
 * what is not. */
bool close_to(const char *what, const ts_array *got, const ts_array *want, double relative);
#endif
