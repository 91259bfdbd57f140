/* target.h - the device at hand as a target, or one that a text describes. A target is of the arena given, and keeps no
 * device open: who opens one by cuda_device closes it by its driver's record. */
#pragma once
#include "backends/cuda/runtime/cuda_driver.h"
#include "backends/gpu/gpu.h"

/* Opened, with the settings of the environment; d: zeroed. False: nothing to close */
bool cuda_device(cuda_host *d, int number, err *e);
int cuda_number(const target *t); /* of the device that plans for it run on */
/* Without a text and without a device it is a card of this name, for which plans are made and explained. */
#define CUDA_USUAL "gpu:a100"
const target *cuda_target(arena *mem, const machine_options *asked, err *e);
bool cuda_runs(const target *t, err *e);
bool cuda_usable(text *why);
int cuda_alike(void); /* presence.alike */
