/* The device without a plan: kernels written by hand, one by one and as a graph, and devices that fail. */
#include "backends/cuda/nvrtc.h"
#include "backends/cuda/target.h"
#include "backends/device/hosted.h"
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

/* c = a + b, d = c + c, in memory of four inputs, of which kernels write two */
static const device_place first[] = {{DEVICE_INPUT, 0}, {DEVICE_INPUT, 1}, {DEVICE_INPUT, 2}},
                          second[] = {{DEVICE_INPUT, 2}, {DEVICE_INPUT, 2}, {DEVICE_INPUT, 3}};
static const int wait[] = {0};
static const device_kernel sums[] = {
    {.name = "add", .operands = 3, .operand = first, .groups = 8, .lanes = 128},
    {.name = "add", .operands = 3, .operand = second, .groups = 8, .lanes = 128, .waits = 1, .wait = wait}};
static const device_port vectors[] = {{0, N * 4, 0}, {0, N * 4, 0}, {0, N * 4, 1}, {0, N * 4, 1}};
static const device_program program_of_sums = {
    .kernels = 2, .all = 2, .loops = 1, .inputs = 4, .kernel = sums, .input = vectors};

static void close_device(device *d) /* as device_drop does, but for the record, which is not of its own */
{
    d->by->close(d), free(d->lent);
}

/* Kernel by kernel, and as a graph */
static void check_launches(void)
{
    float a[N], b[N], c[N], d[N];
    void *input[] = {a, b, c, d};
    cuda_host h;
    err e = {0};
    images code;
    for (int i = 0; i < N; i++)
        a[i] = (float)i, b[i] = (float)(3 * i), c[i] = d[i] = 0;
    if (!CHECK(cuda_device(&h, 0, &e) && rig_load(&h, "add", kernels, &code, &e)))
        printf("%s\n", e.text);
    device *on = &h.d;
    CHECK(device_room(on, &program_of_sums, N * 4));
    CHECK(cuda_take_function(&h, 0, code.function[0]) && cuda_take_function(&h, 1, code.function[0]));
    CHECK(on->by->ready(on) && h.graph);
    CHECK(device_send(on, input, NULL) && device_kernels(on, 0, 1) && device_kernels(on, 1, 2));
    CHECK(device_end(on) && device_receive(on, input, 1) && d[7] == 56 && d[999] == 7992);
    memset(a, 0, sizeof a);
    CHECK(device_send(on, input, NULL) && device_start(on));
    CHECK(device_end(on) && device_receive(on, input, 1) && d[7] == 42 && d[999] == 5994);
    CHECK_TEXT(on->said.text, "");
    images_free(&code, &h), close_device(on);
}

static void check_refused(cuda_host *d)
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

static void check_memory(void)
{
    static const device_program large = {.arena = 1L << 50};
    cuda_host h;
    err e = {0};
    CHECK(cuda_device(&h, 0, &e) && !device_room(&h.d, &large, 1) && !hosted_failed(&h.d, &e) && e.code == TS_DEVICE);
    CHECK_TEXT(e.text,
               "cuda:0 (simcuda (PTX on the CPU, sm_80)) is out of memory: the values would take 1125899906842624 "
               "bytes, 8589934592 of 8589934592 are free\n"
               "  hint: bind smaller dimensions, or end what else uses the device");
    close_device(&h.d);
}

static void turn(unsigned shared, bool fits) /* 128 bytes the other way round, by shared memory that it asks for */
{
    static const char source[] = "extern \"C\" __global__ void wide(char *x)\n"
                                 "{\n"
                                 "    extern __shared__ char s[];\n"
                                 "    s[threadIdx.x] = x[threadIdx.x];\n"
                                 "    __syncthreads();\n"
                                 "    x[threadIdx.x] = s[127 - threadIdx.x];\n"
                                 "}\n";
    static const device_port bytes = {0, 128, 1};
    const device_kernel k = {
        .name = "wide", .operands = 1, .operand = first, .groups = 1, .lanes = 128, .shared = shared};
    const device_program p = {.kernels = 1, .all = 1, .loops = 1, .inputs = 1, .kernel = &k, .input = &bytes};
    cuda_host h;
    err e = {0};
    images code;
    char x[128];
    void *input[] = {x};
    for (int i = 0; i < 128; i++)
        x[i] = (char)i;
    CHECK(cuda_device(&h, 0, &e) && rig_load(&h, "wide", source, &code, &e));
    device *d = &h.d;
    CHECK(device_room(d, &p, 1) && cuda_take_function(&h, 0, code.function[0]) == fits);
    if (fits) {
        CHECK(d->by->ready(d) && device_send(d, input, NULL) && device_start(d) && device_end(d));
        CHECK(device_receive(d, input, 1) && x[0] == 127 && x[127] == 0);
    } else {
        hosted_failed(d, &e);
        CHECK_TEXT(e.text,
                   "cuda:0 (simcuda (PTX on the CPU, sm_80)): kernel wide is too large: a group takes 1048576 bytes "
                   "of shared memory, 166912 are there\n  hint: copy smaller slices of its operands");
    }
    images_free(&code, &h), close_device(d);
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
    cuda_host d;
    err e = {0};
    CHECK(!cuda_device(&d, 3, &e) && e.code == TS_DEVICE);
    CHECK_TEXT(e.text, "there is no device cuda:3\n  hint: there is 1: cuda:0");
    e = (err){0};
    char *asked = strdup(getenv("TESSERA_CUDA"));
    setenv("TESSERA_CUDA", "driver=/nowhere/libcuda.so.1", 1);
    CHECK(!cuda_device(&d, 0, &e) && e.code == TS_DEVICE);
    setenv("TESSERA_CUDA", asked, 1), free(asked);
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
    cuda_host d;
    err e = {0};
    check_arch();
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    check_absent();
    if (!CHECK(cuda_device(&d, 0, &e)))
        return printf("%s\n", e.text), 1;
    CHECK(d.major == 8 && d.minor == 0 && cuda_fact(&d, CU_WARP) == 32);
    check_refused(&d);
    close_device(&d.d);
    check_launches();
    check_memory();
    turn(1 << 20, false), turn(100 << 10, true);
    return check_done();
}
