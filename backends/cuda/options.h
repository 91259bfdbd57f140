/* options.h - what NVRTC is told beside a kernel's text, and the key of what it makes of both. Options are the
 * caller's; those that the setting adds lie in it, so that it outlives them, and they are not copied. */
#pragma once
#include "backends/cuda/settings.h"

typedef struct nvrtc_options {
    const char *of[9 + CUDA_OPTIONS];
    int n;
    char arch[64];
} nvrtc_options;
/* For arch, "sm_90a" or "compute_80": those that kernels need, extra, those that are asked for. */
void nvrtc_options_set(nvrtc_options *o, const nvrtc_api *rtc, const cuda_settings *asked, const char *arch,
                       const char *extra);
digest nvrtc_key(const nvrtc_options *o, const nvrtc_api *rtc, const char *what, const char *source);
