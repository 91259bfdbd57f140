/* json_value.c - the small values of graph/1: names, dtypes, extents, numbers, and tensors, which stand in the file
 * itself or among its weights. */
#include "import/json_parts.h"
#include "import/name.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INLINE_ELEMENTS = 64 }; /* that a message or a file has in place; more are counted */

bool json_comment(const json *member)
{
    return member->key && !strcmp(member->key, "//");
}

/* ---- small values ---- */

bool json_member(const json *object, const char *key, json_kind kind, const json **out, err *e)
{
    *out = json_get(object, key);
    return !*out || json_want(*out, kind, e);
}

bool json_need(const json *object, const char *key, json_kind kind, const json **out, err *e)
{
    if (!json_member(object, key, kind, out, e))
        return false;
    return *out || json_refuse(e, object, TS_BAD_INPUT, "the key \"%s\" is missing", key);
}

bool json_name(const json *v, err *e)
{
    err own = {0};
    if (!json_want(v, JSON_TEXT, e))
        return false;
    return name_check(v->text, strlen(v->text), NAME_MOST, "name", &own) ||
           json_refuse(e, v, TS_BAD_INPUT, "%s", own.text);
}

bool json_need_name(const json *object, const char *key, const char **out, err *e)
{
    const json *v;
    if (!json_need(object, key, JSON_TEXT, &v, e) || !json_name(v, e))
        return false;
    if (!*v->text)
        return json_refuse(e, v, TS_BAD_INPUT, "an empty name");
    *out = v->text;
    return true;
}

bool json_dtype(const json *v, dtype *out, err *e)
{
    err own = {0};
    return dtype_read(v->text, out, &own) || json_refuse(e, v, TS_BAD_INPUT, "%s", own.text);
}

bool json_extent(const json *v, int64_t *out, err *e)
{
    if (json_whole(v, out) && *out >= 0 && *out <= MODEL_ELEMENTS)
        return true;
    char wanted[48];
    snprintf(wanted, sizeof wanted, "an extent from 0 to 2^%d", MODEL_ELEMENTS_LOG2);
    return json_expect(v, wanted, e);
}

bool json_shape(const json *list, ts_port *out, err *e)
{
    out->rank = 0;
    for (const json *i = list->first; i; i = i->next, out->rank++) {
        if (out->rank == MAX_RANK)
            return json_refuse(e, list, TS_BAD_INPUT, "%zu dimensions, at most %d expected", json_count(list),
                               MAX_RANK);
        if (i->kind != JSON_TEXT) {
            if (!json_extent(i, &out->dim[out->rank], e))
                return false;
            continue;
        }
        if (!json_name(i, e))
            return false;
        if (!*i->text)
            return json_refuse(e, i, TS_BAD_INPUT, "an empty name");
        out->dim[out->rank] = -1;
        out->symbol[out->rank] = i->text;
    }
    return true;
}

/* ---- numbers ---- */
static const struct {
    const char *name;
    double value;
} specials[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};

static bool special(const json *v, double *out)
{
    const int i = v->kind == JSON_TEXT ? ROW_NAMED(specials, v->text) : -1;
    return i >= 0 && (*out = specials[i].value, true);
}

bool json_is_real(const json *v)
{
    double ignored;
    return v->kind == JSON_NUMBER || special(v, &ignored);
}

bool json_real(const json *v, dtype d, double *out, err *e)
{
    const bool named = special(v, out);
    double stored;
    if (!named && v->kind != JSON_NUMBER)
        return json_expect(v, "a number, \"NaN\", \"Infinity\" or \"-Infinity\"", e);
    store_real(d, &stored, 0, named ? *out : v->number);
    *out = load_real(d, &stored, 0);
    return named || isfinite(*out) ||
           json_refuse(e, v, TS_BAD_INPUT, "beyond the numbers of %s; infinity is \"Infinity\" or \"-Infinity\"",
                       ts_dtype_name(d));
}

static bool read_element(const json *v, const ts_array *to, int64_t i, err *e)
{
    double real;
    int64_t whole;
    if (dtype_class(to->dtype) == D_REAL) {
        if (!json_real(v, to->dtype, &real, e))
            return false;
        store_real(to->dtype, to->data, i, real);
        return true;
    }
    if (v->kind == JSON_TRUTH && to->dtype == TS_BOOL)
        whole = v->truth;
    else if (!json_whole(v, &whole))
        return json_expect(v, "a whole number", e);
    store_whole(to->dtype, to->data, i, whole);
    return load_whole(to->dtype, to->data, i) == whole ||
           json_refuse(e, v, TS_BAD_INPUT, "%lld is not a value of %s", (long long)whole, ts_dtype_name(to->dtype));
}

/* ---- tensors ---- */
static bool read_extents(const json *shape, ts_array *out, int64_t *count, err *e)
{
    ts_port p;
    *count = 1;
    if (!json_shape(shape, &p, e))
        return false;
    out->rank = p.rank;
    for (int i = 0; i < p.rank; i++) {
        out->dim[i] = p.dim[i];
        if (p.dim[i] < 0 || !int_mul(*count, p.dim[i], count) || *count > INLINE_ELEMENTS)
            return json_refuse(e, shape, TS_BAD_INPUT, "numbers within the file: at most %d; put more into the weights",
                               INLINE_ELEMENTS);
    }
    return true;
}

static bool inline_tensor(arena *mem, const json *v, ts_array *out, err *e)
{
    const json *d, *shape, *data;
    int64_t count, n = 0;
    if (!json_known(v, "dtype shape data", e) || !json_need(v, "dtype", JSON_TEXT, &d, e) ||
        !json_need(v, "shape", JSON_LIST, &shape, e) || !json_need(v, "data", JSON_LIST, &data, e) ||
        !json_dtype(d, &out->dtype, e) || !read_extents(shape, out, &count, e))
        return false;
    if ((int64_t)json_count(data) != count)
        return json_refuse(e, data, TS_BAD_INPUT, "%zu numbers, the shape needs %lld", json_count(data),
                           (long long)count);
    out->data = arena_array(mem, (size_t)count + 1, sizeof(double));
    for (const json *i = data->first; i; i = i->next)
        if (!read_element(i, out, n++, e))
            return false;
    return true;
}

bool json_tensor(json_source *s, const json *v, held *out, err *e)
{
    const json *key;
    if (!json_want(v, JSON_OBJECT, e) || !json_member(v, "weight", JSON_TEXT, &key, e))
        return false;
    if (!key)
        return inline_tensor(s->mem, v, &out->value, e);
    const int i = s->n_weight ? name_find(&s->by_name, key->text) : -1;
    if (!json_known(v, "weight", e))
        return false;
    if (i < 0)
        return json_refuse(e, key, TS_BAD_INPUT, "the weights hold no tensor \"%s\"", key->text);
    s->inner[i] = true;
    out->value = s->weight[i].value, out->refused = s->weight[i].refused;
    return true;
}
