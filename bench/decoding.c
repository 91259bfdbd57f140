/* decoding.c - texts one after the other, each from its prompt on; every run of the model is timed by itself. */
#include "bench/decoding.h"
#include "graph/base/base.h"
#include "graph/base/clock.h"
#include "graph/base/err.h"
#include "graph/base/js.h"
#include "graph/base/random.h"
#include "graph/base/stats.h"
#include "train/decode.h"

#include <stdlib.h>

typedef struct phase {
    double *ns, all; /* of each run; of all together */
    int n, cap;
} phase;

/* What follows the first n tokens of every text. */
static bool next(decoder *d, const int64_t *id, int64_t stride, int64_t n, phase *p, ts_error *e)
{
    const double from = seconds_now();
    if (!decoder_next(d, id, stride, n, e))
        return false;
    const double ns = (seconds_now() - from) * 1e9;
    p->ns = heap_grown(p->ns, p->n, &p->cap, sizeof *p->ns);
    p->ns[p->n++] = ns, p->all += ns;
    return true;
}

/* The first text warms caches and is not counted. */
static bool time_texts(const decoding_race *r, decoder *d, const int64_t *id, phase *prefill, phase *decode,
                       ts_error *e)
{
    const int64_t stride = r->prompt + r->tokens;
    const double begin = seconds_now();
    bool ok = true;
    for (int i = 0; ok && (i < 2 || seconds_now() - begin < r->seconds); i++) {
        decoder_again(d);
        ok = next(d, id, stride, r->prompt, prefill, e);
        for (int64_t k = 1; ok && k < r->tokens; k++)
            ok = next(d, id, stride, r->prompt + k, decode, e);
        if (i == 0)
            prefill->n = decode->n = 0, prefill->all = decode->all = 0;
    }
    return ok;
}

static void add_row(const decoding_race *r, cJSON *rows, const char *name, int64_t length, int64_t each, phase *p)
{
    stats_sort(p->ns, p->n);
    js_put(js_row(rows, "phase:%s,batch:%g,tokens:%g,count:%d,per_second:%g", name, (double)r->batch, (double)length,
                  p->n, (double)(each * r->batch) * p->n / p->all * 1e9),
           "p50_ns:%g,p90_ns:%g", stats_quantile(p->ns, p->n, 0.5), stats_quantile(p->ns, p->n, 0.9));
    free(p->ns);
}

bool decoding_run(const decoding_race *r, cJSON *rows, char **note, ts_error *e)
{
    run_weights of;
    decoder d = {.note = ""};
    phase prefill = {0}, decode = {0};
    const int64_t n = r->batch * (r->prompt + r->tokens);
    decoder_file(r->model, NULL, r->dims, &of);
    ENDED_BY(heap_free) int64_t *id = heap_array((size_t)n, sizeof *id);
    bool ok = decoder_make(&d, &of, &(decoding){false, true, r->batch, r->prompt, r->tokens}, &r->options, e);
    if (ok && r->prompt + r->tokens > d.length + 1)
        ok = err_set(e, TS_USAGE, "%lld tokens behind %lld, the model takes %lld at once", (long long)r->tokens,
                     (long long)r->prompt, (long long)d.length);
    const int64_t below = d.vocabulary ? d.vocabulary : d.classes;
    for (int64_t i = 0; ok && i < n; i++)
        id[i] = (int64_t)(random_bits(r->seed, (uint64_t)i) % (uint64_t)below);
    ok = ok && time_texts(r, &d, id, &prefill, &decode, e);
    text said = {0};
    text_add(&said, "%s", d.note), *note = text_take(&said);
    if (ok) {
        add_row(r, rows, "prefill", r->prompt, r->prompt, &prefill);
        add_row(r, rows, "decode", r->tokens - 1, 1, &decode);
    } else
        free(prefill.ns), free(decode.ns);
    decoder_free(&d);
    run_weights_free(&of);
    return ok;
}
