/* apart.c - before the loader of OpenCL: its devices say that their memory is not the host's, and copies between the
 * two are counted. When the process ends, the file that OCLAPART_COPIES names has a line of JSON: how many went to the
 * device and to the host, and of how many the host's memory was not given by a driver and mapped. The file that
 * OCLAPART_UNITS names has the number of units of the device that was opened last.
 *
 * With OCLAPART_HELD a worker holds each queue for a while after clFinish, as slow ones of PoCL do. The file of that
 * name has a line for each queue that was given up meanwhile.
 *
 * With OCLAPART_SUBGROUP=N devices say that they have sub-groups of N lanes. Each program begins with macros that do
 * what the language's functions of these do, by memory of this process and barriers of the whole group: where a kernel
 * has its lanes part, it hangs or is wrong here. Devices are processors, whose memory this process shares. */
#include "backends/opencl/runtime/opencl_abi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static int subgroup(void)
{
    const char *lanes = getenv("OCLAPART_SUBGROUP");
    return lanes ? (int)strtol(lanes, NULL, 10) : 0;
}

int32_t clGetDeviceInfo(cl_device d, uint32_t what, size_t n, void *out, size_t *have)
{
    static const char more[] = " cl_khr_subgroups cl_khr_subgroup_shuffle_relative cl_intel_required_subgroup_size";
    if (what == CL_SHARES_MEMORY)
        return *(uint32_t *)out = 0, CL_SUCCESS;
    if (what == CL_SUBGROUP_SIZES && subgroup() && n >= sizeof(size_t))
        return *(size_t *)out = (size_t)subgroup(), CL_SUCCESS;
    const int32_t answer = loader()->device_info(d, what, n, out, have);
    if (what == CL_EXTENSIONS && subgroup() && answer == CL_SUCCESS && strlen(out) + sizeof more < n)
        memcpy((char *)out + strlen(out), more, sizeof more);
    return answer;
}

cl_context clCreateContext(const intptr_t *properties, uint32_t n, const cl_device *d,
                           void (*tell)(const char *, const void *, size_t, void *), void *user, int32_t *e)
{
    FILE *f = getenv("OCLAPART_UNITS") ? fopen(getenv("OCLAPART_UNITS"), "w") : NULL;
    if (f) {
        fprintf(f, "%d\n", (int)opencl_number(loader(), *d, CL_COMPUTE_UNITS));
        fclose(f);
    }
    return loader()->context(properties, n, d, tell, user, e);
}

/* ---- queues ---- */
static atomic_int held;

static void *let_go(void *queue)
{
    usleep(20000);
    held--;
    loader()->drop_queue(queue);
    return NULL;
}

int32_t clFinish(cl_queue q)
{
    int32_t (*hold)(cl_queue) = NULL;
    pthread_t worker;
    const int32_t answer = loader()->finish(q);
    *(void **)&hold = dlsym(RTLD_NEXT, "clRetainCommandQueue");
    if (getenv("OCLAPART_HELD") && hold && hold(q) == CL_SUCCESS) {
        held++;
        if (pthread_create(&worker, NULL, let_go, q) || pthread_detach(worker))
            abort();
    }
    return answer;
}

int32_t clReleaseCommandQueue(cl_queue q)
{
    FILE *f = held ? fopen(getenv("OCLAPART_HELD"), "a") : NULL;
    if (f) {
        fprintf(f, "%d\n", held);
        fclose(f);
    }
    return loader()->drop_queue(q);
}

/* ---- sub-groups ---- */
enum { GROUPS = 1024, GROUP_BYTES = 1024 * sizeof(uint64_t) }; /* groups that run at the same time, at most; of lanes */
static char exchange[GROUPS][GROUP_BYTES];
static const char macros[] =
    "#define cl_khr_subgroup_shuffle_relative 1\n"
    "#define get_sub_group_id() (get_local_id(0) / %d)\n"
    "#define get_sub_group_local_id() (get_local_id(0) %% %d)\n"
    "#define sub_group_barrier(flags) barrier(flags)\n"
    "#define sub_group_shuffle_down(x, n) ({ __typeof__((x) + 0) own_ = (x), other_; \\\n"
    "    volatile __global __typeof__((x) + 0) *at_ = (volatile __global __typeof__((x) + 0) *)(%pUL + get_group_id(0) "
    "%% %d * %d); \\\n"
    "    barrier(CLK_GLOBAL_MEM_FENCE); at_[get_local_id(0)] = own_; barrier(CLK_GLOBAL_MEM_FENCE); \\\n"
    "    other_ = get_local_id(0) %% %d + (n) < %d ? at_[get_local_id(0) + (n)] : (__typeof__((x) + 0))-12345; other_; "
    "})\n";

cl_program clCreateProgramWithSource(cl_context c, uint32_t n, const char *const *line, const size_t *bytes, int32_t *e)
{
    const int lanes = subgroup();
    char head[sizeof macros + 128];
    const char *all[] = {head, line[0]};
    if (!lanes || n != 1)
        return loader()->program(c, n, line, bytes, e);
    snprintf(head, sizeof head, macros, lanes, lanes, (void *)exchange, GROUPS, (int)GROUP_BYTES, lanes, lanes);
    const size_t length[] = {strlen(head), bytes[0]};
    return loader()->program(c, 2, all, length, e);
}

/* ---- copies ---- */

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
