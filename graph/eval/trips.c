/* trips.c - a scan evaluated: all trips one after the other, and the nodes of each. */
#include "graph/eval/eval.h"
#include "graph/ir/custom.h"
#include "graph/ir/trip.h"

#include <stdlib.h>
#include <string.h>

typedef struct walking {
    const host_call *c;
    scan_form f;
    int n;
    const node **need; /* by id */
    int *at;           /* by id: which of them */
    ts_array *value;
    bool *own;  /* made here */
    bool *once; /* the same in every trip */
    char **state, **next;
    int64_t trip;
} walking;

static bool stays(const walking *w, int64_t k) /* the same in every trip */
{
    return k >= w->f.n_state + w->f.n_slice && k < w->c->node->n_in;
}

/* Of a state, or of a value that a trip computes */
static dtype held(const walking *w, dtype d)
{
    return w->c->wide && dtype_real(d) ? TS_F64 : d;
}

/* Nodes are in the order of their ids, operands before what reads them. */
static void begin(walking *w, const host_call *c)
{
    const scan_trip *t = c->node->trip;
    *w = (walking){.c = c, .f = scan_form_of(c->node)};
    w->need = g_reached_make(t->n_root, t->root, &w->n);
    const size_t n = (size_t)w->n + 1, states = (size_t)w->f.n_state + 1;
    w->value = heap_array(n, sizeof *w->value);
    w->own = heap_array(n, 1), w->once = heap_array(n, 1);
    w->state = heap_array(states, sizeof *w->state), w->next = heap_array(states, sizeof *w->next);
    w->at = heap_array(w->n ? (size_t)w->need[w->n - 1]->id + 1 : 1, sizeof *w->at);
    for (int i = 0; i < w->n; i++) {
        const node *x = w->need[i];
        w->at[x->id] = i, w->once[i] = !x->leaf || !x->leaf->bound || stays(w, trip_operand(x));
        for (int k = 0; k < x->n_in; k++)
            w->once[i] = w->once[i] && w->once[w->at[x->in[k]->id]];
        w->value[i] = type_array(&x->type, x->leaf ? (void *)(uintptr_t)x->leaf->data : NULL);
    }
    for (int i = 0; i < w->f.n_state; i++) {
        const dtype d = held(w, c->node->in[i]->type.dtype);
        const size_t bytes = (size_t)(type_count(&c->node->in[i]->type) * ts_dtype_bytes(d));
        w->state[i] = malloc(bytes + 1), w->next[i] = malloc(bytes + 1);
        MUST(w->state[i] && w->next[i]);
        array_copy(&c->in[i], d, w->state[i]);
    }
}

static void end(walking *w)
{
    for (int i = 0; i < w->n; i++)
        if (w->own[i])
            ts_array_free(&w->value[i]);
    for (int i = 0; i < w->f.n_state; i++)
        free(w->state[i]), free(w->next[i]);
    free(w->need), free(w->value), free(w->own), free(w->once), free(w->state), free(w->next), free(w->at);
}

/* Slices are rows of the operand itself: nothing is copied. */
static void bind(walking *w, const node *x, ts_array *to)
{
    const scan_form *f = &w->f;
    const int64_t k = trip_operand(x);
    if (k == w->c->node->n_in)
        to->data = &w->trip;
    else if (k < f->n_state)
        to->dtype = held(w, x->type.dtype), to->data = w->state[k];
    else {
        const bool back = k < f->n_state + f->n_slice && f->slice[k - f->n_state];
        const int64_t row = stays(w, k) ? 0 : back ? f->trips - 1 - w->trip : w->trip;
        to->dtype = w->c->in[k].dtype;
        to->data = (char *)w->c->in[k].data + row * type_count(&x->type) * ts_dtype_bytes(to->dtype);
    }
}

/* Nodes of a trip are evaluated one by one by the interpreter: this is what judges the programs of back ends. */
static bool evaluate(walking *w, int i, err *e)
{
    const node *x = w->need[i];
    ENDED_BY(heap_free) const ts_array **in = heap_array((size_t)x->n_in + 1, sizeof *in);
    for (int k = 0; k < x->n_in; k++)
        in[k] = &w->value[w->at[x->in[k]->id]];
    if (w->own[i])
        ts_array_free(&w->value[i]);
    w->own[i] = w->c->wide ? node_eval_wide(x, in, &w->value[i], e) : node_eval(x, in, &w->value[i], e);
    return w->own[i];
}

/* All outputs of a scan lie one after the other in one value (custom_pack): where dtypes differ, as their own bytes. */
static void put_out(const walking *w, int k, int64_t row, const ts_array *a)
{
    const node *n = w->c->node;
    const type *t = &n->trip->root[k]->type;
    const dtype d = held(w, t->dtype);
    const int64_t at = custom_place(n, k) * (w->c->wide && custom_widens(n) ? WIDE_BYTES : 1);
    array_copy(a, d,
               (char *)w->c->out->data + at * ts_dtype_bytes(w->c->out->dtype) +
                   row * type_count(t) * ts_dtype_bytes(d));
}

static const ts_array *root_of(const walking *w, int k)
{
    return &w->value[w->at[w->c->node->trip->root[k]->id]];
}

/* New states are copied before any is replaced: a state may be another one's former value. */
static bool one_trip(walking *w, bool *last, err *e)
{
    const scan_trip *t = w->c->node->trip;
    const scan_form *f = &w->f;
    for (int i = 0; i < w->n; i++) {
        const node *x = w->need[i];
        if (x->leaf && x->leaf->bound)
            bind(w, x, &w->value[i]);
        else if (!x->leaf && !(w->own[i] && w->once[i]) && !evaluate(w, i, e))
            return err_in(e, "trip %lld", (long long)w->trip);
    }
    for (int i = 0; i < f->n_row; i++)
        put_out(w, f->n_state + i, scan_place(f, i, w->trip), root_of(w, f->n_state + i));
    for (int i = 0; i < f->n_state; i++)
        array_copy(root_of(w, i), held(w, t->root[i]->type.dtype), w->next[i]);
    *last = f->until && *(const unsigned char *)root_of(w, t->n_root - 1)->data;
    for (int i = 0; i < f->n_state; i++) {
        char *was = w->state[i];
        w->state[i] = w->next[i], w->next[i] = was;
    }
    return true;
}

/* Rows behind an early end are zero. */
bool trips_run(const host_call *c, err *e)
{
    walking w;
    bool ok = true, last = false;
    if (c->part)
        return true;
    begin(&w, c);
    memset(c->out->data, 0, (size_t)(ts_array_count(c->out) * ts_dtype_bytes(c->out->dtype)));
    for (; ok && !last && w.trip < w.f.trips; w.trip++)
        ok = one_trip(&w, &last, e);
    for (int i = 0; ok && i < w.f.n_state; i++) {
        ts_array last_state = type_array(&c->node->in[i]->type, w.state[i]);
        last_state.dtype = held(&w, last_state.dtype), put_out(&w, i, 0, &last_state);
    }
    end(&w);
    return ok;
}
