/* Random numbers: the published generator's first values, range, and moments over streams of neighbouring seeds. */
/* ctest: fast */
#include "graph/base/base.h"
#include "tests/check.h"

#include <math.h>

int main(void)
{
    /* SplitMix64 from state 0: the values that its publications list. */
    CHECK(random_bits(0, 0) == UINT64_C(0xE220A8397B1DCDAF));
    const uint64_t step = UINT64_C(
        0x9E3779B97F4A7C15); /* the next value: one step on, which is the next seed's first */
    CHECK(random_bits(0, step) == UINT64_C(0x6E789E6AA1B965F4));
    CHECK(random_bits(1, 0) == UINT64_C(0x6E789E6AA1B965F4));
    CHECK(random_bits(2, 0) == UINT64_C(0x06C45D188009454F));

    enum { N = 100000 };
    bool exact = true, range = true;
    for (uint64_t seed = 0; seed < 4; seed++) {
        double sum = 0, squares = 0, next = 0, other = 0;
        for (uint64_t i = 0; i < N; i++) {
            double u = random_unit(seed, i);
            range = range && u >= -1 && u < 1;
            exact = exact && (double)(float)u == u && fmod(u, 0x1p-23) == 0;
            sum += u;
            squares += u * u;
            next += u * random_unit(seed, i + 1);
            other += u * random_unit(seed + 1, i);
        }
        CHECK(fabs(sum / N) < 0.01); /* five standard deviations are 0.009 */
        CHECK(fabs(squares / N - 1.0 / 3) < 0.005);
        CHECK(fabs(next / N) < 0.006 && fabs(other / N) < 0.006);
    }
    CHECK(range);
    CHECK(exact);
    return check_done();
}
