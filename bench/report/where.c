/* Section 3: where did the difference come from? A waterfall from the slow candidate's time to the fast one's, and
 * the kernels in the order of what they contribute, with the running total. */
#include "bench/report/parts.h"
#include "graph/base/err.h"

#include <math.h>
#include <stdlib.h>

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
        out[n++] = (step){NULL, "same loops: noise", at, at + change};
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

/* What the picture shows is said in words before it, for those who cannot see it. */
static void waterfall(text *t, const report *r, const step *steps, int n)
{
    axis x = waterfall_axis(r, steps, n);
    tick ticks[8];
    double bottom = (n + 2) * ROW + 6, y = ROW / 2.0 + 2;
    chart_open(t, WIDTH, (int)bottom + 22, "From the slower time to the faster one");
    html_add(t, "%s takes %s. ", r->of[r->slow].name, word_time(r->of[r->slow].stats.median).s);
    for (int i = 0; i < n; i++) {
        html_add(t, "%s %s. ", steps[i].name ? steps[i].name : steps[i].label,
                 word_gain(steps[i].to - steps[i].from).s);
    }
    html_add(t, "%s takes %s.", r->of[r->fast].name, word_time(r->of[r->fast].stats.median).s);
    chart_body(t);
    int marks = axis_time_ticks(&x, ticks, 8);
    for (int i = 0; i < marks; i++)
        grid_x(t, ticks[i].at, 4, bottom, ticks[i].name.s);
    total_bar(t, r, r->slow, &x, y);
    for (int i = 0; i < n; i++)
        step_bar(t, r, &steps[i], &x, y += ROW);
    total_bar(t, r, r->fast, &x, y + ROW);
    chart_close(t);
    if (x.lo > 0)
        html_add(t, "<p.soft>The scale does not start at zero, so that the steps can be seen.</p>\n");
}

static void steps_row(text *t, const char *name, double slow, double fast)
{
    html_row(t, "%s|#%s|#%s|#%s", name, word_time(slow).s, word_time(fast).s, word_gain(fast - slow).s);
}

/* Groups that a step holds together have rows of their own here. */
static void steps_table(text *t, const report *r)
{
    table_open(t, "The same as a table", "|#slower|#faster|#difference");
    for (int i = 0; i < r->groups.differing; i++)
        steps_row(t, r->groups.of[i].name, r->groups.of[i].slow, r->groups.of[i].fast);
    if (r->groups.n_same)
        steps_row(t, "same loops: noise and placement", r->groups.slow_same, r->groups.fast_same);
    steps_row(t, "outside kernels", r->of[r->slow].gap_ns, r->of[r->fast].gap_ns);
    table_close(t);
}

/* ---- kernels by contribution ---- */

typedef struct entry {
    const kind *k;
    double gain;
} entry;

/* The largest contribution first, whichever way it goes; of equal ones by where they stand. */
static int by_gain(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    double ga = fabs(a->gain), gb = fabs(b->gain);
    return ga != gb ? (ga < gb ? 1 : -1) : (a->k > b->k) - (a->k < b->k);
}

static void pareto_row(text *t, const report *r, const entry *e, double running, double total)
{
    const part *slow = &e->k->of[r->slow], *fast = &e->k->of[r->fast];
    double share = running / total;
    html_row(t, share > 0 ? "%-s|#%s|#%s|#%s|#%s|#%s<span.share style=width:%.1f%%></span>" : "%-s|#%s|#%s|#%s|#%s|#%s",
             e->k->shown, word_time(slow->heaviest ? slow->ns : (double)NAN).s,
             word_time(fast->heaviest ? fast->ns : (double)NAN).s, word_gain(-e->gain).s, word_part(e->gain / total).s,
             word_part(share).s, fmin(100, 100 * share));
}

/* The caller frees it. Kinds that do the same in both are left to a row of their own. */
static entry *entries_make(const report *r, int *n)
{
    entry *of = heap_array((size_t)r->n_kind + 1, sizeof *of);
    *n = 0;
    for (int i = 0; i < r->n_kind; i++) {
        const part *slow = &r->kinds[i].of[r->slow], *fast = &r->kinds[i].of[r->fast];
        if (!r->kinds[i].same && (slow->heaviest || fast->heaviest))
            of[(*n)++] = (entry){&r->kinds[i], slow->ns - fast->ns};
    }
    qsort(of, (size_t)*n, sizeof *of, by_gain);
    return of;
}

static void same_row(text *t, const report *r)
{
    const groups *g = &r->groups;
    html_row(t,
             "%d kernel%s with the <b>same loops</b> <span.soft>not caused by the schema: noise, and where things lie "
             "in memory</span>|#%s|#%s|#%s||",
             g->n_same, g->n_same == 1 ? "" : "s", word_time(g->slow_same).s, word_time(g->fast_same).s,
             word_gain(g->fast_same - g->slow_same).s);
}

/* Until what is left is below 0.2 % each; what follows is one row. */
static void pareto(text *t, const report *r)
{
    int n = 0, shown = 0;
    entry *of = entries_make(r, &n);
    const double same = r->groups.slow_same - r->groups.fast_same;
    double total = r->of[r->slow].kernel_ns - r->of[r->fast].kernel_ns - same, running = 0;
    html_add(t, "<h3>Kernels by what they contribute</h3>");
    sheet_open(t, "", "kernel|#%-s|#%-s|#difference|#of all|#running total", r->of[r->slow].mark, r->of[r->fast].mark);
    for (; shown < n && shown < MAX_KINDS; shown++) {
        if (shown >= FEW && fabs(of[shown].gain) < 0.002 * fabs(total))
            break;
        running += of[shown].gain;
        pareto_row(t, r, &of[shown], running, total);
    }
    if (n > shown)
        html_row(t, "<span.soft>%d other%s</span>|||#%s||", n - shown, n - shown == 1 ? "" : "s",
                 word_gain(running - total).s);
    if (r->groups.n_same)
        same_row(t, r);
    sheet_close(t);
    free(of);
}

/* NULL, or why there is no such section: a difference that was not decided has no causes. */
const char *part_where(text *t, const report *r)
{
    if (r->fast < 0)
        return "it needs two valid candidates";
    if (!verdict_decided(r))
        return r->match && outcome_read(r->match->word) == SAME
                   ? "the two take the same time"
                   : "the race is undecided, so what differs may be chance";
    if (isnan(r->of[r->fast].kernel_ns) || isnan(r->of[r->slow].kernel_ns))
        return "the results hold no kernel times of both candidates";
    step steps[MAX_STEPS + 3];
    int n = steps_make(r, steps);
    html_add(t, "<p.lead>From the time of %-s down to that of %-s, %s by %s.</p>\n", r->of[r->slow].mark,
             r->of[r->fast].mark, r->groups.by, r->groups.by);
    waterfall(t, r, steps, n);
    steps_table(t, r);
    figure_close(t);
    pareto(t, r);
    return NULL;
}
