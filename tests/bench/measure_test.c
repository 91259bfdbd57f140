/* ctest: fast */
#include "bench/measure.h"
#include "tests/check.h"

#include <math.h>

static void numbers(void)
{
    float reals[] = {1, -3, NAN, 8, INFINITY};
    ts_array a = {.dtype = TS_F32, .rank = 1, .dim = {5}, .data = reals};
    measure m = measure_array(&a);
    CHECK(m.count == 5 && m.bad == 2);
    CHECK(m.min == -3 && m.max == 8 && m.mean == 2);

    uint16_t halves[] = {0x3c00, 0xc000, 0x7c00}; /* 1, -2, infinity */
    a = (ts_array){.dtype = TS_F16, .rank = 1, .dim = {3}, .data = halves};
    m = measure_array(&a);
    CHECK(m.bad == 1 && m.min == -2 && m.max == 1 && m.mean == -0.5);

    int64_t whole[] = {-5, 7};
    a = (ts_array){.dtype = TS_I64, .rank = 2, .dim = {1, 2}, .data = whole};
    m = measure_array(&a);
    CHECK(m.count == 2 && m.bad == 0 && m.min == -5 && m.max == 7 && m.mean == 1);

    a = (ts_array){.dtype = TS_F32, .rank = 1, .dim = {0}, .data = reals};
    m = measure_array(&a);
    CHECK(m.count == 0 && isnan(m.min) && isnan(m.max) && isnan(m.mean));
}

int main(void)
{
    numbers();
    return check_done();
}
