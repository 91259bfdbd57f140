/* Section 1: which is better, and is it sure? Sentence, times as bars, the reasons in short, and a forest plot: one
 * row per comparison with its interval against the band that counts as equal, and below it the explained pair op by
 * op. */
#include "bench/report/parts.h"

#include <math.h>

enum { WIDTH = 980, PLOT_FROM = 310, PLOT_TO = 705, ROW = 32, MAX_ROWS = 24, MAX_GROUP_ROWS = 8 };

static void marked(page *p, const report *r, int c, const char *text)
{
    if (c >= 0) {
        mark_name(p, r, c);
        return;
    }
    page_add(p, "<b class=\"name\">");
    page_text(p, text);
    page_add(p, "</b>");
}

static void badge(page *p, const report *r)
{
    static const char *const words[] = {"NO VERDICT", "FASTER", "FASTER", "SAME", "UNDECIDED"};
    outcome is = r->match ? outcome_of(r->match) : NO_VERDICT;
    if (r->best < 0)
        page_add(p, "<span class=\"badge bad\">INVALID</span>\n");
    else if (is == FIRST_FASTER || is == SECOND_FASTER)
        page_add(p, "<span class=\"badge %s ink\">%s</span>\n", mark_class(r, r->best), words[is]);
    else if (r->match)
        page_add(p, "<span class=\"badge ki ink\">%s</span>\n", words[is]);
}

static void status(page *p, const contestant *c)
{
    if (c->valid) {
        page_add(p, c->peer ? "<span class=\"soft\">peer</span>" : "<span class=\"sign ok\">✓ valid</span>");
    } else {
        page_add(p, c->peer ? "<span class=\"soft\">" : "<span class=\"sign bad\">✗ ");
        page_clip(p, *c->status ? c->status : "no time", 40);
        page_add(p, "</span>");
    }
    if (*c->reason) {
        page_add(p, "<br><span class=\"soft\">");
        page_clip(p, c->reason, 200);
        page_add(p, "</span>");
    }
}

static void times_row(page *p, const report *r, int i, double longest)
{
    const contestant *c = &r->of[i];
    const stats *s = &c->stats;
    page_add(p, "<tr class=\"%s\"><td>", mark_class(r, i));
    mark_name(p, r, i);
    if (*c->version) {
        page_add(p, " <span class=\"soft\">");
        page_text(p, c->version);
        page_add(p, "</span>");
    }
    page_add(p, "</td><td class=\"bar\">");
    if (s->median > 0)
        page_add(p, "<span class=\"track\" style=\"width:%.1f%%\"></span>", 100 * s->median / longest);
    page_add(p, "</td><td class=\"num big\">%s", word_time(s->median).s);
    if (s->high > 0 && s->low > 0)
        page_add(p, "<small>± %s</small>", word_share(fmax(s->high - s->median, s->median - s->low) / s->median).s);
    page_add(p, "</td>");
    td_number(p, word_time(s->min));
    td_number(p, word_time(s->p90));
    page_add(p, "<td>");
    status(p, c);
    page_add(p, "</td></tr>\n");
}

static void times(page *p, const report *r)
{
    double longest = 0;
    for (int i = 0; i < r->n; i++) {
        if (r->of[i].stats.median > longest)
            longest = r->of[i].stats.median;
    }
    page_add(p, "<div class=\"wide\"><table class=\"times\">");
    table_heads(p, 6,
                (const char *const[]){"candidate", "time of one pass", "#median", "#best", "#90 % within", "status"});
    for (int i = 0; i < r->n; i++)
        times_row(p, r, i, longest);
    page_add(p, "</tbody></table></div>\n");
}

static void reasons_in_short(page *p, const report *r)
{
    reason found[MAX_REASONS];
    int n = reasons_find(r, found);
    if (n)
        page_add(p, "<div class=\"short\"><h3>%s</h3><ol>\n", decided(r) ? "Why, in short" : "In short");
    for (int i = 0; i < n; i++) {
        if (i < 3)
            page_add(p, "<li>%s</li>\n", page_str(&found[i].html));
        page_free(&found[i].html);
    }
    if (n)
        page_add(p, "</ol></div>\n");
}

/* ---- the forest plot ---- */

static axis ratios_axis(const report *r, int rows)
{
    double lo = 1 - 0.02, hi = 1 + 0.02;
    for (int i = 0; i < rows; i++) {
        const pairing *c = &r->comparisons[i];
        double of[] = {c->ratio, c->low, c->high, 1 - 1.5 * c->threshold, 1 + 1.5 * c->threshold};
        for (int k = 0; k < 5; k++) {
            if (of[k] > 1e-3 && of[k] < lo)
                lo = of[k];
            if (of[k] < 1e3 && of[k] > hi)
                hi = of[k];
        }
    }
    for (int i = 0; i < r->groups.n && i < MAX_GROUP_ROWS; i++) {
        double ratio = r->groups.of[i].slow / r->groups.of[i].fast;
        if (ratio > 1e-3 && ratio < lo)
            lo = ratio;
        if (ratio < 1e3 && ratio > hi)
            hi = ratio;
    }
    double pad = pow(hi / lo, 0.06);
    return (axis){lo / pad, hi * pad, PLOT_FROM, PLOT_TO, true};
}

static void forest_frame(page *p, const axis *x, double threshold, double bottom)
{
    double ticks[8], left = axis_at(x, 1 - threshold), right = axis_at(x, 1 + threshold);
    page_add(p, "<rect class=\"band\" x=\"%.1f\" y=\"22\" width=\"%.1f\" height=\"%.1f\"/>", left,
             right - left < 2 ? 2 : right - left, bottom - 22);
    bool narrow = x->hi / x->lo < 5; /* even steps; they are drawn at their logarithms */
    axis flat = *x;
    flat.log = !narrow;
    int n = axis_ticks(&flat, ticks, 7);
    for (int i = 0; i < n; i++)
        grid_x(p, axis_at(x, ticks[i]), 22, bottom, word_tick(ticks[i], "×").s);
    page_add(p, "<path class=\"axis\" d=\"M%.1f 22V%.1f\"/>", axis_at(x, 1), bottom);
    page_add(p, "<text class=\"soft small\" x=\"%d\" y=\"14\">first takes less time →</text>", PLOT_TO - 128);
    page_add(p, "<text class=\"soft small\" x=\"%d\" y=\"14\">← second takes less time</text>\n", PLOT_FROM);
}

static void forest_row(page *p, const report *r, const pairing *c, const axis *x, double y)
{
    outcome is = outcome_of(c);
    int win = is == FIRST_FASTER ? c->ia : is == SECOND_FASTER ? c->ib : -1;
    page_add(p, "<text x=\"0\" y=\"%.0f\" class=\"strong\">", y + 4.5);
    page_clip(p, c->a, 19);
    page_add(p, " <tspan class=\"soft\" font-weight=\"400\">vs</tspan> ");
    page_clip(p, c->b, 19);
    page_add(p, "</text>");
    if (!isnan(c->low) && !isnan(c->high))
        page_add(p, "<path class=\"line %s\" d=\"M%.1f %.1fv14m0 -7H%.1fm0 -7v14\"/>", mark_class(r, win),
                 axis_at(x, c->low), y - 7, axis_at(x, c->high));
    if (!isnan(c->ratio)) {
        page_add(p, "<path class=\"fill %s\" d=\"", mark_class(r, win));
        mark_path(p, win < 0 || win >= r->charted ? MAX_CHARTED : win, axis_at(x, c->ratio), y, 4);
        page_add(p, "\"/>");
    }
    page_add(p,
             "<text x=\"%d\" y=\"%.0f\"><tspan class=\"strong\">%s</tspan> <tspan class=\"soft small\">(%s … "
             "%s)</tspan></text>",
             PLOT_TO + 16, y + 4.5, word_ratio(c->ratio).s, word_ratio(c->low).s, word_ratio(c->high).s);
    page_add(p, "<text class=\"end small strong\" x=\"%d\" y=\"%.0f\">", WIDTH, y + 4.5);
    page_clip(p, c->word, 12);
    page_add(p, "</text>\n");
}

static double forest_groups(page *p, const report *r, const axis *x, double y)
{
    page_add(p, "<text class=\"soft small\" x=\"0\" y=\"%.0f\">by %s: ", y + 4, r->groups.by);
    name_clip(p, r, r->fast, 14);
    page_add(p, " vs ");
    name_clip(p, r, r->slow, 14);
    page_add(p, "</text>\n");
    int n = r->groups.n < MAX_GROUP_ROWS ? r->groups.n : MAX_GROUP_ROWS;
    for (int i = 0; i < n; i++) {
        const group *g = &r->groups.of[i];
        y += 24;
        page_add(p, "<text x=\"16\" y=\"%.0f\">", y + 4.5);
        page_clip(p, g->name, 34);
        page_add(p, "</text>");
        if (g->fast > 0 && g->slow > 0)
            page_add(p, "<circle class=\"hollow %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>",
                     mark_class(r, g->slow > g->fast ? r->fast : r->slow), axis_at(x, g->slow / g->fast), y);
        page_add(p, "<text x=\"%d\" y=\"%.0f\">%s <tspan class=\"soft small\">%s against %s</tspan></text>\n",
                 PLOT_TO + 16, y + 4.5, word_ratio(g->fast > 0 ? g->slow / g->fast : (double)NAN).s,
                 word_time(g->fast).s, word_time(g->slow).s);
    }
    return y + 24;
}

static void forest_table(page *p, const report *r)
{
    table_open(p, "The same as a table", 6,
               (const char *const[]){"first", "second", "verdict", "#ratio", "#low", "#high"});
    for (int i = 0; i < r->n_comparison; i++) {
        const pairing *c = &r->comparisons[i];
        page_add(p, "<tr>");
        td_text(p, c->a);
        td_text(p, c->b);
        td_text(p, c->word);
        td_number(p, word_ratio(c->ratio));
        td_number(p, word_ratio(c->low));
        td_number(p, word_ratio(c->high));
        page_add(p, "</tr>\n");
    }
    for (int i = 0; i < r->groups.n && r->fast >= 0; i++) {
        const group *g = &r->groups.of[i];
        page_add(p, "<tr>");
        td_text(p, g->name);
        page_add(p, "<td></td><td></td>");
        td_number(p, word_ratio(g->fast > 0 ? g->slow / g->fast : (double)NAN));
        page_add(p, "<td></td><td></td></tr>\n");
    }
    table_close(p);
}

static void forest(page *p, const report *r)
{
    int rows = r->n_comparison < MAX_ROWS ? r->n_comparison : MAX_ROWS;
    int below = r->fast < 0 ? 0 : r->groups.n < MAX_GROUP_ROWS ? r->groups.n : MAX_GROUP_ROWS;
    double bottom = 30 + rows * ROW + (below ? 34 + 24 * below : 0), y = 26 + ROW / 2.0;
    axis x = ratios_axis(r, rows);
    page_add(p,
             "<h3>How much, and how sure</h3>\n<p class=\"lead\">Each line is the interval in which the ratio of times "
             "lies; the shaded band is what counts as equal. A line clear of the band is a decided difference. "
             "Hollow marks come from timing kernel by kernel and have no interval.</p>\n");
    chart_open(p, WIDTH, (int)bottom + 24, "Ratios of times with their intervals");
    for (int i = 0; i < rows; i++) {
        verdict_sentence(p, r, &r->comparisons[i], plain_name);
        page_add(p, " Ratio %s, interval %s to %s. ", word_ratio(r->comparisons[i].ratio).s,
                 word_ratio(r->comparisons[i].low).s, word_ratio(r->comparisons[i].high).s);
    }
    chart_body(p);
    forest_frame(p, &x, r->comparisons[0].threshold, bottom);
    for (int i = 0; i < rows; i++, y += ROW)
        forest_row(p, r, &r->comparisons[i], &x, y);
    if (below)
        forest_groups(p, r, &x, y);
    chart_close(p);
    forest_table(p, r);
    figure_close(p);
}

void plain_name(page *p, const report *r, int c, const char *text)
{
    (void)r, (void)c;
    page_text(p, text);
}

const char *part_verdict(page *p, const report *r)
{
    if (!r->n)
        return "the results name no candidate";
    badge(p, r);
    page_add(p, "<p class=\"verdict\">");
    verdict_headline(p, r, marked);
    page_add(p, "</p>\n");
    if (r->match) {
        page_add(p, "<p class=\"sure\">");
        verdict_certainty(p, r, r->match);
        page_add(p, "</p>\n");
    }
    times(p, r);
    reasons_in_short(p, r);
    if (r->n_comparison)
        forest(p, r);
    return NULL;
}
