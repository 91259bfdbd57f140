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

/* What calls a function of C is done elsewhere. */
static bool takes_kernel(const target *on, const kernel *k, err *e)
{
    if (k->stage->node->trip) /* what it is made of is asked for by itself */
        return true;
    for (int i = 0; i < k->n_stage; i++)
        if (k->stage[i].value->kind == X_ROUTINE && !k->stage[i].value->run->copies)
            return err_set(e, TS_UNSUPPORTED, "%s is a routine of C, which cannot be written in cuda", k->op);
    return kernel_operands_fit(on, k, e);
}

static const presence present = {.usable = cuda_usable, .runs = cuda_runs};
static const by_kernel kernels = {.each = cuda_each, .time = cuda_time};
static const by_span spans = {.span = cuda_span, .put = cuda_put, .fetch = cuda_fetch, .wait = cuda_wait};

const backend backend_cuda = {
    .name = "cuda",
    .doc = "CUDA C, one kernel for each of the plan's, compiled by NVRTC and run as one graph on a device of NVIDIA.",
    .kinds = "gpu",
    .numbered = true,
    .described = "gpu:h100",
    .as_written = true, /* what algebraic alternatives cost is known of processors alone */
    .in_blocks = true,
    .varies = true,
    .target = cuda_target,
    .present = &present,
    .takes = takes,
    .takes_kernel = takes_kernel,
    .build = cuda_build,
    .assemble = cuda_assemble,
    .run = cuda_run,
    .kernels = &kernels,
    .at = cuda_at,
    .get = cuda_get,
    .emit = cuda_emit,
    .spans = &spans,
    .drop = cuda_free,
};
