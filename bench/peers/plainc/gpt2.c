/* gpt2.c - a step of training of GPT-2 (Radford et al. 2019) as one would write it in plain C, for the peer plainc:
 * forward, mean cross-entropy, backward, clipping, AdamW, in f32. Loops over rows run on OpenMP's threads, products go
 * four rows at a time, and nothing else is done for speed that the compiler does not do.
 *
 *   x = wte[id] + wpe[place];  per layer  x += proj(attend(qkv(norm(x)))),  x += down(gelu(up(norm(x))))
 *   logits = norm(x) wte'
 *
 * B examples of T tokens are R = B T rows; C width, H heads of D = C / H, V words. Weights [in, out], and in
 * the order of enum weight below; plainc.py makes the list. A model owns its arrays; nothing is given back before the
 * process ends. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 4 }; /* rows of a product that share what is read of the other factor */
/* Of a layer; LAYER of them. Before all layers wte and wpe, behind them scale and shift of the last norm. */
enum weight { NORM1, NORM1_B, QKV, QKV_B, PROJ, PROJ_B, NORM2, NORM2_B, UP, UP_B, DOWN, DOWN_B, LAYER };
enum { WTE, WPE, TABLES };

typedef struct sizes {
    int64_t B, T, C, H, V, P, L; /* P: positions of wpe; L: layers */
} sizes;

typedef struct tensor {
    int64_t n;
    bool decays; /* matrices do, scales and shifts do not */
    float *w, *g, *m, *v;
} tensor;

typedef struct spread {
    float *mean, *over; /* of each row: the mean, and 1 / deviation */
} spread;

typedef struct layer {
    spread spread1, spread2;
    float *norm1, *norm2;                              /* [R, C] */
    float *qkv, *weight, *seen, *mid, *up, *act, *out; /* [R, 3C], [B, H, T, T], [R, C] twice, [R, 4C] twice, [R, C] */
} layer;

typedef struct gpt2 {
    sizes s;
    int n;
    tensor *t;
    layer *layer;
    spread spread;
    float *first, *norm, *logits;                    /* [R, C] twice, [R, V] */
    float *dx, *dn, *dwide, *dseen, *dqkv, *dweight; /* [R, C] twice, [R, 4C], [R, C], [R, 3C], [B, H, T, T] */
} gpt2;

/* ---- products ---- */
typedef struct factor {
    const float *at;
    int64_t row, column; /* from one to the next */
} factor;

/* y[m, n] += sum over k of a(m, k) b[k, n] */
static void product(int64_t m, int64_t n, int64_t k, factor a, const float *b, float *y)
{
#pragma omp parallel for
    for (int64_t i = 0; i < m; i += TILE)
        for (int64_t l = 0; l < k; l++) {
            const float *restrict from = b + l * n;
            if (i + TILE > m) {
                for (int64_t r = i; r < m; r++)
                    for (int64_t j = 0; j < n; j++)
                        y[r * n + j] += a.at[r * a.row + l * a.column] * from[j];
                continue;
            }
            const float *at = a.at + i * a.row + l * a.column;
            const float a0 = at[0], a1 = at[a.row], a2 = at[2 * a.row], a3 = at[3 * a.row];
            float *restrict y0 = y + i * n, *restrict y1 = y0 + n, *restrict y2 = y1 + n, *restrict y3 = y2 + n;
            for (int64_t j = 0; j < n; j++) {
                y0[j] += a0 * from[j], y1[j] += a1 * from[j];
                y2[j] += a2 * from[j], y3[j] += a3 * from[j];
            }
        }
}

/* y[m, n] = sum over k of a[m, k] b[n, k] */
static void product_turned(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *y)
{
#pragma omp parallel for
    for (int64_t i = 0; i < m; i += TILE)
        for (int64_t j = 0; j < n; j++) {
            const float *restrict right = b + j * k;
            for (int64_t r = i; i + TILE > m && r < m; r++) {
                float sum = 0;
                for (int64_t l = 0; l < k; l++)
                    sum += a[r * k + l] * right[l];
                y[r * n + j] = sum;
            }
            if (i + TILE > m)
                continue;
            const float *a0 = a + i * k, *a1 = a0 + k, *a2 = a1 + k, *a3 = a2 + k;
            float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
            for (int64_t l = 0; l < k; l++) {
                s0 += a0[l] * right[l], s1 += a1[l] * right[l];
                s2 += a2[l] * right[l], s3 += a3[l] * right[l];
            }
            float *to = y + i * n + j;
            to[0] = s0, to[n] = s1, to[2 * n] = s2, to[3 * n] = s3;
        }
}

/* y[R, out] = x[R, in] w + b */
static void dense(int64_t R, const float *x, const tensor *w, float *y)
{
    const int64_t out = w[1].n, in = w[0].n / out;
    for (int64_t r = 0; r < R; r++)
        memcpy(y + r * out, w[1].w, (size_t)out * sizeof *y);
    product(R, out, in, (factor){x, in, 1}, w->w, y);
}

/* Of dy[R, out]: w's and b's gradients, and dx[R, in] */
static void dense_back(int64_t R, const float *x, const tensor *w, const float *dy, float *dx)
{
    const int64_t out = w[1].n, in = w[0].n / out;
    product(in, out, R, (factor){x, 1, in}, dy, w->g);
    for (int64_t r = 0; r < R; r++)
        for (int64_t j = 0; j < out; j++)
            w[1].g[j] += dy[r * out + j];
    product_turned(R, in, out, dy, w->w, dx);
}

/* ---- normalisation of rows ---- */
static void norm(const gpt2 *g, const float *x, const tensor *w, float *y, spread s)
{
    const int64_t R = g->s.B * g->s.T, C = g->s.C;
#pragma omp parallel for
    for (int64_t r = 0; r < R; r++) {
        const float *in = x + r * C;
        float sum = 0, square = 0;
        for (int64_t c = 0; c < C; c++)
            sum += in[c];
        const float m = sum / (float)C;
        for (int64_t c = 0; c < C; c++)
            square += (in[c] - m) * (in[c] - m);
        const float o = 1 / sqrtf(square / (float)C + 1e-5f);
        for (int64_t c = 0; c < C; c++)
            y[r * C + c] = (in[c] - m) * o * w[0].w[c] + w[1].w[c];
        s.mean[r] = m, s.over[r] = o;
    }
}

/* Adds to dx what comes through the norm of x from dy. */
static void norm_back(const gpt2 *g, const float *x, const tensor *w, spread s, float *dx)
{
    const int64_t R = g->s.B * g->s.T, C = g->s.C;
    const float *dy = g->dn;
    for (int64_t r = 0; r < R; r++) {
        const float *in = x + r * C, *d = dy + r * C;
        float sum = 0, along = 0;
        for (int64_t c = 0; c < C; c++) {
            const float unit = (in[c] - s.mean[r]) * s.over[r], by = d[c] * w[0].w[c];
            sum += by, along += by * unit;
            w[0].g[c] += d[c] * unit, w[1].g[c] += d[c];
        }
        sum /= (float)C, along /= (float)C;
        for (int64_t c = 0; c < C; c++)
            dx[r * C + c] += s.over[r] * (d[c] * w[0].w[c] - sum - (in[c] - s.mean[r]) * s.over[r] * along);
    }
}

/* ---- attention ---- */
typedef struct head { /* of one example; from row to row there are 3 C numbers, from q to k to v in it C */
    const sizes *s;
    const float *qkv;
    float *dqkv;
} head;

static void attend_row(const head *h, int64_t t, float *weight, float *seen)
{
    const sizes *s = h->s;
    const int64_t D = s->C / s->H, step = 3 * s->C;
    const float *qkv = h->qkv, *q = qkv + t * step, scale = 1 / sqrtf((float)D);
    float most = -INFINITY, sum = 0;
    for (int64_t k = 0; k <= t; k++) {
        const float *key = qkv + k * step + s->C;
        float dot = 0;
        for (int64_t d = 0; d < D; d++)
            dot += q[d] * key[d];
        weight[k] = dot * scale;
        most = fmaxf(most, weight[k]);
    }
    for (int64_t k = 0; k <= t; k++)
        sum += weight[k] = expf(weight[k] - most);
    memset(seen, 0, (size_t)D * sizeof *seen);
    for (int64_t k = 0; k <= t; k++) {
        const float *value = qkv + k * step + 2 * s->C;
        weight[k] /= sum;
        for (int64_t d = 0; d < D; d++)
            seen[d] += weight[k] * value[d];
    }
}

static void attend_row_back(const head *h, int64_t t, const float *weight, const float *dseen, float *dweight)
{
    const sizes *s = h->s;
    const int64_t D = s->C / s->H, step = 3 * s->C;
    const float *qkv = h->qkv, *q = qkv + t * step, scale = 1 / sqrtf((float)D);
    float *dqkv = h->dqkv, *dq = dqkv + t * step, mean = 0;
    for (int64_t k = 0; k <= t; k++) {
        const float *value = qkv + k * step + 2 * s->C;
        float *dvalue = dqkv + k * step + 2 * s->C, dot = 0;
        for (int64_t d = 0; d < D; d++) {
            dot += dseen[d] * value[d];
            dvalue[d] += weight[k] * dseen[d];
        }
        dweight[k] = dot;
        mean += dot * weight[k];
    }
    for (int64_t k = 0; k <= t; k++) {
        const float *key = qkv + k * step + s->C, ds = weight[k] * (dweight[k] - mean) * scale;
        float *dkey = dqkv + k * step + s->C;
        for (int64_t d = 0; d < D; d++) {
            dq[d] += ds * key[d];
            dkey[d] += ds * q[d];
        }
    }
}

static void attend(const gpt2 *g, const layer *l, bool back)
{
    const sizes *s = &g->s;
    const int64_t D = s->C / s->H;
#pragma omp parallel for
    for (int64_t i = 0; i < s->B * s->H; i++) {
        const int64_t row = i / s->H * s->T, at = row * 3 * s->C + i % s->H * D;
        const head h = {s, l->qkv + at, g->dqkv + at};
        for (int64_t t = 0; t < s->T; t++) {
            const int64_t to = (row + t) * s->C + i % s->H * D, w = (i * s->T + t) * s->T;
            if (back)
                attend_row_back(&h, t, l->weight + w, g->dseen + to, g->dweight + w);
            else
                attend_row(&h, t, l->weight + w, l->seen + to);
        }
    }
}

/* ---- gelu by tanh: x (1 + tanh(a (x + b x^3))) / 2 ---- */
static const float gelu_a = 0.7978845608f, gelu_b = 0.044715f;

static void gelu(int64_t n, const float *x, float *y)
{
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        y[i] = 0.5f * x[i] * (1 + tanhf(gelu_a * (x[i] + gelu_b * x[i] * x[i] * x[i])));
}

static void gelu_back(int64_t n, const float *x, float *d)
{
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        const float t = tanhf(gelu_a * (x[i] + gelu_b * x[i] * x[i] * x[i]));
        d[i] *= 0.5f * (1 + t) + 0.5f * x[i] * (1 - t * t) * gelu_a * (1 + 3 * gelu_b * x[i] * x[i]);
    }
}

/* ---- the network ---- */
static tensor *of_layer(const gpt2 *g, int64_t l)
{
    return g->t + TABLES + l * LAYER;
}

static void add(int64_t n, const float *a, float *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] += a[i];
}

static void embed(const gpt2 *g, const int64_t *id, bool back)
{
    const int64_t C = g->s.C;
    for (int64_t r = 0; r < g->s.B * g->s.T; r++) {
        const int64_t word = id[r] * C, place = r % g->s.T * C;
        for (int64_t c = 0; c < C; c++)
            if (back)
                g->t[WTE].g[word + c] += g->dx[r * C + c], g->t[WPE].g[place + c] += g->dx[r * C + c];
            else
                g->first[r * C + c] = g->t[WTE].w[word + c] + g->t[WPE].w[place + c];
    }
}

static const float *into(const gpt2 *g, int64_t l)
{
    return l ? g->layer[l - 1].out : g->first;
}

static void forward(const gpt2 *g, const int64_t *id)
{
    const int64_t R = g->s.B * g->s.T, C = g->s.C;
    embed(g, id, false);
    for (int64_t i = 0; i < g->s.L; i++) {
        const layer *l = &g->layer[i];
        const tensor *t = of_layer(g, i);
        norm(g, into(g, i), t + NORM1, l->norm1, l->spread1);
        dense(R, l->norm1, t + QKV, l->qkv);
        attend(g, l, false);
        dense(R, l->seen, t + PROJ, l->mid);
        add(R * C, into(g, i), l->mid);
        norm(g, l->mid, t + NORM2, l->norm2, l->spread2);
        dense(R, l->norm2, t + UP, l->up);
        gelu(4 * R * C, l->up, l->act);
        dense(R, l->act, t + DOWN, l->out);
        add(R * C, l->mid, l->out);
    }
    norm(g, into(g, g->s.L), of_layer(g, g->s.L), g->norm, g->spread);
    product_turned(R, g->s.V, C, g->norm, g->t[WTE].w, g->logits);
}

/* The mean of -log softmax(logits)[label]; logits become its gradient by them. */
static double loss_and_slope(const gpt2 *g, const int64_t *label)
{
    const int64_t R = g->s.B * g->s.T, V = g->s.V;
    double loss = 0;
#pragma omp parallel for reduction(+ : loss)
    for (int64_t r = 0; r < R; r++) {
        float *x = g->logits + r * V, most = x[0], sum = 0;
        for (int64_t j = 1; j < V; j++)
            most = fmaxf(most, x[j]);
        const float own = x[label[r]] - most;
        for (int64_t j = 0; j < V; j++)
            sum += x[j] = expf(x[j] - most);
        for (int64_t j = 0; j < V; j++)
            x[j] /= sum * (float)R;
        x[label[r]] -= 1 / (float)R;
        loss += log((double)sum) - (double)own;
    }
    return loss / (double)R;
}

static void layer_back(const gpt2 *g, int64_t i)
{
    const int64_t R = g->s.B * g->s.T, C = g->s.C;
    const layer *l = &g->layer[i];
    const tensor *t = of_layer(g, i);
    dense_back(R, l->act, t + DOWN, g->dx, g->dwide);
    gelu_back(4 * R * C, l->up, g->dwide);
    dense_back(R, l->norm2, t + UP, g->dwide, g->dn);
    norm_back(g, l->mid, t + NORM2, l->spread2, g->dx);
    dense_back(R, l->seen, t + PROJ, g->dx, g->dseen);
    memset(g->dqkv, 0, (size_t)(3 * R * C) * sizeof *g->dqkv);
    attend(g, l, true);
    dense_back(R, l->norm1, t + QKV, g->dqkv, g->dn);
    norm_back(g, into(g, i), t + NORM1, l->spread1, g->dx);
}

static void backward(const gpt2 *g, const int64_t *id)
{
    const int64_t R = g->s.B * g->s.T, C = g->s.C, V = g->s.V;
    for (int i = 0; i < g->n; i++)
        memset(g->t[i].g, 0, (size_t)g->t[i].n * sizeof *g->t[i].g);
    memset(g->dn, 0, (size_t)(R * C) * sizeof *g->dn), memset(g->dx, 0, (size_t)(R * C) * sizeof *g->dx);
    product(V, C, R, (factor){g->logits, 1, V}, g->norm, g->t[WTE].g);
    product(R, C, V, (factor){g->logits, V, 1}, g->t[WTE].w, g->dn);
    norm_back(g, into(g, g->s.L), of_layer(g, g->s.L), g->spread, g->dx);
    for (int64_t i = g->s.L - 1; i >= 0; i--)
        layer_back(g, i);
    embed(g, id, true);
}

/* ---- update ---- */
static double gradient_norm(const gpt2 *g)
{
    double all = 0;
    for (int i = 0; i < g->n; i++)
        for (int64_t k = 0; k < g->t[i].n; k++)
            all += (double)g->t[i].g[k] * (double)g->t[i].g[k];
    return sqrt(all);
}

/* AdamW at its usual settings; rate: of this step, the number of which counts from 1 */
static void update(const tensor *t, float by, float rate, int step)
{
    const float b1 = 0.9f, b2 = 0.999f, kept = t->decays ? 1 - rate * 0.01f : 1;
    const float size = rate / (1 - powf(b1, (float)step)), root = 1 / sqrtf(1 - powf(b2, (float)step));
#pragma omp parallel for
    for (int64_t i = 0; i < t->n; i++) {
        const float d = t->g[i] * by;
        t->m[i] = b1 * t->m[i] + (1 - b1) * d;
        t->v[i] = b2 * t->v[i] + (1 - b2) * d * d;
        t->w[i] = t->w[i] * kept - size * t->m[i] / (sqrtf(t->v[i]) * root + 1e-8f);
    }
}

/* ---- from outside ---- */
static float *floats(int64_t n)
{
    return calloc((size_t)n, sizeof(float));
}

static void open_layer(const sizes *s, layer *l)
{
    const int64_t R = s->B * s->T, C = s->C;
    *l = (layer){.spread1 = {floats(R), floats(R)},
                 .spread2 = {floats(R), floats(R)},
                 .norm1 = floats(R * C),
                 .norm2 = floats(R * C),
                 .qkv = floats(3 * R * C),
                 .weight = floats(R * s->H * s->T),
                 .seen = floats(R * C),
                 .mid = floats(R * C),
                 .up = floats(4 * R * C),
                 .act = floats(4 * R * C),
                 .out = floats(R * C)};
}

/* n weights, each with its elements; those of `decays` decay. All are copied. */
gpt2 *gpt2_open(const sizes *s, int n, const float *const *weight, const int64_t *elements, const uint8_t *decays)
{
    const int64_t R = s->B * s->T, C = s->C;
    gpt2 *g = calloc(1, sizeof *g);
    *g = (gpt2){.s = *s, .n = n, .t = calloc((size_t)n, sizeof *g->t), .layer = calloc((size_t)s->L, sizeof *g->layer)};
    for (int i = 0; i < n; i++) {
        const int64_t m = elements[i];
        g->t[i] = (tensor){m, decays[i], floats(m), floats(m), floats(m), floats(m)};
        memcpy(g->t[i].w, weight[i], (size_t)m * sizeof(float));
    }
    for (int64_t i = 0; i < s->L; i++)
        open_layer(s, &g->layer[i]);
    g->spread = (spread){floats(R), floats(R)}, g->first = floats(R * C), g->norm = floats(R * C);
    g->logits = floats(R * s->V), g->dx = floats(R * C), g->dn = floats(R * C), g->dwide = floats(4 * R * C);
    g->dseen = floats(R * C), g->dqkv = floats(3 * R * C), g->dweight = floats(R * s->H * s->T);
    return g;
}

/* id, label: [B, T]. clip: the largest norm, 0: any. out: the loss, the norm of all gradients */
void gpt2_step(gpt2 *g, const int64_t *id, const int64_t *label, const double rate_clip[2], int step, double out[2])
{
    forward(g, id);
    out[0] = loss_and_slope(g, label);
    backward(g, id);
    out[1] = gradient_norm(g);
    const double by = rate_clip[1] > 0 ? fmin(rate_clip[1] / (out[1] + 1e-6), 1) : 1;
    for (int i = 0; i < g->n; i++)
        update(&g->t[i], (float)by, (float)rate_clip[0], step);
}
