/* binding_test.c - forms lose their brackets only where C reads the same without them, and compilers say nothing. */
#include "backends/codegen/binding.h"
#include "tests/check.h"

#include <string.h>

static void test_binds(void)
{
    CHECK(form_binding("($0 + $1)") == SUM);
    CHECK(form_binding("($0 * $1)") == PRODUCT);
    CHECK(form_binding("($0 ? $1 : $2)") == CHOICE);
    CHECK(form_binding("(($0 > 0) - ($0 < 0))") == SUM);
    CHECK(form_binding("($1 == 0 ? 0 : $0 % $1)") == CHOICE);
    CHECK(form_binding("(-$0)") == PREFIX);
    CHECK(form_binding("($0 & $1)") == CHOICE); /* not told apart: anything beside it keeps its brackets */
    CHECK(form_binding("max@($0, $1)") == ATOM);
    CHECK(form_binding("($0) + ($1)") == ATOM); /* its brackets are no pair */
}

/* What operand k of a form is asked. */
static binding asks(const char *form, int k)
{
    const char *at = strchr(form, '$');
    while (at && at[1] != '0' + k)
        at = strchr(at + 1, '$');
    return at ? form_asks(form, at) : ANY;
}

static void test_asks(void)
{
    CHECK(asks("($0 - $1)", 0) == SUM);
    CHECK(asks("($0 - $1)", 1) == PRODUCT); /* a - (b - c) */
    CHECK(asks("($0 / $1)", 1) == PREFIX);  /* a / (b * c) */
    CHECK(asks("($0 < $1)", 0) == SUM);
    CHECK(asks("($0 || $1)", 0) == COMPARED); /* && beside || is warned of */
    CHECK(asks("($0 ? $1 : $2)", 2) == CHOICE);
    CHECK(asks("($0 & $1)", 1) == ATOM);
    CHECK(asks("(-$0)", 0) == ATOM); /* - -a, not --a */
    CHECK(asks("max@($0, $1)", 1) == ANY);
    CHECK(asks("$0.x", 0) == ATOM);
}

int main(void)
{
    test_binds();
    test_asks();
    return check_done();
}
