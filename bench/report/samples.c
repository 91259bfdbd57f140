/* Every sample of every launch beside its canary, so that a busy neighbour is seen in both. */
#include "bench/report/parts.h"
#include "graph/base/stats.h"

#include <math.h>

/* pixels; samples that are drawn, of so many launches */
enum { WIDTH = 980, NAME_COLUMN = 150, ROW_HEIGHT = 92, MAX_DOTS = 3000, MAX_LAUNCHES = 12 };

typedef struct strip {
    const report *r;
    int c;
    double y;          /* of the middle of the row: the contestant's own median */
    double spread;     /* what half a row stands for, 0.01 = 1 % */
    double from, step; /* of the launch being drawn */
    double canary;     /* median */
    int stride;
} strip;

static double strip_y(const strip *s, double off)
{
    double limit = ROW_HEIGHT / 2.0 - 6, y = off / s->spread * limit;
    return s->y - (y > limit ? limit : y < -limit ? -limit : y);
}

static void strip_line(text *t, const strip *s, const launch *l)
{
    bool any = false;
    html_add(t, "<path.axis stroke-opacity=.55 d='");
    for (int i = 0; i < l->n; i += s->stride) {
        if (!(l->canary[i] > 0))
            continue;
        text_add(t, "%s%.1f %.1f", any ? "L" : "M", s->from + i * s->step, strip_y(s, l->canary[i] / s->canary - 1));
        any = true;
    }
    text_add(t, "\"/>");
}

static void strip_dots(text *t, const strip *s, const launch *l, bool flagged)
{
    double median = s->r->of[s->c].stats.median;
    html_add(t, flagged ? "<path.thin.kb d='" : "<path.dots.%s d='", mark_class(s->r, s->c));
    for (int i = 0; i < l->n; i++) {
        double x = s->from + i * s->step, y = strip_y(s, l->ns[i] / median - 1);
        if (flagged && l->flagged[i])
            text_add(t, "M%.1f %.1fm-5 -5l10 10m0 -10l-10 10", x, y);
        if (!flagged && i % s->stride == 0)
            mark_path(t, s->c, x, y, 2.2);
    }
    text_add(t, "\"/>");
}

static void strip_row(text *t, strip *s, int launches)
{
    const contestant *c = &s->r->of[s->c];
    double wide = (WIDTH - NAME_COLUMN) / (double)launches;
    html_add(t, "<text.strong x=0 y=%.0f>%.17s</text><text.soft.small x=0 y=%.0f>%s ± %s</text>", s->y - 2,
             s->r->of[s->c].name, s->y + 15, word_time(c->stats.median).s, word_share(s->spread).s);
    for (int l = 0; l < c->n_launch && l < launches; l++) {
        const launch *one = &c->launches[l];
        s->from = NAME_COLUMN + l * wide + 9;
        s->step = one->n > 1 ? (wide - 26) / (one->n - 1) : 0;
        html_add(t, "<rect.frame x=%.1f y=%.1f width=%.1f height=%d rx=4/><path.grid d='M%.1f %.1fh%.1f'/>",
                 s->from - 9, s->y - ROW_HEIGHT / 2.0 + 3, wide - 8, ROW_HEIGHT - 6, s->from - 9, s->y, wide - 8);
        if (s->canary > 0)
            strip_line(t, s, one);
        strip_dots(t, s, one, false);
        strip_dots(t, s, one, true);
    }
    text_add(t, "\n");
}

/* Room for nearly all samples; what lies beyond is drawn at the edge. */
static double spread_of(const report *r)
{
    double most = 0.005;
    for (int i = 0; i < r->charted; i++) {
        const contestant *c = &r->of[i];
        if (!c->n_sample)
            continue;
        double lo = 1 - stats_quantile(c->sorted, c->n_sample, 0.02) / c->stats.median;
        double hi = stats_quantile(c->sorted, c->n_sample, 0.98) / c->stats.median - 1;
        most = fmax(most, fmax(lo, hi));
    }
    static const double nice[] = {0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1};
    for (size_t i = 0; i < sizeof nice / sizeof *nice; i++)
        if (most <= nice[i])
            return nice[i];
    return 1;
}

static void samples_table(text *t, const report *r)
{
    table_open(t, "Launch by launch, as a table", "candidate|#launch|#samples|#median|#flagged");
    for (int i = 0; i < r->charted; i++) {
        for (int l = 0; l < r->of[i].n_launch && l < MAX_LAUNCHES; l++) {
            const launch *one = &r->of[i].launches[l];
            int flagged = 0;
            for (int k = 0; k < one->n; k++)
                flagged += one->flagged[k];
            html_row(t, "%-s|#%s|#%s|#%s|#%s", r->of[i].mark, word_count(l + 1).s, word_count(one->n).s,
                     word_time(stats_median(one->ns, one->n)).s, word_count(flagged).s);
        }
    }
    table_close(t);
}

void samples_strip(text *t, const report *r)
{
    int rows = 0, launches = 0, total = 0;
    for (int i = 0; i < r->charted; i++) {
        rows += r->of[i].n_sample > 0;
        total += r->of[i].n_sample;
        if (r->of[i].n_launch > launches)
            launches = r->of[i].n_launch;
    }
    if (!total) {
        html_add(t, "<p.missing>The results hold no single samples, so they cannot be shown.</p>\n");
        return;
    }
    if (launches > MAX_LAUNCHES)
        launches = MAX_LAUNCHES;
    html_add(t, "<h3>Every sample</h3><p.lead>One box per launch, time runs to the right, each row around its own "
                "median. The grey line is the canary: where dots and line rise together, the machine was busy, not the "
                "schema. Crosses are flagged.</p>\n");
    chart_open(t, WIDTH, rows * ROW_HEIGHT + 4, "Samples by launch, beside their canary");
    text_add(t, "%d samples of %d contestants in up to %d launches, around each one's median.", total, rows, launches);
    chart_body(t);
    strip s = {.r = r, .y = 2 + ROW_HEIGHT / 2.0, .spread = spread_of(r), .stride = 1 + total / MAX_DOTS};
    for (s.c = 0; s.c < r->charted; s.c++) {
        if (!r->of[s.c].n_sample)
            continue;
        s.canary = canary_median(&r->of[s.c]);
        strip_row(t, &s, launches);
        s.y += ROW_HEIGHT;
    }
    chart_close(t);
    if (s.stride > 1)
        html_add(t, "<p.soft>Every %dth sample is drawn, and all flagged ones.</p>\n", s.stride);
    samples_table(t, r);
    figure_close(t);
}
