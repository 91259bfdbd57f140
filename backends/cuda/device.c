/* device.c - the device as the driver has it. */
#include "backends/cuda/device.h"

#include <string.h>

/* ---- what went wrong ---- */
bool device_did(const device *d, cu_status s, const char *doing, err *e)
{
    const char *name = NULL, *what = NULL;
    if (s == CU_OK)
        return true;
    if (d->cu.error_name(s, &name) || !name)
        name = "an unknown error";
    if (d->cu.error_text(s, &what) || !what)
        what = "the driver has no words for it";
    return err_set(e, TS_DEVICE, "cuda:%d%s%s%s: %s failed: %s, %s (%d)", d->number, *d->name ? " (" : "", d->name,
                   *d->name ? ")" : "", doing, name, what, s);
}

/* ---- opening ---- */
static bool find(device *d, err *e)
{
    int n = 0;
    const cu_status s = d->cu.init(0);
    if (s == CU_NO_DEVICE || (s == CU_OK && d->cu.device_count(&n) == CU_OK && n == 0)) {
        err_set(e, TS_DEVICE, "the driver of CUDA finds no device");
        return err_hint(e, "nvidia-smi lists the devices; CUDA_VISIBLE_DEVICES hides those that it does not name");
    }
    if (!device_did(d, s, "the start of the driver", e))
        return false;
    if (d->number >= n) {
        err_set(e, TS_DEVICE, "there is no device cuda:%d", d->number);
        return err_hint(e, "there %s %d: cuda:0%s", n == 1 ? "is" : "are", n, n == 1 ? "" : " and on");
    }
    return device_did(d, d->cu.device_get(&d->id, d->number), "asking for the device", e);
}

static bool begin(device *d, err *e)
{
    if (!device_did(d, d->cu.device_name(d->name, (int)sizeof d->name, d->id), "asking for the device's name", e) ||
        !device_did(d, d->cu.context_retain(&d->context, d->id), "opening the device", e))
        return false;
    d->major = device_fact(d, CU_MAJOR), d->minor = device_fact(d, CU_MINOR);
    return device_enter(d, e) && device_did(d, d->cu.stream_make(&d->stream, CU_STREAM_APART), "making a stream", e);
}

bool device_open(device *d, const char *library, int number, err *e)
{
    *d = (device){.number = number};
    if (!cu_open(&d->cu, library, e))
        return false;
    if (find(d, e) && begin(d, e))
        return true;
    device_close(d);
    return false;
}

void device_close(device *d)
{
    if (d->stream)
        d->cu.stream_free(d->stream);
    if (d->context)
        d->cu.context_release(d->id);
    cu_close(&d->cu);
    *d = (device){0};
}

bool device_enter(const device *d, err *e)
{
    return device_did(d, d->cu.context_use(d->context), "turning to the device", e);
}

int device_fact(const device *d, cu_attribute which)
{
    int v = 0;
    return d->cu.device_attribute(&v, which, d->id) == CU_OK ? v : 0;
}

int64_t device_bytes(const device *d)
{
    size_t n = 0;
    return d->cu.device_memory(&n, d->id) == CU_OK ? (int64_t)n : 0;
}

/* ---- memory ---- */
bool device_memory_make(const device *d, int64_t bytes, const char *what, cu_address *at, err *e)
{
    size_t unused = 0, all = 0;
    const cu_status s = d->cu.alloc(at, bytes ? (size_t)bytes : 1);
    if (s != CU_OUT_OF_MEMORY)
        return device_did(d, s, "taking memory of the device", e);
    *at = 0;
    if (d->cu.memory_free_bytes(&unused, &all))
        all = 0;
    err_set(e, TS_DEVICE, "cuda:%d (%s) is out of memory: %s would take %lld bytes, %lld of %lld are free", d->number,
            d->name, what, (long long)bytes, (long long)unused, (long long)all);
    return err_hint(e, "bind smaller dimensions, or end what else uses the device");
}

void device_memory_free(const device *d, cu_address *at)
{
    if (*at)
        d->cu.release(*at);
    *at = 0;
}

bool device_pin(const device *d, int64_t bytes, void **at, err *e)
{
    return device_did(d, d->cu.pinned_alloc(at, bytes ? (size_t)bytes : 1, 0), "taking pinned memory of the host", e);
}

void device_unpin(const device *d, void **at)
{
    if (*at)
        d->cu.pinned_release(*at);
    *at = NULL;
}

bool device_write(const device *d, cu_address to, const void *from, int64_t bytes, err *e)
{
    return !bytes || device_did(d, d->cu.to_device(to, from, (size_t)bytes, d->stream), "a copy to the device", e);
}

bool device_read(const device *d, void *to, cu_address from, int64_t bytes, err *e)
{
    return !bytes || device_did(d, d->cu.to_host(to, from, (size_t)bytes, d->stream), "a copy from the device", e);
}

bool device_clear(const device *d, cu_address at, int64_t bytes, err *e)
{
    const cu_status s = bytes % 4 || at % 4 ? d->cu.set_bytes(at, 0, (size_t)bytes, d->stream)
                        : bytes             ? d->cu.set(at, 0, (size_t)bytes / 4, d->stream)
                                            : CU_OK;
    return device_did(d, s, "clearing memory", e);
}

bool device_copy_within(const device *d, cu_address to, cu_address from, int64_t bytes, err *e)
{
    return !bytes || device_did(d, d->cu.within(to, from, (size_t)bytes, d->stream), "a copy on the device", e);
}

bool device_set(const device *d, cu_address at, int64_t number, err *e)
{
    const uint64_t n = (uint64_t)number;
    return device_did(d, d->cu.set(at, (unsigned)n, 1, d->stream), "setting memory", e) &&
           device_did(d, d->cu.set(at + 4, (unsigned)(n >> 32), 1, d->stream), "setting memory", e);
}

bool device_wait(const device *d, const char *doing, err *e)
{
    return device_did(d, d->cu.stream_wait(d->stream), doing, e);
}
