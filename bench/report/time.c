/* Section 5: where does the time go? One bar per candidate, cut by op, with what is spent outside kernels; below it
 * the kernels by time with the running total. */
#include "bench/report/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 980, LEFT = 160, RIGHT = 900, BAR = 40, ROW = 74, MAX_OPS = 7, MAX_KINDS = 20, FEW = 4 };

typedef struct op_time {
    const char *op;
    double ns[MAX_CHARTED], sum;
} op_time;

static int by_op(const void *x, const void *y)
{
    return strcmp(((const op_time *)x)->op, ((const op_time *)y)->op);
}

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
    op_time *of = calloc((size_t)r->n_kind + 1, sizeof *of);
    if (!of)
        abort();
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

static void segment(page *p, const op_time *o, int colour, double x0, double x1, double y, double ns)
{
    page_add(p, "<rect style=\"fill:var(--o%d)\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"><title>", colour,
             x0, y, fmax(0, x1 - x0 - 1), BAR);
    page_text(p, o->op);
    page_add(p, ": %s</title></rect>", word_time(ns).s);
    if (x1 - x0 < 56)
        return;
    page_add(p, "<text class=\"ontop small strong\" x=\"%.1f\" y=\"%.1f\">", x0 + 7, y + 17);
    page_clip(p, o->op, (int)((x1 - x0 - 10) / 7));
    page_add(p, "</text><text class=\"ontop small\" x=\"%.1f\" y=\"%.1f\">%s</text>", x0 + 7, y + 32, word_time(ns).s);
}

static void bar(page *p, const report *r, int c, const op_time *of, int n, double per_ns, double y)
{
    double x = LEFT, gap = r->of[c].gap_ns;
    page_add(p, "<text class=\"strong end\" x=\"%d\" y=\"%.0f\">", LEFT - 12, y + 17);
    name_clip(p, r, c, 18);
    page_add(p, "</text><text class=\"soft small end\" x=\"%d\" y=\"%.0f\">%s</text>", LEFT - 12, y + 33,
             word_time(r->of[c].stats.median).s);
    for (int i = 0; i < n; i++) {
        double to = x + of[i].ns[c] * per_ns;
        if (of[i].ns[c] > 0)
            segment(p, &of[i], i, x, to, y, of[i].ns[c]);
        x = to;
    }
    if (gap > 0)
        page_add(p,
                 "<rect fill=\"url(#gap)\" class=\"rule\" style=\"fill:url(#gap)\" x=\"%.1f\" y=\"%.1f\" "
                 "width=\"%.1f\" height=\"%d\"><title>outside kernels: %s"
                 "</title></rect>",
                 x, y + 0.5, fmax(1.5, gap * per_ns), BAR - 1, word_time(gap).s);
    page_add(p, "\n");
}

/* Thin lines from each op's end in one bar to its end in the next one: what shrinks is seen. */
static void links(page *p, const op_time *of, int n, const int *row, double per_ns, double y)
{
    double a = LEFT, b = LEFT;
    page_add(p, "<path class=\"rule\" d=\"");
    for (int i = 0; i < n; i++) {
        a += of[i].ns[row[0]] * per_ns;
        b += of[i].ns[row[1]] * per_ns;
        page_add(p, "M%.1f %.1fL%.1f %.1f", a, y + BAR, b, y + ROW);
    }
    page_add(p, "\"/>\n");
}

static void ops_table(page *p, const report *r, const op_time *of, int n)
{
    page_add(p, "<details><summary>The same as a table</summary><div class=\"wide\"><table><thead><tr><th>op</th>");
    for (int c = 0; c < r->charted; c++) {
        if (isnan(r->of[c].kernel_ns))
            continue;
        page_add(p, "<th class=\"num\">");
        mark_name(p, r, c);
        page_add(p, "</th><th class=\"num\">share</th>");
    }
    page_add(p, "</tr></thead><tbody>\n");
    for (int i = 0; i <= n; i++) {
        page_add(p, "<tr>");
        td_text(p, i < n ? of[i].op : "outside kernels");
        for (int c = 0; c < r->charted; c++) {
            double ns = i < n ? of[i].ns[c] : r->of[c].gap_ns;
            if (isnan(r->of[c].kernel_ns))
                continue;
            td_number(p, word_time(ns));
            td_number(p, word_share(ns / r->of[c].stats.median));
        }
        page_add(p, "</tr>\n");
    }
    table_close(p);
}

static void stacked(page *p, const report *r, const op_time *of, int n)
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
    page_add(p, "<div class=\"legend\">");
    for (int i = 0; i < n; i++) {
        page_add(p, "<span><i class=\"chip\" style=\"background:var(--o%d)\"></i>", i);
        page_text(p, of[i].op);
        page_add(p, "</span>");
    }
    page_add(p, "<span><i class=\"chip gap\"></i>outside kernels</span></div>\n");
    chart_open(p, WIDTH, rows * ROW - (ROW - BAR) + 4, "Time by operation");
    for (int i = 0; i < rows; i++) {
        page_text(p, r->of[row[i]].name);
        page_add(p, ": %s in kernels, %s outside. ", word_time(r->of[row[i]].kernel_ns).s,
                 word_time(r->of[row[i]].gap_ns).s);
    }
    chart_body(p);
    page_add(p, "<defs><pattern id=\"gap\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
                "patternTransform=\"rotate(45)\"><path d=\"M0 0V6\" "
                "stroke=\"var(--soft)\" stroke-width=\"2\"/></pattern></defs>\n");
    for (int i = 0; i < rows; i++) {
        if (i + 1 < rows)
            links(p, of, n, row + i, per_ns, 2 + i * ROW);
        bar(p, r, row[i], of, n, per_ns, 2 + i * ROW);
    }
    chart_close(p);
    ops_table(p, r, of, n);
    figure_close(p);
}

static int by_best(const void *x, const void *y)
{
    const part *a = *(const part *const *)x, *b = *(const part *const *)y;
    return a->ns != b->ns ? (a->ns < b->ns ? 1 : -1) : (a > b) - (a < b);
}

static const kind *kind_at(const report *r, const part *p)
{
    return &r->kinds[(size_t)((const char *)p - (const char *)r->kinds) / sizeof(kind)];
}

static void pareto_row(page *p, const report *r, const part *of, double all, double running)
{
    page_add(p, "<tr><td>");
    kind_name(p, kind_at(r, of));
    page_add(p, "</td>");
    td_text(p, of->heaviest->rule);
    td_number(p, word_time(of->ns));
    td_number(p, word_share(of->peak_share));
    td_number(p, word_share(of->ns / all));
    page_add(p, "<td class=\"num\">%s<span class=\"share\" style=\"width:%.1f%%\"></span></td></tr>\n",
             word_share(running).s, fmin(100, 100 * running));
}

static void pareto(page *p, const report *r)
{
    const part **of = calloc((size_t)r->n_kind + 1, sizeof *of);
    double all = r->of[r->best].kernel_ns, running = 0;
    int n = 0, shown = 0;
    if (!of)
        abort();
    for (int i = 0; i < r->n_kind; i++) {
        if (r->kinds[i].of[r->best].ns > 0)
            of[n++] = &r->kinds[i].of[r->best];
    }
    qsort(of, (size_t)n, sizeof *of, by_best);
    page_add(p, "<h3>Kernels of ");
    mark_name(p, r, r->best);
    page_add(p, " by time</h3>");
    sheet_open(p, 6, (const char *const[]){"kernel", "rule", "#time", "#of roof", "#share", "#running total"});
    for (; shown < n && shown < MAX_KINDS && (shown < FEW || of[shown]->ns > 0.002 * all); shown++) {
        running += of[shown]->ns / all;
        pareto_row(p, r, of[shown], all, running);
    }
    sheet_close(p);
    if (n > shown)
        page_add(p, "<p class=\"soft\">The other %d: %s together.</p>\n", n - shown, word_time((1 - running) * all).s);
    free(of);
}

const char *part_time(page *p, const report *r)
{
    if (r->best < 0)
        return "no candidate is valid";
    if (isnan(r->of[r->best].kernel_ns))
        return "the results hold no kernel times";
    int n = 0;
    op_time *of = ops_make(r, &n);
    stacked(p, r, of, n);
    free(of);
    pareto(p, r);
    return NULL;
}
