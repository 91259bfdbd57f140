/* numbers_test.c - small built-in models, run by the interpreter and as generated C: both agree; a decoder with a cache
 * gives what a prefill gives; padding changes nothing before it.
 * ctest: Og */
#include "tests/check.h"
#include "tests/models/agree.h"

int main(void)
{
    agree_check("c");
    agree_generation("interp");
    agree_generation("c");
    return check_done();
}
