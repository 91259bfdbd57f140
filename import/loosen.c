/* loosen.c - which extents of a built-in model's steps are free. Its recipe is run once more for each dimension, at
 * another extent. Where the steps come out the same but for numbers of shapes that follow it, as 24 in [2, 24, 128],
 * the steps are made to read these from the inputs, and the dimension is free. Where anything else differs, it is not.
 */
#include "graph/ir/attr.h"
#include "graph/ir/rule.h"
#include "import/model.h"
#include "import/names.h"

#include <string.h>

enum { ENTRIES = 2 * MAX_RANK, MOST_DIMS = 64 };

/* Sets of dimensions as bits: those that an entry of a shape, or an extent of a port, is a multiple of. */
typedef struct marks {
    uint64_t *held, *in, *out; /* ENTRIES a tensor of the file, MAX_RANK a port */
} marks;

typedef struct loosening {
    const ts_model *m;
    model_file *f;
    arena mem;
    marks is;
    int64_t extent[MOST_DIMS]; /* as bound */
    int64_t other[MOST_DIMS];  /* as tried; -1: the dimension is not free */
} loosening;

/* ---- comparing ---- */
static bool same_step(const step *a, const step *b)
{
    bool same = !strcmp(a->type, b->type) && a->n_in == b->n_in && a->n_attr == b->n_attr;
    for (int i = 0; same && i < a->n_in; i++)
        same = !strcmp(a->in[i], b->in[i]);
    for (int i = 0; same && i < a->n_attr; i++)
        same = attr_same(&a->attr[i], &b->attr[i]);
    return same;
}

/* What an extent that is v becomes when the dimensions in `set` are as tried; -1 when it does not follow them. */
static int64_t expected(const loosening *l, int64_t v, uint64_t set)
{
    int64_t factor = v;
    for (int d = 0; d < l->m->dims.n; d++)
        if (set >> d & 1) {
            if (l->extent[d] <= 0 || factor % l->extent[d])
                return -1;
            factor /= l->extent[d];
        }
    for (int d = 0; d < l->m->dims.n; d++)
        if (set >> d & 1 && !int_mul(factor, l->other[d], &factor))
            return -1;
    return factor;
}

/* Whether v, which came out as w, follows the dimensions in *set, or these and d as well. */
static bool follows(const loosening *l, int64_t v, int64_t w, uint64_t *set, int d)
{
    if (d >= 0 && v != w)
        *set |= UINT64_C(1) << d;
    return expected(l, v, d >= 0 ? *set & UINT64_C(1) << d : *set) == w;
}

static bool is_shape(const ts_array *a)
{
    return a->dtype == TS_I64 && a->rank == 1 && a->dim[0] <= ENTRIES && a->data;
}

static bool same_held(const loosening *l, int i, const held *b, int d)
{
    const ts_array *v = &l->f->main.held[i].value, *w = &b->value;
    size_t bytes = (size_t)ts_dtype_bytes(v->dtype);
    if (strcmp(l->f->main.held[i].name, b->name) || v->dtype != w->dtype || v->rank != w->rank ||
        memcmp(v->dim, w->dim, (size_t)v->rank * sizeof *v->dim))
        return false;
    if (!w->data) /* a weight */
        return true;
    if (!is_shape(v))
        return size_mul(bytes, (size_t)ts_array_count(v), &bytes) && !memcmp(v->data, w->data, bytes);
    const int64_t *was = v->data, *now = w->data;
    for (int k = 0; k < v->dim[0]; k++)
        if (!follows(l, was[k], now[k], &l->is.held[i * ENTRIES + k], d))
            return false;
    return true;
}

static bool same_ports(const loosening *l, int n, const ts_port *a, const ts_port *b, uint64_t *set, int d)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < a[i].rank; k++)
            if (a[i].rank != b[i].rank || !follows(l, a[i].dim[k], b[i].dim[k], &set[i * MAX_RANK + k], d))
                return false;
    return true;
}

static bool alone(uint64_t set)
{
    return set && !(set & (set - 1));
}

/* An extent of an input is one dimension as it is, or none: that is where it can be read. */
static bool readable(const loosening *l)
{
    const body *b = &l->f->main;
    uint64_t needed = 0, there = 0;
    for (int i = 0; i < b->n_held * ENTRIES; i++)
        needed |= l->is.held[i];
    for (int i = 0; i < b->n_input * MAX_RANK; i++) {
        const uint64_t set = l->is.in[i];
        if (set && (!alone(set) || b->input[i / MAX_RANK].dim[i % MAX_RANK] != l->extent[__builtin_ctzll(set)]))
            return false;
        there |= set;
    }
    return !(needed & ~there);
}

/* Whether the model with dimension d as tried, or with all when d is -1, has the same steps. */
static bool same(const loosening *l, const model_file *other, int d)
{
    const body *a = &l->f->main, *b = &other->main;
    bool ok = a->n_step == b->n_step && a->n_held == b->n_held && a->n_input == b->n_input &&
              a->n_output == b->n_output;
    for (int i = 0; ok && i < a->n_step; i++)
        ok = same_step(&a->step[i], &b->step[i]);
    for (int i = 0; ok && i < a->n_held; i++)
        ok = same_held(l, i, &b->held[i], d);
    return ok && same_ports(l, a->n_input, a->input, b->input, l->is.in, d) &&
           same_ports(l, a->n_output, a->output, b->output, l->is.out, d) && readable(l);
}

/* ---- trying ---- */
static bool try_at(const loosening *l, const int64_t *extent, int d)
{
    model_file file = {0};
    ts_model *t = builtin_make(l->m, extent);
    const bool ok = t && restate_graph(&(made_graph){t->path, t->graph, *t->bound, t->result, true}, &file, NULL) &&
                    same(l, &file, d);
    arena_free(&file.mem);
    ts_model_free(t);
    return ok;
}

static marks marks_make(arena *mem, const body *b)
{
    return (marks){arena_array(mem, (size_t)b->n_held * ENTRIES, sizeof(uint64_t)),
                   arena_array(mem, (size_t)b->n_input * MAX_RANK, sizeof(uint64_t)),
                   arena_array(mem, (size_t)b->n_output * MAX_RANK, sizeof(uint64_t))};
}

static void marks_copy(marks *to, const marks *from, const body *b)
{
    memcpy(to->held, from->held, (size_t)b->n_held * ENTRIES * sizeof *to->held);
    memcpy(to->in, from->in, (size_t)b->n_input * MAX_RANK * sizeof *to->in);
    memcpy(to->out, from->out, (size_t)b->n_output * MAX_RANK * sizeof *to->out);
}

static void try_dimension(loosening *l, int d, marks *before)
{
    int64_t extent[MOST_DIMS];
    marks_copy(before, &l->is, &l->f->main);
    for (int by = 1; by >= -1 && l->other[d] < 0; by -= 2) {
        memcpy(extent, l->extent, sizeof extent);
        extent[d] = l->other[d] = l->extent[d] + by;
        if (extent[d] >= 0 && try_at(l, extent, d))
            return;
        l->other[d] = -1;
        marks_copy(&l->is, before, &l->f->main);
    }
}

/* All at once, as a check of what was concluded from one at a time. */
static bool try_all(const loosening *l)
{
    int64_t extent[MOST_DIMS];
    bool any = false;
    for (int d = 0; d < l->m->dims.n; d++)
        extent[d] = l->other[d] >= 0 ? l->other[d] : l->extent[d], any = any || l->other[d] >= 0;
    return any && try_at(l, extent, -1);
}

/* ---- reading extents ---- */
typedef struct writing {
    loosening *l;
    name_table taken;
    step *step; /* goes before the others */
    int n, cap;
    held *held;
    int n_held, cap_held;
    const char *of[MOST_DIMS]; /* a vector of one number that is the extent */
} writing;

static const char *new_name(writing *w, const char *stem)
{
    const int id = w->n + w->n_held + 1;
    const char *name = stem;
    for (int k = 1; name_find(&w->taken, name) >= 0; k++)
        name = arena_format(&w->l->f->mem, "%s.%d", stem, k);
    name_add(&w->taken, name, id);
    return name;
}

static const char *add_step(writing *w, step s, const char *out, int n_in, const char *const *in)
{
    arena *mem = &w->l->f->mem;
    const char **own = arena_array(mem, (size_t)n_in + 1, sizeof *own);
    memcpy(own, in, (size_t)n_in * sizeof *own);
    own[n_in] = out;
    s.domain = "", s.name = out, s.in = own, s.n_in = n_in, s.out = own + n_in, s.n_out = 1;
    w->step = arena_grown(mem, w->step, w->n, &w->cap, sizeof *w->step);
    w->step[w->n++] = s;
    return out;
}

static const char *add_held(writing *w, const char *stem, int n, const int64_t *v)
{
    arena *mem = &w->l->f->mem;
    int64_t *own = arena_array(mem, (size_t)n, sizeof *own);
    memcpy(own, v, (size_t)n * sizeof *own);
    w->held = arena_grown(mem, w->held, w->n_held, &w->cap_held, sizeof *w->held);
    held *h = &w->held[w->n_held++];
    *h = (held){.name = new_name(w, stem), .value = {.dtype = TS_I64, .rank = 1, .dim = {n}, .data = own}};
    return h->name;
}

static const char *extent_of(writing *w, int d)
{
    const body *b = &w->l->f->main;
    for (int i = 0; !w->of[d] && i < b->n_input * MAX_RANK; i++)
        if (w->l->is.in[i] == UINT64_C(1) << d) {
            attr *range = arena_array(&w->l->f->mem, 2, sizeof *range);
            range[0] = attr_int("start", i % MAX_RANK), range[1] = attr_int("end", i % MAX_RANK + 1);
            w->of[d] = add_step(w, (step){.type = "Shape", .n_attr = 2, .attr = range},
                                new_name(w, w->l->m->dims.all[d].symbol), 1, &b->input[i / MAX_RANK].name);
        }
    return w->of[d];
}

/* One entry: the product of what it follows and of the rest of it. */
static const char *entry(writing *w, const char *name, int64_t v, uint64_t set)
{
    const char *product = NULL;
    for (int d = 0; d < w->l->m->dims.n; d++)
        if (set >> d & 1) {
            const char *in[] = {product, extent_of(w, d)};
            v /= w->l->extent[d];
            product = product ? add_step(w, (step){.type = "Mul"}, new_name(w, name), 2, in) : in[1];
        }
    if (v == 1)
        return product;
    const char *in[] = {product, add_held(w, name, 1, &v)};
    return add_step(w, (step){.type = "Mul"}, new_name(w, name), 2, in);
}

/* A shape as a step: its entries side by side. */
static void write_shape(writing *w, const held *h, const uint64_t *set)
{
    const char *part[ENTRIES];
    const int64_t *v = h->value.data;
    const int n = (int)h->value.dim[0];
    int n_part = 0;
    for (int k = 0, run; k < n; k += run) {
        for (run = 0; k + run < n && !set[k + run];)
            run++;
        part[n_part++] = run ? add_held(w, h->name, run, v + k) : entry(w, h->name, v[k], set[k]);
        run += !run;
    }
    attr *axis = arena_array(&w->l->f->mem, 1, sizeof *axis);
    *axis = attr_int("axis", 0);
    add_step(w, (step){.type = "Concat", .n_attr = 1, .attr = axis}, h->name, n_part, part);
}

static bool any_of(const uint64_t *set, int n)
{
    uint64_t all = 0;
    for (int i = 0; i < n; i++)
        all |= set[i];
    return all != 0;
}

static void take_names(writing *w)
{
    const body *b = &w->l->f->main;
    for (int i = 0; i < b->n_input; i++)
        name_add(&w->taken, b->input[i].name, 0);
    for (int i = 0; i < b->n_held; i++)
        name_add(&w->taken, b->held[i].name, 0);
    for (int i = 0; i < b->n_step; i++)
        for (int k = 0; k < b->step[i].n_out; k++)
            name_add(&w->taken, b->step[i].out[k], 0);
}

static void write_shapes(writing *w)
{
    body *b = &w->l->f->main;
    arena *mem = &w->l->f->mem;
    take_names(w);
    for (int i = 0; i < b->n_held; i++)
        if (any_of(&w->l->is.held[i * ENTRIES], ENTRIES))
            write_shape(w, &b->held[i], &w->l->is.held[i * ENTRIES]);
        else {
            w->held = arena_grown(mem, w->held, w->n_held, &w->cap_held, sizeof *w->held);
            w->held[w->n_held++] = b->held[i];
        }
    for (int i = 0; i < b->n_step; i++) {
        w->step = arena_grown(mem, w->step, w->n, &w->cap, sizeof *w->step);
        w->step[w->n++] = b->step[i];
    }
    b->held = w->held, b->n_held = w->n_held, b->step = w->step, b->n_step = w->n;
}

static ts_port *free_ports(const loosening *l, int n, const ts_port *from, const uint64_t *set)
{
    ts_port *to = arena_array(&l->f->mem, (size_t)n + 1, sizeof *to);
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
        for (int k = 0; k < to[i].rank; k++) {
            const uint64_t one = set[i * MAX_RANK + k];
            const dimension *d = alone(one) ? &l->m->dims.all[__builtin_ctzll(one)] : NULL;
            if (!one)
                continue;
            to[i].symbol[k] = d && d->extent == to[i].dim[k] ? d->symbol
                                                             : arena_format(&l->f->mem, "%s.%d", to[i].name, k);
            to[i].dim[k] = -1;
        }
    }
    return to;
}

void loosen_model(const ts_model *m, model_file *f)
{
    loosening l = {.m = m, .f = f};
    body *b = &f->main;
    if (m->dims.n > MOST_DIMS)
        return;
    l.is = marks_make(&l.mem, b);
    marks before = marks_make(&l.mem, b);
    for (int d = 0; d < m->dims.n; d++)
        l.extent[d] = m->dims.all[d].extent, l.other[d] = -1;
    for (int d = 0; d < m->dims.n; d++)
        if (!m->dims.all[d].named)
            try_dimension(&l, d, &before);
    if (try_all(&l)) {
        write_shapes(&(writing){.l = &l, .taken = {.mem = &l.mem}});
        b->input = free_ports(&l, b->n_input, b->input, l.is.in);
        b->output = free_ports(&l, b->n_output, b->output, l.is.out);
    }
    arena_free(&l.mem);
}
