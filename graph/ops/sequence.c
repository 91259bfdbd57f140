/* sequence.c - sequences and optionals, gone while a graph is built: how many values there are is known by then, so a
 * sequence is a list of nodes and an optional is one or none. */
#include "graph/eval/eval.h"
#include "graph/ir/rule.h"

/* ---- helpers ---- */
static onnx_list *list_make(const onnx_call *c, bool optional, int n)
{
    onnx_list *l = arena_get(&c->g->mem, sizeof *l);
    l->item = arena_array(&c->g->mem, (size_t)n + 1, sizeof *l->item);
    l->optional = optional, l->n = n, l->dtype = TS_N_DTYPE;
    return l;
}

static onnx_value *items(const onnx_list *l)
{
    return (onnx_value *)(uintptr_t)l->item; /* made here and not yet given to anybody */
}

static const onnx_list *any_sequence(const onnx_call *c, int i, err *e)
{
    const onnx_list *l = i < c->n_in ? c->value[i].list : NULL;
    if (l && l->optional && l->n == 1)
        l = l->item[0].list;
    if (!l || l->optional)
        err_set(e, TS_BAD_INPUT, "operand %d is %s, a sequence expected", i + 1, l ? "an optional" : "no list");
    return l && !l->optional ? l : NULL;
}

/* The same with all that a loop added to it as items */
static const onnx_list *need_sequence(const onnx_call *c, int i, err *e)
{
    const onnx_list *l = any_sequence(c, i, e);
    if (!l || !l->rows)
        return l;
    onnx_list *own = list_make(c, false, l->n + (int)l->rows->type.dim[0]);
    for (int k = 0; k < own->n; k++) {
        const node *row = k < l->n ? NULL : g_part(c->g, l->rows, 0, k - l->n, 1);
        items(own)[k] = row ? (onnx_value){.node = g_callf(c->g, 1, &row, "squeeze axes=[0]")} : l->item[k];
    }
    return own;
}

/* One whole number that is known now; an operand that is absent gives fallback. */
static bool whole_number(const onnx_call *c, int i, int64_t fallback, int64_t *out, err *e)
{
    const node *n = onnx_in(c, i);
    *out = fallback;
    if (!n)
        return true;
    if (type_count(&n->type) != 1 || dtype_class(n->type.dtype) != D_WHOLE)
        return operands_refuse(1, &n, e, "as operand %d one integer", i + 1);
    const ts_array *v = g_needed(c->g, n);
    if (!v)
        return g_wait(c->g, e, "operand %d decides the flow but is known only at run time", i + 1);
    *out = load_whole(v->dtype, v->data, 0);
    return true;
}

/* A place in 0...n-1, or 0...n where end is allowed, counted from the end where negative. */
static bool place_in(int64_t at, int n, bool end, int *out, err *e)
{
    const int64_t i = at < 0 ? at + n : at;
    *out = (int)i;
    return (i >= 0 && i < n + end) ||
           err_set(e, TS_BAD_INPUT, "position %lld in a sequence of %d, expected to be within it", (long long)at, n);
}

/* ---- ONNX: sequences ---- */
static bool make_construct(const onnx_call *c, onnx_value *out, err *e)
{
    onnx_list *l = list_make(c, false, c->n_in);
    if (!onnx_need(c, c->n_in, e))
        return false;
    for (int i = 0; i < c->n_in; i++)
        items(l)[i] = c->value[i];
    out[0].list = l;
    return true;
}

static bool make_empty(const onnx_call *c, onnx_value *out, err *e)
{
    onnx_list *l = list_make(c, false, 0);
    out[0].list = l;
    return onnx_dtype(onnx_int(c, "dtype", 1), &l->dtype, e);
}

static bool make_at(const onnx_call *c, onnx_value *out, err *e)
{
    const onnx_list *l = need_sequence(c, 0, e);
    int64_t at;
    int i;
    if (!l || !whole_number(c, 1, 0, &at, e) || !place_in(at, l->n, false, &i, e))
        return false;
    out[0] = l->item[i];
    return true;
}

static bool make_insert(const onnx_call *c, onnx_value *out, err *e)
{
    const onnx_list *l = need_sequence(c, 0, e);
    int64_t at;
    int i;
    if (!l || !whole_number(c, 2, l->n, &at, e) || !place_in(at, l->n, true, &i, e))
        return false;
    if (c->n_in < 2 || (!c->value[1].node && !c->value[1].list))
        return err_set(e, TS_BAD_INPUT, "SequenceInsert without a tensor, expected as the second operand");
    onnx_list *own = list_make(c, false, l->n + 1);
    for (int k = 0; k < own->n; k++)
        items(own)[k] = k == i ? c->value[1] : l->item[k - (k > i)];
    out[0].list = own;
    return true;
}

static bool make_erase(const onnx_call *c, onnx_value *out, err *e)
{
    const onnx_list *l = need_sequence(c, 0, e);
    int64_t at;
    int i;
    if (!l || !whole_number(c, 1, l->n - 1, &at, e) || !place_in(at, l->n, false, &i, e))
        return false;
    onnx_list *own = list_make(c, false, l->n - 1);
    own->dtype = l->dtype;
    for (int k = 0; k < own->n; k++)
        items(own)[k] = l->item[k + (k >= i)];
    out[0].list = own;
    return true;
}

static bool make_length(const onnx_call *c, onnx_value *out, err *e)
{
    const onnx_list *l = any_sequence(c, 0, e);
    if (!l)
        return false;
    out[0].node = g_scalar(c->g, TS_I64, (double)(l->n + (l->rows ? l->rows->type.dim[0] : 0)));
    return true;
}

/* Rows of a loop alone, joined along an axis or a new one */
static bool concat_rows(const onnx_call *c, const node *rows, bool new_axis, onnx_value *out, err *e)
{
    int64_t axes[MAX_RANK], dim[MAX_RANK];
    const int rank = rows->type.rank;
    int axis;
    if (!axis_norm(onnx_int(c, "axis", 0), rank - !new_axis, &axis, e))
        return false;
    for (int i = 0; i < rank; i++)
        axes[i] = i < axis ? i + 1 : i > axis ? i : 0;
    const node *all = g_transpose(c->g, rows, rank, axes); /* [..., rows, ...] */
    if (new_axis || !all)
        return (out[0].node = all) != NULL;
    for (int i = 0; i + 1 < rank; i++)
        dim[i] = all->type.dim[i + (i > axis)];
    if (int_mul(dim[axis], all->type.dim[axis + 1], &dim[axis]))
        out[0].node = g_reshape(c->g, all, rank - 1, dim);
    return out[0].node != NULL;
}

static bool make_concat(const onnx_call *c, onnx_value *out, err *e)
{
    const onnx_list *l = any_sequence(c, 0, e);
    if (l && l->rows && !l->n && onnx_attr(c, "axis"))
        return concat_rows(c, l->rows, onnx_int(c, "new_axis", 0), out, e);
    l = l ? need_sequence(c, 0, e) : NULL;
    if (!l)
        return false;
    if (!onnx_attr(c, "axis"))
        return err_set(e, TS_BAD_INPUT, "attribute axis is not given, the axis to join along expected");
    const node **in = arena_array(&c->g->mem, (size_t)l->n + 1, sizeof *in);
    for (int i = 0; i < l->n; i++)
        if (!(in[i] = l->item[i].node))
            return err_set(e, TS_BAD_INPUT, "entry %d of the sequence is no tensor, tensors alone can be joined", i);
    if (l->n == 0)
        return err_set(e, TS_BAD_INPUT, "nothing to join: the sequence is empty, at least one tensor expected");
    out[0].node = g_callf(c->g, l->n, in, "%s axis=%lld", onnx_int(c, "new_axis", 0) ? "stack" : "concat",
                          (long long)onnx_int(c, "axis", 0));
    return true;
}

/* ---- ONNX: splitting ---- */
enum { MOST_PARTS = 4096 };

/* Sizes of the parts along an axis of n: as listed, of one size each (the last one smaller), or 1. */
static bool part_sizes(const onnx_call *c, int64_t n, int64_t *size, int *parts, err *e)
{
    const node *given = onnx_in(c, 1);
    int64_t each = 1, total = 0;
    if (given && given->type.rank == 1) {
        if (!onnx_ints(c, "", 1, size, MOST_PARTS, parts, e))
            return false;
        for (int i = 0; i < *parts; i++)
            total += size[i];
        return total == n || err_set(e, TS_BAD_INPUT, "parts of %lld together, the axis has %lld: as much expected",
                                     (long long)total, (long long)n);
    }
    if (!whole_number(c, 1, 1, &each, e))
        return false;
    if (each < 1 || (n + each - 1) / each > MOST_PARTS)
        return err_set(e, TS_BAD_INPUT, "an axis of %lld in parts of %lld: 1 to %d parts of at least 1 expected",
                       (long long)n, (long long)each, (int)MOST_PARTS);
    *parts = (int)((n + each - 1) / each);
    for (int i = 0; i < *parts; i++)
        size[i] = i + 1 < *parts ? each : n - (*parts - 1) * each;
    return true;
}

static bool make_split(const onnx_call *c, onnx_value *out, err *e)
{
    int64_t size[MOST_PARTS], start = 0;
    int parts, axis;
    const node *x = c->in[0];
    const type *t = &x->type;
    if (!axis_norm(onnx_int(c, "axis", 0), t->rank, &axis, e) || !part_sizes(c, t->dim[axis], size, &parts, e))
        return false;
    const bool drop = !onnx_in(c, 1) && !onnx_int(c, "keepdims", 1);
    onnx_list *l = list_make(c, false, parts);
    l->dtype = t->dtype;
    for (int i = 0; i < parts; i++) {
        const node *n = g_part(c->g, x, axis, start, size[i]); /* as x, with size[i] at the axis */
        items(l)[i].node = drop ? g_callf(c->g, 1, &n, "squeeze axes=[%d]", axis) : n;
        start += size[i];
    }
    out[0].list = l;
    return true;
}

/* ---- ONNX: a graph for every entry ---- */
static bool make_map(const onnx_call *c, onnx_value *out, err *e)
{
    const onnx_list *first = need_sequence(c, 0, e);
    if (!first)
        return false;
    onnx_list **result = arena_array(&c->g->mem, (size_t)c->n_out + 1, sizeof *result);
    onnx_value *in = arena_array(&c->g->mem, (size_t)c->n_in + 1, sizeof *in);
    onnx_value *got = arena_array(&c->g->mem, (size_t)c->n_out + 1, sizeof *got);
    for (int k = 0; k < c->n_out; k++)
        out[k].list = result[k] = list_make(c, false, first->n);
    for (int i = 0; i < first->n; i++) {
        for (int k = 0; k < c->n_in; k++) {
            const onnx_list *l = c->value[k].list;
            if (l && l->n != first->n)
                return err_set(e, TS_BAD_INPUT, "sequences of %d and %d entries, equally many expected", first->n,
                               l->n);
            in[k] = l ? l->item[i] : c->value[k];
        }
        if (!c->pass(c, &(onnx_pass){"body", c->n_in, c->n_out, in, got}, e))
            return false;
        for (int k = 0; k < c->n_out; k++)
            items(result[k])[i] = got[k];
    }
    return true;
}

/* ---- ONNX: optionals ---- */
static bool make_optional(const onnx_call *c, onnx_value *out, err *e)
{
    (void)e;
    const bool some = c->n_in > 0 && (c->value[0].node || c->value[0].list);
    onnx_list *l = list_make(c, true, some);
    if (some)
        items(l)[0] = c->value[0];
    out[0].list = l;
    return true;
}

/* What is no optional always has an element: itself. */
static bool make_has(const onnx_call *c, onnx_value *out, err *e)
{
    (void)e;
    const onnx_value v = c->n_in > 0 ? c->value[0] : (onnx_value){0};
    out[0].node = g_scalar(c->g, TS_BOOL, v.list && v.list->optional ? v.list->n == 1 : v.node || v.list);
    return true;
}

static bool make_get(const onnx_call *c, onnx_value *out, err *e)
{
    const onnx_value v = c->n_in > 0 ? c->value[0] : (onnx_value){0};
    if (v.list && v.list->optional && v.list->n == 0)
        return err_set(e, TS_BAD_INPUT,
                       "the optional holds nothing, a value expected: OptionalHasElement tells before");
    out[0] = v.list && v.list->optional ? v.list->item[0] : v;
    return v.node || v.list || err_set(e, TS_BAD_INPUT, "no operand, an optional expected");
}

static bool make_same(const onnx_call *c, onnx_value *out, err *e)
{
    out[0] = c->n_in > 0 ? c->value[0] : (onnx_value){0};
    return out[0].list || err_set(e, TS_BAD_INPUT, "no operand, one expected");
}

/* ---- records ---- */
const op ops_sequence[] = {
    {.call = "sequences",
     .doc = "Sequences and optionals of a file, resolved while its graph is built.",
     .formed = FORMED({"SequenceConstruct 11 - 0..", make_construct}, {"SequenceEmpty 11 - 0 dtype", make_empty},
                      {"SequenceAt 11 - 0..2", make_at}, {"SequenceInsert 11 - 0..3", make_insert},
                      {"SequenceErase 11 - 0..2", make_erase}, {"SequenceLength 11 - 0..1", make_length},
                      {"ConcatFromSequence 11 - 0..1 axis new_axis", make_concat},
                      {"SplitToSequence 11 - 1..2 axis keepdims", make_split},
                      {"SequenceMap 17 - 0.. >* body", make_map}, {"Optional 15 - 0..1 type", make_optional},
                      {"OptionalHasElement 15 - 0..1", make_has}, {"OptionalGetElement 15 - 0..1", make_get},
                      {"Identity 14 - 0..1", make_same})},
    {0},
};
