/* Every sample of every launch beside its canary, so that a busy neighbour is seen in both. */
#include "bench/report/page.h"
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

void fill_samples(cJSON *o, const report *r)
{
    cJSON *each = js_array(o, "each");
    int rows = 0, launches = 0, total = 0;
    for (int i = 0; i < r->charted; i++) {
        rows += r->of[i].n_sample > 0;
        total += r->of[i].n_sample;
        launches = r->of[i].n_launch > launches ? r->of[i].n_launch : launches;
        for (int l = 0; l < r->of[i].n_launch && l < MAX_LAUNCHES; l++) {
            const launch *one = &r->of[i].launches[l];
            int flagged = 0;
            for (int k = 0; k < one->n; k++)
                flagged += one->flagged[k];
            view_who(js_row(each, "launch:%d,n:%d,median_ns:%g,flagged:%d", l + 1, one->n,
                            stats_median(one->ns, one->n), flagged),
                     "who", r, i, NULL);
        }
    }
    if (total)
        js_put(o, "rows:%d,total:%d,launches:%d,height:%d,stride:%d", rows, total,
               launches < MAX_LAUNCHES ? launches : MAX_LAUNCHES, rows * ROW_HEIGHT + 4, 1 + total / MAX_DOTS);
}

void draw_samples(text *t, const report *r, const cJSON *v)
{
    strip s = {.r = r, .y = 2 + ROW_HEIGHT / 2.0, .spread = spread_of(r), .stride = (int)js_get_number(v, "stride", 1)};
    for (s.c = 0; s.c < r->charted; s.c++) {
        if (!r->of[s.c].n_sample)
            continue;
        s.canary = canary_median(&r->of[s.c]);
        strip_row(t, &s, (int)js_get_number(v, "launches", 1));
        s.y += ROW_HEIGHT;
    }
}
