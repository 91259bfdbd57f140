/* families.c - kernels that are alike, for which loops are tried together; and how what was predicted of these agrees
 * with what was measured. */
#include "bench/tune/parts.h"
#include "graph/base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of several stages these too: loops go by their names. */
static char *key_of(const cJSON *kernel)
{
    const cJSON *d, *stage;
    text s = {0};
    text_add(&s, "%s %s", js_get_text(kernel, "op"), js_get_text(kernel, "dtype"));
    cJSON_ArrayForEach(d, js_get(kernel, "dims")) text_add(&s, " %s=%.0f", d->string, d->valuedouble);
    cJSON_ArrayForEach(stage, js_get(kernel, "stages")) text_add(&s, " %s", js_get_text(stage, "name"));
    return text_take(&s);
}

/* key: given away */
static family *family_of(tuner *t, char *key)
{
    int i = 0;
    while (i < t->n_family && strcmp(t->family[i].key, key) != 0)
        i++;
    family *f = &t->family[i];
    if (i < t->n_family)
        free(key);
    else
        t->n_family++, f->key = key, f->kernel = heap_array((size_t)t->n_kernel, sizeof *f->kernel);
    return f;
}

/* To those alike, and to all of what the model says that it computes, where that goes another way or in stages */
static void add_kernel(tuner *t, const cJSON *kernel, int number, double seconds)
{
    const bool way = *js_get_text(kernel, "work/by"), stages = js_get(kernel, "stages") != NULL;
    const char *op = js_get_text(kernel, way ? "work/operation" : "op");
    family *of[] = {family_of(t, key_of(kernel)), NULL};
    if (!of[0]->first)
        of[0]->first = kernel;
    if (way || stages) {
        text key = {0};
        text_add(&key, "all %s", op);
        of[1] = family_of(t, text_take(&key));
        if (!of[1]->first) {
            cJSON *own = js_put(cJSON_CreateObject(), "op:%s,label:%s", op, "");
            if (stages)
                cJSON_AddItemToObject(own, "stages", cJSON_CreateArray());
            of[1]->first = own, of[1]->all = true;
        }
    }
    for (int i = 0; i < COUNT(of) && of[i]; i++)
        of[i]->kernel[of[i]->n++] = number, of[i]->seconds += seconds;
}

static int by_time(const void *a, const void *b)
{
    const family *x = a, *y = b;
    return x->seconds < y->seconds ? 1 : x->seconds > y->seconds ? -1 : strcmp(x->key, y->key);
}

void families_find(tuner *t, const double *seconds)
{
    const cJSON *kernel;
    int k = 0;
    t->family = heap_array(2 * (size_t)t->n_kernel + 1, sizeof *t->family);
    cJSON_ArrayForEach(kernel, js_get(t->json, "kernels")) t->total += seconds ? seconds[k] : 0,
        add_kernel(t, kernel, k, seconds ? seconds[k] : 0), k++;
    qsort(t->family, (size_t)t->n_family, sizeof *t->family, by_time);
}

void families_free(tuner *t)
{
    for (int i = 0; i < t->n_family; i++)
        free(t->family[i].key), free(t->family[i].kernel), cJSON_Delete(t->family[i].nests),
            cJSON_Delete(t->family[i].others), cJSON_Delete(t->family[i].all ? (cJSON *)t->family[i].first : NULL);
    free(t->family);
}

double family_rank(const tuner *t, const family *f)
{
    const int most = cJSON_GetArraySize(t->log);
    double *x = heap_array((size_t)most + 1, sizeof *x), *y = heap_array((size_t)most + 1, sizeof *y), off = 0;
    const cJSON *one;
    int n = 0;
    cJSON_ArrayForEach(one, t->log) if ((!f || !strcmp(js_get_text(one, "kernel"), f->key)) &&
                                        !strcmp(js_get_text(one, "status"), "correct") &&
                                        js_get_number(one, "predicted_ns", 0) > 0)
        x[n] = js_get_number(one, "predicted_ns", 0),
        y[n] = js_get_number(one, "time_ns", 0), n++;
    for (int i = 0; i < n; i++) {
        double rank = 0; /* in one order less that in the other; equals count half */
        for (int j = 0; j < n; j++)
            rank += (x[j] < x[i]) + 0.5 * (x[j] == x[i]) - (y[j] < y[i]) - 0.5 * (y[j] == y[i]);
        off += rank * rank;
    }
    free(x), free(y);
    return n < 5 ? NAN : 1 - 6 * off / (n * ((double)n * n - 1));
}
