/* misuse.h - the calls of tessera.h on plans in every state that a plan can be in, and with what fits nothing: each is
 * done, or refused with a sentence; never a crash, nor a value that nobody computed. */
#ifndef TS_TESTS_MISUSE_H
#define TS_TESTS_MISUSE_H
#include "tessera.h"

void misuse_check(const ts_options *on);
#endif
