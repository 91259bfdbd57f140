/* open.c - open extents (-1): who makes an input or weight leaves to a use how long an axis is, as the inner extent of
 * w where "ij,jk->ik" multiplies it with x. What pointwise operations, products, or another order of axes make of it is
 * open too, until a use says more: that goes back to all operands, and from these on to whatever they are operands of.
 * Other calls take nothing that is open, so all that they make has operands of known extents. */
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

void g_open(graph *g, const node *n)
{
    g->open = arena_grown(&g->mem, g->open, g->n_open, &g->cap_open, sizeof *g->open);
    g->open[g->n_open++] = n;
}

/* ---- what is said of them ---- */
static void print_call(text *t, const node *call)
{
    int k = 0;
    text_add(t, "%s", call->op->name);
    for (const attr_spec *s = call->op->attr; s && s->name; s++) {
        ENDED_BY(text_free) text one = {0}, usual = {0};
        attr_print(&one, &call->attr[k++]), text_add(&usual, " %s=%s", s->name, s->fallback ? s->fallback : "");
        text_add(t, "%s", strcmp(text_str(&one), text_str(&usual)) ? text_str(&one) : "");
    }
    for (int i = 0; i < call->n_in; i++) {
        text_add(t, i ? ", " : " of "), type_print(t, &call->in[i]->type);
        if (*call->in[i]->label)
            text_add(t, " "), text_json(t, call->in[i]->label);
    }
}

/* The leaf that n is computed from and of which extents are open, or were said: by whom, n and it have alike. */
static const node *origin(const node *n)
{
    for (int i = 0; i < n->n_in; i++)
        if (node_is_open(n) ? node_is_open(n->in[i]) : n->closed_by == n->in[i]->closed_by)
            return origin(n->in[i]);
    return n;
}

static bool refuse(graph *g, const node *call, int axis, const node *n)
{
    ENDED_BY(text_free) text t = {0};
    const node *of = origin(n);
    print_call(&t, call);
    for (axis = of == n ? axis : 0; of != n && axis + 1 < of->type.rank && of->type.dim[axis] >= 0;)
        axis++;
    g_fail(g, TS_BAD_INPUT, "%s: nothing says how long axis %d of %s \"%s\" is", text_str(&t), axis, of->op->name,
           of->label);
    return err_hint(&g->err, "write its extents where \"%s\" is made", of->label);
}

/* ---- what calls say ---- */
/* An axis is as long as the result's, or as the longest of the other operands', counted from the last axis: where these
 * have 1, it may be longer. */
bool extents_pointwise(graph *g, const node *call, int64_t (*dim)[MAX_RANK])
{
    (void)g;
    for (int k = 0; k < call->n_in; k++)
        for (int i = 1; i <= call->in[k]->type.rank; i++) {
            int64_t *to = &dim[k][call->in[k]->type.rank - i], longest = -1;
            if (call->type.rank >= i)
                longest = dim[call->n_in][call->type.rank - i];
            for (int j = 0; j < call->n_in; j++) {
                const int rank = call->in[j]->type.rank;
                if (rank >= i && dim[j][rank - i] > longest && dim[j][rank - i] != 1)
                    longest = dim[j][rank - i];
            }
            *to = *to < 0 ? longest : *to;
        }
    return true;
}

typedef struct saying { /* what a call says of its operands */
    const node *call;
    int64_t (*dim)[MAX_RANK];
    const char *by; /* the call whose extents these follow from */
} saying;

static bool ask(graph *g, saying *s)
{
    const op *o = s->call->op;
    const int n = s->call->n_in;
    for (int k = 0; k < n; k++)
        memcpy(s->dim[k], s->call->in[k]->type.dim, sizeof *s->dim);
    for (int i = 0; i < MAX_RANK; i++)
        s->dim[n][i] = i < s->call->type.rank ? s->call->type.dim[i] : OPEN_EXTENT;
    if (o->extents && !o->extents(g, s->call, s->dim))
        return err_in(&g->err, "%s", o->name);
    return o->extents || !o->text || extents_pointwise(g, s->call, s->dim);
}

/* n gets what is new of dim. */
static bool learn(graph *g, const node *n, const int64_t *dim, const char *by, bool *more)
{
    bool new = false;
    for (int i = 0; i < n->type.rank; i++) {
        if (dim[i] >= 0 && n->type.dim[i] >= 0 && dim[i] != n->type.dim[i])
            return g_fail(g, TS_BAD_INPUT, "%s: axis %d of %s would be %lld and %lld long", by, i, n->op->name,
                          (long long)n->type.dim[i], (long long)dim[i]),
                   false;
        new = new || (n->type.dim[i] < 0 && dim[i] >= 0);
    }
    *more = *more || new;
    return !new || g_close(g, n, dim, by);
}

static bool learn_operands(graph *g, const saying *s, bool *more)
{
    bool ok = true;
    for (int k = 0; ok && k < s->call->n_in; k++)
        ok = !node_is_open(s->call->in[k]) || learn(g, s->call->in[k], s->dim[k], s->by, more);
    return ok;
}

/* What was said of some goes on to all that is open, until nothing is new. */
static bool spread(graph *g, const char *by)
{
    bool more = true, ok = true;
    while (ok && more) {
        more = false;
        for (int i = g->n_open - 1; ok && i >= 0; i--) {
            const node *n = g->open[i];
            if (n->leaf)
                continue;
            saying s = {n, arena_array(&g->mem, (size_t)n->n_in + 1, sizeof *s.dim), by};
            ok = ask(g, &s) && learn_operands(g, &s, &more);
        }
        for (int i = 0; ok && i < g->n_open; i++) {
            node draft = *g->open[i];
            ok = draft.leaf || (g_find_type(g, &draft, &g->err) && learn(g, g->open[i], draft.type.dim, by, &more));
        }
    }
    int left = 0;
    for (int i = 0; i < g->n_open; i++)
        if (node_is_open(g->open[i]))
            g->open[left++] = g->open[i];
    g->n_open = left;
    return ok;
}

bool kept_all(const node *n, int k, int i)
{
    (void)n, (void)k, (void)i;
    return true;
}

/* Whether an axis of an operand may stay open, as the result's is then */
static bool may_wait(const node *call, int k, int i)
{
    const op *o = call->op;
    return o->kept ? o->kept(call, k, i) : o->text && !o->custom;
}

/* All that the call has to know are known before the first one is closed. */
static bool all_said(graph *g, const saying *s)
{
    for (int k = 0; k < s->call->n_in; k++)
        for (int i = 0; i < s->call->in[k]->type.rank; i++)
            if (s->dim[k][i] < 0 && !may_wait(s->call, k, i))
                return refuse(g, s->call, i, s->call->in[k]);
    return true;
}

bool g_close_all(graph *g, const node *call)
{
    bool open = false, more = false;
    for (int k = 0; k < call->n_in; k++)
        open = open || node_is_open(call->in[k]);
    if (!open)
        return true;
    saying s = {call, arena_array(&g->mem, (size_t)call->n_in + 1, sizeof *s.dim), NULL};
    if (!ask(g, &s) || !all_said(g, &s))
        return false;
    ENDED_BY(text_free) text t = {0};
    print_call(&t, call);
    s.by = arena_string(&g->mem, text_str(&t));
    return learn_operands(g, &s, &more) && (!more || spread(g, s.by));
}

bool g_none_open(graph *g, const char *what, int n, const node *const *list)
{
    ENDED_BY(text_free) text t = {0};
    for (int i = 0; i < n; i++) {
        if (!list[i] || !node_is_open(list[i]))
            continue;
        const node *of = origin(list[i]);
        type_print(&t, &of->type);
        g_fail(g, TS_BAD_INPUT, "%s: no call says how long %s \"%s\" %s is", what, of->op->name, of->label,
               text_str(&t));
        return err_hint(&g->err, "write its extents where it is made; else an einsum, product or pointwise operation "
                                 "that takes it says them");
    }
    return true;
}

/* Of a call that failed: which of its operands had extents left open, and who said them. */
void g_tell_closed(graph *g, const node *call)
{
    for (int k = 0; k < call->n_in; k++) {
        bool told = !call->in[k]->closed_by;
        for (int i = 0; i < k; i++)
            told = told || call->in[i]->closed_by == call->in[k]->closed_by;
        if (told)
            continue;
        const node *of = origin(call->in[k]);
        ENDED_BY(text_free) text t = {0};
        type_print(&t, &of->type);
        err_hint(&g->err, "%s \"%s\" is %s since %s took it", of->op->name, of->label, text_str(&t), of->closed_by);
    }
}
