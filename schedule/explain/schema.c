/* schema.c - a plan's loops as a schema file: one rule for each operation and extents, to be edited
 * and given back. */
#include "schedule/explain/explain.h"
#include "graph/base/formats.h"
#include "schedule/nest/nest.h"

#include <stdlib.h>
#include <string.h>

typedef struct family { /* kernels of one operation and extents that are walked alike */
    const kernel *first;
    char *loops;
    int n;
    bool named; /* others of that operation and these extents are walked, or done, in another way */
} family;

static bool same_dims(const kernel *a, const kernel *b)
{
    const stage *s = &a->stage[a->main], *t = &b->stage[b->main];
    if (strcmp(a->op, b->op) || s->n_axis != t->n_axis || s->node->type.dtype != t->node->type.dtype)
        return false;
    for (int i = 0; i < s->n_axis; i++)
        if (s->extent[i] != t->extent[i] || strcmp(s->letter[i], t->letter[i]))
            return false;
    return true;
}

static bool fits(const stage *s, const replaced *r) /* all that a rule for s would say holds of it */
{
    bool all = true;
    for (int i = 0; all && i < s->n_axis; i++) {
        int a = 0;
        while (a < r->n_axis && strcmp(r->letter[a], s->letter[i]))
            a++;
        all = a < r->n_axis && r->extent[a] == s->extent[i];
    }
    return all;
}

/* What the schema leaves to the guess and became an alternative would be no more, if a rule were for it. */
static bool meets_replaced(const plan *p, const kernel *k)
{
    const stage *s = &k->stage[k->main];
    bool any = false;
    for (int i = 0; i < p->n_replaced; i++) {
        const replaced *r = &p->replaced[i];
        any = any || (!strcmp(r->op, k->op) && r->dtype == s->node->type.dtype && fits(s, r));
    }
    return any;
}

/* Of each operation and extents, the largest family needs no name; the others match by label, one rule for each. */
static int find_families(const plan *p, family *all)
{
    int n = 0;
    for (int i = 0; i < p->n_kernel; i++) {
        text loops = {0};
        int f = 0;
        if (p->kernel[i].merges || p->kernel[i].converts)
            continue;
        nest_print(&loops, &p->kernel[i], false);
        while (f < n && !(same_dims(all[f].first, &p->kernel[i]) && !strcmp(all[f].loops, text_str(&loops))))
            f++;
        if (f == n)
            all[n++] = (family){&p->kernel[i], text_take(&loops), 0, meets_replaced(p, &p->kernel[i])};
        all[f].n++;
        text_free(&loops);
    }
    for (int f = 0; f < n; f++)
        for (int o = 0; o < n; o++)
            if (o != f && same_dims(all[o].first, all[f].first))
                all[f].named = all[f].named || all[o].n > all[f].n || (all[o].n == all[f].n && o < f);
    return n;
}

/* Rules with names come before those that take the rest. A rule fits kernels with axes that it does not speak of, so
 * those that speak of more come first. */
static int by_reach(const void *a, const void *b)
{
    const family *x = a, *y = b;
    const int n = x->first->stage[x->first->main].n_axis, m = y->first->stage[y->first->main].n_axis;
    if (x->named != y->named)
        return x->named ? -1 : 1;
    return n != m ? m - n : x->first < y->first ? -1 : x->first > y->first;
}

static void add_glob(text *t, const char *label) /* that matches the label alone */
{
    text quoted = {0};
    for (const char *s = label; *s; s++)
        text_add(&quoted, strchr("*?[\\", *s) ? "\\%c" : "%c", *s);
    json_add(t, "name:%s", text_str(&quoted));
    text_free(&quoted);
}

/* What the rule is for: "k2 layer.0.query.weight and 47 more, 151 Mflop each". */
static void add_comment(text *t, const plan *p, const kernel *k, int n)
{
    text line = {0};
    text_add(&line, "k%d", (int)(k - p->kernel));
    if (*k->label)
        text_add(&line, " %s", k->label);
    if (n > 1)
        text_add(&line, " and %d more", n - 1);
    text_add(&line, ", %.3g Mflop%s", k->flops / 1e6, n > 1 ? " each" : "");
    json_add(t, "\n      '//':%s", text_str(&line));
    text_free(&line);
}

static void add_rule(text *t, const plan *p, const family *f, const kernel *k)
{
    const stage *s = &k->stage[k->main];
    text name = {0};
    text_add(&name, "%s", k->op);
    for (int a = 0; a < s->n_axis; a++)
        text_add(&name, " %s%lld", s->letter[a], (long long)s->extent[a]);
    json_add(t, "\n    {\n      name:%s", name.s);
    text_free(&name);
    add_comment(t, p, k, f->named ? 1 : f->n);
    json_add(t, "\n      match:{ op:[%s]", k->op);
    if (f->named)
        add_glob(t, k->label);
    json_add(t, "dtype:%s,dims:{", ts_dtype_name(s->node->type.dtype));
    for (int a = 0; a < s->n_axis; a++)
        json_add(t, a ? "%s:'%lld'" : " %s:'%lld'", s->letter[a], (long long)s->extent[a]);
    json_add(t, " } },\n      loops:[%s,'guess']\n    }", f->loops);
}

static void add_rules(text *t, const plan *p, const family *f) /* for each label, or one */
{
    for (int i = (int)(f->first - p->kernel); i < p->n_kernel; i++) {
        const kernel *k = &p->kernel[i];
        text loops = {0};
        nest_print(&loops, k, false);
        const bool own = same_dims(f->first, k) && !strcmp(text_str(&loops), f->loops) && (!f->named || *k->label);
        text_free(&loops);
        if (own)
            add_rule(t, p, f, k);
        if (!f->named)
            break;
    }
}

/* The lengths of blocks: a rule for each operation where they are all alike, else for each label. */
static void add_blocks(text *t, const plan *p)
{
    for (int i = 0; i < p->n_blocked; i++) {
        const block_choice *b = &p->blocked[i];
        bool alike = true, first = true;
        text name = {0};
        for (int k = 0; k < p->n_blocked; k++)
            if (!strcmp(p->blocked[k].op, b->op))
                alike = alike && p->blocked[k].size == b->size, first = first && k >= i;
        if (alike ? !first || !b->size : !*b->label)
            continue;
        text_add(&name, "%s in blocks", b->op);
        json_add(t, "\n    {\n      name:%s,\n      match:{ op:[%s]", name.s, b->op), text_free(&name);
        if (!alike)
            add_glob(t, b->label);
        json_add(t, " },\n      blocks:%lld\n    }", (long long)b->size);
    }
}

void plan_schema(const plan *p, const char *by, text *out)
{
    family *all = heap_array((size_t)p->n_kernel + 1, sizeof *all);
    const int n = find_families(p, all);
    qsort(all, (size_t)n, sizeof *all, by_reach);
    out->wide = true;
    json_add(out, "{\n  format:'" FORMAT_TILING "',\n  name:");
    text_add(out, "\"guess for %s, %d threads\"", p->on->model, p->threads);
    json_add(
        out, "\n  '//':%s,\n  target:%s,\n  extends:'guess',\n  rules:[",
        "The first rule that fits a kernel decides; its loops are tried in order. Change some, delete the rest: what "
        "no rule fits is guessed.",
        by);
    add_blocks(out, p);
    for (int i = 0; i < n; i++) {
        if (*all[i].loops) /* a kernel of one element has none */
            add_rules(out, p, &all[i]);
        free(all[i].loops);
    }
    text_add(out, "\n  ]\n}\n");
    free(all);
}
