/* settings.h - the environment variables that back ends listen to; settings.c is the only file here that reads
 * them. The strings belong to the environment and stay valid while the program does not change it. */
#ifndef TS_C_SETTINGS_H
#define TS_C_SETTINGS_H
#include <stdbool.h>

typedef struct settings {
    const char *compiler; /* TESSERA_CC: name or path of the C compiler; NULL when unset */
    const char *opencl;   /* TESSERA_OPENCL: options for OpenCL's compilers beside the usual; NULL when unset */
    const char *cuda;     /* TESSERA_CUDA_DRIVER: path of the driver library of CUDA; NULL when unset */
    const char *nvrtc;    /* TESSERA_NVRTC: path of CUDA's compiler; NULL when unset */
    bool ptx;             /* TESSERA_CUDA_PTX is 1: kernels are left to the driver as PTX */
    const char *path;     /* PATH, where programs are looked for; "" when unset */
    const char *cache;    /* XDG_CACHE_HOME when absolute, else NULL */
    const char *home;     /* HOME when absolute, else NULL */
    const char *temp;     /* TMPDIR when absolute, else "/tmp" */
} settings;

settings settings_read(void);
#endif
