/* unicode.h - what tokenizers ask of characters. Input is any bytes: what is not UTF-8 reads as U+FFFD, one a byte.
 * Tables are those of utf8proc. What is written goes to the end of the caller's text. */
#pragma once
#include "graph/base/base.h"

/* Bytes of the character at s of n bytes left, 1 where there is none and then *code is U+FFFD; n > 0. */
size_t unicode_next(const char *s, size_t n, uint32_t *code);
/* The same for what must be well-formed: 0 where it is not. */
size_t unicode_well(const char *s, size_t n);
/* Begin of the character that ends at i, above `from`. */
size_t unicode_back(const char *s, size_t from, size_t i);
void unicode_put(text *t, uint32_t code);

bool unicode_is_space(uint32_t c);  /* the property White_Space */
bool unicode_is_letter(uint32_t c); /* categories L* */
bool unicode_is_number(uint32_t c); /* categories N* */
bool unicode_is_accent(uint32_t c); /* category Mn: accents that do not advance */
bool unicode_is_mark(uint32_t c);   /* categories M* */
bool unicode_is_word(uint32_t c);   /* letters, marks, decimal digits, connectors, joiners: \w of regular expressions */
bool unicode_is_control(uint32_t c); /* categories C* but for unassigned: control, format, private */
bool unicode_is_punct(uint32_t c);   /* categories P*, and ASCII's other signs */
bool unicode_is_ideograph(uint32_t c);

/* Bytes of the grapheme (what is read as one character) at s of n bytes left; n > 0. */
size_t unicode_grapheme(const char *s, size_t n);

typedef enum unicode_form { UNICODE_NFD = 1, UNICODE_NFC, UNICODE_NFKD, UNICODE_NFKC } unicode_form;
void unicode_normal(text *out, const char *s, size_t n, unicode_form form);
/* One character at a time: no final sigma; U+0130 gives two characters. */
void unicode_lower(text *out, const char *s, size_t n);
