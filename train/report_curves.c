/* Curves by step. Long runs are cut into as many buckets as can be told apart: the line is their mean, the band behind
 * it reaches from the least to the largest. */
#include "train/net.h"
#include "train/report_parts.h"

#include <math.h>
#include <stddef.h>

/* points of a curve; marks of an axis; pixels above and below the plot */
enum { MOST_BUCKETS = 300, MOST_TICKS = 14, ABOVE = 26, BELOW = 38 };

/* Of neighbouring steps: the middle one, and mean, least and largest value. */
typedef struct bucket {
    double x, mean, low, high;
} bucket;
typedef struct curve {
    int n;
    bucket of[MOST_BUCKETS];
    double low, high; /* of all buckets */
} curve;

typedef struct series { /* a number of each metric, in another unit */
    size_t at;
    double per;
} series;

/* ---- numbers in words ---- */
static word say_mib(double mib)
{
    return word_tick(mib, "MiB");
}
static word say_many(double v)
{
    return v >= 999.5e3 ? word_tick(v / 1e6, "M") : v >= 10e3 ? word_tick(v / 1e3, "k") : word_tick(v, "");
}
static word say_time(double ns)
{
    return ns > 0 ? word_time(ns) : (word){"0"};
}

static void widen(curve *c, double low, double high)
{
    c->low = fmin(c->low, low), c->high = fmax(c->high, high);
}

/* Steps without a finite value, as skipped ones have none, are left out of mean and band. */
static curve curve_of(const metrics *m, series of)
{
    curve c = {.low = INFINITY, .high = -INFINITY};
    const int each = (m->n + MOST_BUCKETS - 1) / MOST_BUCKETS;
    for (int i = 0; i < m->n; i += each) {
        bucket b = {0, 0, INFINITY, -INFINITY};
        int n = 0;
        for (int k = i; k < i + each && k < m->n; k++) {
            const double v = of.per * *(const double *)(const void *)((const char *)&m->of[k] + of.at);
            if (!isfinite(v))
                continue;
            b.x += m->of[k].step, b.mean += v, n++;
            b.low = fmin(b.low, v), b.high = fmax(b.high, v);
        }
        if (!n)
            continue;
        b.x /= n, b.mean /= n;
        widen(&c, b.low, b.high);
        c.of[c.n++] = b;
    }
    return c;
}

/* Exponential mean over a twentieth of the run, corrected at its beginning. */
static curve smooth(const curve *from)
{
    curve c = *from;
    const double keep = 1 - 2 / (1 + fmax(1, from->n / 20.0));
    double sum = 0, weight = 0;
    for (int i = 0; i < c.n; i++) {
        sum = keep * sum + from->of[i].mean, weight = keep * weight + 1;
        c.of[i].mean = sum / weight;
    }
    return c;
}

/* ---- drawing ---- */
typedef word say_number(double v);
typedef struct chart {
    const char *title;
    const char *unit; /* what the axis to the left counts */
    say_number *say;
    int width, height, left;
    enum { ANY_VALUE, FROM_ZERO, SHARE } range; /* of its values; SHARE: from 0 to 1 */
} chart;
typedef struct frame {
    axis x, y;
    double top, bottom;
} frame;

/* 6 % of air above and below; a curve that does not move gets a scale all the same. */
static frame frame_of(const chart *c, double first, double last, double low, double high)
{
    double span = high - low;
    if (!(span > 0))
        span = high != 0 ? fabs(high) * 0.2 : 1, low -= span / 2, high += span / 2;
    else
        low -= 0.06 * span, high += 0.06 * span;
    if (c->range == FROM_ZERO)
        low = 0;
    if (c->range == SHARE)
        low = fmax(low, 0), high = fmin(high, 1);
    if (last <= first)
        first -= 0.5, last += 0.5;
    const double bottom = c->height - BELOW;
    return (frame){{first, last, c->left, c->width - 12, false}, {low, high, bottom, ABOVE, false}, ABOVE, bottom};
}

static void grid(text *t, const chart *c, const frame *f)
{
    double mark[MOST_TICKS];
    for (int i = 0, n = axis_ticks(&f->y, mark, c->height / 25); i < n; i++)
        grid_y(t, axis_at(&f->y, mark[i]), c->left, c->width - 12, c->say(mark[i]).s);
    for (int i = 0, n = axis_ticks(&f->x, mark, c->width > 600 ? 14 : 8); i < n; i++)
        if (mark[i] == floor(mark[i]))
            grid_x(t, axis_at(&f->x, mark[i]), f->top, f->bottom, word_count(mark[i]).s);
    html_add(t,
             "<path.axis d='M%d %.0fV%.0fH%d'/><text.soft.small x=%d y=12>%s ↑</text><text.soft.small.mid x=%d "
             "y=%.0f>step →</text>\n",
             c->left, f->top, f->bottom, c->width - 12, c->left - 40, c->unit, (c->left + c->width - 12) / 2,
             f->bottom + 34);
}

/* Along the largest values, and back along the least. */
static void band(text *t, const frame *f, const curve *c)
{
    html_add(t, "<path.fill fill-opacity=.16 d='");
    for (int i = 0; i < c->n; i++)
        text_add(t, "%c%.1f %.1f", i ? 'L' : 'M', axis_at(&f->x, c->of[i].x), axis_at(&f->y, c->of[i].high));
    for (int i = c->n; i-- > 0;)
        text_add(t, "L%.1f %.1f", axis_at(&f->x, c->of[i].x), axis_at(&f->y, c->of[i].low));
    text_add(t, "Z\"/>");
}

/* Of one point a dot, since a path of one point is not drawn. */
static void line(text *t, const frame *f, const curve *c, const char *style)
{
    html_add(t, "<path %-s d=\"", style);
    for (int i = 0; i < c->n; i++)
        text_add(t, "%c%.1f %.1f", i ? 'L' : 'M', axis_at(&f->x, c->of[i].x), axis_at(&f->y, c->of[i].mean));
    text_add(t, "\"/>\n");
    if (c->n == 1)
        html_add(t, "<circle.fill cx=%.1f cy=%.1f r=3/>", axis_at(&f->x, c->of[0].x), axis_at(&f->y, c->of[0].mean));
}

static double value_at(const trial *t, bool accuracy)
{
    return accuracy ? t->accuracy : t->loss;
}

/* A line through what the evaluations found, with its ends named. */
static void trials(text *t, const chart *c, const frame *f, const metrics *m, bool accuracy)
{
    const trial *last = NULL;
    html_add(t, "<g.k1><path.line d='");
    for (int i = 0; i < m->n_trial; i++)
        if (isfinite(value_at(&m->trial[i], accuracy))) {
            const trial *one = &m->trial[i];
            text_add(t, "%c%.1f %.1f", last ? 'L' : 'M', axis_at(&f->x, one->step),
                     axis_at(&f->y, value_at(one, accuracy)));
            last = one;
        }
    text_add(t, "\"/>");
    const int every = (m->n_trial + 79) / 80;
    for (int i = 0; i < m->n_trial; i += every ? every : 1)
        if (isfinite(value_at(&m->trial[i], accuracy)))
            html_add(t, "<circle.hollow cx=%.1f cy=%.1f r=4/>", axis_at(&f->x, m->trial[i].step),
                     axis_at(&f->y, value_at(&m->trial[i], accuracy)));
    if (last)
        html_add(t, "<text.strong.small.end.halo x=%.1f y=%.1f>%s</text>", axis_at(&f->x, last->step) - 2,
                 axis_at(&f->y, value_at(last, accuracy)) - 10, c->say(value_at(last, accuracy)).s);
    html_add(t, "</g>\n");
}

static void in_words(text *t, const chart *c, const curve *v)
{
    const bucket *first = &v->of[0], *last = &v->of[v->n - 1];
    html_add(t, "%s at step %s, %s at step %s; least %s, most %s.", c->say(first->mean).s, word_count(first->x).s,
             c->say(last->mean).s, word_count(last->x).s, c->say(v->low).s, c->say(v->high).s);
}

static void begin(text *t, const chart *c, const curve *v)
{
    html_add(t, "<figure><svg viewBox='0 0 %d %d' role=img><title>%s</title><desc>", c->width, c->height, c->title);
    if (v->n)
        in_words(t, c, v);
    html_add(t, "</desc>\n");
}

/* ---- what is drawn ---- */
static void loss_chart(text *t, const metrics *m)
{
    const chart c = {"Loss by step", "loss", word_real, 980, 300, 56, ANY_VALUE};
    curve raw = curve_of(m, (series){offsetof(metric, loss), 1});
    const curve mean = smooth(&raw);
    for (int i = 0; i < m->n_trial; i++)
        if (isfinite(m->trial[i].loss))
            widen(&raw, m->trial[i].loss, m->trial[i].loss);
    const frame f = frame_of(&c, m->of[0].step, m->of[m->n - 1].step, raw.low, raw.high);
    html_add(t, "<div.legend><span><i.chip style=background:var(--k0)></i>training, mean over a twentieth of the run; "
                "pale: each step</span>");
    if (m->n_trial)
        html_add(t, "<span><i.chip style=background:var(--k1)></i>held-out examples</span>");
    html_add(t, "</div>\n");
    begin(t, &c, &raw);
    grid(t, &c, &f);
    html_add(t, "<g.k0>");
    band(t, &f, &raw);
    line(t, &f, &raw, "class=\"thin\" stroke-opacity=\".38\"");
    line(t, &f, &mean, "class=\"line\"");
    html_add(t, "</g>\n");
    trials(t, &c, &f, m, false);
    html_add(t, "</svg>\n</figure>\n");
}

static void accuracy_chart(text *t, const metrics *m)
{
    const chart c = {"Accuracy on held-out examples by step", "accuracy", word_percent, 980, 220, 56, SHARE};
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < m->n_trial; i++)
        low = fmin(low, m->trial[i].accuracy), high = fmax(high, m->trial[i].accuracy);
    if (!isfinite(low))
        return;
    const curve none = {.n = 0};
    const frame f = frame_of(&c, m->of[0].step, m->of[m->n - 1].step, low, high);
    html_add(t, "<h3>Accuracy on held-out examples</h3>\n");
    begin(t, &c, &none);
    grid(t, &c, &f);
    trials(t, &c, &f, m, true);
    html_add(t, "</svg>\n</figure>\n");
}

static void small_chart(text *t, const metrics *m, const chart *c, series of, double limit)
{
    const curve v = curve_of(m, of);
    if (!v.n)
        return;
    const bool shows_limit = limit > 0 && limit < v.high * 1.2;
    const frame f = frame_of(c, m->of[0].step, m->of[m->n - 1].step, shows_limit ? fmin(limit, v.low) : v.low, v.high);
    html_add(t, "<div><h3>%s</h3>\n", c->title);
    begin(t, c, &v);
    grid(t, c, &f);
    html_add(t, "<g.k0>");
    band(t, &f, &v);
    line(t, &f, &v, "class=\"line\"");
    html_add(t, "</g>\n");
    if (shows_limit)
        html_add(t,
                 "<path.axis stroke-dasharray='5 4' d='M%d %.1fH%d'/><text.soft.small.halo x=%d y=%.1f>scaled down to "
                 "%s</text>",
                 c->left, axis_at(&f.y, limit), c->width - 12, c->width - 150, axis_at(&f.y, limit) - 5,
                 word_real(limit).s);
    html_add(t, "</svg>\n<p.soft>");
    in_words(t, c, &v);
    html_add(t, "</p></figure>\n</div>\n");
}

/* ---- the same as numbers ---- */
static word whole(double v, say_number *say)
{
    return isfinite(v) ? say(v) : (word){"–"};
}

static void table(text *t, const metrics *m)
{
    enum { ROWS = 40 };
    const int every = (m->n + ROWS - 1) / ROWS;
    html_add(
        t, "<details><summary>Some steps as a table; metrics.jsonl has all</summary><sheet>#step|#loss|#gradient norm|"
           "#learning rate|#time|#tokens/s|#memory</sheet>");
    for (int i = 0; i < m->n; i += every ? every : 1) {
        const metric *v = &m->of[i];
        html_add(t, "<row>#%s|#%s|#%s|#%s|#%s|#%s|#%s</row>\n", whole(v->step, word_count).s,
                 whole(v->loss, word_real).s, whole(v->norm, word_real).s, whole(v->lr, word_real).s,
                 whole(1e6 * v->ms, word_time).s, whole(v->rate, word_number).s, whole(v->memory, word_bytes).s);
    }
    html_add(t, "<end/></details>\n");
}

const char *story_learning(text *t, const story *s)
{
    if (!s->metrics.n)
        return "no step was made";
    loss_chart(t, &s->metrics);
    accuracy_chart(t, &s->metrics);
    return NULL;
}

const char *story_steps(text *t, const story *s)
{
    const struct {
        chart chart;
        series of;
        double limit;
    } all[] = {
        {{"Norm of the gradients, before clipping", "norm", word_real, 480, 220, 56, FROM_ZERO},
         {offsetof(metric, norm), 1},
         s->asked->clip},
        {{"Learning rate", "learning rate", word_real, 480, 220, 66, FROM_ZERO}, {offsetof(metric, lr), 1}, 0},
        {{"Time of a step", "time", say_time, 480, 220, 66, FROM_ZERO}, {offsetof(metric, ms), 1e6}, 0},
        {{task_is_text(s->asked) ? "Tokens per second" : "Examples per second",
          task_is_text(s->asked) ? "tokens per second" : "examples per second", say_many, 480, 220, 56, FROM_ZERO},
         {offsetof(metric, rate), 1},
         0},
        {{"Memory of the process, most so far", "memory", say_mib, 480, 220, 74, FROM_ZERO},
         {offsetof(metric, memory), 1.0 / 1048576},
         0},
    };
    if (!s->metrics.n)
        return "no step was made";
    html_add(t, "<div.two>\n");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        small_chart(t, &s->metrics, &all[i].chart, all[i].of, all[i].limit);
    html_add(t, "</div>\n");
    table(t, &s->metrics);
    return NULL;
}
