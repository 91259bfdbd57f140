/* Section 5: where does the time go? One bar per candidate, cut by op, with what is spent outside kernels; below it
 * the kernels by time with the running total. */
#include "bench/report/page.h"

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

/* Candidates with kernels, and the time of the longest bar */
static int rows_of(const report *r, int row[MAX_CHARTED], double *longest)
{
    int rows = 0;
    *longest = 0;
    for (int c = 0; c < r->charted; c++)
        if (!isnan(r->of[c].kernel_ns)) {
            row[rows++] = c;
            *longest = fmax(*longest, fmax(r->of[c].stats.median, r->of[c].kernel_ns));
        }
    return rows;
}

void draw_bars(text *t, const report *r, const cJSON *v)
{
    int row[MAX_CHARTED], n;
    double longest;
    ENDED_BY(heap_free) op_time *of = ops_make(r, &n);
    const int rows = rows_of(r, row, &longest);
    const double per_ns = (RIGHT - LEFT) / longest;
    (void)v;
    for (int i = 0; i < rows; i++) {
        if (i + 1 < rows)
            links(t, of, n, row + i, per_ns, 2 + i * ROW);
        bar(t, r, row[i], of, n, per_ns, 2 + i * ROW);
    }
}

static void fill_bars(cJSON *o, const report *r)
{
    int row[MAX_CHARTED], n;
    double longest;
    ENDED_BY(heap_free) op_time *of = ops_make(r, &n);
    const int rows = rows_of(r, row, &longest);
    cJSON *bars = js_array(o, "bars"), *ops = js_array(o, "ops");
    js_number(o, "height", rows * ROW - (ROW - BAR) + 4);
    for (int i = 0; i < rows; i++)
        view_who(js_row(bars, "kernel_ns:%g,gap_ns:%g", r->of[row[i]].kernel_ns, r->of[row[i]].gap_ns), "who", r,
                 row[i], NULL);
    for (int i = 0; i <= n; i++) {
        cJSON *op = js_row(ops, "colour:%d,gap:%i", i, i == n), *cells = js_array(op, "of");
        view_text(op, "op", i < n ? of[i].op : "outside kernels");
        for (int k = 0; k < rows; k++) {
            const double ns = i < n ? of[i].ns[row[k]] : r->of[row[k]].gap_ns;
            js_row(cells, "time_ns:%g,part_share:%g", ns, ns / r->of[row[k]].stats.median);
        }
    }
}

/* Kinds of kernels by time, until what is left is below 0.2 % each. */
static void fill_pareto(cJSON *o, const report *r)
{
    ENDED_BY(heap_free) ranked *of = kinds_ranked(r, r->best, -1);
    const double all = r->of[r->best].kernel_ns;
    double running = 0;
    int n = 0, shown = 0;
    cJSON *list = js_array(o, "kinds");
    while (n < r->n_kind && of[n].ns > 0)
        n++;
    for (; shown < n && shown < MAX_KINDS && (shown < FEW || of[shown].ns > 0.002 * all); shown++) {
        const part *p = &of[shown].k->of[r->best];
        running += p->ns / all;
        view_text(js_row(list, "shown:%s,time_ns:%g,roof_share:%g,part_share:%g,running_share:%g,bar:%g",
                         of[shown].k->shown, p->ns, p->peak_share, p->ns / all, running, fmin(100, 100 * running)),
                  "rule", p->heaviest->rule);
    }
    js_put(o, "n_others:%d,others_ns:%g", n - shown, (1 - running) * all);
}

const char *fill_time(cJSON *o, const report *r)
{
    if (r->best < 0)
        return "no candidate is valid";
    if (isnan(r->of[r->best].kernel_ns))
        return "the results hold no kernel times";
    fill_bars(o, r);
    fill_pareto(o, r);
    return NULL;
}
