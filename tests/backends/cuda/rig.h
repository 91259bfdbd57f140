/* rig.h - the stand-in for CUDA's driver, named by the environment as a person would, and kernels by hand. */
#ifndef TEST_CUDA_RIG_H
#define TEST_CUDA_RIG_H
#include "backends/cuda/images.h"
#include "backends/cuda/launches.h"
#include "backends/store/settings.h"

/* Names the stand-in of the build; 0, or what main is to return when it is not there, or NVRTC is not. */
int rig_begin(void);
/* One kernel of that name, compiled and loaded. */
bool rig_load(const device *d, const char *name, const char *source, images *out, err *e);
#endif
