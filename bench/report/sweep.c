/* sweep.c - the page of a sweep/1 document: a map of who wins where, then curves of the times along the first axis. */
#include "bench/report/page.h"
#include "bench/report/report.h"
#include "graph/base/err.h"

#include <math.h>
#include <string.h>

/* pixels; curves of one picture; pictures, whose further ones are in the data */
enum { LEFT = 90, RIGHT = 960, TOP = 14, BOTTOM = 270, MOST_CURVES = 6, MOST_PICTURES = 12 };

typedef struct field {
    cJSON *root;
    const cJSON *axes, *points, *along; /* along: the values of the first axis */
    int across;                         /* points with one value of that */
} field;

static const cJSON *contestants(const field *f)
{
    return js_get(cJSON_GetArrayItem(f->points, 0), "contestants");
}

/* With the mark of its place in the list, of which there are six */
static void fill_who(cJSON *o, const char *key, const field *f, const char *name)
{
    cJSON *who = js_object(o, key);
    const cJSON *c;
    ENDED_BY(text_free) text t = {0};
    int place = 0;
    cJSON_ArrayForEach(c, contestants(f))
    {
        if (strcmp(js_get_text(c, "name"), name) == 0)
            break;
        place++;
    }
    place = c && place < MOST_CURVES ? place : -1;
    mark_add(&t, curve_class(place), place, name);
    view_text(who, "name", name);
    cJSON_AddStringToObject(who, "mark", text_str(&t));
}

/* All but the first axis: "batch=1 threads=2". */
static void fill_name(cJSON *row, const cJSON *point)
{
    const cJSON *v;
    ENDED_BY(text_free) text t = {0};
    int n = 0;
    cJSON_ArrayForEach(v, js_get(point, "at"))
    {
        if (n++ > 0)
            text_add(&t, "%s%s=%s", n > 2 ? " " : "", v->string, cJSON_IsString(v) ? v->valuestring : "");
    }
    cJSON_AddStringToObject(row, "name", n < 2 ? "time" : text_str(&t));
}

/* A point of the sweep, or what is missing where it is not whole */
static void fill_point(cJSON *columns, const field *f, int x, const cJSON *point)
{
    const cJSON *c;
    const char *winner = js_get_text(point, "winner");
    cJSON *o = js_row(columns, "missing:%i,times:%g,busy:%i", !point, js_get_number(point, "times", (double)NAN),
                      point && strcmp(js_get_text(point, "state"), "quiet") != 0),
          *of = js_array(o, "of");
    view_text(o, "at", cJSON_GetArrayItem(f->along, x)->valuestring);
    if (*winner)
        fill_who(o, "winner", f, winner);
    for (c = contestants(f) ? contestants(f)->child : NULL; c; c = c->next) {
        const cJSON *here = cJSON_GetArrayItem(js_get(point, "contestants"), cJSON_GetArraySize(of));
        js_row(of, "time_ns:%g", js_get_number(here, "median_ns", (double)NAN));
    }
}

static void fill_sweep(cJSON *o, const field *f)
{
    cJSON *list = js_array(o, "contestants"), *rows = js_array(o, "rows");
    const cJSON *c;
    view_text(o, "model", path_name(js_get_text(f->root, "model")));
    view_text(o, "axis", js_get_text(cJSON_GetArrayItem(f->axes, 0), "name"));
    view_some(o, "along", f->along, cJSON_GetArraySize(f->along), true);
    js_put(o, "tessera:%s,more:%d", TS_VERSION, f->across - MOST_PICTURES);
    cJSON_ArrayForEach(c, contestants(f)) fill_who(list, NULL, f, js_get_text(c, "name"));
    for (int y = 0; y < f->across; y++) {
        cJSON *row = js_row(rows, "drawn:%i", y < MOST_PICTURES), *columns = js_array(row, "columns");
        fill_name(row, cJSON_GetArrayItem(f->points, y));
        for (int x = 0; x < cJSON_GetArraySize(f->along); x++)
            fill_point(columns, f, x, cJSON_GetArrayItem(f->points, x * f->across + y));
    }
}

/* ---- curves ---- */
static double time_of(const cJSON *column, int c)
{
    return js_get_number(cJSON_GetArrayItem(js_get(column, "of"), c), "time_ns", (double)NAN);
}

static void curve(text *t, const cJSON *columns, const axis *a, int c)
{
    const int n = cJSON_GetArraySize(columns);
    const cJSON *column;
    ENDED_BY(text_free) text marks = {0};
    bool drawn = false;
    double x = LEFT + 0.5 * (RIGHT - LEFT) / n;
    html_add(t, "<path.line.%s d='", curve_class(c));
    cJSON_ArrayForEach(column, columns)
    {
        const double ns = time_of(column, c);
        if (ns > 0) {
            text_add(t, "%c%.1f %.1f", drawn ? 'L' : 'M', x, axis_at(a, ns));
            mark_path(&marks, c, x, axis_at(a, ns), 5);
        }
        drawn = ns > 0;
        x += (double)(RIGHT - LEFT) / n;
    }
    html_add(t, "\"/><path.fill.%s d='%-s'/>", curve_class(c), text_str(&marks));
}

void draw_times(text *t, const report *r, const cJSON *v)
{
    const cJSON *columns = js_get(v, "columns"), *column;
    const int n = cJSON_GetArraySize(columns), all = cJSON_GetArraySize(js_get(columns->child, "of"));
    axis a = {INFINITY, 0, BOTTOM, TOP, true};
    tick ticks[8];
    int x = 0;
    (void)r;
    cJSON_ArrayForEach(column, columns)
    {
        for (int c = 0; c < all && c < MOST_CURVES; c++)
            if (time_of(column, c) > 0)
                a.lo = fmin(a.lo, time_of(column, c)), a.hi = fmax(a.hi, time_of(column, c));
    }
    a.lo /= 1.1, a.hi *= 1.1;
    const int marks = a.hi > a.lo ? axis_time_ticks(&a, ticks, 6) : 0;
    for (int i = 0; i < marks; i++)
        grid_y(t, ticks[i].at, LEFT, RIGHT, ticks[i].name.s);
    cJSON_ArrayForEach(column, columns)
        grid_x(t, LEFT + (RIGHT - LEFT) * (x++ + 0.5) / n, TOP, BOTTOM, js_get_text(column, "at"));
    for (int c = 0; marks && c < all && c < MOST_CURVES; c++)
        curve(t, columns, &a, c);
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
    ENDED_BY(js_free) cJSON *view = cJSON_CreateObject();
    fill_sweep(view, &f);
    page_open(&t, "Tessera sweep", js_get_text(view, "model"));
    page_put(&t, NULL, IN_HTML, &(form_place){view, NULL}, "sweep.html");
    html_embed(&t, sweep_json);
    html_add(&t, "</script>\n</body></html>\n");
    cJSON_Delete(f.root);
    *html = text_take(&t);
    return true;
}

bool report_is(const char *json, const char *format)
{
    ENDED_BY(js_free) cJSON *v = cJSON_Parse(json);
    return strcmp(js_get_text(v, "format"), format) == 0;
}
