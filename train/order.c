/* order.c - a shuffle by seed and epoch alone: a resumed run needs nothing of what went before. */
#include "train/order.h"

#include "graph/base/err.h"
#include "graph/base/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool order_make(order *o, int64_t n, int64_t batch, uint64_t seed, bool stream, ts_error *e)
{
    *o = (order){.n = n, .batch = batch, .seed = seed, .stream = stream, .epoch = -1};
    if (!stream && n < batch) {
        err_set(e, TS_BAD_INPUT, "%lld examples do not fill a batch of %lld", (long long)n, (long long)batch);
        return err_hint(e, "say --batch %lld, or give more data", (long long)n);
    }
    o->place = stream ? NULL : calloc((size_t)n, sizeof *o->place);
    return stream || o->place ||
           err_memory(e, (size_t)n * sizeof *o->place, "the order of %lld examples", (long long)n);
}

void order_free(order *o)
{
    free(o->place), free(o->given);
    *o = (order){0};
}

int64_t order_epoch_steps(const order *o)
{
    return o->n / o->batch ? o->n / o->batch : 1;
}

static bool refuse(const order *o, const char *path, int64_t line, const char *what, ts_error *e)
{
    err_set(e, TS_BAD_INPUT, "%s:%lld: %s", path, (long long)line, what);
    return err_hint(e, "a line is a batch: %lld numbers of examples, as --batch says, from 0 to %lld",
                    (long long)o->batch, (long long)o->n - 1);
}

static bool refuse_count(const order *o, const char *path, int64_t line, int64_t n, ts_error *e)
{
    char what[64];
    snprintf(what, sizeof what, "%lld examples, --batch is %lld", (long long)n, (long long)o->batch);
    return refuse(o, path, line, what, e);
}

static bool refuse_word(const order *o, const char *path, int64_t line, const char *word, ts_error *e)
{
    char what[64];
    snprintf(what, sizeof what, "\"%.*s\" is no number of an example", (int)strcspn(word, " \t\r\n,"), word);
    return refuse(o, path, line, what, e);
}

bool order_read(order *o, const char *path, ts_error *e)
{
    ENDED_BY(bytes_free) bytes file = {0};
    if (!bytes_read(path, &file, e))
        return false;
    bool ok = true;
    int64_t cap = 0, line = 1, here = 0;
    for (char *s = file.at, *end; ok && *s; s = end) {
        end = s + 1;
        if (*s == '\n') {
            if (here && here != o->batch)
                ok = refuse_count(o, path, line, here, e);
            o->n_given += here > 0, here = 0, line++;
        } else if (*s >= '0' && *s <= '9') {
            const long long v = strtoll(s, &end, 10);
            const int64_t at = o->n_given * o->batch + here;
            if (v >= o->n)
                ok = refuse_word(o, path, line, s, e);
            else if (here == o->batch)
                ok = refuse_count(o, path, line, here + 1, e);
            if (ok && at >= cap) {
                cap = cap ? 2 * cap : 1024;
                int64_t *more = reallocarray(o->given, (size_t)cap, sizeof *more);
                ok = more || err_memory(e, (size_t)cap * sizeof *more, "the order of %lld examples", (long long)cap);
                o->given = more ? more : o->given;
            }
            if (ok)
                o->given[at] = v, here++;
        } else if (!strchr(" \t\r,", *s))
            ok = refuse_word(o, path, line, s, e);
    }
    if (ok && here && here != o->batch)
        ok = refuse_count(o, path, line, here, e);
    o->n_given += ok && here > 0;
    return ok && (o->n_given > 0 || refuse(o, path, 1, "0 batches, at least 1 expected", e));
}

static void shuffle(order *o, int64_t epoch)
{
    for (int64_t i = 0; i < o->n; i++)
        o->place[i] = i;
    for (int64_t i = o->n - 1; i > 0; i--) {
        const uint64_t r = random_bits(o->seed, (uint64_t)epoch << 32 | (uint64_t)i);
        const int64_t j = (int64_t)(r % ((uint64_t)i + 1)), was = o->place[i];
        o->place[i] = o->place[j], o->place[j] = was;
    }
    o->epoch = epoch;
}

bool order_batch(order *o, int64_t step, int64_t *out, ts_error *e)
{
    const size_t width = (size_t)o->batch * sizeof *out;
    if (o->given) {
        if (step >= o->n_given)
            return err_set(e, TS_BAD_INPUT, "step %lld has no line in the order, which has %lld", (long long)step,
                           (long long)o->n_given);
        memcpy(out, o->given + step * o->batch, width);
        return true;
    }
    if (o->stream) {
        for (int64_t i = 0; i < o->batch; i++)
            out[i] = (int64_t)(random_bits(o->seed, (uint64_t)(step * o->batch + i)) % (uint64_t)o->n);
        return true;
    }
    const int64_t per = order_epoch_steps(o);
    if (step / per != o->epoch)
        shuffle(o, step / per);
    memcpy(out, o->place + step % per * o->batch, width);
    return true;
}
