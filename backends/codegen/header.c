/* header.c - what stands above a kernel for who reads it: the operation, its axes, the loops, what it works and moves.
 * Equal kernels share one unit, so no name of a model, and nothing that differs between them, is said. */
#include "backends/codegen/emit.h"

static void add_axes(text *t, const stage *s)
{
    const char *folds = "; sums up";
    for (int a = 0; a < s->n_axis; a++) {
        const bool folded = s->folds >> a & 1;
        text_add(t, "%s %s %lld", folded ? folds : a ? "," : "", s->letter[a], (long long)s->extent[a]);
        if (folded)
            folds = ",";
    }
}

static void add_type(text *t, const node *n, const char *before)
{
    text_add(t, "%s", before);
    type_print(t, &n->type);
}

static void add_operands(text *t, const emitter *m)
{
    bool any = false;
    text_add(t, " *");
    for (int i = 0; i < m->data.n_operand; i++)
        if (m->data.operand[i].written)
            add_type(t, m->data.operand[i].node, any ? ", " : " "), any = true;
    text_add(t, " from");
    any = false;
    for (int i = 0; i < m->data.n_operand; i++)
        if (!m->data.operand[i].written)
            add_type(t, m->data.operand[i].node, any ? ", " : " "), any = true;
    text_add(t, any ? "\n" : " nothing\n");
}

/* Of a scan: what its trips hand on, and which functions make one. */
void loop_header(text *t, const kernel *k, const kernel_text *out, const kernel_text *member)
{
    const scan_plan *s = k->scan;
    text_add(t, "/* %s\n *   %lld trips%s, each of", k->op, (long long)s->trips,
             s->until >= 0   ? " at most, as one may end it"
             : s->counted.by ? " at most, as a run says"
                             : "");
    for (int i = 0; i < s->plan->n_kernel; i++)
        text_add(t, "%s %s", i ? "," : "", member[i].name);
    for (int i = 0; i < s->plan->n_carried; i++)
        add_type(t, s->plan->root[s->plan->carried[i].root],
                 i < s->n_first   ? (i ? ", " : "\n * states ")
                 : i > s->n_first ? ", "
                                  : "\n * rows ");
    text_add(t, "\n * %.0f operations on reals, %.0f bytes of operands and results, %lld of scratch */\n", k->flops,
             k->bytes, (long long)out->scratch);
}

void kernel_header(text *t, const emitter *m)
{
    const kernel *k = m->k;
    text_add(t, "/* %s\n", k->op);
    for (int i = 0; i < k->n_stage; i++) {
        text_add(t, " *   %s:", k->stage[i].name);
        add_axes(t, &k->stage[i]);
        text_add(t, "\n");
    }
    add_operands(t, m);
    if (stage_nested(k->stage)) {
        text_add(t, " * loops: ");
        nest_print(t, k, true);
        text_add(t, "\n");
    }
    text_add(t, " * %.0f operations on reals, %.0f bytes of operands and results, %lld of scratch */\n", k->flops,
             k->bytes, (long long)m->data.scratch_most);
}
