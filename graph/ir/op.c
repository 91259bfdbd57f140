/* op.c - definitions of operations, and the rules that every record must keep. */
#include "graph/ir/op.h"
#include "graph/ir/graph.h"
#include "graph/ir/scalar.h"

#include <string.h>

int defn_fold(defn *d, int64_t extent)
{
    MUST(d->n_axis < MAX_AXIS);
    d->extent[d->n_axis] = extent;
    return d->n_axis++;
}

const expr *defn_at(defn *d, int operand, const expr *const *subscript)
{
    return x_load(d->mem, d->node->in[operand], subscript);
}

const expr *defn_in(defn *d, int operand)
{
    const type *t = &d->node->in[operand]->type;
    const expr *sub[MAX_RANK];
    const int skip = d->node->type.rank - t->rank;
    MUST(skip >= 0);
    for (int i = 0; i < t->rank; i++)
        sub[i] = t->dim[i] == 1 && d->node->type.dim[i + skip] != 1 ? x_whole(d->mem, 0) : x_axis(d->mem, i + skip);
    return defn_at(d, operand, sub);
}

const expr *defn_routine(defn *d, const routine *r)
{
    const node *n = d->node;
    const expr *operand[MAX_PART];
    const int first = d->n_axis;
    routine *own = arena_get(d->mem, sizeof *own);
    *own = *r, own->parameter = arena_joined(d->mem, r->parameter, r->n_parameter, NULL, 0, sizeof *r->parameter);
    MUST(n->n_in <= MAX_PART);
    for (int i = 0; i < n->n_in; i++) { /* axis first + k walks dimension k of every operand */
        const expr *sub[MAX_RANK];
        for (int k = 0; k < n->in[i]->type.rank; k++) {
            const int64_t extent = n->in[i]->type.dim[k];
            if (first + k == d->n_axis)
                defn_fold(d, extent);
            if (d->extent[first + k] < extent)
                d->extent[first + k] = extent;
            sub[k] = x_axis(d->mem, first + k);
        }
        operand[i] = defn_at(d, i, sub);
    }
    const uint32_t axes = ((1u << d->n_axis) - 1) & ~((1u << first) - 1);
    return x_routine(d->mem, n->type.dtype, own, axes, n->n_in, operand);
}

/* Pointwise operations: a, b, c, d are the operands, numeric attributes go by their names. */
const expr *defn_text(defn *d, err *e)
{
    static const char *const letter[] = {"a", "b", "c", "d"};
    const op *o = d->node->op;
    names known = {.own = d->node->scalars};
    for (int i = 0; i < d->node->n_in; i++)
        known.name[i] = letter[i], known.value[i] = defn_in(d, i);
    known.n = d->node->n_in;
    for (const attr_spec *s = o->attr; s && s->name; s++) {
        const attr *a = node_attr(d->node, s->name);
        if (a->kind != 'i' && a->kind != 'f')
            continue;
        known.name[known.n] = s->name;
        known.value[known.n++] = a->kind == 'i' ? x_whole(d->mem, a->i) : x_real(d->mem, a->f);
    }
    return x_parse(d->mem, o->text, &known, e);
}

/* A fold over an empty axis is its unit: nothing walks it. */
static const expr *without_empty(void *user, const expr *x)
{
    const defn *d = user;
    for (int a = 0; x->kind == X_FOLD && a < d->n_axis; a++)
        if (x->folds >> a & 1 && d->extent[a] == 0)
            return x_unit(d->mem, x->fn, x->dtype);
    return x;
}

bool g_defn_calls(const node *n, arena *mem, defn *out, err *e)
{
    *out = (defn){.mem = mem, .node = n, .err = e, .n_axis = n->type.rank};
    memcpy(out->extent, n->type.dim, sizeof n->type.dim);
    MUST(!node_is_leaf(n));
    if (!(out->value = n->op->text ? defn_text(out, e) : n->op->body(out)))
        return err_in(e, "%s", n->op->name);
    bool empty = false;
    for (int a = n->type.rank; a < out->n_axis; a++)
        empty = empty || out->extent[a] == 0;
    if (empty && x_count(out->value, X_FOLD) && !x_alone(out->value)) {
        out->value = x_map(mem, out->value, without_empty, out);
        if (!x_count(out->value, X_FOLD))
            out->n_axis = n->type.rank;
    }
    out->value = x_cast(mem, n->type.dtype, out->value);
    return true;
}

bool g_defn(const node *n, arena *mem, defn *out, err *e)
{
    if (!g_defn_calls(n, mem, out, e))
        return false;
    const expr *x = x_expand(mem, n->scalars, out->value, e);
    return (x && (out->value = x)) || err_in(e, "%s", n->op->name);
}

int op_n_attr(const op *o)
{
    int n = 0;
    while (o->attr && o->attr[n].name)
        n++;
    return n;
}

bool op_is_bare(const op *o)
{
    return o->arity == 0 && !o->text && !o->body && !o->lower;
}
