/* inputs.c - inputs copied or lent. */
#include "backends/opencl/inputs.h"

#include <stdlib.h>

/* From here on a copy takes longer than what it takes to lend. (PoCL 3.1, two cores: to map and to unmap 10 us, 64 KiB
 * copied at 6 GB/s 11 us.) */
enum { LENT_LEAST = 64 << 10 };

static size_t bytes_of(const ocl_inputs *s, int i)
{
    return (size_t)type_bytes(&s->p->input[i]->type);
}

static bool is_lent(const ocl_inputs *s, int i)
{
    return !s->pieces->on->device.apart && bytes_of(s, i) >= LENT_LEAST;
}

bool ocl_inputs_make(ocl_inputs *s, const plan *p, ocl_pinned *pieces, err *e)
{
    const size_t n = (size_t)p->n_input + 1;
    bool ok = true;
    *s = (ocl_inputs){p, pieces, calloc(n, sizeof(cl_memory)), calloc(n, sizeof(void *)), calloc(n, 1), calloc(n, 1)};
    MUST(s->memory && s->lent && s->mapped && s->written);
    for (int i = 0; ok && i < p->n_input; i++)
        ok = is_lent(s, i) || ocl_memory_take(pieces->on, &s->memory[i], bytes_of(s, i), "an input", e);
    return ok;
}

void ocl_inputs_free(ocl_inputs *s)
{
    for (int i = 0; s->memory && i < s->p->n_input; i++)
        if (s->memory[i])
            s->pieces->on->cl.drop_memory(s->memory[i]);
    free(s->memory), free(s->lent), free(s->mapped), free(s->written);
    *s = (ocl_inputs){0};
}

/* ---- lending ---- */
static bool did(int32_t answer, err *e)
{
    return answer == CL_SUCCESS || opencl_fail(answer, "lending an input", e);
}

static bool unmap(ocl_inputs *s, int i, err *e)
{
    const ocl_host *h = s->pieces->on;
    const bool mapped = s->mapped[i];
    s->mapped[i] = false;
    return !mapped || did(h->cl.unmap(h->queue, s->memory[i], s->lent[i], 0, NULL, NULL), e);
}

static bool lend(ocl_inputs *s, int i, void *at, bool *moved, err *e)
{
    const ocl_host *h = s->pieces->on;
    int32_t answer = CL_SUCCESS;
    if (!unmap(s, i, e))
        return false;
    if (s->lent[i] == at)
        return true;
    if (s->memory[i])
        h->cl.drop_memory(s->memory[i]);
    s->memory[i] = h->cl.memory(h->context, CL_READ_WRITE | CL_THE_HOSTS, bytes_of(s, i), at, &answer);
    s->lent[i] = at, *moved = true;
    return s->memory[i] || did(answer, e);
}

/* Does not wait: the next call does. */
static bool give_back(ocl_inputs *s, int i, err *e)
{
    const ocl_host *h = s->pieces->on;
    int32_t answer = CL_SUCCESS;
    s->mapped[i] = h->cl.map(h->queue, s->memory[i], CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes_of(s, i), 0, NULL,
                             NULL, &answer) != NULL;
    return did(answer, e);
}

/* ---- runs ---- */
bool ocl_inputs_send(ocl_inputs *s, void *const *input, bool *moved, err *e)
{
    bool ok = true;
    *moved = false;
    for (int i = 0; ok && i < s->p->n_input; i++)
        ok = is_lent(s, i)
                 ? lend(s, i, input[i], moved, e)
                 : ocl_give(s->pieces, (ocl_place){s->memory[i], 0}, input[i], bytes_of(s, i), "sending an input", e);
    return ok;
}

bool ocl_inputs_take(ocl_inputs *s, void *const *input, err *e)
{
    bool ok = true, lent = false;
    for (int i = 0; ok && i < s->p->n_input; i++)
        if (is_lent(s, i))
            lent = true, ok = s->mapped[i] || give_back(s, i, e);
        else if (s->written[i])
            ok = ocl_take(s->pieces, input[i], (ocl_place){s->memory[i], 0}, bytes_of(s, i), "reading a state", e);
    return ok && (!lent || ocl_settle(s->pieces->on, e));
}
