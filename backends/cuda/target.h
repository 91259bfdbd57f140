/* target.h - the device at hand as a target, or one that a text describes. A target is of the arena given, and keeps no
 * device open: who opens one by cuda_device closes it (device_close). */
#ifndef TS_CUDA_TARGET_H
#define TS_CUDA_TARGET_H
#include "backends/cuda/device.h"
#include "backends/gpu/gpu.h"

bool cuda_device(device *d, int number, err *e); /* opened, with the settings of the environment */
int cuda_number(const target *t);                /* of the device that plans for it run on */
/* Without a text and without a device it is a card of this name, for which plans are made and explained. */
#define CUDA_USUAL "gpu:a100"
const target *cuda_target(arena *mem, const machine_options *asked, err *e);
bool cuda_runs(const target *t, err *e);
bool cuda_usable(text *why);
#endif
