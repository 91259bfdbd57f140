/* Section 1: which is better, and is it sure? The forest plot: one row per comparison with its interval against the
 * band that counts as equal, and below it the explained pair op by op. */
#include "bench/report/page.h"

#include <math.h>

/* Down in pixels, across in parts of a hundred of the picture's width, so that texts keep their size on narrow screens:
 * each row has its text above its interval. */
enum { PLOT_FROM = 3, PLOT_TO = 97, TOP = 22, ROW = 46, MAX_ROWS = 24, MAX_GROUP_ROWS = 8 };

/* ---- the forest plot ---- */

/* Ratios within these are drawn; what lies beyond is an arrow at the edge, with its number in the column beside. */
static const double LEAST_RATIO = 0.01, MOST_RATIO = 100; /* of times: what lies outside is drawn at the edge */

static void reach(axis *x, double ratio)
{
    if (ratio > 0)
        x->lo = fmin(x->lo, fmax(ratio, LEAST_RATIO)), x->hi = fmax(x->hi, fmin(ratio, MOST_RATIO));
}

static axis ratios_axis(const report *r, int rows)
{
    axis x = {1 - 0.02, 1 + 0.02, PLOT_FROM, PLOT_TO, true};
    for (int i = 0; i < rows; i++) {
        const pairing *c = &r->comparisons[i];
        reach(&x, c->ratio), reach(&x, c->low), reach(&x, c->high);
        reach(&x, 1 - 1.5 * c->threshold), reach(&x, 1 + 1.5 * c->threshold);
    }
    for (int i = 0; i < r->groups.differing && i < MAX_GROUP_ROWS; i++)
        reach(&x, r->groups.of[i].slow / r->groups.of[i].fast);
    double pad = pow(x.hi / x.lo, 0.06);
    x.lo /= pad, x.hi *= pad;
    return x;
}

/* -1 or 1 where v is beyond the left or the right edge, else 0. */
static int beyond(const axis *x, double v)
{
    return v < x->lo ? -1 : v > x->hi;
}

static double within(const axis *x, double v)
{
    const int side = beyond(x, v);
    return side < 0 ? x->from : side > 0 ? x->to : axis_at(x, v);
}

static void pin_open(text *t, double x, double y) /* what follows is drawn around it, up to PINNED */
{
    html_add(t, "<svg.pin x=%.2f%% y=%.1f>", x, y);
}
#define PINNED "</svg>"

static void edge_arrow(text *t, const axis *x, double v, double y)
{
    const int side = beyond(x, v);
    pin_open(t, within(x, v), y);
    html_add(t, "<path.fill d='M%d 0l%d -6v12z'/>" PINNED, 9 * side, -9 * side);
}

static void stroke(text *t, const char *class, double x0, double x1, double y0, double y1)
{
    html_add(t, "<line.%s x1=%.2f%% x2=%.2f%% y1=%.1f y2=%.1f/>", class, x0, x1, y0, y1);
}

static void forest_frame(text *t, const axis *x, double threshold, double bottom)
{
    double ticks[5], left = axis_at(x, 1 - threshold), right = axis_at(x, 1 + threshold);
    html_add(t, "<rect.band x=%.2f%% y=%d width=%.2f%% height=%.1f/>", left, TOP, fmax(right - left, 0.2),
             bottom - TOP);
    bool narrow = x->hi / x->lo < 5; /* even steps; they are drawn at their logarithms */
    axis flat = *x;
    flat.log = !narrow;
    int n = axis_ticks(&flat, ticks, COUNT(ticks));
    for (int i = 0; i < n; i++) {
        const double at = axis_at(x, ticks[i]);
        stroke(t, "grid", at, at, TOP, bottom);
        html_add(t, "<text.soft.small.mid x=%.2f%% y=%.1f>%s</text>", at, bottom + 17, word_tick(ticks[i], "×").s);
    }
    stroke(t, "axis", axis_at(x, 1), axis_at(x, 1), TOP, bottom);
}

/* An end of an interval: a whisker, or an arrow where it is beyond the edge. */
static void interval_end(text *t, const axis *x, double v, double y)
{
    if (beyond(x, v))
        edge_arrow(t, x, v, y);
    else
        stroke(t, "line", within(x, v), within(x, v), y - 7, y + 7);
}

/* y: of the interval; the row's text stands above it */
static void forest_row(text *t, const report *r, const pairing *c, const axis *x, double y)
{
    outcome is = outcome_read(c->word);
    int win = is == FASTER ? c->ia : is == SLOWER ? c->ib : -1;
    html_add(t, "<g.%s><text.strong.halo x=0 y=%.1f>%.19s <tspan.soft font-weight=400>vs</tspan> %.19s</text>",
             mark_class(r, win), y - 14, c->a, c->b);
    if (!isnan(c->low) && !isnan(c->high)) {
        stroke(t, "line", within(x, c->low), within(x, c->high), y, y);
        interval_end(t, x, c->low, y), interval_end(t, x, c->high, y);
    }
    if (!isnan(c->ratio) && !beyond(x, c->ratio)) {
        pin_open(t, axis_at(x, c->ratio), y);
        html_add(t, "<path.fill d='");
        mark_path(t, win < 0 || win >= r->charted ? MAX_CHARTED : win, 0, 0, 4);
        text_add(t, "\"/>" PINNED);
    }
    html_add(t,
             "<text.end.halo x=100%% y=%.1f><tspan.strong>%s</tspan><tspan.soft.small.aside> (%s … %s)</tspan>"
             "<tspan.small.strong> %.12s</tspan></text></g>\n",
             y - 14, word_ratio(c->ratio).s, word_ratio(c->low).s, word_ratio(c->high).s, c->word);
}

static void forest_groups(text *t, const report *r, const axis *x, double y)
{
    html_add(t, "<text.soft.small.halo x=0 y=%.1f>by %s: %.14s vs %.14s</text>\n", y - 2, r->groups.by,
             r->of[r->fast].name, r->of[r->slow].name);
    for (int i = 0; i < r->groups.differing && i < MAX_GROUP_ROWS; i++) {
        const group *g = &r->groups.of[i];
        y += ROW;
        const double ratio = g->fast > 0 && g->slow > 0 ? g->slow / g->fast : (double)NAN;
        html_add(t,
                 "<g.%s><text.halo x=0 y=%.1f>%.30s</text><text.end.halo x=100%% y=%.1f>%s<tspan.soft.small.aside> %s "
                 "against %s</tspan></text>",
                 mark_class(r, ratio > 1 ? r->fast : r->slow), y - 14, g->name, y - 14, word_ratio(ratio).s,
                 word_time(g->fast).s, word_time(g->slow).s);
        if (beyond(x, ratio))
            edge_arrow(t, x, ratio, y);
        else if (ratio > 0)
            html_add(t, "<circle.hollow cx=%.2f%% cy=%.1f r=4.5/>", axis_at(x, ratio), y);
        html_add(t, "</g>\n");
    }
}

static int most_of(int n, int most)
{
    return n < most ? n : most;
}

static int rows_below(const report *r)
{
    return r->fast < 0 ? 0 : most_of(r->groups.differing, MAX_GROUP_ROWS);
}

static double bottom_of(const report *r)
{
    const int below = rows_below(r);
    return TOP + 4 + (most_of(r->n_comparison, MAX_ROWS) + below) * ROW + (below ? 24 : 0);
}

void draw_forest(text *t, const report *r, const cJSON *v)
{
    const int rows = most_of(r->n_comparison, MAX_ROWS);
    double y = TOP + ROW - 12;
    const axis x = ratios_axis(r, rows);
    (void)v;
    forest_frame(t, &x, r->comparisons[0].threshold, bottom_of(r));
    for (int i = 0; i < rows; i++, y += ROW)
        forest_row(t, r, &r->comparisons[i], &x, y);
    if (rows_below(r))
        forest_groups(t, r, &x, y - ROW + 24);
}

static void fill_forest(cJSON *o, const report *r)
{
    cJSON *list = js_array(o, "comparisons"), *parts = js_array(o, "groups");
    js_number(o, "height", (int)bottom_of(r) + 24);
    for (int i = 0; i < r->n_comparison; i++) {
        cJSON *row = js_row(list, "drawn:%i", i < MAX_ROWS);
        view_pairing(row, r, &r->comparisons[i]);
    }
    for (int i = 0; i < r->groups.differing && r->fast >= 0; i++) {
        const group *g = &r->groups.of[i];
        view_text(js_row(parts, "ratio:%g", g->fast > 0 ? g->slow / g->fast : (double)NAN), "name", g->name);
    }
}

static void fill_badge(cJSON *o, const report *r)
{
    const outcome is = r->match ? outcome_read(r->match->word) : NO_VERDICT;
    const bool sure = is == FASTER || is == SLOWER;
    if (r->best >= 0 && !r->match)
        return;
    js_put(o, "badge:%s,badge_class:%s", r->best < 0 ? "INVALID" : outcome_name(sure ? FASTER : is),
           r->best < 0 ? "bad"
           : sure      ? mark_class(r, r->best)
                       : "ki");
}

const char *fill_verdict(cJSON *o, const report *r)
{
    if (!r->n)
        return "the results name no candidate";
    fill_badge(o, r);
    fill_headline(o, r);
    view_reasons(o, r, 3);
    fill_forest(o, r);
    return NULL;
}
