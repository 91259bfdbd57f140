/* cuda_abi.c - the functions of CUDA's driver. */
#include "backends/cuda/runtime/cuda_abi.h"

#include <dlfcn.h>

static const struct {
    const char *name;
    size_t at;
} functions[] = {
    {"cuInit", offsetof(cu_api, init)},
    {"cuGetErrorName", offsetof(cu_api, error_name)},
    {"cuGetErrorString", offsetof(cu_api, error_text)},
    {"cuDeviceGetCount", offsetof(cu_api, device_count)},
    {"cuDeviceGet", offsetof(cu_api, device_get)},
    {"cuDeviceGetName", offsetof(cu_api, device_name)},
    {"cuDeviceTotalMem_v2", offsetof(cu_api, device_memory)},
    {"cuDeviceGetAttribute", offsetof(cu_api, device_attribute)},
    {"cuDevicePrimaryCtxRetain", offsetof(cu_api, context_retain)},
    {"cuDevicePrimaryCtxRelease_v2", offsetof(cu_api, context_release)},
    {"cuCtxSetCurrent", offsetof(cu_api, context_use)},
    {"cuModuleLoadDataEx", offsetof(cu_api, module_load)},
    {"cuModuleUnload", offsetof(cu_api, module_unload)},
    {"cuModuleGetFunction", offsetof(cu_api, module_function)},
    {"cuFuncGetAttribute", offsetof(cu_api, function_attribute)},
    {"cuFuncSetAttribute", offsetof(cu_api, function_set)},
    {"cuMemGetInfo_v2", offsetof(cu_api, memory_free_bytes)},
    {"cuMemAlloc_v2", offsetof(cu_api, alloc)},
    {"cuMemFree_v2", offsetof(cu_api, release)},
    {"cuMemHostAlloc", offsetof(cu_api, pinned_alloc)},
    {"cuMemFreeHost", offsetof(cu_api, pinned_release)},
    {"cuMemcpyHtoDAsync_v2", offsetof(cu_api, to_device)},
    {"cuMemcpyDtoHAsync_v2", offsetof(cu_api, to_host)},
    {"cuMemsetD32Async", offsetof(cu_api, set)},
    {"cuMemsetD8Async", offsetof(cu_api, set_bytes)},
    {"cuMemcpyDtoDAsync_v2", offsetof(cu_api, within)},
    {"cuMemcpyPeerAsync", offsetof(cu_api, between)},
    {"cuStreamCreate", offsetof(cu_api, stream_make)},
    {"cuStreamDestroy_v2", offsetof(cu_api, stream_free)},
    {"cuStreamSynchronize", offsetof(cu_api, stream_wait)},
    {"cuStreamBeginCapture_v2", offsetof(cu_api, stream_record)},
    {"cuStreamEndCapture", offsetof(cu_api, stream_recorded)},
    {"cuEventCreate", offsetof(cu_api, event_make)},
    {"cuEventDestroy_v2", offsetof(cu_api, event_free)},
    {"cuEventRecord", offsetof(cu_api, event_record)},
    {"cuEventSynchronize", offsetof(cu_api, event_wait)},
    {"cuEventElapsedTime", offsetof(cu_api, event_between)},
    {"cuLaunchKernel", offsetof(cu_api, launch)},
    {"cuGraphCreate", offsetof(cu_api, graph_make)},
    {"cuGraphDestroy", offsetof(cu_api, graph_free)},
    {"cuGraphAddKernelNode_v2", offsetof(cu_api, graph_kernel)},
    {"cuGraphAddMemsetNode", offsetof(cu_api, graph_set)},
    {"cuGraphInstantiateWithFlags", offsetof(cu_api, graph_build)},
    {"cuGraphLaunch", offsetof(cu_api, graph_launch)},
    {"cuGraphExecDestroy", offsetof(cu_api, exec_free)},
};

const char *cu_functions(cu_api *a)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *f = dlsym(a->library, functions[i].name);
        if (!f)
            return functions[i].name;
        *(void **)((char *)a + functions[i].at) = f;
    }
    *(void **)&a->map_tiled = dlsym(a->library, "cuTensorMapEncodeTiled");
    return NULL;
}
