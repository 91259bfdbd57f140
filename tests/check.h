/* check.h - what every C test uses: state what must hold, go on after a failure, end main with `return check_done();`.
 * A test that cannot run here says why and returns CHECK_SKIP. */
#ifndef TS_CHECK_H
#define TS_CHECK_H
#include <stdbool.h>

enum { CHECK_SKIP = 77 };
#define CHECK(x) check_that((x), #x, __FILE__, __LINE__)
#define CHECK_TEXT(got, want) check_text((got), (want), __FILE__, __LINE__)
bool check_that(bool ok, const char *what, const char *file, int line);         /* gives ok back */
bool check_text(const char *got, const char *want, const char *file, int line); /* equal strings; NULL equals nothing */
int check_count(const char *in, const char *what); /* times that it stands there; 0 in NULL */
int check_skip(const char *why);
int check_done(void); /* 0, or 1 when anything failed or nothing was checked */
#endif
