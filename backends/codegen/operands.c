/* operands.c - what values a kernel without text is given; how many any is, against what the target's kernels take. */
#include "backends/codegen/codegen.h"

#include <stdlib.h>

static bool loaded_before(const kernel *k, int which, int load)
{
    const node *n = k->stage[which].load[load]->from;
    for (int i = 0; i <= which; i++)
        for (int j = 0; j < (i < which ? k->stage[i].n_load : load); j++)
            if (k->stage[i].load[j]->from == n)
                return true;
    return false;
}

bool kernel_operands_fit(const target *on, const kernel *k, err *e)
{
    int n = 0;
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        n += !s->scratch;
        for (int j = 0; j < s->n_load; j++)
            n += kernel_stage(k, s->load[j]->from) < 0 && !loaded_before(k, i, j);
    }
    return !on->operands || n <= on->operands ||
           err_set(e, TS_UNSUPPORTED, "%s: a kernel of %d operands, %s takes %d", k->op, n, on->model, on->operands);
}

bool kernel_copies(const plan *p, const kernel *k, int64_t *from)
{
    const expr *x = k->stage->value;
    const bool copies = x->kind == X_ROUTINE && x->run->copies && !p->reference;
    *from = copies ? x->run->parameter[0] : 0;
    return copies;
}

int text_operands(const kernel_text *k)
{
    return k->n_operand + k->needs_room;
}

void call_operands(const plan *p, const kernel *k, kernel_text *out)
{
    const stage *s = k->stage;
    const expr *x = s->value;
    const int n_in = k->scan ? s->n_load : x->n; /* a scan's are told by load */
    *out = (kernel_text){.operand = calloc((size_t)n_in + 1, sizeof *out->operand)};
    MUST(out->operand);
    for (int i = 0; i < n_in; i++) {
        int load = k->scan ? i : 0;
        while (!k->scan && !x_same(s->load[load], x->arg[i]))
            load++;
        const node *n = s->load[load]->from;
        const int entry = s->leaf ? s->leaf[load] : -1;
        const layout *y = entry >= 0 ? &p->leaf[entry].layout : &p->buffer[n->id].layout;
        MUST(layout_is_rows(y, &n->type));
        out->operand[out->n_operand++] = (operand){.node = n, .layout = y, .leaf = entry};
    }
    out->needs_room = k->scan != NULL, out->sizes = k->scan ? k->scan->counted.by : 0;
    const layout *y = &p->buffer[s->node->id].layout;
    MUST(layout_is_rows(y, &s->node->type));
    out->operand[out->n_operand++] = (operand){.node = s->node, .layout = y, .leaf = -1, .written = true};
}
