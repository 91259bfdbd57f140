/* run.c - tests of the stand-in: right kernels against CPU results, wrong ones against the expected report. */
#include "tests/gpusim/check/run.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>
#include <time.h>

static const char *(*last_report)(void);
static void (*clear_report)(void);
static int passed, failed;
CUmodule good, bad;
CUcontext context;

void result(const char *name, bool ok, const char *detail)
{
    if (ok)
        passed++;
    else
        failed++;
    printf("%s %s%s%s\n", ok ? "ok  " : "FAIL", name, *detail ? ": " : "", detail);
}
double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        printf("cannot read %s\n", path);
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *s = malloc((size_t)n + 1);
    if (fread(s, 1, (size_t)n, f) != (size_t)n)
        exit(1);
    s[n] = 0;
    fclose(f);
    return s;
}
uint32_t seed = 1;
float rnd(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / 8388608.0f - 1.0f;
}
CUdeviceptr upload(const void *p, size_t n)
{
    CUdeviceptr d;
    CHECK(cuMemAlloc(&d, n));
    if (p)
        CHECK(cuMemcpyHtoD(d, p, n));
    return d;
}
CUfunction fn(CUmodule m, const char *name)
{
    CUfunction f;
    CHECK(cuModuleGetFunction(&f, m, name));
    return f;
}
CUresult go(CUfunction f, int gx, int gy, int threads_x, int threads_y, unsigned shared, void **args)
{
    CUresult r = cuLaunchKernel(f, (unsigned)gx, (unsigned)gy, 1, (unsigned)threads_x, (unsigned)threads_y, 1, shared,
                                NULL, args, NULL);
    return r ? r : cuCtxSynchronize();
}
void compare(const char *name, const float *got, const float *want, size_t n, double tol)
{
    double worst = 0;
    char text[100];
    for (size_t i = 0; i < n; i++) {
        double e = fabs((double)got[i] - want[i]) / (1e-3 + fabs((double)want[i]));
        if (!(e <= worst))
            worst = e;
    }
    snprintf(text, sizeof text, "worst relative error %.2e", worst);
    result(name, worst <= tol, text);
}

/* Runs a kernel of bugs.cu; text must occur in the report, or be NULL for none. */
static void bug(const char *kernel, int blocks, int threads, unsigned shared, void **args, CUresult code,
                const char *text)
{
    clear_report();
    CUresult r = go(fn(bad, kernel), blocks, 1, threads, 1, shared, args);
    const char *said = last_report();
    bool ok = r == code && (text ? strstr(said, text) != NULL : !*said);
    char first[400];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(said, "\n"), said);
    said = first;
    result(kernel, ok, ok && text ? said : ok ? "no report, rightly" : *said ? said : "no report");
    cuDevicePrimaryCtxReset(0);
}
static void test_bugs(void)
{
    float zeros[4096] = {0};
    CUdeviceptr t = upload(zeros, 4), x = upload(zeros, sizeof zeros), y = upload(zeros, sizeof zeros),
                raw = upload(NULL, 256), small = upload(zeros, 400), gone = upload(zeros, 256);
    int n = 100;
    bool global = getenv("SIMCUDA_CHECK") && strstr(getenv("SIMCUDA_CHECK"), "all");
    const CUresult LF = CUDA_ERROR_LAUNCH_FAILED, IA = CUDA_ERROR_ILLEGAL_ADDRESS, MA = CUDA_ERROR_MISALIGNED_ADDRESS;
    bug("missing_sync", 1, 64, 0, ARGS(&x), LF, "race on shared");
    bug("missing_second_sync", 1, 64, 0, ARGS(&x), LF, "write without a barrier after a read");
    bug("missing_syncwarp", 1, 32, 0, ARGS(&x), LF, "race on shared");
    bug("with_syncwarp", 1, 32, 0, ARGS(&x), CUDA_SUCCESS, NULL);
    bug("read_again", 1, 32, 0, ARGS(&x), CUDA_SUCCESS, NULL);
    bug("read_again", 1, 64, 0, ARGS(&x), LF, "race on shared");
    bug("out_of_bounds", 1, 128, 0, ARGS(&small, &n), IA, "400 bytes from the start of an allocation of 400 bytes");
    bug("read_past_end", 1, 100, 0, ARGS(&small, &y, &n), IA, "out-of-bounds global read");
    bug("shared_overrun", 1, 32, 0, ARGS(&x), IA, "out-of-bounds read of shared");
    bug("dynamic_overrun", 1, 33, 128, ARGS(&x), IA, "out-of-bounds shared write");
    bug("uninit_shared", 1, 64, 0, ARGS(&x), LF, "read of uninitialised shared memory");
    bug("uninit_vector", 1, 64, 0, ARGS(&x), LF, "read of uninitialised shared memory");
    bug("uninit_global", 1, 64, 0, ARGS(&raw, &y), LF, "read of uninitialised global memory");
    bug("misaligned", 1, 32, 0, ARGS(&x, &y), MA, "misaligned read of 8 bytes");
    bug("unaligned_shared", 1, 32, 0, ARGS(&y), MA, "misaligned");
    bug("missing_wait", 1, 32, 0, ARGS(&x, &y), LF, "not waited for");
    bug("wait_too_few", 1, 32, 0, ARGS(&x, &y), LF, "not waited for");
    bug("wait_without_barrier", 1, 64, 0, ARGS(&x, &y), LF, "race on shared");
    bug("divergent_barrier", 1, 64, 0, ARGS(&x), LF, "divergent barrier");
    bug("two_barriers", 1, 64, 0, ARGS(&x), LF, "different barriers");
    bug("skipped_barrier", 1, 64, 0, ARGS(&x), LF, "never come");
    bug("divergent_shuffle", 1, 32, 0, ARGS(&x), LF, "have exited");
    bug("shuffle_from_outside", 1, 32, 0, ARGS(&x), LF, "does not take part");
    bug("write_write", 1, 64, 0, ARGS(&x), LF, "different values");
    bug("same_value", 1, 64, 0, ARGS(&x), CUDA_SUCCESS, NULL);
    bug("early_return", 1, 64, 0, ARGS(&x), CUDA_SUCCESS, NULL);
    bug("last_block_sums", 4, 32, 0, ARGS(&x, &y, &t), CUDA_SUCCESS, NULL);
    bug("flags_between_warps", 1, 64, 0, ARGS(&x), CUDA_SUCCESS, NULL);
    bug("blocks_collide", 2, 32, 0, ARGS(&x), global ? LF : CUDA_SUCCESS, global ? "different values" : NULL);
    bug("blocks_read", 2, 1, 0, ARGS(&x), global ? LF : CUDA_SUCCESS, global ? "by another block" : NULL);
    CHECK(cuMemFree(gone));
    bug("use_after_free", 1, 32, 0, ARGS(&gone), IA, "the allocation was freed");
    bug("endless", 1, 32, 0, ARGS(&x), LF, "did not end");
    cuMemFree(x);
    cuMemFree(y);
    cuMemFree(raw);
    cuMemFree(small);
}

/* kernels.cu was compiled with one mistake in gemm_bf16: it must be found. */
static void mutant(const char *which)
{
    int n = 128;
    CUdeviceptr a, b, c;
    CHECK(cuMemAlloc(&a, 2u * n * n));
    CHECK(cuMemAlloc(&b, 2u * n * n));
    CHECK(cuMemAlloc(&c, 4u * n * n));
    CHECK(cuMemsetD32(a, 0x3f803f80, n * n / 2));
    CHECK(cuMemsetD32(b, 0x3f803f80, n * n / 2));
    CUresult r = go(fn(good, "gemm_bf16"), n / 64, n / 64, 128, 1, 0, ARGS(&a, &b, &c, &n, &n));
    char name[64], first[300];
    snprintf(name, sizeof name, "mutant %s of gemm_bf16", which);
    snprintf(first, sizeof first, "%.*s", (int)strcspn(last_report(), "\n"), last_report());
    result(name, r == CUDA_ERROR_LAUNCH_FAILED && *first, first);
}
int main(int argc, char **argv)
{
    if (argc < 3) {
        printf("use: run kernels.ptx bugs.ptx [MUTANT]\n");
        return 2;
    }
    last_report = (const char *(*)(void))dlsym(RTLD_DEFAULT, "simcuda_reports");
    clear_report = (void (*)(void))dlsym(RTLD_DEFAULT, "simcuda_clear_reports");
    if (!last_report) {
        printf("this is not the stand-in\n");
        return 2;
    }
    setenv("SIMCUDA_MAX_STEPS", "3000000", 0);
    setenv("SIMCUDA_VERBOSE", "0", 0);
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    char *g = read_file(argv[1]), *b = read_file(argv[2]);
    double t = now();
    CUresult r = cuModuleLoadData(&good, g);
    if (r) {
        printf("kernels: %s\n", last_report());
        return 1;
    }
    r = cuModuleLoadData(&bad, b);
    if (r) {
        printf("bugs: %s\n", last_report());
        return 1;
    }
    printf("modules loaded in %.1f ms\n", (now() - t) * 1e3);
    if (argc > 3) {
        mutant(argv[3]);
        printf("%d passed, %d failed\n", passed, failed);
        return failed != 0;
    }
    test_kernels();
    test_numbers();
    test_host();
    test_bugs();
    CHECK(cuModuleUnload(good));
    CHECK(cuModuleUnload(bad));
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
