/* settings.h - what TESSERA_CUDA says: words with commas between, of which the first one of a kind counts, and every
 * option. A plain value, asked anew by who opens a library; texts lie in it, so it is not copied. */
#pragma once
#include "backends/cuda/nvrtc.h"

enum { CUDA_OPTIONS = 8 };

typedef struct cuda_settings {
    /* "driver=PATH", "nvrtc=PATH", "nccl=PATH": libraries, names or paths; NULL: the system's */
    const char *driver, *nvrtc, *nccl;
    bool ptx;                         /* "ptx": kernels are left to the driver as PTX, no machine code is made */
    const char *option[CUDA_OPTIONS]; /* "-OPTION": what NVRTC is told besides, as its version knows it */
    int n_option;
    char words[8192];
} cuda_settings;
bool cuda_settings_read(cuda_settings *s, err *e);
bool cuda_nvrtc(nvrtc_api *a, err *e); /* nvrtc_open of the one that is asked for */
