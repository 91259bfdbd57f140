/* graph.c - making nodes: checking, completing, interning. */
#include "graph/ir/graph.h"
#include "graph/ir/attr.h"
#include "graph/ir/custom.h"
#include "graph/ir/rule.h"
#include "graph/ir/trip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORD = 64, SMALL_CONST = 4096 }; /* constants up to so many bytes are interned by content */

const node *g_fail(graph *g, ts_code code, const char *fmt, ...)
{
    char what[1024];
    va_list v;
    va_start(v, fmt);
    vsnprintf(what, sizeof what, fmt, v);
    va_end(v);
    err_set(g ? &g->err : NULL, code, "%s", what);
    return NULL;
}

bool g_differs(graph *g, const char *what, const type *is, const type *wanted)
{
    return g_fail(g, TS_BAD_INPUT, "%s is %s, expected %s", what, type_said(is).s, type_said(wanted).s);
}

bool node_is_leaf(const node *n)
{
    return n->leaf != NULL;
}

bool node_is_weight(const node *n)
{
    return n->leaf && n->leaf->kind != LEAF_INPUT;
}

/* ---- what belongs to whom ---- */
/* A whole number that no shape or count is likely to be: bit 62 is set, and the rest is a hash of how many were given
 * out, so that the same program gives the same numbers every time. */
int64_t g_own(graph *g)
{
    const uint64_t count = (uint64_t)++g->n_own;
    return (int64_t)(quick_hash(&count, sizeof count, 1) >> 1 | INT64_C(1) << 62);
}

/* As messages name a tensor: operation, label if it has one, dtype and shape. */
static void describe(text *t, const node *n)
{
    const bool bound = n->leaf && n->leaf->bound; /* "state 0 of scan 0" */
    text_add(t, "%s ", bound ? n->label : n->op->name);
    if (*n->label && !bound)
        text_json(t, n->label), text_add(t, " ");
    type_print(t, &n->type);
}

/* What a trip computes is there while the trip is built. */
static bool none_past(graph *g, const char *what, int n, const node *const *list)
{
    for (int i = 0; i < n; i++) {
        if (!list[i] || !list[i]->past)
            continue;
        ENDED_BY(text_free) text t = {0};
        describe(&t, list[i]);
        g_fail(g, TS_BAD_INPUT, "%s: %s is of a trip of scan %d, which has ended", what, text_str(&t),
               list[i]->past - 1);
        return err_hint(&g->err, "take what ts_scan_end gave: last values of states, and of other tensors of a trip "
                                 "the rows that ts_scan_gather keeps");
    }
    return true;
}

bool g_has(graph *g, const char *what, int n, const node *const *list)
{
    const node *own = NULL;
    if (!g)
        return false;
    for (int i = 0; i < n; i++)
        if (list[i] && list[i]->id < g->n && g->node[list[i]->id] == list[i])
            own = list[i];
    for (int i = 0; i < n; i++) {
        if (!list[i] || (list[i]->id < g->n && g->node[list[i]->id] == list[i]))
            continue;
        ENDED_BY(text_free) text t = {0};
        describe(&t, list[i]);
        text_add(&t, " is a tensor of another graph");
        if (own)
            text_add(&t, " than "), describe(&t, own);
        g_fail(g, TS_BAD_INPUT, "%s: %s", what, text_str(&t));
        return err_hint(&g->err, "make both in one graph; ts_print and ts_parse copy a tensor from one to another");
    }
    return none_past(g, what, n, list);
}

bool g_holds(graph *g, const char *what, int n, const node *const *list)
{
    return g_has(g, what, n, list) && g_none_open(g, what, n, list);
}

bool g_all(graph *g, const char *what, int n, const node *const *list)
{
    if (!g || err_is(&g->err) || (n && !g_given(g, what, list)))
        return false;
    for (int i = 0; i < n; i++)
        if (!list[i])
            return g_fail(g, TS_BAD_INPUT, "%s: tensor %d is missing", what, i), false;
    return g_holds(g, what, n, list);
}

bool g_given(graph *g, const char *what, const void *given)
{
    if (!given)
        g_fail(g, TS_BAD_INPUT, "%s is missing: NULL was given", what);
    return g && given;
}

/* ---- interning ---- */
/* Weights are one only if they point to the same bytes: comparing 400 MB of a BERT by content would cost more than it
 * saves. Small constants, which adapters make over and over, are compared by what is in them. */
static bool leaf_same(const node *a, const node *b)
{
    const leaf *p = a->leaf, *q = b->leaf;
    if (!p || !q)
        return p == q;
    if (p->kind != q->kind || p->of != q->of || p->mean != q->mean || p->scale != q->scale || p->seed != q->seed ||
        strcmp(a->label, b->label))
        return false;
    if (p->data == q->data)
        return true;
    const int64_t bytes = type_bytes(&a->type);
    return p->kind == LEAF_CONST && q->kind == LEAF_CONST && p->data && q->data && bytes <= SMALL_CONST &&
           !memcmp(p->data, q->data, (size_t)bytes);
}

/* Attributes stand in the order of the operation's table, so the k-th of both is the same one. */
static bool node_same(const node *a, const node *b)
{
    if (a->op != b->op || a->n_in != b->n_in || a->index != b->index || !type_equal(&a->type, &b->type))
        return false;
    for (int i = 0; i < a->n_in; i++)
        if (a->in[i] != b->in[i])
            return false;
    int k = 0;
    for (const attr_spec *s = a->op->attr; s && s->name; s++, k++)
        if (!attr_same(&a->attr[k], &b->attr[k]))
            return false;
    return leaf_same(a, b) && trip_same(a->trip, b->trip);
}

/* Of all that node_same compares but what is dear or rare; two nodes of one hash are still compared. */
static uint64_t node_hash(const node *n)
{
    uint64_t h = quick_hash(&n->op, sizeof n->op, (uint64_t)n->index);
    h = quick_hash(n->type.dim, (size_t)n->type.rank * sizeof *n->type.dim, h + (uint64_t)n->type.dtype);
    for (int i = 0; i < n->n_in; i++)
        h = quick_hash(&n->in[i], sizeof n->in[i], h);
    int k = 0;
    for (const attr_spec *s = n->op->attr; s && s->name; s++, k++)
        h = attr_hash(&n->attr[k], h);
    for (int i = 0; n->trip && i < n->trip->n_root; i++)
        h = quick_hash(&n->trip->root[i], sizeof n->trip->root[i], h);
    if (n->leaf)
        h = quick_hash(n->label, strlen(n->label), h + n->leaf->seed);
    if (n->leaf && n->leaf->kind == LEAF_CONST && type_bytes(&n->type) <= SMALL_CONST)
        h = quick_hash(n->leaf->data, (size_t)type_bytes(&n->type), h);
    return h;
}

/* The slot of n in same[], which is open addressed and holds id + 1, 0 where it is empty. It is at most half full
 * (grow, g_close), so a search is short and always ends. */
static int *slot_of(graph *g, const node *n)
{
    uint64_t i = node_hash(n) & (uint64_t)(g->cap_same - 1);
    while (g->same[i] && !node_same(g->node[g->same[i] - 1], n))
        i = (i + 1) & (uint64_t)(g->cap_same - 1);
    return &g->same[i];
}

/* Arenas give nothing back: with doubling, all former arrays together are no longer than the last one. */
static void grow(graph *g)
{
    const int cap = g->cap ? g->cap * 2 : 256;
    const int own = g->made ? g->n : 0;
    g->made = arena_joined(&g->mem, g->made, own, NULL, cap - own, sizeof *g->made);
    g->node = arena_joined(&g->mem, g->node, g->n, NULL, cap - g->n, sizeof *g->node);
    g->cap = cap, g->cap_same = 4 * cap, g->n_former = 0;
    g->same = arena_array(&g->mem, (size_t)g->cap_same, sizeof *g->same);
    for (int i = 0; i < g->n; i++)
        *slot_of(g, g->node[i]) = i + 1;
}

/* draft may live on the stack; what it points to lives in the graph's arena already. */
static const node *intern(graph *g, const node *draft)
{
    if (g->n == g->cap)
        grow(g);
    int *place = slot_of(g, draft);
    if (*place)
        return g->node[*place - 1];
    node *n = arena_get(&g->mem, sizeof *n);
    *n = *draft, n->id = g->n, n->site = g->site;
    g->node[g->n] = g->made[g->n] = n;
    *place = ++g->n;
    if (node_is_open(n))
        g_open(g, n);
    return n;
}

/* ---- leaves ---- */
/* The slot of an input in a table by name, at most half full; made larger here, before a slot is handed out. */
static const node **input_named(graph *g, const char *label)
{
    if (2 * g->n_input >= g->cap_input) {
        const node **was = g->input;
        const int n = g->cap_input;
        g->cap_input = n ? 2 * n : 64;
        g->input = arena_array(&g->mem, (size_t)g->cap_input, sizeof *g->input);
        for (int i = 0; i < n; i++)
            if (was[i])
                *input_named(g, was[i]->label) = was[i];
    }
    uint64_t i = quick_hash(label, strlen(label), 0) & (uint64_t)(g->cap_input - 1);
    while (g->input[i] && strcmp(g->input[i]->label, label))
        i = (i + 1) & (uint64_t)(g->cap_input - 1);
    return &g->input[i];
}

/* A run gives values by name, so a name is of one dtype and shape. */
static bool input_is_one(graph *g, const char *label, const type *t)
{
    const node *same = *input_named(g, label);
    type asked = *t;
    for (int i = 0; same && i < t->rank && i < same->type.rank; i++)
        asked.dim[i] = t->dim[i] == OPEN_EXTENT ? same->type.dim[i] : t->dim[i]; /* closed since */
    if (!same || type_equal(&same->type, &asked))
        return true;
    g_fail(g, TS_BAD_INPUT, "input \"%s\" is %s already, and cannot be %s too", label, type_said(&same->type).s,
           type_said(t).s);
    return err_hint(&g->err, "give one of them another name");
}

const node *g_leaf(graph *g, const op *kind, const char *label, const type *t, const leaf *l)
{
    const bool named = l->kind == LEAF_INPUT && !l->bound && label && *label;
    const bool may_open = l->kind != LEAF_CONST && !l->data;
    if (err_is(&g->err) || !(may_open ? type_valid_known(t, &g->err) : type_valid(t, &g->err)) ||
        (named && !input_is_one(g, label, t)))
        return NULL;
    if (named && *input_named(g, label))
        return *input_named(g, label);
    leaf *own = arena_get(&g->mem, sizeof *own);
    *own = *l;
    node draft = {.op = kind, .type = *t, .label = arena_string(&g->mem, label ? label : ""), .leaf = own};
    const node *n = intern(g, &draft), **same = named ? input_named(g, label) : NULL;
    if (named && !*same)
        *same = n, g->n_input++;
    return n;
}

/* Nothing that is made knows more of n's extents than n did. Where n stood in same[] it stays, under the hash it had:
 * such slots are few, and go when that grows. */
bool g_close(graph *g, const node *n, const int64_t *dim, const char *by)
{
    node *own = g->made[n->id], draft = *n;
    memcpy(draft.type.dim, dim, (size_t)n->type.rank * sizeof *dim);
    if (!type_valid_known(&draft.type, &g->err))
        return err_in(&g->err, "%s \"%s\"", n->op->name, n->label);
    int *place = slot_of(g, &draft);
    if (*place)
        return g_fail(g, TS_BAD_INPUT, "%s \"%s\" becomes one that is there already", n->op->name, n->label),
               err_hint(&g->err, "give one of them another name, or take the other one");
    own->type = draft.type, own->closed_by = by, *place = n->id + 1;
    if (++g->n_former > g->cap)
        grow(g);
    return true;
}

static const op *leaf_op(const char *name)
{
    const op *o = op_find(name);
    MUST(o);
    return o;
}

const node *g_input(graph *g, const char *label, const type *t, preset *k)
{
    return g_leaf(g, leaf_op("input"), label, t, &(leaf){.kind = LEAF_INPUT, .preset = k});
}

const node *g_weight(graph *g, const char *label, const type *t, const void *data)
{
    return g_leaf(g, leaf_op("weight"), label, t, &(leaf){.kind = LEAF_WEIGHT, .data = data});
}

/* Without a mark on what was seen: values known at load hang on few nodes. */
static bool needs_no_input(const node *n)
{
    for (int i = 0; i < n->n_in; i++)
        if (!needs_no_input(n->in[i]))
            return false;
    return !n->leaf || n->leaf->kind != LEAF_INPUT;
}

const node *g_known(graph *g, const node *n, const char *label)
{
    MUST(!n || needs_no_input(n));
    return n ? g_leaf(g, leaf_op("weight"), label, &n->type, &(leaf){.kind = LEAF_WEIGHT, .of = n}) : NULL;
}

const node *g_const(graph *g, const char *label, const type *t, const void *data)
{
    if (err_is(&g->err) || !type_valid(t, &g->err))
        return NULL;
    const size_t bytes = (size_t)type_bytes(t);
    void *copy = memcpy(arena_get(&g->mem, bytes + 1), data ? data : "", data ? bytes : 0);
    return g_leaf(g, leaf_op("const"), label, t, &(leaf){.kind = LEAF_CONST, .data = copy});
}

const node *g_scalar(graph *g, dtype d, double v)
{
    unsigned char bytes[16] = {0};
    store_real(d, bytes, 0, v);
    return g_const(g, NULL, &(type){.dtype = d}, bytes);
}

const node *g_ints(graph *g, int n, const int64_t *v)
{
    return g_const(g, NULL, &(type){.dtype = TS_I64, .rank = 1, .dim = {n}}, v);
}

/* The first label stays: equal nodes are one, and who made it first named it. */
void g_label(graph *g, const node *n, const char *label)
{
    node *own = n && n->id < g->n && g->made ? g->made[n->id] : NULL;
    if (own && own == n && !*own->label)
        own->label = arena_string(&g->mem, label);
}

void g_name_axes(graph *g, const node *n, const char **axes)
{
    if (n->id < g->n && g->made[n->id] == n)
        g->made[n->id]->axes = axes;
}

void g_label_new(graph *g, int first, const char *label)
{
    for (int id = first; id < g->n; id++)
        if (!node_is_leaf(g->node[id]))
            g_label(g, g->node[id], label);
}

void g_back(graph *g, int first)
{
    for (int id = first; id < g->n; id++)
        if (!node_is_leaf(g->node[id]) && g->made[id])
            g->made[id]->back = true;
}

/* A node that was there before the chain rule ran, but reads what that made, counts as backward too: one step deep, as
 * updates of weights are. */
void g_is_back(const graph *g, bool *out)
{
    for (int id = 0; id < g->n; id++) {
        const node *n = g->node[id];
        out[id] = n->back;
        for (int i = 0; i < n->n_in; i++)
            out[id] = out[id] || out[n->in[i]->id];
    }
}

/* ---- operations ---- */
/* A recipe that is called again with the same operands gives the same node: its group is there already. Only the last
 * 64 are looked at, so that making n groups costs n and not n squared. */
void g_group(graph *g, const group *q)
{
    for (int i = g->n_group - 1; i >= 0 && i >= g->n_group - 64; i--)
        if (g->group[i].result == q->result && g->group[i].op == q->op)
            return;
    g->group = arena_grown(&g->mem, g->group, g->n_group, &g->cap_group, sizeof *g->group);
    g->group[g->n_group++] = *q;
}

void g_group_again(graph *g, const graph *from, const group *q, int n, const node *const *now)
{
    const node *result = q->result->id < n ? now[q->result->id] : NULL;
    if (!result || result == q->result)
        return;
    const node **in = arena_array(&g->mem, (size_t)q->n_in + 1, sizeof *in);
    int first = result->id, last = result->id;
    for (int i = 0; i < q->n_in; i++)
        if (!(in[i] = q->in[i]->id < n ? now[q->in[i]->id] : NULL))
            return;
    for (int id = q->first; id <= q->last && id < n; id++) {
        const node *made = now[id];
        if (!made || made == from->node[id])
            continue;
        first = made->id < first ? made->id : first, last = made->id > last ? made->id : last;
    }
    g_group(g, &(group){q->op, result, q->n_in, in, q->attr, first, last});
}

const group *g_group_of(const graph *g, const node *n)
{
    const group *least = NULL;
    for (int i = 0; i < g->n_group; i++) {
        const group *q = &g->group[i];
        if (q->first <= n->id && n->id <= q->last && (!least || q->last - q->first < least->last - least->first))
            least = q;
    }
    return least;
}

/* Of an operation that is a recipe there is never a node: what it becomes is a group of the nodes first..g->n - 1, by
 * which rules and explanations find it again. */
static const node *expand(graph *g, const node *draft)
{
    const int first = g->n;
    const node *result = draft->op->lower(g, draft);
    if (!result) {
        if (!err_is(&g->err))
            operands_refuse(draft->n_in, draft->in, &g->err, "operands that it is defined for");
        err_in(&g->err, "%s", draft->op->name);
        return NULL;
    }
    g_group(g, &(group){draft->op, result, draft->n_in, draft->in, draft->attr, first, g->n - 1});
    return result;
}

/* An operation without a shape of its own is pointwise: operands broadcast as numpy's do, dtypes meet. */
static bool infer(const node *n, type *out, err *e)
{
    if (n->op->shape)
        return n->op->shape(n, out, e);
    const type *in[MAX_ARG];
    for (int i = 0; i < n->n_in; i++) {
        in[i] = &n->in[i]->type;
        out->dtype = i ? dtype_promote(out->dtype, in[i]->dtype) : in[i]->dtype;
    }
    return type_broadcast(n->n_in, in, out, e);
}

typedef struct request {
    const op *op;
    int n;
    const node *const *in;
    const attr *attr;
    int n_attr;
    const scan_trip *trip;
} request;

/* Neighbours first, so that all operands come to lie equally deep. */
static const node *tree(graph *g, const node *draft)
{
    const op *o = draft->op;
    const node **part = arena_array(&g->mem, (size_t)draft->n_in, sizeof *part);
    const int n_attr = op_n_attr(o);
    int made = 0;
    for (int i = 0; i < draft->n_in; i += o->fan_in) {
        const int n = draft->n_in - i < o->fan_in ? draft->n_in - i : o->fan_in;
        part[made++] = g_make(g, o, n, draft->in + i, draft->attr, n_attr);
    }
    return g_make(g, o, made, part, draft->attr, n_attr);
}

/* Whether o can be called with these at all */
static bool callable(graph *g, const op *o, int n, const node *const *in)
{
    if (err_is(&g->err))
        return false;
    for (int i = 0; i < n; i++)
        if (!in[i])
            return g_fail(g, TS_BAD_INPUT, "%s: operand %d is missing", o->name, i), false;
    if (op_is_bare(o))
        return g_fail(g, TS_BAD_INPUT, "%s: cannot be called: no value follows from operands", o->name), false;
    if (!g_has(g, o->name, n, in))
        return false;
    if (o->arity >= 0 && n != o->arity)
        return g_fail(g, TS_BAD_INPUT, "%s: %d operands given, takes %d", o->name, n, o->arity), false;
    return true;
}

/* Custom operations and scans say their results themselves; all others by their row of the table. */
bool g_find_type(graph *g, node *draft, err *e)
{
    bool open = false;
    for (int i = 0; i < draft->n_in; i++)
        open = open || node_is_open(draft->in[i]);
    return (draft->op->custom ? custom_infer(g, draft, e)
            : draft->trip     ? trip_infer(g, draft, e)
                              : infer(draft, &draft->type, e)) &&
           (open ? type_valid_known(&draft->type, e) : type_valid(&draft->type, e));
}

/* Of a draft that is complete but for its type */
static const node *made_of(graph *g, node *draft)
{
    const op *o = draft->op;
    const int first = g->n;
    const node *parts = o->custom && o->unrolled ? o->unrolled(g, draft) : NULL;
    if (parts)
        g_group(g, &(group){o, parts, draft->n_in, draft->in, draft->attr, first, g->n - 1});
    if (parts || err_is(&g->err))
        return parts;
    if (!g_find_type(g, draft, &g->err) || !g_axes_follow(g, draft)) {
        err_in(&g->err, "%s", o->name);
        return NULL;
    }
    parts = o->unrolled && !o->custom ? o->unrolled(g, draft) : NULL;
    if (parts || err_in(&g->err, "%s", o->name) || err_is(&g->err))
        return parts;
    if (o->fan_in && draft->n_in > o->fan_in)
        return tree(g, draft);
    return intern(g, draft);
}

/* Every node is made here, so what is checked here holds of all: operands of this graph, as many as the operation
 * takes, attributes complete, a valid type. */
static const node *make(graph *g, const request *c)
{
    const op *o = c->op;
    if (!callable(g, o, c->n, c->in))
        return NULL;
    node draft = {.op = o, .label = "", .n_in = c->n, .trip = c->trip, .scalars = g->scalars};
    attr *filled = attr_fill(&g->mem, o, c->n_attr, c->attr, &g->err);
    if (!filled)
        return NULL;
    for (const attr_spec *s = o->attr; s && s->name; s++)
        if (s->fallback && !strcmp(s->fallback, "own") && filled[s - o->attr].kind == '-')
            filled[s - o->attr] = (attr){.name = s->name, .kind = 'i', .i = g_own(g)};
    draft.attr = filled;
    draft.in = arena_joined(&g->mem, c->in, c->n, NULL, 0, sizeof *c->in);
    if (!g_close_all(g, &draft))
        return NULL;
    const node *y = o->lower ? expand(g, &draft) : made_of(g, &draft);
    if (!y)
        g_tell_closed(g, &draft);
    return y;
}

const node *g_make(graph *g, const op *o, int n, const node *const *in, const attr *a, int n_attr)
{
    return make(g, &(request){o, n, in, a, n_attr, NULL});
}

const node *g_make_scan(graph *g, const op *o, int n, const node *const *in, const attr *a, int n_attr,
                        const scan_trip *t)
{
    return make(g, &(request){o, n, in, a, n_attr, t});
}

/* Attributes may lie in another graph's arena: attr_fill copies them. */
const node *g_again(graph *g, const node *old, int n, const node *const *in)
{
    return make(g, &(request){old->op, n, in, old->attr, op_n_attr(old->op), old->trip});
}

const node *g_call(graph *g, const char *call, int n, const node *const *in)
{
    char name[MAX_WORD];
    attr given[MAX_ATTR];
    int n_given;
    if (err_is(&g->err))
        return NULL;
    const size_t length = strcspn(call, " ");
    snprintf(name, sizeof name, "%.*s", (int)length, call);
    const op *o = g_op(g, name);
    if (!o)
        return g_fail(g, TS_BAD_INPUT, "no operation \"%s\"; `tessera ops` lists them", name);
    if (!attr_parse(&g->mem, o, call + length, given, &n_given, &g->err))
        return NULL;
    return g_make(g, o, n, in, given, n_given);
}

const node *g_call1(graph *g, const char *call, const node *a)
{
    return g_call(g, call, 1, &a);
}

const node *g_call2(graph *g, const char *call, const node *a, const node *b)
{
    return g_call(g, call, 2, (const node *const[]){a, b});
}

const node *g_call3(graph *g, const char *call, const node *a, const node *b, const node *c)
{
    return g_call(g, call, 3, (const node *const[]){a, b, c});
}

const node *g_callf(graph *g, int n, const node *const *in, const char *fmt, ...)
{
    char call[1024];
    va_list v;
    va_start(v, fmt);
    const int length = vsnprintf(call, sizeof call, fmt, v);
    va_end(v);
    MUST(length >= 0 && length < (int)sizeof call);
    return g_call(g, call, n, in);
}

const node *g_output(graph *g, const node *n, const node *origin, int index)
{
    if (!n || !origin || !index)
        return n;
    node draft = *n;
    draft.index = index, draft.origin = origin;
    return intern(g, &draft);
}

const attr *node_attr(const node *n, const char *name)
{
    int k = 0;
    for (const attr_spec *s = n->op->attr; s && s->name; s++, k++)
        if (!strcmp(s->name, name))
            return &n->attr[k];
    MUST(!"attribute is in the specification");
    return NULL;
}

int64_t node_int(const node *n, const char *name)
{
    return node_attr(n, name)->i;
}

double node_real(const node *n, const char *name)
{
    return node_attr(n, name)->f;
}

int g_reach(int n, const node *const *root, const node **out)
{
    int most = -1, count = 0;
    for (int i = 0; i < n; i++)
        most = root[i]->id > most ? root[i]->id : most;
    ENDED_BY(heap_free) const node **need = heap_array((size_t)most + 2, sizeof *need);
    for (int i = 0; i < n; i++)
        need[root[i]->id] = root[i];
    for (int id = most; id >= 0; id--)
        for (int i = 0; need[id] && i < need[id]->n_in; i++)
            need[need[id]->in[i]->id] = need[id]->in[i];
    for (int id = 0; id <= most; id++)
        if (need[id]) {
            if (out)
                out[count] = need[id];
            count++;
        }
    return count;
}

const node **g_reached_make(int n, const node *const *root, int *count)
{
    *count = g_reach(n, root, NULL);
    const node **need = heap_array((size_t)*count + 1, sizeof *need);
    g_reach(n, root, need);
    return need;
}

bool g_check(const graph *g, err *e)
{
    for (int i = 0; i < g->n; i++) {
        const node *n = g->node[i];
        if (n->id != i)
            return err_set(e, TS_BUG, "node %d has id %d", i, n->id);
        if (!node_is_open(n) && !type_valid(&n->type, e))
            return err_in(e, "node %d", i);
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k]->id >= i || g->node[n->in[k]->id] != n->in[k])
                return err_set(e, TS_BUG, "node %d: operand %d is not older", i, k);
        if (node_is_leaf(n) != op_is_bare(n->op))
            return err_set(e, TS_BUG, "node %d: leaf and op disagree", i);
        for (int k = 0; n->trip && k < n->trip->n_root; k++)
            if (n->trip->root[k]->id >= i || g->node[n->trip->root[k]->id] != n->trip->root[k])
                return err_set(e, TS_BUG, "node %d: result %d of its trip is not older", i, k);
        for (int k = 0; k < i && g->n < 2000; k++)
            if (node_same(g->node[k], n))
                return err_set(e, TS_BUG, "nodes %d and %d are equal", k, i);
    }
    return true;
}
