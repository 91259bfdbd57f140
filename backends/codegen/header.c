/* header.c - what stands above a kernel for who reads it: the operation, its axes, the loops, what it works and moves.
 * Equal kernels share one unit, so nothing that differs between them is said there; above it, where it is for people
 * alone, stand the layers that it serves. Names come from files: what could end a comment is not let through. */
#include "backends/codegen/emit.h"
#include "backends/codegen/levels.h"

#include <string.h>

enum { MOST_LAYERS = 16, MOST_NAME = 80 };

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

static void add_layer(text *t, int number, const kernel *k)
{
    const char *name = *k->label ? k->label : k->op;
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/";
    text_add(t, "\n *   k%d ", number);
    for (int i = 0; name[i] && i < MOST_NAME; i++)
        text_add(t, "%c", strchr(plain, name[i]) ? name[i] : '_');
    text_add(t, strnlen(name, MOST_NAME + 1) > MOST_NAME ? "..." : "");
}

void layers_header(text *t, const levels *l, const int *unit_of, int unit)
{
    int n = 0;
    text_add(t, "/* layers:");
    for (int i = 0; i < l->n; i++)
        for (int k = 0; k < l->of[i].plan->n_kernel; k++) {
            const kernel *own = &l->of[i].plan->kernel[k];
            if (unit_of[l->of[i].first + k + own->joins] != unit)
                continue;
            int top = l->of[i].first + k;
            for (int around = i; l->of[around].around >= 0; around = l->of[around].around)
                top = l->of[around].scan;
            if (n++ < MOST_LAYERS)
                add_layer(t, top, own);
        }
    if (n > MOST_LAYERS)
        text_add(t, "\n *   and %d more", n - MOST_LAYERS);
    text_add(t, " */\n");
}
