/* restate_scan.c - scans as calls of ONNX. A trip becomes a body that reads what is the same in every trip from around
 * it. A Loop knows the number of its trip and may end early, where it gathers no rows: it is taken for what has no
 * slices and no rows backwards, or ends. All else is a Scan, which makes all trips: behind an early end states stay
 * what they are, and rows are zero, as they are here. The number of a trip is a slice of 0, 1, 2, ... */
#include "graph/onnx/restate_scan.h"
#include "graph/ir/custom.h"
#include "graph/ir/rule.h"
#include "graph/ir/trip.h"

#include <stdlib.h>
#include <string.h>

typedef struct back_outputs {
    const node *n;
    const char **name;
    const struct back_outputs *next;
} back_outputs;

typedef struct turning {
    back *b;
    const node *n;
    scan_form f;
    bool loop, counted, done; /* done: a state says that an earlier trip was the last one */
    int n_in, n_attr;         /* of the call */
    const char **in;
    attr *attr;
    body *body;
    const char **root; /* in the body */
    const char *was;   /* in the body: that state */
} turning;

/* ---- ports and calls ---- */
static const type truth_type = {.dtype = TS_BOOL}, whole_type = {.dtype = TS_I64};

static const char *add_port(turning *t, ts_port *all, int *n, const char *stem, const type *is)
{
    ts_port *p = &all[(*n)++];
    *p = (ts_port){.name = back_new_name(t->b, stem), .dtype = is->dtype, .rank = is->rank};
    memcpy(p->dim, is->dim, sizeof p->dim);
    return p->name;
}

static const char *call(turning *t, const char *what, int n, const char *const *in, const char *out)
{
    step s = {.type = what, .n_in = n, .in = arena_joined(t->b->mem, in, n, NULL, 0, sizeof *in)};
    if (out)
        s.n_out = 1, s.out = arena_joined(t->b->mem, &out, 1, NULL, 0, sizeof out);
    return back_add_step(t->b, &s);
}

/* A result of the body, by a call of its own: what it is may be an input of the body, or a value from around it. */
static void give(turning *t, const char *value, const type *is)
{
    const char *out = add_port(t, t->body->output, &t->body->n_output, "next", is);
    call(t, "Identity", 1, (const char *[]){value}, out);
}

static void add_attribute(turning *t, const char *name, int n, const int64_t *v)
{
    t->attr[t->n_attr++] = n < 0 ? attr_int(name, *v) : attr_ints(name, n, v);
}

static void put_in(turning *t, const char *name)
{
    t->in[t->n_in++] = name;
}

/* ---- what goes in ---- */
static const char *number_rows(turning *t) /* 0, 1, 2, ... */
{
    const type is = {.dtype = TS_I64, .rank = 1, .dim = {t->f.trips}};
    int64_t *v = arena_array(t->b->mem, (size_t)t->f.trips + 1, sizeof *v);
    for (int64_t i = 0; i < t->f.trips; i++)
        v[i] = i;
    return back_add_value(t->b, &is, v);
}

/* The call's operands and the body's inputs; bound: what stands for each operand within, and for the number. */
static void take_in(turning *t, const char **bound)
{
    const node *n = t->n;
    const scan_form *f = &t->f;
    const unsigned char no = 0, yes = 1;
    ts_port *in = t->body->input;
    int *count = &t->body->n_input;
    if (t->loop) {
        put_in(t, back_add_value(t->b, &whole_type, &f->trips));
        put_in(t, back_add_value(t->b, &truth_type, &yes));
        bound[n->n_in] = add_port(t, in, count, "number", &whole_type);
        add_port(t, in, count, "more", &truth_type);
    }
    if (t->done)
        put_in(t, back_add_value(t->b, &truth_type, &no)), t->was = add_port(t, in, count, "done", &truth_type);
    for (int i = 0; i < n->n_in; i++) {
        const char *name = t->b->name[n->in[i]->id];
        const type row = n->in[i]->type.rank ? trip_row(&n->in[i]->type) : n->in[i]->type;
        bound[i] = name;
        if (i < f->n_state)
            put_in(t, name), bound[i] = add_port(t, in, count, "state", &n->in[i]->type);
        else if (i < f->n_state + f->n_slice && !t->loop)
            put_in(t, name), bound[i] = add_port(t, in, count, "row", &row);
    }
    if (t->counted)
        put_in(t, number_rows(t)), bound[n->n_in] = add_port(t, in, count, "number", &whole_type);
}

/* ---- the body ---- */
/* Rows of a Loop's slices */
static void take_rows(turning *t, const char **bound)
{
    const scan_form *f = &t->f;
    const int64_t last = f->trips - 1;
    const char *number = bound[t->n->n_in], *behind = NULL;
    for (int i = 0; i < f->n_slice; i++) {
        if (f->slice[i] && !behind)
            behind = call(t, "Sub", 2, (const char *[]){back_add_value(t->b, &whole_type, &last), number}, NULL);
        const char **at = &bound[f->n_state + i];
        *at = call(t, "Gather", 2, (const char *[]){*at, f->slice[i] ? behind : number}, NULL);
    }
}

static bool add_inside(turning *t, const node *x, const char *const *bound, err *e)
{
    if (!x->leaf)
        return back_node(t->b, x, e);
    t->b->name[x->id] = x->leaf->bound ? bound[trip_operand(x)] : back_add_value(t->b, &x->type, x->leaf->data);
    return true;
}

static bool add_nodes(turning *t, const char *const *bound, err *e)
{
    const scan_trip *trip = t->n->trip;
    const int n = g_reach(trip->n_root, trip->root, NULL);
    const node **need = arena_array(t->b->mem, (size_t)n + 1, sizeof *need);
    const char **around = t->b->name;
    bool ok = true;
    g_reach(trip->n_root, trip->root, need);
    t->b->name = arena_array(t->b->mem, n ? (size_t)need[n - 1]->id + 1 : 1, sizeof *t->b->name);
    for (int i = 0; i < n && ok; i++)
        ok = add_inside(t, need[i], bound, e);
    for (int i = 0; i < trip->n_root && ok; i++)
        t->root[i] = t->b->name[trip->root[i]->id];
    t->b->name = around;
    return ok;
}

static void take_out(turning *t, const char *const *bound)
{
    const scan_form *f = &t->f;
    const scan_trip *trip = t->n->trip;
    const char *last = f->until ? t->root[trip->n_root - 1] : NULL;
    const unsigned char yes = 1;
    if (t->loop)
        give(t, last ? call(t, "Not", 1, (const char *[]){last}, NULL) : back_add_value(t->b, &truth_type, &yes),
             &truth_type);
    if (t->done)
        give(t, call(t, "Or", 2, (const char *[]){t->was, last}, NULL), &truth_type);
    for (int i = 0; i < f->n_state + f->n_row; i++) {
        const type scalar = {.dtype = trip->root[i]->type.dtype};
        const double zero = 0; /* all of whose bytes are 0, of every dtype */
        const char *value = t->root[i];
        if (t->done) {
            const char *instead = i < f->n_state ? bound[i] : back_add_value(t->b, &scalar, &zero);
            value = call(t, "Where", 3, (const char *[]){t->was, instead, value}, NULL);
        }
        give(t, value, &trip->root[i]->type);
    }
}

static bool make_body(turning *t, const char **bound, err *e)
{
    back *b = t->b;
    const back around = *b;
    b->made.step = NULL, b->made.n_step = b->cap_step = 0;
    if (t->loop)
        take_rows(t, bound);
    const bool ok = add_nodes(t, bound, e);
    if (ok)
        take_out(t, bound);
    t->body->step = b->made.step, t->body->n_step = b->made.n_step;
    b->made.step = around.made.step, b->made.n_step = around.made.n_step, b->cap_step = around.cap_step;
    return ok;
}

/* ---- what comes out ---- */
/* Rows that are gathered every so many trips, of all: the last trip that leaves one there. */
static const char *thinned(turning *t, int row, const char *all)
{
    const int64_t rows = scan_rows(&t->f, row), every = t->f.every[row];
    const type is = {.dtype = TS_I64, .rank = 1, .dim = {rows}};
    int64_t *at = arena_array(t->b->mem, (size_t)rows + 1, sizeof *at);
    for (int64_t i = 0; i < rows; i++)
        at[i] = i * every < t->f.trips ? i * every : t->f.trips - 1;
    return call(t, "Gather", 2, (const char *[]){all, back_add_value(t->b, &is, at)}, NULL);
}

static void put_call(turning *t)
{
    const scan_form *f = &t->f;
    const int n = f->n_state + f->n_row + t->done;
    const int64_t slices = f->n_slice + t->counted;
    back_outputs *o = arena_get(t->b->mem, sizeof *o);
    const int64_t *back_in = arena_joined(t->b->mem, f->slice, f->n_slice, NULL, t->counted, sizeof *back_in);
    const char **out = arena_array(t->b->mem, (size_t)n + 1, sizeof *out);
    for (int i = 0; i < n; i++)
        out[i] = back_new_name(t->b, "step");
    if (!t->loop) {
        add_attribute(t, "num_scan_inputs", -1, &slices);
        add_attribute(t, "scan_input_directions", (int)slices, back_in);
        if (f->n_row)
            add_attribute(t, "scan_output_directions", f->n_row, f->row);
    }
    t->attr[t->n_attr++] = (attr){.name = "body", .kind = 'g'};
    back_add_step(t->b, &(step){.type = t->loop ? "Loop" : "Scan",
                                .n_in = t->n_in,
                                .in = t->in,
                                .n_out = n,
                                .out = out,
                                .n_attr = t->n_attr,
                                .attr = t->attr,
                                .n_body = 1,
                                .body = t->body});
    *o = (back_outputs){t->n, arena_array(t->b->mem, (size_t)n + 1, sizeof *o->name), t->b->outputs};
    for (int i = 0; i < f->n_state + f->n_row; i++) {
        o->name[i] = out[i + t->done];
        if (i >= f->n_state && f->every && f->every[i - f->n_state] > 1)
            o->name[i] = thinned(t, i - f->n_state, o->name[i]);
    }
    t->b->outputs = o;
}

static bool reads_number(const node *n)
{
    const scan_trip *t = n->trip;
    int count;
    ENDED_BY(heap_free) const node **need = g_reached_make(t->n_root, t->root, &count);
    bool found = false;
    for (int i = 0; i < count; i++)
        found = found || (need[i]->leaf && need[i]->leaf->bound && trip_operand(need[i]) == n->n_in);
    return found;
}

static bool any(int n, const int64_t *v)
{
    int i = 0;
    while (i < n && !v[i])
        i++;
    return i < n;
}

bool back_scan(back *b, const node *n, err *e)
{
    arena *mem = b->mem;
    turning t = {.b = b, .n = n, .f = scan_form_of(n), .body = arena_get(mem, sizeof *t.body)};
    const size_t most = (size_t)n->n_in + (size_t)n->trip->n_root + 4;
    t.done = t.f.until && t.f.n_row;
    t.loop = !t.done && (t.f.until || (!t.f.n_slice && !any(t.f.n_row, t.f.row)));
    t.counted = !t.loop && (!t.f.n_slice || reads_number(n)); /* a Scan takes its trips from its rows */
    t.in = arena_array(mem, most, sizeof *t.in), t.attr = arena_array(mem, 4, sizeof *t.attr);
    t.body->input = arena_array(mem, most, sizeof *t.body->input);
    t.body->output = arena_array(mem, most, sizeof *t.body->output);
    t.root = arena_array(mem, most, sizeof *t.root);
    const char **bound = arena_array(mem, most, sizeof *bound);
    take_in(&t, bound);
    if (!make_body(&t, bound, e))
        return err_in(e, "a trip of %s", n->op->name);
    put_call(&t);
    b->name[n->id] = b->outputs->name[0];
    return true;
}

bool back_output(back *b, const node *n)
{
    int index;
    const node *of = custom_call(n, &index);
    const back_outputs *o = b->outputs;
    while (o && o->n != of)
        o = o->next;
    if (!of || !o)
        return false;
    b->name[n->id] = o->name[index];
    return true;
}
