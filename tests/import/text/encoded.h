/* encoded.h - what holds of every text and every tokenizer. Both are only read. */
#ifndef TS_TEST_ENCODED_H
#define TS_TEST_ENCODED_H
#include <stdbool.h>
#include <stddef.h>
#include <tessera.h>

/* n bytes, of which none beyond is read, become ids in range, and those a text with an end. */
bool encoded_well(const ts_tokenizer *t, const void *s, size_t n, bool whole);
#endif
