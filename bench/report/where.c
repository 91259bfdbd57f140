/* Section 3: where did the difference come from? A waterfall from the slow candidate's time to the fast one's, and
 * the kernels in the order of what they contribute, with the running total. */
#include "bench/report/parts.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 980, PLOT_FROM = 250, PLOT_TO = 830, ROW = 30, MAX_STEPS = 10, MAX_KINDS = 20, FEW = 4 };

typedef struct step {
    const char *name; /* NULL: ours, see label */
    const char *label;
    double from, to;
} step;

/* Slow total, one step per group, the rest of the groups together, time outside kernels, fast total. */
static int steps_make(const report *r, step *out)
{
    double at = r->of[r->slow].stats.median, rest = 0;
    int n = 0, count = r->groups.n;
    for (int i = 0; i < count; i++) {
        double change = r->groups.of[i].fast - r->groups.of[i].slow;
        if (i >= MAX_STEPS) {
            rest += change;
            continue;
        }
        out[n++] = (step){r->groups.of[i].name, NULL, at, at + change};
        at += change;
    }
    if (count > MAX_STEPS) {
        out[n++] = (step){NULL, "all others", at, at + rest};
        at += rest;
    }
    out[n++] = (step){NULL, "outside kernels", at, r->of[r->fast].stats.median};
    return n;
}

/* From zero, unless the steps could not be seen then. */
static axis waterfall_axis(const report *r, const step *steps, int n)
{
    double lo = r->of[r->fast].stats.median, hi = r->of[r->slow].stats.median;
    for (int i = 0; i < n; i++) {
        double low = fmin(steps[i].from, steps[i].to), high = fmax(steps[i].from, steps[i].to);
        lo = fmin(lo, low);
        hi = fmax(hi, high);
    }
    double span = hi - lo;
    return (axis){span > 0.2 * hi ? 0 : fmax(0, lo - 0.6 * span - 0.001 * hi), hi + 0.02 * span, PLOT_FROM, PLOT_TO,
                  false};
}

static void total_bar(page *p, const report *r, int c, const axis *x, double y)
{
    double to = axis_at(x, r->of[c].stats.median);
    page_add(p, "<text class=\"strong end\" x=\"%d\" y=\"%.0f\">", PLOT_FROM - 12, y + 4.5);
    name_clip(p, r, c, 26);
    page_add(p, "</text><rect class=\"fill %s\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"20\" rx=\"3\"/>",
             mark_class(r, c), PLOT_FROM, y - 10, to - PLOT_FROM);
    if (x->lo > 0) /* a cut in the bar: it does not start at zero */
        page_add(p, "<path d=\"M%d %.1fl6 -8l-6 -8l6 -8\" stroke=\"var(--card)\" stroke-width=\"3\" fill=\"none\"/>",
                 PLOT_FROM + 12, y + 12);
    page_add(p, "<text class=\"strong\" x=\"%.1f\" y=\"%.0f\">%s</text>\n", to + 8, y + 4.5,
             word_time(r->of[c].stats.median).s);
}

static void step_bar(page *p, const report *r, const step *s, const axis *x, double y)
{
    double a = axis_at(x, s->from), b = axis_at(x, s->to), left = fmin(a, b), wide = fmax(fabs(a - b), 1);
    bool gain = s->to <= s->from;
    page_add(p, "<text class=\"end\" x=\"%d\" y=\"%.0f\">", PLOT_FROM - 12, y + 4.5);
    if (s->name)
        page_clip(p, *s->name ? s->name : "(no name)", 30);
    else
        page_add(p, "%s", s->label);
    page_add(p, "</text><path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", a, y - ROW + 10, y - 8);
    page_add(p, "<rect class=\"%s %s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"16\" rx=\"2\"/>",
             gain ? "fill" : "tint", mark_class(r, gain ? r->fast : r->slow), left, y - 8, wide);
    page_add(p, "<text x=\"%.1f\" y=\"%.0f\">%s %s</text>\n", fmax(a, b) + 8, y + 4.5, gain ? "▼" : "▲",
             word_gain(s->to - s->from).s);
}

static void waterfall(page *p, const report *r, const step *steps, int n)
{
    axis x = waterfall_axis(r, steps, n);
    tick ticks[8];
    double bottom = (n + 2) * ROW + 6, y = ROW / 2.0 + 2;
    chart_open(p, WIDTH, (int)bottom + 22, "From the slower time to the faster one");
    page_text(p, r->of[r->slow].name);
    page_add(p, " takes %s. ", word_time(r->of[r->slow].stats.median).s);
    for (int i = 0; i < n; i++) {
        page_text(p, steps[i].name ? steps[i].name : steps[i].label);
        page_add(p, " %s. ", word_gain(steps[i].to - steps[i].from).s);
    }
    page_text(p, r->of[r->fast].name);
    page_add(p, " takes %s.", word_time(r->of[r->fast].stats.median).s);
    chart_body(p);
    int marks = axis_time_ticks(&x, ticks, 8);
    for (int i = 0; i < marks; i++)
        grid_x(p, ticks[i].at, 4, bottom, ticks[i].name.s);
    total_bar(p, r, r->slow, &x, y);
    for (int i = 0; i < n; i++)
        step_bar(p, r, &steps[i], &x, y += ROW);
    total_bar(p, r, r->fast, &x, y + ROW);
    chart_close(p);
    if (x.lo > 0)
        page_add(p, "<p class=\"soft\">The scale does not start at zero, so that the steps can be seen.</p>\n");
}

static void steps_row(page *p, const char *name, double slow, double fast)
{
    page_add(p, "<tr>");
    td_text(p, name);
    td_number(p, word_time(slow));
    td_number(p, word_time(fast));
    td_number(p, word_gain(fast - slow));
    page_add(p, "</tr>\n");
}

static void steps_table(page *p, const report *r)
{
    table_open(p, "The same as a table", 4, (const char *const[]){"", "#slower", "#faster", "#difference"});
    for (int i = 0; i < r->groups.n; i++)
        steps_row(p, r->groups.of[i].name, r->groups.of[i].slow, r->groups.of[i].fast);
    steps_row(p, "outside kernels", r->of[r->slow].gap_ns, r->of[r->fast].gap_ns);
    table_close(p);
}

/* ---- kernels by contribution ---- */

typedef struct entry {
    const kind *k;
    double gain;
} entry;

static int by_gain(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    double ga = fabs(a->gain), gb = fabs(b->gain);
    return ga != gb ? (ga < gb ? 1 : -1) : (a->k > b->k) - (a->k < b->k);
}

/* total is NAN where the two do not differ: parts of next to nothing would be nonsense. */
static void pareto_row(page *p, const report *r, const entry *e, double running, double total)
{
    const part *slow = &e->k->of[r->slow], *fast = &e->k->of[r->fast];
    double share = running / total;
    page_add(p, "<tr><td>");
    kind_name(p, e->k);
    page_add(p, "</td>");
    td_number(p, word_time(slow->heaviest ? slow->ns : (double)NAN));
    td_number(p, word_time(fast->heaviest ? fast->ns : (double)NAN));
    td_number(p, word_gain(-e->gain));
    td_number(p, word_share(e->gain / total));
    page_add(p, "<td class=\"num\">%s", word_share(share).s);
    if (share > 0)
        page_add(p, "<span class=\"share\" style=\"width:%.1f%%\"></span>", fmin(100, 100 * share));
    page_add(p, "</td></tr>\n");
}

static entry *entries_make(const report *r, int *n)
{
    entry *of = calloc((size_t)r->n_kind + 1, sizeof *of);
    *n = 0;
    if (!of)
        abort();
    for (int i = 0; i < r->n_kind; i++) {
        const part *slow = &r->kinds[i].of[r->slow], *fast = &r->kinds[i].of[r->fast];
        if (slow->heaviest || fast->heaviest)
            of[(*n)++] = (entry){&r->kinds[i], slow->ns - fast->ns};
    }
    qsort(of, (size_t)*n, sizeof *of, by_gain);
    return of;
}

static void pareto(page *p, const report *r)
{
    int n = 0, shown = 0;
    entry *of = entries_make(r, &n);
    double total = r->of[r->slow].kernel_ns - r->of[r->fast].kernel_ns, running = 0;
    page_add(p, "<h3>Kernels by what they contribute</h3><div class=\"wide\"><table><thead><tr><th>kernel</th>");
    for (int i = 0; i < 2; i++) {
        page_add(p, "<th class=\"num\">");
        mark_name(p, r, i ? r->fast : r->slow);
        page_add(p, "</th>");
    }
    page_add(p, "<th class=\"num\">difference</th><th class=\"num\">of all</th><th class=\"num\">running total</th>"
                "</tr></thead><tbody>\n");
    for (; shown < n && shown < MAX_KINDS; shown++) {
        if (shown >= FEW && fabs(of[shown].gain) < 0.002 * fabs(total))
            break;
        running += of[shown].gain;
        pareto_row(p, r, &of[shown], running, decided(r) ? total : (double)NAN);
    }
    page_add(p, "</tbody></table></div>\n");
    if (n > shown)
        page_add(p, "<p class=\"soft\">The other %d: %s together.</p>\n", n - shown, word_gain(running - total).s);
    free(of);
}

const char *part_where(page *p, const report *r)
{
    if (r->fast < 0)
        return "it needs two valid candidates";
    if (isnan(r->of[r->fast].kernel_ns) || isnan(r->of[r->slow].kernel_ns))
        return "the results hold no kernel times of both candidates";
    step steps[MAX_STEPS + 2];
    int n = steps_make(r, steps);
    page_add(p, "<p class=\"lead\">From the time of ");
    mark_name(p, r, r->slow);
    page_add(p, " down to that of ");
    mark_name(p, r, r->fast);
    page_add(p, ", %s by %s.</p>\n", r->groups.by, r->groups.by);
    waterfall(p, r, steps, n);
    steps_table(p, r);
    figure_close(p);
    pareto(p, r);
    return NULL;
}
