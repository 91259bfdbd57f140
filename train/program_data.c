/* program_data.c - data.bin of an emitted training program: what each input gets of each example, once, and which
 * examples each batch takes. */
#include "graph/base/base.h"
#include "train/program.h"

#include <stdlib.h>
#include <string.h>

/* As main.c reads it: rows of `bytes` bytes at from + stride * example go to `at` in an input. */
typedef struct piece {
    int64_t input, at, rows, bytes, from, stride;
} piece;

enum { PIECE = 6, HEADER = 4 }; /* numbers */

typedef struct writing {
    const training_program *t;
    int n; /* of pieces; two for an input of pairs */
    piece piece[2 * MOST_FED];
    char *file;
    int64_t size;
    ts_array all[MOST_FED]; /* of one batch */
} writing;

/* The examples of a stream begin at any token; `length` of them are read from each place. */
static int64_t step_of(const net *n, int64_t row_bytes)
{
    return n->stream ? row_bytes / n->length : row_bytes;
}

/* Examples are gone through in this order, so that each value of the data comes by. */
static int64_t visits(const training_program *t)
{
    const int64_t length = t->net->length;
    return t->net->stream ? (t->data->n - 1 + length - 1) / length : t->data->n;
}

static int64_t visited(const training_program *t, int64_t i)
{
    const int64_t length = t->net->length, last = t->data->n - 1 - length;
    return !t->net->stream ? i : i * length < last ? i * length : last;
}

static bool add_pieces(writing *w, int array, int input, ts_error *e)
{
    const net *n = w->t->net;
    const ts_array *a = &w->all[array];
    const int64_t whole = ts_array_count(a) * ts_dtype_bytes(a->dtype), rows = a->rank ? a->dim[0] : 1;
    const bool fixed = net_array_fixed(n, array);
    const int64_t parts = fixed ? 1 : rows / n->batch, row = fixed ? whole : whole / rows;
    for (int64_t k = 0; k < parts; k++) {
        const int64_t last = fixed ? 0 : visited(w->t, visits(w->t) - 1), stride = fixed ? 0 : step_of(n, row);
        const int64_t room = (last * stride + row + 7) / 8 * 8;
        w->piece[w->n++] = (piece){input, k * n->batch * row, fixed ? 1 : n->batch, row, w->size, stride};
        w->size += room;
    }
    return w->size < INT64_MAX / 2 ||
           err_set(e, TS_MEMORY, "the data has %lld bytes, fewer than 2^62 expected", (long long)w->size);
}

static bool batch_of(writing *w, const int64_t *which, int64_t count, ts_error *e)
{
    net_arrays_free(w->t->net, w->all);
    return net_arrays(w->t->net, w->t->data, which, count, w->all, e);
}

static void put_rows(const writing *w, const int64_t *which, int64_t count, const int *array)
{
    for (int i = 0; i < w->n; i++) {
        const piece *p = &w->piece[i];
        const char *from = (const char *)w->all[array[i]].data + p->at;
        for (int64_t r = 0; r < (p->rows == 1 ? 1 : count); r++)
            memcpy(w->file + p->from + p->stride * which[r], from + r * p->bytes, (size_t)p->bytes);
    }
}

/* Every example once, a batch at a time. */
static bool put_values(writing *w, const int *array, int64_t *which, ts_error *e)
{
    const int64_t whole = visits(w->t), batch = w->t->net->batch;
    bool ok = true;
    for (int64_t first = 0; ok && first < whole; first += batch) {
        const int64_t count = whole - first < batch ? whole - first : batch;
        for (int64_t i = 0; i < count; i++)
            which[i] = visited(w->t, first + i);
        ok = batch_of(w, which, count, e);
        if (ok)
            put_rows(w, which, count, array);
    }
    return ok;
}

static bool put_order(writing *w, int64_t batches, ts_error *e)
{
    const int64_t batch = w->t->net->batch;
    int64_t *to = (int64_t *)(void *)w->file;
    memcpy(to, "TSDATA01", 8);
    to[1] = w->n, to[2] = batches, to[3] = batch;
    memcpy(to + HEADER, w->piece, (size_t)w->n * sizeof *w->piece);
    to += HEADER + PIECE * w->n;
    for (int64_t i = 0; i < batches; i++)
        if (!order_batch(w->t->order, i, to + i * batch, e))
            return false;
    return true;
}

/* array[i]: of piece i. */
static bool find_pieces(writing *w, const int *input, int *array, ts_error *e)
{
    const int n = net_n_arrays(w->t->net);
    for (int i = 0; i < n; i++) {
        const int before = w->n;
        if (input[i] >= 0 && w->all[i].data && !add_pieces(w, i, input[i], e))
            return false;
        for (int k = before; k < w->n; k++)
            array[k] = i;
    }
    const int64_t batches = w->t->updates * w->t->net->asked->accumulate,
                  head = 8 * (HEADER + PIECE * (int64_t)w->n + batches * w->t->net->batch);
    for (int i = 0; i < w->n; i++)
        w->piece[i].from += head;
    w->size += head;
    w->file = calloc((size_t)w->size / 8 + 1, 8);
    return w->file || err_memory(e, (size_t)w->size, "the data of the program");
}

bool program_data(const training_program *t, const int *input, const char *path, ts_error *e)
{
    writing w = {.t = t};
    int array[2 * MOST_FED];
    ENDED_BY(heap_free) int64_t *which = heap_array((size_t)t->net->batch + 1, sizeof *which);
    const bool ok = batch_of(&w, which, 1, e) && find_pieces(&w, input, array, e) && put_values(&w, array, which, e) &&
                    put_order(&w, t->updates * t->net->asked->accumulate, e) &&
                    ts_file_write(path, w.file, (size_t)w.size, e);
    net_arrays_free(t->net, w.all);
    free(w.file);
    return ok;
}
