/* Right or wrong: tolerances per dtype, shapes, NaN and infinity, missing outputs. */
/* ctest: fast */
#include "bench/verify.h"
#include "graph/base/base.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char want_folder[256], got_folder[256];

static void put(const char *folder, int i, const ts_array *a)
{
    char path[300];
    ts_error e = {0};
    snprintf(path, sizeof path, "%s/%d.npy", folder, i);
    CHECK(ts_npy_write(path, a, &e));
}

/* Whether `got` passes for `want`, both of n elements. */
static bool passes(ts_dtype d, int n, void *want, void *got, double tolerance, numerics *m)
{
    ts_array w = {.dtype = d, .rank = 1, .dim = {n}, .data = want}, g = w;
    g.data = got;
    put(want_folder, 0, &w);
    put(got_folder, 0, &g);
    ts_error e = {0};
    cJSON *port = cJSON_Parse("[{\"dtype\":\"bf16\"}]");
    verify_task t = {want_folder, got_folder, 1, tolerance, d == TS_BF16 ? port : NULL, false};
    bool right = verify_outputs(&t, m, &e);
    CHECK(right == (e.code == TS_OK) && (right || e.code == TS_NUMERICS));
    cJSON_Delete(port);
    return right;
}

static void test_tolerance(void)
{
    numerics m;
    uint16_t two[1] = {0x4000}, above[1] = {0x4002}, three[1] = {0x4040}; /* bf16: 2, 2.03125, 3 */
    CHECK(passes(TS_BF16, 1, two, above, 0, &m) && m.tolerance == 5e-2 && m.max_rel == 0.015625);
    CHECK(!passes(TS_BF16, 1, two, three, 0, &m));
    CHECK(!passes(TS_U16, 1, two, above, 0, &m));
    float want[3] = {-8, 1, 0}, near[3] = {-8, 1.0007f, 0}, far[3] = {-8, 1.0009f, 0};
    CHECK(passes(TS_F32, 3, want, near, 0, &m)); /* 1e-4 of 8 */
    CHECK(fabs(m.max_abs - 7e-4) < 1e-6 && fabs(m.max_rel - 7e-4 / 8) < 1e-7 && m.tolerance == 1e-4);
    CHECK(!passes(TS_F32, 3, want, far, 0, &m));
    CHECK(passes(TS_F32, 3, want, far, 1e-3, &m) && m.tolerance == 1e-3);
    double dw[2] = {1, 2}, dg[2] = {1, 2 + 1e-9};
    CHECK(!passes(TS_F64, 2, dw, dg, 0, &m));
    int64_t iw[2] = {1000000, 7}, ig[2] = {1000000, 8};
    CHECK(passes(TS_I64, 2, iw, iw, 0, &m) && m.max_rel == 0);
    CHECK(!passes(TS_I64, 2, iw, ig, 0.5, &m)); /* integers must be equal whatever was asked */
}

/* Of a trajectory the first wrong step counts, not the worst one. */
static void test_trajectory(void)
{
    float loss[4] = {4, 3, 2, 1}, got[4] = {4, 3, 2.01f, 2};
    ts_array a = {.dtype = TS_F32, .rank = 1, .dim = {4}, .data = loss};
    cJSON *port = cJSON_Parse("[{\"name\":\"loss\",\"dtype\":\"f32\"}]");
    verify_task t = {want_folder, got_folder, 1, 0, port, true};
    numerics m;
    ts_error e = {0}, f = {0};
    put(want_folder, 0, &a), put(got_folder, 0, &a);
    CHECK(verify_outputs(&t, &m, &e) && m.max_rel == 0);
    a.data = got;
    put(got_folder, 0, &a);
    CHECK(!verify_outputs(&t, &m, &f) && f.code == TS_NUMERICS && m.max_rel == 0.25);
    CHECK_TEXT(f.text, "diverges at step 3: loss is 2.00999999 and should be 2; off by 0.01, allowed 0.0004");
    float ends[4] = {4, 3, 2, NAN};
    ts_error h = {0};
    a.data = ends;
    put(got_folder, 0, &a);
    CHECK(!verify_outputs(&t, &m, &h));
    CHECK_TEXT(h.text, "diverges at step 4: loss is nan and should be 1; off by inf, allowed 0.0004");
    cJSON_Delete(port);
}

static void test_specials(void)
{
    numerics m;
    float want[3] = {NAN, INFINITY, 1}, other[3] = {1, INFINITY, 1}, finite[3] = {NAN, 1, 1}, zero[1] = {0},
          tiny[1] = {1e-30f};
    CHECK(passes(TS_F32, 3, want, want, 0, &m) && m.max_abs == 0);
    CHECK(!passes(TS_F32, 3, want, other, 0, &m) && !passes(TS_F32, 3, want, finite, 0, &m));
    CHECK(!passes(TS_F32, 1, zero, tiny, 0, &m)); /* nothing is small beside nothing */
}

static void test_shapes(void)
{
    float v[6] = {0};
    ts_array a = {.dtype = TS_F32, .rank = 1, .dim = {6}, .data = v},
             b = {.dtype = TS_F32, .rank = 2, .dim = {2, 3}, .data = v};
    put(want_folder, 0, &a);
    put(got_folder, 0, &b);
    verify_task t = {want_folder, got_folder, 1, 0, NULL, false};
    numerics m;
    ts_error e = {0}, f = {0};
    CHECK(!verify_outputs(&t, &m, &e));
    CHECK_TEXT(e.text, "output 0 is f32[2,3], the reference's f32[6] expected");
    put(got_folder, 0, &a);
    t.outputs = 2;
    CHECK(!verify_outputs(&t, &m, &f) && strstr(f.text, "1.npy") != NULL);
}

/* docs/bench.md, "How it measures", has these numbers. */
static void test_page(void)
{
    static const ts_dtype of[] = {TS_F32, TS_F64, TS_F16, TS_BF16, TS_I32};
    const char *source = getenv("SOURCE");
    char where[500];
    double zero[1] = {0}, held[COUNT(of)], said[COUNT(of)] = {0}; /* zero is so in every dtype */
    text page = {0};
    for (int i = 0; i < COUNT(of); i++) {
        numerics m = {0};
        CHECK(passes(of[i], 1, zero, zero, 0, &m));
        held[i] = m.tolerance;
    }
    snprintf(where, sizeof where, "%s/docs/bench.md", source ? source : ".");
    CHECK(file_read(where, 1 << 20, &page, &(err){0}));
    const char *begin = strstr(text_str(&page), "must not exceed ");
    CHECK(begin &&
          sscanf(begin, "must not exceed %lg of the largest value (f64: %lg, f16: %lg, bf16: %lg, integers: equal)",
                 &said[0], &said[1], &said[2], &said[3]) == 4);
    for (int i = 0; i < COUNT(of); i++)
        if (!CHECK(held[i] == said[i]))
            printf("%s: held to %g, docs/bench.md says %g\n", ts_dtype_name(of[i]), held[i], said[i]);
    text_free(&page);
}

int main(void)
{
    scratch s = scratch_make();
    snprintf(want_folder, sizeof want_folder, "%s/want", s.path);
    snprintf(got_folder, sizeof got_folder, "%s/got", s.path);
    CHECK(mkdir(want_folder, 0700) == 0 && mkdir(got_folder, 0700) == 0);
    test_tolerance();
    test_trajectory();
    test_specials();
    test_shapes();
    test_page();
    scratch_free(&s);
    return check_done();
}
