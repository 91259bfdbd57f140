/* program.c - building a plan's program, running it, reading its values. */
#include "backends/cuda/program.h"
#include "backends/cuda/target.h"
#include "backends/outside.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 256 };

struct program {
    const plan *p;
    device on;
    cuda_texts texts;
    images code;
    launch *launch;
    cu_exec graph;
    weights weights;
    cu_address *leaf;    /* by leaf of the plan */
    int64_t *input_at;   /* by input: where it lies among all of them */
    int64_t input_bytes; /* of all */
    cu_address arena, leaves, inputs, spill, fault;
    char *staging; /* pinned: all inputs as the device has them */
    int *faults;   /* pinned: by kernel, what it wrote there */
    char *mirror;  /* the arena, as far as it was looked at */
    bool ended;    /* the last kernel was launched: what it wrote is to be taken back */
    bool *written; /* by input: kernels write it */
    void **input;  /* of the last run */
};

void cuda_drop(program *g)
{
    err none = {0};
    if (!g)
        return;
    if (g->on.context && device_enter(&g->on, &none)) {
        if (g->graph)
            g->on.cu.exec_free(g->graph);
        images_free(&g->code, &g->on);
        device_release(&g->on, &g->arena), device_release(&g->on, &g->leaves), device_release(&g->on, &g->inputs);
        device_release(&g->on, &g->spill), device_release(&g->on, &g->fault);
        device_unpin(&g->on, (void **)&g->staging), device_unpin(&g->on, (void **)&g->faults);
    }
    device_close(&g->on);
    for (int k = 0; g->launch && k < g->p->n_kernel; k++)
        free(g->launch[k].argument);
    weights_free(&g->weights);
    cuda_texts_free(&g->texts);
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
    for (int k = 0; k < p->n_kernel; k++) {
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
    if (!device_alloc(d, leaves, "the weights", &g->leaves, e) ||
        !device_alloc(d, p->arena_bytes, "the values", &g->arena, e) ||
        !device_alloc(d, g->input_bytes, "the inputs", &g->inputs, e) ||
        !device_alloc(d, spill, "what kernels hold", &g->spill, e) ||
        !device_alloc(d, fault, "the marks of kernels", &g->fault, e) ||
        !device_pin(d, g->input_bytes, (void **)&g->staging, e) || !device_pin(d, fault, (void **)&g->faults, e))
        return false;
    for (int i = 0; i < p->n_leaf; i++)
        g->leaf[i] += g->leaves;
    return true;
}

/* ---- weights ---- */
static bool spread(void *user, weight_work *work, void *arg, err *e)
{
    (void)user, (void)e;
    work(arg, 0, 1);
    return true;
}

static bool upload(void *user, int which, const void *from, size_t bytes, err *e)
{
    const program *g = user;
    return device_enter(&g->on, e) && device_write(&g->on, g->leaf[which], from, (int64_t)bytes, e) &&
           device_wait(&g->on, "a copy of a weight", e);
}

static bool load_weights(program *g, const build_options *asked, err *e)
{
    build_options own = *asked;
    own.memory = NULL; /* it is the device's */
    const weight_host host = {.by = &backend_cuda, .asked = &own, .spread = spread, .upload = upload, .user = g};
    return weights_load(&g->weights, g->p, &host, e) && device_enter(&g->on, e);
}

/* ---- kernels ---- */
static bool load_code(program *g, const build_options *w, image_report *report, err *e)
{
    const settings env = settings_read();
    const int n = g->texts.n_unit;
    const char **source = calloc((size_t)n + 1, sizeof *source), **name = calloc((size_t)n + 1, sizeof *name);
    MUST(source && name);
    for (int i = 0; i < n; i++)
        source[i] = g->texts.unit[i].text, name[i] = g->texts.unit[i].name;
    const image_request r = {.on = &g->on,
                             .env = &env,
                             .n = n,
                             .text = source,
                             .name = name,
                             .cache_dir = w->cache_dir,
                             .progress = w->progress,
                             .user = w->user};
    const bool ok = images_load(&g->code, &r, report, e);
    free(source), free(name);
    return ok;
}

static cu_address address_of(program *g, const operand *o)
{
    const plan *p = g->p;
    const buffer *h = &p->buffer[o->node->id];
    if (o->leaf >= 0)
        return g->leaf[o->leaf];
    if (h->where == IN_ARENA)
        return g->arena + (cu_address)h->offset;
    const int i = input_of(p, o->node);
    g->written[i] = g->written[i] || o->written;
    return g->inputs + (cu_address)g->input_at[i];
}

static bool set_launch(program *g, int k, err *e)
{
    const kernel_text *t = &g->texts.kernel[k];
    const hazards *h = &g->texts.hazards;
    launch *l = &g->launch[k];
    *l = (launch){.function = g->code.function[g->texts.unit_of[k]],
                  .groups = cuda_groups(g->p, t),
                  .lanes = (unsigned)t->lanes,
                  .shared = t->scratch > SHARED_DECLARED ? (unsigned)t->scratch : 0,
                  .n = t->n_operand + 2,
                  .argument = calloc((size_t)t->n_operand + 2, sizeof *l->argument),
                  .n_wait = h->first[k + 1] - h->first[k],
                  .wait = h->wait + h->first[k]};
    MUST(l->argument);
    for (int i = 0; i < t->n_operand; i++)
        l->argument[i] = address_of(g, &t->operand[i]);
    l->argument[t->n_operand] = g->spill;
    l->argument[t->n_operand + 1] = g->fault + 4 * (cu_address)k;
    return launch_fits(&g->on, l, t->name, e);
}

static bool set_launches(program *g, err *e)
{
    const plan *p = g->p;
    for (int k = 0; k < p->n_kernel; k++)
        if (!set_launch(g, k, e))
            return err_in(e, "%s", p->kernel[k].op);
    return !p->n_kernel || (g->graph = launch_graph(&g->on, p->n_kernel, g->launch, e));
}

/* ---- building ---- */
static void tell(const program *g, const image_report *r, text *facts)
{
    text_add(facts, "\"device\":"), text_json(facts, g->on.name);
    text_add(facts, ",\"compiler\":\"NVRTC %d.%d\",\"architecture\":\"%s\",\"driver\":\"%d.%d\"", r->nvrtc / 1000,
             r->nvrtc % 1000 / 10, r->arch, g->on.cu.version / 1000, g->on.cu.version % 1000 / 10);
    text_add(facts,
             ",\"units\":%d,\"compiled\":%d,\"cached\":%d,\"seconds\":%.6f,\"found\":%s,\"notes\":", g->texts.n_unit,
             r->compiled, r->cached, r->seconds, r->compiled ? "false" : "true");
    text_json(facts, text_str(&r->notes));
}

static bool make(program *g, const build_options *w, text *facts, err *e)
{
    image_report report = {0};
    const bool ok = cuda_device(&g->on, cuda_number(g->p->on), e) && cuda_write(g->p, &g->texts, e) &&
                    load_code(g, w, &report, e) && find_memory(g, e) && load_weights(g, w, e) && set_launches(g, e);
    if (ok)
        tell(g, &report, facts);
    image_report_free(&report);
    return ok;
}

program *cuda_build(const plan *p, const build_options *w, text *facts, err *e)
{
    program *g = calloc(1, sizeof *g);
    MUST(g);
    g->p = p;
    g->leaf = calloc((size_t)p->n_leaf + 1, sizeof *g->leaf);
    g->input_at = calloc((size_t)p->n_input + 1, sizeof *g->input_at);
    g->written = calloc((size_t)p->n_input + 1, sizeof *g->written);
    g->launch = calloc((size_t)p->n_kernel + 1, sizeof *g->launch);
    g->input = calloc((size_t)p->n_input + 1, sizeof *g->input);
    g->mirror = calloc((size_t)p->arena_bytes + 1, 1);
    MUST(g->leaf && g->input_at && g->written && g->launch && g->input);
    if (!g->mirror)
        return err_set(e, TS_MEMORY, "no memory to look at %lld bytes of values", (long long)p->arena_bytes),
               cuda_drop(g), NULL;
    if (make(g, w, facts, e))
        return g;
    cuda_drop(g);
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
    return send(g, input, e) && (!g->graph || launch_all(&g->on, g->graph, e)) && receive(g, input, e);
}

bool cuda_each(program *g, void *const *input, void (*after)(void *user, int kernel), void *user, err *e)
{
    if (!send(g, input, e))
        return false;
    for (int k = 0; k < g->p->n_kernel; k++) {
        if (!launch_one(&g->on, &g->launch[k], e) || !device_wait(&g->on, g->p->kernel[k].name, e))
            return false;
        after(user, k);
    }
    return receive(g, input, e);
}

/* An event before the first kernel and one behind each, all under way before the host waits. */
static bool record_all(const program *g, cu_event *event, err *e)
{
    const device *d = &g->on;
    const int n = g->p->n_kernel;
    bool ok = true;
    for (int k = 0; k <= n && ok; k++)
        ok = device_did(d, d->cu.event_make(&event[k], 0), "making an event", e);
    for (int k = 0; k <= n && ok; k++)
        ok = (!k || launch_one(d, &g->launch[k - 1], e)) &&
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
    for (int k = first; k < end; k++)
        if (!launch_one(&g->on, &g->launch[k], e))
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
    return device_enter(&g->on, e) && device_write(&g->on, place_of(g, n), from, plain_bytes(g, n), e);
}

bool cuda_fetch(program *g, const node *n, void *to, err *e)
{
    return device_enter(&g->on, e) && device_read(&g->on, to, place_of(g, n), plain_bytes(g, n), e) &&
           device_wait(&g->on, "a copy of a value", e);
}

/* ---- values ---- */
static bool look(const program *g, char *to, const buffer *h, err *e)
{
    return device_enter(&g->on, e) && device_read(&g->on, to, g->arena + (cu_address)h->offset, h->bytes, e) &&
           device_wait(&g->on, "a copy of a value", e);
}

const void *cuda_at(const program *g, const node *n, dtype *stored)
{
    err none = {0};
    const buffer *h = &g->p->buffer[n->id];
    *stored = stored_as(g->p, n);
    return look(g, g->mirror + h->offset, h, &none) ? g->mirror + h->offset : NULL;
}

bool cuda_get(program *g, int root, ts_array *out, err *e)
{
    const node *n = g->p->root[root];
    const buffer *h = &g->p->buffer[n->id];
    const int64_t count = type_count(&n->type);
    if (n->leaf)
        return leaf_read(n, out->data, 0, count), true;
    if (stored_as(g->p, n) == n->type.dtype)
        return device_enter(&g->on, e) &&
               device_read(&g->on, out->data, g->arena + (cu_address)h->offset, type_bytes(&n->type), e) &&
               device_wait(&g->on, "a copy of a result", e);
    double *wide = calloc((size_t)count + 1, sizeof *wide);
    MUST(wide);
    const bool ok = device_enter(&g->on, e) &&
                    device_read(&g->on, wide, g->arena + (cu_address)h->offset, 8 * count, e) &&
                    device_wait(&g->on, "a copy of a result", e);
    for (int64_t i = 0; i < count && ok; i++)
        store_real(n->type.dtype, out->data, i, wide[i]);
    free(wide);
    return ok;
}
