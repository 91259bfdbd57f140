/* Section 7: how much does one pass vary? The part of passes that are done within a time, and percentiles. */
#include "bench/report/page.h"
#include "graph/base/stats.h"

#include <math.h>
#include <stdio.h>

/* pixels; points of a curve; FEW: samples below which no 99th percentile is told */
enum { LEFT = 52, MIDDLE = 510, RIGHT = 970, TOP = 12, BOTTOM = 250, MAX_POINTS = 240, FEW = 300 };

/* Two views of the same samples: times as they are, and each candidate relative to its own median. */
typedef struct view {
    axis x, y;
    bool relative;
} view;

static double shown(const view *v, const contestant *o, double ns)
{
    return v->relative ? 100 * (ns / o->stats.median - 1) : ns;
}

static view view_of(const report *r, bool relative, double left, double right)
{
    view v = {.y = {0, 1, BOTTOM, TOP, false}, .relative = relative};
    double lo = INFINITY, hi = -INFINITY;
    for (int c = 0; c < r->charted; c++) {
        const contestant *o = &r->of[c];
        if (!o->n_sample)
            continue;
        lo = fmin(lo, shown(&v, o, o->sorted[0]));
        hi = fmax(
            hi,
            shown(&v, o, stats_quantile(o->sorted, o->n_sample, 0.99))); /* a freak sample must not squeeze the rest */
    }
    double pad = fmax(0.04 * (hi - lo), relative ? 0.02 : 0.001 * hi);
    v.x = (axis){lo - pad, hi + pad, left, right, !relative && hi / lo > 4 && lo > pad};
    return v;
}

static void curve(text *t, const report *r, int c, const view *v)
{
    const contestant *o = &r->of[c];
    int n = o->n_sample, stride = 1 + n / MAX_POINTS;
    html_add(t, "<path.line.%s d='M%.1f %.1f", mark_class(r, c), axis_at(&v->x, shown(v, o, o->sorted[0])),
             axis_at(&v->y, 0));
    for (int i = 0; i < n; i += stride) {
        if (shown(v, o, o->sorted[i]) > v->x.hi)
            break;
        text_add(t, "H%.1fV%.1f", axis_at(&v->x, shown(v, o, o->sorted[i])), axis_at(&v->y, (i + 1.0) / n));
    }
    double end = shown(v, o, o->sorted[n - 1]);
    if (end > v->x.hi)
        text_add(t, "H%.1f", v->x.to);
    else
        text_add(t, "H%.1fV%.1f", axis_at(&v->x, end), axis_at(&v->y, 1));
    html_add(t, "\"/><path.fill.%s d='", mark_class(r, c));
    for (int i = 1; i < 10; i += 2)
        mark_path(t, c, axis_at(&v->x, shown(v, o, stats_quantile(o->sorted, n, i / 10.0))), axis_at(&v->y, i / 10.0),
                  4);
    text_add(t, "\"/>\n");
}

static void view_draw(text *t, const report *r, const view *v)
{
    tick ticks[8];
    double values[8];
    for (int i = 0; i <= 4; i++) {
        grid_y(t, axis_at(&v->y, i / 4.0), v->x.from, v->x.to, v->relative ? "" : word_tick(i * 25, "%").s);
    }
    int n = v->relative ? axis_ticks(&v->x, values, 6) : axis_time_ticks(&v->x, ticks, 6);
    for (int i = 0; v->relative && i < n; i++) {
        ticks[i] = (tick){axis_at(&v->x, values[i]), word_tick(values[i], "%")};
        if (values[i] > 0)
            snprintf(ticks[i].name.s, sizeof ticks[i].name.s, "+%.40s", word_tick(values[i], "%").s);
    }
    for (int i = 0; i < n; i++)
        grid_x(t, ticks[i].at, TOP, BOTTOM, ticks[i].name.s);
    html_add(t, "<text.soft.small.mid x=%.1f y=%d>%s →</text>\n", (v->x.from + v->x.to) / 2, BOTTOM + 36,
             v->relative ? "distance from its own median" : "time of one pass");
    for (int c = 0; c < r->charted; c++)
        if (r->of[c].n_sample)
            curve(t, r, c, v);
}

void draw_latencies(text *t, const report *r, const cJSON *v)
{
    const view absolute = view_of(r, false, LEFT, MIDDLE - 20), relative = view_of(r, true, MIDDLE + 20, RIGHT);
    (void)v;
    view_draw(t, r, &absolute);
    view_draw(t, r, &relative);
}

static void fill_percentiles(cJSON *list, const report *r, int c)
{
    const contestant *o = &r->of[c];
    cJSON *row = js_row(list, "n:%d,few:%d,charted:%i,spread_share:%g", o->n_sample, o->n_sample < FEW ? FEW : 0,
                        c < r->charted, 1.4826 * stats_mad(o->sorted, o->n_sample) / o->stats.median);
    view_who(row, "who", r, c, NULL);
    js_put(row, "p0_ns:%g,p10_ns:%g,p50_ns:%g,p90_ns:%g,p99_ns:%g,p100_ns:%g", o->sorted[0],
           stats_quantile(o->sorted, o->n_sample, 0.1), stats_quantile(o->sorted, o->n_sample, 0.5),
           stats_quantile(o->sorted, o->n_sample, 0.9), stats_quantile(o->sorted, o->n_sample, 0.99),
           stats_quantile(o->sorted, o->n_sample, 1));
}

/* The plainest evidence that there is. */
static void fill_overlap(cJSON *o, const report *r)
{
    if (r->fast < 0 || !r->of[r->fast].n_sample || !r->of[r->slow].n_sample)
        return;
    const contestant *a = &r->of[r->fast], *b = &r->of[r->slow];
    int beaten = 0;
    while (beaten < b->n_sample && b->sorted[beaten] <= a->sorted[a->n_sample - 1])
        beaten++;
    js_put(js_object(o, "overlap"), "beaten:%d,of:%d", beaten, b->n_sample);
}

const char *fill_latency(cJSON *o, const report *r)
{
    bool any = false;
    cJSON *list = js_array(o, "of");
    for (int c = 0; c < r->n; c++) {
        any |= c < r->charted && r->of[c].n_sample > 0;
        if (r->of[c].n_sample)
            fill_percentiles(list, r, c);
    }
    if (!any)
        return "the results hold no single samples";
    fill_overlap(o, r);
    js_number(o, "few", FEW);
    return NULL;
}
