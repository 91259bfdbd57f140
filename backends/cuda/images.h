/* images.h - kernels as CUDA C become what the driver loads. Each text is compiled by NVRTC for the device at hand, and
 * kept in the cache under a key of everything that matters: Tessera's version, the text, the compiler's version, its
 * options. Those that are not there are compiled in parallel. Devices that the compiler knows get machine code; newer
 * ones, and those whose driver takes none, get PTX, which the driver compiles. Modules are of images until they are
 * freed; a request is borrowed for the call. */
#pragma once
#include "backends/cache/settings.h"
#include "backends/cuda/runtime/cuda_driver.h"
#include "graph/base/base.h"

typedef struct image_request {
    cuda_host *on;
    const settings *env;
    int n;
    const char *const *text;                                             /* of units that include nothing */
    const char *const *name;                                             /* of the one kernel of each */
    const char *cache_folder;                                            /* as in ts_options */
    void (*progress)(void *user, const char *what, int done, int total); /* may be NULL */
    void *user;
} image_request;

typedef struct image_report {
    int compiled, cached;
    double seconds;
    char arch[32]; /* "sm_90a", "compute_80" */
    int nvrtc;     /* its version: 13000 is 13.0 */
    text notes;    /* of the cache: a line each */
} image_report;
void image_report_free(image_report *r);

typedef struct images {
    int n;
    cu_module *module;
    cu_function *function;
} images;
/* report is set, also on failure. False: m is empty, e says TS_DEVICE, or TS_FILES for an unsafe cache. */
bool images_load(images *m, const image_request *r, image_report *report, err *e);
void images_free(images *m, const cuda_host *on);

/* What the compiler is told to compile for: "sm_86" where it knows that device (machine code, unless ptx), else
 * "compute_NN" for the newest that is not newer. arch: what it knows, as 86; empty: it knows none so old. */
void image_arch(char out[32], int major, int minor, const int *arch, int n, bool ptx);
