/* Section 3: where did the difference come from? A waterfall from the slow candidate's time to the fast one's, and
 * the kernels in the order of what they contribute, with the running total. */
#include "bench/report/page.h"

#include <math.h>

/* pixels; kinds of operations that are told apart; FEW: rows that are there however small */
enum { WIDTH = 980, PLOT_FROM = 250, PLOT_TO = 830, ROW = 30, MAX_STEPS = 10, MAX_KINDS = 20, FEW = 4 };

/* From one time to the next, in ns; they add up to the whole difference. */
typedef struct step {
    const char *name; /* NULL: ours, see label */
    const char *label;
    double from, to;
} step;

/* Slow total, one step per group, the rest of the groups together, time outside kernels, fast total. */
static int steps_make(const report *r, step *out)
{
    double at = r->of[r->slow].stats.median, rest = 0;
    int n = 0, count = r->groups.differing;
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
    if (r->groups.n_same) {
        const double change = r->groups.fast_same - r->groups.slow_same;
        out[n++] = (step){NULL, "same loops: unexplained", at, at + change};
        at += change;
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

/* y: the middle of the row, in pixels; so in all that follows. */
static void total_bar(text *t, const report *r, int c, const axis *x, double y)
{
    double to = axis_at(x, r->of[c].stats.median);
    html_add(t, "<text.strong.end x=%d y=%.0f>%.26s</text><rect.fill.%s x=%d y=%.1f width=%.1f height=20 rx=3/>",
             PLOT_FROM - 12, y + 4.5, r->of[c].name, mark_class(r, c), PLOT_FROM, y - 10, to - PLOT_FROM);
    if (x->lo > 0) /* a cut in the bar: it does not start at zero */
        html_add(t, "<path d='M%d %.1fl6 -8l-6 -8l6 -8' stroke=var(--card) stroke-width=3 fill=none/>", PLOT_FROM + 12,
                 y + 12);
    html_add(t, "<text.strong x=%.1f y=%.0f>%s</text>\n", to + 8, y + 4.5, word_time(r->of[c].stats.median).s);
}

/* What makes it faster is full and of the faster one's colour; what makes it slower is tinted, of the other's. */
static void step_bar(text *t, const report *r, const step *s, const axis *x, double y)
{
    double a = axis_at(x, s->from), b = axis_at(x, s->to), left = fmin(a, b), wide = fmax(fabs(a - b), 1);
    bool gain = s->to <= s->from;
    html_add(t, "<text.end x=%d y=%.0f>", PLOT_FROM - 12, y + 4.5);
    if (s->name)
        html_add(t, "%.30s", s->name);
    else
        text_add(t, "%s", s->label);
    html_add(t,
             "</text><path.grid d='M%.1f %.1fV%.1f'/><rect.%s.%s x=%.1f y=%.1f width=%.1f height=16 rx=2/><text x=%.1f "
             "y=%.0f>%s %s</text>\n",
             a, y - ROW + 10, y - 8, gain ? "fill" : "tint", mark_class(r, gain ? r->fast : r->slow), left, y - 8, wide,
             fmax(a, b) + 8, y + 4.5, gain ? "▼" : "▲", word_gain(s->to - s->from).s);
}

static double bottom_of(int n)
{
    return (n + 2) * ROW + 6;
}

void draw_waterfall(text *t, const report *r, const cJSON *v)
{
    step steps[MAX_STEPS + 3];
    const int n = steps_make(r, steps);
    const axis x = waterfall_axis(r, steps, n);
    double y = ROW / 2.0 + 2;
    (void)v;
    grid_times(t, &x, 4, bottom_of(n));
    total_bar(t, r, r->slow, &x, y);
    for (int i = 0; i < n; i++)
        step_bar(t, r, &steps[i], &x, y += ROW);
    total_bar(t, r, r->fast, &x, y + ROW);
}

static void fill_row(cJSON *list, const char *name, double slow, double fast)
{
    view_text(js_row(list, "slow_ns:%g,fast_ns:%g,gain:%g", slow, fast, fast - slow), "name", name);
}

/* Groups that a step holds together have rows of their own in the table. */
static void fill_waterfall(cJSON *o, const report *r)
{
    step steps[MAX_STEPS + 3];
    const int n = steps_make(r, steps);
    cJSON *list = js_array(o, "steps"), *rows = js_array(o, "rows");
    js_put(o, "height:%d,cut:%i,slow_ns:%g,fast_ns:%g", (int)bottom_of(n) + 22, waterfall_axis(r, steps, n).lo > 0,
           r->of[r->slow].stats.median, r->of[r->fast].stats.median);
    for (int i = 0; i < n; i++)
        fill_row(list, steps[i].name ? steps[i].name : steps[i].label, steps[i].from, steps[i].to);
    for (int i = 0; i < r->groups.differing; i++)
        fill_row(rows, r->groups.of[i].name, r->groups.of[i].slow, r->groups.of[i].fast);
    if (r->groups.n_same)
        fill_row(rows, "same loops: not explained (noise, placement)", r->groups.slow_same, r->groups.fast_same);
    fill_row(rows, "outside kernels", r->of[r->slow].gap_ns, r->of[r->fast].gap_ns);
}

/* ---- kernels by contribution ---- */

/* Until what is left is below 0.2 % each; what follows is one row. */
static void fill_pareto(cJSON *o, const report *r)
{
    ENDED_BY(heap_free) ranked *of = kinds_ranked(r, r->slow, r->fast);
    const groups *g = &r->groups;
    const double total = r->of[r->slow].stats.median - r->of[r->fast].stats.median;
    const double apart = r->of[r->slow].gap_ns - r->of[r->fast].gap_ns; /* outside kernels */
    double running = 0, others = 0;
    int n = 0, left = 0;
    cJSON *list = js_array(o, "kinds");
    for (int i = 0; i < r->n_kind; i++) {
        const part *slow = &of[i].k->of[r->slow], *fast = &of[i].k->of[r->fast];
        if (of[i].k->same || (!slow->heaviest && !fast->heaviest)) /* the same have a row of their own */
            continue;
        left += left || n == MAX_KINDS || (n >= FEW && fabs(of[i].ns) < 0.002 * fabs(total));
        if (left) {
            others += of[i].ns;
            continue;
        }
        n++, running += of[i].ns;
        js_row(list, "shown:%s,slow_ns:%g,fast_ns:%g,gain:%g,of:%g,running:%g,bar:%g", of[i].k->shown,
               slow->heaviest ? slow->ns : (double)NAN, fast->heaviest ? fast->ns : (double)NAN, -of[i].ns,
               of[i].ns / total, running / total, fmin(100, 100 * running / total));
    }
    js_put(o, "total_ns:%g,n_others:%d,others_gain:%g,others_of:%g,n_same:%d,slow_same_ns:%g,fast_same_ns:%g", total,
           left, -others, others / total, g->n_same, g->slow_same, g->fast_same);
    js_put(o, "same_gain:%g,same_of:%g,apart_gain:%g,apart_of:%g", g->fast_same - g->slow_same,
           (g->slow_same - g->fast_same) / total, -apart, apart / total);
}

/* NULL, or why there is no such section: a difference that was not decided has no causes. */
const char *fill_where(cJSON *o, const report *r)
{
    if (r->fast < 0)
        return "it needs two valid candidates";
    if (!verdict_decided(r))
        return r->match && outcome_read(r->match->word) == SAME
                   ? "the two take the same time"
                   : "the race is undecided, so what differs may be chance";
    if (isnan(r->of[r->fast].kernel_ns) || isnan(r->of[r->slow].kernel_ns))
        return "the results hold no kernel times of both candidates";
    fill_waterfall(o, r);
    fill_pareto(o, r);
    return NULL;
}
