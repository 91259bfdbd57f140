/* api.c - the part of tessera.h that is about graphs. */
#include "graph/ir/custom.h"

#include <stdlib.h>
#include <string.h>

ts_graph *ts_graph_make(void)
{
    graph *g = heap_array(1, sizeof *g);
    MUST(!pthread_mutex_init(&g->users, NULL));
    return g;
}

void g_add_user(graph *g, graph_user *u)
{
    pthread_mutex_lock(&g->users);
    *u = (graph_user){.of = g, .next = g->user};
    if (g->user)
        g->user->before = u;
    g->user = u;
    pthread_mutex_unlock(&g->users);
}

void g_drop_user(graph_user *u)
{
    graph *g = u->of;
    if (!g)
        return;
    pthread_mutex_lock(&g->users);
    *(u->before ? &u->before->next : &g->user) = u->next;
    if (u->next)
        u->next->before = u->before;
    u->of = NULL;
    pthread_mutex_unlock(&g->users);
}

void ts_graph_free(ts_graph *g)
{
    if (!g)
        return;
    for (graph_user *u = g->user; u; u = u->next)
        u->of = NULL;
    pthread_mutex_destroy(&g->users);
    arena_free(&g->mem);
    free(g);
}

bool ts_graph_ok(const ts_graph *g, ts_error *e)
{
    return err_given(g, "the graph", e) && (!err_is(&g->err) || err_set(e, g->err.code, "%s", g->err.text));
}

bool ts_graph_recover(ts_graph *g, ts_error *e)
{
    const bool ok = ts_graph_ok(g, e);
    if (g)
        g->err = (err){0}, g->waits = false;
    return ok;
}

static bool make_type(ts_graph *g, ts_dtype d, int rank, const int64_t *dim, type *out)
{
    if (!g)
        return false;
    if (rank < 0 || rank > MAX_RANK)
        return g_fail(g, TS_BAD_INPUT, "rank %d is not in 0...%d", rank, MAX_RANK), false;
    if (rank && !g_given(g, "the list of extents", dim))
        return false;
    *out = (type){.dtype = d, .rank = rank};
    if (rank)
        memcpy(out->dim, dim, (size_t)rank * sizeof *dim);
    return true;
}

ts_tensor ts_input(ts_graph *g, const char *name, ts_dtype d, int rank, const int64_t *dim)
{
    type t;
    return make_type(g, d, rank, dim, &t) ? g_input(g, name, &t, NULL) : NULL;
}

ts_tensor ts_weight(ts_graph *g, const char *name, ts_dtype d, int rank, const int64_t *dim, double mean, double scale,
                    uint64_t seed)
{
    type t;
    if (!make_type(g, d, rank, dim, &t))
        return NULL;
    return g_leaf(g, op_find("weight"), name, &t,
                  &(leaf){.kind = LEAF_WEIGHT, .mean = mean, .scale = scale, .seed = seed});
}

ts_tensor ts_constant(ts_graph *g, const char *name, const ts_array *value)
{
    type t;
    const bool good = g_given(g, "the value of a constant", value) &&
                      make_type(g, value->dtype, value->rank, value->dim, &t);
    return good ? g_const(g, name, &t, value->data) : NULL;
}

ts_tensor ts_scalar(ts_graph *g, ts_dtype d, double value)
{
    return g && type_valid(&(type){.dtype = d}, &g->err) && !err_is(&g->err) ? g_scalar(g, d, value) : NULL;
}

ts_tensor ts_call(ts_graph *g, const char *call, int n, const ts_tensor *in)
{
    if (!g_given(g, "the operation to call", call))
        return NULL;
    if (n < 0)
        return g_fail(g, TS_BAD_INPUT, "%s: %d operands, expected 0 or more", call, n);
    if (n && !g_given(g, "the list of operands", in))
        return NULL;
    return custom_output(g, g_call(g, call, n, in), 0);
}

ts_tensor ts_call1(ts_graph *g, const char *call, ts_tensor a)
{
    return ts_call(g, call, 1, &a);
}

ts_tensor ts_call2(ts_graph *g, const char *call, ts_tensor a, ts_tensor b)
{
    return ts_call(g, call, 2, (const ts_tensor[]){a, b});
}

ts_tensor ts_call3(ts_graph *g, const char *call, ts_tensor a, ts_tensor b, ts_tensor c)
{
    return ts_call(g, call, 3, (const ts_tensor[]){a, b, c});
}

ts_tensor ts_named(ts_graph *g, ts_tensor t, const char *name)
{
    int index;
    if (!g_has(g, "naming", 1, &t) || !g_given(g, "the name of a tensor", name))
        return NULL;
    g_label(g, t, name);
    if (t && custom_call(t, &index)) /* whose kernel is told apart by it */
        g_label(g, custom_call(t, &index), name);
    return t;
}

const char *ts_name(ts_tensor t)
{
    return t ? t->label : "";
}

ts_dtype ts_type(ts_tensor t)
{
    return t ? t->type.dtype : TS_N_DTYPE;
}

int ts_rank(ts_tensor t)
{
    return t ? t->type.rank : 0;
}

const int64_t *ts_shape(ts_tensor t)
{
    return t ? t->type.dim : NULL;
}

int ts_index(ts_tensor t)
{
    return t ? t->index : 0;
}

ts_tensor ts_origin(ts_tensor t)
{
    return t && t->origin ? t->origin : t;
}

static int there(int n, const ts_tensor *t) /* n, or 0 where one of them is missing */
{
    for (int i = 0; i < n; i++)
        if (!t || !t[i])
            return 0;
    return n;
}

int ts_node_count(int n, const ts_tensor *t)
{
    return g_reach(there(n, t), t, NULL);
}

char *ts_print(int n, const ts_tensor *t)
{
    text out = {0};
    g_print(&out, there(n, t), t);
    return text_take(&out);
}

bool ts_parse(ts_graph *g, const char *source, int max, ts_tensor *out, int *n, ts_error *e)
{
    if (!err_given(g, "the graph", e))
        return false;
    return source ? g_parse(g, source, max, out, n, e)
                  : err_set(e, TS_BAD_INPUT, "source is NULL, the text of a graph expected");
}

const char *ts_op_name(ts_tensor t)
{
    return t ? t->op->name : "";
}

int ts_leaves(int n, const ts_tensor *t, ts_tensor *out)
{
    int count;
    const node **need = g_reached(there(n, t), t, &count);
    int k = 0;
    for (int i = 0; i < count; i++) {
        if (!need[i]->leaf || need[i]->leaf->kind == LEAF_CONST)
            continue;
        if (out)
            out[k] = need[i];
        k++;
    }
    free(need);
    return k;
}

void ts_hash(int n, const ts_tensor *t, char hex[65])
{
    g_hash(there(n, t), t, hex);
}
