/* rig.h - the stand-in for CUDA's driver, named by the environment as a person would, and kernels by hand. Images are
 * the caller's; what a call names in the environment stays for the process. */
#ifndef TEST_CUDA_RIG_H
#define TEST_CUDA_RIG_H
#include "backends/cache/settings.h"
#include "backends/cuda/images.h"

/* Names the stand-in of the build; 0, or what main is to return when it is not there, or NVRTC is not. */
int rig_cuda(void);
/* One kernel of that name, compiled and loaded. */
bool rig_load(cuda_host *d, const char *name, const char *source, images *out, err *e);
/* What f gives in a process of its own: the stand-in writes its counts (SIMCUDA_COUNTS) when one ends. */
bool rig_apart(bool (*f)(void *user), void *user);
#endif
