/* nvrtc.c - opens the compiler's library and finds its functions. */
#include "backends/cuda/nvrtc.h"

#include <dlfcn.h>
#include <string.h>

/* Once loaded it stays, so that the next plan finds it at once */
enum { MODE = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE };

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

static const struct {
    size_t place; /* of the pointer, in the record */
    const char *name;
} symbols[] = {
    {offsetof(nvrtc_api, version_of), "nvrtcVersion"},
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
};

static bool find_nvrtc(nvrtc_api *a, err *e)
{
    int major, minor;
    for (int i = 0; i < COUNT(symbols); i++) {
        void *at = dlsym(a->library, symbols[i].name);
        if (!at)
            return err_set(e, TS_DEVICE, "NVRTC, the compiler of CUDA, has no function %s: it is too old",
                           symbols[i].name);
        memcpy((char *)a + symbols[i].place, &at, sizeof at);
    }
    if (a->version_of(&major, &minor))
        return err_set(e, TS_DEVICE, "NVRTC, the compiler of CUDA, does not say its version");
    return a->version = 1000 * major + 10 * minor, true;
}

bool nvrtc_open(nvrtc_api *a, const char *path, err *e)
{
    static const char *const usual[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so", NULL};
    ENDED_BY(text_free) text why = {0};
    *a = (nvrtc_api){.library = open_first(path, usual, &why)};
    const bool ok = a->library && find_nvrtc(a, e);
    if (!a->library) {
        err_set(e, TS_DEVICE, "there is no NVRTC, the compiler of CUDA: %s", text_str(&why));
        err_hint(e, "install the toolkit of CUDA, or name the library: TESSERA_CUDA=nvrtc=/path/to/libnvrtc.so.13");
    }
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
