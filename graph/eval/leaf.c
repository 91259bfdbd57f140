/* leaf.c - the values of weights and constants: borrowed, seeded, or computed from others. */
#include "graph/eval/eval.h"
#include "graph/ir/graph.h"
#include "graph/base/random.h"
#include "graph/ir/known.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void compute(const node *n, ts_array *out);

static void whole_of(const node *n, ts_array *a) /* to be freed where the node is no leaf that has data */
{
    *a = (ts_array){n->type.dtype, n->type.rank, {0}, n->leaf ? (void *)(uintptr_t)n->leaf->data : NULL};
    memcpy(a->dim, n->type.dim, sizeof n->type.dim);
    if (!n->leaf) {
        compute(n, a);
    } else if (!a->data) {
        MUST(ts_array_make(a, n->type.dtype, n->type.rank, n->type.dim, NULL));
        leaf_read(n, a->data, 0, type_count(&n->type));
    }
}

static void compute(const node *n, ts_array *out)
{
    ts_array in[MOST_SOURCES];
    const ts_array *at[MOST_SOURCES];
    err e = {0};
    MUST(n->n_in <= MOST_SOURCES);
    for (int i = 0; i < n->n_in; i++)
        whole_of(n->in[i], &in[i]), at[i] = &in[i];
    MUST(node_eval(n, at, out, &e));
    for (int i = 0; i < n->n_in; i++)
        if (!n->in[i]->leaf || !n->in[i]->leaf->data)
            ts_array_free(&in[i]);
}

void leaf_read(const node *n, void *to, int64_t first, int64_t end)
{
    const leaf *l = n->leaf;
    const size_t width = (size_t)ts_dtype_bytes(n->type.dtype);
    if (l->of) {
        ts_array all;
        compute(l->of, &all);
        memcpy(to, (const char *)all.data + (size_t)first * width, (size_t)(end - first) * width);
        ts_array_free(&all);
        return;
    }
    if (l->data) {
        memcpy(to, (const char *)l->data + (size_t)first * width, (size_t)(end - first) * width);
        return;
    }
    for (int64_t i = first; i < end; i++) {
        const double v = (float)(l->mean + l->scale * random_unit(l->seed, (uint64_t)i));
        if (n->type.dtype == TS_F32)
            ((float *)to)[i - first] = (float)v;
        else if (dtype_class(n->type.dtype) == D_REAL)
            store_real(n->type.dtype, to, i - first, v);
        else
            store_whole(n->type.dtype, to, i - first, (int64_t)v);
    }
}

/* A copy was made of it: pages of a mapped file need not stay in memory. Nothing else is lost by that. */
static void let_go(const void *at, int64_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = ((uintptr_t)at + page - 1) / page * page,
                    to = ((uintptr_t)at + (uintptr_t)bytes) / page * page;
    if (at && to > from)
        madvise((void *)from, to - from, MADV_PAGEOUT); /* a request: whether it is heard changes nothing */
}

bool ts_leaf_value(ts_tensor t, ts_array *out, ts_error *e)
{
    if (!err_given(t, "the tensor", e) || !err_given(out, "the array for a value", e))
        return false;
    if (!t->leaf || t->leaf->kind == LEAF_INPUT)
        return err_set(e, TS_USAGE, "\"%s\" has no value of its own", t->label);
    if (!ts_array_make(out, t->type.dtype, t->type.rank, t->type.dim, e))
        return false;
    leaf_read(t, out->data, 0, type_count(&t->type));
    let_go(t->leaf->data, type_bytes(&t->type));
    return true;
}
