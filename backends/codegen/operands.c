/* operands.c - how many values a kernel is given, against what the target's kernels take. */
#include "backends/codegen/codegen.h"

static bool made_here(const kernel *k, const node *n)
{
    for (int i = 0; i < k->n_stage; i++)
        if (k->stage[i].node == n)
            return true;
    return false;
}

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
            n += !made_here(k, s->load[j]->from) && !loaded_before(k, i, j);
    }
    return !on->operands || n <= on->operands ||
           err_set(e, TS_UNSUPPORTED, "%s: a kernel of %d operands, %s takes %d", k->op, n, on->model, on->operands);
}
