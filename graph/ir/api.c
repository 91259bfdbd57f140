/* api.c - the part of tessera.h that is about graphs. */
#include "graph/ir/custom.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct graph_users {
    pthread_mutex_t lock;
    graph_user *first;
};

graph_users *graph_users_make(void)
{
    graph_users *u = heap_array(1, sizeof *u);
    MUST(!pthread_mutex_init(&u->lock, NULL));
    return u;
}

void graph_users_free(graph_users *u)
{
    if (u)
        pthread_mutex_destroy(&u->lock);
    free(u);
}

ts_graph *ts_graph_make(void)
{
    graph *g = heap_array(1, sizeof *g);
    g->users = graph_users_make();
    g->most_work = VALUE_WORK;
    return g;
}

void g_add_user(graph *g, graph_user *u)
{
    pthread_mutex_lock(&g->users->lock);
    *u = (graph_user){.of = g, .next = g->users->first};
    if (g->users->first)
        g->users->first->before = u;
    g->users->first = u;
    pthread_mutex_unlock(&g->users->lock);
}

void g_drop_user(graph_user *u)
{
    graph *g = u->of;
    if (!g)
        return;
    pthread_mutex_lock(&g->users->lock);
    *(u->before ? &u->before->next : &g->users->first) = u->next;
    if (u->next)
        u->next->before = u->before;
    u->of = NULL;
    pthread_mutex_unlock(&g->users->lock);
}

void ts_graph_free(ts_graph *g)
{
    if (!g)
        return;
    for (graph_user *u = g->users->first; u; u = u->next)
        u->of = NULL;
    graph_users_free(g->users);
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

/* ---- places in the program ---- */
ts_graph *ts_at(ts_graph *g, const char *file, int line)
{
    if (g)
        g->site = (source_line){file, line};
    return g;
}

enum { MOST_TOLD = 4 };
static void tell_site(text *t, const node *n)
{
    text_add(t, "%s", n->op->name);
    if (*n->label)
        text_add(t, " "), text_json(t, n->label);
    text_add(t, " at %s:%d", n->site.file, n->site.line);
}

/* An operand, and the last of the inputs and weights that it is computed from: an extent comes from one of them. */
static void tell_operand(text *t, const node *n)
{
    int count, told = 0;
    if (!n || !n->site.file)
        return;
    text_add(t, "; "), tell_site(t, n);
    ENDED_BY(heap_free) const node **need = g_reached_make(1, &n, &count);
    for (int i = count - 2; i >= 0 && told < MOST_TOLD; i--)
        if (need[i]->leaf && need[i]->leaf->kind != LEAF_CONST && need[i]->site.file)
            text_add(t, told++ ? ", " : " from "), tell_site(t, need[i]);
}

/* y, or NULL: then the reason gets the places of the call and of its operands. */
static const node *told(graph *g, bool was_good, const node *y, int n, const node *const *in)
{
    if (y || !was_good || !err_is(&g->err) || !g->site.file)
        return y;
    ENDED_BY(text_free) text t = {0};
    text_add(&t, "the call is at %s:%d", g->site.file, g->site.line);
    for (int i = 0; in && i < n; i++)
        tell_operand(&t, in[i]);
    err_hint(&g->err, "%s", text_str(&t));
    return NULL;
}

static bool is_good(const graph *g)
{
    return g && !err_is(&g->err);
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
    const bool ok = is_good(g);
    return told(g, ok, make_type(g, d, rank, dim, &t) ? g_input(g, name, &t, NULL) : NULL, 0, NULL);
}

ts_tensor ts_weight(ts_graph *g, const char *name, ts_dtype d, int rank, const int64_t *dim, double mean, double scale,
                    uint64_t seed)
{
    type t;
    const leaf l = {.kind = LEAF_WEIGHT, .mean = mean, .scale = scale, .seed = seed};
    const bool ok = is_good(g);
    return told(g, ok, make_type(g, d, rank, dim, &t) ? g_leaf(g, op_find("weight"), name, &t, &l) : NULL, 0, NULL);
}

ts_tensor ts_constant(ts_graph *g, const char *name, const ts_array *value)
{
    type t;
    const bool ok = is_good(g), complete = g_given(g, "the value of a constant", value) &&
                                           make_type(g, value->dtype, value->rank, value->dim, &t);
    return told(g, ok, complete ? g_const(g, name, &t, value->data) : NULL, 0, NULL);
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
    const bool ok = is_good(g);
    return told(g, ok, custom_output(g, g_call(g, call, n, in), 0), n, in);
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

int ts_nodes(int n, const ts_tensor *t, ts_tensor *out)
{
    return g_reach(there(n, t), t, out);
}

ts_tensor ts_operand(ts_tensor t, int i)
{
    return t && i >= 0 && i < t->n_in ? t->in[i] : NULL;
}

int ts_consumers(int n, const ts_tensor *t, ts_tensor of, ts_tensor *out)
{
    int count, k = 0;
    ENDED_BY(heap_free) const node **need = g_reached_make(there(n, t), t, &count);
    for (int i = 0; i < count; i++) {
        bool reads = false;
        for (int j = 0; of && j < need[i]->n_in; j++)
            reads = reads || need[i]->in[j] == of;
        if (reads && out)
            out[k] = need[i];
        k += reads;
    }
    return k;
}

bool ts_attribute_at(ts_tensor t, int i, ts_attribute *out)
{
    if (!t || i < 0 || i >= op_n_attr(t->op) || !out)
        return false;
    const attr *a = &t->attr[i];
    *out = (ts_attribute){t->op->attr[i].name, a->kind, a->n, a->i, a->f, a->s, a->ints, a->reals};
    return true;
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
    ENDED_BY(heap_free) const node **need = g_reached_make(there(n, t), t, &count);
    int k = 0;
    for (int i = 0; i < count; i++) {
        if (!need[i]->leaf || need[i]->leaf->kind == LEAF_CONST)
            continue;
        if (out)
            out[k] = need[i];
        k++;
    }
    return k;
}

void ts_hash(int n, const ts_tensor *t, char hex[65])
{
    g_hash(there(n, t), t, hex);
}
