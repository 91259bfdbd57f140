/* copies.c - device memory and pinned memory, copies between them. With SIMCUDA_COPIES=FILE a line of JSON says, when
 * the process ends, how many went to the device and to the host, of how many bytes, how many of them had memory that is
 * not pinned, and how many went from one device to another, of how many bytes. */
#include "tests/gpusim/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    void *p;
    size_t size;
    bool owned;
} * pinned;
static int npinned, cap_pinned;

API cuMemAlloc_v2(CUdeviceptr *p, size_t n)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!(p && n))
        return E_VALUE;
    if (anything_capturing())
        return E_CAPTURE_UNSUPPORTED;
    *p = mem_alloc(n);
    return *p ? OK : E_MEMORY;
}
API cuMemFree_v2(CUdeviceptr p)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!p)
        return OK;
    drain_all();
    if (sticky)
        return sticky;
    if (mem_free(p)) {
        sim_note("cuMemFree of 0x%llx, which is not the start of a live allocation", p);
        return E_VALUE;
    }
    return OK;
}
API cuMemAllocAsync(CUdeviceptr *p, size_t n, CUstream s)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!(p && n))
        return E_VALUE;
    if (resolve(s)->capture)
        return E_NOT_SUPPORTED;
    *p = mem_alloc(n);
    return *p ? OK : E_MEMORY;
}
API cuMemFreeAsync(CUdeviceptr p, CUstream s)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!p)
        return OK;
    const allocation *a = mem_find(p);
    if (!a || a->base != p || !a->live)
        return E_VALUE;
    operation *op = new_op(OP_FREE);
    op->dst = p;
    return submit(s, op);
}
API cuMemGetInfo_v2(size_t *f, size_t *t)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    uint64_t used, total;
    mem_usage(&used, &total);
    if (f)
        *f = total - used;
    if (t)
        *t = total;
    return OK;
}
API cuMemGetAddressRange_v2(CUdeviceptr *b, size_t *n, CUdeviceptr p)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    const allocation *a = mem_find(p);
    if (!a || !a->live || p >= a->base + a->size)
        return E_NOT_FOUND;
    if (b)
        *b = a->base;
    if (n)
        *n = a->size;
    return OK;
}
API cuPointerGetAttribute(void *v, int attr, CUdeviceptr p)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    const allocation *a = mem_find(p);
    if (!v)
        return E_VALUE;
    if (attr != 2)
        return E_NOT_SUPPORTED;
    if (!a || !a->live)
        return E_VALUE;
    *(unsigned *)v = 2;
    return OK;
}

static int find_pinned(const void *p)
{
    for (int i = 0; i < npinned; i++)
        if ((const char *)p >= (char *)pinned[i].p && (const char *)p < (char *)pinned[i].p + pinned[i].size)
            return i;
    return -1;
}
static void add_pinned(void *p, size_t n, bool owned)
{
    if (npinned == cap_pinned) {
        cap_pinned = cap_pinned ? 2 * cap_pinned : 16;
        pinned = reallocarray(pinned, (size_t)cap_pinned, sizeof *pinned);
    }
    pinned[npinned].p = p;
    pinned[npinned].size = n;
    pinned[npinned++].owned = owned;
}
API cuMemHostAlloc(void **p, size_t n, unsigned flags)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    (void)flags;
    if (!(p && n))
        return E_VALUE;
    *p = aligned_alloc(4096, (n + 4095) & ~(size_t)4095);
    if (!*p)
        return E_MEMORY;
    memset(*p, 0xcd, n);
    add_pinned(*p, n, true);
    return OK;
}
API cuMemAllocHost_v2(void **p, size_t n)
{
    return cuMemHostAlloc(p, n, 0);
}
API cuMemFreeHost(void *p)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    int i = find_pinned(p);
    if (i < 0 || pinned[i].p != p || !pinned[i].owned)
        return E_VALUE;
    drain_all();
    free(p);
    pinned[i] = pinned[--npinned];
    return sticky;
}
API cuMemHostRegister_v2(void *p, size_t n, unsigned f)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    (void)f;
    if (!(p && n))
        return E_VALUE;
    if (find_pinned(p) >= 0)
        return E_HOST_REGISTERED;
    add_pinned(p, n, false);
    return OK;
}
API cuMemHostUnregister(void *p)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    int i = find_pinned(p);
    if (i < 0 || pinned[i].owned)
        return E_HOST_NOT_REGISTERED;
    drain_all();
    pinned[i] = pinned[--npinned];
    return OK;
}

enum { TO_DEVICE, TO_HOST, ON_DEVICE, BETWEEN };

static unsigned long long copied[BETWEEN + 1], bytes_copied[BETWEEN + 1], pageable_copied;

static void write_copies(void)
{
    FILE *f = fopen(getenv("SIMCUDA_COPIES"), "w");
    if (f) {
        fprintf(f,
                "{\"to_device\":%llu,\"to_host\":%llu,\"pageable\":%llu,\"bytes_to_device\":%llu,"
                "\"bytes_to_host\":%llu,\"between\":%llu,\"bytes_between\":%llu}\n",
                copied[TO_DEVICE], copied[TO_HOST], pageable_copied, bytes_copied[TO_DEVICE], bytes_copied[TO_HOST],
                copied[BETWEEN], bytes_copied[BETWEEN]);
        fclose(f);
    }
}

static void count_copy(int direction, const void *host, size_t bytes)
{
    static bool begun;
    if (!begun && getenv("SIMCUDA_COPIES"))
        atexit(write_copies);
    begun = true;
    copied[direction]++, bytes_copied[direction] += bytes;
    pageable_copied += direction < ON_DEVICE && find_pinned(host) < 0;
}

static CUresult copy(int direction, uint64_t dst, uint64_t src, size_t n, CUstream s, bool async)
{
    HELD entry = driver_enter("cuMemcpy");
    if (entry.failed)
        return entry.failed;
    if (n == 0)
        return OK;
    if ((direction != TO_HOST && !mem_host(dst, n)) || (direction != TO_DEVICE && !mem_host(src, n))) {
        sim_note("copy of %zu bytes %s device address 0x%llx is outside every live allocation", n,
                 direction == TO_HOST ? "from" : "to", (unsigned long long)(direction == TO_HOST ? src : dst));
        return E_VALUE;
    }
    if (!(dst && src))
        return E_VALUE;
    const void *host = (const void *)(uintptr_t)(direction == TO_DEVICE ? src : dst);
    count_copy(direction, host, n);
    operation *op = new_op(OP_COPY);
    *op = (operation){.kind = OP_COPY,
                      .dst = dst,
                      .src = src,
                      .bytes = n,
                      .dst_host = direction == TO_HOST,
                      .src_host = direction == TO_DEVICE};
    s = resolve(s);
    if (!async) {
        CUresult r = forbid_capture(s);
        if (r) {
            free_op(op);
            return r;
        }
        r = submit(s, op);
        drain(s, ~0ull);
        return r ? r : sticky;
    }
    bool pageable = direction < ON_DEVICE && find_pinned(host) < 0;
    if (pageable && direction == TO_DEVICE && !s->capture) {
        op->staged = malloc(n);
        memcpy(op->staged, host, n);
    }
    CUresult r = submit(s, op);
    if (!r && pageable && direction == TO_HOST && !s->capture) {
        drain(s, ~0ull);
        r = sticky;
    }
    return r;
}
API cuMemcpyHtoD_v2(CUdeviceptr d, const void *s, size_t n)
{
    return copy(TO_DEVICE, d, PTR(s), n, NULL, false);
}
API cuMemcpyDtoH_v2(void *d, CUdeviceptr s, size_t n)
{
    return copy(TO_HOST, PTR(d), s, n, NULL, false);
}
API cuMemcpyDtoD_v2(CUdeviceptr d, CUdeviceptr s, size_t n)
{
    return copy(ON_DEVICE, d, s, n, NULL, false);
}
API cuMemcpyHtoDAsync_v2(CUdeviceptr d, const void *s, size_t n, CUstream st)
{
    return copy(TO_DEVICE, d, PTR(s), n, st, true);
}
API cuMemcpyDtoHAsync_v2(void *d, CUdeviceptr s, size_t n, CUstream st)
{
    return copy(TO_HOST, PTR(d), s, n, st, true);
}
API cuMemcpyDtoDAsync_v2(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream st)
{
    return copy(ON_DEVICE, d, s, n, st, true);
}
API cuMemcpyPeerAsync(CUdeviceptr d, CUcontext to, CUdeviceptr s, CUcontext from, size_t n, CUstream st)
{
    return to && from ? copy(to == from ? ON_DEVICE : BETWEEN, d, s, n, st, true) : E_CONTEXT;
}
static bool on_device(uint64_t p)
{
    return p >= mem_base && p < mem_limit;
}
static CUresult copy_any(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream st, bool async)
{
    if (!on_device(d) && !on_device(s))
        return E_VALUE;
    return copy(on_device(d) ? on_device(s) ? ON_DEVICE : TO_DEVICE : TO_HOST, d, s, n, st, async);
}
API cuMemcpy(CUdeviceptr d, CUdeviceptr s, size_t n)
{
    return copy_any(d, s, n, NULL, false);
}
API cuMemcpyAsync(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream st)
{
    return copy_any(d, s, n, st, true);
}

static CUresult set(CUdeviceptr d, unsigned value, unsigned element, size_t n, CUstream s)
{
    HELD entry = driver_enter("cuMemset");
    if (entry.failed)
        return entry.failed;
    if (n == 0)
        return OK;
    if (!(n <= SIZE_MAX / element && d % element == 0))
        return E_VALUE;
    if (!mem_host(d, n * element)) {
        sim_note("memset of %zu bytes at 0x%llx is outside every live allocation", n * element, d);
        return E_VALUE;
    }
    operation *op = new_op(OP_SET);
    op->dst = d;
    op->value = value;
    op->element = element;
    op->bytes = n * element;
    return submit(s, op);
}
API cuMemsetD8_v2(CUdeviceptr d, unsigned char v, size_t n)
{
    return set(d, v, 1, n, NULL);
}
API cuMemsetD16_v2(CUdeviceptr d, unsigned short v, size_t n)
{
    return set(d, v, 2, n, NULL);
}
API cuMemsetD32_v2(CUdeviceptr d, unsigned v, size_t n)
{
    return set(d, v, 4, n, NULL);
}
API cuMemsetD8Async(CUdeviceptr d, unsigned char v, size_t n, CUstream s)
{
    return set(d, v, 1, n, s);
}
API cuMemsetD16Async(CUdeviceptr d, unsigned short v, size_t n, CUstream s)
{
    return set(d, v, 2, n, s);
}
API cuMemsetD32Async(CUdeviceptr d, unsigned v, size_t n, CUstream s)
{
    return set(d, v, 4, n, s);
}
