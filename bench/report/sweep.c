/* sweep.c - the page of a sweep/1 document: a map of who wins where, then curves of the times along the first axis. */
#include "bench/report/parts.h"
#include "bench/report/report.h"
#include "graph/base/err.h"
#include "graph/base/formats.h"

#include <math.h>
#include <string.h>

/* pixels; curves of one picture; pictures, whose further ones are in the data */
enum { WIDTH = 980, HEIGHT = 300, LEFT = 90, RIGHT = 960, TOP = 14, BOTTOM = 270, MOST_CURVES = 6, MOST_PICTURES = 12 };

typedef struct field {
    cJSON *root;
    const cJSON *axes, *points, *along; /* along: the values of the first axis */
    int across;                         /* points with one value of that */
} field;

static const cJSON *contestants(const field *f)
{
    return js_get(cJSON_GetArrayItem(f->points, 0), "contestants");
}

/* The place in the list of a contestant, which gives its mark; -1: it has none. */
static int number_of(const field *f, const char *name)
{
    const cJSON *c;
    int i = 0;
    cJSON_ArrayForEach(c, contestants(f))
    {
        if (strcmp(js_get_text(c, "name"), name) == 0)
            return i < MOST_CURVES ? i : -1;
        i++;
    }
    return -1;
}

static void mark(text *t, int i)
{
    html_add(t, "<svg.mark.k%d viewBox='-8 -8 16 16' aria-hidden=true><path d='", i);
    mark_path(t, i, 0, 0, 5);
    text_add(t, "\"/></svg>");
}

static void marked(text *t, const field *f, const char *name)
{
    const int i = number_of(f, name);
    html_add(t, "<span.who>");
    if (i >= 0)
        mark(t, i);
    html_add(t, "<b.name>%s</b></span>", name);
}

/* The point of column x in row y: NULL where the sweep is not whole. */
static const cJSON *point_at(const field *f, int x, int y)
{
    return cJSON_GetArrayItem(f->points, x * f->across + y);
}

/* All but the first axis: "batch=1 threads=2". */
static void row_name(text *t, const field *f, int y)
{
    const cJSON *at = js_get(point_at(f, 0, y), "at"), *v;
    int n = 0;
    cJSON_ArrayForEach(v, at)
    {
        if (n++ > 0)
            html_add(t, "%s%s=%s", n > 2 ? " " : "", v->string, cJSON_IsString(v) ? v->valuestring : "");
    }
    if (n < 2)
        text_add(t, "time");
}

/* ---- the map ---- */

static void cell(text *t, const field *f, const cJSON *point)
{
    const char *winner = js_get_text(point, "winner");
    html_add(t, "<td>");
    if (!point)
        html_add(t, "<span.soft>not measured</span>");
    else if (!*winner)
        html_add(t, "<span.soft>not decided</span>");
    else {
        marked(t, f, winner);
        html_add(t, " %s", word_ratio(js_get_number(point, "times", NAN)).s);
    }
    if (point && strcmp(js_get_text(point, "state"), "quiet") != 0)
        html_add(t, " †");
    html_add(t, "</td>");
}

static void map(text *t, const field *f)
{
    const cJSON *v;
    html_add(
        t,
        "<section.card id=map><h2>Who wins where?</h2>\n<p.lead>The contestant that is faster than every other for "
        "sure, and how many times as long the next one takes. † The machine was busy.</p><div.wide><table><thead><tr>"
        "<th>%s</th>",
        js_get_text(cJSON_GetArrayItem(f->axes, 0), "name"));
    cJSON_ArrayForEach(v, f->along) html_add(t, "<th>%s</th>", v->valuestring);
    html_add(t, "</tr></thead><tbody>\n");
    for (int y = 0; y < f->across; y++) {
        html_add(t, "<tr><td>");
        row_name(t, f, y);
        html_add(t, "</td>");
        for (int x = 0; x < cJSON_GetArraySize(f->along); x++)
            cell(t, f, point_at(f, x, y));
        html_add(t, "</tr>\n");
    }
    sheet_close(t);
    html_add(t, "</section>\n");
}

/* ---- curves ---- */

static double time_of(const field *f, int x, int y, int c)
{
    return js_get_number(cJSON_GetArrayItem(js_get(point_at(f, x, y), "contestants"), c), "median_ns", NAN);
}

static int curves_of(const field *f)
{
    const int n = cJSON_GetArraySize(contestants(f));
    return n < MOST_CURVES ? n : MOST_CURVES;
}

static axis times_axis(const field *f, int y)
{
    axis a = {INFINITY, 0, BOTTOM, TOP, true};
    for (int x = 0; x < cJSON_GetArraySize(f->along); x++)
        for (int c = 0; c < curves_of(f); c++) {
            const double ns = time_of(f, x, y, c);
            if (ns > 0)
                a.lo = fmin(a.lo, ns), a.hi = fmax(a.hi, ns);
        }
    a.lo /= 1.1, a.hi *= 1.1;
    return a;
}

static double x_of(const field *f, int x)
{
    const int n = cJSON_GetArraySize(f->along);
    return LEFT + (RIGHT - LEFT) * (x + 0.5) / n;
}

static void curve(text *t, const field *f, const axis *a, int y, int c)
{
    bool drawn = false;
    html_add(t, "<path.line.k%d d='", c);
    for (int x = 0; x < cJSON_GetArraySize(f->along); x++) {
        const double ns = time_of(f, x, y, c);
        if (ns > 0)
            text_add(t, "%c%.1f %.1f", drawn ? 'L' : 'M', x_of(f, x), axis_at(a, ns));
        drawn = ns > 0;
    }
    text_add(t, "\"/>");
    for (int x = 0; x < cJSON_GetArraySize(f->along); x++) {
        const double ns = time_of(f, x, y, c);
        if (!(ns > 0))
            continue;
        html_add(t, "<path.fill.k%d d='", c);
        mark_path(t, c, x_of(f, x), axis_at(a, ns), 5);
        text_add(t, "\"/>");
    }
}

static void numbers(text *t, const field *f, int y)
{
    const cJSON *c;
    text head = {0};
    cJSON_ArrayForEach(c, contestants(f)) html_add(&head, "<th class=num>%s</th>", js_get_text(c, "name"));
    html_add(t,
             "<details><summary>The same as a table</summary><div.wide><table><thead><tr><th>%s</th>%-s</tr></thead>"
             "<tbody>\n",
             js_get_text(cJSON_GetArrayItem(f->axes, 0), "name"), text_str(&head));
    text_free(&head);
    for (int x = 0; x < cJSON_GetArraySize(f->along); x++) {
        html_add(t, "<tr><td>%s</td>", cJSON_GetArrayItem(f->along, x)->valuestring);
        for (int i = 0; i < cJSON_GetArraySize(contestants(f)); i++)
            html_add(t, "<td.num>%s</td>", word_time(time_of(f, x, y, i)).s);
        html_add(t, "</tr>\n");
    }
    sheet_close(t);
    html_add(t, "</details>");
}

static void picture(text *t, const field *f, int y)
{
    const axis a = times_axis(f, y);
    tick ticks[8];
    html_add(t, "<h3>");
    row_name(t, f, y);
    html_add(t, "</h3>\n");
    chart_open(t, WIDTH, HEIGHT, "Times along the first axis");
    text_add(t, "Median times; the table below has them.");
    chart_body(t);
    const int n = a.hi > a.lo ? axis_time_ticks(&a, ticks, 6) : 0;
    for (int i = 0; i < n; i++)
        grid_y(t, ticks[i].at, LEFT, RIGHT, ticks[i].name.s);
    for (int x = 0; x < cJSON_GetArraySize(f->along); x++)
        grid_x(t, x_of(f, x), TOP, BOTTOM, cJSON_GetArrayItem(f->along, x)->valuestring);
    for (int c = 0; n && c < curves_of(f); c++)
        curve(t, f, &a, y, c);
    chart_close(t);
    numbers(t, f, y);
    figure_close(t);
}

static void pictures(text *t, const field *f)
{
    html_add(t, "<section.card id=curves><h2>How do the times grow?</h2>\n<div.legend>");
    const cJSON *c;
    cJSON_ArrayForEach(c, contestants(f)) marked(t, f, js_get_text(c, "name"));
    html_add(t, "</div>\n");
    for (int y = 0; y < f->across && y < MOST_PICTURES; y++)
        picture(t, f, y);
    if (f->across > MOST_PICTURES)
        html_add(t, "<p.soft>%d more are in the data.</p>\n", f->across - MOST_PICTURES);
    html_add(t, "</section>\n");
}

/* ---- the page ---- */

/* Points are the product of the axes, as far as they were measured, each with the same contestants. */
static bool fits(field *f)
{
    const cJSON *v, *p;
    f->axes = js_get(f->root, "axes"), f->points = js_get(f->root, "points");
    f->along = js_get(cJSON_GetArrayItem(f->axes, 0), "values");
    f->across = 1;
    cJSON_ArrayForEach(v, f->axes)
    {
        const int n = cJSON_GetArraySize(js_get(v, "values"));
        if (n < 1 || n > 1000 || f->across > 1000)
            return false;
        f->across *= v == f->axes->child ? 1 : n;
    }
    cJSON_ArrayForEach(v, f->along) if (!cJSON_IsString(v)) return false;
    cJSON_ArrayForEach(p, f->points) if (!cJSON_IsObject(p)) return false;
    return cJSON_IsArray(f->along) && cJSON_IsArray(f->points) && f->points->child;
}

bool report_sweep(const char *sweep_json, char **html, ts_error *e)
{
    field f = {.root = js_parse(sweep_json, "the sweep", e)};
    if (!f.root)
        return false;
    if (!fits(&f)) {
        cJSON_Delete(f.root);
        err_set(e, TS_BAD_INPUT, "the sweep: its axes and points do not fit, or it has no point yet");
        return err_hint(e, "give a file that tessera bench --sweep wrote with -o");
    }
    text t = {0};
    page_open(&t, "Tessera sweep", path_name(js_get_text(f.root, "model")));
    html_add(&t, "</style></head>\n<body><header><h1>%s</h1>\n</header><main>\n",
             path_name(js_get_text(f.root, "model")));
    map(&t, &f);
    pictures(&t, &f);
    html_add(&t,
             "</main><footer><p>Made by tessera %s from a sweep, which this page carries inside.</p></footer>\n"
             "<script type='application/json' id=results>",
             TS_VERSION);
    html_embed(&t, sweep_json);
    html_add(&t, "</script>\n</body></html>\n");
    cJSON_Delete(f.root);
    *html = text_take(&t);
    return true;
}

bool report_is(const char *json, const char *format)
{
    cJSON *v = cJSON_Parse(json);
    const bool is = strcmp(js_get_text(v, "format"), format) == 0;
    cJSON_Delete(v);
    return is;
}
