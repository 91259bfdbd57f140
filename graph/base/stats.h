/* stats.h - what a list of numbers says of itself: quantiles, mean, spread. Pure functions; arrays stay the caller's.
 * NaN where there are too few numbers. What samples say of each other is bench/stats.h. */
#pragma once
double stats_quantile(const double *v, int n, double q); /* type 7 */
double stats_median(const double *v, int n);
double stats_mad(const double *v, int n); /* median absolute deviation from the median, not scaled */
double stats_mean(const double *v, int n);
double stats_sd(const double *v, int n);

void stats_sort(double *v, int n);                      /* ascending */
double stats_median_take(double *v, int n);             /* the same as stats_median, faster; reorders v */
double stats_quantile_take(double *v, int n, double q); /* as stats_quantile */
