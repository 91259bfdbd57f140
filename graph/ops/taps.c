/* taps.c - the rules for coordinates as the specification has them, and the filters around them. */
#include "graph/ops/taps.h"

#include <math.h>
#include <string.h>

/* ---- helpers: coordinates ---- */
typedef struct point { /* of the result, whose coordinate in the operand is asked */
    const line *l;
    double i, length; /* its place; how long the result counts as */
} point;
typedef double coordinate(const point *p);

/* A coordinate that is a whole number, or half of one, is so to the bit: all that is rounded is the last quotient. */
static double half(const point *p)
{
    return (p->i + 0.5) * p->l->down / p->l->up;
}

static double half_pixel(const point *p)
{
    return half(p) - 0.5;
}

static double pytorch_half_pixel(const point *p)
{
    return p->l->out > 1 ? half(p) - 0.5 : 0;
}

static double half_pixel_symmetric(const point *p)
{
    const double wide = p->l->up * (double)p->l->in / p->l->down;
    return (double)p->l->in / 2 * (1 - (double)p->l->out / wide) + half(p) - 0.5;
}

static double align_corners(const point *p)
{
    return p->length == 1 ? 0 : p->i * (double)(p->l->in - 1) / (p->length - 1);
}

static double asymmetric(const point *p)
{
    return p->i * p->l->down / p->l->up;
}

static double crop_and_resize(const point *p)
{
    const double last = (double)(p->l->in - 1), width = (p->l->end - p->l->start) * last;
    return p->l->start * last + (p->length == 1 ? width / 2 : p->i * width / (p->length - 1));
}

static const struct {
    const char *name;
    coordinate *rule;
} rules[] = {
    {"half_pixel", half_pixel},
    {"align_corners", align_corners},
    {"asymmetric", asymmetric},
    {"tf_half_pixel_for_nn", half},
    {"pytorch_half_pixel", pytorch_half_pixel},
    {"half_pixel_symmetric", half_pixel_symmetric},
    {"tf_crop_and_resize", crop_and_resize},
};

static coordinate *rule_of(const char *name)
{
    for (int i = 0; i < COUNT(rules); i++)
        if (!strcmp(rules[i].name, name))
            return rules[i].rule;
    return NULL;
}

bool taps_check(const char *coordinates, err *e)
{
    text known = {0};
    if (rule_of(coordinates))
        return true;
    for (int i = 0; i < COUNT(rules); i++)
        text_add(&known, "%s%s", i ? ", " : "", rules[i].name);
    err_set(e, TS_BAD_INPUT, "coordinates: \"%s\" is none of %s", coordinates, text_str(&known));
    return text_free(&known), false;
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
    coordinate *const rule = rule_of(w->coordinates);
    int64_t count;
    MUST(rule);
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
        const double x = rule(&(point){l, (double)i, length});
        t->beyond[i] = !strcmp(w->coordinates, "tf_crop_and_resize") && !(x >= 0 && x <= (double)(l->in - 1));
        fill_row(w, l, t->beyond[i] ? 0 : x, i, t);
    }
    return true;
}
