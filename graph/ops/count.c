/* count.c - values made of places alone: counting along an axis, and finding places. */
#include "graph/eval/eval.h"
#include "graph/ir/rule.h"

#include <math.h>
#include <string.h>

/* ---- helpers: calls, for recipes everywhere ---- */
const node *g_count(graph *g, int64_t n, dtype to)
{
    return g_callf(g, 0, NULL, "iota count=%lld to=%s", (long long)n, ts_dtype_name(to));
}

/* ---- ONNX ---- */
/* How many steps lead from start to limit: of integers exactly, whatever a double makes of them. */
static double range_count(dtype d, const double v[3], const int64_t w[3])
{
    if (dtype_class(d) == D_REAL || v[2] == 0)
        return ceil((v[1] - v[0]) / v[2]);
    const bool is_signed = dtype_signed(d), up = !is_signed || w[2] > 0,
               later = is_signed ? w[1] > w[0] : (uint64_t)w[1] > (uint64_t)w[0];
    if (w[1] == w[0] || later != up)
        return 0;
    const uint64_t far = up ? (uint64_t)w[1] - (uint64_t)w[0] : (uint64_t)w[0] - (uint64_t)w[1],
                   step = up ? (uint64_t)w[2] : -(uint64_t)w[2];
    return (double)(far / step + (far % step != 0));
}

/* start + step * [0, 1, ...) up to limit, all constants. */
static bool adapt_range(const onnx_call *c, const node **out, err *e)
{
    double v[3];
    int64_t w[3] = {0};
    for (int i = 0; i < 3; i++) {
        if (type_count(&c->in[i]->type) != 1)
            return operands_refuse(1, &c->in[i], e, "as operand %d one number", i + 1);
        const ts_array *a = g_needed(c->g, c->in[i]);
        if (!a)
            return g_wait(c->g, e, "Range: operand %d decides the extent but is known only at run time", i + 1);
        v[i] = load_real(a->dtype, a->data, 0);
        if (dtype_class(a->dtype) != D_REAL)
            w[i] = load_whole(a->dtype, a->data, 0);
    }
    const double count = range_count(c->in[0]->type.dtype, v, w);
    if (v[2] == 0 || isnan(count))
        return err_set(e, TS_BAD_INPUT, "from %.17g to %.17g by %.17g is no range: the step must not be 0", v[0], v[1],
                       v[2]);
    if (count >= 0x1p53) {
        err_set(e, TS_MEMORY, "from %.17g to %.17g by %.17g are %.17g elements, above 2^53", v[0], v[1], v[2], count);
        return err_hint(e, "no option raises this: give a smaller limit or a larger step");
    }
    const dtype d = c->in[0]->type.dtype;
    const node *y = g_count(c->g, count > 0 ? (int64_t)count : 0, d);
    if (v[2] != 1)
        y = g_call2(c->g, "multiply", y, g_reshape(c->g, c->in[2], 0, &(int64_t){1}));
    if (v[0] != 0)
        y = g_call2(c->g, "add", y, g_reshape(c->g, c->in[0], 0, &(int64_t){1}));
    return onnx_give(c, out, y, e);
}

/* ---- shape ---- */
static bool iota_shape(const node *n, type *out, err *e)
{
    *out = (type){.rank = 1, .dim = {node_int(n, "count")}};
    return attr_dtype(n, "to", &out->dtype, e);
}

static bool place_shape(const node *n, type *out, err *e)
{
    const type *t = &n->in[0]->type, *top = &n->in[1]->type;
    int axis;
    if (!attr_axis(n, "axis", t->rank, &axis, e))
        return false;
    if (t->dim[axis] == 0)
        return err_set(e, TS_BAD_INPUT, "attribute axis is %d, whose extent is 0: at least one place expected", axis);
    *out = (type){.dtype = TS_I64};
    for (int i = 0; i < t->rank; i++) {
        if (top->rank != t->rank || top->dim[i] != (i == axis ? 1 : t->dim[i]))
            return operands_refuse(2, n->in, e, "the second one of the first one's shape with extent 1 along axis %d",
                                   axis);
        if (i != axis)
            out->dim[out->rank++] = t->dim[i];
    }
    return true;
}

static bool best_shape(const node *n, type *out, err *e)
{
    const type *t = &n->in[0]->type;
    int axis;
    if (!attr_axis(n, "axis", t->rank, &axis, e))
        return false;
    if (t->dim[axis] == 0)
        return err_set(e, TS_BAD_INPUT, "axis %d is empty and has no places", axis);
    *out = (type){.dtype = TS_I64};
    for (int i = 0; i < t->rank; i++)
        if (i != axis || node_int(n, "keepdims"))
            out->dim[out->rank++] = i == axis ? 1 : t->dim[i];
    return true;
}

/* ---- body ---- */
static const expr *iota_body(defn *d)
{
    return x_cast(d->mem, d->node->type.dtype, x_axis(d->mem, 0));
}

/* y = smallest i with a[..., i, ...] == b[..., 0, ...] or NaN there; 0 if there is none. Computed as n minus the
 * maximum of n - i over matches (0 without one, so that n stands for none); the last match is the maximum of i. */
static const expr *place_body(defn *d)
{
    const type *t = &d->node->in[0]->type;
    const expr *sub[MAX_RANK], *top[MAX_RANK], *n;
    const int axis = defn_axis(d, t->rank), fold = defn_fold(d, t->dim[axis]);
    for (int i = 0, k = 0; i < t->rank; i++)
        sub[i] = top[i] = x_axis(d->mem, i == axis ? fold : k++);
    top[axis] = x_whole(d->mem, 0), n = x_whole(d->mem, t->dim[axis]);
    const bool last = node_int(d->node, "last");
    const expr *far = x_said(d->mem, last ? "a == b || isnan(a) ? i : 0" : "a == b || isnan(a) ? n - i : 0", "a",
                             defn_at(d, 0, sub), "b", defn_at(d, 1, top), "i", sub[axis], "n", n, NULL);
    far = x_fold(d->mem, "max", 1u << fold, far);
    return last ? far : x_said(d->mem, "(n - far) % n", "n", n, "far", far, NULL);
}

/* Whether `is` takes the place of `was`, the best so far: it is better, or the first NaN; of the last of several, as
 * good will do. */
static const expr *takes(arena *mem, const expr *was, const expr *is, bool least, bool last)
{
    const expr *low = least ? is : was, *high = least ? was : is;
    const bool real = dtype_class(was->dtype) == D_REAL;
    return x_said(mem,
                  last   ? real ? "low <= high || isnan(is)" : "low <= high"
                  : real ? "low < high || isnan(is) && !isnan(was)"
                         : "low < high",
                  "low", low, "high", high, "is", is, "was", was, NULL);
}

/* The better of two parts; of equal ones the place decides. */
static const expr *chosen_part(arena *mem, const expr *const *was, const expr *const *with, bool least, bool last)
{
    return x_said(mem, last ? "better && (!worse || at < place)" : "better || !worse && place < at", "better",
                  takes(mem, was[0], with[0], least, last), "worse", takes(mem, with[0], was[0], least, last), "at",
                  was[1], "place", with[1], NULL);
}

/* The best of a[..., i, ...] and its place, folded together. */
static const expr *best_body(defn *d)
{
    arena *mem = d->mem;
    const type *t = &d->node->in[0]->type;
    const bool least = !strcmp(d->node->op->name, "argmin"), last = node_int(d->node, "last"),
               keep = node_int(d->node, "keepdims");
    const expr *sub[MAX_RANK];
    const int axis = defn_axis(d, t->rank), fold = defn_fold(d, t->dim[axis]);
    for (int i = 0, k = 0; i < t->rank; i++) {
        sub[i] = x_axis(mem, i == axis ? fold : k);
        k += i != axis || keep;
    }
    const dtype of[] = {t->dtype, t->dim[axis] <= INT32_MAX ? TS_I32 : TS_I64};
    const expr *was[2], *with[2], *e[] = {defn_at(d, 0, sub), x_cast(mem, of[1], sub[axis])}, *step[2], *merge[2];
    const expr *start[] = {x_unit(mem, fn_find(least ? "min" : "max"), of[0]), x_cast(mem, of[1], x_whole(mem, 0))};
    for (int k = 0; k < 2; k++)
        was[k] = x_state(mem, of[k], k), with[k] = x_state(mem, of[k], 2 + k);
    const expr *test = takes(mem, was[0], e[0], least, last), *part = chosen_part(mem, was, with, least, last);
    for (int k = 0; k < 2; k++)
        step[k] = x3(mem, "select", test, e[k], was[k]), merge[k] = x3(mem, "select", part, with[k], was[k]);
    return x_merged(mem, x_scan(mem, 1u << fold, 0, 2, start, step, x_cast(mem, TS_I64, was[1])), merge);
}

/* ---- records ---- */
#define ALONG "axis:i=0 keepdims:i=0 last:i=0"
static const char cases[] =
    "f32[7]\nf32[3,4]\nf32[3,4] axis=1\ni64[2,9,3] axis=1 keepdims=1\nf32[16]!\nf64[2,3] axis=-1\nf32[0,2] axis=1\n"
    "u8[40]\ni64[2,9,3] axis=1 last=1\nf32[16]! last=1";

const op ops_count[] = {
    BODY("iota count:i to:s=i64 -> e", iota_body, "np.arange(count).astype(dtypes[to])", NULL,
         "count=5\ncount=0\ncount=7 to=f32\ncount=3 to=i32", "0, 1, 2, ... up to but not including count.",
         .adapted = ADAPTED({"Range 11 N 3 stash_type", adapt_range}), .onnx_cases = "Range f32[]*=0 f32[]=5 f32[]=1",
         .shape = iota_shape),
    BODY("place a b axis:i=0 last:i=0 -> r | c", place_body, "far(np.argmax, (a == b) | np.isnan(a), axis, 0, last)",
         NULL,
         "i64[9,5] i64[1,5]\ni32[3,4] i32[3,1] axis=1\nf32[16]! f32[1]\nu8[2,6,3] u8[2,1,3] axis=-2\n"
         "i64[60,5]<2 i64[1,5]=1 last=1",
         "First or last place along an axis where the first operand equals the second, whose extent there is 1.",
         .shape = place_shape),
    BODY("argmax a " ALONG " -> r | c", best_body, "far(np.argmax, a, axis, keepdims, last)",
         "ArgMax 1 n 1 axis keepdims=1 last:select_last_index", cases,
         "Place of the largest element along an axis; the first or last of several, or of NaN.", .shape = best_shape),
    BODY("argmin a " ALONG " -> r | c", best_body, "far(np.argmin, a, axis, keepdims, last)",
         "ArgMin 1 n 1 axis keepdims=1 last:select_last_index", cases,
         "Place of the smallest element along an axis; the first or last of several, or of NaN.", .shape = best_shape),
    {0},
};
