/* target.c - rows of a target's tables. */
#include "schedule/plan/target.h"
#include "graph/base/base.h"

#include <stdlib.h>

const role *target_role(const target *t, const char *name, size_t n)
{
    for (int i = 0; i < t->n_role; i++)
        if (word_is(t->role[i].name, name, n))
            return &t->role[i];
    return NULL;
}

const memory_space *target_space(const target *t, const char *name, size_t n)
{
    for (int i = 0; i < t->n_space; i++)
        if (word_is(t->space[i].name ? t->space[i].name : "", name, n))
            return &t->space[i];
    return NULL;
}

int target_last(const target *t)
{
    return t->n_level - 2;
}

int64_t target_aligned(const target *t, int64_t bytes)
{
    return (bytes + t->align - 1) / t->align * t->align;
}

static double flops_at(const target *t, double bytes_per_cycle)
{
    return bytes_per_cycle > 0 ? 2 * t->cost.fma_per_cycle * t->lanes[TS_F32] / bytes_per_cycle : 0;
}

double target_flops_per_byte(const target *t, int level)
{
    return flops_at(t, level < 0 ? 0 : t->level[level].bytes_per_cycle);
}

double target_flops_per_passed(const target *t, double bytes)
{
    const int last = target_last(t);
    const double rate = last < 0
                            ? 0
                            : t->level[bytes <= (double)target_bytes(t, t->near) ? t->near : last].passed_per_cycle;
    return rate > 0 ? flops_at(t, rate) : target_flops_per_byte(t, last);
}

int64_t target_bytes(const target *t, int level)
{
    return level < 0 ? 0 : level <= target_last(t) ? t->level[level].bytes : INT64_MAX;
}

const memory_space *target_group_space(const target *t)
{
    for (int i = 0; i < t->n_space; i++)
        if (t->space[i].copied && t->space[i].shared)
            return &t->space[i];
    return NULL;
}

static working_set *find_set(const footprint *f, int stage, int depth)
{
    int i = 0;
    while (i < f->n && (f->of[i].stage != stage || f->of[i].depth != depth))
        i++;
    return i < f->n ? &f->of[i] : NULL;
}

void footprint_add(footprint *f, const working_set *s)
{
    working_set *was = find_set(f, s->stage, s->depth);
    if (was && s->bytes > was->bytes)
        *was = *s;
    if (was)
        return;
    f->of = heap_grown(f->of, f->n, &f->cap, sizeof *f->of);
    f->of[f->n++] = *s;
}

const working_set *footprint_of(const footprint *f, int stage, int depth)
{
    static const working_set none;
    const working_set *s = find_set(f, stage, depth);
    return s ? s : &none;
}

void footprint_free(footprint *f)
{
    free(f->of), *f = (footprint){0};
}
