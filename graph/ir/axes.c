/* axes.c - names of axes, as units: what is read along one axis must have one name there. Names of a result follow from
 * its definition: where an axis is read whole, in order, it stays what it is. What is cut, shifted or merged has no
 * name. An axis of extent 1 that is read for all places of a longer one stands for any. */
#include "graph/base/err.h"
#include "graph/ir/rule.h"

#include <stdio.h>
#include <string.h>

enum { MOST_AXIS_NAME = 64 };
typedef struct meeting { /* of one axis of a definition */
    const char *name;    /* NULL: none so far */
    const node *from;    /* that brought it */
} meeting;

static const char *called(const node *n)
{
    return *n->label ? n->label : n->op->name;
}

static bool has_names(const node *n)
{
    bool any = false;
    for (int i = 0; i < n->n_in; i++)
        any = any || n->in[i]->axes;
    return any;
}

/* ---- what follows ---- */
static bool meet(meeting *m, const expr *x, err *e)
{
    for (int i = 0; i < x->n; i++) {
        const expr *at = x->arg[i];
        const char *name = x->kind == X_LOAD && x->from->axes && at->kind == X_AXIS ? x->from->axes[i] : NULL;
        if (!meet(m, at, e))
            return false;
        if (!name)
            continue;
        meeting *with = &m[at->axis];
        if (with->name && strcmp(with->name, name)) {
            err_set(e, TS_BAD_INPUT, "axis \"%s\" of %s meets axis \"%s\" of %s", with->name, called(with->from), name,
                    called(x->from));
            return err_hint(e, "transpose one of them, or leave a name of ts_axes out, as _");
        }
        *with = (meeting){name, x->from};
    }
    return true;
}

bool g_axes_follow(graph *g, node *draft)
{
    ENDED_BY(arena_free) arena mem = {0};
    defn d;
    meeting m[MAX_AXIS] = {{0}};
    const char **axes = NULL;
    err none = {0};
    if (!has_names(draft) || draft->trip || node_is_open(draft) || !g_defn_calls(draft, &mem, &d, &none) ||
        d.value->kind == X_ROUTINE)
        return true;
    if (!meet(m, d.value, &g->err))
        return false;
    for (int i = 0; i < draft->type.rank; i++) {
        if (!m[i].name)
            continue;
        if (!axes)
            axes = arena_array(&g->mem, (size_t)draft->type.rank, sizeof *axes);
        axes[i] = m[i].name;
    }
    draft->axes = axes;
    return true;
}

/* ---- what a program says ---- */
static bool read_names(graph *g, const node *n, const char *s, const char **axes)
{
    char name[MOST_AXIS_NAME];
    const char *all = s;
    int i = 0, used = 0;
    for (; sscanf(s, " %63s%n", name, &used) == 1; s += used, i++) {
        if (i >= n->type.rank)
            break;
        const char *is = n->axes ? n->axes[i] : NULL;
        axes[i] = strcmp(name, "_") != 0 ? arena_string(&g->mem, name) : is;
        if (is && strcmp(is, axes[i]))
            return g_fail(g, TS_BAD_INPUT, "axis %d of %s is \"%s\" already, not \"%s\"", i, called(n), is, name),
                   false;
        for (int k = 0; k < i; k++)
            if (axes[k] && axes[i] && !strcmp(axes[k], axes[i]))
                return g_fail(g, TS_BAD_INPUT, "two axes of %s are \"%s\"", called(n), name), false;
    }
    used = 0;
    if (i != n->type.rank || sscanf(s, " %63s%n", name, &used) == 1)
        return g_fail(g, TS_BAD_INPUT, "names of axes: \"%s\", %d expected for %s", all, n->type.rank, called(n)),
               false;
    return true;
}

ts_tensor ts_axes(ts_graph *g, ts_tensor t, const char *s)
{
    if (!g_has(g, "naming", 1, &t) || !g_given(g, "the tensor whose axes are named", t) ||
        !g_given(g, "the names of its axes", s))
        return NULL;
    const char **axes = arena_array(&g->mem, (size_t)t->type.rank + 1, sizeof *axes);
    if (!read_names(g, t, s, axes))
        return NULL;
    g_name_axes(g, t, axes);
    return t;
}

int ts_axis(ts_tensor t, const char *name)
{
    for (int i = 0; t && name && t->axes && i < t->type.rank; i++)
        if (t->axes[i] && !strcmp(t->axes[i], name))
            return i;
    return -1;
}
