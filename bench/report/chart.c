/* chart.c - SVG by hand: round numbers for the ticks of an axis, marks by shape and colour, and a table with the same
 * numbers for who cannot see it. */
#include "bench/report/chart.h"

#include <math.h>
#include <string.h>

double axis_at(const axis *a, double v)
{
    double lo = a->lo, hi = a->hi;
    if (a->log) {
        lo = log(lo);
        hi = log(hi);
        v = v > 0 ? log(v) : lo;
    }
    double at = hi > lo ? (v - lo) / (hi - lo) : 0;
    if (!(at > -0.5))
        at = -0.5; /* NAN, too */
    if (at > 1.5)
        at = 1.5;
    return a->from + at * (a->to - a->from);
}

int axis_ticks(const axis *a, double *out, int max)
{
    static const double step[] = {1, 2, 5}, fine[] = {1, 1.5, 2, 3, 4, 5, 6, 8};
    double span = a->log ? a->hi - a->lo : (a->hi - a->lo) / max;
    int n = 0;
    if (!(span > 0) || !isfinite(span))
        return 0;
    if (a->log) { /* as many of each decade as fit */
        double decades = log10(a->hi / a->lo);
        const double *of = decades < 1 ? fine : step;
        int each = decades < 1 ? 8 : decades * 3 > max ? 1 : 3;
        for (double t = pow(10, floor(log10(a->lo))); t <= a->hi && n < max; t *= 10)
            for (int i = 0; i < each && n < max; i++)
                if (t * of[i] >= a->lo * 0.9999 && t * of[i] <= a->hi * 1.0001)
                    out[n++] = t * of[i];
        return n;
    }
    double unit = pow(10, floor(log10(span)));
    for (int i = 0; i < 4; i++) {
        double s = i < 3 ? unit * step[i] : unit * 10;
        if (s < span)
            continue;
        for (double v = ceil(a->lo / s - 1e-9) * s; v <= a->hi + s * 1e-9 && n < max; v += s)
            out[n++] = fabs(v) < s * 1e-9 ? 0 : v;
        break;
    }
    return n;
}

int axis_time_ticks(const axis *a, tick *out, int max)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
    double values[16];
    size_t u = 0;
    while (u < 3 && a->hi < units[u].ns)
        u++;
    int n = axis_ticks(a, values, max < 16 ? max : 16);
    for (int i = 0; i < n; i++)
        out[i] = (tick){axis_at(a, values[i]), word_tick(values[i] / units[u].ns, units[u].unit)};
    return n;
}

void grid_x(text *t, double x, double top, double bottom, const char *name)
{
    html_add(t, "<path.grid d='M%.1f %.1fV%.1f'/><text.soft.small.mid x=%.1f y=%.1f>%s</text>", x, top, bottom, x,
             bottom + 17, name);
}

void grid_y(text *t, double y, double left, double right, const char *name)
{
    html_add(t, "<path.grid d='M%.1f %.1fH%.1f'/><text.soft.small.end x=%.1f y=%.1f>%s</text>", left, y, right,
             left - 8, y + 4, name);
}

void grid_times(text *t, const axis *x, double top, double bottom)
{
    tick ticks[8];
    const int n = axis_time_ticks(x, ticks, 8);
    for (int i = 0; i < n; i++)
        grid_x(t, ticks[i].at, top, bottom, ticks[i].name.s);
}

/* ---- marks ---- */

const char *curve_class(int i)
{
    static const char *const of[MAX_CHARTED] = {"k0", "k1", "k2", "k3", "k4", "k5"};
    return i < 0 || i >= MAX_CHARTED ? "kp" : of[i];
}

const char *mark_class(const report *r, int c)
{
    return c < 0 || c >= r->charted || r->of[c].peer ? "kp" : curve_class(c);
}

void mark_path(text *t, int c, double x, double y, double r)
{
    double h = r * 0.886, d = r * 1.2533; /* half a side, half a diagonal, of squares as large as the circle */
    double w = r * 1.347, up = r * 1.555, down = r * 0.778;
    switch (c) {
    case 0:
        text_add(t, "M%.1f %.1fa%.2f %.2f 0 1 0 %.2f 0a%.2f %.2f 0 1 0 %.2f 0z", x - r, y, r, r, 2 * r, r, r, -2 * r);
        break;
    case 1: text_add(t, "M%.1f %.1fh%.2fv%.2fh%.2fz", x - h, y - h, 2 * h, 2 * h, -2 * h); break;
    case 2: text_add(t, "M%.1f %.1fl%.2f %.2fh%.2fz", x, y - up, w, up + down, -2 * w); break;
    case 3: text_add(t, "M%.1f %.1fl%.2f %.2fl%.2f %.2fl%.2f %.2fz", x, y - d, d, d, -d, d, -d, -d); break;
    case 4: text_add(t, "M%.1f %.1fl%.2f %.2fh%.2fz", x, y + up, w, -up - down, -2 * w); break;
    default: text_add(t, "M%.1f %.1fh%.2fv%.2fh%.2fz", x - d, y - h / 1.6, 2 * d, 1.25 * h, -2 * d); break;
    }
}

/* Then mark and name stay on one line. */
static bool is_short(const char *name)
{
    return strlen(name) <= 30;
}

static const char *kept(report *r, text *t) /* frees t */
{
    const char *s = arena_string(&r->mem, text_str(t));
    text_free(t);
    return s;
}

void mark_add(text *t, const char *class, int shape, const char *name)
{
    html_add(t, is_short(name) ? "<span.who>" : "<span>");
    if (shape >= 0) {
        html_add(t, "<svg.mark.%s viewBox='-8 -8 16 16' aria-hidden=true><path d='", class);
        mark_path(t, shape, 0, 0, 5);
        text_add(t, "\"/></svg>");
    }
    html_add(t, "<b.name>%1s</b></span>", name);
}

const char *mark_make(report *r, int c)
{
    text t = {0};
    mark_add(&t, mark_class(r, c), c < r->charted ? c : -1, r->of[c].name);
    return kept(r, &t);
}

const char *kind_make(report *r, const kind *k)
{
    text t = {0};
    int count = 0;
    for (int c = 0; c < MAX_CHARTED; c++)
        if (k->of[c].count > count)
            count = k->of[c].count;
    html_add(&t, "<b.name>%1s</b>", k->name);
    if (count > 1)
        html_add(&t, " <span.soft>× %d</span>", count);
    html_add(&t, " <span.soft>%s</span>", k->op);
    return kept(r, &t);
}
