/* Section 5: where does the time go? One bar per candidate, cut by op, with what is spent outside kernels; below it
 * the kernels by time with the running total. */
#include "bench/report/parts.h"
#include "graph/base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* pixels; operations and kinds that a bar tells apart; FEW: kinds that have their part however small */
enum { WIDTH = 980, LEFT = 160, RIGHT = 900, BAR = 40, ROW = 74, MAX_OPS = 7, MAX_KINDS = 20, FEW = 4 };

typedef struct op_time {
    const char *op;
    double ns[MAX_CHARTED], sum;
} op_time;

/* So that equal ones lie beside each other and can be added up. */
static int by_op(const void *x, const void *y)
{
    return strcmp(((const op_time *)x)->op, ((const op_time *)y)->op);
}

/* The one that takes most first; names decide ties, so that a page is the same every time. */
static int by_sum(const void *x, const void *y)
{
    const op_time *a = x, *b = y;
    return a->sum != b->sum ? (a->sum < b->sum ? 1 : -1) : strcmp(a->op, b->op);
}

static void op_add(op_time *to, const op_time *from)
{
    for (int c = 0; c < MAX_CHARTED; c++)
        to->ns[c] += from->ns[c];
    to->sum += from->sum;
}

/* By time; what is beyond the first MAX_OPS is one more with op "others". Returns how many; the caller frees. */
static op_time *ops_make(const report *r, int *n)
{
    op_time *of = heap_array((size_t)r->n_kind + 1, sizeof *of);
    for (int i = 0; i < r->n_kind; i++) {
        of[i].op = *r->kinds[i].op ? r->kinds[i].op : "(no op)";
        for (int c = 0; c < r->charted; c++)
            of[i].sum += of[i].ns[c] = r->kinds[i].of[c].ns;
    }
    qsort(of, (size_t)r->n_kind, sizeof *of, by_op);
    int m = 0;
    for (int i = 0; i < r->n_kind; i++) {
        if (m && !strcmp(of[m - 1].op, of[i].op))
            op_add(&of[m - 1], &of[i]);
        else
            of[m++] = of[i];
    }
    qsort(of, (size_t)m, sizeof *of, by_sum);
    if (m > MAX_OPS + 1) {
        for (int i = MAX_OPS + 1; i < m; i++)
            op_add(&of[MAX_OPS], &of[i]);
        of[MAX_OPS].op = "others";
        m = MAX_OPS + 1;
    }
    *n = m;
    return of;
}

typedef struct segment { /* of a bar: pixels x0 to x1 across, y down; what it stands for */
    int colour;
    double x0, x1, y, ns;
} segment;

/* A name is left to the tooltip where it has no room: below 56 pixels. */
static void segment_draw(text *t, const char *op, const segment *s)
{
    const double x0 = s->x0, x1 = s->x1, y = s->y;
    html_add(t, "<rect style=fill:var(--o%d) x=%.1f y=%.1f width=%.1f height=%d><title>%s: %s</title></rect>",
             s->colour, x0, y, fmax(0, x1 - x0 - 1), BAR, op, word_time(s->ns).s);
    if (x1 - x0 < 56)
        return;
    html_add(t, "<text.ontop.small.strong x=%.1f y=%.1f>%.*s</text><text.ontop.small x=%.1f y=%.1f>%s</text>", x0 + 7,
             y + 17, (int)((x1 - x0 - 10) / 7), op, x0 + 7, y + 32, word_time(s->ns).s);
}

/* of[i].ns: [candidate], in ns; per_ns: pixels, the same for all bars, so that lengths compare. */
static void bar(text *t, const report *r, int c, const op_time *of, int n, double per_ns, double y)
{
    double x = LEFT, gap = r->of[c].gap_ns;
    html_add(t, "<text.strong.end x=%d y=%.0f>%.18s</text><text.soft.small.end x=%d y=%.0f>%s</text>", LEFT - 12,
             y + 17, r->of[c].name, LEFT - 12, y + 33, word_time(r->of[c].stats.median).s);
    for (int i = 0; i < n; i++) {
        double to = x + of[i].ns[c] * per_ns;
        if (of[i].ns[c] > 0)
            segment_draw(t, of[i].op, &(segment){i, x, to, y, of[i].ns[c]});
        x = to;
    }
    if (gap > 0)
        html_add(t,
                 "<rect fill=url(#gap) class=rule style=fill:url(#gap) x=%.1f y=%.1f width=%.1f "
                 "height=%d><title>outside kernels: %s</title></rect>",
                 x, y + 0.5, fmax(1.5, gap * per_ns), BAR - 1, word_time(gap).s);
    text_add(t, "\n");
}

/* Thin lines from each op's end in one bar to its end in the next one: what shrinks is seen. */
static void links(text *t, const op_time *of, int n, const int *row, double per_ns, double y)
{
    double a = LEFT, b = LEFT;
    html_add(t, "<path.rule d='");
    for (int i = 0; i < n; i++) {
        a += of[i].ns[row[0]] * per_ns;
        b += of[i].ns[row[1]] * per_ns;
        text_add(t, "M%.1f %.1fL%.1f %.1f", a, y + BAR, b, y + ROW);
    }
    text_add(t, "\"/>\n");
}

/* Everything that the chart shows is there as numbers, for those who cannot see it. */
static void ops_table(text *t, const report *r, const op_time *of, int n)
{
    html_add(t, "<details><summary>The same as a table</summary><div.wide><table><thead><tr><th>op</th>");
    for (int c = 0; c < r->charted; c++) {
        if (isnan(r->of[c].kernel_ns))
            continue;
        html_add(t, "<th.num>%-s</th><th.num>share</th>", r->of[c].mark);
    }
    html_add(t, "</tr></thead><tbody>\n");
    for (int i = 0; i <= n; i++) {
        html_add(t, "<tr><td>%s</td>", i < n ? of[i].op : "outside kernels");
        for (int c = 0; c < r->charted; c++) {
            double ns = i < n ? of[i].ns[c] : r->of[c].gap_ns;
            if (isnan(r->of[c].kernel_ns))
                continue;
            html_add(t, "<td.num>%s</td><td.num>%s</td>", word_time(ns).s, word_share(ns / r->of[c].stats.median).s);
        }
        html_add(t, "</tr>\n");
    }
    table_close(t);
}

static void stacked(text *t, const report *r, const op_time *of, int n)
{
    int row[MAX_CHARTED], rows = 0;
    double longest = 0;
    for (int c = 0; c < r->charted; c++) {
        if (isnan(r->of[c].kernel_ns))
            continue;
        row[rows++] = c;
        longest = fmax(longest, fmax(r->of[c].stats.median, r->of[c].kernel_ns));
    }
    double per_ns = (RIGHT - LEFT) / longest;
    html_add(t, "<div.legend>");
    for (int i = 0; i < n; i++) {
        html_add(t, "<span><i.chip style=background:var(--o%d)></i>%s</span>", i, of[i].op);
    }
    html_add(t, "<span><i.chip.gap></i>outside kernels</span></div>\n");
    chart_open(t, WIDTH, rows * ROW - (ROW - BAR) + 4, "Time by operation");
    for (int i = 0; i < rows; i++) {
        html_add(t, "%s: %s in kernels, %s outside. ", r->of[row[i]].name, word_time(r->of[row[i]].kernel_ns).s,
                 word_time(r->of[row[i]].gap_ns).s);
    }
    chart_body(t);
    html_add(t, "<defs><pattern id=gap width=6 height=6 patternUnits=userSpaceOnUse patternTransform=rotate(45)><path "
                "d='M0 0V6' stroke=var(--soft) stroke-width=2/></pattern></defs>\n");
    for (int i = 0; i < rows; i++) {
        if (i + 1 < rows)
            links(t, of, n, row + i, per_ns, 2 + i * ROW);
        bar(t, r, row[i], of, n, per_ns, 2 + i * ROW);
    }
    chart_close(t);
    ops_table(t, r, of, n);
    figure_close(t);
}

/* By time; of equal ones by where they stand in the array. */
static int by_best(const void *x, const void *y)
{
    const part *a = *(const part *const *)x, *b = *(const part *const *)y;
    return a->ns != b->ns ? (a->ns < b->ns ? 1 : -1) : (a > b) - (a < b);
}

/* A part lies within its kind: which one follows from the address. */
static const kind *kind_at(const report *r, const part *t)
{
    return &r->kinds[(size_t)((const char *)t - (const char *)r->kinds) / sizeof(kind)];
}

static void pareto_row(text *t, const report *r, const part *of, double all, double running)
{
    html_row(t, "%-s|%s|#%s|#%s|#%s|#%s<span.share style=width:%.1f%%></span>", kind_at(r, of)->shown,
             of->heaviest->rule, word_time(of->ns).s, word_share(of->peak_share).s, word_share(of->ns / all).s,
             word_share(running).s, fmin(100, 100 * running));
}

/* Kinds of kernels by time, until what is left is below 0.2 % each. */
static void pareto(text *t, const report *r)
{
    const part **of = calloc((size_t)r->n_kind + 1, sizeof *of);
    double all = r->of[r->best].kernel_ns, running = 0;
    int n = 0, shown = 0;
    if (!of)
        memory_failed(((size_t)r->n_kind + 1) * sizeof *of, "the kinds of kernels");
    for (int i = 0; i < r->n_kind; i++) {
        if (r->kinds[i].of[r->best].ns > 0)
            of[n++] = &r->kinds[i].of[r->best];
    }
    qsort(of, (size_t)n, sizeof *of, by_best);
    html_add(t, "<h3>Kernels of %-s by time</h3>", r->of[r->best].mark);
    sheet_open(t, "", "kernel|rule|#time|#of roof|#share|#running total");
    for (; shown < n && shown < MAX_KINDS && (shown < FEW || of[shown]->ns > 0.002 * all); shown++) {
        running += of[shown]->ns / all;
        pareto_row(t, r, of[shown], all, running);
    }
    sheet_close(t);
    if (n > shown)
        html_add(t, "<p.soft>The other %d: %s together.</p>\n", n - shown, word_time((1 - running) * all).s);
    free(of);
}

const char *part_time(text *t, const report *r)
{
    if (r->best < 0)
        return "no candidate is valid";
    if (isnan(r->of[r->best].kernel_ns))
        return "the results hold no kernel times";
    int n = 0;
    op_time *of = ops_make(r, &n);
    stacked(t, r, of, n);
    free(of);
    pareto(t, r);
    return NULL;
}
