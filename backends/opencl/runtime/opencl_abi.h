/* opencl_abi.h - what is used of OpenCL 1.2: numbers, types and functions as its specification has them. The loader's
 * library is opened when it is asked for; nothing is linked, and nothing here is needed to build. Programs that are
 * emitted carry this file. */
#ifndef CL_ABI_H
#define CL_ABI_H
#include <stddef.h>
#include <stdint.h>

typedef struct cl_platform *cl_platform;
typedef struct cl_device *cl_device;
typedef struct cl_context *cl_context;
typedef struct cl_queue *cl_queue;
typedef struct cl_memory *cl_memory;
typedef struct cl_program *cl_program;
typedef struct cl_kernel *cl_kernel;
typedef struct cl_event *cl_event;

enum {
    CL_SUCCESS = 0,
    CL_DEVICE_NOT_FOUND = -1,
    CL_NO_MEMORY_OBJECT = -4, /* allocation of a memory object failed */
    CL_NO_RESOURCES = -5,
    CL_NO_HOST_MEMORY = -6,
    CL_BAD_BUFFER_SIZE = -61,
    CL_NO_PLATFORM = -1001
};
enum { CL_FALSE = 0, CL_TRUE = 1 };
/* Of memory; cl.h: CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR */
enum { CL_READ_WRITE = 1, CL_THE_HOSTS = 1 << 3, CL_OF_HOST = 1 << 4 };
enum { CL_MAP_READ = 1, CL_MAP_WRITE = 2 };
enum { CL_TYPE_CPU = 1 << 1, CL_TYPE_GPU = 1 << 2 }; /* cl.h, cl_device_type */
static const uint64_t CL_TYPE_ALL = 0xffffffffu;
enum { CL_ROUNDS_DIVISION = 1 << 7 }; /* of a floating-point configuration: division and roots round correctly */

enum cl_question {
    CL_PLATFORM_VERSION = 0x0901,
    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_TYPE = 0x1000,
    CL_COMPUTE_UNITS = 0x1002,
    CL_GROUP_SIZE = 0x1004,
    CL_CLOCK = 0x100c,      /* MHz */
    CL_MOST_BYTES = 0x1010, /* of one memory object */
    CL_PARAMETER_BYTES = 0x1017,
    CL_NARROW_CONFIG = 0x101b, /* of reals of 4 bytes */
    CL_CACHE_BYTES = 0x101e,
    CL_GLOBAL_BYTES = 0x101f,
    CL_LOCAL_BYTES = 0x1023,
    CL_DEVICE_NAME = 0x102b,
    CL_DRIVER_VERSION = 0x102d,
    CL_DEVICE_VERSION = 0x102f,
    CL_EXTENSIONS = 0x1030,
    CL_SHARES_MEMORY = 0x1035,     /* cl.h: CL_DEVICE_HOST_UNIFIED_MEMORY */
    CL_WIDE_CONFIG = 0x1032,       /* of reals of 8 bytes; 0: there are none */
    CL_NATIVE_FLOATS = 0x103a,     /* in a vector */
    CL_PART_BY_COUNTS = 0x1087,    /* cl.h: CL_DEVICE_PARTITION_BY_COUNTS */
    CL_QUEUE_HOLDERS = 0x1092,     /* cl.h: CL_QUEUE_REFERENCE_COUNT */
    CL_NVIDIA_CAPABILITY = 0x4000, /* major; minor is the next number */
    CL_NVIDIA_WARP = 0x4003,
    CL_AMD_WAVEFRONT = 0x4043,
    CL_SUBGROUP_SIZES = 0x4108, /* CL_DEVICE_SUB_GROUP_SIZES_INTEL: a list of size_t */
    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_BUILD_LOG = 0x1183,
    CL_KERNEL_START = 0x1282, /* of an event: nanoseconds by the device's clock */
    CL_KERNEL_END = 0x1283
};
enum { CL_QUEUE_TIMES = 2 }; /* of a queue: its events tell when */

typedef struct opencl {
    void *library;
    int32_t (*platforms)(uint32_t n, cl_platform *out, uint32_t *have);
    int32_t (*platform_info)(cl_platform p, uint32_t what, size_t n, void *out, size_t *have);
    int32_t (*devices)(cl_platform p, uint64_t type, uint32_t n, cl_device *out, uint32_t *have);
    int32_t (*device_info)(cl_device d, uint32_t what, size_t n, void *out, size_t *have);
    int32_t (*part)(cl_device d, const intptr_t *how, uint32_t n, cl_device *out, uint32_t *have);
    int32_t (*drop_device)(cl_device d);
    cl_context (*context)(const intptr_t *properties, uint32_t n, const cl_device *d,
                          void (*tell)(const char *, const void *, size_t, void *), void *user, int32_t *e);
    int32_t (*drop_context)(cl_context c);
    cl_queue (*queue)(cl_context c, cl_device d, uint64_t properties, int32_t *e);
    int32_t (*queue_info)(cl_queue q, uint32_t what, size_t n, void *out, size_t *have);
    int32_t (*drop_queue)(cl_queue q);
    cl_memory (*memory)(cl_context c, uint64_t flags, size_t bytes, void *from, int32_t *e);
    int32_t (*drop_memory)(cl_memory m);
    cl_program (*program)(cl_context c, uint32_t n, const char *const *text, const size_t *bytes, int32_t *e);
    cl_program (*program_of)(cl_context c, uint32_t n, const cl_device *d, const size_t *bytes,
                             const unsigned char *const *binary, int32_t *status, int32_t *e);
    int32_t (*build)(cl_program p, uint32_t n, const cl_device *d, const char *options,
                     void (*done)(cl_program, void *), void *user);
    int32_t (*program_info)(cl_program p, uint32_t what, size_t n, void *out, size_t *have);
    int32_t (*build_info)(cl_program p, cl_device d, uint32_t what, size_t n, void *out, size_t *have);
    int32_t (*drop_program)(cl_program p);
    cl_kernel (*kernel)(cl_program p, const char *name, int32_t *e);
    int32_t (*argument)(cl_kernel k, uint32_t which, size_t bytes, const void *value);
    int32_t (*drop_kernel)(cl_kernel k);
    int32_t (*launch)(cl_queue q, cl_kernel k, uint32_t dimensions, const size_t *from, const size_t *items,
                      const size_t *group, uint32_t n, const cl_event *wait, cl_event *done);
    int32_t (*read)(cl_queue q, cl_memory m, uint32_t wait_for_it, size_t from, size_t bytes, void *to, uint32_t n,
                    const cl_event *wait, cl_event *done);
    int32_t (*write)(cl_queue q, cl_memory m, uint32_t wait_for_it, size_t to, size_t bytes, const void *from,
                     uint32_t n, const cl_event *wait, cl_event *done);
    int32_t (*copy)(cl_queue q, cl_memory from, cl_memory to, size_t from_at, size_t to_at, size_t bytes, uint32_t n,
                    const cl_event *wait, cl_event *done);
    int32_t (*fill)(cl_queue q, cl_memory m, const void *pattern, size_t pattern_bytes, size_t at, size_t bytes,
                    uint32_t n, const cl_event *wait, cl_event *done);
    void *(*map)(cl_queue q, cl_memory m, uint32_t wait_for_it, uint64_t how, size_t from, size_t bytes, uint32_t n,
                 const cl_event *wait, cl_event *done, int32_t *e);
    int32_t (*unmap)(cl_queue q, cl_memory m, void *at, uint32_t n, const cl_event *wait, cl_event *done);
    int32_t (*marker)(cl_queue q, uint32_t n, const cl_event *wait, cl_event *done);
    int32_t (*flush)(cl_queue q);
    int32_t (*finish)(cl_queue q);
    int32_t (*wait_for)(uint32_t n, const cl_event *v);
    int32_t (*event_time)(cl_event v, uint32_t what, size_t n, void *out, size_t *have);
    int32_t (*drop_event)(cl_event v);
} opencl;

#define OPENCL_LIBRARY "libOpenCL.so.1"

/* Finds the functions in an open library: NULL, or the name of the first that is not there. */
const char *opencl_functions(opencl *cl, void *library);

/* Devices that OpenCL drivers offer, as they are numbered: graphics processors first, then others, in the order of
 * drivers. How many there are, of `most`; -1: there is no driver. */
typedef struct opencl_device {
    cl_device device;
    cl_platform platform;
} opencl_device;
int opencl_devices(const opencl *cl, opencl_device *out, int most);
int opencl_is_plain(const opencl *cl, cl_device d);
/* Lanes of a sub-group that read one another's registers, where kernels can say how many these are, or it is known of
 * all on the device; 0: none do, or nobody can say */
int opencl_subgroup(const opencl *cl, cl_device d);
/* So many units of a processor as a device of their own; the driver's answer */
int32_t opencl_part(const opencl *cl, cl_device d, int units, cl_device *out);
uint64_t opencl_number(const opencl *cl, cl_device d, enum cl_question what); /* 0: it does not say */
/* How programs are built: by language; then, where the device can round quotients and roots correctly, and where its
 * compiler is right only without optimising. lanes: some kernel has groups of several */
void opencl_options(char out[256], const opencl *cl, cl_device d, int lanes);
#endif
