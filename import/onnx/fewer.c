/* fewer.c - scales are chosen so that the largest element of a column or block is kept. */
#include "import/onnx/fewer.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LEVELS_8 = 127, ZERO_4 = 8, MOST_4 = 15 };

typedef struct sums {
    double off, all; /* of squares: of the differences, of the elements */
} sums;

static float at(const matrix *w, int64_t i, int64_t j)
{
    float v;
    memcpy(&v, (const char *)w->data + (i * w->of_row + j * w->of_column) * (int64_t)sizeof v, sizeof v);
    return v;
}

static float in_order(const matrix *w, int64_t i)
{
    float v;
    memcpy(&v, (const char *)w->data + i * (int64_t)sizeof v, sizeof v);
    return v;
}

static void count(sums *s, double v, double q)
{
    s->off += (v - q) * (v - q), s->all += v * v;
}

static double relative(const sums *s)
{
    return s->all > 0 ? sqrt(s->off / s->all) : 0;
}

bool fewer_fits(const matrix *w)
{
    for (int64_t i = 0; i < w->k * w->n; i++)
        if (!isfinite(in_order(w, i)))
            return false;
    return true;
}

/* Scales, zeros, numbers, in this order; a file may say that they are more than there is memory. */
static bool make(fewer *f, int64_t scales, int64_t bytes, err *e)
{
    size_t head;
    *f = (fewer){.scales = scales, .bytes = (size_t)bytes};
    if (!size_mul((size_t)scales, sizeof *f->scale + 1, &head) || !size_add(head, f->bytes, &f->size))
        return err_memory(e, SIZE_MAX, "quantized weights");
    f->pages = pages_map(f->size, e);
    if (!f->pages)
        return false;
    f->scale = (float *)(void *)f->pages;
    f->zeros = f->pages + (size_t)scales * sizeof *f->scale, f->numbers = f->pages + head;
    return true;
}

void fewer_free(fewer *f)
{
    pages_unmap(f->pages, f->size);
    *f = (fewer){0};
}

/* ---- 8 bits ---- */
/* The column of element i in memory. */
static int64_t column_of(const matrix *w, int64_t i)
{
    return w->of_column == 1 ? i % w->n : i / w->k;
}

bool fewer_by_column(const matrix *w, fewer *out, err *e)
{
    const int64_t count_all = w->k * w->n;
    sums s = {0};
    if (!make(out, w->n, count_all, e))
        return false;
    float *scales = out->scale;
    int8_t *q = out->numbers;
    for (int64_t i = 0; i < count_all; i++) {
        float *most = &scales[column_of(w, i)];
        *most = fmaxf(*most, fabsf(in_order(w, i)));
    }
    for (int64_t j = 0; j < w->n; j++) /* a column of zeros needs a scale, too */
        scales[j] = fmaxf(scales[j] / LEVELS_8, FLT_MIN);
    for (int64_t i = 0; i < count_all; i++) {
        const float v = in_order(w, i), scale = scales[column_of(w, i)];
        q[i] = (int8_t)fmaxf(-LEVELS_8, fminf(LEVELS_8, rintf(v / scale)));
        count(&s, v, (double)q[i] * scale);
    }
    out->error = relative(&s);
    return true;
}

/* ---- 4 bits ---- */
static int nearest(float v, float scale)
{
    return scale == 0 ? ZERO_4 : (int)fmaxf(0, fminf(MOST_4, rintf(v / scale) + ZERO_4));
}

static sums sums_of(int n, const float *v, float scale)
{
    sums s = {0};
    for (int i = 0; i < n; i++)
        count(&s, v[i], (double)(nearest(v[i], scale) - ZERO_4) * scale);
    return s;
}

/* Numbers go from -8 to 7: the element of the largest size becomes -8, whatever its sign, or 7 where that is nearer to
 * the block as a whole. */
static float scale_of(int n, const float *v, sums *s)
{
    float most = 0;
    for (int i = 0; i < n; i++)
        most = fabsf(v[i]) > fabsf(most) ? v[i] : most;
    const float way[] = {most / -ZERO_4, most / (ZERO_4 - 1)};
    const sums off[] = {sums_of(n, v, way[0]), sums_of(n, v, way[1])};
    const int best = off[1].off < off[0].off;
    s->off += off[best].off, s->all += off[best].all;
    return way[best];
}

bool fewer_by_block(const matrix *w, int block, fewer *out, err *e)
{
    const int64_t blocks = (w->k + block - 1) / block;
    float v[FEWER_BLOCK];
    sums s = {0};
    if (!make(out, w->n * blocks, w->n * blocks * (block / 2), e))
        return false;
    uint8_t *q = out->numbers;
    for (int64_t b = 0; b < blocks; b++) /* all columns of a few rows: lines of memory are read once */
        for (int64_t j = 0; j < w->n; j++) {
            const int64_t which = j * blocks + b;
            const int n = (int)int_min(block, w->k - b * block);
            memset(v, 0, sizeof v); /* what lies behind the last row is zero */
            for (int i = 0; i < n; i++)
                v[i] = at(w, b * block + i, j);
            const float scale = out->scale[which] = scale_of(n, v, &s);
            for (int i = 0; i < block; i++)
                q[which * (block / 2) + i / 2] |= (uint8_t)(nearest(v[i], scale) << (i % 2 * 4));
        }
    out->error = relative(&s);
    return true;
}
