/* ranks.c - a log read again: against the cost model as it stands, what it predicts today of loops that were timed
 * once; and what was tried of each kernel. */
#include "bench/tune/parts.h"
#include "graph/base/base.h"
#include "graph/base/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds of each attempt's kernels; NAN: they cannot have these loops. */
static void foresee(tuner *t, int n, attempt *of)
{
    ts_error e = {0};
    cJSON *plan = NULL;
    ts_plan_free(trial_plan(t, n, of, &plan, &e));
    for (int i = 0; i < n; i++) {
        of[i].predicted = plan ? 0 : NAN;
        for (int k = 0; plan && k < of[i].of->n; k++) {
            const cJSON *kernel = cJSON_GetArrayItem(js_get(plan, "kernels"), of[i].of->kernel[k]);
            of[i].predicted += trial_followed(kernel, i) ? js_get_number(kernel, "predicted/time_ns", NAN) * 1e-9 : NAN;
        }
    }
    cJSON_Delete(plan);
    if (n > 1 && !plan)
        foresee(t, n / 2, of), foresee(t, n - n / 2, of + n / 2);
}

/* The next loops of a family, behind `line`, that were right; NULL: there are none. */
static cJSON *next_of(const family *f, cJSON *line)
{
    while (line && (strcmp(js_get_text(line, "kernel"), f->key) != 0 || !js_get(line, "change/loops") ||
                    strcmp(js_get_text(line, "status"), "correct") != 0))
        line = line->next;
    return line;
}

/* One of each family at a time, in a plan together, as they were tried */
static void foresee_all(tuner *t)
{
    ENDED_BY(heap_free) attempt *of = heap_array((size_t)t->n_family + 1, sizeof *of);
    cJSON **next = heap_array((size_t)t->n_family + 1, sizeof *next),
          **line = heap_array((size_t)t->n_family + 1, sizeof *line);
    for (int i = 0; i < t->n_family; i++)
        next[i] = t->log->child;
    for (int n = 1; n;) {
        n = 0;
        for (int i = 0; i < t->n_family; i++)
            if ((next[i] = next_of(&t->family[i], next[i]))) {
                of[n] = (attempt){.of = &t->family[i], .change = js_get(next[i], "change")};
                line[n++] = next[i], next[i] = next[i]->next;
            }
        if (n)
            foresee(t, n, of);
        for (int i = 0; i < n; i++)
            cJSON_DeleteItemFromObjectCaseSensitive(line[i], "predicted_ns"),
                js_number(line[i], "predicted_ns", of[i].predicted * 1e9);
    }
    free(next), free(line);
}

static void tell(const tuner *t, cJSON *rows)
{
    ENDED_BY(heap_free) double *quotient = heap_array((size_t)cJSON_GetArraySize(t->log) + 1, sizeof *quotient);
    int all = 0;
    for (int i = 0; i < t->n_family; i++) {
        const family *f = &t->family[i];
        int n = 0, lost = 0;
        for (cJSON *line = t->log->child; (line = next_of(f, line)); line = line->next) {
            const double predicted = js_get_number(line, "predicted_ns", NAN);
            if (isnan(predicted))
                lost++;
            else
                quotient[n++] = predicted / js_get_number(line, "time_ns", NAN);
        }
        stats_sort(quotient, n), all += n;
        if (n + lost)
            js_row(rows, "kernel:%s,nests:%d,lost:%d,rank:%g,low:%g,median:%g,high:%g", f->key, n, lost,
                   family_rank(t, f), stats_quantile(quotient, n, 0.1), stats_median(quotient, n),
                   stats_quantile(quotient, n, 0.9));
    }
    js_row(rows, "kernel:%s,nests:%d,lost:%d,rank:%g,low:%g,median:%g,high:%g", "all", all, 0, family_rank(t, NULL),
           NAN, NAN, NAN);
}

/* The log's first line says what was searched. */
static cJSON *head_of(const char *log, ts_error *e)
{
    ENDED_BY(text_free) text s = {0};
    cJSON *head = NULL;
    if (file_read(log, LOG_MOST, &s, e)) {
        s.s[strcspn(text_str(&s), "\n")] = 0;
        head = js_parse(s.s, log, e);
    }
    if (head && !*js_get_text(head, "target")) {
        err_set(e, TS_BAD_INPUT, "%s: its first line is not that of a log of tune: \"%.80s\"", log, s.s);
        cJSON_Delete(head), head = NULL;
    }
    if (!head && e && e->code == TS_BAD_INPUT)
        err_hint(e, "tessera tune writes one beside what it finds: best.json.log");
    return head;
}

cJSON *tune_ranks(ts_model *m, const char *log, const char *folder, ts_error *e)
{
    cJSON *head = head_of(log, e), *rows = NULL;
    const char *schema = js_get_text(head, "schema");
    const tune_options o = {.folder = folder, .schema = schema, .base = schema, .log = log};
    tuner t = {.model = m, .o = &o, .fd = -1};
    t.plan = (ts_options){.target = js_get_text(head, "target"),
                          .isa = js_get_text(head, "isa"),
                          .machine = js_get_text(head, "machine"),
                          .threads = (int)js_get_number(head, "threads", 0)};
    if (head && trial_base(&t, e) && log_read(&t, e)) {
        families_find(&t, NULL);
        foresee_all(&t);
        tell(&t, rows = cJSON_CreateArray());
        if (cJSON_GetArraySize(rows) < 2) { /* "all" alone */
            cJSON_Delete(rows), rows = NULL;
            err_set(e, TS_BAD_INPUT, "%s: none of its loops are of kernels of this model, bound as it is", log);
            err_hint(e, "give the model and the --dim of the search");
        }
    }
    families_free(&t), ts_plan_free(t.base);
    cJSON_Delete(t.json), cJSON_Delete(t.log), cJSON_Delete(head);
    return rows;
}

/* ---- what was tried of each kernel of a plan ---- */
static void put_tried(const tuner *t, const family *f)
{
    int tried, right;
    const cJSON *best = log_best(t, f->key, &tried, &right);
    ENDED_BY(heap_free) char *does = changes_text(js_get(best, "change"));
    for (int i = 0; tried && !f->all && i < f->n; i++)
        js_put(js_object(cJSON_GetArrayItem(js_get(t->json, "kernels"), f->kernel[i]), "tried"),
               "n:%d,best:%s,share:%g,schema:%s", tried, does, log_ratio(best), t->o->schema);
}

bool tune_tried(const char *log, cJSON *plan, ts_error *e)
{
    ENDED_BY(js_free) cJSON *head = head_of(log, e);
    const tune_options o = {.schema = js_get_text(head, "schema"), .log = log};
    tuner t = {.json = plan, .n_kernel = cJSON_GetArraySize(js_get(plan, "kernels")), .o = &o, .fd = -1};
    const bool ok = head && log_read(&t, e);
    if (ok) {
        families_find(&t, NULL);
        for (int i = 0; i < t.n_family; i++)
            put_tried(&t, &t.family[i]);
    }
    families_free(&t), cJSON_Delete(t.log);
    return ok;
}
