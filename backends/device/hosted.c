/* hosted.c - building a plan's program on a device, running it, reading its values. */
#include "backends/device/hosted.h"
#include "graph/eval/eval.h"
#include "backends/outside.h"
#include "schedule/passes/launches.h"

#include <stdlib.h>
#include <string.h>

bool hosted_failed(device *d, err *e)
{
    err_set(e, d->said.what == DEVICE_NO_MEMORY ? TS_MEMORY : TS_DEVICE, "%s", d->said.text);
    if (d->said.hint[0])
        err_hint(e, "%s", d->said.hint);
    d->said = (device_said){0};
    return false;
}

static bool done(const program *g, int ok, err *e)
{
    return ok || hosted_failed(g->on, e);
}

/* ---- building ---- */
void hosted_drop(program *g)
{
    if (!g)
        return;
    if (g->on && g->code)
        g->of->unload(g);
    device_drop(g->on);
    weights_free(&g->weights);
    device_tables_free(&g->tables), device_texts_free(&g->texts);
    free(g->held.send), free(g->held.newer), free(g->held.moved), free(g->placed), free(g->seen), free(g);
}

/* Settled here, because the weights' own copy may go as soon as this returns. */
static bool upload(void *user, int which, const void *from, size_t bytes, err *e)
{
    const program *g = user;
    device *d = g->on;
    return done(g,
                d->by->enter(d) &&
                    device_give(d, (device_at){device_leaf(which), 0}, from, (long)bytes, "a copy of a weight") &&
                    (d->pinned || d->by->wait(d, "a copy of a weight")),
                e);
}

static bool load_weights(program *g, const build_options *asked, err *e)
{
    build_options own = *asked;
    own.memory = NULL; /* it is the device's */
    const weight_host host = {.by = g->of->by, .asked = &own, .upload = upload, .user = g};
    return weights_load(&g->weights, g->p, &host, e) && done(g, g->on->by->enter(g->on), e);
}

static int64_t most_bytes(const program *g) /* of what is copied at once */
{
    const device_program *p = &g->tables.program;
    int64_t most = p->arena;
    for (int i = 0; i < p->inputs; i++)
        most = int_max(most, p->input[i].bytes);
    for (int i = 0; i < p->leaves; i++)
        most = int_max(most, p->leaf[i].bytes);
    return most;
}

static bool make(program *g, const build_options *w, text *facts, err *e)
{
    if (!g->of->write(g->p, &g->texts, e) || !phases_done(w->phases, PHASE_TEXTS) || !(g->on = g->of->open(g->p, e)))
        return false;
    device_tables_make(&g->tables, &g->texts, &g->of->launching, NULL);
    g->on->program = &g->tables.program;
    return phases_done(w->phases, PHASE_LOAD) && g->of->load(g, w, facts, e) &&
           phases_done(w->phases, PHASE_COMPILER) &&
           done(g, device_room(g->on, &g->tables.program, most_bytes(g)), e) && load_weights(g, w, e) &&
           done(g, g->on->by->ready(g->on), e);
}

program *hosted_build(const hosted *of, const plan *p, const build_options *w, text *facts, err *e)
{
    program *g = heap_array(1, sizeof *g);
    g->p = p, g->of = of;
    if (make(g, w, facts, e))
        return g;
    return hosted_drop(g), NULL;
}

/* ---- inputs ---- */
static held_inputs *hold(program *g)
{
    const size_t n = (size_t)g->p->n_input + 1;
    g->held = (held_inputs){heap_array(n, 1), heap_array(n, 1), heap_array((size_t)g->p->n_carried + 1, 1)};
    memset(g->held.send, 1, n);
    return &g->held;
}

static bool bring(program *g, int input, void *to, err *e)
{
    device *d = g->on;
    g->held.newer[input] = g->placed && g->placed[input]; /* others write there, too */
    return done(g,
                d->by->enter(d) && device_take(d, to, (device_at){device_input(d->program, input), 0},
                                               d->program->input[input].bytes, "a copy of what was written"),
                e);
}

const by_input hosted_inputs = {.hold = hold, .bring = bring};

/* States that could not be written where the old ones are, because those were still read */
static int move_states(program *g)
{
    const plan *p = g->p;
    device *d = g->on;
    int ok = 1;
    for (int i = 0; i < p->n_carried && ok; i++) {
        const node *n = p->root[p->carried[i].root];
        const buffer *h = &p->buffer[n->id];
        const device_at to = {device_input(d->program, p->carried[i].input), 0};
        if (n->leaf || h->where != IN_ARENA || stored_as(p, n) != n->type.dtype)
            continue;
        ok = d->by->copy(d, to, (device_at){0, h->offset}, (long)type_bytes(&n->type));
        g->held.moved[i] = g->held.newer[p->carried[i].input] = 1;
    }
    return ok;
}

/* Of a run that is done; what is lent lies here at all times. */
static void note_states(program *g)
{
    const device_program *p = g->on->program;
    memset(g->held.send, 0, (size_t)p->inputs);
    for (int i = 0; i < p->inputs; i++)
        g->held.newer[i] = !g->on->lent[i] && (g->held.newer[i] || p->input[i].written || (g->placed && g->placed[i]));
}

/* ---- running ---- */
static bool send(program *g, void *const *input, err *e)
{
    const bool displaced = g->displaced;
    g->given = input, g->ended = false, g->displaced = false;
    return done(g,
                g->on->by->enter(g->on) && (!displaced || g->on->by->ready(g->on)) &&
                    device_send(g->on, input, g->held.send),
                e);
}

/* Where an index led outside, inputs that it may come from are looked at here. */
static bool told_outside(program *g, err *e)
{
    bool ok = true;
    for (int i = 0; i < g->p->n_input && ok; i++)
        ok = !g->held.newer || !g->held.newer[i] || bring(g, i, g->given[i], e);
    return ok && outside_kernel(g->p, &g->p->kernel[g->on->fault - 1], g->given, e);
}

/* The device knows which kernel, the interpreter finds where: outside_kernel says the tensor, the place and its bound.
 * Inputs that were written go back to where they came from, once no index led outside, but for those that are held. */
static bool receive(program *g, err *e)
{
    device *d = g->on;
    g->ended = false;
    if (!done(g, (!g->held.send || move_states(g)) && device_end(d) && device_receive(d, g->given, !g->held.send), e))
        return false;
    if (g->held.send)
        note_states(g);
    return !d->fault || told_outside(g, e);
}

bool hosted_run(program *g, void *const *input, err *e)
{
    const bool ok = send(g, input, e) && done(g, device_start(g->on), e);
    return receive(g, ok ? e : NULL) && ok;
}

/* Waits behind every kernel, so times of the host contain a launch and a wait; `time` asks the device instead. */
static bool each(program *g, void *const *input, void (*after)(void *user, int kernel), void *user, err *e)
{
    bool ok = send(g, input, e) && done(g, g->on->by->wait(g->on, "a copy to the device"), e);
    for (int k = 0; ok && k < g->p->n_kernel; k++) {
        ok = done(g, device_kernels(g->on, k, k + 1) && g->on->by->wait(g->on, g->p->kernel[k].name), e);
        if (ok)
            launches_each(g->p, k, after, user);
    }
    return receive(g, ok ? e : NULL) && ok;
}

/* All kernels are under way before the host waits. */
static bool time_all(program *g, void *const *input, double *seconds, err *e)
{
    const hosted *of = g->of;
    device *d = g->on;
    const int n = g->p->n_kernel;
    bool ok = send(g, input, e);
    void *times = ok ? of->time_begin(d, n) : NULL;
    ok = ok && done(g, times != NULL, e);
    for (int k = 0; k <= n && ok; k++)
        ok = done(g, of->time_mark(d, times, k) && (k == n || device_kernels(d, k, k + 1)), e);
    ok = receive(g, ok ? e : NULL) && ok && done(g, of->time_read(d, times, n, seconds), e);
    if (ok)
        launches_share(g->p, seconds);
    if (times)
        of->time_end(d, times, n);
    return ok;
}

const by_kernel hosted_kernels = {.each = each, .time = time_all};

/* ---- as a part of a plan over several devices ---- */
static bool span(program *g, void *const *input, int first, int end, err *e)
{
    if (first == 0 && !send(g, input, e))
        return false;
    const bool ok = done(g, g->on->by->enter(g->on) && device_kernels(g->on, first, end), e);
    g->ended = ok && end == g->p->n_kernel;
    return ok;
}

static bool wait(program *g, err *e)
{
    device *d = g->on;
    return done(g, d->by->enter(d), e) && (g->ended ? receive(g, e) : done(g, d->by->wait(d, "a part of a run"), e));
}

static device_at place_of(const program *g, const node *n)
{
    return (device_at){0, g->p->buffer[n->id].offset};
}

static bool take(const program *g, const node *n, void *to, int64_t bytes, const char *doing, err *e)
{
    return done(g, g->on->by->enter(g->on) && device_take(g->on, to, place_of(g, n), bytes, doing), e);
}

static int64_t plain_bytes(const program *g, const node *n)
{
    return type_count(&n->type) * ts_dtype_bytes(stored_as(g->p, n));
}

static bool put(program *g, const node *n, const void *from, err *e)
{
    device *d = g->on;
    return done(g,
                d->by->enter(d) && device_give(d, place_of(g, n), from, plain_bytes(g, n), "a copy of a value") &&
                    (d->pinned || d->by->wait(d, "a copy of a value")),
                e);
}

static bool fetch(program *g, const node *n, void *to, err *e)
{
    return take(g, n, to, plain_bytes(g, n), "a copy of a value", e);
}

static bool carry(program *g, const node *n, program *of, bool *direct, err *e)
{
    device *d = g->on, *from = of->on;
    *direct = d->by == from->by && d->by->between;
    return !*direct ||
           (done(of, from->by->enter(from) && from->by->wait(from, "a copy of a value"), e) &&
            done(g, d->by->enter(d) && d->by->between(d, place_of(g, n), from, place_of(of, n), plain_bytes(g, n)), e));
}

const by_span hosted_spans = {.span = span, .put = put, .fetch = fetch, .carry = carry, .wait = wait};

/* ---- values ---- */
const void *hosted_at(const program *g, const node *n, dtype *stored)
{
    program *own = (program *)(uintptr_t)g; /* what was looked at last is no part of what the program is */
    const size_t bytes = (size_t)g->p->buffer[n->id].bytes;
    err none = {0};
    *stored = stored_as(g->p, n);
    if (bytes > g->seen_bytes) {
        own->seen = realloc(own->seen, own->seen_bytes = bytes);
        MUST(own->seen);
    }
    return take(g, n, own->seen, (int64_t)bytes, "a copy of a value", &none) ? g->seen : NULL;
}

/* Plans that judge hold f64, rounded here to what the graph says. */
bool hosted_get(program *g, int root, ts_array *out, err *e)
{
    static const char doing[] = "a copy of a result";
    const node *n = g->p->root[root];
    const int64_t count = type_count(&n->type);
    if (n->leaf)
        return leaf_read(n, out->data, 0, count), true;
    if (stored_as(g->p, n) == n->type.dtype)
        return take(g, n, out->data, type_bytes(&n->type), doing, e);
    ENDED_BY(heap_free) double *wide = heap_array((size_t)count + 1, sizeof *wide);
    const bool ok = take(g, n, wide, 8 * count, doing, e);
    for (int64_t i = 0; i < count && ok; i++)
        store_real(n->type.dtype, out->data, i, wide[i]);
    return ok;
}
