/* item.c - what one node, on its way into a kernel, is asked: how much work it is, how it is read, where it is done. */
#include "schedule/fuse/fuse.h"

#include <limits.h>

int64_t item_results(const item *it)
{
    int64_t n = 1;
    for (int i = 0; i < it->node->type.rank; i++)
        n *= it->extent[i];
    return n;
}

int64_t item_volume(const item *it)
{
    int64_t n = 1;
    for (int i = 0; i < it->n_axis; i++)
        n *= it->extent[i];
    return n;
}

/* A conversion from halves counts as a view: loads widen them anyway. */
bool item_is_view(const item *it)
{
    const expr *x = it->raw;
    if (x->kind == X_CAST && x->dtype == TS_F32 && dtype_class(x->arg[0]->dtype) == D_REAL &&
        ts_dtype_bytes(x->arg[0]->dtype) == 2)
        x = x->arg[0];
    return x->kind == X_LOAD;
}

bool item_walks_along(const expr *load, const item *reader)
{
    uint32_t seen = 0;
    for (int i = 0; i < load->n; i++) {
        if (load->arg[i]->kind == X_LIT && load->from->type.dim[i] == 1)
            continue;
        if (load->arg[i]->kind != X_AXIS || seen >> load->arg[i]->axis & 1)
            return false;
        seen |= 1u << load->arg[i]->axis;
    }
    for (int i = 0; i < reader->n_axis; i++)
        if (reader->extent[i] != 1 && !(seen >> i & 1))
            return false;
    return true;
}

const expr *item_only_load(const item *reader, const node *n)
{
    const expr *load[MAX_LOADS], *found = NULL;
    const int total = x_loads(reader->raw, load, MAX_LOADS);
    for (int i = 0; i < total && i < MAX_LOADS; i++) {
        if (load[i]->from != n)
            continue;
        if (found)
            return NULL;
        found = load[i];
    }
    return found;
}

int item_site(const fuser *f, const item *it)
{
    while (f->p->placed && it && item_is_view(it)) {
        const expr *x = it->raw->kind == X_CAST ? it->raw->arg[0] : it->raw;
        const item *from = f->item[x->from->id];
        if (!from)
            break;
        it = from;
    }
    const int placed = f->p->placed && it ? f->p->placed[it->node->id] : 0;
    return placed ? placed - 1 : 0;
}

bool item_crosses(const fuser *f, const item *it)
{
    bool any = false;
    for (int i = 0; f->p->placed && i < it->n_reader && !any; i++) {
        const item *r = f->item[it->reader[i]];
        any = item_is_view(r) ? item_crosses(f, r) : item_site(f, r) != item_site(f, it);
    }
    return any;
}

int item_part(const fuser *f, const item *it)
{
    return f->p->apart && it && !item_is_view(it) ? f->p->apart[it->node->id] : 0;
}

bool item_together(const fuser *f, const item *a, const item *b)
{
    return item_part(f, a) == item_part(f, b) && item_site(f, a) == item_site(f, b);
}

int item_operands(const fuser *f, const item *it)
{
    const int most = plan_on(f->p, item_site(f, it))->operands;
    return most ? most : INT_MAX;
}
