/* index.c - numpy's indexing: keys of integers, slices, lists of places and masks, read from and written to. */
#include "graph/ops/cut.h"
#include "graph/ir/rule.h"

#include <stdlib.h>
#include <string.h>

/* ---- helpers ---- */
/* One item of a key: an integer, start:stop:step with any of them left out, "..." or "None", or the letter of an
 * operand that lists places, b being the second. */
typedef struct item {
    enum { ITEM_AT, ITEM_SLICE, ITEM_LIST, ITEM_REST, ITEM_NEW } kind; /* up to ITEM_LIST: uses up an axis */
    bool has[3];
    int64_t v[3];
} item;

static bool read_item(const char **at, item *out)
{
    const char *s = *at;
    char *end;
    *out = (item){.kind = ITEM_AT};
    if (!strncmp(s, "...", 3))
        return out->kind = ITEM_REST, *at = s + 3, true;
    if (!strncmp(s, "None", 4))
        return out->kind = ITEM_NEW, *at = s + 4, true;
    if (*s >= 'b' && *s <= 'h')
        return out->kind = ITEM_LIST, out->v[0] = *s - 'a', *at = s + 1, true;
    for (int i = 0; i < 3; i++) {
        out->v[i] = strtoll(s, &end, 10);
        out->has[i] = end != s, s = end;
        if (*s != ':' || i == 2)
            break;
        out->kind = ITEM_SLICE, s++;
    }
    *at = s;
    return out->kind == ITEM_SLICE || out->has[0];
}

static int read_key(const char *key, item *out, int max)
{
    int n = 0;
    for (const char *s = key; *s; n++) {
        if (n == max || !read_item(&s, &out[n]) || (*s && *s != ','))
            return -1;
        s += *s == ',';
    }
    return n;
}

/* Cuts one axis by an integer or a slice. */
static bool cut_by(cut *c, int axis, int64_t dim, const item *k, err *e)
{
    const int64_t step = k->has[2] ? k->v[2] : 1, at = k->v[0] < 0 ? k->v[0] + dim : k->v[0];
    if (k->kind == ITEM_SLICE) {
        const int64_t start = step < 0 ? INT64_MAX : 0, end = step < 0 ? INT64_MIN : INT64_MAX;
        const cut_range of = {k->has[0] ? k->v[0] : start, k->has[1] ? k->v[1] : end, step};
        return cut_take(c, axis, dim, of, e);
    }
    if (k->kind == ITEM_LIST)
        return true;
    c->start[axis] = at, c->size[axis] = 1;
    if (at >= 0 && at < dim)
        return true;
    return err_set(e, TS_BAD_INPUT, "%lld is outside axis %d of extent %lld", (long long)k->v[0], axis, (long long)dim);
}

/* Which axes of the sliced tensor are listed, and by what. */
typedef struct listing {
    int n;
    int64_t axis[MAX_RANK];
    const node *place[MAX_RANK + 1]; /* [0]: what is read */
} listing;

/* A mask stands for the places where it is true, one list for each of its axes; numpy's other dtype of places. Beside
 * lists an integer is one too, so that it takes part in where the new axes stand. */
static int unmask(graph *g, const node *n, const item *k, item *out, const node **list, int n_list)
{
    const node *at = n->in[k->v[0]], *row; /* of a mask the shape of the axes it stands for; row [count] */
    if (at->type.dtype != TS_BOOL || at->type.rank == 0) {
        *out = *k, list[n_list] = at, out->v[0] = n_list;
        return 1;
    }
    const node *rows = g_call1(g, "nonzero", at); /* [rank, count] */
    for (int i = 0; rows && i < at->type.rank && n_list + i < MAX_RANK; i++) {
        row = g_callf(g, 1, &rows, "index key=%d", i);
        out[i] = *k, list[n_list + i] = row, out[i].v[0] = n_list + i;
    }
    return rows ? at->type.rank : -1;
}

/* The items with lists numbered and masks and integers replaced by lists. */
static int with_lists(graph *g, const node *n, const item *key, int count, item *out, const node **list)
{
    int m = 0, n_list = 0;
    bool any = false;
    for (int i = 0; i < count; i++)
        any = any || key[i].kind == ITEM_LIST;
    for (int i = 0; i < count; i++) {
        if (m + MAX_RANK > 2 * MAX_RANK || n_list >= MAX_RANK)
            return -1;
        if (any && key[i].kind == ITEM_AT) {
            out[m] = (item){.kind = ITEM_LIST, .v = {n_list}};
            list[n_list++] = g_scalar(g, TS_I64, (double)key[i].v[0]), m++;
        } else if (key[i].kind == ITEM_LIST) {
            if (key[i].v[0] >= n->n_in)
                return -1;
            const int used = unmask(g, n, &key[i], out + m, list, n_list);
            if (used < 0)
                return -1;
            m += used, n_list += used;
        } else {
            out[m++] = key[i];
        }
    }
    return m;
}

/* The items' slice of an operand, a reshape that drops the axes of integers and adds those of None; axes that are
 * listed stay as they are and are noted. */
static const node *slice_by(graph *g, const node *n, const item *list, int count, const node *const *place, listing *l)
{
    const type *t = &n->in[0]->type;
    int axis = 0, rank = 0, used = 0;
    int64_t shape[3 * MAX_RANK + 1];
    cut c = cut_whole(t);
    for (int i = 0; i < count; i++)
        used += list[i].kind <= ITEM_LIST;
    for (const item *k = list; k < list + count; k++) {
        for (int rest = t->rank - used; k->kind == ITEM_REST && rest > 0; rest--)
            shape[rank++] = t->dim[axis++];
        if (k->kind == ITEM_NEW)
            shape[rank++] = 1;
        if (k->kind <= ITEM_LIST && !cut_by(&c, axis, t->dim[axis], k, &g->err))
            return NULL;
        if (k->kind == ITEM_LIST)
            l->axis[l->n] = rank, l->place[++l->n] = place[k->v[0]];
        if (k->kind == ITEM_SLICE || k->kind == ITEM_LIST)
            shape[rank++] = c.size[axis];
        axis += k->kind <= ITEM_LIST;
    }
    if (rank > MAX_RANK)
        return g_fail(g, TS_BAD_INPUT, "the result would have rank %d, at most %d is possible", rank, MAX_RANK);
    return g_reshape(g, cut_made(g, n->in[0], &c), rank, shape);
}

/* The listed axes give way to those of the lists, broadcast to each other: where the first was if they are neighbours,
 * else in front. Axes of the result that they take: [*first, *first + both->rank). */
static bool taken(const node *n, type *both, int *first, uint32_t *set, err *e)
{
    const attr *axes = node_attr(n, "axes");
    const type *list[MAX_RANK];
    if (axes->n != n->n_in - 1 || axes->n < 1 || !axes_set(axes, n->in[0]->type.rank, set, e))
        return err_set(e, TS_BAD_INPUT, "axes: %d for %d lists of places, one for each and at least one expected",
                       axes->n, n->n_in - 1);
    for (int i = 0; i < axes->n; i++) {
        list[i] = &n->in[i + 1]->type;
        if (dtype_class(list[i]->dtype) != D_WHOLE)
            return err_set(e, TS_BAD_INPUT, "places are of dtype %s, integers expected", ts_dtype_name(list[i]->dtype));
    }
    const uint32_t low = *set & -*set, span = *set / low;
    *first = (span & (span + 1)) ? 0 : __builtin_ctz(*set);
    return type_broadcast(axes->n, list, both, e);
}

/* ---- shape ---- */
static bool take_at_shape(const node *n, type *out, err *e)
{
    const type *t = &n->in[0]->type;
    type both = {0};
    uint32_t set;
    int first, kept = 0;
    if (!taken(n, &both, &first, &set, e))
        return false;
    *out = (type){.dtype = t->dtype};
    if (t->rank - __builtin_popcount(set) + both.rank > MAX_RANK)
        return err_set(e, TS_BAD_INPUT, "the result would have %d axes, at most %d are possible",
                       t->rank - __builtin_popcount(set) + both.rank, MAX_RANK);
    for (int i = 0; i <= t->rank; i++) {
        for (int k = 0; kept == first && k < both.rank && out->rank < first + both.rank; k++)
            out->dim[out->rank++] = both.dim[k];
        if (i < t->rank && !(set >> i & 1))
            out->dim[out->rank++] = t->dim[i], kept++;
    }
    return true;
}

/* ---- body ---- */
static const expr *take_at_body(defn *d)
{
    arena *mem = d->mem;
    const type *t = &d->node->in[0]->type;
    const attr *axes = node_attr(d->node, "axes");
    const expr *sub[MAX_RANK], *at[MAX_RANK];
    type both = {0};
    uint32_t set;
    int first, kept = 0;
    if (!taken(d->node, &both, &first, &set, d->err))
        return NULL;
    for (int i = 0; i < t->rank; i++)
        if (!(set >> i & 1))
            sub[i] = x_axis(mem, kept < first ? kept : kept + both.rank), kept++;
    for (int i = 0; i < axes->n; i++) {
        const type *list = &d->node->in[i + 1]->type;
        const int axis = (int)(axes->ints[i] < 0 ? axes->ints[i] + t->rank : axes->ints[i]);
        for (int k = 0; k < list->rank; k++)
            at[k] = list->dim[k] == 1 ? x_whole(mem, 0) : x_axis(mem, first + both.rank - list->rank + k);
        sub[axis] = x_place(mem, defn_at(d, i + 1, at), t->dim[axis]);
    }
    return defn_at(d, 0, sub);
}

/* ---- recipes ---- */
static const node *index_lower(graph *g, const node *n)
{
    enum { MOST = 2 * MAX_RANK };
    const char *key = node_attr(n, "key")->s;
    item given[MOST + 1], list[2 * MOST + 2];
    const node *place[2 * MAX_RANK]; /* the lists, which broadcast to one another */
    listing l = {0};
    int used = 0, rests = 0, count = read_key(key, given, MOST);
    if (count >= 0)
        count = with_lists(g, n, given, count, list, place);
    for (int i = 0; i < count; i++)
        used += list[i].kind <= ITEM_LIST, rests += list[i].kind == ITEM_REST;
    if (count < 0 || n->n_in < 1 || used > n->in[0]->type.rank || rests > 1)
        return g_fail(g, TS_BAD_INPUT, "[%s] does not fit rank %d with %d lists", key,
                      n->n_in ? n->in[0]->type.rank : 0, n->n_in ? n->n_in - 1 : 0);
    if (!rests)
        list[count++] = (item){.kind = ITEM_REST};
    const node *y = slice_by(g, n, list, count, place, &l); /* axes that are listed whole, the others as the key says */
    if (!y || l.n == 0)
        return y;
    l.place[0] = y;
    return g_apply_n(g, "take_at", 1 + l.n, l.place, ATTRS(attr_ints("axes", l.n, l.axis)));
}

/* Reads a tensor of place numbers by the same key, which gives the places to overwrite. at and value have the shape
 * that the key reads, read[0] that of the tensor; all[i] are flat. */
static const node *set_item_lower(graph *g, const node *n)
{
    if (n->n_in < 2)
        return g_fail(g, TS_BAD_INPUT, "%d operands given; takes a tensor, values, and lists of places", n->n_in);
    const type *t = &n->in[0]->type;
    const node *read[MAX_RANK + 1] = {g_count(g, type_count(t), TS_I64)};
    read[0] = g_reshape(g, read[0], t->rank, t->dim);
    for (int i = 2; i < n->n_in && i <= MAX_RANK; i++)
        read[i - 1] = n->in[i];
    /* as the key reads */
    const node *at = g_apply_n(g, "index", n->n_in - 1, read, ATTRS(*node_attr(n, "key")));
    if (!at)
        return NULL;
    const node *value = g_cast(g, n->in[1], t->dtype), *all[3];
    int64_t flat = -1;
    const int extra = value ? value->type.rank - at->type.rank : 0; /* leading axes of 1, which numpy drops */
    bool ones = true;
    for (int i = 0; i < extra; i++)
        ones = ones && value->type.dim[i] == 1;
    if (extra > 0 && ones)
        value = g_reshape(g, value, at->type.rank, value->type.dim + extra);
    value = g_broadcast(g, value, at->type.rank, at->type.dim);
    all[0] = g_reshape(g, n->in[0], 1, &flat), all[1] = g_reshape(g, at, 1, &flat),
    all[2] = g_reshape(g, value, 1, &flat);
    if (type_count(&at->type) == 0)
        return n->in[0];
    return g_reshape(g, g_callf(g, 3, all, "put_along_axis axis=0"), t->rank, t->dim);
}

/* ---- records ---- */
const op ops_index[] = {
    RECIPE("index ... key:s", index_lower, "a[eval('np.s_[' + key + ']')]", NULL,
           "f32[4,5,6] key=1\nf32[4,5,6] key=-1,2\nf32[4,5,6] key=1:3\nf32[4,5,6] key=::-1\nf32[4,5,6] key=...,0\n"
           "f32[4,5,6] key=:,None,1:100:2\nf32[4,5,6] key=1,...,-3:\nf32[4,5,6] key=None,...,None\n"
           "i64[7] key=5:1:-2\nf32[4,5] key=3,4\nf32[4,5] key=2:2\nf32[0,3] key=:,1\nf32[4,5] key=-100:100,-2::-1\n"
           "f32[4] key=...\nf32[4,5,6] i64[3]<4 key=b\nf32[4,5,6] i64[3,2]<5 key=:,b\nf32[4,5,6] i32[3]<4 u8[3]<5 "
           "key=b,c\nf32[4,5,6] i64[2,1]<4 i64[3]<6 key=b,:,c\nf32[4,5,6] i64[3]<5 key=1,b\nf32[4,5,6] i64[3]<6 "
           "key=1,:,b\nf32[4,5,6] i64[3]<5 key=::2,b,None,-1\nf32[4,5] i64[3]<5 key=...,b\nf32[3,2] bool[3]=1 "
           "key=b\nf32[3,2,4] bool[3,2]=1 key=b,1:3\nf32[3] bool[3]=0 key=b\nf32[4,5] i64[]<4 key=b",
           "Indexing as in Python, without blanks: integers, slices, None, an ellipsis, and operands b, c, ... that "
           "list places or are masks."),
    BODY("take_at ... axes:I", take_at_body,
         "a[tuple(x[1 + [i % a.ndim for i in axes].index(k)] if k in [i % a.ndim for i in axes] else slice(None) "
         "for k in range(a.ndim))]",
         NULL,
         "f32[4,5] i64[3]<5 axes=[1]\nf32[4,5,6] i64[2,1]<4 u8[3]<6 axes=[0,2]\nf32[4,5] i32[2]<4 i32[2]<5 "
         "axes=[0,1]\ni64[3,2] i64[0] axes=[0]",
         "Elements at listed places of the listed axes, the lists broadcast to each other.", .shape = take_at_shape),
    RECIPE("set_item ... key:s", set_item_lower,
           "(lambda y, k: y.__setitem__(k, b) or y)(a.copy(), eval('np.s_[' + key + ']', {'np': np, "
           "**dict(zip('bcdef', x[2:]))}))",
           NULL,
           "f32[5,6,4] f32[3,4] key=0,2:5\nf32[4,5] f32[] key=1\nf32[4,5] f32[5] key=::2\ni64[7] i64[3] key=5:0:-2\n"
           "f32[4,5] f32[4,1] key=...\nf32[4,5] f64[3,5] i64[3]<4 key=b\nf32[4,5] f32[] i64[3]<4 i64[3]<5 key=b,c\n"
           "f32[3,2] f32[2] bool[3]=1 key=b\nf32[4,5] f32[2,3] i64[2,3]<5 key=1,b\nf32[4] f32[1,1,2] key=1:3\n"
           "f32[4] f32[] key=2:2",
           "A copy of the first tensor with the second at a key; further operands, c, d, ..., list places in it."),
    {0},
};
