/* Random numbers: published known answers, range, and moments over streams of neighbouring seeds. */
/* ctest: fast */
#include "graph/base/base.h"
#include "tests/check.h"

#include <math.h>

/* threefry2x32 of 20 rounds in the known answers of Random123 (Salmon, Moraes), words in its order. */
static const struct known {
    uint32_t counter[2], key[2], result[2];
} known[] = {
    {{0, 0}, {0, 0}, {0x6B200159, 0x99BA4EFE}},
    {{UINT32_MAX, UINT32_MAX}, {UINT32_MAX, UINT32_MAX}, {0x1CB996FC, 0xBB002BE7}},
    {{0x243F6A88, 0x85A308D3}, {0x13198A2E, 0x03707344}, {0xC4923A9C, 0x483DF7A0}},
};

static uint64_t words(const uint32_t *word) /* the first is the lower */
{
    return word[0] | (uint64_t)word[1] << 32;
}

int main(void)
{
    for (int i = 0; i < COUNT(known); i++)
        CHECK(random_bits(words(known[i].key), words(known[i].counter)) == words(known[i].result));

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
