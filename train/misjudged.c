/* misjudged.c - of classes the wrong answers, the surest first; of numbers all, the farthest off first. */
#include "train/misjudged.h"
#include "train/task.h"

#include "graph/base/err.h"
#include "graph/base/js.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* examples; pairs of classes; pixels of a picture, and its shades of grey */
enum { WORST = 40, MOST_CONFUSED = 20, MOST_PIXELS = 1024, LEVELS = 9 };

typedef struct slip {
    int64_t i;
    double by; /* how far off: the probability of the wrong class, or the distance of a number */
} slip;

static int worst_first(const void *x, const void *y)
{
    const slip *a = x, *b = y;
    return a->by != b->by ? (a->by < b->by ? 1 : -1) : (a->i > b->i) - (a->i < b->i);
}

/* All that are wrong, the worst first; of numbers all; gives how many. */
static int64_t find_slips(const data *d, const verdict *v, bool classes, slip *all)
{
    int64_t n = 0;
    for (int64_t i = 0; i < d->n; i++)
        if (!classes)
            all[n++] = (slip){i, fabs(v->score[i] - d->label[i])};
        else if (v->said[i] != (int64_t)d->label[i])
            all[n++] = (slip){i, v->sure[i]};
    qsort(all, (size_t)n, sizeof *all, worst_first);
    return n;
}

/* ---- what an example is ---- */
static void add_line(cJSON *row, const data *d, int64_t i)
{
    ENDED_BY(heap_free) char *s = strndup(d->file.at + d->text_at[i], d->text_n[i]);
    js_put(row, "line:%g,text:%s", (double)d->line[i], s);
}

/* The first array of pictures that are small enough, in LEVELS shades as digits, row by row. */
static void add_picture(cJSON *row, const data *d, int64_t i)
{
    for (int k = 0; k < d->n_array; k++) {
        const ts_array *a = &d->array[k];
        const bool plain = a->rank == 3, channel = a->rank == 4 && a->dim[1] == 1;
        const int64_t high = plain || channel ? a->dim[a->rank - 2] : 0, wide = high ? a->dim[a->rank - 1] : 0;
        char shade[MOST_PIXELS + 1] = "";
        double low = INFINITY, most = -INFINITY;
        if (high < 2 || wide < 2 || high > MOST_PIXELS || wide > MOST_PIXELS || high * wide > MOST_PIXELS)
            continue;
        for (int64_t p = 0; p < high * wide; p++)
            low = fmin(low, ts_array_at(a, i * high * wide + p)),
            most = fmax(most, ts_array_at(a, i * high * wide + p));
        for (int64_t p = 0; p < high * wide; p++) {
            const double v = (ts_array_at(a, i * high * wide + p) - low) / (most > low ? most - low : 1);
            shade[p] = (char)('0' + (v >= 0 && v <= 1 ? (int)lround(v * (LEVELS - 1)) : 0));
        }
        js_put(row, "width:%g,shades:%s", (double)wide, shade);
        return;
    }
}

static void add_slip(cJSON *list, const data *d, const verdict *v, bool classes, int64_t i)
{
    cJSON *row = js_object(list, NULL);
    if (d->file.at)
        add_line(row, d, i);
    else {
        js_number(row, "example", (double)i);
        add_picture(row, d, i);
    }
    js_put(row, "label:%g,predicted:%g", d->label[i], classes ? (double)v->said[i] : v->score[i]);
    if (classes)
        js_number(row, "confidence", v->sure[i]);
}

/* confusion[label][predicted]: examples */
static void add_confusion(cJSON *root, const data *d, const verdict *v)
{
    const int64_t classes = v->classes;
    double of[MOST_CONFUSED][MOST_CONFUSED] = {{0}};
    if (classes < 2 || classes > MOST_CONFUSED)
        return;
    for (int64_t i = 0; i < d->n; i++)
        of[(int64_t)d->label[i]][v->said[i]]++;
    cJSON *table = js_array(root, "confusion");
    for (int64_t i = 0; i < classes; i++) {
        cJSON *row = js_array(table, NULL);
        for (int64_t k = 0; k < classes; k++)
            cJSON_AddItemToArray(row, cJSON_CreateNumber(of[i][k]));
    }
}

bool misjudged_write(const char *run, int64_t step, const train_options *w, const data *d, const verdict *v,
                     ts_error *e)
{
    const bool of_classes = task_of(w)->label == LABEL_CLASS;
    if (w->loss || !d->label || !task_of(w)->labels)
        return true;
    ENDED_BY(heap_free) slip *all = calloc((size_t)d->n + 1, sizeof *all);
    if (!all)
        return err_memory(e, ((size_t)d->n + 1) * sizeof *all, "what was misjudged");
    const int64_t n = find_slips(d, v, of_classes, all);
    ENDED_BY(js_free) cJSON *root = cJSON_CreateObject();
    js_put(root, "format:%s,task:%s,step:%g,n:%g", "misjudged/1", w->task, (double)step, (double)d->n);
    js_number(root, of_classes ? "wrong" : "examples", (double)n);
    if (of_classes)
        add_confusion(root, d, v);
    char line[OPTION_LINE];
    cJSON *names = w->names ? js_array(root, "names") : NULL;
    for (const char *at = w->names; option_line(&at, line);)
        js_item(names, line);
    cJSON *list = js_array(root, "worst");
    for (int64_t i = 0; i < n && i < WORST; i++)
        add_slip(list, d, v, of_classes, all[i].i);
    ENDED_BY(heap_free) char *s = js_to_text(root, true);
    return files_write(run, "misjudged.json", s, strlen(s), e);
}
