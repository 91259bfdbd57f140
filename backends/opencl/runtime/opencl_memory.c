/* opencl_memory.c - arguments of kernels and small work on a program's memory. */
#include "backends/opencl/runtime/opencl_memory.h"

static cl_memory piece_of(const opencl_memory *m, int piece)
{
    return !piece                           ? m->arena
           : piece <= m->leaves             ? m->leaf[piece - 1]
           : piece <= m->leaves + m->inputs ? m->input[piece - 1 - m->leaves]
                                            : m->counts;
}

int32_t opencl_arguments(const opencl_memory *m, cl_kernel f, int operands, const device_at *operand, int number)
{
    const int32_t told = number;
    uint32_t n = 0;
    int32_t answer = CL_SUCCESS;
    for (int i = 0; i < operands && answer == CL_SUCCESS; i++) {
        const cl_memory piece = piece_of(m, operand[i].piece);
        const uint64_t offset = (uint64_t)operand[i].at;
        answer = m->cl->argument(f, n++, sizeof piece, &piece);
        if (answer == CL_SUCCESS)
            answer = m->cl->argument(f, n++, sizeof offset, &offset);
    }
    if (answer == CL_SUCCESS)
        answer = m->cl->argument(f, n++, sizeof m->spill, &m->spill);
    if (answer == CL_SUCCESS)
        answer = m->cl->argument(f, n++, sizeof m->fault, &m->fault);
    return answer == CL_SUCCESS ? m->cl->argument(f, n, sizeof told, &told) : answer;
}

int32_t opencl_extents(const opencl_memory *m, cl_kernel f, int operands, uint32_t mentions, const int64_t *extent)
{
    uint32_t n = 2 * (uint32_t)operands + 3;
    int32_t answer = CL_SUCCESS;
    for (int v = 0; mentions >> v && answer == CL_SUCCESS; v++)
        if (mentions >> v & 1)
            answer = m->cl->argument(f, n++, sizeof extent[v], &extent[v]);
    return answer;
}

int32_t opencl_copy(const opencl_memory *m, cl_queue q, device_at to, device_at from, long bytes)
{
    return bytes ? m->cl->copy(q, piece_of(m, from.piece), piece_of(m, to.piece), (size_t)from.at, (size_t)to.at,
                               (size_t)bytes, 0, NULL, NULL)
                 : CL_SUCCESS;
}

static int32_t fill(const opencl_memory *m, cl_queue q, device_at at, const void *pattern, size_t size, size_t bytes)
{
    return m->cl->fill(q, piece_of(m, at.piece), pattern, size, (size_t)at.at, bytes, 0, NULL, NULL);
}

int32_t opencl_clear(const opencl_memory *m, cl_queue q, device_at at, long bytes)
{
    const char none = 0;
    return fill(m, q, at, &none, 1, (size_t)bytes);
}

int32_t opencl_count(const opencl_memory *m, cl_queue q, device_at at, long trip)
{
    const int64_t number = trip;
    return fill(m, q, at, &number, sizeof number, sizeof number);
}

int32_t opencl_truth(const opencl_memory *m, cl_queue q, device_at at, int *truth)
{
    unsigned char byte = 0;
    const int32_t answer = m->cl->read(q, piece_of(m, at.piece), CL_TRUE, (size_t)at.at, 1, &byte, 0, NULL, NULL);
    *truth = byte != 0;
    return answer;
}
