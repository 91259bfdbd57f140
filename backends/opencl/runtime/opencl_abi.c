/* opencl_abi.c - the functions of OpenCL's loader, and the devices that it knows. */
#include "backends/opencl/runtime/opencl_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PLATFORMS = 16, MOST_DEVICES = 64 };

static const struct {
    const char *name;
    size_t at;
} functions[] = {
    {"clGetPlatformIDs", offsetof(opencl, platforms)},
    {"clGetPlatformInfo", offsetof(opencl, platform_info)},
    {"clGetDeviceIDs", offsetof(opencl, devices)},
    {"clGetDeviceInfo", offsetof(opencl, device_info)},
    {"clCreateSubDevices", offsetof(opencl, part)},
    {"clReleaseDevice", offsetof(opencl, drop_device)},
    {"clCreateContext", offsetof(opencl, context)},
    {"clReleaseContext", offsetof(opencl, drop_context)},
    {"clCreateCommandQueue", offsetof(opencl, queue)},
    {"clGetCommandQueueInfo", offsetof(opencl, queue_info)},
    {"clReleaseCommandQueue", offsetof(opencl, drop_queue)},
    {"clCreateBuffer", offsetof(opencl, memory)},
    {"clReleaseMemObject", offsetof(opencl, drop_memory)},
    {"clCreateProgramWithSource", offsetof(opencl, program)},
    {"clCreateProgramWithBinary", offsetof(opencl, program_of)},
    {"clBuildProgram", offsetof(opencl, build)},
    {"clGetProgramInfo", offsetof(opencl, program_info)},
    {"clGetProgramBuildInfo", offsetof(opencl, build_info)},
    {"clReleaseProgram", offsetof(opencl, drop_program)},
    {"clCreateKernel", offsetof(opencl, kernel)},
    {"clSetKernelArg", offsetof(opencl, argument)},
    {"clReleaseKernel", offsetof(opencl, drop_kernel)},
    {"clEnqueueNDRangeKernel", offsetof(opencl, launch)},
    {"clEnqueueReadBuffer", offsetof(opencl, read)},
    {"clEnqueueWriteBuffer", offsetof(opencl, write)},
    {"clEnqueueCopyBuffer", offsetof(opencl, copy)},
    {"clEnqueueFillBuffer", offsetof(opencl, fill)},
    {"clEnqueueMapBuffer", offsetof(opencl, map)},
    {"clEnqueueUnmapMemObject", offsetof(opencl, unmap)},
    {"clEnqueueMarkerWithWaitList", offsetof(opencl, marker)},
    {"clFlush", offsetof(opencl, flush)},
    {"clFinish", offsetof(opencl, finish)},
    {"clWaitForEvents", offsetof(opencl, wait_for)},
    {"clGetEventProfilingInfo", offsetof(opencl, event_time)},
    {"clReleaseEvent", offsetof(opencl, drop_event)},
};

const char *opencl_functions(opencl *cl, void *library)
{
    cl->library = library;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *f = dlsym(library, functions[i].name);
        if (!f)
            return functions[i].name;
        *(void **)((char *)cl + functions[i].at) = f;
    }
    return NULL;
}

uint64_t opencl_number(const opencl *cl, cl_device d, enum cl_question what)
{
    uint64_t v = 0;
    size_t have = 0;
    return cl->device_info(d, what, sizeof v, &v, &have) == CL_SUCCESS ? v : 0;
}

int32_t opencl_part(const opencl *cl, cl_device d, int units, cl_device *out)
{
    const intptr_t how[] = {CL_PART_BY_COUNTS, units, 0, 0};
    uint32_t have = 0;
    return cl->part(d, how, 1, out, &have);
}

/* PoCL makes loops of lanes behind the compiler. What it then takes for decided by all lanes alike is not, where the
 * compiler moved tests: lanes' stores are lost, or the process ends (3.1: products of 35 by 5 by 7, 40 by 64 by 7). */
int opencl_is_plain(const opencl *cl, cl_device d)
{
    char version[256] = "";
    size_t have = 0;
    return cl->device_info(d, CL_DEVICE_VERSION, sizeof version - 1, version, &have) == CL_SUCCESS &&
           (strstr(version, "PoCL") || strstr(version, "pocl"));
}

static int has(const char *names, const char *name)
{
    const size_t n = strlen(name);
    const char *at = names;
    while ((at = strstr(at, name)) && !((at == names || at[-1] == ' ') && (!at[n] || at[n] == ' ')))
        at += n;
    return at != NULL;
}

static int pinned_lanes(const opencl *cl, cl_device d) /* the largest number that kernels may ask for, 32 at most */
{
    enum { SIZES = 16, MOST = 32 };
    size_t size[SIZES] = {0}, have = 0;
    int best = 0;
    if (cl->device_info(d, CL_SUBGROUP_SIZES, sizeof size, size, &have) != CL_SUCCESS)
        return 0;
    for (int i = 0; i < SIZES; i++)
        if (size[i] <= MOST && (int)size[i] > best)
            best = (int)size[i];
    return best;
}

int opencl_subgroup(const opencl *cl, cl_device d)
{
    char names[1 << 14] = "", version[256] = "";
    size_t have = 0;
    const uint64_t nvidia = opencl_number(cl, d, CL_NVIDIA_WARP), amd = opencl_number(cl, d, CL_AMD_WAVEFRONT);
    if (cl->device_info(d, CL_EXTENSIONS, sizeof names - 1, names, &have) != CL_SUCCESS ||
        cl->device_info(d, CL_DEVICE_VERSION, sizeof version - 1, version, &have) != CL_SUCCESS ||
        strncmp(version, "OpenCL 3.", 9) != 0 || !has(names, "cl_khr_subgroups") ||
        !(has(names, "cl_khr_subgroup_shuffle_relative") || has(names, "cl_intel_subgroups")))
        return 0;
    return has(names, "cl_intel_required_subgroup_size") ? pinned_lanes(cl, d) : (int)(nvidia ? nvidia : amd);
}

/* Functions of sub-groups came with OpenCL C 3.0. */
void opencl_options(char out[256], const opencl *cl, cl_device d, int lanes)
{
    const int exact = (opencl_number(cl, d, CL_NARROW_CONFIG) & CL_ROUNDS_DIVISION) != 0;
    snprintf(out, 256, "-w -cl-denorms-are-zero -cl-std=CL%s %s%s", opencl_subgroup(cl, d) ? "3.0" : "1.2",
             exact ? "-cl-fp32-correctly-rounded-divide-sqrt " : "",
             lanes && opencl_is_plain(cl, d) ? "-cl-opt-disable" : "");
}

static int add_devices(const opencl *cl, cl_platform p, int graphics, opencl_device *out, int most)
{
    cl_device some[MOST_DEVICES];
    uint32_t n = 0;
    int added = 0;
    if (cl->devices(p, CL_TYPE_ALL, MOST_DEVICES, some, &n) != CL_SUCCESS)
        return 0;
    for (uint32_t i = 0; i < n && i < MOST_DEVICES && added < most; i++)
        if (!!(opencl_number(cl, some[i], CL_DEVICE_TYPE) & CL_TYPE_GPU) == graphics)
            out[added++] = (opencl_device){some[i], p};
    return added;
}

int opencl_devices(const opencl *cl, opencl_device *out, int most)
{
    cl_platform platform[MOST_PLATFORMS];
    uint32_t n = 0;
    int found = 0;
    if (cl->platforms(MOST_PLATFORMS, platform, &n) != CL_SUCCESS || !n)
        return -1;
    for (int graphics = 1; graphics >= 0; graphics--)
        for (uint32_t i = 0; i < n && i < MOST_PLATFORMS; i++)
            found += add_devices(cl, platform[i], graphics, out + found, most - found);
    return found;
}
