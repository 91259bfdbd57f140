/* device.c - initialisation, errors, the device, contexts. */
#include "tests/gpusim/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
    {OK, "CUDA_SUCCESS", "no error"},
    {E_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {E_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {E_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {E_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {E_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {E_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {E_NO_BINARY, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {E_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {E_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {E_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {E_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {E_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {E_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {E_ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {E_ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {E_MISALIGNED, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {E_LAUNCH, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {E_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {E_HOST_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {E_HOST_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {E_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {E_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {E_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not initiated in this stream"},
    {E_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {E_CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
};

API cuGetErrorName(CUresult e, const char **s)
{
    if (!s)
        return E_VALUE;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == e) {
            *s = errors[i].name;
            return OK;
        }
    *s = NULL;
    return E_VALUE;
}
API cuGetErrorString(CUresult e, const char **s)
{
    if (!s)
        return E_VALUE;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == e) {
            *s = errors[i].text;
            return OK;
        }
    *s = NULL;
    return E_VALUE;
}

static void leak_check(void)
{
    const char *s = getenv("SIMCUDA_LEAKS");
    if (s && sim_whole(s) && mem_live_count())
        fprintf(stderr, "simcuda: %d device allocations were never freed\n", mem_live_count());
}

static bool is_device(CUdevice d)
{
    return d >= 0 && d < devices;
}

API cuInit(unsigned flags)
{
    HELD entry = driver_lock_it();
    const CUresult fails = fail_call(__func__);
    if (flags || fails)
        return fails ? fails : E_VALUE;
    if (initialised)
        return OK;
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        fprintf(stderr, "simcuda: needs a processor with AVX2 and FMA\n");
        return E_NO_DEVICE;
    }
    sim_options_read();
    if (!mem_reserve())
        return E_NO_DEVICE;
    const char *sm = getenv("SIMCUDA_SM"), *sms = getenv("SIMCUDA_SM_COUNT"), *all = getenv("SIMCUDA_DEVICES");
    devices = all ? sim_whole(all) : 1;
    if (devices > MOST_DEVICES) {
        fprintf(stderr, "simcuda: SIMCUDA_DEVICES=%d, at most %d\n", devices, MOST_DEVICES);
        return E_NO_DEVICE;
    }
    for (int i = 0; i < devices; i++)
        primary[i] = (struct sim_context){.device = i, .primary = true};
    int cc = sm ? sim_whole(sm) : 80;
    compute_major = cc / 10;
    compute_minor = cc % 10;
    sm_count = sms ? sim_whole(sms) : 4;
    atexit(leak_check);
    initialised = true;
    return OK;
}
API cuDriverGetVersion(int *v)
{
    const char *s = getenv("SIMCUDA_VERSION");
    if (!v)
        return E_VALUE;
    *v = s ? sim_whole(s) : 13000;
    return OK;
}
API cuDeviceGetCount(int *n)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!n)
        return E_VALUE;
    *n = devices;
    return OK;
}
API cuDeviceGet(CUdevice *d, int i)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!d)
        return E_VALUE;
    if (!is_device(i))
        return E_DEVICE;
    *d = i;
    return OK;
}
API cuDeviceGetName(char *s, int n, CUdevice d)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!is_device(d))
        return E_DEVICE;
    if (!(s && n > 0))
        return E_VALUE;
    snprintf(s, (size_t)n, "simcuda (PTX on the CPU, sm_%d%d)", compute_major, compute_minor);
    return OK;
}
API cuDeviceGetUuid_v2(void *u, CUdevice d)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!is_device(d))
        return E_DEVICE;
    if (!u)
        return E_VALUE;
    memcpy(u, "simcuda-device-0", 16), ((char *)u)[15] = (char)('0' + d);
    return OK;
}
API cuDeviceTotalMem_v2(size_t *n, CUdevice d)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!is_device(d))
        return E_DEVICE;
    if (!n)
        return E_VALUE;
    *n = sim_opt.memory;
    return OK;
}
API cuDeviceComputeCapability(int *a, int *b, CUdevice d)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!is_device(d))
        return E_DEVICE;
    if (!(a && b))
        return E_VALUE;
    *a = compute_major;
    *b = compute_minor;
    return OK;
}

int max_optin(void)
{
    return compute_major >= 9 ? 232448 : compute_major == 8 && compute_minor ? 101376 : 166912;
}

API cuDeviceGetAttribute(int *v, int attr, CUdevice d)
{
    static const int table[][2] = {{1, 1024},        {2, 1024},     {3, 1024},       {4, 64},        {5, 2147483647},
                                   {6, 65535},       {7, 65535},    {8, 49152},      {9, 65536},     {10, 32},
                                   {11, 2147483647}, {12, 65536},   {13, 1410000},   {14, 512},      {15, 1},
                                   {31, 1},          {36, 1215000}, {37, 5120},      {38, 41943040}, {39, 2048},
                                   {40, 2},          {41, 1},       {78, 1},         {79, 1},        {80, 1},
                                   {82, 65536},      {106, 32},     {108, 31457280}, {111, 1024},    {115, 1}};
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!is_device(d))
        return E_DEVICE;
    if (!(v && attr > 0 && attr < 200))
        return E_VALUE;
    *v = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i][0] == attr)
            *v = table[i][1];
    if (attr == 16)
        *v = sm_count;
    if (attr == 75)
        *v = compute_major;
    if (attr == 76)
        *v = compute_minor;
    if (attr == 81)
        *v = max_optin() + 1024;
    if (attr == 97)
        *v = max_optin();
    return OK;
}

/* ---- contexts ---- */
API cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!is_device(d))
        return E_DEVICE;
    if (!c)
        return E_VALUE;
    primary[d].refs++;
    *c = &primary[d];
    return OK;
}
API cuDevicePrimaryCtxRelease_v2(CUdevice d)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!is_device(d))
        return E_DEVICE;
    if (!primary[d].refs)
        return E_CONTEXT;
    if (--primary[d].refs == 0) {
        drain_all();
        sticky = OK;
    }
    return OK;
}
/* Unlike the real driver, a reset also clears a kernel's error, so that one process can test many. */
API cuDevicePrimaryCtxReset_v2(CUdevice d)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!is_device(d))
        return E_DEVICE;
    drain_all();
    sticky = OK;
    return OK;
}
API cuDevicePrimaryCtxGetState(CUdevice d, unsigned *f, int *a)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!is_device(d))
        return E_DEVICE;
    if (f)
        *f = 0;
    if (a)
        *a = primary[d].refs > 0;
    return OK;
}
API cuDevicePrimaryCtxSetFlags_v2(CUdevice d, unsigned f)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    (void)f;
    return is_device(d) ? OK : E_DEVICE;
}
static CUresult create_context(CUcontext *c, CUdevice d)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!is_device(d))
        return E_DEVICE;
    if (!(c && depth < 16))
        return E_VALUE;
    *c = calloc(1, sizeof **c);
    (*c)->device = d;
    stack[depth++] = *c;
    return OK;
}
API cuCtxCreate_v2(CUcontext *c, unsigned f, CUdevice d)
{
    (void)f;
    return create_context(c, d);
}
API cuCtxCreate_v4(CUcontext *c, void *p, unsigned f, CUdevice d)
{
    (void)p;
    (void)f;
    return create_context(c, d);
}
API cuCtxDestroy_v2(CUcontext c)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!(c && !c->primary))
        return E_VALUE;
    drain_all();
    if (depth && stack[depth - 1] == c)
        depth--;
    free(c);
    sticky = OK;
    return OK;
}
API cuCtxSetCurrent(CUcontext c)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (depth)
        depth--;
    if (c)
        stack[depth++] = c;
    return OK;
}
API cuCtxGetCurrent(CUcontext *c)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!c)
        return E_VALUE;
    *c = depth ? stack[depth - 1] : NULL;
    return OK;
}
API cuCtxPushCurrent_v2(CUcontext c)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!(c && depth < 16))
        return E_VALUE;
    stack[depth++] = c;
    return OK;
}
API cuCtxPopCurrent_v2(CUcontext *c)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!depth)
        return E_CONTEXT;
    depth--;
    if (c)
        *c = stack[depth];
    return OK;
}
API cuCtxGetDevice(CUdevice *d)
{
    HELD entry = driver_enter_first(__func__);
    if (entry.failed)
        return entry.failed;
    if (!depth)
        return E_CONTEXT;
    if (!d)
        return E_VALUE;
    *d = device_now();
    return OK;
}
API cuCtxSynchronize(void)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (anything_capturing()) {
        for (CUstream t = streams; t; t = t->next)
            if (t->capture)
                t->invalid = true;
        return E_CAPTURE_UNSUPPORTED;
    }
    drain_all();
    return sticky;
}
API cuCtxGetStreamPriorityRange(int *lo, int *hi)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (lo)
        *lo = 0;
    if (hi)
        *hi = -5;
    return OK;
}
API cuCtxGetLimit(size_t *v, int which)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    (void)which;
    if (!v)
        return E_VALUE;
    *v = 1024;
    return OK;
}
API cuCtxSetLimit(int which, size_t v)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    (void)which;
    (void)v;
    return OK;
}
API cuCtxSetCacheConfig(int c)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    (void)c;
    return OK;
}
API cuCtxGetFlags(unsigned *f)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!f)
        return E_VALUE;
    *f = 0;
    return OK;
}
