/* module.c - modules and their functions. */
#include "tests/gpusim/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CUresult load(CUmodule *out, const void *image, char *log, size_t log_size)
{
    HELD entry = driver_enter("cuModuleLoad");
    if (entry.failed)
        return entry.failed;
    if (!(out && image))
        return E_VALUE;
    char text[600] = "";
    if (memcmp(image, "\177ELF", 4) == 0 || *(const uint32_t *)image == 0xba55ed50u) {
        const char *msg = "machine code cannot be executed here: load PTX (nvrtcGetPTX, nvcc -ptx)";
        if (log && log_size)
            snprintf(log, log_size, "%s", msg);
        sim_note("%s", msg);
        return E_NO_BINARY;
    }
    module *m = ptx_load(image, text, sizeof text);
    if (!m) {
        if (log && log_size)
            snprintf(log, log_size, "%s", text);
        sim_note("%s", text);
        return E_PTX;
    }
    if (m->target_sm > compute_major * 10 + compute_minor) {
        sim_note("PTX for sm_%d on a device of sm_%d%d (SIMCUDA_SM)", m->target_sm, compute_major, compute_minor);
        ptx_free(m);
        return E_NO_BINARY;
    }
    *out = calloc(1, sizeof **out);
    (*out)->m = m;
    return OK;
}
API cuModuleLoadData(CUmodule *m, const void *image)
{
    return load(m, image, NULL, 0);
}
API cuModuleLoadFatBinary(CUmodule *m, const void *image)
{
    return load(m, image, NULL, 0);
}
API cuModuleLoadDataEx(CUmodule *m, const void *image, unsigned n, int *opts, void **vals)
{
    char *log = NULL;
    size_t size = 0;
    for (unsigned i = 0; i < n && opts && vals; i++) {
        if (opts[i] == 5)
            log = vals[i];
        if (opts[i] == 6)
            size = (size_t)(uintptr_t)vals[i];
    }
    return load(m, image, log, size);
}
API cuModuleLoad(CUmodule *m, const char *path)
{
    if (!(m && path))
        return E_VALUE;
    FILE *f = fopen(path, "rb");
    if (!f)
        return 301;
    char *text = NULL;
    size_t n = 0, got;
    do {
        text = realloc(text, n + 65537);
        got = fread(text + n, 1, 65536, f);
        n += got;
    } while (got);
    fclose(f);
    text[n] = 0;
    CUresult r = load(m, text, NULL, 0);
    free(text);
    return r;
}
API cuModuleUnload(CUmodule m)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!m)
        return E_HANDLE;
    drain_all();
    ptx_free(m->m);
    for (int i = 0; i < m->nfns; i++)
        free(m->fns[i]);
    free(m->fns);
    free(m);
    return sticky;
}
API cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!(f && name))
        return E_VALUE;
    if (!m)
        return E_HANDLE;
    function *fn = ptx_find(m->m, name);
    if (!fn)
        return E_NOT_FOUND;
    for (int i = 0; i < m->nfns; i++)
        if (m->fns[i]->f == fn) {
            *f = m->fns[i];
            return OK;
        }
    m->fns = reallocarray(m->fns, (size_t)(m->nfns + 1), sizeof *m->fns);
    *f = m->fns[m->nfns++] = calloc(1, sizeof **f);
    (*f)->f = fn;
    (*f)->module = m;
    return OK;
}
API cuModuleGetGlobal_v2(CUdeviceptr *p, size_t *n, CUmodule m, const char *name)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    uint64_t a, s;
    if (!m)
        return E_HANDLE;
    if (!name)
        return E_VALUE;
    if (!ptx_global(m->m, name, &a, &s))
        return E_NOT_FOUND;
    if (p)
        *p = a;
    if (n)
        *n = s;
    return OK;
}
API cuModuleGetLoadingMode(int *mode)
{
    if (!mode)
        return E_VALUE;
    *mode = 1;
    return OK;
}
API cuFuncGetName(const char **s, CUfunction f)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!(s && f))
        return E_VALUE;
    *s = f->f->name;
    return OK;
}
API cuFuncGetModule(CUmodule *m, CUfunction f)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!(m && f))
        return E_VALUE;
    *m = f->module;
    return OK;
}
API cuFuncSetCacheConfig(CUfunction f, int c)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    (void)c;
    return f ? OK : E_HANDLE;
}
/* Real ones run fewer where a lane has many registers: SIMCUDA_LANES says how many. */
int most_lanes(const function *f)
{
    const char *s = getenv("SIMCUDA_LANES");
    const int device = s ? sim_whole(s) : 1024,
              own = f->maxntid[0] ? f->maxntid[0] * f->maxntid[1] * f->maxntid[2] : device;
    return own < device ? own : device;
}

API cuFuncGetAttribute(int *v, int attr, CUfunction f)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!f)
        return E_HANDLE;
    if (!v)
        return E_VALUE;
    switch (attr) {
    case 0: *v = most_lanes(f->f); break;
    case 1: *v = (int)f->f->shared_static; break;
    case 2: *v = 0; break;
    case 3: *v = (int)(f->f->local_end - f->f->local_base); break;
    case 4: *v = f->f->max_regs_live + 8 > 255 ? 255 : f->f->max_regs_live + 8; break; /* an estimate */
    case 5:
    case 6: *v = compute_major * 10 + compute_minor; break;
    case 8: *v = f->f->dynamic_shared_limit; break;
    default: *v = 0;
    }
    return OK;
}
API cuFuncSetAttribute(CUfunction f, int attr, int v)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!f)
        return E_HANDLE;
    if (attr == 8) {
        if (v < 0 || v + (int)f->f->shared_static > max_optin())
            return E_VALUE;
        f->f->dynamic_shared_limit = v;
    }
    return OK;
}
API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction f, int threads, size_t dynamic)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!(n && f && threads > 0))
        return E_VALUE;
    int warps = (threads + 31) / 32, by_warps = 64 / warps, regs;
    cuFuncGetAttribute(&regs, 4, f);
    int by_regs = 65536 / (((regs + 7) / 8 * 8) * 32 * warps);
    size_t sh = f->f->shared_static + dynamic + 1024;
    int by_shared = (int)((size_t)(max_optin() + 1024) / sh);
    *n = by_warps < by_regs ? by_warps : by_regs;
    if (by_shared < *n)
        *n = by_shared;
    if (*n > 32)
        *n = 32;
    return OK;
}
