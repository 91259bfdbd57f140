/* rematerialize.c - values that several kernels compute again rather than read. In a step of training nearly all of the
 * forward pass is read by the backward pass too; cheap work on one value need not be written beside that value where it
 * is kept anyway: what an activation is made of. Only where a product's epilogue is among the readers: others find the
 * value in the rows that they share. */
#include "schedule/fuse/fuse.h"

/* Writing four bytes and reading them again takes as long as some thirty operations on them. */
enum { MOST_REPEATED = 32 };

static const expr *one_value(const item *it) /* the load of what it is made of; NULL when that is none or several */
{
    const expr *load[MAX_LOADS], *found = NULL;
    const int count = it->fold || it->alone || it->whole || it->reads > MAX_LOADS ? 0
                                                                                  : x_loads(it->raw, load, MAX_LOADS);
    for (int i = 0; i < count; i++) {
        const node *n = load[i]->from;
        if (n->leaf && n->leaf->kind == LEAF_CONST && type_count(&n->type) == 1)
            continue; /* a literal */
        if (found || !item_walks_along(load[i], it))
            return NULL;
        found = load[i];
    }
    return found;
}

/* Whether n is in memory anyway: another kernel reads it, or it is computed step by step from one that is. */
static bool kept_anyway(const fuser *f, const node *n)
{
    for (;;) {
        const item *it = f->item[n->id];
        if (!it || it->root || it->n_reader > 1)
            return true;
        const expr *from = one_value(it);
        if (!from)
            return false;
        n = from->from;
    }
}

static bool read_once(const fuser *f, const item *it)
{
    for (int i = 0; i < it->n_reader; i++) {
        const item *r = f->item[it->reader[i]];
        if (!item_only_load(r, it->node) || r->alone || item_volume(r) > type_count(&it->node->type) ||
            (item_is_view(r) && !r->once))
            return false;
    }
    return true;
}

static bool in_epilogue(const fuser *f, const item *it)
{
    for (int i = 0; i < it->n_reader; i++) {
        const item *r = f->item[it->reader[i]], *owner = r->inlined ? r->owner : r;
        if (owner ? owner->contracts : r->repeated > 0)
            return true;
    }
    return false;
}

bool rematerialize_take(fuser *f, item *it)
{
    const type *t = &it->node->type;
    const expr *from = one_value(it);
    double deeper = 0;
    if (!from || ts_dtype_bytes(from->from->type.dtype) > ts_dtype_bytes(t->dtype) || !read_once(f, it) ||
        !in_epilogue(f, it) || !kept_anyway(f, from->from))
        return false;
    for (int i = 0; i < it->n_reader; i++)
        if (f->item[it->reader[i]]->repeated > deeper)
            deeper = f->item[it->reader[i]]->repeated;
    const double cost = deeper + node_flops(it->node) / (double)(type_count(t) ? type_count(t) : 1);
    if (cost > MOST_REPEATED)
        return reason_most(&it->kept, "operations that every reader repeats for an element", cost, MOST_REPEATED);
    if (cost <= 0 || !inline_take(f, it, NULL))
        return false;
    it->repeated = cost;
    return true;
}
