/* cexpr_test.c - whole numbers of indices and bounds: what is known is worked out, what is printed means the same in C,
 * and which variables it follows. */
/* ctest: fast */
#include "backends/codegen/cexpr.h"
#include "tests/check.h"

static void prints(arena *mem, const cexpr *x, const char *want)
{
    CHECK_TEXT(cexpr_text(mem, x), want);
}

static const cexpr *sum(arena *mem, int64_t c, int64_t times, const cexpr *a, int64_t also, const cexpr *b)
{
    return cexpr_sum(mem, c, 2, (const cexpr *const[]){a, b}, (const int64_t[]){times, also});
}

static void test_text(arena *mem)
{
    const cexpr *i = cexpr_word(mem, "i"), *j = cexpr_word(mem, "j"), *floor = cexpr_floor(mem, i, 4, false);
    prints(mem, sum(mem, 5, -2, i, 1, j), "-2 * i + j + 5");
    prints(mem, sum(mem, -1, 3, floor, -1, j), "3 * (i / 4) - j - 1");
    prints(mem, floor, "i / 4");
    prints(mem, cexpr_floor(mem, cexpr_plus(mem, i, 3), 4, false), "(i + 3) / 4");
    prints(mem, cexpr_floor(mem, sum(mem, 0, 1, i, -1, j), 4, true),
           "whole_div(i - j, 4)"); /* C's / rounds up below 0 */
    prints(mem, cexpr_times(mem, cexpr_least(mem, i, cexpr_number(mem, 8)), 6), "6 * MIN(i, 8)");
    prints(mem, cexpr_two(mem, "($0 * $1)", cexpr_plus(mem, i, 1), j), "(i + 1) * j");
    prints(mem, cexpr_two(mem, "($0 < $1)", cexpr_plus(mem, i, 1), j), "i + 1 < j");
    prints(mem, cexpr_both(mem, cexpr_two(mem, "($0 < $1)", i, j), cexpr_word(mem, "last")), "i < j && last");
}

static void test_known(arena *mem)
{
    int64_t n;
    const cexpr *i = cexpr_word(mem, "i"), *two = cexpr_number(mem, 2), *seven = cexpr_number(mem, 7);
    CHECK(cexpr_known(sum(mem, 1, 3, two, -1, seven), &n) && n == 0);
    CHECK(cexpr_known(cexpr_floor(mem, cexpr_number(mem, -7), 2, true), &n) && n == -4);
    CHECK(cexpr_known(cexpr_least(mem, two, seven), &n) && n == 2);
    CHECK(cexpr_known(cexpr_most(mem, two, seven), &n) && n == 7);
    CHECK(!cexpr_known(cexpr_most(mem, two, i), &n));
    CHECK(sum(mem, 0, 1, i, 5, cexpr_number(mem, 0)) == i && cexpr_floor(mem, i, 1, false) == i);
    prints(mem, cexpr_plus(mem, cexpr_plus(mem, i, 3), -3), "i");
    CHECK(cexpr_both(mem, NULL, i) == i);
}

static void test_over(arena *mem)
{
    const cexpr *i = cexpr_word(mem, "i"), *j = cexpr_word(mem, "j");
    const cexpr *place = sum(mem, 0, 4, cexpr_floor(mem, i, 2, false), 1, cexpr_two(mem, "MIN($0, $1)", j, i));
    CHECK(cexpr_over(place, "i") && cexpr_over(place, "j") && !cexpr_over(place, "k"));
    CHECK(cexpr_over(cexpr_element(mem, "x0", i, 0), "k")); /* data say it */
    CHECK(!cexpr_over(cexpr_element(mem, "s", i, IN_REGISTERS), "k"));
    CHECK(cexpr_over(cexpr_spelled(mem, "f(k)"), "n")); /* no name: nothing is known of it */
}

int main(void)
{
    arena mem = {0};
    test_text(&mem), test_known(&mem), test_over(&mem);
    arena_free(&mem);
    return check_done();
}
