/* program.c - building a plan's program, running it, reading its values. */
#include "backends/cuda/program.h"
#include "backends/cuda/maps.h"
#include "backends/cuda/pinned.h"
#include "backends/cuda/target.h"
#include "backends/emit/runtime/device_trips.h"
#include "backends/emit/tables.h"
#include "backends/outside.h"
#include "schedule/passes/launches.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 256 };        /* bytes, as cuMemAlloc aligns */
enum { RECORDED = 1 << 14 }; /* launches and copies of a graph of trips, at most */

struct program {
    const plan *p;
    device on;
    cuda_texts texts;
    images code;
    device_tables tables;
    launch *launch; /* by number of the kernel; of scans and copies none */
    cu_exec graph;  /* of all kernels; NULL where the host walks the trips of scans */
    weights weights;
    cu_address *leaf;    /* by leaf of the plan */
    int64_t *input_at;   /* by input: where it lies among all of them */
    int64_t input_bytes; /* of all, with the extents of the run behind them */
    int64_t sizes_at;    /* where these begin */
    cu_address arena, leaves, inputs, counts, spill, fault;
    char *staging;  /* pinned: all inputs as the device has them */
    int *faults;    /* pinned: by kernel, what it wrote there; behind these whether a trip was the last one */
    pinned *pieces; /* by way of which all else goes: weights, results, values of other devices */
    char *mirror;   /* the arena, as far as it was looked at */
    bool ended;     /* the last kernel was launched: what it wrote is to be taken back */
    bool *written;  /* by input: kernels write it */
    void **input;   /* of the last run */
};

void cuda_free(program *g)
{
    err none = {0};
    if (!g)
        return;
    if (g->on.context && device_enter(&g->on, &none)) {
        if (g->graph)
            g->on.cu.exec_free(g->graph);
        images_free(&g->code, &g->on);
        device_memory_free(&g->on, &g->arena), device_memory_free(&g->on, &g->leaves),
            device_memory_free(&g->on, &g->inputs);
        device_memory_free(&g->on, &g->spill), device_memory_free(&g->on, &g->fault),
            device_memory_free(&g->on, &g->counts);
        device_unpin(&g->on, (void **)&g->staging), device_unpin(&g->on, (void **)&g->faults);
        pinned_free(g->pieces);
    }
    device_close(&g->on);
    for (int k = 0; g->launch && k < g->texts.n_kernel; k++)
        free(g->launch[k].argument), free(g->launch[k].map);
    weights_free(&g->weights);
    cuda_texts_free(&g->texts), device_tables_free(&g->tables);
    free(g->launch), free(g->leaf), free(g->input_at), free(g->mirror), free(g->written), free(g->input);
    free(g);
}

/* ---- memory ---- */
static int64_t aligned(int64_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static int64_t leaf_bytes(const packed *w)
{
    int64_t n;
    return int_mul(w->layout.size, ts_dtype_bytes(w->node->type.dtype), &n) ? n : INT64_MAX / 2;
}

static void place_all(program *g, int64_t *leaves, int64_t *spill)
{
    const plan *p = g->p;
    *leaves = *spill = 0;
    for (int i = 0; i < p->n_leaf; i++)
        g->leaf[i] = (cu_address)*leaves, *leaves = aligned(*leaves + leaf_bytes(&p->leaf[i]));
    for (int i = 0; i < p->n_input; i++)
        g->input_at[i] = g->input_bytes, g->input_bytes = aligned(g->input_bytes + type_bytes(&p->input[i]->type));
    g->sizes_at = g->input_bytes, g->input_bytes += p->n_variable * (int64_t)sizeof(int64_t);
    for (int k = 0; k < g->texts.n_kernel; k++) {
        const int64_t one = g->texts.kernel[k].spill * cuda_groups(p, &g->texts.kernel[k]);
        *spill = one > *spill ? one : *spill;
    }
}

static bool find_memory(program *g, err *e)
{
    const plan *p = g->p;
    const device *d = &g->on;
    const int64_t fault = 4 * ((int64_t)p->n_kernel + 1);
    int64_t leaves, spill;
    place_all(g, &leaves, &spill);
    if (!device_memory_make(d, leaves, "the weights", &g->leaves, e) ||
        !device_memory_make(d, p->arena_bytes, "the values", &g->arena, e) ||
        !device_memory_make(d, g->input_bytes, "the inputs", &g->inputs, e) ||
        !device_memory_make(d, (int64_t)g->tables.program.loops * COUNT_BYTES, "the trips' numbers", &g->counts, e) ||
        !device_memory_make(d, spill, "what kernels hold", &g->spill, e) ||
        !device_memory_make(d, fault, "the marks of kernels", &g->fault, e) ||
        !device_pin(d, g->input_bytes, (void **)&g->staging, e) || !device_pin(d, fault, (void **)&g->faults, e) ||
        !(g->pieces = pinned_make(d, int_max(leaves, p->arena_bytes), e)))
        return false;
    for (int i = 0; i < p->n_leaf; i++)
        g->leaf[i] += g->leaves;
    /* Of extents that a run says, trips read what lies behind the end: numbers, whichever these are. */
    return !p->n_variable || (device_enter(d, e) && device_clear(d, g->arena, p->arena_bytes, e) &&
                              device_wait(d, "clearing the values", e));
}

/* ---- weights ---- */
static bool upload(void *user, int which, const void *from, size_t bytes, err *e)
{
    const program *g = user;
    return device_enter(&g->on, e) && pinned_give(g->pieces, g->leaf[which], from, (int64_t)bytes, e);
}

static bool load_weights(program *g, const build_options *asked, err *e)
{
    build_options own = *asked;
    own.memory = NULL; /* it is the device's */
    const weight_host host = {.by = &backend_cuda, .asked = &own, .upload = upload, .user = g};
    return weights_load(&g->weights, g->p, &host, e) && device_enter(&g->on, e);
}

/* ---- kernels ---- */
static bool load_code(program *g, const build_options *w, image_report *report, err *e)
{
    const settings env = settings_read();
    const int n = g->texts.n_unit;
    const char **source = heap_array((size_t)n + 1, sizeof *source), **name = heap_array((size_t)n + 1, sizeof *name);
    for (int i = 0; i < n; i++)
        source[i] = g->texts.unit[i].text, name[i] = g->texts.unit[i].name;
    const image_request r = {.on = &g->on,
                             .env = &env,
                             .n = n,
                             .text = source,
                             .name = name,
                             .cache_folder = w->cache_folder,
                             .progress = w->progress,
                             .user = w->user};
    const bool ok = images_load(&g->code, &r, report, e);
    free(source), free(name);
    return ok;
}

static cu_address address_at(const program *g, device_at at)
{
    const int leaves = g->p->n_leaf, inputs = g->p->n_input;
    const cu_address piece = !at.piece                     ? g->arena
                             : at.piece <= leaves          ? g->leaf[at.piece - 1]
                             : at.piece <= leaves + inputs ? g->inputs + (cu_address)g->input_at[at.piece - 1 - leaves]
                                                           : g->counts;
    return piece + (cu_address)at.at;
}

/* outer: the kernel of the plan that faults are told of */
static bool give_arguments(const program *g, int k, int outer, const device_at *at, err *e)
{
    const kernel_text *t = &g->texts.kernel[k];
    const int n = text_operands(t);
    const launch *l = &g->launch[k];
    bool ok = true;
    for (int i = 0; i < n; i++)
        l->argument[i] = address_at(g, at[i]);
    if (t->asks)
        l->argument[n + 2] = address_at(g, at[n]);
    l->argument[n] = g->spill;
    l->argument[n + 1] = g->fault + 4 * (cu_address)outer;
    if (t->sizes)
        l->argument[n + 2 + t->asks] = g->inputs + (cu_address)g->sizes_at;
    for (int i = 0; i < t->n_box && ok; i++)
        ok = map_make(&g->on, &t->box[i].box, l->argument[t->box[i].operand], &l->map[i], e);
    return ok;
}

static bool set_launch(program *g, int k, err *e)
{
    const kernel_text *t = &g->texts.kernel[k];
    const hazards *h = &g->texts.hazards;
    const bool own = k < g->p->n_kernel; /* those of trips get their arguments at each launch */
    launch *l = &g->launch[k];
    *l = (launch){.function = g->code.function[g->texts.unit_of[k]],
                  .groups = cuda_groups(g->p, t),
                  .lanes = (unsigned)t->lanes,
                  .shared = t->scratch > SHARED_DECLARED ? (unsigned)t->scratch : 0,
                  .n = text_operands(t) + 2 + t->asks + (t->sizes != 0),
                  .argument = calloc((size_t)text_operands(t) + 4, sizeof *l->argument),
                  .n_map = t->n_box,
                  .map = aligned_alloc(_Alignof(cu_map), ((size_t)t->n_box + 1) * sizeof *l->map),
                  .n_wait = own ? h->first[k + 1] - h->first[k] : 0,
                  .wait = own ? h->wait + h->first[k] : NULL};
    device_at *at = calloc((size_t)text_operands(t) + 1, sizeof *at);
    MUST(l->argument && l->map && at);
    if (own)
        device_places(&g->tables.program, k, at);
    const bool ok = !own || give_arguments(g, k, k, at, e);
    free(at);
    return ok && launch_fits(&g->on, l, t->name, e);
}

static void find_written(program *g)
{
    for (int k = 0; k < g->p->n_kernel; k++)
        for (int i = 0; i < g->texts.kernel[k].n_operand; i++) {
            const operand *o = &g->texts.kernel[k].operand[i];
            if (o->written && g->p->buffer[o->node->id].where == IN_INPUT)
                g->written[input_of(g->p, o->node)] = true;
        }
}

/* ---- launches ---- */
typedef struct walking {
    program *g;
    err *e;
} walking;

static int launch_kernel(void *user, int k, int outer, const device_at *at)
{
    const walking *w = user;
    if (k >= w->g->p->n_kernel && !give_arguments(w->g, k, outer, at, w->e))
        return false;
    return launch_one(&w->g->on, &w->g->launch[k], w->e);
}

static int copy_here(void *user, device_at to, device_at from, long bytes)
{
    const walking *w = user;
    return device_copy_within(&w->g->on, address_at(w->g, to), address_at(w->g, from), bytes, w->e);
}

static int clear(void *user, device_at at, long bytes)
{
    const walking *w = user;
    return device_clear(&w->g->on, address_at(w->g, at), bytes, w->e);
}

static int count(void *user, device_at at, long trip)
{
    const walking *w = user;
    return device_set(&w->g->on, address_at(w->g, at), trip, w->e);
}

static int truth(void *user, device_at at, int *is)
{
    const walking *w = user;
    unsigned char *byte = (unsigned char *)&w->g->faults[w->g->p->n_kernel];
    const bool ok = device_read(&w->g->on, byte, address_at(w->g, at), 1, w->e) &&
                    device_wait(&w->g->on, "a trip of a loop", w->e);
    *is = ok && *byte;
    return ok;
}

static bool launch_span(program *g, int first, int end, err *e)
{
    walking w = {g, e};
    const device_calls calls = {&w, launch_kernel, copy_here, clear, count, truth};
    if (device_kernels(&g->tables.program, &calls, first, end))
        return true;
    return err_is(e) ? false : err_memory(e, 0, "the places of operands");
}

static bool walk_all(void *user, err *e)
{
    program *g = user;
    return launch_span(g, 0, g->p->n_kernel, e);
}

static bool set_launches(program *g, err *e)
{
    for (int k = 0; k < g->texts.n_kernel; k++) {
        const plan *p;
        if (g->texts.unit_of[k] >= 0 && !set_launch(g, k, e))
            return err_in(e, "%s", levels_kernel(&g->texts.levels, k, &p)->op);
    }
    find_written(g);
    if (!g->p->n_kernel)
        return true;
    if (!g->tables.program.walked)
        g->graph = launch_graph(&g->on, g->p->n_kernel, g->launch, e);
    else if (device_steps(&g->tables.program, RECORDED) < 0)
        return true;
    else
        g->graph = launch_record(&g->on, walk_all, g, e);
    return g->graph != NULL;
}

/* ---- building ---- */
static void tell(const program *g, const image_report *r, text *facts)
{
    json_add(facts, "device:%s,compiler:'NVRTC %d.%d',architecture:%s,driver:'%d.%d'", g->on.name, r->nvrtc / 1000,
             r->nvrtc % 1000 / 10, r->arch, g->on.cu.version / 1000, g->on.cu.version % 1000 / 10);
    json_add(facts, "units:%d,compiled:%d,cached:%d,seconds:%.6f,found:%i,notes:%s", g->texts.n_unit, r->compiled,
             r->cached, r->seconds, !r->compiled, text_str(&r->notes));
}

static bool find_tables(program *g)
{
    const int n = g->texts.n_kernel;
    emit_launch *one = heap_array((size_t)n + 1, sizeof *one);
    g->launch = heap_array((size_t)n + 1, sizeof *g->launch);
    for (int k = 0; k < n; k++)
        one[k] = (emit_launch){.text = &g->texts.kernel[k]};
    device_tables_make(&g->tables, &g->texts.levels, one);
    free(one);
    return true;
}

static bool make(program *g, const build_options *w, text *facts, err *e)
{
    image_report report = {0};
    const bool ok = cuda_device(&g->on, cuda_number(g->p->on), e) && cuda_write(g->p, &g->texts, e) &&
                    phases_done(w->phases, PHASE_TEXTS) && load_code(g, w, &report, e) &&
                    phases_done(w->phases, PHASE_COMPILER) && find_tables(g) && find_memory(g, e) &&
                    load_weights(g, w, e) && set_launches(g, e);
    if (ok)
        tell(g, &report, facts);
    image_report_free(&report);
    return ok;
}

program *cuda_build(const plan *p, const build_options *w, text *facts, err *e)
{
    program *g = heap_array(1, sizeof *g);
    g->p = p;
    g->leaf = calloc((size_t)p->n_leaf + 1, sizeof *g->leaf);
    g->input_at = calloc((size_t)p->n_input + 1, sizeof *g->input_at);
    g->written = calloc((size_t)p->n_input + 1, sizeof *g->written);
    g->input = calloc((size_t)p->n_input + 1, sizeof *g->input);
    g->mirror = calloc((size_t)p->arena_bytes + 1, 1);
    MUST(g->leaf && g->input_at && g->written && g->input);
    if (!g->mirror)
        return err_memory(e, (size_t)p->arena_bytes + 1, "a look at values"), cuda_free(g), NULL;
    if (make(g, w, facts, e))
        return g;
    cuda_free(g);
    return NULL;
}

/* ---- running ---- */
static bool send(program *g, void *const *input, err *e)
{
    const plan *p = g->p;
    if (!device_enter(&g->on, e))
        return false;
    memcpy(g->input, input, (size_t)p->n_input * sizeof *input);
    for (int i = 0; i < p->n_input; i++)
        memcpy(g->staging + g->input_at[i], input[i], (size_t)type_bytes(&p->input[i]->type));
    if (p->n_variable)
        memcpy(g->staging + g->sizes_at, input[p->n_input], (size_t)p->n_variable * sizeof(int64_t));
    return device_write(&g->on, g->inputs, g->staging, g->input_bytes, e) &&
           device_clear(&g->on, g->fault, 4 * (int64_t)p->n_kernel, e);
}

static bool check_faults(const program *g, void *const *input, err *e)
{
    for (int k = 0; k < g->p->n_kernel; k++)
        if (g->faults[k])
            return outside_kernel(g->p, &g->p->kernel[k], input, e);
    return true;
}

/* Inputs that were written go back to where they came from, once no index led outside. */
static bool receive(program *g, void *const *input, err *e)
{
    const plan *p = g->p;
    bool any = false;
    if (!device_read(&g->on, g->faults, g->fault, 4 * (int64_t)p->n_kernel, e) || !device_wait(&g->on, "a run", e) ||
        !check_faults(g, input, e))
        return false;
    for (int i = 0; i < p->n_input; i++)
        if (g->written[i]) {
            any = true;
            if (!device_read(&g->on, g->staging + g->input_at[i], g->inputs + (cu_address)g->input_at[i],
                             type_bytes(&p->input[i]->type), e))
                return false;
        }
    if (any && !device_wait(&g->on, "a copy of what was written", e))
        return false;
    for (int i = 0; i < p->n_input; i++)
        if (g->written[i])
            memcpy(input[i], g->staging + g->input_at[i], (size_t)type_bytes(&p->input[i]->type));
    return true;
}

bool cuda_run(program *g, void *const *input, err *e)
{
    return send(g, input, e) && (g->graph ? launch_all(&g->on, g->graph, e) : launch_span(g, 0, g->p->n_kernel, e)) &&
           receive(g, input, e);
}

bool cuda_each(program *g, void *const *input, void (*after)(void *user, int kernel), void *user, err *e)
{
    if (!send(g, input, e))
        return false;
    for (int k = 0; k < g->p->n_kernel; k++) {
        if (!launch_span(g, k, k + 1, e) || !device_wait(&g->on, g->p->kernel[k].name, e))
            return false;
        launches_each(g->p, k, after, user);
    }
    return receive(g, input, e);
}

/* An event before the first kernel and one behind each, all under way before the host waits. */
static bool record_all(program *g, cu_event *event, err *e)
{
    const device *d = &g->on;
    const int n = g->p->n_kernel;
    bool ok = true;
    for (int k = 0; k <= n && ok; k++)
        ok = device_did(d, d->cu.event_make(&event[k], 0), "making an event", e);
    for (int k = 0; k <= n && ok; k++)
        ok = (!k || launch_span(g, k - 1, k, e)) &&
             device_did(d, d->cu.event_record(event[k], d->stream), "marking the time of a kernel", e);
    return ok;
}

bool cuda_time(program *g, void *const *input, double *seconds, err *e)
{
    const device *d = &g->on;
    const int n = g->p->n_kernel;
    cu_event *event = calloc((size_t)n + 1, sizeof *event);
    float ms = 0;
    MUST(event);
    bool ok = send(g, input, e) && record_all(g, event, e) && receive(g, input, e);
    for (int k = 0; k < n && ok; k++) {
        ok = device_did(d, d->cu.event_between(&ms, event[k], event[k + 1]), "reading the time of a kernel", e);
        seconds[k] = 1e-3 * (double)ms;
    }
    launches_share(g->p, seconds);
    for (int k = 0; k <= n; k++)
        if (event[k])
            d->cu.event_free(event[k]);
    free(event);
    return ok;
}

/* ---- as a part of a plan over several devices ---- */
bool cuda_span(program *g, void *const *input, int first, int end, err *e)
{
    if (!device_enter(&g->on, e) || (first == 0 && !send(g, input, e)))
        return false;
    if (!launch_span(g, first, end, e))
        return false;
    g->ended = end == g->p->n_kernel;
    return true;
}

bool cuda_wait(program *g, err *e)
{
    if (!device_enter(&g->on, e))
        return false;
    return g->ended ? receive(g, g->input, e) : device_wait(&g->on, "a part of a run", e);
}

static int64_t plain_bytes(const program *g, const node *n)
{
    return type_count(&n->type) * ts_dtype_bytes(stored_as(g->p, n));
}

static cu_address place_of(const program *g, const node *n)
{
    return g->arena + (cu_address)g->p->buffer[n->id].offset;
}

bool cuda_put(program *g, const node *n, const void *from, err *e)
{
    return device_enter(&g->on, e) && pinned_give(g->pieces, place_of(g, n), from, plain_bytes(g, n), e);
}

bool cuda_fetch(program *g, const node *n, void *to, err *e)
{
    return device_enter(&g->on, e) &&
           pinned_take(g->pieces, to, place_of(g, n), plain_bytes(g, n), "a copy of a value", e);
}

/* ---- values ---- */
const void *cuda_at(const program *g, const node *n, dtype *stored)
{
    err none = {0};
    const buffer *h = &g->p->buffer[n->id];
    *stored = stored_as(g->p, n);
    return device_enter(&g->on, &none) &&
                   pinned_take(g->pieces, g->mirror + h->offset, place_of(g, n), h->bytes, "a copy of a value", &none)
               ? g->mirror + h->offset
               : NULL;
}

static bool take_result(const program *g, const node *n, void *to, int64_t bytes, err *e)
{
    return device_enter(&g->on, e) && pinned_take(g->pieces, to, place_of(g, n), bytes, "a copy of a result", e);
}

bool cuda_get(program *g, int root, ts_array *out, err *e)
{
    const node *n = g->p->root[root];
    const int64_t count = type_count(&n->type);
    if (n->leaf)
        return leaf_read(n, out->data, 0, count), true;
    if (stored_as(g->p, n) == n->type.dtype)
        return take_result(g, n, out->data, type_bytes(&n->type), e);
    double *wide = heap_array((size_t)count + 1, sizeof *wide);
    const bool ok = take_result(g, n, wide, 8 * count, e);
    for (int64_t i = 0; i < count && ok; i++)
        store_real(n->type.dtype, out->data, i, wide[i]);
    free(wide);
    return ok;
}
