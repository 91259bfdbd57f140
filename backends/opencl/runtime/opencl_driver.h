/* opencl_driver.h - a device of OpenCL: what drives programs there (device_driver.h). A queue for each stream of
 * kernels keeps the order of these, and events that between queues; all else is in the first one. Emitted programs
 * carry this file. */
#ifndef CL_DRIVER_H
#define CL_DRIVER_H
#include "backends/device/runtime/device_driver.h"
#include "backends/opencl/runtime/opencl_abi.h"

typedef struct opencl_host {
    device d;
    opencl cl;
    cl_device id;     /* the device, or the part of it that is to run */
    int part, shared; /* its memory is the host's */
    cl_platform platform;
    char name[64]; /* as its driver says it */
    cl_context context;
    cl_queue queue;                  /* of what is begun next, */
    cl_queue stream[DEVICE_STREAMS]; /* of these */
    /* By kernel, while these take turns: the last command of it; [kernels]: of what was before; NULL */
    cl_event *ended;
    int now;                        /* whose turn it is */
    int latest[DEVICE_STREAMS];     /* by stream: the last kernel that had a turn there; -1: none */
    cl_event after[DEVICE_STREAMS]; /* what the next command waits for */
    uint32_t n_after;
    cl_memory *memory; /* by piece */
    void **lent;       /* by piece: whose memory that is; NULL: the program's own */
    char *mapped;      /* by piece: of what is lent it is the host's turn */
    cl_memory staging;
    cl_event copied[2];  /* by part: the copy from it, or to it */
    cl_program *program; /* by kernel: what was built of its file, once */
    cl_kernel *kernel;   /* by number; of scans, copies and parts of other launches NULL */
    char *told;          /* by kernel: it has its arguments */
    cl_event *watch;     /* of the first launch and of the last, where somebody asks; else NULL */
} opencl_host;
extern const device_driver opencl_driver;

/* The loader, and the device of that number, without a queue; opencl_driver.close ends that, too. */
int opencl_find(opencl_host *h, const device_where *w);
int opencl_did(opencl_host *h, int32_t answer, const char *doing); /* 0: it did not, and why is said */
int opencl_kernel(opencl_host *h, int k, cl_program p);            /* the function of kernel k is there */
void opencl_drop_queue(const opencl *cl, cl_queue q);
#endif
