/* reuse.c - a store may lie where an operand does if, at each point of the loops, the element stored is the one read
 * there and nobody reads it later. */
#include "schedule/passes/passes.h"
#include "schedule/nest/nest.h"

#include <string.h>

typedef struct reach { /* where a load or store is: a form over the stage's axes */
    const affine *at;
    int var[MAX_AXIS];
} reach;

static reach reach_of(space *sp, const stage *s, const layout *y, const expr *const *sub, int rank)
{
    const affine *axis[MAX_AXIS], *at[MAX_RANK];
    reach r;
    for (int a = 0; a < s->n_axis; a++)
        axis[a] = affine_var(sp, r.var[a] = var_add(sp, "", 0, s->extent[a] > 0 ? s->extent[a] - 1 : 0));
    for (int i = 0; i < rank; i++)
        at[i] = affine_of(sp, sub[i], axis);
    r.at = layout_offset(sp, y, at);
    return r;
}

static reach store_of(space *sp, const plan *p, const stage *s)
{
    return reach_of(sp, s, &p->buffer[s->node->id].layout, s->store, s->node->type.rank);
}

static bool same_place(const plan *p, const stage *s, const expr *load)
{
    ENDED_BY(arena_free) arena mem = {0};
    space sp = {.mem = &mem};
    const reach w = store_of(&sp, p, s);
    const affine *axis[MAX_AXIS], *at[MAX_RANK];
    for (int a = 0; a < s->n_axis; a++)
        axis[a] = affine_var(&sp, w.var[a]);
    for (int i = 0; i < load->n; i++)
        at[i] = affine_of(&sp, load->arg[i], axis);
    return affine_same(w.at, layout_offset(&sp, &p->buffer[load->from->id].layout, at));
}

/* Does the load, whose stage shares its first axes with s, stay within what s writes for the same values of those? The
 * axes of its own walk as some of s's own do. */
static bool same_slice(const plan *p, const stage *s, const stage *reader, const expr *load)
{
    ENDED_BY(arena_free) arena mem = {0};
    space sp = {.mem = &mem};
    const reach w = store_of(&sp, p, s),
                r = reach_of(&sp, reader, &p->buffer[load->from->id].layout, load->arg, load->n);
    bool within = affine_pure(w.at) && affine_pure(r.at) && w.at->c == r.at->c;
    uint32_t used = 0;
    for (int a = 0; within && a < reader->n_axis; a++) {
        const int64_t c = affine_coef(r.at, r.var[a]);
        if (a < s->n_shared) {
            within = c == affine_coef(w.at, w.var[a]);
            continue;
        }
        int o = s->n_shared;
        while (c && o < s->n_axis &&
               (used >> o & 1 || affine_coef(w.at, w.var[o]) != c || s->extent[o] < reader->extent[a]))
            o++;
        within = !c || o < s->n_axis;
        used |= c ? 1u << o : 0;
    }
    return within;
}

static bool sums_wait(const stage *s) /* partial sums wait in the result: what it lies over is gone before the end */
{
    for (int l = 0; l < nest_tile(s); l++)
        if (s->folds >> s->nest.loop[l].axis & 1)
            return true;
    return false;
}

/* A scatter into n: it starts from n, element by element, before any update is put in, and no update reads n. */
static bool starts_from(const stage *s, const node *n)
{
    const expr *load[MAX_LOADS], *x = s->value;
    bool read = x->kind != X_SCATTER;
    for (int i = 1; i < x->n && !read; i++) {
        const int found = x_loads(x->arg[i], load, MAX_LOADS);
        read = found > MAX_LOADS;
        for (int k = 0; k < found && !read; k++)
            read = load[k]->from == n;
    }
    return !read;
}

bool reuse_legal(const plan *p, const kernel *k, int which, const node *n)
{
    const stage *s = &k->stage[which];
    const bool nested = stage_nested(s);
    if (p->reference || s->scratch || s->n_piece || (!nested && !starts_from(s, n)) ||
        s->node->type.dtype != n->type.dtype)
        return false;
    for (int i = 0; i < k->n_stage; i++)
        for (int j = 0; j < k->stage[i].n_load; j++) {
            const expr *x = k->stage[i].load[j];
            if (x->from != n)
                continue;
            if (i > which || (i == which && ((nested && sums_wait(s)) || !same_place(p, s, x))) ||
                (i < which && !same_slice(p, s, &k->stage[i], x)))
                return false;
        }
    return true;
}

/* ---- results carried into inputs ---- */
static bool reads(const kernel *k, const node *n)
{
    for (int i = 0; i < k->n_stage; i++)
        for (int j = 0; j < k->stage[i].n_load; j++)
            if (k->stage[i].load[j]->from == n)
                return true;
    return false;
}

static bool needs(const kernel *k, const kernel *made)
{
    for (int i = 0; i < made->n_stage; i++)
        if (!made->stage[i].scratch && reads(k, made->stage[i].node))
            return true;
    return false;
}

static int last_reader(const plan *p, const node *n)
{
    int k = p->n_kernel - 1;
    while (k >= 0 && !reads(&p->kernel[k], n))
        k--;
    return k;
}

static bool writer(const plan *p, const node *n, int *kernel_at, int *stage_at)
{
    for (int k = 0; k < p->n_kernel; k++)
        for (int s = 0; s < p->kernel[k].n_stage; s++)
            if (p->kernel[k].stage[s].node == n && !p->kernel[k].stage[s].scratch)
                return *kernel_at = k, *stage_at = s, true;
    return false;
}

void carry_order(plan *p)
{
    for (int i = 0; i < p->n_carried; i++) {
        int from, s;
        if (!writer(p, p->root[p->carried[i].root], &from, &s))
            continue;
        const int to = last_reader(p, p->input[p->carried[i].input]);
        bool free = from < to;
        for (int k = from + 1; free && k <= to; k++)
            free = !needs(&p->kernel[k], &p->kernel[from]);
        if (!free)
            continue;
        const kernel moved = p->kernel[from];
        memmove(&p->kernel[from], &p->kernel[from + 1], (size_t)(to - from) * sizeof moved);
        p->kernel[to] = moved;
    }
}

static bool is_root(const plan *p, const node *n)
{
    int i = 0;
    while (i < p->n_root && p->root[i] != n)
        i++;
    return i < p->n_root;
}

void carry_in_place(plan *p)
{
    for (int i = 0; i < p->n_carried; i++) {
        const node *w = p->root[p->carried[i].root], *r = p->input[p->carried[i].input];
        buffer *h = &p->buffer[w->id];
        int k, s;
        if (p->reference || is_root(p, r) || h->where != IN_ARENA || !writer(p, w, &k, &s) ||
            !layout_same(&h->layout, &p->buffer[r->id].layout))
            continue;
        const int last = last_reader(p, r);
        if (last > k || (last == k && !reuse_legal(p, &p->kernel[k], s, r)))
            continue;
        h->where = IN_INPUT, h->index = p->carried[i].input;
        if (last == k)
            p->kernel[k].stage[s].over = r;
    }
}
