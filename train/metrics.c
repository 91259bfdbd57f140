/* metrics.c - one JSON object a line; a line that a crash cut off is not there. */
#include "train/metrics.h"

#include "graph/base/err.h"
#include "graph/base/js.h"
#include "train/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_row(metrics *m, const cJSON *row)
{
    const double step = js_get_number(row, "step", NAN) + 1;
    if (!isfinite(step))
        return;
    if (js_get(row, "eval_loss")) {
        m->trial[m->n_trial++] = (trial){step, js_get_number(row, "eval_loss", NAN),
                                         js_get_number(row, "eval_accuracy", NAN), js_get_number(row, "n", NAN)};
        return;
    }
    metric *v = &m->of[m->n++];
    *v = (metric){.step = step,
                  .epoch = js_get_number(row, "epoch", NAN),
                  .loss = js_get_number(row, "loss", NAN),
                  .norm = js_get_number(row, "grad_norm", NAN),
                  .lr = js_get_number(row, "lr", NAN),
                  .ms = js_get_number(row, "ms", NAN),
                  .rate = js_get_number(row, "tokens_per_s", NAN),
                  .memory = js_get_number(row, "memory_bytes", NAN),
                  .skipped = js_get_flag(row, "skipped")};
    m->n_skipped += v->skipped;
}

bool metrics_read(metrics *m, const char *run, ts_error *e)
{
    char path[4200];
    ENDED_BY(bytes_free) bytes b = {0};
    size_t lines = 1;
    *m = (metrics){0};
    snprintf(path, sizeof path, "%s/metrics.jsonl", run);
    if (!bytes_read(path, &b, e))
        return false;
    for (size_t i = 0; i < b.n; i++)
        lines += b.at[i] == '\n';
    m->of = calloc(lines, sizeof *m->of), m->trial = calloc(lines, sizeof *m->trial);
    const bool ok = (m->of && m->trial) ||
                    err_memory(e, lines * (sizeof *m->of + sizeof *m->trial), "the metrics of %zu steps", lines - 1);
    for (size_t i = 0; ok && i < b.n;) {
        const char *end = memchr(b.at + i, '\n', b.n - i);
        const size_t n = (end ? (size_t)(end - b.at) : b.n) - i;
        ENDED_BY(js_free) cJSON *row = cJSON_ParseWithLength(b.at + i, n);
        if (cJSON_IsObject(row))
            add_row(m, row);
        i += n + 1;
    }
    return ok;
}

static bool is_better(const trial *a, const trial *b)
{
    if (isfinite(a->accuracy) && a->accuracy != b->accuracy)
        return a->accuracy > b->accuracy;
    return a->loss < b->loss || (isfinite(a->loss) && !isfinite(b->loss));
}

void course_add(course *c, const trial *one)
{
    const bool best = c->best.step == 0 || is_better(one, &c->best);
    c->since = best ? 0 : c->since + 1;
    c->best = best ? *one : c->best;
    c->last = *one;
}

course metrics_course(const metrics *m)
{
    course c = {.since = 0};
    for (int i = 0; i < m->n_trial; i++)
        course_add(&c, &m->trial[i]);
    return c;
}

void metrics_free(metrics *m)
{
    free(m->of), free(m->trial);
    *m = (metrics){0};
}
