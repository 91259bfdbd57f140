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
    b->held = arena_joined(mem, b->held, b->n_held, NULL, n, sizeof *b->held);
    for (int i = 0; i < b->n_step; i++)
        if (is_held(&b->step[i]))
            b->held[b->n_held++] = (held){.name = b->step[i].out[0], .value = *b->step[i].tensor[0]};
        else
            b->step[kept++] = b->step[i];
    b->n_step = kept;
}

/* ---- lists of texts ---- */
void onnx_text_places(arena *mem, const Onnx__Tensor *t, ts_array *out)
{
    if (t->data_type != ONNX_STRING || t->n_dims != 1 || t->dims[0] < 1 || (uint64_t)t->dims[0] != t->n_string_data)
        return;
    int64_t *place = arena_array(mem, t->n_string_data, sizeof *place);
    for (size_t i = 0; i < t->n_string_data; i++)
        place[i] = (int64_t)i;
    *out = (ts_array){.dtype = TS_I64, .rank = 1, .dim = {t->dims[0]}, .data = place};
}

/* Whether nobody looks at the texts: all that is done with them is to take some of the list. */
static bool only_taken(const body *b, const char *name)
{
    bool only = true;
    for (int i = 0; i < b->n_step && only; i++) {
        const step *s = &b->step[i];
        const bool takes = !strcmp(s->type, "ArrayFeatureExtractor") && !strcmp(s->domain, "ai.onnx.ml");
        only = s->n_body == 0; /* a graph inside may read it */
        for (int k = 0; k < s->n_in; k++)
            only = only && (strcmp(s->in[k], name) || (takes && k == 0));
    }
    return only;
}

void onnx_hold_texts(body *b)
{
    for (int i = 0; i < b->n_held; i++)
        if (b->held[i].refused && b->held[i].value.data && only_taken(b, b->held[i].name))
            b->held[i].refused = NULL;
}
