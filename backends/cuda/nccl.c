/* nccl.c - the library of NCCL, its functions. */
#include "backends/cuda/nccl.h"
#include "backends/cuda/settings.h"

#include <dlfcn.h>

static const struct {
    const char *name;
    size_t at;
} functions[] = {
    {"ncclGetVersion", offsetof(nccl_api, version)},  {"ncclGetUniqueId", offsetof(nccl_api, id)},
    {"ncclCommInitRank", offsetof(nccl_api, join)},   {"ncclCommDestroy", offsetof(nccl_api, drop)},
    {"ncclCommAbort", offsetof(nccl_api, abort)},     {"ncclGroupStart", offsetof(nccl_api, begin)},
    {"ncclGroupEnd", offsetof(nccl_api, end)},        {"ncclSend", offsetof(nccl_api, send)},
    {"ncclRecv", offsetof(nccl_api, receive)},        {"ncclCommGetAsyncError", offsetof(nccl_api, later)},
    {"ncclGetErrorString", offsetof(nccl_api, text)},
};

bool nccl_did(const nccl_api *a, int status, const char *doing, err *e)
{
    return status == NCCL_OK || err_set(e, TS_DEVICE, "NCCL: %s failed: %s (%d)", doing, a->text(status), status);
}

bool nccl_open(nccl_api *a, err *e)
{
    cuda_settings asked;
    int version = 0;
    if (!cuda_settings_read(&asked, e))
        return false;
    const char *path = asked.nccl ? asked.nccl : "libnccl.so.2";
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        err_set(e, TS_DEVICE, "there is no NCCL, by which cards send to each other: %s", dlerror());
        return err_hint(e, "install it (libnccl2), or name its library: TESSERA_CUDA=nccl=/path/to/libnccl.so.2");
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *f = dlsym(library, functions[i].name);
        if (!f)
            return err_set(e, TS_DEVICE, "%s has no function %s", path, functions[i].name);
        *(void **)((char *)a + functions[i].at) = f;
    }
    if (!nccl_did(a, a->version(&version), "asking for its version", e))
        return false;
    return version >= NCCL_LEAST ||
           err_set(e, TS_DEVICE, "NCCL is too old: it says %d, %d is needed", version, NCCL_LEAST);
}
