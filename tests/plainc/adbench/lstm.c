/* lstm.c - the LSTM of ADBench in plain C, its gradient by hand: what `tessera adbench lstm --against` takes, when
 * compiled as a shared object. in: main [2 l, 4 b], extra [3, b], state [2 l, b], sequence [c, b]. out: the loss; the
 * gradients by main and extra. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* One layer in one step, of state [h, cell]: gates [4, b] as they are after their functions, then the cell, its tanh
 * and what goes on */
static void layer(int64_t b, const double *restrict w, const double *restrict x, const double *restrict state,
                  double *restrict g)
{
    const double *v = w + 4 * b, *h = state, *cell = state + b;
    for (int64_t i = 0; i < b; i++) {
        g[i] = sigmoid(x[i] * w[i] + v[i]);
        g[b + i] = sigmoid(h[i] * w[b + i] + v[b + i]);
        g[2 * b + i] = sigmoid(x[i] * w[2 * b + i] + v[2 * b + i]);
        g[3 * b + i] = tanh(h[i] * w[3 * b + i] + v[3 * b + i]);
        g[4 * b + i] = cell[i] * g[i] + g[b + i] * g[3 * b + i];
        g[5 * b + i] = tanh(g[4 * b + i]);
        g[6 * b + i] = g[2 * b + i] * g[5 * b + i];
    }
}

enum { KEPT = 7 }; /* rows of b kept of a layer in a step: those six, and what went on */

/* All steps; kept [c - 1, l, KEPT, b], or that of one step only, again and again. The loss. */
static double forth(const int64_t *size, const void *const *in, double *kept, int whole, double *y, double *norm)
{
    const int64_t l = size[0], c = size[1], b = size[2], step = l * KEPT * b;
    const double *w = in[0], *e = in[1], *s = in[2], *bits = in[3];
    double loss = 0, *was = calloc((size_t)(2 * l * b + b), sizeof(double)), *x = was + 2 * l * b;
    memcpy(was, s, sizeof(double) * (size_t)(2 * l * b));
    for (int64_t t = 0; t + 1 < c; t++) {
        double *at = kept + (whole ? t * step : 0), sum = 2, dot = 0, count = 0;
        for (int64_t i = 0; i < b; i++)
            x[i] = bits[t * b + i] * e[i];
        const double *from = x;
        for (int64_t k = 0; k < l; k++) {
            double *own = at + k * KEPT * b;
            layer(b, w + 8 * k * b, from, was + 2 * k * b, own);
            from = own + 6 * b;
            memcpy(was + 2 * k * b, own + 6 * b, sizeof(double) * (size_t)b);
            memcpy(was + (2 * k + 1) * b, own + 4 * b, sizeof(double) * (size_t)b);
        }
        for (int64_t i = 0; i < b; i++) {
            const double v = from[i] * e[b + i] + e[2 * b + i], gold = bits[(t + 1) * b + i];
            y[(whole ? t * b : 0) + i] = exp(v);
            sum += exp(v), dot += gold * v, count += gold;
        }
        norm[whole ? t : 0] = sum;
        loss += dot - count * log(sum);
    }
    free(was);
    return -loss / (double)((c - 1) * b);
}

void tessera_values(const int64_t *size, const void *const *in, double *const *out)
{
    double *kept = calloc((size_t)((size[0] * KEPT + 1) * size[2] + 1), sizeof(double)),
           *y = kept + size[0] * KEPT * size[2];
    *out[0] = forth(size, in, kept, 0, y, y + size[2]);
    free(kept);
}

typedef struct passed { /* what a layer took in a step, and its gates [4, b] and what came of them */
    const double *w, *x, *h, *cell, *gates;
} passed;

/* One layer back in one step: d [dh, dcell] is what its results receive, and becomes what its states do; dx is what its
 * input receives. */
static void layer_back(int64_t b, const passed *p, double *restrict d, double *restrict dx, double *restrict dw)
{
    const double *restrict w = p->w, *restrict x = p->x, *restrict h = p->h, *restrict cell = p->cell,
                           *restrict g = p->gates;
    double *dh = d, *dcell = d + b, *dv = dw + 4 * b;
    for (int64_t i = 0; i < b; i++) {
        const double f = g[i], in = g[b + i], o = g[2 * b + i], ch = g[3 * b + i], th = g[5 * b + i];
        const double dc = dcell[i] + dh[i] * o * (1 - th * th);
        const double df = dc * cell[i] * f * (1 - f), di = dc * ch * in * (1 - in);
        const double dout = dh[i] * th * o * (1 - o), dch = dc * in * (1 - ch * ch);
        dw[i] += df * x[i], dv[i] += df;
        dw[b + i] += di * h[i], dv[b + i] += di;
        dw[2 * b + i] += dout * x[i], dv[2 * b + i] += dout;
        dw[3 * b + i] += dch * h[i], dv[3 * b + i] += dch;
        dx[i] = df * w[i] + dout * w[2 * b + i];
        dh[i] = di * w[b + i] + dch * w[3 * b + i];
        dcell[i] = dc * f;
    }
}

void tessera_slopes(const int64_t *size, const void *const *in, double *const *out)
{
    const int64_t l = size[0], c = size[1], b = size[2], step = l * KEPT * b;
    const double *w = in[0], *e = in[1], *s = in[2], *bits = in[3];
    double *kept = calloc((size_t)((c - 1) * (step + b + 1) + (2 * l + 2) * b), sizeof(double));
    double *y = kept + (c - 1) * step, *norm = y + (c - 1) * b, *d = norm + c - 1, *dx = d + 2 * l * b, *x = dx + b;
    const double scale = -1 / (double)((c - 1) * b);
    *out[0] = forth(size, in, kept, 1, y, norm);
    memset(out[1], 0, sizeof(double) * (size_t)(8 * l * b));
    memset(out[2], 0, sizeof(double) * (size_t)(3 * b));
    memset(d, 0, sizeof(double) * (size_t)(2 * l * b));
    for (int64_t t = c - 2; t >= 0; t--) {
        const double *at = kept + t * step, *last = at + (l - 1) * KEPT * b + 6 * b;
        double count = 0;
        for (int64_t i = 0; i < b; i++)
            count += bits[(t + 1) * b + i], x[i] = bits[t * b + i] * e[i];
        for (int64_t i = 0; i < b; i++) {
            const double dy = scale * (bits[(t + 1) * b + i] - count * y[t * b + i] / norm[t]);
            out[2][b + i] += dy * last[i], out[2][2 * b + i] += dy;
            dx[i] = dy * e[b + i];
        }
        for (int64_t k = l - 1; k >= 0; k--) {
            const double *own = at + k * KEPT * b, *before = own - step;
            double *dh = d + 2 * k * b;
            for (int64_t i = 0; i < b; i++)
                dh[i] += dx[i];
            const passed p = {w + 8 * k * b, k ? own - b : x, t ? before + 6 * b : s + 2 * k * b,
                              t ? before + 4 * b : s + (2 * k + 1) * b, own};
            layer_back(b, &p, dh, dx, out[1] + 8 * k * b);
        }
        for (int64_t i = 0; i < b; i++)
            out[2][i] += dx[i] * bits[t * b + i];
    }
    free(kept);
}
