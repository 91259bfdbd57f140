/* kernels.c - whole kernels: products, rows, atomics. */
#include "tests/gpusim/check/run.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

static void test_vadd(void)
{
    int n = 1000;
    float a[1000], b[1000], c[1000], want[1000];
    for (int i = 0; i < n; i++) {
        a[i] = rnd();
        b[i] = rnd();
        want[i] = a[i] + b[i];
    }
    CUdeviceptr da = upload(a, sizeof a), db = upload(b, sizeof b), dc = upload(NULL, sizeof c);
    CHECK(go(fn(good, "vadd"), 8, 1, 128, 1, 0, ARGS(&da, &db, &dc, &n)));
    CHECK(cuMemcpyDtoH(c, dc, sizeof c));
    result("vadd is exact", memcmp(c, want, sizeof c) == 0, "");
    cuMemFree(da);
    cuMemFree(db);
    cuMemFree(dc);
}

static void reference(const float *A, const float *B, float *C, int M, int N, int K)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            C[i * N + j] = 0;
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++)
                C[i * N + j] = fmaf(A[i * K + k], B[k * N + j], C[i * N + j]);
}
static void test_gemm(const char *kernel, int M, int N, int K)
{
    float *A = calloc((size_t)M * (size_t)K, 4), *B = calloc((size_t)K * (size_t)N, 4),
          *C = calloc((size_t)M * (size_t)N, 4), *W = calloc((size_t)M * (size_t)N, 4);
    for (int i = 0; i < M * K; i++)
        A[i] = rnd();
    for (int i = 0; i < K * N; i++)
        B[i] = rnd();
    reference(A, B, W, M, N, K);
    CUdeviceptr a = upload(A, 4u * M * K), b = upload(B, 4u * K * N), c = upload(NULL, 4u * M * N);
    bool blocked = strstr(kernel, "blocked") != NULL;
    CHECK(blocked ? go(fn(good, kernel), N / 64, M / 64, 256, 1, 0, ARGS(&a, &b, &c, &M, &N, &K))
                  : go(fn(good, kernel), (N + 15) / 16, (M + 15) / 16, 16, 16, 0, ARGS(&a, &b, &c, &M, &N, &K)));
    CHECK(cuMemcpyDtoH(C, c, 4u * M * N));
    char name[80];
    snprintf(name, sizeof name, "%s %dx%dx%d is exact", kernel, M, N, K);
    result(name, memcmp(C, W, 4u * M * N) == 0, "");
    cuMemFree(a);
    cuMemFree(b);
    cuMemFree(c);
    free(A);
    free(B);
    free(C);
    free(W);
}
static uint16_t to_bf16(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
static float from_bf16(uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static void test_gemm16(bool half, int M, int N, int K)
{
    float *A = calloc((size_t)M * (size_t)K, 4), *B = calloc((size_t)K * (size_t)N, 4),
          *C = calloc((size_t)M * (size_t)N, 4), *W = calloc((size_t)M * (size_t)N, 4);
    uint16_t *ha = calloc((size_t)M * (size_t)K, 2), *hb = calloc((size_t)K * (size_t)N, 2);
    for (int i = 0; i < M * K; i++) {
        float v = rnd();
        ha[i] = half ? _cvtss_sh(v, 0) : to_bf16(v);
        A[i] = half ? _cvtsh_ss(ha[i]) : from_bf16(ha[i]);
    }
    for (int i = 0; i < K * N; i++) {
        float v = rnd();
        hb[i] = half ? _cvtss_sh(v, 0) : to_bf16(v);
        B[i] = half ? _cvtsh_ss(hb[i]) : from_bf16(hb[i]);
    }
    reference(A, B, W, M, N, K);
    CUdeviceptr a = upload(ha, 2u * M * K), b = upload(hb, 2u * K * N), c = upload(NULL, 4u * M * N);
    CHECK(go(fn(good, half ? "gemm_f16" : "gemm_bf16"), N / 64, M / 64, 128, 1, 0, ARGS(&a, &b, &c, &N, &K)));
    CHECK(cuMemcpyDtoH(C, c, 4u * M * N));
    compare(half ? "gemm_f16 (mma, ldmatrix, cp.async)" : "gemm_bf16 (mma, ldmatrix, cp.async)", C, W, (size_t)M * N,
            1e-4);
    cuMemFree(a);
    cuMemFree(b);
    cuMemFree(c);
    free(A);
    free(B);
    free(C);
    free(W);
    free(ha);
    free(hb);
}
static void test_small_mma(void)
{
    float A[128], B[64], D[128], W[128];
    for (int i = 0; i < 128; i++)
        A[i] = roundf(rnd() * 64) / 64;
    for (int i = 0; i < 64; i++)
        B[i] = roundf(rnd() * 64) / 64;
    reference(A, B, W, 16, 8, 8);
    CUdeviceptr a = upload(A, sizeof A), b = upload(B, sizeof B), d = upload(NULL, sizeof D);
    CHECK(go(fn(good, "mma_tf32"), 1, 1, 32, 1, 0, ARGS(&a, &b, &d)));
    CHECK(cuMemcpyDtoH(D, d, sizeof D));
    result("mma tf32 is exact on short values", memcmp(D, W, sizeof D) == 0, "");
    int8_t x[16 * 32], y[8 * 32];
    int got[128];
    bool ok = true;
    for (int i = 0; i < 512; i++)
        x[i] = (int8_t)(rnd() * 127);
    for (int i = 0; i < 256; i++)
        y[i] = (int8_t)(rnd() * 127);
    CUdeviceptr p = upload(x, sizeof x), q = upload(y, sizeof y);
    CHECK(go(fn(good, "mma_s8"), 1, 1, 32, 1, 0, ARGS(&p, &q, &d)));
    CHECK(cuMemcpyDtoH(got, d, sizeof got));
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            int s = 0;
            for (int k = 0; k < 32; k++)
                s += x[i * 32 + k] * y[j * 32 + k];
            ok &= s == got[i * 8 + j];
        }
    result("mma s8 is exact", ok, "");
    cuMemFree(a);
    cuMemFree(b);
    cuMemFree(d);
    cuMemFree(p);
    cuMemFree(q);
}
static void test_rows(void)
{
    int rows = 9, n = 300;
    float *x = calloc((size_t)rows * (size_t)n, 4), *y = calloc((size_t)rows * (size_t)n, 4),
          *w = calloc((size_t)rows * (size_t)n, 4), *g = calloc((size_t)n, 4), *b = calloc((size_t)n, 4);
    for (int i = 0; i < rows * n; i++)
        x[i] = rnd() * 8;
    for (int i = 0; i < n; i++) {
        g[i] = rnd();
        b[i] = rnd();
    }
    CUdeviceptr dx = upload(x, 4u * rows * n), dy = upload(NULL, 4u * rows * n), dg = upload(g, 4u * n),
                db = upload(b, 4u * n);
    CHECK(go(fn(good, "softmax"), rows, 1, 128, 1, 0, ARGS(&dx, &dy, &n)));
    CHECK(cuMemcpyDtoH(y, dy, 4u * rows * n));
    for (int r = 0; r < rows; r++) {
        double m = -1e30, s = 0;
        for (int i = 0; i < n; i++)
            m = fmax(m, x[r * n + i]);
        for (int i = 0; i < n; i++)
            s += exp(x[r * n + i] - m);
        for (int i = 0; i < n; i++)
            w[r * n + i] = (float)(exp(x[r * n + i] - m) / s);
    }
    compare("softmax by warp shuffles", y, w, (size_t)rows * n, 1e-5);
    CHECK(go(fn(good, "layer_norm"), rows, 1, 96, 1, 0, ARGS(&dx, &dg, &db, &dy, &n)));
    CHECK(cuMemcpyDtoH(y, dy, 4u * rows * n));
    for (int r = 0; r < rows; r++) {
        double s = 0, q = 0;
        for (int i = 0; i < n; i++)
            s += x[r * n + i];
        for (int i = 0; i < n; i++)
            q += pow(x[r * n + i] - s / n, 2);
        for (int i = 0; i < n; i++)
            w[r * n + i] = (float)((x[r * n + i] - s / n) / sqrt(q / n + 1e-5) * g[i] + b[i]);
    }
    compare("layer norm", y, w, (size_t)rows * n, 1e-4);
    cuMemFree(dx);
    cuMemFree(dy);
    cuMemFree(dg);
    cuMemFree(db);
    free(x);
    free(y);
    free(w);
    free(g);
    free(b);
}
static void test_atomics(void)
{
    int n = 3000, most = -1000, want_most = -1000, x[3000];
    unsigned hist[16] = {0}, want[16] = {0}, ticket = 0;
    float sum = 0, want_sum = 0;
    for (int i = 0; i < n; i++) {
        x[i] = (int)(rnd() * 500);
        want[x[i] & 15]++;
        want_sum += (float)x[i];
        if (x[i] > want_most)
            want_most = x[i];
    }
    CUdeviceptr dx = upload(x, sizeof x), dh = upload(hist, sizeof hist), ds = upload(&sum, 4), dm = upload(&most, 4),
                dt = upload(&ticket, 4);
    CHECK(go(fn(good, "atomics"), 7, 1, 64, 1, 64, ARGS(&dx, &n, &dh, &ds, &dm, &dt)));
    CHECK(cuMemcpyDtoH(hist, dh, sizeof hist));
    CHECK(cuMemcpyDtoH(&sum, ds, 4));
    CHECK(cuMemcpyDtoH(&most, dm, 4));
    CHECK(cuMemcpyDtoH(&ticket, dt, 4));
    result("atomics", memcmp(hist, want, sizeof hist) == 0 && sum == want_sum && most == want_most && ticket == 7, "");
    cuMemFree(dx);
    cuMemFree(dh);
    cuMemFree(ds);
    cuMemFree(dm);
    cuMemFree(dt);
}
static void test_more_mma(void)
{
    float A[256], A8[128], B[128], W[128], W8[128], D[128];
    uint16_t a[256], b[128], H[128];
    for (int i = 0; i < 256; i++) {
        A[i] = roundf(rnd() * 8) / 8;
        a[i] = _cvtss_sh(A[i], 0);
        if (i % 16 < 8)
            A8[i / 16 * 8 + i % 16] = A[i];
    }
    for (int i = 0; i < 128; i++) {
        B[i] = roundf(rnd() * 8) / 8;
        b[i] = _cvtss_sh(B[i], 0);
    }
    reference(A8, B, W8, 16, 8, 8);
    reference(A, B, W, 16, 8, 16);
    CUdeviceptr da = upload(a, sizeof a), db = upload(b, sizeof b), d = upload(NULL, sizeof D),
                h = upload(NULL, sizeof H);
    CHECK(go(fn(good, "mma_more"), 1, 1, 32, 1, 0, ARGS(&da, &db, &d, &h)));
    CHECK(cuMemcpyDtoH(D, d, sizeof D));
    CHECK(cuMemcpyDtoH(H, h, sizeof H));
    bool ok = memcmp(D, W8, sizeof D) == 0;
    for (int i = 0; i < 128; i++)
        ok &= _cvtsh_ss(H[i]) == W[i];
    result("mma m16n8k8 and f16 sums, ldmatrix x2.trans", ok, "");
    cuMemFree(da);
    cuMemFree(db);
    cuMemFree(d);
    cuMemFree(h);
}

static void test_symbols(void)
{
    float x[64], y[64];
    for (int i = 0; i < 64; i++)
        x[i] = (float)i;
    CUdeviceptr a = upload(x, sizeof x), b = upload(NULL, sizeof y);
    CHECK(go(fn(good, "symbols"), 1, 1, 64, 1, 0, ARGS(&a, &b)));
    CHECK(cuMemcpyDtoH(y, b, sizeof y));
    result("places behind a symbol", y[0] == 4373 && y[63] == 4373, "");
    cuMemFree(a);
    cuMemFree(b);
}

static void test_unread(const char *kernel, const char *what, float sum)
{
    float x[64] = {1, 2, 4, 8, 16, 32, 64}, y[64];
    CUdeviceptr a = upload(x, sizeof x), b = upload(NULL, sizeof y);
    const CUresult r = go(fn(good, kernel), 1, 1, 64, 1, 0, ARGS(&a, &b));
    CHECK(cuMemcpyDtoH(y, b, sizeof y));
    result(what, r == CUDA_SUCCESS && y[0] == sum && y[63] == sum, "");
    cuMemFree(a);
    cuMemFree(b);
}

static void test_counted(void)
{
    float x[64] = {0};
    CUdeviceptr a = upload(x, sizeof x), b = upload(NULL, 16 * sizeof x);
    CHECK(
        go(fn(good, "counted"), 3, 1, 64, 1, 0, ARGS(&a, &b))); /* each block by itself: device_test.sh has the sums */
    result("a kernel to be counted", true, "");
    cuMemFree(a);
    cuMemFree(b);
}

void test_kernels(void)
{
    if (!getenv("SIMCUDA_CHECK") || !strstr(getenv("SIMCUDA_CHECK"), "all")) /* its blocks write the same places */
        test_counted();
    test_symbols();
    test_unread("three", "elements of a vector that nothing reads", 7);
    test_unread("seven", "half of a word that nothing reads", 127);
    test_vadd();
    test_gemm("gemm_tiled", 33, 50, 70);
    test_gemm("gemm_blocked", 64, 128, 64);
    test_gemm16(false, 128, 64, 96);
    test_gemm16(true, 64, 128, 64);
    test_small_mma();
    test_more_mma();
    test_rows();
    test_atomics();
}
