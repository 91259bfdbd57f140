/* launched.h - a step of training BERT: kernels that are launched together and the same ones one by one give the same
 * bits, in fewer launches. */
#ifndef TS_TEST_LAUNCHED_H
#define TS_TEST_LAUNCHED_H
#include "tessera.h"

/* most: launches that its kernels may take */
void launched_check(const ts_options *on, int most);
#endif
