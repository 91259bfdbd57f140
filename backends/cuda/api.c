/* api.c - opens the two libraries and finds their functions. */
#include "backends/cuda/api.h"

#include <dlfcn.h>
#include <string.h>

typedef struct symbol {
    size_t place; /* of the pointer, in the record */
    const char *name;
} symbol;

/* Once loaded they stay, so that the next device finds them at once */
/* version 12.0, as cuDriverGetVersion says it; how the library is opened */
enum { CU_LEAST = 12000, MODE = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE };

/* ---- a library ---- */
static void *open_first(const char *path, const char *const *usual, text *why)
{
    void *found = path ? dlopen(path, MODE) : NULL;
    if (path && !found)
        text_add(why, "%s", dlerror());
    for (int i = 0; !path && usual[i] && !found; i++) {
        found = dlopen(usual[i], MODE);
        if (!found && !why->length)
            text_add(why, "%s", dlerror());
    }
    return found;
}

/* The name of the first one that is missing; NULL: all are there. */
static const char *find_all(void *library, const symbol *s, void *record)
{
    for (; s->name; s++) {
        void *at = dlsym(library, s->name);
        if (!at)
            return s->name;
        memcpy((char *)record + s->place, &at, sizeof at);
    }
    return NULL;
}

/* ---- the driver ---- */
static const symbol driver_symbols[] = {{offsetof(cu_api, init), "cuInit"},
                                        {offsetof(cu_api, error_name), "cuGetErrorName"},
                                        {offsetof(cu_api, error_text), "cuGetErrorString"},
                                        {offsetof(cu_api, device_count), "cuDeviceGetCount"},
                                        {offsetof(cu_api, device_get), "cuDeviceGet"},
                                        {offsetof(cu_api, device_name), "cuDeviceGetName"},
                                        {offsetof(cu_api, device_memory), "cuDeviceTotalMem_v2"},
                                        {offsetof(cu_api, device_attribute), "cuDeviceGetAttribute"},
                                        {offsetof(cu_api, context_retain), "cuDevicePrimaryCtxRetain"},
                                        {offsetof(cu_api, context_release), "cuDevicePrimaryCtxRelease_v2"},
                                        {offsetof(cu_api, context_use), "cuCtxSetCurrent"},
                                        {offsetof(cu_api, module_load), "cuModuleLoadDataEx"},
                                        {offsetof(cu_api, module_unload), "cuModuleUnload"},
                                        {offsetof(cu_api, module_function), "cuModuleGetFunction"},
                                        {offsetof(cu_api, function_attribute), "cuFuncGetAttribute"},
                                        {offsetof(cu_api, function_set), "cuFuncSetAttribute"},
                                        {offsetof(cu_api, memory_free_bytes), "cuMemGetInfo_v2"},
                                        {offsetof(cu_api, alloc), "cuMemAlloc_v2"},
                                        {offsetof(cu_api, release), "cuMemFree_v2"},
                                        {offsetof(cu_api, pinned_alloc), "cuMemHostAlloc"},
                                        {offsetof(cu_api, pinned_release), "cuMemFreeHost"},
                                        {offsetof(cu_api, to_device), "cuMemcpyHtoDAsync_v2"},
                                        {offsetof(cu_api, to_host), "cuMemcpyDtoHAsync_v2"},
                                        {offsetof(cu_api, set), "cuMemsetD32Async"},
                                        {offsetof(cu_api, set_bytes), "cuMemsetD8Async"},
                                        {offsetof(cu_api, within), "cuMemcpyDtoDAsync_v2"},
                                        {offsetof(cu_api, stream_make), "cuStreamCreate"},
                                        {offsetof(cu_api, stream_free), "cuStreamDestroy_v2"},
                                        {offsetof(cu_api, stream_wait), "cuStreamSynchronize"},
                                        {offsetof(cu_api, stream_record), "cuStreamBeginCapture_v2"},
                                        {offsetof(cu_api, stream_recorded), "cuStreamEndCapture"},
                                        {offsetof(cu_api, event_make), "cuEventCreate"},
                                        {offsetof(cu_api, event_free), "cuEventDestroy_v2"},
                                        {offsetof(cu_api, event_record), "cuEventRecord"},
                                        {offsetof(cu_api, event_wait), "cuEventSynchronize"},
                                        {offsetof(cu_api, event_between), "cuEventElapsedTime"},
                                        {offsetof(cu_api, launch), "cuLaunchKernel"},
                                        {offsetof(cu_api, graph_make), "cuGraphCreate"},
                                        {offsetof(cu_api, graph_free), "cuGraphDestroy"},
                                        {offsetof(cu_api, graph_kernel), "cuGraphAddKernelNode_v2"},
                                        {offsetof(cu_api, graph_set), "cuGraphAddMemsetNode"},
                                        {offsetof(cu_api, graph_build), "cuGraphInstantiateWithFlags"},
                                        {offsetof(cu_api, graph_launch), "cuGraphLaunch"},
                                        {offsetof(cu_api, exec_free), "cuGraphExecDestroy"},
                                        {0}};

/* Its version is asked first: what an old one lacks is then no riddle. */
static bool find_driver(cu_api *a, err *e)
{
    *(void **)&a->driver_version = dlsym(a->library, "cuDriverGetVersion");
    if (!a->driver_version || a->driver_version(&a->version))
        return err_set(e, TS_DEVICE, "the driver library of CUDA does not say its version");
    if (a->version < CU_LEAST) {
        err_set(e, TS_DEVICE, "the driver of CUDA is too old: it serves version %d.%d, needed is %d.%d",
                a->version / 1000, a->version % 1000 / 10, CU_LEAST / 1000, CU_LEAST % 1000 / 10);
        return err_hint(e, "install a newer driver");
    }
    const char *missing = find_all(a->library, driver_symbols, a);
    *(void **)&a->map_tiled = dlsym(a->library, "cuTensorMapEncodeTiled");
    return !missing || err_set(e, TS_DEVICE, "the driver library of CUDA has no function %s", missing);
}

bool cu_open(cu_api *a, const char *path, err *e)
{
    static const char *const usual[] = {"libcuda.so.1", "libcuda.so", NULL};
    text why = {0};
    *a = (cu_api){.library = open_first(path, usual, &why)};
    const bool ok = a->library && find_driver(a, e);
    if (!a->library) {
        err_set(e, TS_DEVICE, "there is no driver of CUDA: %s", text_str(&why));
        err_hint(e, "install the driver of the card, or name its library: TESSERA_CUDA=driver=/path/to/libcuda.so.1");
    }
    text_free(&why);
    if (!ok)
        cu_close(a);
    return ok;
}

void cu_close(cu_api *a)
{
    if (a->library)
        dlclose(a->library);
    *a = (cu_api){0};
}

/* ---- the compiler ---- */
static const symbol nvrtc_symbols[] = {{offsetof(nvrtc_api, version_of), "nvrtcVersion"},
                                       {offsetof(nvrtc_api, n_arch), "nvrtcGetNumSupportedArchs"},
                                       {offsetof(nvrtc_api, archs), "nvrtcGetSupportedArchs"},
                                       {offsetof(nvrtc_api, error_text), "nvrtcGetErrorString"},
                                       {offsetof(nvrtc_api, program_make), "nvrtcCreateProgram"},
                                       {offsetof(nvrtc_api, program_free), "nvrtcDestroyProgram"},
                                       {offsetof(nvrtc_api, compile), "nvrtcCompileProgram"},
                                       {offsetof(nvrtc_api, ptx_size), "nvrtcGetPTXSize"},
                                       {offsetof(nvrtc_api, ptx), "nvrtcGetPTX"},
                                       {offsetof(nvrtc_api, cubin_size), "nvrtcGetCUBINSize"},
                                       {offsetof(nvrtc_api, cubin), "nvrtcGetCUBIN"},
                                       {offsetof(nvrtc_api, log_size), "nvrtcGetProgramLogSize"},
                                       {offsetof(nvrtc_api, log), "nvrtcGetProgramLog"},
                                       {0}};

static bool find_nvrtc(nvrtc_api *a, err *e)
{
    int major, minor;
    const char *missing = find_all(a->library, nvrtc_symbols, a);
    if (missing)
        return err_set(e, TS_DEVICE, "NVRTC, the compiler of CUDA, has no function %s: it is too old", missing);
    if (a->version_of(&major, &minor))
        return err_set(e, TS_DEVICE, "NVRTC, the compiler of CUDA, does not say its version");
    return a->version = 1000 * major + 10 * minor, true;
}

bool nvrtc_open(nvrtc_api *a, const char *path, err *e)
{
    static const char *const usual[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so", NULL};
    text why = {0};
    *a = (nvrtc_api){.library = open_first(path, usual, &why)};
    const bool ok = a->library && find_nvrtc(a, e);
    if (!a->library) {
        err_set(e, TS_DEVICE, "there is no NVRTC, the compiler of CUDA: %s", text_str(&why));
        err_hint(e, "install the toolkit of CUDA, or name the library: TESSERA_CUDA=nvrtc=/path/to/libnvrtc.so.13");
    }
    text_free(&why);
    if (!ok)
        nvrtc_close(a);
    return ok;
}

void nvrtc_close(nvrtc_api *a)
{
    if (a->library)
        dlclose(a->library);
    *a = (nvrtc_api){0};
}
