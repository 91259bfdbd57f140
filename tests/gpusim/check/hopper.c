/* hopper.c - products of warpgroups (hopper.cu): right kernels give the product, and each mistake is found.
 *
 *   gpusim-hopper FILE.ptx KERNEL [TEXT]    TEXT occurs in the report; without it there is none */
#include <cuda.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 64, N = 32, K = 64, SHARED = 2 * K * (M + N) + 1280 };

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    const size_t n = (size_t)ftell(f);
    char *s = calloc(n + 1, 1);
    rewind(f);
    if (!s || fread(s, 1, n, f) != n)
        s = NULL;
    fclose(f);
    return s;
}

static unsigned short bf16(float x) /* of small whole numbers: exact */
{
    unsigned u;
    memcpy(&u, &x, 4);
    return (unsigned short)(u >> 16);
}

static CUdeviceptr upload(const void *from, size_t bytes)
{
    CUdeviceptr p = 0;
    return cuMemAlloc(&p, bytes) || (from && cuMemcpyHtoD(p, from, bytes)) ? 0 : p;
}

/* Of rows of `row` elements, in boxes of so many; rows of as many bytes are swizzled */
static int map_of(CUtensorMap *m, CUdeviceptr at, unsigned row, unsigned rows)
{
    const cuuint64_t dim[] = {row, rows}, stride[] = {2 * row};
    const cuuint32_t all[] = {row, 64}, one[] = {1, 1};
    return cuTensorMapEncodeTiled(m, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)(uintptr_t)at, dim, stride, all, one,
                                  CU_TENSOR_MAP_INTERLEAVE_NONE,
                                  row == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static int wrong(const float *a, const float *b, const float *c)
{
    int n = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += a[i * K + k] * b[k * N + j];
            n += !(sum == c[i * N + j]);
        }
    return n;
}

int main(int argc, char **argv)
{
    static float a[M * K], b[K * N], c[M * N];
    static unsigned short ha[M * K], hb[K * N];
    const char *(*said)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "simcuda_reports");
    CUcontext context;
    CUmodule m;
    CUfunction f;
    char *text = argc > 2 ? read_file(argv[1]) : NULL;
    if (!said || !text)
        return printf("use: gpusim-hopper FILE.ptx KERNEL [TEXT]\n"), 2;
    for (int i = 0; i < M * K; i++)
        a[i] = (float)(i * 7 % 13 - 6), ha[i] = bf16(a[i]);
    for (int i = 0; i < K * N; i++)
        b[i] = (float)(i * 5 % 11 - 5), hb[i] = bf16(b[i]);
    setenv("SIMCUDA_VERBOSE", "0", 0);
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) || cuModuleLoadData(&m, text) ||
        cuModuleGetFunction(&f, m, argv[2]))
        return printf("%s: %s\n", argv[2], said()), 1;
    CUdeviceptr da = upload(ha, sizeof ha), db = upload(hb, sizeof hb), dc = upload(NULL, sizeof c);
    CUtensorMap ma, mb, no;
    void *args[] = {&da, &db, &dc, &ma, &mb};
    if (map_of(&ma, da, K, M) || map_of(&mb, db, N, K) || !map_of(&no, da + 8, K, M))
        return printf("maps of tensors are wrong\n"), 1;
    CUresult r = cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, SHARED, NULL, args, NULL);
    r = r ? r : cuCtxSynchronize();
    const char *want = argc > 3 ? argv[3] : NULL;
    if (!want)
        r = r ? r : cuMemcpyDtoH(c, dc, sizeof c);
    const int bad = want || r ? 0 : wrong(a, b, c);
    const int ok = want ? r && strstr(said(), want) : !r && !*said() && !bad;
    printf("%-4s %s: %d, %d wrong: %.*s\n", ok ? "ok" : "FAIL", argv[2], (int)r, bad, (int)strcspn(said(), "\n"),
           said());
    return !ok;
}
