/* Section 1: which is better, and is it sure? The forest plot: one row per comparison with its interval against the
 * band that counts as equal, and below it the explained pair op by op. */
#include "bench/report/page.h"

#include <math.h>

/* pixels; contestants that are drawn, in all and of one kind */
enum { WIDTH = 980, PLOT_FROM = 310, PLOT_TO = 705, ROW = 32, MAX_ROWS = 24, MAX_GROUP_ROWS = 8 };

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

static void edge_arrow(text *t, const char *class, double at, double y, int side)
{
    html_add(t, "<path.fill.%s d='M%.1f %.1fl%d -6v12z'/>", class, at + 9 * side, y, -9 * side);
}

static void forest_frame(text *t, const axis *x, double threshold, double bottom)
{
    double ticks[8], left = axis_at(x, 1 - threshold), right = axis_at(x, 1 + threshold);
    html_add(t, "<rect.band x=%.1f y=22 width=%.1f height=%.1f/>", left, right - left < 2 ? 2 : right - left,
             bottom - 22);
    bool narrow = x->hi / x->lo < 5; /* even steps; they are drawn at their logarithms */
    axis flat = *x;
    flat.log = !narrow;
    int n = axis_ticks(&flat, ticks, 7);
    for (int i = 0; i < n; i++)
        grid_x(t, axis_at(x, ticks[i]), 22, bottom, word_tick(ticks[i], "×").s);
    html_add(t,
             "<path.axis d='M%.1f 22V%.1f'/><text.soft.small x=%d y=14>first takes less time →</text><text.soft.small "
             "x=%d y=14>← second takes less time</text>\n",
             axis_at(x, 1), bottom, PLOT_TO - 128, PLOT_FROM);
}

static void forest_row(text *t, const report *r, const pairing *c, const axis *x, double y)
{
    outcome is = outcome_read(c->word);
    int win = is == FASTER ? c->ia : is == SLOWER ? c->ib : -1;
    html_add(t, "<text x=0 y=%.0f class=strong>%.19s <tspan.soft font-weight=400>vs</tspan> %.19s</text>", y + 4.5,
             c->a, c->b);
    if (!isnan(c->low) && !isnan(c->high))
        html_add(t, "<path.line.%s d='M%.1f %.1f%sH%.1f%s'/>", mark_class(r, win), within(x, c->low), y,
                 beyond(x, c->low) ? "" : "m0 -7v14m0 -7", within(x, c->high), beyond(x, c->high) ? "" : "m0 -7v14");
    for (int i = 0; i < 2; i++)
        if (beyond(x, i ? c->high : c->low))
            edge_arrow(t, mark_class(r, win), within(x, i ? c->high : c->low), y, beyond(x, i ? c->high : c->low));
    if (!isnan(c->ratio) && !beyond(x, c->ratio)) {
        html_add(t, "<path.fill.%s d='", mark_class(r, win));
        mark_path(t, win < 0 || win >= r->charted ? MAX_CHARTED : win, axis_at(x, c->ratio), y, 4);
        text_add(t, "\"/>");
    }
    html_add(t,
             "<text x=%d y=%.0f><tspan.strong>%s</tspan> <tspan.soft.small>(%s … "
             "%s)</tspan></text><text.end.small.strong x=%d y=%.0f>%.12s</text>\n",
             PLOT_TO + 16, y + 4.5, word_ratio(c->ratio).s, word_ratio(c->low).s, word_ratio(c->high).s, WIDTH, y + 4.5,
             c->word);
}

static double forest_groups(text *t, const report *r, const axis *x, double y)
{
    html_add(t, "<text.soft.small x=0 y=%.0f>by %s: %.14s vs %.14s</text>\n", y + 4, r->groups.by, r->of[r->fast].name,
             r->of[r->slow].name);
    int n = r->groups.differing < MAX_GROUP_ROWS ? r->groups.differing : MAX_GROUP_ROWS;
    for (int i = 0; i < n; i++) {
        const group *g = &r->groups.of[i];
        y += 24;
        html_add(t, "<text x=16 y=%.0f>%.34s</text>", y + 4.5, g->name);
        const double ratio = g->fast > 0 && g->slow > 0 ? g->slow / g->fast : (double)NAN;
        const char *class = mark_class(r, ratio > 1 ? r->fast : r->slow);
        if (beyond(x, ratio))
            edge_arrow(t, class, within(x, ratio), y, beyond(x, ratio));
        else if (ratio > 0)
            html_add(t, "<circle.hollow.%s cx=%.1f cy=%.1f r=4.5/>", class, axis_at(x, ratio), y);
        html_add(t, "<text x=%d y=%.0f>%s <tspan.soft.small>%s against %s</tspan></text>\n", PLOT_TO + 16, y + 4.5,
                 word_ratio(g->fast > 0 ? g->slow / g->fast : (double)NAN).s, word_time(g->fast).s,
                 word_time(g->slow).s);
    }
    return y + 24;
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
    return 30 + most_of(r->n_comparison, MAX_ROWS) * ROW + (below ? 34 + 24 * below : 0);
}

void draw_forest(text *t, const report *r, const cJSON *v)
{
    const int rows = most_of(r->n_comparison, MAX_ROWS);
    double y = 26 + ROW / 2.0;
    const axis x = ratios_axis(r, rows);
    (void)v;
    forest_frame(t, &x, r->comparisons[0].threshold, bottom_of(r));
    for (int i = 0; i < rows; i++, y += ROW)
        forest_row(t, r, &r->comparisons[i], &x, y);
    if (rows_below(r))
        forest_groups(t, r, &x, y);
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
