/* check.c - arithmetic on numbers that somebody else chose. The compiler's builtins compute in unlimited precision and
 * say whether the result fits. */
#include "graph/base/base.h"

bool size_add(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

bool size_mul(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

bool int_add(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

int64_t int_power(int64_t n)
{
    int64_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

int64_t int_ceil_div(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

bool int_mul(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

int64_t int_floor_div(int64_t a, int64_t b)
{
    MUST(b > 0);
    return a / b - (a % b < 0);
}

int64_t int_floor_mod(int64_t a, int64_t b)
{
    MUST(b > 0);
    int64_t r = a % b;
    return r < 0 ? r + b : r;
}

int64_t int_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t int_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t int_gcd(int64_t a, int64_t b)
{
    for (int64_t r; b; a = b, b = r)
        r = a % b;
    return a;
}
