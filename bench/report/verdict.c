/* Section 1: which is better, and is it sure? Sentence, times as bars, the reasons in short, and a forest plot: one
 * row per comparison with its interval against the band that counts as equal, and below it the explained pair op by
 * op. */
#include "bench/report/parts.h"

#include <math.h>
#include <string.h>

/* pixels; contestants that are drawn, in all and of one kind */
enum { WIDTH = 980, PLOT_FROM = 310, PLOT_TO = 705, ROW = 32, MAX_ROWS = 24, MAX_GROUP_ROWS = 8 };

static void marked(text *t, const report *r, int c, const char *s)
{
    html_add(t, c >= 0 ? "%-s" : "<b.name>%s</b>", c >= 0 ? r->of[c].mark : s);
}

static void badge(text *t, const report *r)
{
    outcome is = r->match ? outcome_read(r->match->word) : NO_VERDICT;
    if (r->best < 0)
        html_add(t, "<span.badge.bad>INVALID</span>\n");
    else if (is == FASTER || is == SLOWER)
        html_add(t, "<span.badge.%s.ink>%s</span>\n", mark_class(r, r->best), outcome_name(FASTER));
    else if (r->match)
        html_add(t, "<span.badge.ki.ink>%s</span>\n", outcome_name(is));
}

/* What a schema says and what ran are two things where its loops were refused. */
static void guessed(text *t, const contestant *c)
{
    const kernel *first = NULL;
    bool others = false;
    for (int i = 0; i < c->n_kernel; i++) {
        if (!c->kernels[i].guessed)
            continue;
        first = first ? first : &c->kernels[i];
        others |= strcmp(first->rule, c->kernels[i].rule) != 0;
    }
    if (!first)
        return;
    html_add(t, "%s<span.warn>%d of %d kernels run the guess: the loops of ", *c->reason ? "; " : "", c->n_guessed,
             c->n_kernel);
    html_add(t, others ? "their rules were refused</span>" : "rule <b.name>%.40s</b> were refused</span>", first->rule);
}

static void status(text *t, const contestant *c)
{
    const char *says = c->valid ? c->peer ? "peer" : "valid" : *c->status ? c->status : "no time";
    html_add(t,
             c->peer    ? "<span.soft>%.40s</span>"
             : c->valid ? "<span.sign.ok>✓ %.40s</span>"
                        : "<span.sign.bad>✗ %.40s</span>",
             says);
}

/* What there is to say of a candidate, in a row of its own. */
static void remarks(text *t, const contestant *c)
{
    if (!*c->reason && !c->n_guessed)
        return;
    html_add(t, "<tr.remarks><td colspan=7><span.soft>%.200s</span>", c->reason);
    guessed(t, c);
    html_add(t, "</td></tr>\n");
}

/* Why the machine was not quiet, "" if it was. */
static const char *busy(const report *r)
{
    return js_get_text(r->root, "machine_state/why");
}

static void times_row(text *t, const report *r, int i, double longest)
{
    const contestant *c = &r->of[i];
    const stats *s = &c->stats;
    html_add(t, "<tr class=%s%s><td>%-s", mark_class(r, i), *c->reason || c->n_guessed ? " more" : "", r->of[i].mark);
    html_add(t, *c->version ? " <span.soft>%s</span></td><td.bar>" : "</td><td.bar>", c->version);
    if (s->median > 0)
        html_add(t, "<span.track style=width:%.1f%%></span>", 100 * s->median / longest);
    html_add(t, "</td><td.num.big>%s%s", word_time(s->median).s, s->median > 0 && *busy(r) ? "†" : "");
    if (s->high > 0 && s->low > 0)
        html_add(t, "<small>± %s</small>", word_share(fmax(s->high - s->median, s->median - s->low) / s->median).s);
    html_add(t, "</td><td.num>%s</td><td.num>%s</td><td.num>", word_time(s->min).s, word_time(s->p90).s);
    html_add(t, "%s</td><td>", isnan(c->max_rel) ? "" : word_number(c->max_rel).s);
    status(t, c);
    html_add(t, "</td></tr>\n");
    remarks(t, c);
}

static void times(text *t, const report *r)
{
    double longest = 0;
    for (int i = 0; i < r->n; i++)
        longest = fmax(longest, r->of[i].stats.median);
    sheet_open(t, "times", "candidate|time of one pass|#median|#best|#90 %% within|#error|status");
    for (int i = 0; i < r->n; i++)
        times_row(t, r, i, longest);
    sheet_close(t);
    if (*busy(r))
        html_add(t, "<p.soft>† The machine was %s: %s. %sThe times may be too high.</p>\n",
                 js_get_text(r->root, "machine_state/state"), busy(r),
                 strcmp(js_get_text(r->root, "machine_state/state"), "overloaded") == 0
                     ? "What threads waited for a processor is taken off. "
                     : "");
}

static void reasons_in_short(text *t, const report *r)
{
    reason found[MAX_REASONS];
    int n = reasons_find(r, found);
    if (n)
        html_add(t, "<div.short><h3>%s</h3><ol>\n", verdict_decided(r) ? "Why, in short" : "In short");
    for (int i = 0; i < n; i++) {
        if (i < 3)
            html_add(t, "<li>%-s</li>\n", text_str(&found[i].html));
        text_free(&found[i].html);
    }
    if (n)
        html_add(t, "</ol></div>\n");
}

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

static void forest_table(text *t, const report *r)
{
    table_open(t, "The same as a table", "first|second|verdict|#ratio|#low|#high");
    for (int i = 0; i < r->n_comparison; i++) {
        const pairing *c = &r->comparisons[i];
        html_row(t, "%s|%s|%s|#%s|#%s|#%s", c->a, c->b, c->word, word_ratio(c->ratio).s, word_ratio(c->low).s,
                 word_ratio(c->high).s);
    }
    for (int i = 0; i < r->groups.differing && r->fast >= 0; i++) {
        const group *g = &r->groups.of[i];
        html_row(t, "%s|||#%s||", g->name, word_ratio(g->fast > 0 ? g->slow / g->fast : (double)NAN).s);
    }
    table_close(t);
}

/* The escaped text alone. */
static void plain_name(text *t, const report *r, int c, const char *s)
{
    (void)r, (void)c;
    html_text(t, s);
}

static void forest(text *t, const report *r)
{
    int rows = r->n_comparison < MAX_ROWS ? r->n_comparison : MAX_ROWS;
    int below = r->fast < 0 ? 0 : r->groups.differing < MAX_GROUP_ROWS ? r->groups.differing : MAX_GROUP_ROWS;
    double bottom = 30 + rows * ROW + (below ? 34 + 24 * below : 0), y = 26 + ROW / 2.0;
    axis x = ratios_axis(r, rows);
    html_add(
        t,
        "<h3>How much, and how sure</h3>\n<p.lead>Each line is the interval in which the ratio of times lies; the "
        "shaded band is what counts as equal. A line clear of the band is a decided difference. Hollow marks come from "
        "timing kernel by kernel and have no interval; an arrow at the edge stands for what lies beyond it.</p>\n");
    chart_open(t, WIDTH, (int)bottom + 24, "Ratios of times with their intervals");
    for (int i = 0; i < rows; i++) {
        verdict_sentence(t, r, &r->comparisons[i], plain_name);
        text_add(t, " Ratio %s, interval %s to %s. ", word_ratio(r->comparisons[i].ratio).s,
                 word_ratio(r->comparisons[i].low).s, word_ratio(r->comparisons[i].high).s);
    }
    chart_body(t);
    forest_frame(t, &x, r->comparisons[0].threshold, bottom);
    for (int i = 0; i < rows; i++, y += ROW)
        forest_row(t, r, &r->comparisons[i], &x, y);
    if (below)
        forest_groups(t, r, &x, y);
    chart_close(t);
    forest_table(t, r);
    figure_close(t);
}

const char *part_verdict(text *t, const report *r)
{
    if (!r->n)
        return "the results name no candidate";
    badge(t, r);
    html_add(t, "<p.verdict>");
    verdict_headline(t, r, marked);
    html_add(t, "</p>\n");
    times(t, r);
    if (r->match) {
        html_add(t, "<p.sure>");
        verdict_certainty(t, r, r->match);
        html_add(t, "</p>\n");
    }
    reasons_in_short(t, r);
    if (r->n_comparison)
        forest(t, r);
    return NULL;
}
