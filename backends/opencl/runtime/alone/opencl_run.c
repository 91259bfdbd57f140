/* opencl_run.c - opens the OpenCL device at the first run, keeps weights there, builds the kernels, and launches them
 * one after another in one queue, which keeps their order. */
#include "backends/opencl/runtime/opencl_memory.h"
#include "backends/opencl/runtime/opencl_pinned.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 64, LOG_BYTES = 1 << 14 };

static struct {
    int open;
    opencl cl;
    cl_device id;
    cl_context context;
    cl_queue queue;
    opencl_memory on;     /* its memory there */
    opencl_pinned pieces; /* by way of which all goes there and comes back */
    cl_program *program;  /* of each kernel: that of the first kernel of its file */
    cl_kernel *kernel;    /* of loops and copies none */
    const int64_t *sizes; /* extents of the run at hand */
    int *faults;
} device;

static int did(int32_t answer, const char *doing, const char *name)
{
    if (answer == CL_SUCCESS)
        return 1;
    fprintf(stderr, "%s%s%s failed: OpenCL error %d\n", doing, *name ? " " : "", name, (int)answer);
    return 0;
}

/* ---- the device ---- */
static int find_device(int number)
{
    opencl_device all[MOST_DEVICES];
    void *library = dlopen(OPENCL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const char *missing = library ? opencl_functions(&device.cl, library) : dlerror();
    if (missing) {
        fprintf(stderr, "no OpenCL 1.2 here: %s\n", missing);
        return 0;
    }
    const int n = opencl_devices(&device.cl, all, MOST_DEVICES);
    if (number >= n) {
        fprintf(stderr, "there is no OpenCL device %d: the drivers here have %d\n", number, n < 0 ? 0 : n);
        return 0;
    }
    device.id = all[number].device;
    return 1;
}

static int begin(const device_program *p)
{
    int32_t answer = CL_SUCCESS;
    if (!find_device(p->device) || (p->units && !did(opencl_part(&device.cl, device.id, p->units, &device.id),
                                                     "taking as many units of the device as were asked for", "")))
        return 0;
    device.context = device.cl.context(NULL, 1, &device.id, NULL, NULL, &answer);
    if (!did(answer, "opening the device", ""))
        return 0;
    device.queue = device.cl.queue(device.context, device.id, 0, &answer);
    return did(answer, "opening a queue", "");
}

/* ---- memory ---- */
static int allocate(cl_memory *out, long bytes)
{
    int32_t answer = CL_SUCCESS;
    *out = device.cl.memory(device.context, CL_READ_WRITE, bytes ? (size_t)bytes : 1, NULL, &answer);
    return did(answer, "taking memory of the device", "");
}

static int to_device(cl_memory to, const void *from, long bytes, const char *what)
{
    return did(opencl_give(&device.pieces, to, 0, from, (size_t)bytes), what, "");
}

static int to_host(void *to, cl_memory from, long at, long bytes)
{
    return did(opencl_take(&device.pieces, to, from, (size_t)at, (size_t)bytes), "a copy from the device", "");
}

static int pin(const device_program *p)
{
    device.pieces = (opencl_pinned){.cl = &device.cl, .queue = device.queue};
    return did(opencl_pin(&device.pieces, device.context, device.id, (size_t)device_most(p)), "pinning memory", "");
}

static int find_memory(const device_program *p, const ts_run *r)
{
    const long marks = (long)sizeof *device.faults * p->kernels;
    device.on = (opencl_memory){.cl = &device.cl, .leaves = p->leaves, .inputs = p->inputs};
    device.on.leaf = calloc((size_t)p->leaves + 1, sizeof(cl_memory));
    device.on.input = calloc((size_t)p->inputs + 1, sizeof(cl_memory));
    device.faults = calloc((size_t)p->kernels + 1, sizeof *device.faults);
    int ok = device.on.leaf && device.on.input && device.faults && pin(p) && allocate(&device.on.arena, p->arena) &&
             allocate(&device.on.spill, p->spill) && allocate(&device.on.fault, marks) &&
             allocate(&device.on.counts, (long)COUNT_BYTES * p->loops) &&
             to_device(device.on.fault, device.faults, marks, "clearing memory");
    for (int i = 0; i < p->leaves && ok; i++)
        ok = allocate(&device.on.leaf[i], p->leaf[i].bytes) &&
             to_device(device.on.leaf[i], r->leaf[i], p->leaf[i].bytes, "a copy of a weight");
    for (int i = 0; i < p->inputs && ok; i++)
        ok = allocate(&device.on.input[i], p->input[i].bytes);
    const char none = 0; /* of extents that a run says, trips read what lies behind the end: numbers, whichever */
    if (ok && p->sizes && p->arena)
        ok = did(device.cl.fill(device.queue, device.on.arena, &none, 1, 0, (size_t)p->arena, 0, NULL, NULL),
                 "clearing memory", "");
    return ok && did(device.cl.finish(device.queue), "a copy of the weights", "");
}

/* ---- kernels ---- */
static void say_log(cl_program made, const char *file)
{
    static char log[LOG_BYTES + 1];
    size_t have = 0;
    if (device.cl.build_info(made, device.id, CL_BUILD_LOG, LOG_BYTES, log, &have) == CL_SUCCESS)
        fprintf(stderr, "%s: %s\n", file, log);
}

static cl_program build(const char *file, int lanes)
{
    const int exact = (opencl_number(&device.cl, device.id, CL_NARROW_CONFIG) & CL_ROUNDS_DIVISION) != 0;
    const int plain = lanes > 1 && opencl_is_plain(&device.cl, device.id);
    char options[256];
    snprintf(options, sizeof options, OPENCL_OPTIONS "%s%s%s",
             opencl_subgroup(&device.cl, device.id) ? OPENCL_SUBGROUPS : OPENCL_USUAL, exact ? OPENCL_EXACT : "",
             plain ? OPENCL_PLAIN : "");
    char *all = device_file(file);
    const char *source = all;
    const size_t bytes = all ? strlen(all) : 0;
    int32_t answer = CL_SUCCESS;
    cl_program made = all ? device.cl.program(device.context, 1, &source, &bytes, &answer) : NULL;
    int ok = made && did(answer, "reading", file);
    if (ok && !did(device.cl.build(made, 1, &device.id, options, NULL, NULL), "building", file))
        say_log(made, file), ok = 0;
    free(all);
    return ok ? made : NULL;
}

static int most_lanes(const device_program *p)
{
    int most = 0;
    for (int k = 0; k < p->all; k++)
        most = (int)p->kernel[k].lanes > most ? (int)p->kernel[k].lanes : most;
    return most;
}

static cl_program program_of(const device_program *p, int k)
{
    for (int i = 0; i < k; i++)
        if (!strcmp(p->kernel[i].file, p->kernel[k].file))
            return device.program[i];
    return build(p->kernel[k].file, most_lanes(p));
}

static int give_arguments(const device_program *p, int which, int number, const device_at *operand)
{
    const device_kernel *k = &p->kernel[which];
    const cl_kernel f = device.kernel[which];
    if (opencl_arguments(&device.on, f, k->operands, operand, number) == CL_SUCCESS &&
        opencl_extents(&device.on, f, k->operands, k->sizes, device.sizes) == CL_SUCCESS)
        return 1;
    fprintf(stderr, "%s: the driver does not take its arguments\n", k->name);
    return 0;
}

static int make_kernels(const device_program *p)
{
    device.program = calloc((size_t)p->all + 1, sizeof(cl_program));
    device.kernel = calloc((size_t)p->all + 1, sizeof(cl_kernel));
    int ok = device.program && device.kernel;
    for (int k = 0; k < p->all && ok; k++) {
        int32_t answer = CL_SUCCESS;
        if (p->kernel[k].loop || p->kernel[k].copies || p->kernel[k].joins)
            continue;
        device.program[k] = program_of(p, k);
        if (!device.program[k])
            return 0;
        device.kernel[k] = device.cl.kernel(device.program[k], p->kernel[k].name, &answer);
        ok = did(answer, "finding", p->kernel[k].name);
    }
    return ok;
}

/* ---- runs ---- */
static int launch(void *user, int which, int outer, const device_at *operand)
{
    const device_program *p = user;
    const device_kernel *k = &p->kernel[which];
    const size_t lanes = k->lanes, items = lanes * k->groups;
    return !items || (give_arguments(p, which, outer, operand) &&
                      did(device.cl.launch(device.queue, device.kernel[which], 1, NULL, &items, &lanes, 0, NULL, NULL),
                          "launching", k->name));
}

static int copy(void *user, device_at to, device_at from, long bytes)
{
    (void)user;
    return did(opencl_copy(&device.on, device.queue, to, from, bytes), "a copy on the device", "");
}

static int clear(void *user, device_at at, long bytes)
{
    (void)user;
    return did(opencl_clear(&device.on, device.queue, at, bytes), "filling memory", "");
}

static int count(void *user, device_at at, long trip)
{
    (void)user;
    return did(opencl_count(&device.on, device.queue, at, trip), "filling memory", "");
}

static int truth(void *user, device_at at, int *is)
{
    (void)user;
    return did(opencl_truth(&device.on, device.queue, at, is), "a copy from the device", "");
}

static int check_faults(const device_program *p, int *fault)
{
    const long marks = (long)sizeof *device.faults * p->kernels;
    int any = 0;
    for (int k = 0; k < p->kernels; k++)
        any = any || device.faults[k];
    if (!any)
        return 1;
    *fault = 1;
    memset(device.faults, 0, (size_t)marks);
    return to_device(device.on.fault, device.faults, marks, "clearing memory") &&
           did(device.cl.finish(device.queue), "clearing memory", "");
}

static int run(const device_program *p, const ts_run *r)
{
    const device_calls calls = {(void *)(uintptr_t)p, launch, copy, clear, count, truth};
    int ok = 1;
    device.sizes = p->sizes ? r->input[p->inputs] : NULL;
    for (int i = 0; i < p->inputs && ok; i++)
        ok = to_device(device.on.input[i], r->input[i], p->input[i].bytes, "a copy to the device");
    ok = ok && device_kernels(p, &calls, 0, p->kernels);
    ok = ok && to_host(device.faults, device.on.fault, 0, (long)sizeof *device.faults * p->kernels);
    for (int i = 0; i < p->values && ok; i++)
        ok = to_host(r->arena + p->value[i].at, device.on.arena, p->value[i].at, p->value[i].bytes);
    for (int i = 0; i < p->inputs && ok; i++)
        ok = !p->input[i].written || to_host(r->input[i], device.on.input[i], 0, p->input[i].bytes);
    return did(device.cl.finish(device.queue), "a run", "") && ok && check_faults(p, r->fault);
}

void device_run(const device_program *p, const ts_run *r)
{
    if (!device.open)
        device.open = begin(p) && find_memory(p, r) && make_kernels(p) ? 1 : -1;
    if (device.open < 0 || !run(p, r))
        *r->fault = RUN_SAID;
}
