/* stages.c - the second half of the fusion pass: clusters of items become kernels of stages; axes of one element go,
 * neighbours that every access walks as one are merged (batch and row of a product become m). */
#include "schedule/plan/extents.h"
#include "schedule/fuse/fuse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- stages ---- */
/* A fold of several values that streams runs in step with the other stages: it becomes a scan of which the last value
 * stays. */
static const expr *as_scan(arena *mem, const expr *x, int axis)
{
    const int n = x->n_state;
    return x_scan(mem, 0, axis, n, x->arg, x->arg + n, x_result(x));
}

/* dim: the result's dimension that the axis walks. An axis that streams is none of these; it stands for dimension 0. */
static void add_axis(stage *s, const item *it, int i, bool folded)
{
    if (folded)
        s->folds |= 1u << s->n_axis;
    else
        s->n_result = s->n_axis + 1, s->dim[s->n_axis] = i < it->node->type.rank ? i : 0;
    s->varies[s->n_axis] = it->varies[i], s->extent[s->n_axis++] = it->extent[i];
}

/* low, count: the box of the node's value that is read at all (demanded region); axes start at 0 and are shifted by low
 * where values are loaded and stored. */
static void make_stage(fuser *f, const item *it, int shared, stage *s)
{
    arena *mem = &f->p->mem;
    const expr *axis[MAX_AXIS];
    const type *t = &it->node->type;
    const bool streams = shared && it->stream >= t->rank;
    int walked[MAX_AXIS];
    const int n_walked = stream_axes(f, it, walked);
    *s = (stage){.node = it->node, .scratch = !it->root};
    for (int i = 0; i < t->rank; i++)
        s->low[i] = it->low[i], s->count[i] = it->extent[i];
    for (int i = 0, next = 0; i < it->n_axis; i++) {
        const bool folded = i >= t->rank;
        const expr *low = x_cast(mem, TS_I64, x_whole(mem, folded ? 0 : it->low[i]));
        const bool scanned = it->value->kind == X_SCAN && !it->value->folds && it->value->axis == i;
        if (streams && next < n_walked && walked[next] == it->stream)
            axis[it->stream] = x_axis(mem, s->n_axis), add_axis(s, it, it->stream, false), next++;
        if (streams && i == it->stream)
            continue;
        axis[i] = low;
        if (it->extent[i] == 1 && !folded && !scanned)
            continue;
        axis[i] = folded || !it->low[i] ? x_axis(mem, s->n_axis) : x2(mem, "add", x_axis(mem, s->n_axis), low);
        add_axis(s, it, i, folded), next++;
    }
    s->n_shared = shared;
    for (int i = 0; i < t->rank; i++)
        s->store[i] = axis[i];
    s->value = x_rename(mem, it->value, it->n_axis, axis);
    if (streams)
        s->value = as_scan(mem, s->value, axis[it->stream]->axis);
    s->value = x_share(mem, s->value);
    if (stage_nested(s) && !stage_fold(s)) /* a choice by an axis of one element may leave nothing to fold */
        s->n_axis = s->n_result, s->folds = 0;
}

/* ---- merging neighbouring axes ---- */
static void merge_in(arena *mem, stage *s, int a) /* axes a and a + 1 become one */
{
    const int64_t inner = s->extent[a + 1];
    const expr *axis[MAX_AXIS], *both = x_axis(mem, a);
    for (int i = 0; i < s->n_axis; i++)
        axis[i] = x_axis(mem, i > a ? i - 1 : i);
    axis[a] = x2(mem, "floordiv", both, x_whole(mem, inner));
    axis[a + 1] = x2(mem, "mod", both, x_whole(mem, inner));
    s->value = x_rename(mem, s->value, s->n_axis, axis);
    for (int i = 0; i < s->node->type.rank; i++)
        s->store[i] = x_rename(mem, s->store[i], s->n_axis, axis);
    s->extent[a] *= inner, s->varies[a] = extents_scaled(&s->varies[a], inner);
    for (int i = a + 1; i + 1 < s->n_axis; i++)
        s->extent[i] = s->extent[i + 1], s->varies[i] = s->varies[i + 1];
    for (int i = a; i + 1 < s->n_result; i++)
        s->dim[i] = s->dim[i + 1];
    const uint32_t low = (1u << (a + 1)) - 1;
    s->folds = (s->folds & low) | ((s->folds >> 1) & ~low);
    s->n_axis--;
    if (a + 1 < s->n_result)
        s->n_result--;
    if (a + 1 < s->n_shared)
        s->n_shared--;
}

/* Axes that the value uses as numbers: guards of padding, masks, subscripts that are no sum of axes. Merged, each use
 * would be a division. */
static uint32_t bare_axes(const expr *x, bool place)
{
    uint32_t axes = x->kind == X_AXIS && !place ? 1u << x->axis : 0;
    static const char *const linear[] = {"add", "sub", "mul", "neg", "floordiv", "mod"};
    bool sum = x->kind == X_LOAD;
    for (int i = 0; i < COUNT(linear) && place; i++)
        sum = sum || x_is_call(x, linear[i]);
    for (int i = 0; i < x->n; i++)
        axes |= bare_axes(x->arg[i], sum);
    return axes;
}

static bool merges(fuser *f, stage *s, int a) /* in place, whatever comes of it */
{
    if (stage_carries(s) && (s->value->axis == a || s->value->axis == a + 1))
        return false;
    if (s->varies[a + 1].by || s->varies[a].per > 1 || s->varies[a].ends || bare_axes(s->value, false) & 3u << a ||
        stage_block(f->p, s, a) > 1 || stage_block(f->p, s, a + 1) > 1)
        return false;
    merge_in(&f->p->mem, s, a);
    return order_linear(f->p, s);
}

static bool try_merge(fuser *f, stage *s, int n, int a)
{
    ENDED_BY(heap_free) stage *trial = calloc((size_t)n + 1, sizeof *trial); /* not on the stack, which may be small */
    bool ok = true;
    MUST(trial);
    for (int i = 0; ok && i < n; i++)
        trial[i] = s[i], ok = merges(f, &trial[i], a);
    if (ok)
        memcpy(s, trial, (size_t)n * sizeof *trial);
    return ok;
}

static void merge_axes(fuser *f, kernel *k)
{
    for (int i = 0; i < k->n_stage; i++)
        if (!stage_nested(&k->stage[i]) || !order_linear(f->p, &k->stage[i]))
            return; /* nothing to gain where accesses are not linear anyway */
    for (int a = 0; a + 1 < k->n_shared;)
        if (try_merge(f, k->stage, k->n_stage, a))
            k->n_shared--;
        else
            a++;
    for (int i = 0; i < k->n_stage; i++) {
        stage *s = &k->stage[i];
        for (int a = s->n_shared; a + 1 < s->n_result;)
            if (!try_merge(f, s, 1, a))
                a++;
    }
}

/* A value that another kernel reads must lie in memory, though it is also read in its own. */
static void mark_outside(fuser *f)
{
    for (int i = 0; i < f->n; i++) {
        const item *r = f->item[f->need[i]->id];
        const expr *load[MAX_LOADS];
        if (!r || r->inlined)
            continue;
        const int n = x_loads(r->value, load, MAX_LOADS);
        for (int k = 0; k < n && k < MAX_LOADS; k++) {
            item *from = f->item[load[k]->from->id];
            if (from && from->kernel != r->kernel)
                from->outside = true;
        }
    }
}

static void note_region(plan *p, kernel *k)
{
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        for (int d = 0; d < s->node->type.rank; d++)
            if (s->count[d] != s->node->type.dim[d])
                k->notes = arena_format(&p->mem,
                                        "%s%s: of dimension %d of its result %lld of %lld are read, from %lld on; "
                                        "the others are not computed\n",
                                        k->notes, s->name, d, (long long)s->count[d], (long long)s->node->type.dim[d],
                                        (long long)s->low[d]);
    }
}

bool form_kernels(fuser *f, err *e)
{
    plan *p = f->p;
    p->kernel = arena_array(&p->mem, (size_t)f->n_kernel + 1, sizeof *p->kernel);
    p->buffer = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *p->buffer), p->n_buffer = p->g->n;
    for (int i = 0; i < f->n; i++)
        p->buffer[f->need[i]->id].where = NOWHERE, layout_rows(&p->buffer[f->need[i]->id].layout, &f->need[i]->type);
    for (int i = 0; i < p->n_input; i++) /* of those that nothing reads, too */
        layout_rows(&p->buffer[p->input[i]->id].layout, &p->input[i]->type);
    mark_outside(f);
    names_index(f);
    for (int i = 0; i < f->n_order; i++) {
        const cluster *c = &f->kernel[f->order[i]];
        kernel *k = &p->kernel[p->n_kernel++];
        *k = (kernel){.n_stage = c->n, .n_shared = c->n > 1 ? c->shared : 0, .notes = "", .rule = ""};
        k->site = item_site(f, c->member[0]);
        k->stage = arena_array(&p->mem, (size_t)c->n, sizeof *k->stage);
        for (int s = 0; s < c->n; s++) {
            const expr *load[MAX_LOADS];
            make_stage(f, c->member[s], k->n_shared, &k->stage[s]);
            const int loads = x_loads(k->stage[s].value, load, MAX_LOADS);
            if (loads > MAX_LOADS)
                return err_set(e, TS_UNSUPPORTED, "%s: a kernel that reads %d tensors, at most %d expected",
                               c->member[s]->node->op->name, loads, MAX_LOADS);
            if (c->n == 1 || c->member[s]->outside)
                k->stage[s].scratch = false;
        }
    }
    order_values(f);
    for (int i = 0; i < p->n_kernel; i++) {
        merge_axes(f, &p->kernel[i]);
        for (int s = 0; s < p->kernel[i].n_stage; s++)
            stage_finish(p, &p->kernel[i].stage[s]);
        names_give(f, &f->kernel[f->order[i]], &p->kernel[i]);
        kernel_measure(&p->kernel[i]);
        note_region(p, &p->kernel[i]);
    }
    return true;
}
