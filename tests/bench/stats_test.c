/* Statistics against stored values of numpy and scipy, and against machines that are imagined: the rate of false
 * alarms, and whether real differences are found. */
#include "bench/stats.h"
#include "graph/base/random.h"
#include "tests/bench/stats_expected.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LAUNCHES = 5, ROUNDS = 6, N = LAUNCHES * ROUNDS, TRIALS = 200 };

static bool close_to(double got, double want)
{
    bool ok = fabs(got - want) <= 1e-9 * fmax(1, fabs(want));
    if (!ok)
        printf("got %.17g, want %.17g\n", got, want);
    return ok;
}

static void test_quantiles(void)
{
    int n = expected_start[5], n_q = (int)(sizeof expected_q / sizeof *expected_q);
    for (int i = 0; i < n_q; i++)
        CHECK(close_to(stats_quantile(expected_base, n, expected_q[i]), expected_quantiles[i]));
    CHECK(close_to(stats_median(expected_base, n), stats_quantile(expected_base, n, 0.5)));
    CHECK(close_to(stats_mean(expected_base, n), expected_moments[0]));
    CHECK(close_to(stats_sd(expected_base, n), expected_moments[1]));
    CHECK(close_to(stats_mad(expected_base, n), expected_moments[2]));
    const double four[] = {4, 1, 3, 2}, equal[] = {5, 5, 5, 5, 5};
    CHECK(stats_median(four, 4) == 2.5 && stats_median(four, 1) == 4 && isnan(stats_median(four, 0)));
    CHECK(stats_median(equal, 5) == 5 && stats_mad(equal, 5) == 0);
}

static void test_interval(void)
{
    sample_set s = {5, expected_start, expected_base};
    interval at = stats_median_interval(&s, 0.95, 11);
    CHECK(close_to(at.low, expected_interval[0]) && close_to(at.high, expected_interval[1]));
}

static void test_comparisons(void)
{
    const double *const other[] = {expected_same, expected_slightly, expected_clearly, expected_slower};
    sample_set a = {5, expected_start, expected_base};
    for (int i = 0; i < 4; i++) {
        sample_set b = {5, expected_start, other[i]};
        const expected_comparison *want = &expected_comparisons[i];
        comparison c = stats_compare(&a, &b, 0.01, 21 + (uint64_t)i);
        CHECK_TEXT(outcome_name(c.verdict), want->verdict);
        /* the t quantiles are tabulated to four digits */
        CHECK(close_to(c.ratio, want->ratio) && fabs(c.low - want->low) < 1e-5 && fabs(c.high - want->high) < 1e-5);
        comparison back = stats_compare(&b, &a, 0.01, 21 + (uint64_t)i);
        CHECK(fabs(back.ratio * c.ratio - 1) < 1e-12);
        CHECK(c.verdict != FASTER || back.verdict == SLOWER);
    }
}

/* All launches alike, save two that are `away` to either side: resampling hardly draws them often enough, so the
 * interval is Student's. Of n launches, sd = away sqrt(2 / (n - 1)). */
static void test_student(void)
{
    static const struct {
        int df;
        double t; /* quantile at 0.995 */
    } exact[] = {{2, 9.92484},  {3, 5.84091},  {5, 4.03214},  {10, 3.16927}, {11, 3.10581}, {12, 3.05454},
                 {15, 2.94671}, {20, 2.84534}, {30, 2.75000}, {60, 2.66028}, {120, 2.61742}};
    enum { MOST = 121 };
    const double away = 0.01;
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        double a[MOST], b[MOST];
        int n = exact[i].df + 1, start[MOST + 1];
        for (int l = 0; l < n; l++)
            a[l] = 1, b[l] = l > 1 ? 1 : exp(l == 0 ? away : -away), start[l] = l;
        start[n] = n;
        sample_set sa = {n, start, a}, sb = {n, start, b};
        double t = log(stats_compare(&sa, &sb, 0.01, 5).high) * sqrt(n) / (away * sqrt(2.0 / (n - 1)));
        if (!CHECK(fabs(t - exact[i].t) < 0.001))
            printf("%d degrees of freedom: got %.5f, want %.5f\n", exact[i].df, t, exact[i].t);
    }
}

/* Bell-shaped noise with now and then a disturbed sample, as timings have. */
static double noise(uint64_t seed, uint64_t i)
{
    double sum = 0;
    for (uint64_t k = 0; k < 4; k++)
        sum += (double)random_bits(seed, 5 * i + k) / 18446744073709551616.0 - 0.5;
    return sum * 1.7 + (random_bits(seed, 5 * i + 4) % 20 == 0 ? 4 : 0);
}

/* Both contestants share the weather of a round; each launch favours one or the other by about
 * `launch` (its addresses). */
static outcome imagined(uint64_t trial, double sample, double launch, double slowdown, bool apart)
{
    double a[N], b[N];
    int start[LAUNCHES + 1];
    for (int l = 0; l <= LAUNCHES; l++)
        start[l] = l * ROUNDS;
    for (int i = 0; i < N; i++) {
        uint64_t k = trial * 100000 + (uint64_t)i, l = trial * 100000 + 50000 + (uint64_t)(i / ROUNDS);
        double weather = 0.02 * noise(1, k);
        a[i] = 70 * exp(weather + sample * noise(2, k) + launch * noise(3, l));
        b[i] = 70 * exp(weather + sample * noise(4, k) + launch * noise(5, l) + slowdown);
    }
    sample_set sa = {LAUNCHES, start, a}, sb = {LAUNCHES, start, b};
    comparison (*compare)(const sample_set *, const sample_set *, double, uint64_t) = apart ? stats_compare_apart
                                                                                            : stats_compare;
    return compare(&sa, &sb, 0.01, trial).verdict;
}

typedef struct tally {
    int of[UNDECIDED + 1];
} tally;

static tally repeat(double sample, double launch, double slowdown, bool apart)
{
    tally t = {0};
    for (uint64_t i = 0; i < TRIALS; i++)
        t.of[imagined(i, sample, launch, slowdown, apart)]++;
    printf("noise %g, launches %g, slowdown %g%s: faster %d, slower %d, same %d, undecided %d\n", sample, launch,
           slowdown, apart ? ", apart" : "", t.of[FASTER], t.of[SLOWER], t.of[SAME], t.of[UNDECIDED]);
    return t;
}

static void test_false_alarms(void)
{
    const double launch[] = {0, 0.003, 0.01, 0.05};
    for (int i = 0; i < 4; i++) {
        tally t = repeat(0.005, launch[i], 0, false);
        CHECK(t.of[FASTER] + t.of[SLOWER] <= TRIALS / 100);
    }
    tally apart = repeat(0.005, 0.003, 0, true);
    CHECK(apart.of[FASTER] + apart.of[SLOWER] <= TRIALS / 100);
}

static void test_power(void)
{
    CHECK(repeat(0.005, 0.002, 0.03, false).of[FASTER] >= TRIALS * 97 / 100);
    CHECK(repeat(0.005, 0.002, -0.03, false).of[SLOWER] >= TRIALS * 97 / 100);
    /* a difference below the threshold is never called one */
    CHECK(repeat(0.001, 0, 0.005, false).of[SAME] >= TRIALS * 9 / 10);
}

static void test_edges(void)
{
    const int none[] = {0, 0}, one[] = {0, 1}, gap[] = {0, 2, 2, 4};
    const double v[] = {1, 1, 1, 1}, w[] = {2, 2, 2, 2};
    sample_set empty = {1, none, v}, single = {1, one, v}, other = {1, one, w};
    CHECK(stats_compare(&empty, &empty, 0.01, 1).verdict == UNDECIDED);
    CHECK(isnan(stats_median_interval(&empty, 0.95, 1).low));
    CHECK(stats_compare(&single, &other, 0.01, 1).verdict == FASTER); /* the caller notes that one sample is few */
    sample_set holes = {3, gap, v}, more = {3, gap, w};
    comparison c = stats_compare(&holes, &more, 0.01, 1);
    CHECK(c.verdict == FASTER && c.launches == 2 && c.pairs == 4 && close_to(c.ratio, 2));
    CHECK(stats_compare(&single, &holes, 0.01, 1).verdict == UNDECIDED); /* unpaired */
}

int main(void)
{
    test_quantiles();
    test_interval();
    test_comparisons();
    test_student();
    test_false_alarms();
    test_power();
    test_edges();
    return check_done();
}
