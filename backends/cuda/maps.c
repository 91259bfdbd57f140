/* maps.c - maps of tensors, as the driver encodes them. */
#include "backends/cuda/maps.h"

bool map_make(const device *d, const box *b, cu_address lies, cu_map *out, err *e)
{
    uint64_t dim[BOX_DIMS], stride[BOX_DIMS];
    uint32_t count[BOX_DIMS], step[BOX_DIMS];
    for (int i = 0; i < b->n; i++) {
        dim[i] = (uint64_t)b->dim[i].extent, count[i] = (uint32_t)b->dim[i].count, step[i] = 1;
        if (i)
            stride[i - 1] = (uint64_t)b->dim[i].stride;
    }
    const int swizzle = b->row == 128 ? CU_MAP_SWIZZLE_128 : b->row == 64 ? CU_MAP_SWIZZLE_64 : b->row == 32;
    if (!d->cu.map_tiled) {
        err_set(e, TS_DEVICE,
                "cuda:%d (%s): slices come as boxes of tensors, and the driver has no function "
                "cuTensorMapEncodeTiled",
                d->number, d->name);
        return err_hint(e, "install a newer driver, or plan for the device that is here");
    }
    return device_did(d,
                      d->cu.map_tiled(out, b->size == 2 ? CU_MAP_U16 : CU_MAP_U32, (unsigned)b->n,
                                      lies + (cu_address)b->first, dim, stride, count, step, 0, swizzle,
                                      CU_MAP_PROMOTE_128, 0),
                      "describing a tensor", e);
}
