/* stats.c - quantiles of type 7 (R's default) from a sorted copy, or by selection where the order may be lost. */
#include "graph/base/stats.h"
#include "graph/base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void stats_sort(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
}

static double stats_sorted_quantile(const double *sorted, int n, double q)
{
    if (n == 0)
        return NAN;
    double at = q * (n - 1);
    int below = (int)floor(at);
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
}

/* A copy of n numbers. Running out of a few kilobytes leaves nothing sensible to do. */
static double *copy_of(const double *v, int n)
{
    double *c = calloc((size_t)n + 1, sizeof *c);
    MUST(c != NULL);
    if (n > 0)
        memcpy(c, v, sizeof *c * (size_t)n);
    return c;
}

double stats_quantile(const double *v, int n, double q)
{
    double *c = copy_of(v, n);
    stats_sort(c, n);
    double value = stats_sorted_quantile(c, n, q);
    free(c);
    return value;
}

/* The k-th smallest; reorders v so that nothing before k is greater. Hoare's selection: linear, where sorting each of
 * 10,000 resamples would dominate the run time of a comparison. */
static double select_kth(double *v, int n, int k)
{
    int low = 0, high = n - 1;
    while (low < high) {
        double pivot = v[low + (high - low) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i <= j) {
                double t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return v[k];
}

double stats_quantile_take(double *v, int n, double q)
{
    if (n == 0)
        return NAN;
    const double at = q * (n - 1);
    const int below = (int)floor(at);
    if (below + 1 >= n)
        return select_kth(v, n, n - 1);
    const double lower = select_kth(v, n, below);
    double upper = v[below + 1];
    for (int i = below + 2; i < n; i++)
        upper = v[i] < upper ? v[i] : upper;
    return lower + (at - below) * (upper - lower);
}

double stats_median_take(double *v, int n)
{
    if (n == 0)
        return NAN;
    double upper = select_kth(v, n, n / 2);
    if (n % 2 == 1)
        return upper;
    double lower = v[0];
    for (int i = 1; i < n / 2; i++)
        lower = v[i] > lower ? v[i] : lower;
    return lower + 0.5 * (upper - lower);
}

double stats_median(const double *v, int n)
{
    double *c = copy_of(v, n);
    double m = stats_median_take(c, n);
    free(c);
    return m;
}

double stats_mad(const double *v, int n)
{
    double *c = copy_of(v, n);
    double m = stats_median_take(c, n);
    for (int i = 0; i < n; i++)
        c[i] = fabs(v[i] - m);
    double mad = stats_median_take(c, n);
    free(c);
    return mad;
}

double stats_mean(const double *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += v[i];
    return n > 0 ? sum / n : NAN;
}

double stats_sd(const double *v, int n)
{
    double m = stats_mean(v, n), sum = 0;
    for (int i = 0; i < n; i++)
        sum += (v[i] - m) * (v[i] - m);
    return n > 1 ? sqrt(sum / (n - 1)) : NAN;
}
