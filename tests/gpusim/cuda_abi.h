/* cuda_abi.h - the part of the driver API's binary interface that the stand-in implements.
 * The tests are compiled against the toolkit's own cuda.h, so a difference shows there. */
#ifndef CUDA_ABI_H
#define CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct sim_context *CUcontext;
typedef struct sim_module *CUmodule;
typedef struct sim_function *CUfunction;
typedef struct sim_stream *CUstream;
typedef struct sim_event *CUevent;
typedef struct sim_graph *CUgraph;
typedef struct sim_node *CUgraphNode;
typedef struct sim_graph *CUgraphExec;
typedef void (*CUhostFn)(void *);
typedef void (*CUstreamCallback)(CUstream, CUresult, void *);

enum {
    OK = 0,
    E_VALUE = 1,
    E_MEMORY = 2,
    E_NOT_INITIALIZED = 3,
    E_NO_DEVICE = 100,
    E_DEVICE = 101,
    E_CONTEXT = 201,
    E_NO_BINARY = 209,
    E_PTX = 218,
    E_HANDLE = 400,
    E_NOT_FOUND = 500,
    E_NOT_READY = 600,
    E_ILLEGAL_ADDRESS = 700,
    E_RESOURCES = 701,
    E_PRIMARY_ACTIVE = 708,
    E_ASSERT = 710,
    E_HOST_REGISTERED = 712,
    E_HOST_NOT_REGISTERED = 713,
    E_ILLEGAL_INSTRUCTION = 715,
    E_MISALIGNED = 716,
    E_LAUNCH = 719,
    E_NOT_SUPPORTED = 801,
    E_CAPTURE_UNSUPPORTED = 900,
    E_CAPTURE_INVALIDATED = 901,
    E_CAPTURE_UNMATCHED = 903,
    E_CAPTURE_UNJOINED = 904,
    E_CAPTURE_IMPLICIT = 906
};

typedef struct {
    CUfunction func;
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams, **extra;
    void *kern;
    CUcontext ctx;
} kernel_node_parameters;

typedef struct {
    CUdeviceptr dst;
    size_t pitch;
    unsigned value, elementSize;
    size_t width, height;
} memset_node_parameters;

typedef struct {
    size_t srcX, srcY, srcZ, srcLOD;
    int srcType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray, *reserved0;
    size_t srcPitch, srcHeight;
    size_t dstX, dstY, dstZ, dstLOD;
    int dstType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray, *reserved1;
    size_t dstPitch, dstHeight;
    size_t width, height, depth;
} memcpy_3d;

typedef struct {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    void *attrs;
    unsigned numAttrs;
} launch_config;

typedef struct {
    unsigned long long flags;
    CUstream hUploadStream;
    CUgraphNode hErrNode_out;
    int result_out;
} graph_instantiate_parameters;
#endif
