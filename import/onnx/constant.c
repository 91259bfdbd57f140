/* constant.c - Constant nodes with a tensor are one more way in which this format holds tensors; here they become what
 * the others are, so that a value means the same wherever an exporter put it. */
#include "import/onnx/tensor.h"

#include <string.h>

static bool is_held(const step *s)
{
    return !strcmp(s->type, "Constant") && !*s->domain && !s->refused && s->n_in == 0 && s->n_out == 1 && *s->out[0] &&
           s->n_attr == 1 && s->attr[0].kind == 't';
}

void onnx_hold_constants(arena *mem, body *b)
{
    int n = 0, kept = 0;
    for (int i = 0; i < b->n_step; i++)
        n += is_held(&b->step[i]);
    if (n == 0)
        return;
    held *all = arena_array(mem, (size_t)b->n_held + (size_t)n, sizeof *all);
    if (b->n_held > 0)
        memcpy(all, b->held, (size_t)b->n_held * sizeof *all);
    b->held = all;
    for (int i = 0; i < b->n_step; i++)
        if (is_held(&b->step[i]))
            b->held[b->n_held++] = (held){.name = b->step[i].out[0], .value = *b->step[i].tensor[0]};
        else
            b->step[kept++] = b->step[i];
    b->n_step = kept;
}
