/* accesses.c - what a group's warps touch of memory, as the kernel's statements say it (target.touch): in sectors of
 * global memory, and passes over banks. */
#include "backends/gpu/figuring.h"
#include "schedule/nest/box.h"

static gpu_access *access_of(const figuring *c, const touch *t)
{
    gpu_figures *f = c->f;
    const stage *s = &c->k->stage[t->stage];
    int i = 0;
    while (i < f->n_access && (f->access[i].s != s || f->access[i].load != t->load ||
                               f->access[i].shared != t->shared || f->access[i].copy != t->copy))
        i++;
    if (i == MAX_ACCESS || t->load < 0 || t->load > MAX_LOADS) /* sums being merged and carried states have no name */
        return NULL;
    f->n_access += i == f->n_access;
    f->access[i].s = s, f->access[i].load = t->load, f->access[i].shared = t->shared, f->access[i].copy = t->copy;
    f->access[i].bytes = int_max(f->access[i].bytes, t->bytes);
    return &f->access[i];
}

static void add(const figuring *c, const touch *t, double times, double parts, double least)
{
    gpu_figures *f = c->f;
    gpu_access *a = access_of(c, t);
    const double share = t->share;
    if (a && !a->parts && times > 0) /* the figures of one warp, or of one row of a box */
        a->parts = (int64_t)(parts / times + 0.5), a->least = (int64_t)(least / times + 0.5);
    if (a)
        a->times += share * times;
    if (t->shared)
        f->banks += share * parts, f->banks_least += share * least;
    else
        f->moved += share * parts * SECTOR, f->asked += share * least * SECTOR;
}

/* Rows of a box, less what lies outside of the tensor. A sector that two rows share is counted once. */
static void add_box(const figuring *c, const touch *t)
{
    const box *b = t->box;
    int64_t rows = 1, last = INT64_MIN;
    double times = 0, parts = 0, least = 0;
    for (int d = 1; d < b->n; d++)
        rows *= b->dim[d].count;
    for (int64_t i = 0; i < rows; i++) {
        int64_t rest = i, at = b->first;
        const int64_t begin = int_max(t->at[0], 0), end = int_min(t->at[0] + b->dim[0].count, b->dim[0].extent);
        bool inside = begin < end;
        for (int d = 1; d < b->n; d++) {
            const int64_t place = t->at[d] + rest % b->dim[d].count;
            inside = inside && place >= 0 && place < b->dim[d].extent;
            at += place * b->dim[d].stride, rest /= b->dim[d].count;
        }
        if (!inside)
            continue;
        const int64_t low = (at + begin * b->size) / SECTOR, high = (at + end * b->size - 1) / SECTOR;
        times++, parts += (double)(high - low + (low != last)), last = high;
        least += (double)((end - begin) * b->size) / SECTOR;
    }
    add(c, t, times, parts, least);
}

void figure_touch(void *user, const touch *t)
{
    if (t->box)
        add_box(user, t);
    else if (t->shared)
        add(user, t, 1, (double)warp_cycles(t->at, t->n, t->bytes), (double)warp_cycles_least(t->n, t->bytes));
    else
        add(user, t, 1, (double)warp_sectors(t->at, t->n, t->bytes), (double)warp_sectors_least(t->at, t->n, t->bytes));
}
