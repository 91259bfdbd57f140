/* nvrtc.h - the compiler of CUDA C: the part of its interface that is used here. The library is opened when somebody
 * compiles, belongs to who opened it, and is closed by nvrtc_close. */
#pragma once
#include "graph/base/base.h"

typedef struct nvrtc_api {
    void *library;
    int version; /* 13000 is 13.0 */
    int (*version_of)(int *major, int *minor);
    int (*n_arch)(int *n);
    int (*archs)(int *arch);
    const char *(*error_text)(int status);
    int (*program_make)(void **p, const char *text, const char *name, int n, const char *const *header,
                        const char *const *include);
    int (*program_free)(void **p);
    int (*compile)(void *p, int n, const char *const *option);
    int (*ptx_size)(void *p, size_t *n);
    int (*ptx)(void *p, char *out);
    int (*cubin_size)(void *p, size_t *n);
    int (*cubin)(void *p, char *out);
    int (*log_size)(void *p, size_t *n);
    int (*log)(void *p, char *out);
} nvrtc_api;

/* path NULL: where systems have it. False: TS_DEVICE, and nothing to close. */
bool nvrtc_open(nvrtc_api *a, const char *path, err *e);
void nvrtc_close(nvrtc_api *a);
