/* The device without a plan: kernels written by hand, one by one and as a graph, and devices that fail. */
#include "backends/cuda/target.h"
#include "tests/backends/cuda/rig.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000 };

static const char kernels[] = "extern \"C\" __global__ void add(const float *x, const float *y, float *z)\n"
                              "{\n"
                              "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                              "    if (i < 1000) z[i] = x[i] + y[i];\n"
                              "}\n";

static cu_address upload(const device *d, const float *x, err *e)
{
    cu_address at = 0;
    CHECK(device_memory_make(d, N * 4, "a vector", &at, e) && device_write(d, at, x, N * 4, e));
    return at;
}

/* c = a + b, d = c + c by way of one launch after the other, and as a graph */
static void check_launches(const device *d)
{
    float a[N], b[N], got[N];
    err e = {0};
    images code;
    for (int i = 0; i < N; i++)
        a[i] = (float)i, b[i] = (float)(3 * i);
    if (!CHECK(rig_load(d, "add", kernels, &code, &e)))
        printf("%s\n", e.text);
    cu_address at[4] = {upload(d, a, &e), upload(d, b, &e), upload(d, a, &e), upload(d, a, &e)};
    cu_address first[] = {at[0], at[1], at[2]}, second[] = {at[2], at[2], at[3]};
    const int wait[] = {0};
    const launch all[] = {{code.function[0], 8, 128, 0, 3, first, 0, NULL, 0, NULL},
                          {code.function[0], 8, 128, 0, 3, second, 1, wait, 0, NULL}};
    CHECK(launch_fits(d, &all[0], "add", &e));
    CHECK(launch_one(d, &all[0], &e) && launch_one(d, &all[1], &e));
    CHECK(device_read(d, got, at[3], sizeof got, &e) && device_wait(d, "the sum", &e));
    CHECK(got[7] == 56 && got[999] == 7992);
    CHECK(device_clear(d, at[0], sizeof a, &e));
    cu_exec whole = launch_graph(d, 2, all, &e);
    CHECK(whole && launch_all(d, whole, &e));
    CHECK(device_read(d, got, at[3], sizeof got, &e) && device_wait(d, "the graph", &e));
    CHECK(got[7] == 42 && got[999] == 5994);
    CHECK(d->cu.exec_free(whole) == CU_OK);
    for (int i = 0; i < 4; i++)
        device_memory_free(d, &at[i]);
    images_free(&code, d);
    CHECK_TEXT(e.text, "");
}

static void check_refused(const device *d)
{
    err e = {0};
    images code;
    CHECK(!rig_load(d, "wrong", "extern \"C\" __global__ void wrong(float *x) { x[0] = y; }", &code, &e));
    CHECK(e.code == TS_DEVICE);
    CHECK_TEXT(e.text, "NVRTC refuses kernel wrong: NVRTC_ERROR_COMPILATION\n"
                       "    wrong.cu(1): error: identifier \"y\" is undefined\n"
                       "      extern \"C\" __global__ void wrong(float *x) { x[0] = y; }\n"
                       "                                                          ^\n"
                       "    \n"
                       "    1 error detected in the compilation of \"wrong.cu\".");
}

static void check_memory(const device *d)
{
    err e = {0};
    cu_address at = 1;
    CHECK(!device_memory_make(d, INT64_C(1) << 50, "the arena", &at, &e) && at == 0 && e.code == TS_DEVICE);
    CHECK_TEXT(e.text,
               "cuda:0 (simcuda (PTX on the CPU, sm_80)) is out of memory: the arena would take 1125899906842624 "
               "bytes, 8589934592 of 8589934592 are free\n"
               "  hint: bind smaller dimensions, or end what else uses the device");
}

static void check_sizes(const device *d)
{
    static const char source[] = "extern \"C\" __global__ void wide(char *x)\n"
                                 "{\n"
                                 "    extern __shared__ char s[];\n"
                                 "    s[threadIdx.x] = x[threadIdx.x];\n"
                                 "    __syncthreads();\n"
                                 "    x[threadIdx.x] = s[127 - threadIdx.x];\n"
                                 "}\n";
    err e = {0};
    images code;
    cu_address at = 0;
    char x[128];
    CHECK(rig_load(d, "wide", source, &code, &e));
    CHECK(device_memory_make(d, sizeof x, "x", &at, &e));
    const launch large = {code.function[0], 1, 128, 1 << 20, 1, &at, 0, NULL, 0, NULL};
    CHECK(!launch_fits(d, &large, "wide", &e));
    CHECK_TEXT(e.text,
               "cuda:0 (simcuda (PTX on the CPU, sm_80)): kernel wide is too large: a group takes 1048576 bytes "
               "of shared memory, 166912 are there\n  hint: copy smaller slices of its operands");
    e = (err){0};
    for (int i = 0; i < (int)sizeof x; i++)
        x[i] = (char)i;
    const launch fits = {code.function[0], 1, 128, 100 << 10, 1, &at, 0, NULL, 0, NULL};
    CHECK(launch_fits(d, &fits, "wide", &e) && device_write(d, at, x, sizeof x, &e) && launch_one(d, &fits, &e));
    CHECK(device_read(d, x, at, sizeof x, &e) && device_wait(d, "the turn", &e) && x[0] == 127 && x[127] == 0);
    device_memory_free(d, &at);
    images_free(&code, d);
}

static void check_arch(void)
{
    static const int known[] = {75, 80, 86, 90, 100};
    const struct {
        int major, minor;
        bool ptx;
        const char *want;
    } rows[] = {{8, 0, false, "sm_80"},
                {8, 0, true, "compute_80"},
                {9, 0, false, "sm_90a"},
                {8, 9, false, "compute_86"},
                {12, 1, false, "compute_100"},
                {9, 0, true, "compute_90a"},
                {7, 0, false, ""}};
    char got[32];
    for (int i = 0; i < COUNT(rows); i++) {
        image_arch(got, rows[i].major, rows[i].minor, known, COUNT(known), rows[i].ptx);
        CHECK_TEXT(got, rows[i].want);
    }
}

static void check_absent(void)
{
    device d;
    err e = {0};
    CHECK(!cuda_device(&d, 3, &e) && e.code == TS_DEVICE);
    CHECK_TEXT(e.text, "there is no device cuda:3\n  hint: there is 1: cuda:0");
    e = (err){0};
    CHECK(!device_open(&d, "/nowhere/libcuda.so.1", 0, &e) && e.code == TS_DEVICE);
    CHECK_TEXT(e.text,
               "there is no driver of CUDA: /nowhere/libcuda.so.1: cannot open shared object file: No such file or "
               "directory\n  hint: install the driver of the card, or name its library: "
               "TESSERA_CUDA=driver=/path/to/libcuda.so.1");
    nvrtc_api rtc;
    e = (err){0};
    CHECK(!nvrtc_open(&rtc, "/nowhere/libnvrtc.so", &e) && e.code == TS_DEVICE);
    CHECK_TEXT(e.text,
               "there is no NVRTC, the compiler of CUDA: /nowhere/libnvrtc.so: cannot open shared object file: No such "
               "file or directory\n  hint: install the toolkit of CUDA, or name the library: "
               "TESSERA_CUDA=nvrtc=/path/to/libnvrtc.so.13");
}

int main(void)
{
    device d;
    err e = {0};
    check_arch();
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    check_absent();
    if (!CHECK(cuda_device(&d, 0, &e)))
        return printf("%s\n", e.text), 1;
    CHECK(d.major == 8 && d.minor == 0 && device_fact(&d, CU_WARP) == 32);
    check_launches(&d);
    check_refused(&d);
    check_memory(&d);
    check_sizes(&d);
    device_close(&d);
    return check_done();
}
