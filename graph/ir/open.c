/* open.c - inputs and weights with open extents (-1): who makes one leaves to its first use how long an axis is, as the
 * inner extent of w where "ij,jk->ik" multiplies it with x. Until then no other call takes it, so that all nodes have
 * operands of known extents, and it gets them once. */
#include "graph/ir/attr.h"
#include "graph/ir/rule.h"

#include <string.h>

bool node_is_open(const node *n)
{
    for (int i = 0; i < n->type.rank; i++)
        if (n->type.dim[i] < 0)
            return true;
    return false;
}

static void print_call(text *t, const node *call)
{
    int k = 0;
    text_add(t, "%s", call->op->name);
    for (const attr_spec *s = call->op->attr; s && s->name; s++) {
        text one = {0}, usual = {0};
        attr_print(&one, &call->attr[k++]), text_add(&usual, " %s=%s", s->name, s->fallback ? s->fallback : "");
        text_add(t, "%s", strcmp(text_str(&one), text_str(&usual)) ? text_str(&one) : "");
        text_free(&one), text_free(&usual);
    }
    for (int i = 0; i < call->n_in; i++) {
        text_add(t, i ? ", " : " of "), type_print(t, &call->in[i]->type);
        if (*call->in[i]->label)
            text_add(t, " "), text_json(t, call->in[i]->label);
    }
}

static bool refuse(graph *g, const node *call, int axis, const node *n)
{
    text t = {0}, is = {0};
    print_call(&t, call), type_print(&is, &n->type);
    g_fail(g, TS_BAD_INPUT, "%s: nothing says how long axis %d of %s \"%s\" is", text_str(&t), axis, n->op->name,
           n->label);
    text_free(&t), text_free(&is);
    return err_hint(&g->err, "write its extents where \"%s\" is made", n->label);
}

/* Operands are as long along an axis as the longest of the others, counted from the last axis. */
bool extents_pointwise(graph *g, const node *call, int64_t (*dim)[MAX_RANK])
{
    (void)g;
    for (int k = 0; k < call->n_in; k++)
        for (int i = 1; i <= call->in[k]->type.rank; i++)
            for (int j = 0; j < call->n_in; j++) {
                const type *other = &call->in[j]->type;
                int64_t *to = &dim[k][call->in[k]->type.rank - i];
                if (call->in[k]->type.dim[call->in[k]->type.rank - i] < 0 && other->rank >= i &&
                    other->dim[other->rank - i] > *to)
                    *to = other->dim[other->rank - i];
            }
    return true;
}

/* All are known before the first one is closed. */
static bool all_said(graph *g, const node *call, int64_t (*dim)[MAX_RANK])
{
    for (int k = 0; k < call->n_in; k++)
        for (int i = 0; i < call->in[k]->type.rank; i++)
            if (dim[k][i] < 0)
                return refuse(g, call, i, call->in[k]);
    return true;
}

bool g_close_all(graph *g, const node *call)
{
    bool open = false;
    for (int k = 0; k < call->n_in; k++)
        open = open || node_is_open(call->in[k]);
    if (!open)
        return true;
    int64_t(*dim)[MAX_RANK] = arena_array(&g->mem, (size_t)call->n_in, sizeof *dim);
    for (int k = 0; k < call->n_in; k++)
        memcpy(dim[k], call->in[k]->type.dim, sizeof *dim);
    const op *o = call->op;
    if (o->extents && !o->extents(g, call, dim))
        return err_in(&g->err, "%s", o->name);
    if (!o->extents && o->text)
        extents_pointwise(g, call, dim);
    if (!all_said(g, call, dim))
        return false;
    text t = {0};
    print_call(&t, call);
    const char *by = arena_string(&g->mem, text_str(&t));
    text_free(&t);
    for (int k = 0; k < call->n_in; k++)
        if (node_is_open(call->in[k]) && !g_close(g, call->in[k], dim[k], by))
            return false;
    return true;
}

bool g_none_open(graph *g, const char *what, int n, const node *const *list)
{
    text t = {0};
    for (int i = 0; i < n; i++) {
        if (!list[i] || !node_is_open(list[i]))
            continue;
        type_print(&t, &list[i]->type);
        g_fail(g, TS_BAD_INPUT, "%s: no call says how long %s \"%s\" %s is", what, list[i]->op->name, list[i]->label,
               text_str(&t));
        text_free(&t);
        return err_hint(&g->err, "write its extents where it is made; else the first einsum, product or pointwise "
                                 "operation that takes it says them");
    }
    return true;
}

/* Of a call that failed: which of its operands had extents left open, and who said them. */
void g_tell_closed(graph *g, const node *call)
{
    for (int k = 0; k < call->n_in; k++) {
        const leaf *l = call->in[k]->leaf;
        if (!l || !l->closed_by || strstr(g->err.text, l->closed_by))
            continue;
        text t = {0};
        type_print(&t, &call->in[k]->type);
        err_hint(&g->err, "%s \"%s\" is %s since %s took it", call->in[k]->op->name, call->in[k]->label, text_str(&t),
                 l->closed_by);
        text_free(&t);
    }
}
