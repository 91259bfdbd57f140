/* cuda_abi.h - the part of CUDA's driver interface that is used here: types, numbers, functions, as its documentation
 * has them; versions of functions are those of CUDA 12.0. The driver's library is opened when it is asked for; nothing
 * is linked, and no header of the toolkit is needed to build. Programs that are emitted carry this file. */
#ifndef CU_ABI_H
#define CU_ABI_H
#include <stddef.h>
#include <stdint.h>

typedef int cu_status;
enum {
    CU_OK = 0,
    CU_OUT_OF_MEMORY = 2,
    CU_NO_DEVICE = 100,
    CU_INVALID_DEVICE = 101,
    CU_NO_BINARY = 209,       /* machine code for another kind of device */
    CU_OUT_OF_RESOURCES = 701 /* a launch asks for more registers than a block may have */
};
typedef enum cu_attribute {                     /* of a device */
                            CU_GROUP_LANES = 1, /* threads of a block, at most */
                            CU_GRID = 5,        /* blocks along x, at most */
                            CU_GROUP_SHARED =
                                8, /* bytes of shared memory that a block may have without asking for more */
                            CU_WARP = 10,
                            CU_GROUP_REGISTERS = 12,
                            CU_CLOCK = 13, /* kHz */
                            CU_UNITS = 16, /* multiprocessors */
                            CU_MEMORY_CLOCK = 36,
                            CU_BUS_BITS = 37,
                            CU_L2_BYTES = 38,
                            CU_UNIT_LANES = 39, /* threads that a multiprocessor holds */
                            CU_MAJOR = 75,
                            CU_MINOR = 76,
                            CU_UNIT_SHARED = 81,
                            CU_UNIT_REGISTERS = 82,
                            CU_GROUP_SHARED_MOST = 97, /* bytes of shared memory that a block may ask for */
                            CU_UNIT_GROUPS = 106
} cu_attribute;
typedef enum cu_function_attribute {
    CU_FN_LANES = 0, /* threads of a block, at most, with the registers that it takes */
    CU_FN_SHARED = 1,
    CU_FN_LOCAL = 3, /* bytes of local memory of a thread: spilled registers, and arrays */
    CU_FN_REGISTERS = 4,
    CU_FN_DYNAMIC_SHARED = 8
} cu_function_attribute;
/* cuda.h: CUjit_option, and a stream that does not wait for the default one */
enum { CU_JIT_LOG = 5, CU_JIT_LOG_BYTES = 6, CU_STREAM_APART = 1, CU_EVENT_NO_TIMES = 2 };
enum { CU_CAPTURE_THREAD = 1 }; /* CUstreamCaptureMode: other threads are not held to what may be recorded */

typedef unsigned long long cu_address;
typedef struct CUctx_st *cu_context;
typedef struct CUmod_st *cu_module;
typedef struct CUfunc_st *cu_function;
typedef struct CUstream_st *cu_stream;
typedef struct CUgraph_st *cu_graph;
typedef struct CUgraphNode_st *cu_node;
typedef struct CUgraphExec_st *cu_exec;
typedef struct CUevent_st *cu_event;

typedef struct cu_map { /* of a tensor, which kernels take as it is */
    _Alignas(64) uint64_t word[16];
} cu_map;
/* cuda.h: CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapL2promotion */
enum { CU_MAP_U16 = 1, CU_MAP_U32 = 2, CU_MAP_SWIZZLE_32 = 1, CU_MAP_SWIZZLE_64 = 2, CU_MAP_SWIZZLE_128 = 3 };
enum { CU_MAP_PROMOTE_128 = 2 };

typedef struct cu_kernel_node {
    cu_function function;
    unsigned grid[3], block[3], shared;
    void **parameter, **extra;
    void *kernel;
    cu_context context;
} cu_kernel_node;
typedef struct cu_memset_node {
    cu_address to;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
} cu_memset_node;

typedef struct cu_api {
    void *library;
    int version; /* 12020 is 12.2 */
    cu_status (*init)(unsigned flags);
    cu_status (*driver_version)(int *version);
    cu_status (*error_name)(cu_status s, const char **name);
    cu_status (*error_text)(cu_status s, const char **what);
    cu_status (*device_count)(int *n);
    cu_status (*device_get)(int *device, int number);
    cu_status (*device_name)(char *name, int size, int device);
    cu_status (*device_memory)(size_t *bytes, int device);
    cu_status (*device_attribute)(int *value, int attribute, int device);
    cu_status (*context_retain)(cu_context *c, int device);
    cu_status (*context_release)(int device);
    cu_status (*context_use)(cu_context c);
    cu_status (*module_load)(cu_module *m, const void *image, unsigned n, int *option, void **value);
    cu_status (*module_unload)(cu_module m);
    cu_status (*module_function)(cu_function *f, cu_module m, const char *name);
    cu_status (*function_attribute)(int *value, int attribute, cu_function f);
    cu_status (*function_set)(cu_function f, int attribute, int value);
    cu_status (*memory_free_bytes)(size_t *unused, size_t *all);
    cu_status (*alloc)(cu_address *at, size_t bytes);
    cu_status (*release)(cu_address at);
    cu_status (*pinned_alloc)(void **at, size_t bytes, unsigned flags);
    cu_status (*pinned_release)(void *at);
    cu_status (*to_device)(cu_address to, const void *from, size_t bytes, cu_stream s);
    cu_status (*to_host)(void *to, cu_address from, size_t bytes, cu_stream s);
    cu_status (*set)(cu_address to, unsigned value, size_t words, cu_stream s);
    cu_status (*set_bytes)(cu_address to, unsigned char value, size_t bytes, cu_stream s);
    cu_status (*within)(cu_address to, cu_address from, size_t bytes, cu_stream s);
    cu_status (*between)(cu_address to, cu_context there, cu_address from, cu_context here, size_t bytes, cu_stream s);
    cu_status (*stream_make)(cu_stream *s, unsigned flags);
    cu_status (*stream_free)(cu_stream s);
    cu_status (*stream_wait)(cu_stream s);
    cu_status (*stream_record)(cu_stream s, int mode);
    cu_status (*stream_recorded)(cu_stream s, cu_graph *g);
    cu_status (*event_make)(cu_event *v, unsigned flags);
    cu_status (*event_free)(cu_event v);
    cu_status (*event_record)(cu_event v, cu_stream s);
    cu_status (*event_wait)(cu_event v);
    cu_status (*event_between)(float *milliseconds, cu_event from, cu_event to);
    cu_status (*launch)(cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, cu_stream s, void **parameter, void **extra);
    cu_status (*graph_make)(cu_graph *g, unsigned flags);
    cu_status (*graph_free)(cu_graph g);
    cu_status (*graph_kernel)(cu_node *out, cu_graph g, const cu_node *after, size_t n, const cu_kernel_node *k);
    cu_status (*graph_set)(cu_node *out, cu_graph g, const cu_node *after, size_t n, const cu_memset_node *k,
                           cu_context c);
    cu_status (*graph_build)(cu_exec *out, cu_graph g, unsigned long long flags);
    cu_status (*graph_launch)(cu_exec x, cu_stream s);
    cu_status (*exec_free)(cu_exec x);
    /* NULL in drivers that do not have it */
    cu_status (*map_tiled)(cu_map *out, int type, unsigned dims, cu_address at, const uint64_t *dim,
                           const uint64_t *stride, const uint32_t *box, const uint32_t *step, int interleave,
                           int swizzle, int promotion, int fill);
} cu_api;

/* Finds the functions in an open library. NULL, or the name of the first that is not there. */
enum { CU_LEAST = 12000 }; /* version 12.0, as the driver says it */
const char *cu_functions(cu_api *a);
#endif
