/* fail.h - mistakes of users as values. The first failure is kept; later ones are ignored. All return false, so that a
 * caller can write: return fail(e, TS_USAGE, "..."). Texts may hold names from files: the console escapes them when it
 * prints. */
#ifndef TS_FAIL_H
#define TS_FAIL_H
#include "tessera.h"

bool fail(ts_error *e, ts_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool fail_hint(ts_error *e, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* adds "\n  hint: ..." */
/* A mistake of ours: says where and aborts; main turns that into exit code 70. */
_Noreturn void fail_bug(const char *what, const char *name);
#endif
