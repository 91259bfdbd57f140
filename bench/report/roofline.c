/* The roofline: how much arithmetic per byte a kernel does, how fast it does it, and what the machine allows at
 * most. All roofs are measured ones. One mark per kind of kernel and candidate, its area the time it takes; an arrow
 * leads from the slower candidate's mark to the faster one's. */
#include "bench/report/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* pixels; kernels and ceilings that are drawn */
enum { LEFT = 62, RIGHT = 965, TOP = 20, BOTTOM = 425, MAX_BUBBLES = 24, MAX_ROOFS = 8 };

typedef struct bubble {
    const kind *k;
    int c;
    int number;          /* of the kind, from 1 */
    double x, y, radius; /* flops per byte, GFLOP/s; drawn radius */
    double ns;
} bubble;

typedef struct roofs {
    const char *source;
    double peak; /* GFLOP/s, NAN if unknown */
    int n;
    struct {
        const char *key;
        double gbs;
    } of[MAX_ROOFS]; /* ascending */
} roofs;

/* read_gbs is memory, l2_gbs a cache; bandwidths of writing are no roofs of what is mostly read. */
static bool is_roof(const char *key)
{
    return !strcmp(key, "read_gbs") || (key[0] == 'l' && key[1] >= '1' && key[1] <= '9' && !strcmp(key + 2, "_gbs"));
}

static roofs roofs_read(const report *r)
{
    roofs out = {.source = report_source(r), .peak = report_peak(r)};
    const cJSON *v;
    cJSON_ArrayForEach(v, r->ceilings)
    {
        if (!cJSON_IsNumber(v) || !v->string || !is_roof(v->string) || !(v->valuedouble > 0) ||
            !isfinite(v->valuedouble))
            continue;
        int at = out.n < MAX_ROOFS ? out.n++ : MAX_ROOFS;
        if (at == MAX_ROOFS)
            break;
        while (at > 0 && out.of[at - 1].gbs > v->valuedouble)
            out.of[at] = out.of[at - 1], at--;
        out.of[at].key = v->string;
        out.of[at].gbs = v->valuedouble;
    }
    return out;
}

/* Kinds that take at least half a percent of the time; *light counts the others. */
static int bubbles_make(const report *r, bubble *out, int *light)
{
    int n = 0;
    double most = 0;
    *light = 0;
    for (int i = 0; i < r->n_kind; i++)
        for (int side = 0; side < 2; side++) {
            int c = side ? r->slow : r->best;
            const part *of = c < 0 ? NULL : &r->kinds[i].of[c];
            if (!of || !(of->ns > 0) || !(of->bytes > 0) || !(r->kinds[i].flops > 0))
                continue;
            if (n == 2 * MAX_BUBBLES || r->kinds[i].of[r->best].ns < 0.005 * r->of[r->best].kernel_ns) {
                *light += side == 0;
                continue;
            }
            double flops = r->kinds[i].flops * of->count;
            const int number = n && out[n - 1].k == &r->kinds[i] ? out[n - 1].number : n ? out[n - 1].number + 1 : 1;
            out[n++] = (bubble){&r->kinds[i], c, number, flops / of->bytes, flops / of->ns, 0, of->ns};
            if (of->ns > most)
                most = of->ns;
        }
    for (int i = 0; i < n; i++)
        out[i].radius = fmax(3, 24 * sqrt(out[i].ns / most));
    return n;
}

static void axes_make(const roofs *roof, const bubble *b, int n, axis *x, axis *y)
{
    double x0 = INFINITY, x1 = 0, y0 = INFINITY, y1 = roof->peak > 0 ? roof->peak : 0;
    for (int i = 0; i < n; i++) {
        x0 = fmin(x0, b[i].x);
        x1 = fmax(x1, b[i].x);
        y0 = fmin(y0, b[i].y);
        y1 = fmax(y1, b[i].y);
    }
    for (int i = 0; i < roof->n && roof->peak > 0; i++) { /* all knees are in the picture */
        x0 = fmin(x0, roof->peak / roof->of[i].gbs);
        x1 = fmax(x1, roof->peak / roof->of[i].gbs);
    }
    *x = (axis){x0 / 2, x1 * 2.5, LEFT, RIGHT, true};
    *y = (axis){y0 / 1.8, y1 * 1.45, BOTTOM, TOP, true};
}

static void frame(text *t, const axis *x, const axis *y)
{
    double ticks[12];
    int n = axis_ticks(x, ticks, 12);
    for (int i = 0; i < n; i++)
        grid_x(t, axis_at(x, ticks[i]), TOP, BOTTOM, word_tick(ticks[i], "").s);
    n = axis_ticks(y, ticks, 10);
    for (int i = 0; i < n; i++)
        grid_y(t, axis_at(y, ticks[i]), LEFT, RIGHT, word_tick(ticks[i], "").s);
    html_add(t,
             "<text.soft.small.mid x=%d y=%d>arithmetic per byte moved (flop/B) →</text><text.soft.small x=%d "
             "y=%d>GFLOP/s ↑</text>\n",
             (LEFT + RIGHT) / 2, BOTTOM + 36, LEFT, TOP - 7);
}

static void roofs_draw(text *t, const roofs *roof, const axis *x, const axis *y)
{
    double slope = (y->from - y->to) / log(y->hi / y->lo) / ((x->to - x->from) / log(x->hi / x->lo));
    double degrees = atan(slope) * 180 / 3.14159265358979, shift = 0;
    for (int i = 0; i < roof->n; i++) {
        double gbs = roof->of[i].gbs, ridge = roof->peak > 0 ? roof->peak / gbs : x->hi;
        double from = fmax(x->lo, y->lo / gbs), to = fmin(ridge, x->hi);
        if (!(to > from))
            continue;
        html_add(t, "<path.axis stroke-dasharray=%s d='M%.1f %.1fL%.1f %.1f'/>", i ? "5 4" : "none", axis_at(x, from),
                 axis_at(y, from * gbs), axis_at(x, to), axis_at(y, to * gbs));
        /* captions of lines that lie close are set one behind the other */
        const double below = i ? axis_at(y, from * roof->of[i - 1].gbs) - axis_at(y, from * gbs) : INFINITY;
        shift = below < 17 ? shift + 1 : 0;
        const double tx = axis_at(x, from) + 12 + 108 * shift,
                     ty = axis_at(y, from * gbs) - 6 - (tx - axis_at(x, from)) * slope;
        html_add(t, "<text.soft.small.halo transform='translate(%.1f %.1f) rotate(%.1f)'>", tx, ty, -degrees);
        if (*roof->of[i].key == 'l')
            text_add(t, "L%c", roof->of[i].key[1]);
        else
            text_add(t, "memory");
        html_add(t, " %s GB/s</text>", word_number(gbs).s);
    }
    if (!(roof->peak > 0))
        return;
    double from = roof->n ? fmax(x->lo, roof->peak / roof->of[roof->n - 1].gbs) : x->lo;
    html_add(t,
             "<path.axis stroke-width=1.6 d='M%.1f %.1fH%d'/><text.soft.small x=%.1f y=%.1f>FMA peak, %s: %s "
             "GFLOP/s</text>\n",
             axis_at(x, from), axis_at(y, roof->peak), RIGHT, axis_at(x, from) + 6, axis_at(y, roof->peak) - 7,
             roof->source, word_number(roof->peak).s);
}

static void arrow(text *t, const report *r, const bubble *from, const bubble *to, const axis *x, const axis *y)
{
    double x0 = axis_at(x, from->x), y0 = axis_at(y, from->y), x1 = axis_at(x, to->x), y1 = axis_at(y, to->y);
    double dx = x1 - x0, dy = y1 - y0, d = hypot(dx, dy);
    if (d < 7)
        return;
    dx /= d;
    dy /= d;
    html_add(t, "<path.thin.%s stroke-width=1.8 d='M%.1f %.1fL%.1f %.1fm%.1f %.1fl%.1f %.1fl%.1f %.1f'/>",
             mark_class(r, to->c), x0, y0, x1, y1, -6 * dx - 4 * dy, -6 * dy + 4 * dx, 6 * dx + 4 * dy, 6 * dy - 4 * dx,
             -6 * dx + 4 * dy, -6 * dy - 4 * dx);
}

static void bubble_draw(text *t, const report *r, const bubble *b, const axis *x, const axis *y)
{
    html_add(t, "<path.tint.%s d='", mark_class(r, b->c));
    mark_path(t, b->c, axis_at(x, b->x), axis_at(y, b->y), b->radius);
    html_add(t, "\"><title>%s, %s: %s, %s GFLOP/s, %s flop/B</title></path>\n", b->k->name, r->of[b->c].name,
             word_time(b->ns).s, word_number(b->y).s, word_number(b->x).s);
}

static int by_radius(const void *p, const void *q)
{
    const bubble *a = *(const bubble *const *)p, *b = *(const bubble *const *)q;
    return a->radius != b->radius ? (a->radius < b->radius ? 1 : -1) : (a > b) - (a < b);
}

/* The small ones over the large ones: none is hidden. */
static void bubbles_draw(text *t, const report *r, const bubble *b, int n, const axis *x, const axis *y)
{
    const bubble *of[2 * MAX_BUBBLES];
    for (int i = 0; i < n; i++)
        of[i] = &b[i];
    qsort(of, (size_t)n, sizeof *of, by_radius);
    for (int i = 0; i < n; i++)
        bubble_draw(t, r, of[i], x, y);
}

/* ---- numbers beside the marks: one for each kind, named in the list below the picture ---- */

typedef struct box {
    double x, y, w, h; /* x, y: its upper left corner */
} box;

typedef struct label {
    int from, n; /* the first bubble of those that lie on each other, in `next` */
    char s[40];
    box at;
} label;

static double overlap(const box *a, const box *b)
{
    const double w = fmin(a->x + a->w, b->x + b->w) - fmax(a->x, b->x);
    const double h = fmin(a->y + a->h, b->y + b->h) - fmax(a->y, b->y);
    return w > 0 && h > 0 ? w * h : 0;
}

static box mark_box(const bubble *b, const axis *x, const axis *y)
{
    const double r = b->radius * 1.3;
    return (box){axis_at(x, b->x) - r, axis_at(y, b->y) - r, 2 * r, 2 * r};
}

/* What a label there would lie on but for `own`, or how far it would hang out of the picture. */
static double cost_of(const box *at, const box *taken, int n, int own)
{
    double cost = 0;
    for (int i = 0; i < n; i++)
        cost += i == own ? 0 : overlap(at, &taken[i]);
    const double out = fmax(0, LEFT - at->x) + fmax(0, at->x + at->w - RIGHT) + fmax(0, TOP - at->y) +
                       fmax(0, at->y + at->h - BOTTOM);
    return cost + 40 * out;
}

/* Within the mark if it is large, in one of eight places around it, then further off: the first where nothing lies,
 * else the one where least. taken[l->from] is the mark. */
static void label_place(label *l, const box *taken, int n)
{
    static const double side[][2] = {{1, 0}, {-1, 0}, {0, -1}, {0, 1}, {1, -1}, {-1, -1}, {1, 1}, {-1, 1}};
    const double w = 6.6 * (double)strlen(l->s) + 4, h = 13;
    const box *mark = &taken[l->from];
    l->at = (box){mark->x + (mark->w - w) / 2, mark->y + (mark->h - h) / 2, w, h};
    double least = mark->w > w + 6 && mark->h > h + 6 ? cost_of(&l->at, taken, n, l->from) : INFINITY;
    for (int i = 0; i < 24 && least > 0; i++) {
        const double far = 3 + 14 * (i / 8), *d = side[i % 8];
        const double cx = mark->x + mark->w / 2 + d[0] * (mark->w / 2 + far + w / 2);
        const double cy = mark->y + mark->h / 2 + d[1] * (mark->h / 2 + far + h / 2);
        const box at = {cx - w / 2, cy - h / 2, w, h};
        const double cost = cost_of(&at, taken, n, -1);
        if (cost < least)
            least = cost, l->at = at;
    }
}

static bool together(const bubble *a, const bubble *b, const axis *x, const axis *y)
{
    return a->c == b->c && hypot(axis_at(x, a->x) - axis_at(x, b->x), axis_at(y, a->y) - axis_at(y, b->y)) < 9;
}

/* Marks that lie on each other have one label with all their numbers: "1, 4". */
static int labels_make(const bubble *b, int n, const axis *x, const axis *y, label *out)
{
    bool done[2 * MAX_BUBBLES] = {false};
    int made = 0;
    for (int i = 0; i < n; i++) {
        label l = {.from = i};
        size_t used = 0;
        for (int j = i; j < n && !done[i]; j++) {
            if (done[j] || !together(&b[i], &b[j], x, y))
                continue;
            if (used + 8 < sizeof l.s)
                used += (size_t)snprintf(l.s + used, sizeof l.s - used, l.n ? ", %d" : "%d", b[j].number);
            l.n++;
            done[j] = j > i;
        }
        if (l.n)
            out[made++] = l;
    }
    return made;
}

static void labels_draw(text *t, const report *r, const bubble *b, int n, const axis *x, const axis *y)
{
    label of[2 * MAX_BUBBLES];
    box taken[4 * MAX_BUBBLES];
    const int made = labels_make(b, n, x, y, of);
    for (int i = 0; i < n; i++)
        taken[i] = mark_box(&b[i], x, y);
    for (int i = 0; i < made; i++) {
        label_place(&of[i], taken, n + i);
        taken[n + i] = of[i].at;
        html_add(t, "<text.small.strong.mid.halo.inked.%s x=%.1f y=%.1f>%-s</text>\n", mark_class(r, b[of[i].from].c),
                 of[i].at.x + of[i].at.w / 2, of[i].at.y + 10.5, of[i].s);
    }
}

void draw_roofline(text *t, const report *r, const cJSON *v)
{
    bubble b[2 * MAX_BUBBLES];
    int light;
    const int n = bubbles_make(r, b, &light);
    const roofs roof = roofs_read(r);
    axis x, y;
    (void)v;
    axes_make(&roof, b, n, &x, &y);
    frame(t, &x, &y);
    roofs_draw(t, &roof, &x, &y);
    for (int i = 0; i + 1 < n; i++)
        if (b[i].k == b[i + 1].k)
            arrow(t, r, &b[i + 1], &b[i], &x, &y);
    bubbles_draw(t, r, b, n, &x, &y);
    labels_draw(t, r, b, n, &x, &y);
}

const char *fill_roofline(cJSON *o, const report *r)
{
    bubble b[2 * MAX_BUBBLES];
    int light;
    const int n = bubbles_make(r, b, &light);
    cJSON *list = js_array(o, "bubbles");
    js_number(o, "light", light);
    for (int i = 0; i < n; i++) {
        cJSON *row = js_row(list, "number:%d,first:%i,told:%i,shown:%s,time_ns:%g,each:%g,rate:%g,roof_share:%g",
                            b[i].number, !i || b[i - 1].number != b[i].number, i < 8, b[i].k->shown, b[i].ns, b[i].x,
                            b[i].y, b[i].k->of[b[i].c].peak_share);
        view_text(row, "name", b[i].k->name);
        view_who(row, "who", r, b[i].c, NULL);
    }
    return NULL;
}
