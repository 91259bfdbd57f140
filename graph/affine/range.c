/* range.c - interval arithmetic on whole numbers. */
#include "graph/affine/range.h"

range range_of(int64_t low, int64_t high)
{
    return (range){low, high, true};
}

range range_sum(range a, range b)
{
    range s = {.known = a.known && b.known};
    s.known = s.known && int_add(a.low, b.low, &s.low) && int_add(a.high, b.high, &s.high);
    return s;
}

range range_times(range a, int64_t by)
{
    return range_product(a, range_of(by, by));
}

range range_product(range a, range b)
{
    int64_t v[4];
    if (!a.known || !b.known || !int_mul(a.low, b.low, &v[0]) || !int_mul(a.low, b.high, &v[1]) ||
        !int_mul(a.high, b.low, &v[2]) || !int_mul(a.high, b.high, &v[3]))
        return (range){0};
    return range_of(int_min(int_min(v[0], v[1]), int_min(v[2], v[3])),
                    int_max(int_max(v[0], v[1]), int_max(v[2], v[3])));
}

range range_floor(range a, int64_t by)
{
    return (range){int_floor_div(a.low, by), int_floor_div(a.high, by), a.known};
}

/* Where the quotient is one number the rest is as wide as a; else it may be anything below by, whatever a is. */
range range_rest(range a, int64_t by)
{
    const range q = range_floor(a, by);
    if (a.known && q.low == q.high)
        return range_of(int_floor_mod(a.low, by), int_floor_mod(a.high, by));
    return range_of(0, by - 1);
}

range range_least(range a, range b)
{
    return (range){int_min(a.low, b.low), int_min(a.high, b.high), a.known && b.known};
}

range range_most(range a, range b)
{
    return (range){int_max(a.low, b.low), int_max(a.high, b.high), a.known && b.known};
}

range range_either(range a, range b)
{
    return (range){int_min(a.low, b.low), int_max(a.high, b.high), a.known && b.known};
}

range range_size(range a)
{
    int64_t low = 0, high = 0;
    const bool known = a.known && int_mul(a.low, -1, &high) && int_mul(a.high, -1, &low);
    if (!known || a.low >= 0)
        return a.low >= 0 ? a : (range){0};
    return range_of(a.high < 0 ? low : 0, int_max(high, a.high));
}
