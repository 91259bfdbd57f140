/* err.h - how failures are stated, in every folder: what a user can cause is a value, what only a bug of ours can cause
 * aborts. An error is a plain value of whoever asks, with its text in it. */
#pragma once
#include "tessera.h"

#define MUST(x) ((x) ? (void)0 : must_failed(#x, __FILE__, __LINE__)) /* our own bug: on in every build, aborts */
_Noreturn void must_failed(const char *what, const char *file, int line);

/* ---- errors: the first failure is kept, later ones are ignored ---- */
typedef ts_error err;
/* All return false, so that a caller can write: return err_set(e, TS_BAD_INPUT, "node %d: ...", i); e may be NULL. */
bool err_set(err *e, ts_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* What the system did not give: TS_MEMORY, "no memory for WHAT: 24 bytes", with a hint. bytes: 0 where nobody knows;
 * then what it had already is said. */
bool err_memory(err *e, size_t bytes, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* For programs, which may end: says the same and exits with TS_MEMORY. The library gives errors. */
_Noreturn void memory_failed(size_t bytes, const char *what);
bool err_hint(err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* appends "\n  hint: ..." */
bool err_hinted(const err *e);                                                     /* it says what to do already */
/* Prefixes "...: " to the text kept */
bool err_in(err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool err_is(const err *e);
bool err_given(const void *what, const char *name, err *e); /* true unless NULL was given where there is to be one */
