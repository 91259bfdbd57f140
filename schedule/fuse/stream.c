/* stream.c - values that stream: of which a fold of several values takes one trip after the other, so that a kernel
 * need hold no more than one. The fold, what it reads along its axis, and scans along the same one share loops of which
 * that axis is the last, walked in order; what is carried from trip to trip waits in scratch. */
#include "schedule/fuse/fuse.h"

/* Whether all states start from literals: they are set before the loop that carries them. */
static bool starts_alike(const expr *x)
{
    const expr *load;
    bool alike = true;
    for (int i = 0; i < x->n_state; i++)
        alike = alike && !x_axes(x->arg[i]) && !x_loads(x->arg[i], &load, 1);
    return alike;
}

/* The one axis that a fold of several values folds away, or -1 */
static int folded_axis(const item *it)
{
    const expr *x = it->raw;
    int axis = -1;
    if (x->kind != X_SCAN || !x->folds || x_folds(x)) /* what has a merge is summed up as one value is */
        return -1;
    for (int a = 0; a < it->n_axis; a++)
        if (x->folds >> a & 1)
            axis = axis < 0 ? a : MAX_AXIS;
    return axis < MAX_AXIS && it->extent[axis] > 1 && starts_alike(x) ? axis : -1;
}

/* The dimension of n along which all reads of r stream; -1: there is none. */
static int dimension(const item *r, const node *n)
{
    const expr *load[MAX_LOADS];
    const int count = x_loads(r->raw, load, MAX_LOADS);
    int dim = -1;
    for (int i = 0; i < count && i < MAX_LOADS; i++) {
        int here = -1;
        if (load[i]->from != n)
            continue;
        for (int k = 0; k < load[i]->n; k++)
            if (x_axes(load[i]->arg[k]) >> r->stream & 1)
                here = here < 0 && load[i]->arg[k]->kind == X_AXIS ? k : MAX_RANK;
        if (here < 0 || here == MAX_RANK || (dim >= 0 && dim != here))
            return -1;
        dim = here;
    }
    return count > MAX_LOADS ? -1 : dim;
}

void stream_find(const fuser *f, item *it)
{
    const int axis = folded_axis(it);
    it->stream = axis;
    if (axis >= 0 || it->root || !it->n_reader || f->p->reference)
        return;
    for (int i = 0; i < it->n_reader; i++) {
        const item *r = f->item[it->reader[i]];
        const int dim = r->stream >= 0 ? dimension(r, it->node) : -1;
        if (dim < 0 || (i && it->stream != dim)) {
            it->stream = -1;
            return;
        }
        it->stream = dim;
    }
    if (it->alone && !(it->raw->kind == X_SCAN && it->raw->axis == it->stream && starts_alike(it->raw)))
        it->stream = -1;
}

bool stream_takes(const item *r, const item *it, const expr *load)
{
    const bool from = r->stream >= 0 && it->stream < 0 && !r->inlined && !r->fold && !r->alone && load;
    return from && x_axes_of(load) >> r->stream & 1 && item_volume(r) < 2 * type_count(&it->node->type);
}

bool stream_stays(const fuser *f, const item *it)
{
    const item *owner = it->n_reader ? f->item[it->reader[0]]->owner : NULL;
    bool several = false;
    for (int i = 1; i < it->n_reader; i++)
        several = several || f->item[it->reader[i]]->owner != owner;
    return it->stream >= 0 && several && item_is_view(it);
}

/* The place of the fold's own axis: how many axes of several elements the streamed operand has in front of it. */
static int place_of(const fuser *f, const item *it)
{
    const expr *load[MAX_LOADS];
    const int n = x_loads(it->value, load, MAX_LOADS);
    for (int i = 0; i < n && i < MAX_LOADS; i++) {
        const item *from = f->item[load[i]->from->id];
        int before = 0;
        for (int d = 0; from && from->stream >= 0 && d < from->stream; d++)
            before += from->extent[d] != 1;
        if (from && from->stream >= 0)
            return before;
    }
    return 0;
}

int stream_axes(const fuser *f, const item *it, int *axis)
{
    const int rank = it->node->type.rank, at = it->stream >= rank ? place_of(f, it) : -1;
    int n = 0;
    for (int i = 0; i < rank; i++) {
        if (n == at)
            axis[n++] = it->stream;
        if (it->extent[i] != 1)
            axis[n++] = i;
    }
    if (n == at)
        axis[n++] = it->stream;
    return n;
}

int stream_depth(const fuser *f, const item *it)
{
    int axis[MAX_AXIS], n = 0;
    const int all = stream_axes(f, it, axis);
    while (n < all && axis[n] != it->stream)
        n++;
    return it->stream >= 0 && n < all ? n + 1 : 0;
}
