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
        for (double p = pow(10, floor(log10(a->lo))); p <= a->hi && n < max; p *= 10)
            for (int i = 0; i < each && n < max; i++)
                if (p * of[i] >= a->lo * 0.9999 && p * of[i] <= a->hi * 1.0001)
                    out[n++] = p * of[i];
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

void chart_open(page *p, int width, int height, const char *title)
{
    page_add(p, "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\"><title>%s</title><desc>", width, height, title);
}

void chart_body(page *p)
{
    page_add(p, "</desc>\n");
}

void grid_x(page *p, double x, double top, double bottom, const char *name)
{
    page_add(p, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", x, top, bottom);
    page_add(p, "<text class=\"soft small mid\" x=\"%.1f\" y=\"%.1f\">%s</text>", x, bottom + 17, name);
}

void grid_y(page *p, double y, double left, double right, const char *name)
{
    page_add(p, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", left, y, right);
    page_add(p, "<text class=\"soft small end\" x=\"%.1f\" y=\"%.1f\">%s</text>", left - 8, y + 4, name);
}

void chart_close(page *p)
{
    page_add(p, "</svg>\n");
}

void figure_close(page *p)
{
    page_add(p, "</figure>\n");
}

void table_heads(page *p, int n, const char *const *heads)
{
    page_add(p, "<thead><tr>");
    for (int i = 0; i < n; i++) {
        bool number = heads[i][0] == '#';
        page_add(p, "<th%s>%s</th>", number ? " class=\"num\"" : "", heads[i] + number);
    }
    page_add(p, "</tr></thead><tbody>\n");
}

void td_number(page *p, word w)
{
    page_add(p, "<td class=\"num\">%s</td>", w.s);
}

void td_text(page *p, const char *s)
{
    page_add(p, "<td>");
    page_text(p, s);
    page_add(p, "</td>");
}

void td_mark(page *p, const report *r, int c)
{
    page_add(p, "<td>");
    mark_name(p, r, c);
    page_add(p, "</td>");
}

void sheet_open(page *p, int n, const char *const *heads)
{
    page_add(p, "<div class=\"wide\"><table>");
    table_heads(p, n, heads);
}

void sheet_close(page *p)
{
    page_add(p, "</tbody></table></div>\n");
}

void table_open(page *p, const char *summary, int n, const char *const *heads)
{
    page_add(p, "<details><summary>%s</summary>", summary);
    sheet_open(p, n, heads);
}

void table_close(page *p)
{
    sheet_close(p);
    page_add(p, "</details>\n");
}

/* ---- marks ---- */

const char *mark_class(const report *r, int c)
{
    static const char *const of[] = {"k0", "k1", "k2", "k3", "k4", "k5"};
    return c < 0 || c >= r->charted || r->of[c].peer ? "kp" : of[c];
}

void mark_path(page *p, int c, double x, double y, double r)
{
    double h = r * 0.886, d = r * 1.2533; /* half a side, half a diagonal, of squares as large as the circle */
    double w = r * 1.347, up = r * 1.555, down = r * 0.778;
    switch (c) {
    case 0:
        page_add(p, "M%.1f %.1fa%.2f %.2f 0 1 0 %.2f 0a%.2f %.2f 0 1 0 %.2f 0z", x - r, y, r, r, 2 * r, r, r, -2 * r);
        break;
    case 1: page_add(p, "M%.1f %.1fh%.2fv%.2fh%.2fz", x - h, y - h, 2 * h, 2 * h, -2 * h); break;
    case 2: page_add(p, "M%.1f %.1fl%.2f %.2fh%.2fz", x, y - up, w, up + down, -2 * w); break;
    case 3: page_add(p, "M%.1f %.1fl%.2f %.2fl%.2f %.2fl%.2f %.2fz", x, y - d, d, d, -d, d, -d, -d); break;
    case 4: page_add(p, "M%.1f %.1fl%.2f %.2fh%.2fz", x, y + up, w, -up - down, -2 * w); break;
    default: page_add(p, "M%.1f %.1fh%.2fv%.2fh%.2fz", x - d, y - h / 1.6, 2 * d, 1.25 * h, -2 * d); break;
    }
}

void mark_name(page *p, const report *r, int c)
{
    const char *name = c >= 0 ? r->of[c].name : "";
    bool is_short = strlen(name) <= 30; /* then mark and name stay on one line */
    page_add(p, "<span%s>", is_short ? " class=\"who\"" : "");
    if (c >= 0 && c < r->charted) {
        page_add(p, "<svg class=\"mark %s\" viewBox=\"-8 -8 16 16\" aria-hidden=\"true\"><path d=\"", mark_class(r, c));
        mark_path(p, c, 0, 0, 5);
        page_add(p, "\"/></svg>");
    }
    page_add(p, "<b class=\"name\">");
    page_name(p, name);
    page_add(p, "</b></span>");
}

void name_clip(page *p, const report *r, int c, int columns)
{
    page_clip(p, r->of[c].name, columns);
}

void legend(page *p, const report *r, int a, int b)
{
    page_add(p, "<div class=\"legend\"><span>");
    mark_name(p, r, a);
    page_add(p, "</span>");
    if (b >= 0)
        page_add(p, "<span>"), mark_name(p, r, b), page_add(p, "</span>");
    page_add(p, "</div>\n");
}

void kind_name(page *p, const kind *k)
{
    int count = 0;
    for (int c = 0; c < MAX_CHARTED; c++)
        if (k->of[c].count > count)
            count = k->of[c].count;
    page_add(p, "<b class=\"name\">");
    page_name(p, *k->name ? k->name : "(no name)");
    page_add(p, "</b>");
    if (count > 1)
        page_add(p, " <span class=\"soft\">× %d</span>", count);
    page_add(p, " <span class=\"soft\">");
    page_text(p, k->op);
    page_add(p, "</span>");
}
