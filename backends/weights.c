/* weights.c - one weight after the other, largest derived one first: used where it lies, read, drawn or packed by
 * parts that the back end spreads over its workers. */
#include "backends/weights.h"
#include "graph/eval/eval.h"
#include "backends/interrupt.h"
#include "backends/pages.h"

#include <stdlib.h>

typedef struct loading {
    const plan *p;
    const weight_host *host;
    weights *w;
    page_files files; /* mapped ones */
    char *rows;       /* a seeded weight in rows, before it is packed */
    char *staging;    /* a packed one, before it is uploaded */
    /* the one at hand */
    const packed *one;
    const void *from; /* in rows */
    char *to;
} loading;

/* ---- kinds ---- */
static bool in_rows(const packed *w)
{
    return layout_is_rows(&w->layout, &w->node->type);
}

static bool used_in_place(const loading *l, const packed *w)
{
    const leaf *x = w->node->leaf;
    return !l->host->asked->memory && x->data &&
           (uintptr_t)x->data % (uintptr_t)ts_dtype_bytes(w->node->type.dtype) == 0 && in_rows(w);
}

static bool seeded_apart(const packed *w) /* and packed otherwise than in rows */
{
    return !w->node->leaf->data && !w->node->leaf->of && !in_rows(w);
}

static bool bytes_of(const packed *w, size_t *bytes, err *e)
{
    return size_mul((size_t)w->layout.size, (size_t)ts_dtype_bytes(w->node->type.dtype), bytes) ||
           err_set(e, TS_MEMORY, "a weight of %lld elements of %s, at most 2^63 - 1 bytes expected",
                   (long long)w->layout.size, ts_dtype_name(w->node->type.dtype));
}

/* ---- parts ---- */
static void read_rows(void *arg, int part, int parts)
{
    const loading *l = arg;
    const node *n = l->one->node;
    const int64_t count = type_count(&n->type), first = count * part / parts, end = count * (part + 1) / parts;
    leaf_read(n, (seeded_apart(l->one) ? l->rows : l->to) + first * ts_dtype_bytes(n->type.dtype), first, end);
}

static void pack_rows(void *arg, int part, int parts)
{
    const loading *l = arg;
    layout_pack(&l->one->layout, &l->one->node->type, l->to, l->from, part, parts);
}

static bool spread(loading *l, weight_work *work, err *e)
{
    if (l->host->spread)
        return l->host->spread(l->host->user, work, l, e);
    work(l, 0, 1);
    return true;
}

/* Those in rows are read to where they go; others are packed from their values, which seeded ones get first. */
static bool fill(loading *l, err *e)
{
    const leaf *x = l->one->node->leaf;
    const bool rows = !x->of && in_rows(l->one);
    if ((rows || seeded_apart(l->one)) && !spread(l, read_rows, e))
        return false;
    l->from = x->of ? l->from : x->data ? x->data : l->rows;
    return rows || spread(l, pack_rows, e);
}

/* ---- one weight ---- */
static void release(const loading *l, const node *n) /* what was copied from a file need not stay in memory */
{
    if (n->leaf && n->leaf->data)
        pages_release(&l->files, n->leaf->data, (size_t)type_bytes(&n->type));
    for (int i = 0; i < n->n_in; i++)
        release(l, n->in[i]);
}

static bool load_one(loading *l, int i, const void *derived, err *e)
{
    size_t bytes;
    l->one = &l->p->leaf[i], l->from = derived;
    l->to = l->staging ? l->staging : l->w->at[i];
    const leaf *x = l->one->node->leaf;
    const bool there = used_in_place(l, l->one);
    if (!bytes_of(l->one, &bytes, e) || (!there && !fill(l, e)))
        return false;
    const weight_host *h = l->host;
    if (h->upload && !h->upload(h->user, i, there ? x->data : l->to, bytes, e))
        return false;
    if (!there || h->upload)
        release(l, x->of ? x->of : l->one->node);
    return true;
}

/* ---- those computed from others ---- */
static int next_derived(const plan *p, const bool *done) /* the largest; -1: none */
{
    int best = -1;
    for (int i = 0; i < p->n_leaf; i++) {
        const bool open = p->leaf[i].node->leaf->of && !done[i];
        if (open && (best < 0 || p->leaf[i].layout.size > p->leaf[best].layout.size))
            best = i;
    }
    return best;
}

static bool derive_alike(loading *l, deriver *d, int like, bool *done, err *e)
{
    const plan *p = l->p;
    const int kind = deriver_kind(d, p->leaf[like].node, e);
    for (int i = 0; i < p->n_leaf && kind >= 0; i++) {
        const node *n = p->leaf[i].node;
        if (i != like && (done[i] || !n->leaf->of || deriver_kind(d, n, e) != kind))
            continue;
        const void *value = deriver_value(d, n, e);
        if (!value || !load_one(l, i, value, e))
            return false;
        done[i] = true;
    }
    if (kind >= 0)
        deriver_forget(d, kind);
    return kind >= 0;
}

static bool derive_all(loading *l, err *e)
{
    deriver *own = l->host->deriver ? NULL : deriver_make(l->p, l->host->by, l->host->asked),
            *d = own ? own : l->host->deriver;
    bool *done = heap_array((size_t)l->p->n_leaf + 1, sizeof *done), ok = true;
    for (int i = next_derived(l->p, done); i >= 0 && ok && !interrupt_asked(); i = next_derived(l->p, done))
        ok = derive_alike(l, d, i, done, e);
    free(done), deriver_rest(d), deriver_free(own);
    return ok;
}

static bool load_rest(loading *l, err *e)
{
    for (int i = 0; i < l->p->n_leaf; i++)
        if (!l->p->leaf[i].node->leaf->of && !load_one(l, i, NULL, e))
            return false;
    return true;
}

/* ---- memory ---- */
static bool find_room(loading *l, size_t *rows, size_t *most, err *e)
{
    *rows = *most = 0;
    for (int i = 0; i < l->p->n_leaf; i++) {
        const packed *w = &l->p->leaf[i];
        const size_t seeded = seeded_apart(w) ? (size_t)type_bytes(&w->node->type) : 0;
        size_t bytes;
        if (!bytes_of(w, &bytes, e))
            return false;
        *rows = seeded > *rows ? seeded : *rows;
        *most = bytes > *most ? bytes : *most;
    }
    return true;
}

/* All in one mapping, each on a line of the cache of its own. */
static bool map_all(loading *l, err *e)
{
    weights *w = l->w;
    for (int pass = 0; pass < 2; pass++) {
        size_t at = 0;
        for (int i = 0; i < l->p->n_leaf; i++) {
            size_t bytes;
            if (used_in_place(l, &l->p->leaf[i])) {
                w->at[i] = (void *)(uintptr_t)l->p->leaf[i].node->leaf->data;
                continue;
            }
            if (pass)
                w->at[i] = w->packed + at;
            if (!bytes_of(&l->p->leaf[i], &bytes, e) || !size_add(at, bytes, &at) || !size_add(at, 127, &at))
                return err_set(e, TS_MEMORY, "%d of the weights have more than 2^63 - 1 bytes, fewer expected", i + 1);
            at = at / 64 * 64;
        }
        w->bytes = at;
        if (!pass && at && !(w->packed = pages_map(at, e)))
            return false;
    }
    return true;
}

static bool take_each(loading *l, const memory *m, err *e)
{
    for (int i = 0; i < l->p->n_leaf; i++) {
        size_t bytes;
        if (!bytes_of(&l->p->leaf[i], &bytes, e) || !(l->w->at[i] = m->take(m->user, bytes, e)))
            return false;
    }
    return true;
}

bool weights_load(weights *w, const plan *p, const weight_host *h, err *e)
{
    loading l = {.p = p, .host = h, .w = w};
    size_t rows, most;
    *w = (weights){.at = heap_array((size_t)p->n_leaf + 1, sizeof *w->at)};
    if (!find_room(&l, &rows, &most, e))
        return false;
    if (!h->upload && !(h->asked->memory ? take_each(&l, h->asked->memory, e) : map_all(&l, e)))
        return false;
    pages_find_files(&l.files);
    const bool ok = (!rows || (l.rows = pages_map(rows, e))) &&
                    (!h->upload || !most || (l.staging = pages_map(most, e))) && derive_all(&l, e) && load_rest(&l, e);
    pages_unmap(l.rows, rows), pages_unmap(l.staging, most);
    phases_done(h->asked->phases, PHASE_WEIGHTS);
    return ok;
}

void weights_free(weights *w)
{
    pages_unmap(w->packed, w->bytes);
    free(w->at);
    *w = (weights){0};
}

void weight_pack(const packed *w, deriver *d, void *to)
{
    const type *t = &w->node->type;
    err none = {0};
    const void *derived = w->node->leaf->of ? deriver_value(d, w->node, &none) : NULL;
    if (derived) { /* the bits of a run here; without a compiler those of the interpreter */
        layout_pack(&w->layout, t, to, derived, 0, 1);
        return;
    }
    if (in_rows(w)) {
        leaf_read(w->node, to, 0, type_count(t));
        return;
    }
    ENDED_BY(heap_free) void *rows = heap_array((size_t)type_bytes(t) + 1, 1);
    leaf_read(w->node, rows, 0, type_count(t));
    layout_pack(&w->layout, t, to, rows, 0, 1);
}
