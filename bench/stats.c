/* stats.c - quantiles, the hierarchical bootstrap and verdicts. Rules and their evidence:
 * docs/bench.md, "Statistics". */
#include "bench/stats.h"
#include "graph/base/base.h"
#include "graph/base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 10000, FEWEST_RESAMPLES = 1000 }; /* of the bootstrap; the fewest where one takes long */
static const double MOST_DRAWS = 5e7;                /* bounds the work on very many samples: about half a second */
static const double COMPARE_CONFIDENCE = 0.99;       /* of an interval that decides between two files */

/* The top 32 bits scaled to n: the bias is below n / 2^32, far less than resampling can see. */
int stats_below(uint64_t seed, uint64_t index, int n)
{
    return (int)(((random_bits(seed, index) >> 32) * (uint64_t)n) >> 32);
}

/* Room for n numbers. */
static double *room(size_t n)
{
    double *v = heap_array(n + 1, sizeof *v);
    return v;
}

series series_of(const sample_set *all, const bool *aside)
{
    int launches = all->launches, last = all->start[launches];
    series s = {.v = room((size_t)last), .start = calloc((size_t)launches + 1, sizeof(int)), .launches = launches};
    if (!s.start)
        memory_failed(((size_t)launches + 1) * sizeof(int), "the starts of launches");
    for (int l = 0; l < launches; l++) {
        for (int i = all->start[l]; i < all->start[l + 1]; i++)
            if (!aside[i])
                s.v[s.n++] = all->v[i];
        s.start[l + 1] = s.n;
    }
    s.aside = last - s.n;
    return s;
}

sample_set series_set(const series *s)
{
    return (sample_set){s->launches, s->start, s->v};
}

void series_free(series *s)
{
    free(s->v);
    free(s->start);
}

static int total(const sample_set *s)
{
    return s->launches > 0 ? s->start[s->launches] : 0;
}

static int resamples_for(int n)
{
    double affordable = MOST_DRAWS / (n > 0 ? n : 1);
    return affordable < FEWEST_RESAMPLES ? FEWEST_RESAMPLES : affordable < RESAMPLES ? (int)affordable : RESAMPLES;
}

/* The median of m numbers of which sorted[k] occurs count[k] times: what sorting or selecting them would give. */
static double counted_median(const int *count, const double *sorted, int m)
{
    int k = 0, seen = count[0];
    while (seen <= (m - 1) / 2)
        seen += count[++k];
    const double lower = sorted[k];
    while (seen <= m / 2)
        seen += count[++k];
    return lower + 0.5 * (sorted[k] - lower);
}

/* The first place in sorted[0 ... n) that holds v. */
static int place_of(const double *sorted, int n, double v)
{
    int low = 0, high = n - 1;
    while (low < high) {
        const int mid = (low + high) / 2;
        if (sorted[mid] < v)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* medians[b] of resampled sets: launches are drawn, then samples within each. Draws are numbered, so that anyone can
 * repeat them (tests/bench/stats_oracle.py does). Launches without samples are not drawn. All that is drawn are numbers
 * of the set, so they are counted, not sorted. */
static void resample_medians(const sample_set *s, uint64_t seed, int resamples, double *medians)
{
    const int n = total(s);
    ENDED_BY(heap_free)
    int *start = calloc((size_t)s->launches + 1, sizeof *start), *place = calloc((size_t)n + 1, sizeof *place),
        *count = calloc((size_t)n + 1, sizeof *count);
    int launches = 0;
    if (!start || !place || !count)
        memory_failed(2 * ((size_t)n + 1) * sizeof *place, "resampling");
    for (int l = 0; l < s->launches; l++)
        if (s->start[l + 1] > s->start[l])
            start[++launches] = s->start[l + 1];
    ENDED_BY(heap_free) double *sorted = room((size_t)n);
    memcpy(sorted, s->v, sizeof *sorted * (size_t)n);
    stats_sort(sorted, n);
    for (int i = 0; i < n; i++)
        place[i] = place_of(sorted, n, s->v[i]);
    uint64_t draw = 0;
    for (int b = 0; b < resamples; b++) {
        int m = 0;
        memset(count, 0, sizeof *count * (size_t)n);
        for (int l = 0; l < launches; l++) {
            const int launch = stats_below(seed, draw++, launches), first = start[launch],
                      samples = start[launch + 1] - first;
            for (int i = 0; i < samples; i++)
                count[place[first + stats_below(seed, draw++, samples)]]++;
            m += samples;
        }
        medians[b] = counted_median(count, sorted, m);
    }
}

static interval central(double *v, int n, double confidence)
{
    const double tail = 0.5 * (1 - confidence), low = stats_quantile_take(v, n, tail);
    return (interval){low, stats_quantile_take(v, n, 1 - tail)};
}

interval stats_median_interval(const sample_set *s, double confidence, uint64_t seed)
{
    if (total(s) == 0)
        return (interval){NAN, NAN};
    int resamples = resamples_for(total(s));
    ENDED_BY(heap_free) double *medians = room((size_t)resamples);
    resample_medians(s, seed, resamples, medians);
    return central(medians, resamples, confidence);
}

/* ---- comparing ---- */

/* Half the width, in standard errors, of a 99 % interval from n launches (Student, n - 1 degrees of freedom). */
static double student_99(int n)
{
    static const double t[] = {9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169};
    int df = n - 1, known = (int)(sizeof t / sizeof *t);
    if (df - 2 < known)
        return t[df - 2];
    double z = 2.5758293, z2 = z * z; /* Cornish and Fisher: within 0.001 from 11 degrees on */
    return z + z * ((z2 + 1) / (4.0 * df) + ((5 * z2 + 16) * z2 + 3) / (96.0 * df * df) +
                    (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384.0 * df * df * df));
}

typedef struct launch_spread {
    int n;
    double mean, variance; /* variance of the mean */
} launch_spread;

static launch_spread spread_of(const sample_set *s)
{
    launch_spread p = {0};
    ENDED_BY(heap_free) double *m = room((size_t)s->launches);
    for (int l = 0; l < s->launches; l++)
        if (s->start[l + 1] > s->start[l])
            m[p.n++] = stats_median(s->v + s->start[l], s->start[l + 1] - s->start[l]);
    p.mean = stats_mean(m, p.n);
    double sd = stats_sd(m, p.n);
    p.variance = p.n > 1 ? sd * sd / p.n : 0;
    return p;
}

/* With five launches the bootstrap alone cannot reach 99 %: it says "different" whenever all five lean the same way,
 * which chance does in 6 % of cases. Where there are launches enough, the interval also covers what they say among
 * themselves; in simulation this holds false alarms near 1 % at any spread between launches
 * (tests/bench/stats_test.c). */
static interval widen(interval at, double mean, double variance, int launches)
{
    if (launches < FEWEST_LAUNCHES)
        return at;
    double half = student_99(launches) * sqrt(variance);
    return (interval){fmin(at.low, mean - half), fmax(at.high, mean + half)};
}

static comparison judge(double r, interval at, double threshold, int launches)
{
    double t = log1p(threshold);
    comparison c = {.verdict = UNDECIDED, .ratio = exp(r), .low = exp(at.low), .high = exp(at.high)};
    c.detectable = expm1(fmax(at.high - r, r - at.low));
    if (at.low > 0 && r >= t)
        c.verdict = FASTER;
    else if (at.high < 0 && r <= -t)
        c.verdict = SLOWER;
    else if (at.low >= -t && at.high <= t && launches >= FEWEST_LAUNCHES)
        c.verdict = SAME;
    c.launches = launches;
    return c;
}

comparison stats_allow(comparison c, double margin, double threshold)
{
    const double more = log1p(margin);
    if (isnan(c.ratio))
        return c;
    comparison wide = judge(log(c.ratio), (interval){log(c.low) - more, log(c.high) + more}, threshold, c.launches);
    wide.pairs = c.pairs;
    return wide;
}

static comparison nothing_to_compare(void)
{
    return (comparison){.verdict = UNDECIDED, .ratio = NAN, .low = NAN, .high = NAN, .detectable = NAN};
}

static double *logs_of(const sample_set *s)
{
    double *v = room((size_t)total(s));
    for (int i = 0; i < total(s); i++)
        v[i] = log(s->v[i]);
    return v;
}

comparison stats_compare(const sample_set *a, const sample_set *b, double threshold, uint64_t seed)
{
    int n = total(a);
    if (n == 0 || total(b) != n)
        return nothing_to_compare();
    ENDED_BY(heap_free) double *ratio = room((size_t)n);
    for (int i = 0; i < n; i++)
        ratio[i] = log(b->v[i] / a->v[i]);
    sample_set pairs = {a->launches, a->start, ratio};
    launch_spread p = spread_of(&pairs);
    interval at = widen(stats_median_interval(&pairs, COMPARE_CONFIDENCE, seed), p.mean, p.variance, p.n);
    comparison c = judge(stats_median(ratio, n), at, threshold, p.n);
    c.pairs = n;
    return c;
}

comparison stats_compare_apart(const sample_set *a, const sample_set *b, double threshold, uint64_t seed)
{
    int na = total(a), nb = total(b);
    if (na == 0 || nb == 0)
        return nothing_to_compare();
    ENDED_BY(heap_free) double *la = logs_of(a), *lb = logs_of(b);
    sample_set sa = {a->launches, a->start, la}, sb = {b->launches, b->start, lb};
    int resamples = resamples_for(na + nb);
    ENDED_BY(heap_free) double *ma = room((size_t)resamples), *mb = room((size_t)resamples);
    resample_medians(&sa, seed, resamples, ma);
    resample_medians(&sb, seed + 1, resamples, mb);
    for (int i = 0; i < resamples; i++)
        mb[i] -= ma[i];
    launch_spread pa = spread_of(&sa), pb = spread_of(&sb);
    int launches = pa.n < pb.n ? pa.n : pb.n;
    interval at = widen(central(mb, resamples, COMPARE_CONFIDENCE), pb.mean - pa.mean, pa.variance + pb.variance,
                        launches);
    comparison c = judge(stats_median(lb, nb) - stats_median(la, na), at, threshold, launches);
    c.pairs = na < nb ? na : nb;
    return c;
}
