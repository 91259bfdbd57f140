/* Section 6: how much memory? Peak and arena against the lower bound (the largest set of values alive at once), and
 * where each buffer lies and how long it lives. */
#include "bench/report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* pixels; values that are drawn, and listed */
enum { LEFT = 70, RIGHT = 965, TOP = 8, HEIGHT = 220, MAX_RECTS = 120, MAX_ROWS = 10 };

/* The largest first: they are drawn, and named, before the small ones. */
static int by_bytes(const void *x, const void *y)
{
    const buffer *a = *(const buffer *const *)x, *b = *(const buffer *const *)y;
    return a->bytes != b->bytes ? (a->bytes < b->bytes ? 1 : -1) : (a > b) - (a < b);
}

/* The caller frees the list; buffers stay the report's. */
static const buffer **largest(const contestant *c)
{
    const buffer **of = heap_array((size_t)c->n_buffer + 1, sizeof *of);
    for (int i = 0; i < c->n_buffer; i++)
        of[i] = &c->buffers[i];
    qsort(of, (size_t)c->n_buffer, sizeof *of, by_bytes);
    return of;
}

typedef struct rectangle { /* pixels: x0 left, y0 above */
    double x0, x1, y0, y1;
} rectangle;

/* Across: kernels from first to last. Up: bytes from its offset on. */
static rectangle place_of(const buffer *b, const axis *x, const axis *y)
{
    return (rectangle){axis_at(x, b->first), axis_at(x, b->last + 1), axis_at(y, b->offset + b->bytes),
                       axis_at(y, b->offset)};
}

static void outline(text *t, const rectangle *at)
{
    text_add(t, "M%.1f %.1fH%.1fV%.1fH%.1fz", at->x0, at->y0, at->x1, at->y1, at->x0);
}

static void draw(text *t, const report *r, int c, const buffer *b, const rectangle *at)
{
    html_add(
        t,
        "<rect.tint.%s x=%.1f y=%.1f width=%.1f height=%.1f><title>%s: %s at %s, kernels %.0f to %.0f</title></rect>",
        mark_class(r, c), at->x0, at->y0, at->x1 - at->x0, at->y1 - at->y0, b->name, word_bytes(b->bytes).s,
        word_bytes(b->offset).s, b->first, b->last);
}

/* ---- names, where there is room: a character takes about seven units, a line twelve ---- */
enum { MAX_LINES = 3, FEWEST_COLUMNS = 8 };     /* of a label within its rectangle */
static const double CHARACTER = 6.6, LINE = 12; /* pixels, of the font that browsers take for monospace at 11 */

/* As they are shown: an escape such as &lt; is one. */
static int characters(const char *s)
{
    int n = 0;
    for (; *s; s = html_skip(s, 1))
        n++;
    return n;
}

/* When b alone is where it lies: after what it takes the place of, before what takes its place. */
static double alone(const contestant *o, const buffer *b, double *end)
{
    double from = b->first;
    *end = b->last + 1;
    for (int i = 0; i < o->n_buffer; i++) {
        const buffer *other = &o->buffers[i];
        if (other->offset >= b->offset + b->bytes || b->offset >= other->offset + other->bytes)
            continue;
        if (other->first > b->first)
            *end = fmin(*end, other->first);
        else if (other->first < b->first)
            from = fmax(from, other->last + 1);
    }
    return from;
}

typedef struct room { /* for text: where its first line begins, which way it runs */
    double x, y;
    bool upward;
    int columns, lines;
} room;

/* As much of the name's end as there is room for, for that is what tells values apart. */
static void name_draw(text *t, const char *name, const room *in)
{
    const int n = characters(name), most = in->columns * in->lines;
    const char *at = html_skip(name, n > most ? n - most + 1 : 0);
    html_add(t, "<g transform='translate(%.1f %.1f)%s'>", in->x, in->y, in->upward ? " rotate(-90)" : "");
    for (int i = 0; i < in->lines && *at; i++) {
        const bool cut = i == 0 && at > name;
        const char *end = html_skip(at, cut ? in->columns - 1 : in->columns);
        ENDED_BY(heap_free) char *piece = strndup(at, (size_t)(end - at));
        html_add(t, "<text.small y=%.1f>%s%s</text>", LINE * i, cut ? "…" : "", piece);
        at = end;
    }
    html_add(t, "</g>\n");
}

/* Pixels to lines of text. */
static int lines_in(double size)
{
    return size < LINE ? 0 : size < MAX_LINES * LINE ? (int)(size / LINE) : MAX_LINES;
}

/* Along the rectangle if it is wide enough, else upward, else not at all. */
static void names(text *t, const contestant *o, const buffer *const *of, const axis *x, const axis *y)
{
    for (int i = 0; i < o->n_buffer && i < MAX_RECTS; i++) {
        double end, from = alone(o, of[i], &end);
        const double left = axis_at(x, from), wide = axis_at(x, end) - left;
        const double top = axis_at(y, of[i]->offset + of[i]->bytes), high = axis_at(y, of[i]->offset) - top;
        const int n = characters(of[i]->name), fewest = n < FEWEST_COLUMNS ? n : FEWEST_COLUMNS;
        const room flat = {left + 5, top + fmin(LINE, high / 2 + 4), false, (int)((wide - 8) / CHARACTER),
                           lines_in(high - 2)};
        const room up = {left + 11, top + high - 4, true, (int)((high - 6) / CHARACTER), lines_in(wide - 2)};
        if (n && flat.lines && flat.columns >= fewest)
            name_draw(t, of[i]->name, &flat);
        else if (n && up.lines && up.columns >= fewest)
            name_draw(t, of[i]->name, &up);
    }
}

void draw_buffers(text *t, const report *r, const cJSON *v)
{
    const int c = (int)js_get_number(v, "index", 0);
    const contestant *o = &r->of[c];
    ENDED_BY(heap_free) const buffer **of = largest(o);
    axis x = {0, 1, LEFT, RIGHT, false}, y = {0, 1, TOP + HEIGHT, TOP, false};
    for (int i = 0; i < o->n_buffer; i++) {
        x.hi = fmax(x.hi, of[i]->last + 1);
        y.hi = fmax(y.hi, of[i]->offset + of[i]->bytes);
    }
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    int u = 0;
    double unit = 1, ticks[6];
    while (u < 3 && y.hi >= 1024 * unit)
        unit *= 1024, u++;
    axis steps = {0, y.hi / unit, y.from, y.to, false};
    int n = axis_ticks(&steps, ticks, 4);
    for (int i = 0; i < n; i++)
        grid_y(t, axis_at(&steps, ticks[i]), LEFT, RIGHT, word_tick(ticks[i], units[u]).s);
    html_add(
        t,
        "<path.axis d='M%d %dH%d'/><text.soft.small.mid x=%d y=%d>kernels, in the order of running (%.0f) →</text>\n",
        LEFT, TOP + HEIGHT, RIGHT, (LEFT + RIGHT) / 2, TOP + HEIGHT + 18, x.hi);
    for (int i = 0; i < o->n_buffer && i < MAX_RECTS; i++) {
        const rectangle at = place_of(of[i], &x, &y);
        draw(t, r, c, of[i], &at);
    }
    if (o->n_buffer > MAX_RECTS) { /* the small ones in one path */
        html_add(t, "<path.tint.%s d='", mark_class(r, c));
        for (int i = MAX_RECTS; i < o->n_buffer && i < 40 * MAX_RECTS; i++) {
            const rectangle at = place_of(of[i], &x, &y);
            outline(t, &at);
        }
        text_add(t, "\"/>");
    }
    names(t, o, of, &x, &y);
    if (o->lower_bound_bytes > 0)
        html_add(
            t,
            "<path.axis stroke-dasharray='5 4' d='M%d %.1fH%d'/><text.small.end.halo x=%d y=%.1f>lower bound %s</text>",
            LEFT, axis_at(&y, o->lower_bound_bytes), RIGHT, RIGHT, axis_at(&y, o->lower_bound_bytes) - 5,
            word_bytes(o->lower_bound_bytes).s);
}

static bool same_buffers(const contestant *a, const contestant *b)
{
    if (a->n_buffer != b->n_buffer)
        return false;
    for (int i = 0; i < a->n_buffer; i++) {
        const buffer *x = &a->buffers[i], *y = &b->buffers[i];
        if (strcmp(x->name, y->name) != 0 || x->bytes != y->bytes || x->offset != y->offset || x->first != y->first ||
            x->last != y->last)
            return false;
    }
    return true;
}

/* Each plan of memory once, with all candidates that have it, and its largest buffers. */
static void fill_plan(cJSON *plans, const report *r, int c)
{
    const contestant *of = &r->of[c];
    ENDED_BY(heap_free) const buffer **by_size = largest(of);
    cJSON *o = js_row(plans, "index:%d,n:%d,arena_bytes:%g,lower_bound_bytes:%g", c, of->n_buffer, of->arena_bytes,
                      of->lower_bound_bytes),
          *alike = js_array(o, "of"), *rows = js_array(o, "buffers");
    for (int i = c; i < r->charted; i++)
        if (same_buffers(of, &r->of[i]))
            view_who(alike, NULL, r, i, NULL);
    for (int i = 0; i < of->n_buffer && i < MAX_ROWS; i++)
        view_text(js_row(rows, "bytes:%g,offset_bytes:%g,first:%g,last:%g", by_size[i]->bytes, by_size[i]->offset,
                         by_size[i]->first, by_size[i]->last),
                  "name", by_size[i]->name);
}

const char *fill_memory(cJSON *o, const report *r)
{
    bool any = false;
    cJSON *plans = js_array(o, "plans");
    for (int i = 0; i < r->n; i++)
        any |= !isnan(r->of[i].peak_bytes) || !isnan(r->of[i].arena_bytes);
    if (!any)
        return "the results hold no memory sizes";
    for (int c = 0; c < r->charted; c++) {
        bool shown = !r->of[c].n_buffer;
        for (int i = 0; i < c; i++)
            shown |= same_buffers(&r->of[i], &r->of[c]);
        if (!shown)
            fill_plan(plans, r, c);
    }
    return NULL;
}
