/* values.c - summaries of values, and the first that differs between two runs. */
#include "cli/values.h"

#include "bench/measure.h"
#include "graph/base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the bytes, in rows: equal for equal bits, -0 and 0 apart. */
static void put_checksum(cJSON *row, const ts_array *value)
{
    hasher *h = hash_open();
    char hex[17];
    hash_bytes(h, value->data, (size_t)ts_array_count(value) * (size_t)ts_dtype_bytes(value->dtype));
    const digest d = hash_close(h);
    for (int i = 0; i < 8; i++)
        snprintf(hex + 2 * i, 3, "%02x", d.b[i]);
    js_text(row, "checksum", hex);
}

void values_put(cJSON *list, int place, const char *name, const ts_array *value)
{
    const measure m = measure_array(value);
    int64_t nan = 0;
    for (int64_t i = 0; m.bad && i < m.count; i++)
        nan += isnan(ts_array_at(value, i));
    cJSON *row = js_row(list, "place:%d,name:%s,dtype:%s", place, name, ts_dtype_name(value->dtype));
    cJSON *shape = js_array(row, "shape");
    for (int d = 0; d < value->rank; d++)
        cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)value->dim[d]));
    js_put(row, "min:%g,max:%g,mean:%g,nan:%lld,infinite:%lld", m.min, m.max, m.mean, (long long)nan,
           (long long)(m.bad - nan));
    put_checksum(row, value);
}

/* ---- two of them ---- */
static const char *const numbers[] = {"min", "max", "mean", "nan", "infinite"};

/* What of it is another one: a member's name; NULL: nothing. */
static const char *difference(const cJSON *x, const cJSON *y, double tolerance)
{
    if (strcmp(js_get_text(x, "dtype"), js_get_text(y, "dtype")) != 0)
        return "dtype";
    if (!cJSON_Compare(js_get(x, "shape"), js_get(y, "shape"), true))
        return "shape";
    if (strcmp(js_get_text(x, "checksum"), js_get_text(y, "checksum")) == 0)
        return NULL;
    for (int i = 0; i < COUNT(numbers); i++) {
        const double p = js_get_number(x, numbers[i], NAN), q = js_get_number(y, numbers[i], NAN);
        if (isnan(p) != isnan(q) || fabs(p - q) > tolerance * fmax(1, fabs(p) + fabs(q)))
            return numbers[i];
    }
    return tolerance > 0 ? NULL : "checksum";
}

static bool check(const cJSON *list, const char *which, ts_error *e)
{
    const cJSON *x;
    int i = 0;
    bool ok = cJSON_IsArray(list);
    cJSON_ArrayForEach(x, list)
    {
        ok = ok && *js_get_text(x, "name") && *js_get_text(x, "checksum") && *js_get_text(x, "dtype") &&
             cJSON_IsNumber(js_get(x, "place"));
        if (!ok)
            break;
        i++;
    }
    if (ok)
        return true;
    err_set(e, TS_BAD_INPUT, "%s: value %d is none of " FORMAT_VALUES, which, i);
    return err_hint(e, "run MODEL --trace-values FILE writes such a file");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(js_get_text(*(const cJSON *const *)a, "name"), js_get_text(*(const cJSON *const *)b, "name"));
}

static const cJSON **sorted(const cJSON *list, size_t *n)
{
    const cJSON *x, **all = heap_array((size_t)cJSON_GetArraySize(list) + 1, sizeof(const cJSON *));
    *n = 0;
    cJSON_ArrayForEach(x, list) all[(*n)++] = x;
    qsort(all, *n, sizeof *all, by_name);
    return all;
}

static void put_first(cJSON *out, const cJSON *x, const cJSON *y, const char *what)
{
    cJSON *first = js_put(js_object(out, "first"), "name:%s,what:%s", js_get_text(x, "name"), what);
    cJSON_AddItemToObject(first, "a", cJSON_Duplicate(x, true));
    cJSON_AddItemToObject(first, "b", cJSON_Duplicate(y, true));
}

bool values_diff(const cJSON *a, const cJSON *b, double tolerance, cJSON *out, ts_error *e)
{
    if (!check(a, "the first file", e) || !check(b, "the second file", e))
        return false;
    size_t n;
    const cJSON *x, **other = sorted(b, &n), *first = NULL, *there = NULL;
    int both = 0, differ = 0;
    cJSON_ArrayForEach(x, a)
    {
        const cJSON *const *y = bsearch(&x, other, n, sizeof *other, by_name);
        both += y != NULL;
        if (!y || !difference(x, *y, tolerance))
            continue;
        differ++;
        if (!first || js_get_number(x, "place", 0) < js_get_number(first, "place", 0))
            first = x, there = *y;
    }
    js_put(out, "values:%d,differ:%d,only_a:%d,only_b:%d", both, differ, cJSON_GetArraySize(a) - both, (int)n - both);
    if (first)
        put_first(out, first, there, difference(first, there, tolerance));
    free(other);
    if (both)
        return true;
    err_set(e, TS_BAD_INPUT, "the files have no value of one name");
    return err_hint(e, "trace the same model twice");
}
