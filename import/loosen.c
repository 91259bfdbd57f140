/* loosen.c - which extents of a built-in model's steps are free. Its recipe is run once more for each dimension, at
 * another extent. Where the steps come out the same but for numbers of shapes that follow it, as 24 in [2, 24, 128],
 * the steps are made to read these from the inputs, and the dimension is free. Where anything else differs, it is not.
 */
#include "graph/ir/attr.h"
#include "import/model.h"

#include <string.h>

typedef long long ll;
enum { ENTRIES = 2 * MAX_RANK, MOST_DIMS = 64 };

/* Numbers that may follow dimensions: ENTRIES for each tensor that is held, of which shapes are vectors of a few whole
 * numbers, then MAX_RANK for each input, then for each output. */
typedef struct loosening {
    const ts_model *m;
    model_file *f;
    arena mem;
    int n, n_held, n_input; /* numbers; those before the inputs', of the inputs */
    const int64_t *number;
    uint64_t *set;             /* by number: the dimensions of which it is a multiple, as bits */
    int64_t extent[MOST_DIMS]; /* as bound */
    int64_t other[MOST_DIMS];  /* as tried; -1: the dimension is not free */
} loosening;

static bool is_shape(const ts_array *a)
{
    return a->dtype == TS_I64 && a->rank == 1 && a->dim[0] <= ENTRIES;
}

/* Tensors without data are weights: their numbers are as they were. */
static const int64_t *numbers(loosening *l, const body *b)
{
    int64_t *all = arena_array(&l->mem, (size_t)l->n + 1, sizeof *all), *at = all;
    for (int i = 0; i < b->n_held; i++, at += ENTRIES) {
        const ts_array *v = &b->held[i].value;
        const void *from = v->data ? v->data : l->number + i * ENTRIES;
        if (is_shape(v))
            memcpy(at, from, (size_t)v->dim[0] * sizeof *at);
    }
    for (int i = 0; i < b->n_input + b->n_output; i++, at += MAX_RANK) {
        const ts_port *p = i < b->n_input ? &b->input[i] : &b->output[i - b->n_input];
        memcpy(at, p->dim, (size_t)p->rank * sizeof *at);
    }
    return all;
}

/* ---- comparing ---- */
static bool same_step(const step *a, const step *b) /* what graphs in them say is not compared */
{
    bool same = !a->n_body && !strcmp(a->type, b->type) && a->n_in == b->n_in && a->n_attr == b->n_attr;
    for (int i = 0; same && i < a->n_in; i++)
        same = !strcmp(a->in[i], b->in[i]);
    for (int i = 0; same && i < a->n_attr; i++)
        same = attr_same(&a->attr[i], &b->attr[i]);
    return same;
}

static bool same_held(const held *a, const held *b)
{
    const ts_array *v = &a->value, *w = &b->value;
    return !strcmp(a->name, b->name) && v->dtype == w->dtype && v->rank == w->rank &&
           !memcmp(v->dim, w->dim, (size_t)v->rank * sizeof *v->dim) &&
           (!w->data || is_shape(w) ||
            !memcmp(v->data, w->data, (size_t)ts_array_count(w) * (size_t)ts_dtype_bytes(w->dtype)));
}

static bool same_ranks(int n, const ts_port *a, const ts_port *b)
{
    bool same = true;
    for (int i = 0; same && i < n; i++)
        same = a[i].rank == b[i].rank;
    return same;
}

static bool same_but_numbers(const body *a, const body *b)
{
    bool same = a->n_step == b->n_step && a->n_held == b->n_held && a->n_input == b->n_input &&
                a->n_output == b->n_output && same_ranks(a->n_input, a->input, b->input) &&
                same_ranks(a->n_output, a->output, b->output);
    for (int i = 0; same && i < a->n_step; i++)
        same = same_step(&a->step[i], &b->step[i]);
    for (int i = 0; same && i < a->n_held; i++)
        same = same_held(&a->held[i], &b->held[i]);
    return same;
}

/* ---- trying ---- */
/* Of the model with the dimensions in `set` as tried; NULL where anything else is another one */
static const int64_t *numbers_at(loosening *l, uint64_t set)
{
    int64_t extent[MOST_DIMS];
    for (int d = 0; d < l->m->dims.n; d++)
        extent[d] = set >> d & 1 ? l->other[d] : l->extent[d];
    model_file file = {0};
    ts_model *t = builtin_make(l->m, extent);
    const bool same = t && restate_graph(&(made_graph){t->path, t->graph, *t->bound, t->result, true}, &file, NULL) &&
                      same_but_numbers(&l->f->main, &file.main);
    const int64_t *all = same ? numbers(l, &file.main) : NULL;
    arena_free(&file.mem);
    ts_model_free(t);
    return all;
}

/* What v becomes where the dimensions in `set` are as tried; -1 where it is no multiple of what they were. */
static int64_t expected(const loosening *l, int64_t v, uint64_t set)
{
    for (int d = 0; d < l->m->dims.n; d++)
        if (set >> d & 1) {
            if (l->extent[d] <= 0 || v % l->extent[d])
                return -1;
            v /= l->extent[d];
        }
    for (int d = 0; d < l->m->dims.n; d++)
        if (set >> d & 1 && !int_mul(v, l->other[d], &v))
            return -1;
    return v;
}

/* What differs follows dimension d. An extent of an input is one dimension as it is, or none: that is where it is read.
 */
static bool follows(loosening *l, int d)
{
    const uint64_t one = UINT64_C(1) << d;
    const int64_t *now = numbers_at(l, one);
    bool needed = false, there = false;
    for (int i = 0; now && i < l->n; i++) {
        const bool input = i >= l->n_held && i < l->n_held + l->n_input;
        if (now[i] == l->number[i])
            continue;
        if (now[i] != expected(l, l->number[i], one) || (input && (l->set[i] || l->number[i] != l->extent[d])))
            return false;
        needed = needed || i < l->n_held, there = there || input;
    }
    if (!now || (needed && !there))
        return false;
    for (int i = 0; i < l->n; i++)
        l->set[i] |= now[i] != l->number[i] ? one : 0;
    return true;
}

static void try_dimension(loosening *l, int d)
{
    for (int by = 1; by >= -1 && l->other[d] < 0; by -= 2) {
        l->other[d] = l->extent[d] + by;
        if (l->other[d] >= 0 && !follows(l, d))
            l->other[d] = -1;
    }
}

/* All at once, as a check of what was concluded from one at a time. */
static bool try_all(loosening *l)
{
    uint64_t free = 0;
    for (int d = 0; d < l->m->dims.n; d++)
        free |= l->other[d] >= 0 ? UINT64_C(1) << d : 0;
    const int64_t *now = free ? numbers_at(l, free) : NULL;
    for (int i = 0; now && i < l->n; i++)
        if (now[i] != expected(l, l->number[i], l->set[i]))
            return false;
    return now != NULL;
}

/* ---- reading extents ---- */
typedef struct writing {
    loosening *l;
    text t; /* the steps that read them, as an addition to the model */
    int n;
    const char *of[MOST_DIMS]; /* a vector of one number that is the extent */
} writing;

static const char *new_name(writing *w, const char *stem)
{
    return arena_format(&w->l->f->mem, "%s/%d", stem, w->n++);
}

static const char *extent_of(writing *w, int d, const char *stem)
{
    const loosening *l = w->l;
    int i = l->n_held;
    if (w->of[d])
        return w->of[d];
    while (l->set[i] != UINT64_C(1) << d)
        i++;
    i -= l->n_held;
    w->of[d] = new_name(w, stem);
    json_add(&w->t, "{op:'Shape',in:[%s],out:[%s],attr:{start:%d,end:%d}}", l->f->main.input[i / MAX_RANK].name,
             w->of[d], i % MAX_RANK, i % MAX_RANK + 1);
    return w->of[d];
}

static const char *times(writing *w, const char *a, const char *b, const char *stem) /* a: NULL is one */
{
    if (!a)
        return b;
    const char *out = new_name(w, stem);
    json_add(&w->t, "{op:'Mul',in:[%s,%s],out:[%s]}", a, b, out);
    return out;
}

/* A shape as a step: its entries side by side, each the product of what it follows and of the rest of it. */
static void write_shape(writing *w, const held *h, const uint64_t *set)
{
    const char *part[ENTRIES] = {0};
    const int n = (int)h->value.dim[0];
    for (int k = 0; k < n; k++) {
        int64_t rest = ((const int64_t *)h->value.data)[k];
        for (int d = 0; d < w->l->m->dims.n; d++)
            if (set[k] >> d & 1) {
                rest /= w->l->extent[d];
                part[k] = times(w, part[k], extent_of(w, d, h->name), h->name);
            }
        if (part[k] && rest == 1)
            continue;
        const char *number = new_name(w, h->name);
        json_add(&w->t, "{op:'Constant',in:[],out:[%s],attr:{value_ints:[%lld]}}", number, (ll)rest);
        part[k] = times(w, part[k], number, h->name);
    }
    json_add(&w->t, "{op:'Concat',out:[%s],attr:{axis:0}", h->name);
    json_add_texts(&w->t, "in", n, part);
    json_add(&w->t, "}");
}

/* What is read stands before what reads it. */
static bool write_shapes(loosening *l, err *e)
{
    body *b = &l->f->main;
    writing w = {.l = l};
    const step *rest = b->step;
    const int n_step = b->n_step, n_held = b->n_held;
    json_add(&w.t, "{nodes:["), b->n_held = b->n_step = 0;
    for (int i = 0; i < n_held; i++) {
        uint64_t any = 0;
        for (int k = 0; k < ENTRIES; k++)
            any |= l->set[i * ENTRIES + k];
        if (any)
            write_shape(&w, &b->held[i], &l->set[i * ENTRIES]);
        else
            b->held[b->n_held++] = b->held[i];
    }
    json_add(&w.t, "]}");
    const bool ok = graph_json_add(l->f, w.t.s, e);
    b->step = arena_joined(&l->f->mem, b->step, b->n_step, rest, n_step, sizeof *rest), b->n_step += n_step;
    return text_free(&w.t), ok;
}

static void free_ports(const loosening *l, int n, ts_port **of, const uint64_t *set)
{
    ts_port *to = arena_array(&l->f->mem, (size_t)n + 1, sizeof *to);
    for (int i = 0; i < n; i++) {
        to[i] = (*of)[i];
        for (int k = 0; k < to[i].rank; k++) {
            const uint64_t all = set[i * MAX_RANK + k];
            const dimension *d = all ? &l->m->dims.all[__builtin_ctzll(all)] : NULL;
            if (!all)
                continue;
            to[i].symbol[k] = !(all & (all - 1)) && d->extent == to[i].dim[k]
                                  ? d->symbol
                                  : arena_format(&l->f->mem, "%s.%d", to[i].name, k);
            to[i].dim[k] = -1;
        }
    }
    *of = to;
}

bool loosen_model(const ts_model *m, model_file *f, err *e)
{
    body *b = &f->main;
    loosening l = {.m = m, .f = f, .n_held = b->n_held * ENTRIES, .n_input = b->n_input * MAX_RANK};
    bool ok = true;
    if (m->dims.n > MOST_DIMS)
        return true;
    l.n = l.n_held + l.n_input + b->n_output * MAX_RANK;
    l.number = numbers(&l, b), l.set = arena_array(&l.mem, (size_t)l.n + 1, sizeof *l.set);
    for (int d = 0; d < m->dims.n; d++)
        l.extent[d] = m->dims.all[d].extent, l.other[d] = -1;
    for (int d = 0; d < m->dims.n; d++)
        if (!m->dims.all[d].named)
            try_dimension(&l, d);
    if (try_all(&l)) {
        ok = write_shapes(&l, e);
        free_ports(&l, b->n_input, &b->input, l.set + l.n_held);
        free_ports(&l, b->n_output, &b->output, l.set + l.n_held + l.n_input);
    }
    arena_free(&l.mem);
    return ok;
}
