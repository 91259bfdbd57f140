#include "tests/fuzz/mutate.h"
#include "graph/ir/op.h"

#include <string.h>

size_t dice_below(dice *d, size_t n)
{
    return n ? (size_t)(random_bits(d->seed, d->turn++) % n) : 0;
}

const char *mutate_operator(dice *d)
{
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++) { /* counted, then chosen */
        size_t left = pass ? dice_below(d, n) : 0;
        for (const op *o = op_next(NULL); o; o = op_next(o))
            for (const onnx_rule *r = o->rule; r && r->type; r++) {
                if (pass && !left--)
                    return r->type;
                n += !pass;
            }
    }
    return "Identity";
}

static size_t put(const text *t, uint8_t *out, size_t most)
{
    const size_t n = t->length < most ? t->length : most;
    memcpy(out, text_str(t), n);
    return n;
}

size_t mutate(mutation *how, uint8_t *data, size_t n, size_t most, unsigned seed)
{
    dice d = {seed, 0};
    text out = {0};
    if ((!LLVMFuzzerMutate || dice_below(&d, 2)) && how(&d, (piece){data, n}, (piece){0}, &out))
        n = put(&out, data, most);
    else if (LLVMFuzzerMutate)
        n = LLVMFuzzerMutate(data, n, most);
    text_free(&out);
    return n;
}

size_t mutate_cross(mutation *how, const piece in[2], uint8_t *out, size_t most, unsigned seed)
{
    dice d = {seed, 0};
    text t = {0};
    if (!how(&d, in[0], in[1], &t))
        text_bytes(&t, (const char *)in[0].at, in[0].n);
    const size_t n = put(&t, out, most);
    text_free(&t);
    return n;
}
