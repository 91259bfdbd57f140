/* sample.c - temperature, then the likeliest k, then the likeliest that share p; ties go to the lower number, so that
 * equal bits give equal tokens. */
#include "train/sample.h"
#include "graph/base/ended.h"

#include <math.h>
#include <stdlib.h>

typedef struct candidate {
    double logit;
    int64_t id;
} candidate;

static int likelier(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->logit != y->logit ? (x->logit < y->logit ? 1 : -1) : (x->id > y->id) - (x->id < y->id);
}

static int64_t likeliest(const double *logit, int64_t n)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (logit[i] > logit[best])
            best = i;
    return best;
}

static double weight(const sampling *s, const candidate *all, int64_t i)
{
    return exp((all[i].logit - all[0].logit) / s->temperature);
}

int64_t sample_token(const sampling *s, const double *logit, int64_t n, double u)
{
    if (s->temperature <= 0 || s->top_k == 1)
        return likeliest(logit, n);
    ENDED_BY(heap_free) candidate *all = calloc((size_t)n + 1, sizeof *all);
    if (!all)
        return -1;
    for (int64_t i = 0; i < n; i++)
        all[i] = (candidate){logit[i], i};
    qsort(all, (size_t)n, sizeof *all, likelier);
    int64_t kept = s->top_k > 0 && s->top_k < n ? s->top_k : n, k = 0;
    double sum = 0, share = 0;
    for (int64_t i = 0; i < kept; i++)
        sum += weight(s, all, i);
    while (s->top_p < 1 && k < kept && share < s->top_p * sum)
        share += weight(s, all, k++);
    if (s->top_p < 1)
        kept = k > 0 ? k : 1, sum = k > 0 ? share : 1;
    double left = u * sum;
    for (k = 0; k < kept - 1; k++)
        if ((left -= weight(s, all, k)) < 0)
            break;
    const int64_t id = all[k].id;
    return id;
}
