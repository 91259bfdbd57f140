/* schema_match.c - which kernels a rule is for, and which rules are for none. */
#include "schedule/schema.h"
#include "schedule/schema_rule.h"

#include <fnmatch.h>
#include <string.h>

static int64_t extent_of(const stage *s, const char *letter) /* axes of one element are not walked and have no letter */
{
    for (int a = 0; a < s->n_axis; a++)
        if (!strcmp(s->letter[a], letter))
            return s->extent[a];
    return 1;
}

static bool fits_op(const rule *r, const kernel *k)
{
    for (int i = 0; i < r->n_op; i++)
        if (!strcmp(r->op[i], k->op))
            return true;
    return !r->n_op;
}

static bool fits_dim(const dim_test *d, const stage *s)
{
    const int64_t n = extent_of(s, d->axis);
    return n >= d->low && n <= d->high && (!d->multiple || n % d->multiple == 0);
}

/* Says nothing of kernels. */
static bool only_recomputes(const rule *r)
{
    return r->tells_recompute && !r->n_loops && !r->n_layout && r->fuse && !r->whole && !r->compute;
}

static bool fits(const rule *r, const kernel *k)
{
    const stage *s = &k->stage[k->main];
    if (only_recomputes(r) || !fits_op(r, k) || (r->glob && fnmatch(r->glob, k->label, 0)))
        return false;
    if (r->dtype && strcmp(r->dtype, ts_dtype_name(s->node->type.dtype)))
        return false;
    for (int i = 0; i < r->n_dim; i++)
        if (!fits_dim(&r->dim[i], s))
            return false;
    return true;
}

int schema_match(const schema *s, const kernel *k, int start)
{
    for (int i = start; i < s->n_rule; i++)
        if (fits(&s->rule[i], k))
            return i;
    return -1;
}

/* ---- rules without a kernel ---- */
static void add_dims(text *t, const kernel *k)
{
    const stage *s = &k->stage[k->main];
    text_add(t, "%s", k->op);
    for (int a = 0; a < s->n_axis; a++)
        text_add(t, " %s=%lld", s->letter[a], (long long)s->extent[a]);
}

static bool same_family(const kernel *a, const kernel *b)
{
    const stage *s = &a->stage[a->main], *t = &b->stage[b->main];
    return !strcmp(a->op, b->op) && s->n_axis == t->n_axis &&
           !memcmp(s->extent, t->extent, (size_t)s->n_axis * sizeof *s->extent);
}

static int misses(const rule *r, const kernel *k) /* how many of its conditions fail */
{
    const stage *s = &k->stage[k->main];
    int n = (r->glob && fnmatch(r->glob, k->label, 0)) +
            (r->dtype && strcmp(r->dtype, ts_dtype_name(s->node->type.dtype)));
    for (int i = 0; i < r->n_dim; i++)
        n += !fits_dim(&r->dim[i], s);
    return n;
}

enum { MAX_NEAR = 3 };
static void add_nearest(text *t, const rule *r,
                        const plan *p) /* of its operations, those that miss least; each shape once */
{
    const kernel *near[MAX_NEAR];
    int n = 0;
    for (int miss = 0; miss <= r->n_dim + 2; miss++)
        for (int i = 0; i < p->n_kernel && n < MAX_NEAR; i++) {
            const kernel *k = &p->kernel[i];
            bool had = !fits_op(r, k) || misses(r, k) != miss;
            for (int j = 0; j < n; j++)
                had = had || same_family(near[j], k);
            if (had)
                continue;
            text_add(t, n ? "; " : "");
            add_dims(t, k);
            near[n++] = k;
        }
}

static void add_ops(text *t, const plan *p)
{
    for (int i = 0; i < p->n_kernel; i++) {
        bool had = false;
        for (int j = 0; j < i; j++)
            had = had || !strcmp(p->kernel[j].op, p->kernel[i].op);
        if (!had)
            text_add(t, "%s%s", i ? ", " : "", p->kernel[i].op);
    }
}

void schema_unused(const schema *s, const plan *p, const bool *used, text *out)
{
    for (int i = 0; i < s->n_rule; i++) {
        const rule *r = &s->rule[i];
        const kernel *taken = NULL;
        bool near = false;
        for (int k = 0; k < p->n_kernel && !taken; k++) {
            taken = fits(r, &p->kernel[k]) ? &p->kernel[k] : NULL;
            near = near || fits_op(r, &p->kernel[k]);
        }
        if (used[i] || only_recomputes(r))
            continue;
        text_add(out, "%s: rule \"%s\" decides no kernel: ", r->place, r->name);
        if (taken)
            text_add(out, "%s %s is decided by \"%s\"", taken->op, taken->label, taken->rule);
        else if (near)
            text_add(out, "none fits; nearest are "), add_nearest(out, r, p);
        else
            text_add(out, "the plan has none of its operations; it has "), add_ops(out, p);
        text_add(out, "\n");
    }
}
