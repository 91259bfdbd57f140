/* maps.h - what tells a device of a tensor of which it copies boxes by itself: kernels take it as it is.
 * A map is a value without memory of its own; it holds as long as the tensor lies where it lay. */
#ifndef TS_CUDA_MAPS_H
#define TS_CUDA_MAPS_H
#include "backends/cuda/device.h"
#include "schedule/nest/box.h"

/* Of the tensor in the operand that lies there. False: the driver has no such maps, or refuses it. */
bool map_make(const device *d, const box *b, cu_address lies, cu_map *out, err *e);
#endif
