/* utf8.h - characters of foreign text, one at a time. */
#ifndef TS_UTF8_H
#define TS_UTF8_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One character: its length in bytes and its code, or 0 when the bytes are not UTF-8. n > 0. */
int utf8_read(const char *s, size_t n, uint32_t *code);
bool utf8_hidden(uint32_t code); /* control characters, and marks that turn or hide text */
#endif
