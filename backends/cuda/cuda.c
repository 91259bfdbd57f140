/* cuda.c - the CUDA back end: kernels in CUDA C, compiled by NVRTC, run as one graph on a device of NVIDIA. */
#include "backends/cuda/dialect.h"
#include "backends/cuda/program.h"
#include "backends/cuda/target.h"

static bool takes(const plan *p, err *e)
{
    cuda_texts t;
    const bool ok = cuda_write(p, &t, e);
    if (ok)
        cuda_texts_free(&t);
    return ok;
}

const backend backend_cuda = {
    .name = "cuda",
    .doc = "CUDA C, one kernel for each of the plan's, compiled by NVRTC and run as one graph on a device of NVIDIA.",
    .as_written = true, /* what alternatives cost is known of processors alone */
    .target = cuda_target,
    .runs = cuda_runs,
    .usable = cuda_usable,
    .takes = takes,
    .build = cuda_build,
    .run = cuda_run,
    .each = cuda_each,
    .at = cuda_at,
    .get = cuda_get,
    .emit = cuda_emit,
    .drop = cuda_drop,
};
