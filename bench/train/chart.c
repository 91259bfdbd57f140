/* chart.c - report.html of a run: curves from metrics.jsonl as inline SVG, each with its numbers in words. The page
 * needs nothing from outside and no scripts. */
#include "bench/train/chart.h"

#include "bench/failure.h"
#include "bench/js.h"
#include "bench/train/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 640, HIGH = 180, LEFT = 64, MOST_POINTS = 400 };

typedef struct series {
    double *x, *y;
    int n;
} series;

static void series_add(series *s, double x, double y)
{
    double *xs = reallocarray(s->x, (size_t)s->n + 1, sizeof *xs);
    s->x = xs ? xs : s->x;
    double *ys = reallocarray(s->y, (size_t)s->n + 1, sizeof *ys);
    s->y = ys ? ys : s->y;
    if (xs && ys)
        s->x[s->n] = x, s->y[s->n++] = y;
}

/* The numbers of one member, by step; each line of the file is a row. */
static series read_series(const bytes *b, const char *key)
{
    series s = {0};
    for (size_t i = 0; i < b->n;) {
        const char *end = memchr(b->at + i, '\n', b->n - i);
        if (!end)
            break;
        cJSON *row = cJSON_ParseWithLength(b->at + i, (size_t)(end - b->at) - i);
        const double x = row ? js_get_number(row, "step", NAN) : NAN, y = row ? js_get_number(row, key, NAN) : NAN;
        if (isfinite(x) && isfinite(y))
            series_add(&s, x + 1, y);
        cJSON_Delete(row);
        i = (size_t)(end - b->at) + 1;
    }
    return s;
}

static void draw(FILE *f, const char *title, const char *unit, const series *s, double factor)
{
    if (!s->n)
        return;
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < s->n; i++) {
        const double y = factor * s->y[i];
        low = y < low ? y : low, high = y > high ? y : high;
    }
    const double first = s->x[0], last = s->x[s->n - 1], range = high > low ? high - low : 1,
                 span = last > first ? last - first : 1;
    fprintf(f, "<h2>%s</h2>\n<p>%.4g at step %.0f, %.4g at step %.0f; least %.4g, most %.4g %s</p>\n", title,
            factor * s->y[0], first, factor * s->y[s->n - 1], last, low, high, unit);
    fprintf(f, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s by step\">\n", WIDE, HIGH + 24, title);
    for (int k = 0; k <= 2; k++) {
        const double y = 8 + (HIGH - 16) * k / 2.0;
        fprintf(f, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>", LEFT, y, WIDE - 8, y);
        fprintf(f, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n", LEFT - 6, y + 4,
                high - range * k / 2);
    }
    fprintf(f, "<text x=\"%d\" y=\"%d\">%.0f</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">step %.0f</text>\n",
            LEFT, HIGH + 18, first, WIDE - 8, HIGH + 18, last);
    fprintf(f, "<polyline points=\"");
    const int every = s->n > MOST_POINTS ? (s->n + MOST_POINTS - 1) / MOST_POINTS : 1;
    for (int i = 0; i < s->n; i += every)
        fprintf(f, "%.1f,%.1f ", LEFT + (WIDE - 8 - LEFT) * (s->x[i] - first) / span,
                8 + (HIGH - 16) * (high - factor * s->y[i]) / range);
    fprintf(f, "\"/>\n</svg>\n");
}

static const struct {
    const char *key, *title, *unit;
    double factor;
} curves[] = {
    {"loss", "Loss", "", 1},
    {"eval_loss", "Loss on the evaluation data", "", 1},
    {"eval_accuracy", "Accuracy on the evaluation data", "%", 100},
    {"grad_norm", "Norm of the gradients, before clipping", "", 1},
    {"lr", "Learning rate", "", 1},
    {"ms", "Time of a step", "ms", 1},
    {"memory_bytes", "Memory", "MiB", 1.0 / 1048576},
};

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Training run</title>\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<style>body{font:15px/1.45 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;"
    "background:#fff}h2{font-size:1.05rem;margin:1.6rem 0 .2rem}p{margin:.2rem 0}svg{width:100%;height:auto}"
    "polyline{fill:none;stroke:#1565c0;stroke-width:1.6}.grid{stroke:#bbb;stroke-width:.6}text{font-size:11px;fill:#"
    "555}"
    "td{padding:.1rem 1rem .1rem "
    "0;vertical-align:top}@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}"
    "polyline{stroke:#64b5f6}.grid{stroke:#444}text{fill:#aaa}}</style>\n";

static void put_escaped(FILE *f, const char *s)
{
    for (; *s; s++)
        if (*s == '<' || *s == '>' || *s == '&' || *s == '"')
            fprintf(f, "&#%d;", *s);
        else
            fputc(*s, f);
}

static void put_config(FILE *f, const train_wish *w)
{
    cJSON *o = wish_json(w);
    const cJSON *i;
    fprintf(f, "<h2>Asked for</h2>\n<table>\n");
    cJSON_ArrayForEach(i, o)
    {
        char *s = cJSON_IsNull(i) || (cJSON_IsArray(i) && !i->child) ? NULL : cJSON_PrintUnformatted(i);
        if (!s)
            continue;
        fprintf(f, "<tr><td>%s</td><td>", i->string);
        put_escaped(f, s);
        fprintf(f, "</td></tr>\n");
        free(s);
    }
    fprintf(f, "</table>\n");
    cJSON_Delete(o);
}

bool run_report(const char *run, const train_wish *w, ts_error *e)
{
    char path[4200], *s = NULL;
    size_t n = 0;
    bytes b;
    snprintf(path, sizeof path, "%s/metrics.jsonl", run);
    if (!bytes_read(path, &b, e))
        return false;
    FILE *f = open_memstream(&s, &n);
    if (!f)
        return free(b.at), bench_fail(e, TS_MEMORY, "no memory for the report");
    fprintf(f, "%s<h1>Training run</h1>\n", head);
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
        series c = read_series(&b, curves[i].key);
        draw(f, curves[i].title, curves[i].unit, &c, curves[i].factor);
        free(c.x), free(c.y);
    }
    put_config(f, w);
    fprintf(f, "</html>\n");
    bool good = fclose(f) == 0 || bench_fail(e, TS_MEMORY, "no memory for the report");
    snprintf(path, sizeof path, "%s/report.html", run);
    good = good && ts_file_write(path, s, n, e);
    free(s), free(b.at);
    return good;
}
