/* verify.c - the largest difference of an output, as a share of its largest value, against a tolerance by dtype;
 * whole numbers have to be equal. */
#include "bench/verify.h"
#include "bench/measure.h"
#include "graph/base/base.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { VERIFY_PATH = 4096 }; /* bytes, PATH_MAX */

double verify_tolerance(ts_dtype d)
{
    static const double of[TS_N_DTYPE] = {[TS_F64] = 1e-10, [TS_F32] = 1e-4, [TS_F16] = 1e-2, [TS_BF16] = 5e-2};
    return of[d];
}

static bool same_shape(const ts_array *a, const ts_array *b)
{
    return a->rank == b->rank && (a->rank == 0 || memcmp(a->dim, b->dim, sizeof *a->dim * (size_t)a->rank) == 0);
}

/* The first element that is off by more than `most`. */
static int64_t first_off(const ts_array *got, const ts_array *want, double most)
{
    int64_t k = 0;
    while (!(off_by(ts_array_at(got, k), ts_array_at(want, k)) > most))
        k++;
    return k;
}

/* What went wrong there may come from an error many steps before: the first step says where to look. */
static bool diverges(const char *name, const ts_array *got, const ts_array *want, double most, ts_error *e)
{
    const int64_t k = first_off(got, want, most);
    const double g = ts_array_at(got, k), w = ts_array_at(want, k);
    return err_set(e, TS_NUMERICS, "diverges at step %lld: %.80s is %.9g and should be %.9g; off by %.3g, allowed %.3g",
                   (long long)k + 1, name, g, w, off_by(g, w), most);
}

static bool compare_output(const verify_task *t, int i, const ts_array *got, const ts_array *want, numerics *out,
                           ts_error *e)
{
    const double usual = verify_tolerance(want->dtype) > 0 ? verify_tolerance(got->dtype)
                                                           : 0; /* the reference may be wider */
    const double tolerance = usual > 0 && t->tolerance > 0 ? t->tolerance : usual;
    if (!same_shape(got, want))
        return err_set(e, TS_NUMERICS, "output %d is %s, the reference's %s expected", i, array_type(got).s,
                       array_type(want).s);
    const apart a = array_apart(got, want);
    const double rel = a.most == 0 ? 0 : a.scale > 0 ? a.most / a.scale : INFINITY;
    out->max_abs = fmax(out->max_abs, a.most);
    out->max_rel = fmax(out->max_rel, rel);
    out->tolerance = fmax(out->tolerance, tolerance);
    if (rel <= tolerance)
        return true;
    if (t->trajectory)
        return diverges(js_get_text(cJSON_GetArrayItem(t->port, i), "name"), got, want, tolerance * a.scale, e);
    return err_set(
        e, TS_NUMERICS,
        "wrong: output %d, element %lld is %.9g and should be %.9g; off by %.3g of the largest, allowed %.3g", i,
        (long long)a.worst, ts_array_at(got, a.worst), ts_array_at(want, a.worst), rel, tolerance);
}

/* bf16 is in files as its bits, and so are smaller reals. */
static void take_bits(ts_array *a, const cJSON *port)
{
    const char *name = js_get_text(port, "dtype");
    if (!strcmp(name, ts_dtype_name(TS_BF16)) && a->dtype == TS_U16)
        a->dtype = TS_BF16;
}

bool verify_outputs(const verify_task *t, numerics *out, ts_error *e)
{
    *out = (numerics){0};
    bool right = true;
    for (int i = 0; i < t->outputs; i++) {
        char path[VERIFY_PATH];
        ts_array want = {.dtype = TS_N_DTYPE}, got = {.dtype = TS_N_DTYPE};
        snprintf(path, sizeof path, "%s/%d.npy", t->reference, i);
        bool read = ts_npy_read(path, &want, e);
        snprintf(path, sizeof path, "%s/%d.npy", t->got, i);
        read = read && ts_npy_read(path, &got, e);
        take_bits(&want, cJSON_GetArrayItem(t->port, i)), take_bits(&got, cJSON_GetArrayItem(t->port, i));
        right = read && compare_output(t, i, &got, &want, out, e) && right;
        ts_array_free(&want);
        ts_array_free(&got);
        if (!read)
            return false;
    }
    return right;
}
