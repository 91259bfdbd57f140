/* custom.c - calls of functions of this process from programs. */
#include "backends/c/custom.h"

#include <stdlib.h>
#include <string.h>

const node *custom_kernel(const plan *p, const kernel *k)
{
    const expr *x = k->stage->value;
    int64_t from;
    return x->kind == X_ROUTINE && x->run->host && !k->scan && !kernel_copies(p, k, &from) ? k->stage->node : NULL;
}

/* ---- calls ---- */
static bool is_wide(const plan *p, const node *n)
{
    return stored_as(p, n) != n->type.dtype;
}

/* In its own dtype, where the plan keeps it as f64. */
static void narrow(ts_array *a, arena *mem)
{
    const double *from = a->data;
    const int64_t n = ts_array_count(a);
    a->data = arena_array(mem, (size_t)n + 1, (size_t)ts_dtype_bytes(a->dtype));
    for (int64_t i = 0; i < n; i++)
        store_real(a->dtype, a->data, i, from[i]);
}

static void widen(const ts_array *a, double *to)
{
    for (int64_t i = 0, n = ts_array_count(a); i < n; i++)
        to[i] = load_real(a->dtype, a->data, i);
}

static bool run_wide(const plan *p, const host_call *c, host_code *run, err *e)
{
    arena mem = {0};
    ts_array in[MAX_PART], out = *c->out;
    for (int i = 0; i < c->node->n_in; i++) {
        in[i] = c->in[i];
        if (is_wide(p, c->node->in[i]))
            narrow(&in[i], &mem);
    }
    if (is_wide(p, c->node))
        out.data = arena_array(&mem, (size_t)ts_array_count(&out) + 1, (size_t)ts_dtype_bytes(out.dtype));
    const bool ok = run(&(host_call){c->node, in, &out, 0, 1}, e);
    if (ok && is_wide(p, c->node))
        widen(&out, c->out->data);
    arena_free(&mem);
    return ok;
}

static void call(const ts_custom *base, int k, void *const *at, long part, long parts)
{
    custom_calls *c = (custom_calls *)(uintptr_t)base;
    const plan *p;
    const stage *s = levels_kernel(&c->levels, k, &p)->stage;
    const node *n = s->node;
    ts_array in[MAX_PART], out = type_array(&n->type, at[n->n_in]);
    err e = {0};
    if (atomic_load(&c->failed) || !type_count(&n->type) || (p->reference && part))
        return;
    for (int i = 0; i < n->n_in; i++)
        in[i] = type_array(&n->in[i]->type, at[i]);
    const host_call one = {n, in, &out, (int)part, (int)parts};
    host_code *run = s->value->run->host;
    if (p->reference ? run_wide(p, &one, run, &e) : run(&one, &e))
        return;
    pthread_mutex_lock(&c->lock);
    err_set(&c->e, e.code, "%s", e.text);
    pthread_mutex_unlock(&c->lock);
    atomic_store(&c->failed, true);
}

/* ---- a program's own ---- */
void custom_init(custom_calls *c, const plan *p)
{
    c->base.call = call;
    levels_make(&c->levels, p);
    atomic_init(&c->failed, false);
    MUST(!pthread_mutex_init(&c->lock, NULL));
}

void custom_fini(custom_calls *c)
{
    pthread_mutex_destroy(&c->lock);
    levels_free(&c->levels);
}

bool custom_check(custom_calls *c, err *e)
{
    if (!atomic_load(&c->failed))
        return true;
    err_set(e, c->e.code, "%s", c->e.text);
    c->e = (err){0};
    atomic_store(&c->failed, false);
    return false;
}
