/* cuda_driver.h - a device of NVIDIA by CUDA's driver: what drives programs there (device_driver.h). A program's
 * kernels are one graph, in which each waits for those whose results it needs, and for no others; trips of loops are in
 * one, too, where the host need not hear of them. Emitted programs carry this file. */
#ifndef CU_DRIVER_H
#define CU_DRIVER_H
#include "backends/cuda/runtime/cuda_abi.h"
#include "backends/device/runtime/device_driver.h"

typedef struct cuda_host {
    device d;
    cu_api cu;
    int number, id; /* as people count them; the driver's handle */
    cu_context context;
    cu_stream stream;
    char name[96];
    int major, minor;      /* compute capability */
    cu_address *memory;    /* by piece */
    cu_event copied[2];    /* by part: the copy from it, or to it, is done */
    cu_function *function; /* by kernel; of scans, copies and parts of other launches NULL */
    cu_exec graph;         /* of all kernels; NULL: the host walks the trips of scans */
} cuda_host;
extern const device_driver cuda_driver;

int cuda_did(cuda_host *h, cu_status s, const char *doing); /* 0: it did not, and why is said */
int cuda_fact(const cuda_host *h, cu_attribute which);      /* 0: the driver does not know it */
/* One kernel of an image; s: the driver's answer, where somebody asks */
int cuda_load(cuda_host *h, const char *image, const char *name, cu_module *m, cu_function *f, cu_status *s);
int cuda_take_function(cuda_host *h, int k, cu_function f); /* it is that of kernel k, of which a block fits */
#endif
