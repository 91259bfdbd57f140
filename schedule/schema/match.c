/* match.c - which kernels, which of their stages, and which operations within them a rule is for. */
#include "schedule/schema/schema.h"

#include <fnmatch.h>
#include <string.h>

static int64_t extent_of(const stage *s, const char *letter) /* axes of one element are not walked and have no letter */
{
    for (int a = 0; a < s->n_axis; a++)
        if (!strcmp(s->letter[a], letter) || (a < s->n_shared && !strcmp(s->own[a], letter)))
            return s->extent[a];
    return 1;
}

bool schema_has_op(const rule *r, const char *name)
{
    bool found = !r->n_op;
    for (int i = 0; i < r->n_op; i++)
        found = found || !strcmp(r->op[i], name);
    return found;
}

static bool fits_dim(const dim_test *d, const stage *s)
{
    const int64_t n = extent_of(s, d->axis);
    return n >= d->low && n <= d->high && (!d->multiple || n % d->multiple == 0);
}

static bool fits_dtype(const rule *r, const node *n)
{
    return !r->dtype || !strcmp(r->dtype, ts_dtype_name(n->type.dtype));
}

static bool fits_values(const rule *r, const stage *s) /* extents and data type */
{
    bool all = fits_dtype(r, s->node);
    for (int i = 0; all && i < r->n_dim; i++)
        all = fits_dim(&r->dim[i], s);
    return all;
}

bool schema_about_kernels(const rule *r)
{
    return (!r->tells_recompute && !r->tells_blocks && !r->site && !r->reuse) || r->n_loops || r->n_layout ||
           !r->fuse || r->whole || r->compute;
}

/* ---- names ---- */
static bool is_named(const rule *r, const char *name)
{
    return name && *name && !fnmatch(r->glob, name, 0);
}

/* By what it computes, or by a weight, constant or input that it reads: the name of a computed value is that of the
 * kernel that makes it, not of its readers. */
static bool names_stage(const rule *r, const stage *s)
{
    bool found = is_named(r, s->node->label) || (s->whole && is_named(r, s->whole->label));
    for (int i = 0; !found && i < s->n_load; i++)
        found = s->load[i]->from->leaf && is_named(r, s->load[i]->from->label);
    return found;
}

static bool names_kernel(const rule *r, const kernel *k)
{
    return !fnmatch(r->glob, k->label, 0) || is_named(r, k->was) || (k->whole && is_named(r, k->whole->label));
}

/* Where a kernel has several stages, what one of them reads names that stage, unless the rule is for the group that
 * the kernel is. */
static bool names_any(const rule *r, const kernel *k)
{
    const bool whole = r->n_op && k->group && !strcmp(k->group->name, k->op);
    bool found = false;
    for (int i = 0; i < k->n_stage && (whole || k->n_stage == 1); i++)
        found = found || names_stage(r, &k->stage[i]);
    return found;
}

/* ---- what fits ---- */
static bool fits_kernel(const rule *r, const kernel *k)
{
    return !k->moves && !k->converts && !r->stage && schema_has_op(r, k->op) &&
           (!r->glob || names_kernel(r, k) || names_any(r, k)) && fits_values(r, &k->stage[k->main]);
}

bool schema_fits(const rule *r, const kernel *k)
{
    return schema_about_kernels(r) && fits_kernel(r, k);
}

static bool fits_stage(const rule *r, const kernel *k, int which)
{
    const stage *s = &k->stage[which];
    const bool own = s->whole && schema_has_op(r, s->whole->op->name);
    if (k->n_stage == 1 || !fits_values(r, s))
        return false;
    if (r->stage)
        return !fnmatch(r->stage, s->name, 0) && (own || schema_has_op(r, k->op)) &&
               (!r->glob || names_stage(r, s) || names_kernel(r, k));
    return r->glob && own && names_stage(r, s) && !fits_kernel(r, k);
}

bool schema_fits_stage(const rule *r, const kernel *k, int which)
{
    const stage *s = &k->stage[which];
    return r->n_op && s->whole && schema_has_op(r, s->whole->op->name) && fits_values(r, s);
}

static bool fits_part(const rule *r, const char *name, const node *result)
{
    bool named = !r->glob || is_named(r, result->label);
    for (int i = 0; !named && i < result->n_in; i++)
        named = result->in[i]->leaf && is_named(r, result->in[i]->label);
    return !r->stage && !r->n_dim && (r->n_op || r->glob) && named && schema_has_op(r, name) && fits_dtype(r, result);
}

bool schema_fits_part(const rule *r, const char *name, const node *result)
{
    return schema_about_kernels(r) && fits_part(r, name, result);
}

static bool is_here(const schema *s, int i)
{
    return !s->aside || !s->aside[i];
}

int schema_match(const schema *s, const kernel *k, int start)
{
    for (int i = start; i < s->n_rule; i++)
        if (is_here(s, i) && schema_fits(&s->rule[i], k))
            return i;
    return -1;
}

int schema_match_stage(const schema *s, const kernel *k, int which, int start)
{
    for (int i = start; i < s->n_rule; i++)
        if (is_here(s, i) && schema_about_kernels(&s->rule[i]) && fits_stage(&s->rule[i], k, which))
            return i;
    return -1;
}

int schema_match_part(const schema *s, const char *name, const node *result)
{
    for (int i = 0; i < s->n_rule; i++)
        if (is_here(s, i) && schema_fits_part(&s->rule[i], name, result))
            return i;
    return -1;
}

int schema_place(const schema *s, const kernel *k)
{
    int i = 0;
    while (i < s->n_rule && !(s->rule[i].site && is_here(s, i) && fits_kernel(&s->rule[i], k)))
        i++;
    return i < s->n_rule ? i : -1;
}

int schema_place_stage(const schema *s, const kernel *k, int which)
{
    int i = 0;
    while (i < s->n_rule && !(s->rule[i].site && is_here(s, i) && fits_stage(&s->rule[i], k, which)))
        i++;
    return i < s->n_rule ? i : -1;
}

int schema_place_part(const schema *s, const char *name, const node *result)
{
    int i = 0;
    while (i < s->n_rule && !(s->rule[i].site && is_here(s, i) && fits_part(&s->rule[i], name, result)))
        i++;
    return i < s->n_rule ? i : -1;
}

int schema_reuse(const schema *s, const kernel *k)
{
    for (int i = 0; i < s->n_rule; i++) {
        const rule *r = &s->rule[i];
        const bool any = !r->n_op && !r->glob && !r->stage && !r->dtype && !r->n_dim;
        if (r->reuse && is_here(s, i) && (any || fits_kernel(r, k)))
            return i;
    }
    return -1;
}

int schema_blocks(const schema *s, const char *name, const node *result)
{
    int loops = -1;
    for (int i = 0; i < s->n_rule; i++) {
        const rule *r = &s->rule[i];
        if (is_here(s, i) && r->tells_blocks && fits_part(r, name, result))
            return i;
        if (is_here(s, i) && loops < 0 && r->n_loops && r->n_op && schema_has_op(r, name))
            loops = i;
    }
    return loops;
}

bool schema_parts(const schema *s, const char *name, const node *result)
{
    bool any = schema_place_part(s, name, result) >= 0;
    for (int i = 0; i < s->n_rule && !any; i++)
        any = is_here(s, i) && !s->rule[i].fuse && fits_part(&s->rule[i], name, result);
    return any;
}

int schema_misses(const rule *r, const kernel *k)
{
    const stage *s = &k->stage[k->main];
    if (k->moves || k->converts)
        return -1;
    int n = (r->glob && !names_kernel(r, k) && !names_any(r, k)) + !fits_dtype(r, s->node);
    for (int i = 0; i < r->n_dim; i++)
        n += !fits_dim(&r->dim[i], s);
    return schema_has_op(r, k->op) ? n : -1;
}
