/* Intervals of whole numbers, against all numbers within them; what overflows is not known. */
/* ctest: fast */
#include "graph/affine/range.h"
#include "tests/check.h"

#include <stdio.h>

enum { MOST = 7 };

/* r holds every value, and its ends are among them: least and most are those that were seen. */
static void is_tight(const char *what, range r, int64_t least, int64_t most)
{
    if (!CHECK(r.known && r.low == least && r.high == most))
        printf("  %s: %lld to %lld, not %lld to %lld\n", what, (long long)r.low, (long long)r.high, (long long)least,
               (long long)most);
}

static int64_t apply(int which, int64_t x, int64_t y)
{
    return which == 0   ? x + y
           : which == 1 ? x * y
           : which == 2 ? (x < y ? x : y)
           : which == 3 ? (x > y ? x : y)
                        : (x < 0 ? -x : x);
}

static void test_pair(range a, range b)
{
    static const char *const name[] = {"sum", "product", "least", "most", "size"};
    const range got[] = {range_sum(a, b), range_product(a, b), range_least(a, b), range_most(a, b), range_size(a)};
    for (int w = 0; w < COUNT(got); w++) {
        int64_t least = INT64_MAX, most = INT64_MIN;
        for (int64_t x = a.low; x <= a.high; x++)
            for (int64_t y = b.low; y <= b.high; y++) {
                const int64_t v = apply(w, x, y);
                least = v < least ? v : least, most = v > most ? v : most;
            }
        is_tight(name[w], got[w], least, most);
    }
    is_tight("either", range_either(a, b), a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high);
}

static void test_parts(range a, int64_t by)
{
    const range rest = range_rest(a, by);
    int64_t least = INT64_MAX, most = INT64_MIN;
    is_tight("floor", range_floor(a, by), int_floor_div(a.low, by), int_floor_div(a.high, by));
    for (int64_t x = a.low; x <= a.high; x++) {
        const int64_t v = int_floor_mod(x, by);
        least = v < least ? v : least, most = v > most ? v : most;
    }
    CHECK(rest.known && rest.low <= least && rest.high >= most && rest.low >= 0 && rest.high < by);
    if (int_floor_div(a.low, by) == int_floor_div(a.high, by))
        is_tight("rest", rest, least, most);
}

int main(void)
{
    for (int64_t a = -MOST; a <= MOST; a++)
        for (int64_t b = a; b <= MOST; b++) {
            for (int64_t c = -MOST; c <= MOST; c += 2)
                for (int64_t d = c; d <= MOST; d += 3)
                    test_pair(range_of(a, b), range_of(c, d));
            for (int64_t by = 1; by <= MOST; by++)
                test_parts(range_of(a, b), by);
        }
    const range all = range_of(INT64_MIN, INT64_MAX), none = {0};
    CHECK(!range_sum(all, range_of(0, 1)).known && !range_times(all, 2).known && !range_size(all).known);
    CHECK(!range_sum(none, range_of(0, 0)).known && !range_product(range_of(1, 1), none).known);
    CHECK(!range_floor(none, 2).known && !range_either(none, all).known);
    CHECK(range_rest(none, 5).known && range_rest(none, 5).low == 0 && range_rest(none, 5).high == 4);
    return check_done();
}
