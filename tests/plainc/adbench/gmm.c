/* gmm.c - the mixture of Gaussians of ADBench in plain C, its gradient by hand: what `tessera adbench gmm --against`
 * takes, when compiled as a shared object. in: alphas [k], means [k, d], icf [k, d (d + 1) / 2], x [n, d], prior
 * (gamma, m, what depends on these alone). out: the value; the gradients by alphas, means and icf. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct mixture {
    int64_t n, d, k, width;
    const double *alpha, *mean, *icf, *x, *prior;
    double *diagonal; /* [k, d], exp of the first d of a row of icf */
    double *sum;      /* [k], of these d */
} mixture;

static mixture open_mixture(const int64_t *size, const void *const *in)
{
    mixture m = {.n = size[0],
                 .d = size[1],
                 .k = size[2],
                 .width = size[1] * (size[1] + 1) / 2,
                 .alpha = in[0],
                 .mean = in[1],
                 .icf = in[2],
                 .x = in[3],
                 .prior = in[4]};
    m.diagonal = calloc((size_t)(m.k * m.d + m.k), sizeof(double));
    m.sum = m.diagonal + m.k * m.d;
    for (int64_t c = 0; c < m.k; c++) {
        m.sum[c] = 0;
        for (int64_t i = 0; i < m.d; i++) {
            m.sum[c] += m.icf[c * m.width + i];
            m.diagonal[c * m.d + i] = exp(m.icf[c * m.width + i]);
        }
    }
    return m;
}

/* away = x - mean, out = Q away, the strict lower part of Q column by column; the square of out's length */
static double along(const mixture *m, int64_t c, const double *x, double *restrict away, double *restrict out)
{
    const int64_t d = m->d;
    const double *l = m->icf + c * m->width + d, *q = m->diagonal + c * d, *mean = m->mean + c * d;
    double square = 0;
    for (int64_t i = 0; i < d; i++)
        away[i] = x[i] - mean[i], out[i] = q[i] * away[i];
    for (int64_t j = 0; j < d; l += d - 1 - j, j++)
        for (int64_t i = j + 1; i < d; i++)
            out[i] += l[i - j - 1] * away[j];
    for (int64_t i = 0; i < d; i++)
        square += out[i] * out[i];
    return square;
}

static double logsumexp(const double *v, int64_t n, double *share) /* share: what each has of it; or NULL */
{
    double most = v[0], sum = 0;
    for (int64_t i = 1; i < n; i++)
        most = v[i] > most ? v[i] : most;
    for (int64_t i = 0; i < n; i++)
        sum += exp(v[i] - most);
    for (int64_t i = 0; share && i < n; i++)
        share[i] = exp(v[i] - most) / sum;
    return log(sum) + most;
}

/* What the prior adds to the value; dq, the gradient by icf, or NULL */
static double wishart(const mixture *m, double *dq)
{
    const double gamma = m->prior[0];
    double out = -m->prior[2];
    for (int64_t c = 0; c < m->k; c++) {
        const double *q = m->diagonal + c * m->d, *icf = m->icf + c * m->width;
        for (int64_t i = 0; i < m->d; i++) {
            out += 0.5 * gamma * gamma * q[i] * q[i] - m->prior[1] * icf[i];
            if (dq)
                dq[c * m->width + i] += gamma * gamma * q[i] * q[i] - m->prior[1];
        }
        for (int64_t i = m->d; i < m->width; i++) {
            out += 0.5 * gamma * gamma * icf[i] * icf[i];
            if (dq)
                dq[c * m->width + i] += gamma * gamma * icf[i];
        }
    }
    return out;
}

static double constant(const mixture *m)
{
    return -0.5 * (double)(m->n * m->d) * 1.8378770664093453; /* log(2 pi), pi as ADBench has it */
}

void tessera_values(const int64_t *size, const void *const *in, double *const *out)
{
    mixture m = open_mixture(size, in);
    double *away = calloc((size_t)(2 * m.d + m.k), sizeof(double)), *q = away + m.d, *inner = q + m.d;
    double value = constant(&m) + wishart(&m, NULL) - (double)m.n * logsumexp(m.alpha, m.k, NULL);
    for (int64_t i = 0; i < m.n; i++) {
        for (int64_t c = 0; c < m.k; c++)
            inner[c] = m.alpha[c] + m.sum[c] - 0.5 * along(&m, c, m.x + i * m.d, away, q);
        value += logsumexp(inner, m.k, NULL);
    }
    *out[0] = value;
    free(away), free(m.diagonal);
}

/* What a point, `away` [d] from the mean of Gaussian c and turned [d], brings to slopes 2 and 3; c has `share` of it */
static void add_point(const mixture *m, int64_t c, double share, const double *away, const double *turned,
                      double *const *slope)
{
    const int64_t d = m->d;
    double *dmean = slope[2], *dicf = slope[3];
    const double *l = m->icf + c * m->width + d, *q = m->diagonal + c * d;
    double *dl = dicf + c * m->width + d, *dq = dicf + c * m->width;
    for (int64_t i = 0; i < d; i++) {
        dq[i] += share * (1 - turned[i] * q[i] * away[i]);
        dmean[c * d + i] += share * q[i] * turned[i];
    }
    for (int64_t j = 0; j < d; l += d - 1 - j, dl += d - 1 - j, j++) {
        double sum = 0;
        for (int64_t i = j + 1; i < d; i++) {
            sum += l[i - j - 1] * turned[i];
            dl[i - j - 1] -= share * turned[i] * away[j];
        }
        dmean[c * d + j] += share * sum;
    }
}

void tessera_slopes(const int64_t *size, const void *const *in, double *const *out)
{
    mixture m = open_mixture(size, in);
    const size_t each = (size_t)(m.k * m.d);
    double *away = calloc(2 * each + 2 * (size_t)m.k, sizeof(double)), *q = away + each, *inner = q + each;
    double *share = inner + m.k, *dalpha = out[1];
    memset(out[2], 0, each * sizeof(double));
    memset(out[3], 0, (size_t)(m.k * m.width) * sizeof(double));
    double value = constant(&m) + wishart(&m, out[3]) - (double)m.n * logsumexp(m.alpha, m.k, dalpha);
    for (int64_t c = 0; c < m.k; c++)
        dalpha[c] *= -(double)m.n;
    for (int64_t i = 0; i < m.n; i++) {
        for (int64_t c = 0; c < m.k; c++)
            inner[c] = m.alpha[c] + m.sum[c] - 0.5 * along(&m, c, m.x + i * m.d, away + c * m.d, q + c * m.d);
        value += logsumexp(inner, m.k, share);
        for (int64_t c = 0; c < m.k; c++) {
            dalpha[c] += share[c];
            add_point(&m, c, share[c], away + c * m.d, q + c * m.d, out);
        }
    }
    *out[0] = value;
    free(away), free(m.diagonal);
}
