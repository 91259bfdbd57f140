/* hazard_test.c - a kernel waits for exactly those that it conflicts with, directly or by way of others: small cases by
 * hand, and random ones against all pairs. */
/* ctest: fast */
#include "schedule/plan/hazard.h"
#include "tests/check.h"

#include <stdio.h>

enum { KERNELS = 24, TOUCHED = 3 };

static void test_cases(void)
{
    hazards h = {0};
    hazards_add(&h, 1, (access[]){{0, 8, true}});                   /* 0 */
    hazards_add(&h, 2, (access[]){{0, 8, false}, {8, 16, true}});   /* 1 reads what 0 wrote */
    hazards_add(&h, 2, (access[]){{0, 8, false}, {16, 24, true}});  /* 2 too, beside 1 */
    hazards_add(&h, 2, (access[]){{4, 12, false}, {24, 32, true}}); /* 3 reads some of both */
    hazards_add(&h, 1, (access[]){{0, 8, true}});                   /* 4 writes where 1, 2, 3 read */
    hazards_add(&h, 1, (access[]){{0, 8, false}});                  /* 5: of those, 4 says it all */
    hazards_add(&h, 1, (access[]){{0, 0, false}});                  /* 6: a weight */
    CHECK(hazards_last(&h, 0) == -1 && hazards_last(&h, 1) == 0 && hazards_last(&h, 2) == 0 &&
          hazards_last(&h, 3) == 1);
    CHECK(hazards_last(&h, 4) == 3 && h.first[5] - h.first[4] == 4);
    CHECK(hazards_last(&h, 5) == 4 && h.first[6] - h.first[5] == 1);
    CHECK(hazards_last(&h, 6) == -1);
    hazards_free(&h);
}

static bool conflict(const access *a, const access *b)
{
    bool any = false;
    for (int i = 0; i < TOUCHED; i++)
        for (int k = 0; k < TOUCHED; k++)
            for (int64_t byte = a[i].from; byte < a[i].to && (a[i].written || b[k].written); byte++)
                any = any || (byte >= b[k].from && byte < b[k].to);
    return any;
}

static void close(bool after[KERNELS][KERNELS])
{
    for (int k = 0; k < KERNELS; k++)
        for (int a = 0; a < KERNELS; a++)
            for (int b = 0; b < KERNELS; b++)
                after[a][b] = after[a][b] || (after[a][k] && after[k][b]);
}

static void test_random(uint64_t seed)
{
    access all[KERNELS][TOUCHED];
    bool want[KERNELS][KERNELS] = {{0}}, got[KERNELS][KERNELS] = {{0}};
    hazards h = {0};
    int off = 0;
    for (int k = 0; k < KERNELS; k++) {
        for (int i = 0; i < TOUCHED; i++) {
            const uint64_t r = random_bits(seed, (uint64_t)(k * TOUCHED + i));
            const int64_t from = (int64_t)(r % 40);
            all[k][i] = (access){from, from + (int64_t)(r >> 8) % 12, i == 0};
        }
        hazards_add(&h, TOUCHED, all[k]);
        for (int j = 0; j < k; j++)
            want[k][j] = conflict(all[k], all[j]);
    }
    for (int k = 0; k < KERNELS; k++)
        for (int i = h.first[k]; i < h.first[k + 1]; i++) {
            CHECK(h.wait[i] < k && want[k][h.wait[i]]);
            got[k][h.wait[i]] = true;
        }
    close(want), close(got);
    for (int k = 0; k < KERNELS; k++)
        for (int j = 0; j < KERNELS; j++)
            off += got[k][j] != want[k][j];
    if (!CHECK(!off))
        printf("seed %d: %d pairs of kernels in another order\n", (int)seed, off);
    hazards_free(&h);
}

int main(void)
{
    test_cases();
    for (uint64_t seed = 0; seed < 200; seed++)
        test_random(seed);
    return check_done();
}
