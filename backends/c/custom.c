/* custom.c - calls of functions of this process from programs. */
#include "backends/c/custom.h"
#include "graph/eval/eval.h"
#include "graph/ir/custom.h"

#include <stdlib.h>

const node *custom_kernel(const plan *p, const kernel *k)
{
    const expr *x = k->stage->value;
    int64_t from;
    return x->kind == X_ROUTINE && !x->run->run && !k->scan && !kernel_copies(p, k, &from) ? k->stage->node : NULL;
}

/* ---- calls ---- */
static void call(const ts_custom *base, int k, void *const *at, long part, long parts)
{
    custom_calls *c = (custom_calls *)(uintptr_t)base;
    const plan *p;
    const stage *s = levels_kernel(&c->levels, k, &p)->stage;
    const node *n = s->node;
    const type made = p->reference ? custom_wide(n) : n->type;
    ts_array in[MAX_PART], out = type_array(&made, at[n->n_in]);
    err e = {0};
    if (atomic_load(&c->failed) || !type_count(&n->type) || (p->reference && part))
        return;
    for (int i = 0; i < n->n_in; i++)
        in[i] = type_array(&n->in[i]->type, at[i]), in[i].dtype = stored_as(p, n->in[i]);
    const host_call one = {n, in, &out, (int)part, p->reference ? 1 : (int)parts, p->reference};
    const routine *run = s->value->run;
    if (routine_call(run, &one, &e))
        return;
    pthread_mutex_lock(&c->lock);
    err_set(&c->e, e.code, "%s", e.text);
    pthread_mutex_unlock(&c->lock);
    atomic_store(&c->failed, true);
}

/* ---- a program's own ---- */
void custom_make(custom_calls *c, const plan *p)
{
    c->base.call = call;
    levels_make(&c->levels, p);
    atomic_init(&c->failed, false);
    MUST(!pthread_mutex_init(&c->lock, NULL));
}

void custom_free(custom_calls *c)
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
