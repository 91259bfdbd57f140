/* failure.h - how this folder states a failure; it sees of the library only the public header. */
#ifndef BENCH_FAILURE_H
#define BENCH_FAILURE_H
#include "tessera.h"

/* Both return false; the first failure is kept. e may be NULL. */
bool bench_fail(ts_error *e, ts_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool bench_hint(ts_error *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#endif
