/* names.c - how kernels, their stages and axes are called: letters by which rules write loops, the operation or group
 * that a kernel is, the label of what it makes. */
#include "schedule/fuse/fuse.h"

#include <stdio.h>
#include <string.h>

/* ---- what is looked up ---- */
void names_index(fuser *f)
{
    const graph *g = f->p->g;
    const plan *p = f->p;
    f->group = arena_array(&f->p->mem, (size_t)g->n + 1, sizeof *f->group);
    f->next_group = arena_array(&f->p->mem, (size_t)g->n_group + 1, sizeof *f->next_group);
    f->carried = arena_array(&f->p->mem, (size_t)g->n + 1, sizeof *f->carried);
    for (int i = g->n_group; i-- > 0;) {
        int *first = &f->group[g->group[i].result->id];
        f->next_group[i] = *first, *first = i + 1;
    }
    for (int i = p->n_carried; i-- > 0;) /* the first one, where a value goes into several */
        f->carried[p->root[p->carried[i].root]->id] = f->carried[p->input[p->carried[i].input]->id] = i + 1;
}

/* ---- letters ---- */
static int words(const char *s, char out[][MAX_LETTER], int max)
{
    int n = 0, used;
    while (n < max && sscanf(s, "%7s%n", out[n], &used) == 1)
        n++, s += used;
    return n;
}

/* Result axes by the dimension they walk where each has a letter; else from the last letter backwards, and more axes
 * than letters are b, b1, ...; folded axes in order. */
static void name_axes(stage *s, const op *o, int first)
{
    char result[MAX_AXIS][MAX_LETTER], fold[MAX_AXIS][MAX_LETTER], left[64] = "";
    const char *bar = o->axes ? strchr(o->axes, '|') : NULL;
    if (o->axes)
        snprintf(left, sizeof left, "%.*s", bar ? (int)(bar - o->axes) : (int)strlen(o->axes), o->axes);
    int nr = words(left, result, MAX_AXIS), nf = bar ? words(bar + 1, fold, MAX_AXIS) : 0, extra = 0;
    const bool plain = !s->folds && !nr;
    for (int a = s->n_result - 1; a >= first; a--) {
        const int back = nr < s->node->type.rank ? s->n_result - 1 - a : s->node->type.rank - 1 - s->dim[a];
        if (back < nr)
            memcpy(s->letter[a], result[nr - 1 - back], MAX_LETTER);
        else if (plain)
            snprintf(s->letter[a], MAX_LETTER,
                     s->n_result - first == 1 ? "e"
                     : back == 0              ? "c"
                     : back == 1              ? "r"
                                              : "r%d",
                     back - 1);
        else
            snprintf(s->letter[a], MAX_LETTER, extra ? "b%d" : "b", extra), extra++;
    }
    for (int a = s->n_result, i = 0; a < s->n_axis; a++, i++) {
        if (i < nf)
            memcpy(s->letter[a], fold[i], MAX_LETTER);
        else
            snprintf(s->letter[a], MAX_LETTER, i ? "f%d" : "f", i);
    }
}

static void make_unique(stage *s) /* a letter that is taken gets a number */
{
    for (int a = 0; a < s->n_axis; a++) {
        char plain[MAX_LETTER];
        memcpy(plain, s->letter[a], sizeof plain);
        for (int b = 0, n = 1; b < a;) {
            if (strcmp(s->letter[a], s->letter[b]))
                b++;
            else
                snprintf(s->letter[a], MAX_LETTER, "%.4s%d", plain, n++ % 100), b = 0;
        }
    }
}

/* ---- kernels ---- */
static int members_in(const cluster *c, const group *q)
{
    int n = 0;
    for (int k = 0; k < c->n; k++)
        n += c->member[k]->node->id >= q->first && c->member[k]->node->id <= q->last;
    return n;
}

/* The largest recipe whose result is here, most of it too; the first of equal ones */
static const group *group_of(const fuser *f, const cluster *c)
{
    const graph *g = f->p->g;
    const group *best = NULL;
    for (int k = 0; k < c->n; k++)
        for (int i = f->group[c->member[k]->node->id]; i; i = f->next_group[i - 1]) {
            const group *q = &g->group[i - 1];
            const int more = best ? q->last - q->first - (best->last - best->first) : 1;
            if (2 * members_in(c, q) > c->n && (more > 0 || (!more && q < best)))
                best = q;
        }
    return best;
}

static void name_stage(kernel *k, int i, const char *name) /* unique among the kernel's */
{
    int same = 0;
    for (int j = 0; j < i; j++)
        same += !strncmp(k->stage[j].name, name, strlen(name));
    snprintf(k->stage[i].name, sizeof k->stage[i].name, same ? "%.20s%d" : "%.20s", name, same + 1);
}

/* An axis that stages share goes by the letter that the group gives the last dimension of its result that it walks, or
 * the axis that it sums up, where states are carried along that; else by r. */
static void name_shared(const kernel *k, const group *q, int a, char out[MAX_LETTER])
{
    char letter[MAX_AXIS][MAX_LETTER];
    int n = q && q->op->axes ? words(q->op->axes, letter, MAX_AXIS) : 0, bar = 0;
    if (k->n_stage == 1)
        return;
    while (bar < n && *letter[bar] != '|')
        bar++;
    memcpy(out, "r", sizeof "r");
    if (a == kernel_carried(k)) {
        snprintf(out, MAX_LETTER, "%s", bar + 1 < n ? letter[bar + 1] : "s");
        return;
    }
    n = bar;
    for (int i = 0; i < k->n_stage && n; i++)
        for (int d = 0; q->result == k->stage[i].node && d < q->result->type.rank; d++) {
            const int at = n - q->result->type.rank + d;
            if (at >= 0 && x_axes(k->stage[i].store[d]) >> a & 1)
                memcpy(out, letter[at], MAX_LETTER);
        }
}

/* Of the group's result, or of the largest value if it is kept, else of the last one; else the first state that the
 * kernel writes; else a weight, or a state, that it reads. */
static const char *label_of(const fuser *f, const kernel *k, const group *q)
{
    const plan *p = f->p;
    const char *label = k->stage[q || k->stage[k->main].scratch ? k->n_stage - 1 : k->main].node->label;
    int state = 0;
    for (int i = 0; i < k->n_stage; i++) {
        const int at = f->carried[k->stage[i].node->id];
        state = at && (!state || at < state) ? at : state;
    }
    if (!*label && state)
        label = arena_format(&f->p->mem, "update of %s", p->input[p->carried[state - 1].input]->label);
    for (int i = 0; i < k->n_stage && !*label; i++)
        for (int j = 0; j < k->stage[i].n_load && !*label; j++) {
            const node *n = k->stage[i].load[j]->from;
            if (n->leaf && (n->leaf->kind != LEAF_INPUT || f->carried[n->id]))
                label = n->label;
        }
    return label;
}

void names_give(fuser *f, const cluster *c, kernel *k)
{
    const group *q = c->n > 1 ? group_of(f, c) : NULL;
    k->main = k->n_stage - 1;
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i], *most = &k->stage[k->main];
        if (stage_points(s, 0, s->n_axis) > stage_points(most, 0, most->n_axis))
            k->main = i;
    }
    k->whole = c->member[k->main]->main;
    k->op = q ? q->op->name : c->member[k->main]->main->op->name;
    k->group = q ? q->op : NULL;
    for (int i = 0; i < k->n_stage; i++) {
        stage *s = &k->stage[i];
        name_stage(k, i, c->member[i]->main->op->name);
        s->whole = c->member[i]->main;
        name_axes(s, s->whole->op, 0);
        memcpy(s->own, s->letter, sizeof s->own);
        name_axes(s, s->whole->op, k->n_shared);
        for (int a = 0; a < k->n_shared; a++)
            name_shared(k, q, a, s->letter[a]);
    }
    for (int i = 0; i < k->n_stage; i++)
        make_unique(&k->stage[i]);
    k->label = label_of(f, k, q);
    k->was = f->p->was ? f->p->was[k->whole->id] : NULL;
    k->apart = f->p->apart_by ? f->p->apart_by[k->whole->id] : NULL;
}
