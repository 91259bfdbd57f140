/* taps.c - the rules for coordinates as the specification has them, and the filters around them. */
#include "graph/ops/taps.h"

#include <math.h>
#include <string.h>

/* ---- helpers: coordinates ---- */
typedef enum rule { HALF, ALIGN, ASYMMETRIC, NO_HALF, PYTORCH, SYMMETRIC, CROP } rule;
static const char *const rules[] = {"half_pixel",           "align_corners",      "asymmetric",
                                    "tf_half_pixel_for_nn", "pytorch_half_pixel", "half_pixel_symmetric",
                                    "tf_crop_and_resize"};

/* Of place i of the result, which counts as `length` long, the coordinate in the operand. One that is a whole number,
 * or half of one, is so to the bit: all that is rounded is the last quotient. */
static double coordinate(rule how, const line *l, double i, double length)
{
    const double half = (i + 0.5) * l->down / l->up, in = (double)l->in, width = (l->end - l->start) * (in - 1);
    switch (how) {
    case ALIGN: return length == 1 ? 0 : i * (in - 1) / (length - 1);
    case ASYMMETRIC: return i * l->down / l->up;
    case NO_HALF: return half;
    case PYTORCH: return l->out > 1 ? half - 0.5 : 0;
    case SYMMETRIC: return in / 2 * (1 - (double)l->out / (l->up * in / l->down)) + half - 0.5;
    case CROP: return l->start * (in - 1) + (length == 1 ? width / 2 : i * width / (length - 1));
    default: return half - 0.5;
    }
}

bool taps_check(const char *coordinates, err *e)
{
    ENDED_BY(text_free) text known = {0};
    if (ROW_NAMED(rules, coordinates) >= 0)
        return true;
    for (int i = 0; i < COUNT(rules); i++)
        text_add(&known, "%s%s", i ? ", " : "", rules[i]);
    return err_set(e, TS_BAD_INPUT, "coordinates: \"%s\" is none of %s", coordinates, text_str(&known));
}

/* floor_up: as before version 11, down where the axis grows, up where it shrinks. */
static int64_t nearest(const way *w, double scale, double x)
{
    if (!strcmp(w->nearest, "floor_up"))
        return (int64_t)(scale < 1 ? ceil(x) : floor(x));
    if (!strcmp(w->nearest, "floor"))
        return (int64_t)floor(x);
    if (!strcmp(w->nearest, "ceil"))
        return (int64_t)ceil(x);
    return (int64_t)(!strcmp(w->nearest, "round_prefer_ceil") ? floor(x + 0.5) : ceil(x - 0.5));
}

/* ---- helpers: weights ---- */
/* The filter at distance x: a triangle, or the cubic convolution of Keys with its parameter. */
static double filter(const way *w, double x)
{
    const double a = w->cubic;
    x = fabs(x);
    if (!strcmp(w->mode, "linear"))
        return x < 1 ? 1 - x : 0;
    return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static int64_t clamped(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* Row `row` of the table for coordinate x. Antialiasing stretches the filter when the axis shrinks. */
static void fill_row(const way *w, const line *l, double x, int64_t row, taps *t)
{
    int64_t *place = t->place + row * t->n;
    double *weight = t->weight + row * t->n, sum = 0;
    if (t->n == 1) {
        place[0] = clamped(nearest(w, l->scale, x), l->in), weight[0] = 1;
        return;
    }
    const double pace = w->antialias && l->scale < 1 ? l->scale : 1;
    const int64_t first = (int64_t)ceil(x) - t->n / 2;
    for (int k = 0; k < t->n; k++) {
        const int64_t at = first + k;
        place[k] = clamped(at, l->in);
        weight[k] = w->exclude && at != place[k] ? 0 : filter(w, ((double)at - x) * pace);
        sum += weight[k];
    }
    if (w->exclude || w->antialias)
        for (int k = 0; k < t->n; k++)
            weight[k] /= sum;
}

bool taps_fill(arena *mem, const way *w, const line *l, taps *t, err *e)
{
    const double reach = !strcmp(w->mode, "linear") ? 1 : 2;
    const double pace = w->antialias && l->scale < 1 ? l->scale : 1;
    const double wide = ceil(reach / pace);
    const int how = ROW_NAMED(rules, w->coordinates);
    int64_t count;
    MUST(how < COUNT(rules));
    /* The resized length is that of the result, as the specification says; but linear and cubic take in * scale, even
     * where that is no integer, as its cases do. */
    const double length = strcmp(w->mode, "nearest") ? l->up * (double)l->in / l->down : (double)l->out;
    if (!strcmp(w->mode, "nearest"))
        t->n = 1;
    else if (!(wide < 1 << 16))
        return err_set(e, TS_BAD_INPUT, "scale %g: a filter over %g elements, at most 2^16 are possible", l->scale,
                       wide);
    else
        t->n = 2 * (int)wide;
    if (!int_mul(l->out, t->n, &count) || count > 1 << 26)
        return err_set(e, TS_BAD_INPUT,
                       "an axis of %lld elements with %d neighbours each: at most 2^26 in all are possible",
                       (long long)l->out, t->n);
    t->place = arena_array(mem, (size_t)count + 1, sizeof *t->place);
    t->weight = arena_array(mem, (size_t)count + 1, sizeof *t->weight);
    t->beyond = arena_array(mem, (size_t)l->out + 1, sizeof *t->beyond);
    for (int64_t i = 0; i < l->out; i++) {
        const double x = coordinate((rule)how, l, (double)i, length);
        t->beyond[i] = how == CROP && !(x >= 0 && x <= (double)(l->in - 1));
        fill_row(w, l, t->beyond[i] ? 0 : x, i, t);
    }
    return true;
}
