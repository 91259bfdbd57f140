/* feature.c - operators of ONNX's domain of older machine learning that are other operations in disguise: what prepares
 * features, and what stands behind a classifier. There are no tensors of texts: what gives one of a list of texts gives
 * its place in the list, -1 where it is none of them; what takes texts takes such places, or is refused. */
#include "graph/ops/forest.h"
#include "graph/ops/scores.h"

#include <math.h>
#include <string.h>

/* ---- helpers ---- */
/* Numbers for each column: as many as attribute `name` has, one for all, or none. */
static bool columns_read(const onnx_call *c, const char *name, int64_t width, const double **v, int *n, err *e)
{
    return forest_reals(c, name, v, n, e) &&
           (*n <= 1 || *n == width ||
            err_set(e, TS_BAD_INPUT, "attribute %s has %d numbers, 1 or %lld expected: the input's columns", name, *n,
                    (long long)width));
}

static int64_t width_of(const node *x)
{
    return x->type.rank ? x->type.dim[x->type.rank - 1] : 1;
}

static const node *as_f32(const onnx_call *c)
{
    return g_cast(c->g, c->in[0], TS_F32);
}

static bool given(const onnx_call *c, const char *name)
{
    const attr *a = onnx_attr(c, name);
    return a && (a->kind != 'S' || a->n > 0);
}

static bool refuse_texts(const onnx_call *c, const char *name, err *e)
{
    err_set(e, TS_UNSUPPORTED, "%s: attribute %s, and there are no tensors of texts", c->type, name);
    return err_hint(e, "map texts to numbers before the model, and leave this step out");
}

/* ---- ONNX ---- */
/* Columns of the last axis; a vector is one row. */
static bool make_extract(const onnx_call *c, onnx_value *out, err *e)
{
    graph *g = c->g;
    const node *x = c->in[0];
    const int64_t n = type_count(&c->in[1]->type), row[] = {1, type_count(&x->type)};
    const node *places = g_reshape(g, g_cast(g, c->in[1], TS_I64), 1, &n); /* [n] */
    x = x->type.rank < 2 ? g_reshape(g, x, 2, row) : x;                    /* [..., column] */
    return onnx_give(c, &out[0].node, g_call2(g, "gather axis=-1", x, places), e);
}

static bool make_binarize(const onnx_call *c, onnx_value *out, err *e)
{
    /* x [...], level [] */
    const node *x = c->in[0], *level = g_scalar(c->g, x->type.dtype, onnx_real(c, "threshold", 0));
    const node *y = g_call2(c->g, "greater", x, level); /* [...] */
    return onnx_give(c, &out[0].node, y ? g_cast(c->g, y, x->type.dtype) : NULL, e);
}

static bool make_scale(const onnx_call *c, onnx_value *out, err *e)
{
    const double *offset, *scale;
    const node *y = as_f32(c);
    int n, m;
    if (!columns_read(c, "offset", width_of(y), &offset, &n, e) ||
        !columns_read(c, "scale", width_of(y), &scale, &m, e))
        return false;
    if (n)
        y = g_call2(c->g, "subtract", y, scores_table(c->g, TS_F32, n, 0, offset));
    if (m)
        y = g_call2(c->g, "multiply", y, scores_table(c->g, TS_F32, m, 0, scale));
    return onnx_give(c, &out[0].node, y, e);
}

/* Rows of nothing but zeros stay. */
static bool make_normal(const onnx_call *c, onnx_value *out, err *e)
{
    static const struct {
        const char *name, *term, *fold, *by;
    } norms[] = {{"MAX", "a", "max", "b"}, {"L1", "abs(a)", "sum", "b"}, {"L2", "a*a", "sum", "sqrt(b)"}};
    const char *name = onnx_word(c, "norm", "MAX");
    const node *x = as_f32(c);
    const int i = ROW_NAMED(norms, name);
    if (i < 0 || x->type.rank < 1)
        return err_set(e, TS_BAD_INPUT, "norm \"%.40s\" of rank %d; MAX, L1 or L2 of rows expected", name,
                       x->type.rank);
    const node *all = g_over(c->g, norms[i].fold, g_formula(c->g, 1, &x, norms[i].term), 1,
                             (const int64_t[]){x->type.rank - 1}); /* [..., 1] */
    const char *how = arena_format(&c->g->mem, "select(b==0,a,a/%s)", norms[i].by);
    return onnx_give(c, &out[0].node, all ? g_formula(c->g, NODES(x, all), how) : NULL, e);
}

/* Of reals NaN may stand for what is missing. */
static bool make_impute(const onnx_call *c, onnx_value *out, err *e)
{
    const node *x = c->in[0];
    const bool real = dtype_class(x->type.dtype) == D_REAL;
    const double *value;
    int n;
    if (real && !columns_read(c, "imputed_value_floats", width_of(x), &value, &n, e))
        return false;
    const int64_t *whole;
    if (!real && !forest_ints(c, "imputed_value_int64s", &whole, &n, e))
        return false;
    if (n < 1 || (n > 1 && n != width_of(x)))
        return err_set(e, TS_BAD_INPUT, "%s has %d numbers, 1 or %lld expected: the input's columns",
                       real ? "imputed_value_floats" : "imputed_value_int64s", n, (long long)width_of(x));
    const double missing = onnx_real(c, "replaced_value_float", 0);
    const node *old = real ? g_scalar(c->g, x->type.dtype, missing)
                           : g_cast(c->g,
                                    g_const(c->g, "", &(type){.dtype = TS_I64},
                                            (const int64_t[]){onnx_int(c, "replaced_value_int64", 0)}),
                                    x->type.dtype);
    const node *is = real && isnan(missing) ? g_call1(c->g, "isnan", x) : g_call2(c->g, "equal", x, old);
    const node *by = real ? scores_table(c->g, x->type.dtype, n, 0, value)
                          : g_cast(c->g, g_ints(c->g, n, whole), x->type.dtype);
    return onnx_give(c, &out[0].node, is ? g_call3(c->g, "where", is, by, x) : NULL, e);
}

/* Inputs side by side, each cut to, or filled with zeros up to, its listed number of columns. */
static bool make_vector(const onnx_call *c, onnx_value *out, err *e)
{
    const int64_t *width;
    int n;
    if (!forest_ints(c, "inputdimensions", &width, &n, e))
        return false;
    if (n != c->n_in || n < 1)
        return err_set(e, TS_BAD_INPUT, "inputdimensions has %d numbers for %d inputs, as many expected", n, c->n_in);
    const node **part = arena_array(&c->g->mem, (size_t)n, sizeof *part);
    for (int i = 0; i < n; i++) {
        const node *x = c->in[i];
        if (!x || x->type.rank < 1 || x->type.rank > 2 || width[i] < 1 || width[i] > 1 << 24)
            return err_set(e, TS_BAD_INPUT, "input %d: %lld columns of [row, column], 1 to 2^24 expected", i + 1,
                           (long long)width[i]);
        const int64_t column[] = {x->type.dim[0], 1};
        x = g_cast(c->g, x->type.rank == 1 ? g_reshape(c->g, x, 2, column) : x, TS_F32);
        const int64_t more = width[i] - width_of(x);
        x = more < 0 ? g_part(c->g, x, 1, 0, width[i]) : x;
        part[i] = more > 0 ? g_padded(c->g, x, 1, 0, more) : x;
    }
    return onnx_give(c, &out[0].node, g_joined(c->g, n, part, 1), e);
}

/* The first line of the list that is the text, or how many there are */
static int64_t line_of(const attr *list, const char *is, size_t length)
{
    int64_t i = 0;
    for (const char *s = list->s; i < list->n; i++) {
        const size_t own = strcspn(s, "\n");
        if (own == length && !memcmp(s, is, own))
            break;
        s += own + (s[own] == '\n');
    }
    return i;
}

/* x holds places in its own list of texts; the result holds places in `list`, its length where the text is not in
 * there. */
static const node *places_in(const onnx_call *c, const attr *list)
{
    const onnx_value *x = &c->value[0];
    const int n = x->texts->n;
    int64_t *place = arena_array(&c->g->mem, (size_t)n + 1, sizeof *place);
    const char *s = x->texts->s;
    for (int i = 0; i < n; i++) {
        const size_t length = strcspn(s, "\n");
        place[i] = line_of(list, s, length), s += length + (s[length] == '\n');
    }
    place[n] = line_of(list, x->none, strlen(x->none)); /* where -1 counts from the end */
    return g_call2(c->g, "gather axis=0", g_ints(c->g, n + 1, place), x->node);
}

/* y[..., k] = x[...] == category k */
static bool make_one_hot(const onnx_call *c, onnx_value *out, err *e)
{
    graph *g = c->g;
    const attr *texts = c->value[0].texts ? onnx_attr(c, "cats_strings") : NULL;
    const int64_t *category;
    int n;
    if (given(c, "cats_strings") && !texts)
        return refuse_texts(c, "cats_strings", e);
    if (!forest_ints(c, "cats_int64s", &category, &n, e))
        return false;
    n = texts ? texts->n : n;
    if (n < 1)
        return err_set(e, TS_BAD_INPUT, "cats_int64s is empty, one category at least expected");
    const node *x = texts ? places_in(c, texts) : g_cast(g, c->in[0], TS_I64);
    const node *y = g_call2(g, "equal", g_call1(g, "expand_dims axes=[-1]", x),
                            texts ? g_count(g, n, TS_I64) : g_ints(g, n, category));
    return onnx_give(c, &out[0].node, y ? g_cast(g, y, TS_F32) : NULL, e);
}

typedef struct side { /* of a map: keys or values */
    const node *node; /* [n], or for texts NULL */
    int n;
    const attr *texts;
} side;

static const node *constant(const onnx_call *c, const ts_array *a)
{
    const int64_t n = ts_array_count(a);
    const type t = {.dtype = a->dtype, .rank = 1, .dim = {n}};
    void *data = arena_array(&c->g->mem, (size_t)n, (size_t)ts_dtype_bytes(a->dtype));
    if (n)
        memcpy(data, a->data, (size_t)n * (size_t)ts_dtype_bytes(a->dtype));
    return g_weight(c->g, "", &t, data);
}

/* "keys" or "values" as integers, reals or a tensor; texts have no node */
static bool side_read(const onnx_call *c, const char *which, side *out, err *e)
{
    arena *mem = &c->g->mem;
    const int64_t *whole;
    const double *real;
    *out = (side){0};
    const attr *t = onnx_attr(c, arena_format(mem, "%s_tensor", which));
    if (t && t->kind == 't') {
        out->node = constant(c, c->tensor[t - c->attr]), out->n = (int)type_count(&out->node->type);
        return true;
    }
    const attr *s = onnx_attr(c, arena_format(mem, "%s_strings", which));
    if (!forest_ints(c, arena_format(mem, "%s_int64s", which), &whole, &out->n, e))
        return false;
    if (out->n)
        return out->node = g_ints(c->g, out->n, whole), true;
    if (!forest_reals(c, arena_format(mem, "%s_floats", which), &real, &out->n, e))
        return false;
    if (out->n)
        return out->node = scores_table(c->g, TS_F32, out->n, 0, real), true;
    out->texts = s && s->kind == 'S' ? s : NULL, out->n = out->texts ? s->n : 0;
    return true;
}

/* What stands for a key that is not there, of the values' dtype, [1] */
static const node *default_of(const onnx_call *c, const side *value)
{
    const attr *t = onnx_attr(c, "default_tensor");
    const int64_t none = onnx_int(c, "default_int64", -1);
    const double zero = onnx_real(c, "default_float", -0.0);
    if (!value->node)
        return g_ints(c->g, 1, (const int64_t[]){-1});
    if (t && t->kind == 't')
        return g_cast(c->g, constant(c, c->tensor[t - c->attr]), value->node->type.dtype);
    return dtype_class(value->node->type.dtype) == D_REAL
               ? g_cast(c->g, scores_table(c->g, TS_F32, 1, 0, &zero), value->node->type.dtype)
               : g_cast(c->g, g_ints(c->g, 1, &none), value->node->type.dtype);
}

/* In version 1 one list has the texts of 0, 1, ...: which side they are, the operand says. */
static bool sides_read(const onnx_call *c, side *key, side *value, err *e)
{
    const attr *classes = given(c, "classes_strings") ? onnx_attr(c, "classes_strings") : NULL;
    if (!classes)
        return side_read(c, "keys", key, e) && side_read(c, "values", value, e);
    *key = *value = (side){g_count(c->g, classes->n, TS_I64), classes->n, NULL};
    *(c->value[0].texts ? key : value) = (side){NULL, classes->n, classes};
    return true;
}

/* The first k where x is key[k], or how many there are */
static const node *first_key(const onnx_call *c, const side *key)
{
    graph *g = c->g;
    const node *x = c->in[0], *keys = g_cast(g, key->node, x->type.dtype);
    const int64_t flat = type_count(&x->type), extent[] = {flat, key->n};
    const bool real = dtype_class(x->type.dtype) == D_REAL && c->version >= 4; /* then NaN may be a key */
    const char *how = arena_format(
        &g->mem, real ? "select(a[i0]==b[i1]||isnan(a[i0])&&isnan(b[i1]),i1,%d)" : "select(a[i0]==b[i1],i1,%d)",
        key->n);
    const node *place = g_element(g, NODES(g_reshape(g, x, 1, &flat), keys), &(spelling){1, 1, extent, "min", how});
    return g_reshape(g, place, x->type.rank, x->type.dim);
}

/* y = value[k] of the first k where x is key[k] */
static bool make_encode(const onnx_call *c, onnx_value *out, err *e)
{
    graph *g = c->g;
    side key, value;
    if (!sides_read(c, &key, &value, e))
        return false;
    if (key.texts && !c->value[0].texts)
        return refuse_texts(c, key.texts->name, e);
    if ((!key.node && !key.texts) || key.n != value.n || key.n < 1)
        return err_set(e, TS_BAD_INPUT, "%d keys and %d values, as many of both expected", key.n, value.n);
    if (c->in[0]->type.rank + 1 > MAX_RANK)
        return operands_refuse(1, c->in, e, "a rank below %d", MAX_RANK);
    const node *values = value.node ? value.node : g_count(g, value.n, TS_I64), *other = default_of(c, &value);
    if (other && type_count(&other->type) != 1)
        return err_set(e, TS_BAD_INPUT, "default_tensor has %lld elements, one expected",
                       (long long)type_count(&other->type));
    const node *place = key.texts ? places_in(c, key.texts) : first_key(c, &key);
    if (value.texts)
        out[0].texts = value.texts, out[0].none = onnx_word(c, "default_string", "_Unused");
    return onnx_give(c, &out[0].node, g_call2(g, "gather axis=0", g_joined(g, NODES(values, other), 0), place), e);
}

/* ONNX gives a map from label to probability for each row; here it is the probabilities, a column for each label. */
static bool make_zip(const onnx_call *c, onnx_value *out, err *e)
{
    return onnx_give(c, &out[0].node, c->in[0], e);
}

/* ---- records ---- */
const op ops_feature[] = {
    {.call = "features",
     .doc = "Columns, thresholds and categories of older machine learning, as other operations.",
     .formed = FORMED({"ai.onnx.ml.ArrayFeatureExtractor 1 - 2", make_extract},
                      {"ai.onnx.ml.Binarizer 1 - 1 threshold", make_binarize},
                      {"ai.onnx.ml.Scaler 1 - 1 offset scale", make_scale},
                      {"ai.onnx.ml.Normalizer 1 - 1 norm", make_normal},
                      {"ai.onnx.ml.Imputer 1 - 1 imputed_value_floats imputed_value_int64s replaced_value_float "
                       "replaced_value_int64",
                       make_impute},
                      {"ai.onnx.ml.FeatureVectorizer 1 - 1.. inputdimensions", make_vector},
                      {"ai.onnx.ml.OneHotEncoder 1 - 1 cats_int64s cats_strings zeros", make_one_hot},
                      {"ai.onnx.ml.LabelEncoder 1 - 1 classes_strings default_float default_int64 default_string "
                       "default_tensor keys_floats keys_int64s keys_strings keys_tensor values_floats values_int64s "
                       "values_strings values_tensor",
                       make_encode},
                      {"ai.onnx.ml.ZipMap 1 - 1 classlabels_int64s classlabels_strings", make_zip})},
    {0},
};
