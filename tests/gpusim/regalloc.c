/* regalloc.c - packs a function's virtual registers into few rows, so that a
 * warp's register file stays in cache.  Liveness by the usual backward dataflow
 * over basic blocks, then one linear scan over live intervals. */
#include "tests/gpusim/ptx.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    int start, end, vreg;
} interval;

static void touch(interval *v, int at)
{
    if (at < v->start)
        v->start = at;
    if (at > v->end)
        v->end = at;
}

static int by_start(const void *a, const void *b)
{
    const interval *x = a, *y = b;
    return x->start != y->start ? (x->start < y->start ? -1 : 1) : x->vreg - y->vreg;
}

void allocate_registers(parser *P, function *fn, int first_insn, int first_ref, int first_vreg)
{
    int n = P->ncode - first_insn, nv = P->nvregs - first_vreg;
    size_t words = ((size_t)nv + 63) / 64;
    instruction *code = P->code + first_insn;

    /* basic blocks */
    int *block_of = calloc((size_t)n + 1, sizeof *block_of), nb = 0;
    bool *leader = calloc((size_t)n + 1, 1);
    leader[0] = true;
    for (int i = 0; i < n; i++) {
        if (code[i].kind == K_BRANCH)
            leader[code[i].target - first_insn] = true;
        if (code[i].kind == K_BRANCH || code[i].kind == K_SWITCH || code[i].kind == K_EXIT || code[i].kind == K_RET)
            leader[i + 1] = true;
    }
    for (int t = 0; t < fn->ntables; t++)
        for (int k = 0; k < fn->table_length[t]; k++)
            leader[fn->tables[t][k] - first_insn] = true;
    for (int i = 0; i < n; i++)
        block_of[i] = leader[i] ? nb++ : nb - 1;
    int *begin = calloc(((size_t)nb + 1), sizeof *begin);
    for (int i = n - 1; i >= 0; i--)
        begin[block_of[i]] = i;
    begin[nb] = n;

    /* upward-exposed uses and certain definitions */
    uint64_t *gen = calloc(words * (size_t)nb * 4 + 1, 8), *kill = gen + words * (size_t)nb,
             *in = kill + words * (size_t)nb, *out = in + words * (size_t)nb;
#define BIT(set, b, v) ((set)[(size_t)(b)*words + (size_t)(v) / 64] >> ((v)&63) & 1)
#define ADD(set, b, v) ((set)[(size_t)(b)*words + (size_t)(v) / 64] |= 1ull << ((v)&63))
    for (int r = first_ref; r < P->nrefs;) {
        int insn = P->refs[r].insn, end = r, b = block_of[insn - first_insn];
        while (end < P->nrefs && P->refs[end].insn == insn)
            end++;
        for (int q = r; q < end; q++)
            if (!P->refs[q].def && !BIT(kill, b, P->refs[q].vreg - first_vreg))
                ADD(gen, b, P->refs[q].vreg - first_vreg);
        for (int q = r; q < end; q++)
            if (P->refs[q].def) { /* a guarded definition keeps the old value */
                if (P->code[insn].guard == PRED_TRUE)
                    ADD(kill, b, P->refs[q].vreg - first_vreg);
                else if (!BIT(kill, b, P->refs[q].vreg - first_vreg))
                    ADD(gen, b, P->refs[q].vreg - first_vreg);
            }
        r = end;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int b = nb - 1; b >= 0; b--) {
            const instruction *last = &code[begin[b + 1] - 1];
            uint64_t *o = out + (size_t)b * words;
            for (size_t w = 0; w < words; w++) {
                uint64_t v = 0;
                bool falls = !(last->kind == K_EXIT || last->kind == K_RET || last->kind == K_BRANCH) ||
                             last->guard != PRED_TRUE;
                if (falls && last->kind != K_SWITCH && b + 1 < nb)
                    v |= in[(size_t)(b + 1) * words + w];
                if (last->kind == K_BRANCH)
                    v |= in[(size_t)block_of[last->target - first_insn] * words + w];
                if (last->kind == K_SWITCH)
                    for (int k = 0; k < fn->table_length[last->target]; k++)
                        v |= in[(size_t)block_of[fn->tables[last->target][k] - first_insn] * words + w];
                o[w] = v;
                uint64_t i2 = gen[(size_t)b * words + w] | (v & ~kill[(size_t)b * words + w]);
                if (i2 != in[(size_t)b * words + w]) {
                    in[(size_t)b * words + w] = i2;
                    changed = true;
                }
            }
        }
    }

    /* intervals */
    interval *iv = calloc(((size_t)nv + 1), sizeof *iv);
    for (int v = 0; v < nv; v++)
        iv[v] = (interval){n, -1, v};
    for (int r = first_ref; r < P->nrefs; r++) {
        int v = P->refs[r].vreg - first_vreg, at = P->refs[r].insn - first_insn;
        touch(&iv[v], at);
    }
    for (int b = 0; b < nb; b++)
        for (int v = 0; v < nv; v++) {
            if (BIT(in, b, v))
                touch(&iv[v], begin[b]);
            if (BIT(out, b, v))
                touch(&iv[v], begin[b + 1] - 1);
        }

    /* rows: presets first, then a linear scan with free lists for both widths */
    uint32_t end = 0;
    fn->presets = calloc(((size_t)P->nconsts + 1), sizeof *fn->presets);
    for (int i = 0; i < P->nconsts; i++) {
        virtual_register *r = &P->vregs[P->consts[i].vreg];
        r->slot = (int)end;
        fn->presets[fn->npresets++] = (preset){end, P->consts[i].value, r->width, P->consts[i].sreg};
        end += (uint32_t)(LANES * r->width);
    }
    if (!fn->entry) {
        P->vregs[fn->return_slot].slot = (int)end;
        fn->return_slot = (int)end;
        end += LANES * 4;
    }
    qsort(iv, (size_t)nv, sizeof *iv, by_start);
    int *free_rows[2] = {calloc((size_t)nv + 1, sizeof(int)), calloc((size_t)nv + 1, sizeof(int))}, nfree[2] = {0, 0};
    interval *live = calloc(((size_t)nv + 1), sizeof *live);
    int nlive = 0, words_live = 0;
    for (int i = 0; i < nv; i++) {
        virtual_register *r = &P->vregs[first_vreg + iv[i].vreg];
        if (r->fixed || iv[i].end < 0)
            continue;
        for (int k = 0; k < nlive;) {
            virtual_register *x = &P->vregs[first_vreg + live[k].vreg];
            if (live[k].end < iv[i].start) {
                free_rows[x->width == 8][nfree[x->width == 8]++] = x->slot;
                words_live -= x->width / 4;
                live[k] = live[--nlive];
            } else
                k++;
        }
        int cls = r->width == 8;
        if (nfree[cls])
            r->slot = free_rows[cls][--nfree[cls]];
        else {
            r->slot = (int)end;
            end += (uint32_t)(LANES * r->width);
        }
        live[nlive++] = iv[i];
        words_live += r->width / 4;
        if (words_live > fn->max_regs_live)
            fn->max_regs_live = words_live;
    }
    fn->reg_end = end;
    free(free_rows[0]);
    free(free_rows[1]);
    free(live);
    free(iv);
    free(gen);
    free(begin);
    free(leader);
    free(block_of);
}
