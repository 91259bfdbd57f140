/* apart.c - before the loader of OpenCL: its devices say that their memory is not the host's, and copies between the
 * two are counted. When the process ends, the file that OCLAPART_COPIES names has a line of JSON: how many went to the
 * device and to the host, and of how many the host's memory was not given by a driver and mapped. */
#include "backends/opencl/runtime/opencl_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAPPED = 256 };
static struct {
    const char *from, *to;
} mapped[MAPPED];
static int n_mapped;
static unsigned long long sent, fetched, pageable;

static opencl *loader(void)
{
    static opencl all;
    if (!all.library && opencl_functions(&all, RTLD_NEXT))
        abort();
    return &all;
}

static void write_copies(void)
{
    FILE *f = fopen(getenv("OCLAPART_COPIES"), "w");
    if (f) {
        fprintf(f, "{\"to_device\":%llu,\"to_host\":%llu,\"pageable\":%llu}\n", sent, fetched, pageable);
        fclose(f);
    }
}

static void count(unsigned long long *which, const char *host)
{
    int i = 0;
    if (!sent && !fetched && getenv("OCLAPART_COPIES"))
        atexit(write_copies);
    ++*which;
    while (i < n_mapped && !(host >= mapped[i].from && host < mapped[i].to))
        i++;
    pageable += i == n_mapped;
}

int32_t clGetDeviceInfo(cl_device d, uint32_t what, size_t n, void *out, size_t *have)
{
    if (what != CL_SHARES_MEMORY)
        return loader()->device_info(d, what, n, out, have);
    *(uint32_t *)out = 0;
    return CL_SUCCESS;
}

void *clEnqueueMapBuffer(cl_queue q, cl_memory m, uint32_t wait_for_it, uint64_t how, size_t from, size_t bytes,
                         uint32_t n, const cl_event *wait, cl_event *done, int32_t *e)
{
    char *at = loader()->map(q, m, wait_for_it, how, from, bytes, n, wait, done, e);
    if (at && n_mapped < MAPPED)
        mapped[n_mapped].from = at, mapped[n_mapped++].to = at + bytes;
    return at;
}

int32_t clEnqueueWriteBuffer(cl_queue q, cl_memory m, uint32_t wait_for_it, size_t to, size_t bytes, const void *from,
                             uint32_t n, const cl_event *wait, cl_event *done)
{
    count(&sent, from);
    return loader()->write(q, m, wait_for_it, to, bytes, from, n, wait, done);
}

int32_t clEnqueueReadBuffer(cl_queue q, cl_memory m, uint32_t wait_for_it, size_t from, size_t bytes, void *to,
                            uint32_t n, const cl_event *wait, cl_event *done)
{
    count(&fetched, to);
    return loader()->read(q, m, wait_for_it, from, bytes, to, n, wait, done);
}
