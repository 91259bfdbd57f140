/* agree.h - small built-in models on a target: what it computes against the interpreter, and against itself. Models and
 * plans live for the check. */
#ifndef TS_TEST_AGREE_H
#define TS_TEST_AGREE_H

void agree_check(const char *target);      /* as the interpreter, within roundings */
void agree_generation(const char *target); /* a decoder with a cache gives what a prefill gives; padding changes
                                              nothing before it */
#endif
