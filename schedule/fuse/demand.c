/* demand.c - what nobody reads is not computed. A value of which only a part is read (the last position before an
 * output head, the first token before a pooler) is restricted, dimension by dimension, to the box that its readers
 * read, and so are the values that it reads: bounds of subscripts over the readers' own boxes say which. It keeps its
 * place and layout in memory; elements outside the box are never written.
 *
 * Left whole: results; what is sent to another device; what scatters, walks and routines make, but for streams of
 * rows; dimensions of which a box would leave out little (steps that divide an extent are worth more); those along
 * which a product's weights lie (they would lose their layout). */
#include "graph/affine/interval.h"
#include "schedule/fuse/fuse.h"

#include <math.h>

typedef struct box {
    bool read;
    span dim[MAX_RANK];
} box;

static bool unknown(void *user, const expr *load, span *out) /* indices that are no constants */
{
    (void)user;
    *out = (span){-0x1p62, 0x1p62};
    return !load->from->leaf || load->from->leaf->kind != LEAF_CONST;
}

static bool weighs_along(const item *it, int axis)
{
    const expr *load[MAX_LOADS];
    const int n = it->fold ? x_loads(it->value, load, MAX_LOADS) : 0;
    for (int i = 0; i < n && i < MAX_LOADS; i++)
        for (int k = 0; load[i]->from->leaf && load[i]->from->leaf->kind != LEAF_INPUT && k < load[i]->n; k++)
            if (load[i]->n > 1 && x_axes(load[i]->arg[k]) >> axis & 1)
                return true;
    return false;
}

static void restrict_item(item *it, const box *b)
{
    const bool streams = it->alone && it->stream >= 0;
    for (int d = 0; d < it->node->type.rank && b->read && !it->root && (!it->alone || streams); d++) {
        const double count = b->dim[d].high - b->dim[d].low + 1;
        if ((streams && d == it->stream) || count < 1 || count > 0.75 * (double)it->extent[d] || weighs_along(it, d))
            continue;
        if (it->varies[d].by && count > 1) /* the box would end at an unknown place at other extents */
            continue;
        it->low[d] = (int64_t)b->dim[d].low, it->extent[d] = (int64_t)count, it->varies[d] = (varying){0};
    }
}

static void widen(box *b, const type *t, const span *at)
{
    for (int d = 0; d < t->rank; d++) {
        const span s = {fmax(at[d].low, 0), fmin(at[d].high, (double)t->dim[d] - 1)};
        b->dim[d].low = b->read ? fmin(b->dim[d].low, s.low) : s.low;
        b->dim[d].high = b->read ? fmax(b->dim[d].high, s.high) : s.high;
    }
    b->read = true;
}

static void read_operands(fuser *f, const item *it, box *all)
{
    const expr *load[MAX_LOADS];
    const int n = x_loads(it->value, load, MAX_LOADS);
    span axis[MAX_AXIS], at[MAX_RANK];
    span_memo memo = {.mem = &f->p->mem};
    for (int a = 0; a < it->n_axis; a++) {
        const int64_t low = a < it->node->type.rank ? it->low[a] : 0;
        axis[a] = (span){(double)low, (double)(low + it->extent[a]) - 1};
    }
    for (int i = 0; i < n && i < MAX_LOADS; i++) {
        if (!f->item[load[i]->from->id])
            continue;
        for (int d = 0; d < load[i]->n; d++)
            at[d] = span_of(&(span_box){.memo = &memo, .axis = axis, .known = unknown}, load[i]->arg[d]);
        widen(&all[load[i]->from->id], &load[i]->from->type, at);
    }
}

void demand_items(fuser *f)
{
    ENDED_BY(arena_free) arena mem = {0};
    box *all = arena_array(&mem, (size_t)f->p->g->n + 1, sizeof *all);
    for (int i = f->n; i-- > 0 && !f->p->reference;) {
        item *it = f->item[f->need[i]->id];
        if (!it || it->inlined)
            continue;
        if (!item_crosses(f, it))
            restrict_item(it, &all[it->node->id]);
        read_operands(f, it, all);
    }
}
