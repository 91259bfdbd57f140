/* wgmma.c - products of a warpgroup: four warps multiply two matrices of shared memory, which descriptors tell of, into
 * sums in their registers, asynchronously. The values are computed where the instruction stands; what cards hide is
 * found: sums touched before the wait that covers them, or changed without a fence before; operands that were written
 * without a fence between the proxies, or that are written while they are read; descriptors that lead elsewhere. */
#include "tests/gpusim/sim.h"
#include "tests/gpusim/fp.h"

#include <stdlib.h>

enum { WARPS = 4, ROWS = 16, CHUNK = 16, CORE = 8, MARK = 0x8000, COUNT = 0x7fff };

/* ---- which registers hold sums ---- */
typedef struct watch { /* an instruction that touches a row of registers which somewhere holds sums */
    int32_t insn, row;
    bool def;
} watch;

static int by_insn(const void *a, const void *b)
{
    const watch *x = a, *y = b;
    return x->insn != y->insn ? (x->insn < y->insn ? -1 : 1) : 0;
}

void wgmma_find(function *f, instruction *code, int n_ref, const row_reference *ref)
{
    const size_t rows = f->reg_end / (LANES * 4) + 2;
    bool *sums = calloc(rows, 1);
    for (int i = 0; i < n_ref; i++)
        if (code[ref[i].insn].op == op_wgmma && ref[i].def)
            sums[ref[i].at / (LANES * 4)] = true;
    watch *w = calloc((size_t)n_ref + 1, sizeof *w);
    int n = 0;
    for (int i = 0; i < n_ref; i++)
        if (sums[ref[i].at / (LANES * 4)] && code[ref[i].insn].op != op_wgmma) {
            code[ref[i].insn].flags |= F_WATCHED;
            w[n++] = (watch){ref[i].insn, (int32_t)(ref[i].at / (LANES * 4)), ref[i].def};
        }
    qsort(w, (size_t)n, sizeof *w, by_insn);
    free(sums);
    free(f->watch);
    f->watch = w;
    f->nwatch = n;
}

/* What a row of registers is: 0: as it was at the last fence; CHANGED since then; else a product under way holds it, in
 * the group of that number. */
enum { CHANGED = -1 };

void wgmma_begin(warp *w)
{
    warp_async *a = &w->async;
    const size_t rows = w->fn->reg_end / (LANES * 4) + 2;
    a->fences = a->fenced_in = 0;
    if (!w->fn->wgmma)
        return;
    if (a->n_row < rows) {
        a->row = reallocarray(a->row, rows, sizeof *a->row);
        a->n_row = rows;
    }
    for (size_t i = 0; i < rows; i++)
        a->row[i] = CHANGED;
    a->group = 1;
    a->n_read = a->n_done = 0;
}

void wgmma_watch(warp *w, const instruction *in, uint32_t m)
{
    const function *f = w->fn;
    const int at = (int)(in - f->code);
    int low = 0, high = f->nwatch;
    while (low < high) {
        const int mid = (low + high) / 2;
        if (((const watch *)f->watch)[mid].insn < at)
            low = mid + 1;
        else
            high = mid;
    }
    for (const watch *q = (const watch *)f->watch + low; low < f->nwatch && q->insn == at; low++, q++) {
        int32_t *row = &w->async.row[q->row];
        if (*row > 0)
            sim_report(w, in, __builtin_ctz(m), CK_LAUNCH, false,
                       "%s of a register that holds sums of wgmma.mma_async, which no wgmma.wait_group has waited for",
                       q->def ? "write" : "read");
        if (q->def || *row > 0)
            *row = CHANGED; /* report once */
    }
}

/* ---- what is read while others might write ---- */
static void note_reading(warp *w, const uint64_t *addr)
{
    warp_async *a = &w->async;
    block *b = w->blk;
    const unsigned granule = w->fn->granule;
    for (int i = 0; i < CORE; i++) {
        if (a->n_read == a->cap_read) {
            a->cap_read = a->cap_read ? 2 * a->cap_read : 1024;
            a->read = reallocarray(a->read, a->cap_read, sizeof *a->read);
        }
        a->read[a->n_read++] = (async_read){(uint32_t)addr[i], a->group};
        for (unsigned k = 0; k < CHUNK; k += granule)
            b->readers[(addr[i] + k) / granule]++;
    }
    b->n_reading += CORE;
}

static void forget_reading(warp *w, int64_t groups) /* up to that one */
{
    warp_async *a = &w->async;
    block *b = w->blk;
    const unsigned granule = w->fn->granule;
    size_t kept = 0;
    for (size_t i = 0; i < a->n_read; i++) {
        if (a->read[i].group > groups) {
            a->read[kept++] = a->read[i];
            continue;
        }
        for (unsigned k = 0; k < CHUNK; k += granule)
            b->readers[(a->read[i].at + k) / granule] -= b->readers[(a->read[i].at + k) / granule] > 0;
        b->n_reading--;
    }
    a->n_read = kept;
}

void wgmma_written(warp *w, const instruction *in, uint32_t m, const uint64_t *addr, unsigned bytes)
{
    block *b = w->blk;
    const unsigned granule = w->fn->granule;
    for (uint32_t r = m; r; r &= r - 1) {
        const int l = __builtin_ctz(r);
        for (unsigned k = 0; k < bytes; k += granule) {
            const size_t at = (addr[l] + k) / granule;
            b->proxy[at] = (uint16_t)(MARK | (w->async.fences & COUNT));
            if (b->n_reading && b->readers[at]) {
                sim_report(w, in, l, CK_LAUNCH, false,
                           "write to shared 0x%llx, which wgmma.mma_async reads, before wgmma.wait_group",
                           (unsigned long long)(addr[l] + k));
                b->readers[at] = 0;
                return;
            }
        }
    }
}

/* What the generic proxy wrote is seen by the asynchronous one behind a fence: of who wrote it, or of who reads it,
 * after the barrier between them. */
void proxy_check(warp *w, const instruction *in, int lane, uint64_t at, const char *what)
{
    block *b = w->blk;
    const size_t g = at / w->fn->granule;
    const shadow *s = &b->shadow[g];
    if (s->wr_epoch < b->first_epoch || !(b->proxy[g] & MARK))
        return;
    const warp *from = &b->warps[(s->wr_tid & SH_TID) / LANES];
    const bool fenced = (b->proxy[g] & COUNT) != (from->async.fences & COUNT) ||
                        (s->wr_epoch < b->epoch && w->async.fenced_in == b->epoch);
    if (!fenced)
        sim_report(w, in, lane, CK_LAUNCH, false,
                   "%s shared 0x%llx, which warp %d wrote without fence.proxy.async behind it", what,
                   (unsigned long long)at, from->index);
    b->proxy[g] = 0; /* once is enough */
}

static void check_proxy(warp *w, const instruction *in, const uint64_t *addr)
{
    const unsigned granule = w->fn->granule;
    for (int i = 0; i < CORE; i++)
        for (unsigned k = 0; k < CHUNK; k += granule)
            proxy_check(w, in, i, addr[i] + k, "wgmma.mma_async reads");
}

void op_proxy_fence(warp *w, const instruction *in, uint32_t m)
{
    (void)in;
    (void)m;
    w->async.fences++;
    w->async.fenced_in = w->blk->epoch;
}

/* ---- operands ---- */
typedef struct matrix { /* of the bits of a descriptor; bytes */
    uint64_t start, leading, stride;
    unsigned swizzle; /* bytes of a row that is swizzled, or 0 */
    bool turned;      /* neighbours along rows of A, columns of B lie together; else those that are summed */
} matrix;

static matrix matrix_of(warp *w, const instruction *in, uint64_t bits, bool turned)
{
    static const unsigned swizzle[] = {0, 128, 64, 32};
    const function *f = w->fn;
    matrix x = {(bits & 0x3fff) << 4, (bits >> 16 & 0x3fff) << 4, (bits >> 32 & 0x3fff) << 4, swizzle[bits >> 62],
                turned};
    if (bits >> 49 & 7)
        sim_report(w, in, 0, CK_UNSUPPORTED, true, "descriptor of wgmma with a base offset is not supported");
    if (x.swizzle && x.start >> 7 & (x.swizzle / CHUNK - 1))
        sim_report(w, in, 0, CK_ALIGN, true,
                   "descriptor of wgmma begins at shared 0x%llx: rows of %u bytes are swizzled from multiples of %u on",
                   (unsigned long long)x.start, x.swizzle, 8 * x.swizzle);
    if (f->dynamic_shared >= 0 && !(x.start >= 64 && x.start < f->shared_end)) /* it has the low bits alone */
        x.start += (uint64_t)f->dynamic_shared & ~0x3ffffull;
    return x;
}

/* Where the 16 bytes are that hold element i of its own axis and element k of the summed one (PTX ISA, "Shared Memory
 * Matrix Layout" of wgmma); of: elements in 16 bytes. */
static uint64_t chunk_at(const matrix *x, unsigned i, unsigned k, unsigned of)
{
    const unsigned row = x->turned ? k : i, piece = x->turned ? i / of : k / of, wide = x->swizzle / CHUNK;
    if (!x->swizzle)
        return x->start + row % CORE * CHUNK +
               (x->turned ? piece * x->stride + row / CORE * x->leading : row / CORE * x->stride + piece * x->leading);
    const uint64_t at = x->start + row % CORE * x->swizzle + row / CORE * x->stride + piece % wide * CHUNK +
                        (x->turned ? piece / wide * x->leading : 0);
    return at ^ (at >> 7 & (wide - 1)) << 4;
}

static float element_of(const uint8_t *p, int type)
{
    uint16_t h;
    uint32_t u;
    if (type == T_TF32) {
        memcpy(&u, p, 4);
        return u2f(u & 0xffffe000);
    }
    memcpy(&h, p, 2);
    return type == T_F16 ? h2f(h) : bf2f(h);
}

/* to[i][k] of rows [first, first + rows): eight pieces of 16 bytes at a time, as the unit reads them */
static void read_matrix(warp *w, const instruction *in, const matrix *x, unsigned first, unsigned rows, unsigned depth,
                        float *to)
{
    const unsigned size = in->type == T_TF32 ? 4 : 2, of = CHUNK / size;
    const unsigned along = x->turned ? rows / of : depth / of, across = x->turned ? depth : rows;
    for (unsigned c = 0; c < along; c++)
        for (unsigned r = 0; r < across; r += CORE) {
            uint64_t at[LANES] = {0};
            uint8_t *ptr[LANES];
            for (unsigned j = 0; j < CORE; j++)
                at[j] = x->turned ? chunk_at(x, first + c * of, r + j, of) : chunk_at(x, first + r + j, c * of, of);
            access_pointers(w, in, (1u << CORE) - 1, at, SP_SHARED, CHUNK, A_READ, ptr);
            check_proxy(w, in, at);
            note_reading(w, at);
            for (unsigned j = 0; j < CORE; j++)
                for (unsigned e = 0; e < of; e++) {
                    const unsigned i = x->turned ? c * of + e : r + j, k = x->turned ? r + j : c * of + e;
                    to[i * depth + k] = element_of(ptr[j] + e * size, in->type);
                }
        }
}

/* ---- the instructions ---- */
/* The four warps of a warpgroup give the same descriptors to the same instruction. */
static void check_group(warp *w, const instruction *in, uint64_t a, uint64_t b)
{
    block *blk = w->blk;
    group_log *g = &blk->log[w->index / WARPS];
    const size_t at = w->async.n_done++;
    if (w->index / WARPS * WARPS + WARPS > blk->nwarps)
        sim_report(w, in, 0, CK_LAUNCH, true, "wgmma in warp %d, whose warpgroup has fewer than four warps", w->index);
    if (at == g->n) {
        if (g->n == g->cap) {
            g->cap = g->cap ? 2 * g->cap : 256;
            g->done = reallocarray(g->done, g->cap, sizeof *g->done);
        }
        g->done[g->n++] = (group_step){in, a, b};
        return;
    }
    const group_step *s = &g->done[at];
    if (s->in != in)
        sim_report(w, in, 0, CK_LAUNCH, true, "the warps of a warpgroup come to different wgmma instructions");
    if (s->a != a || s->b != b)
        sim_report(w, in, 0, CK_LAUNCH, true,
                   "the warps of a warpgroup give wgmma different descriptors: 0x%llx and 0x%llx, 0x%llx and 0x%llx",
                   (unsigned long long)s->a, (unsigned long long)a, (unsigned long long)s->b, (unsigned long long)b);
}

void wgmma_end(block *b) /* of a block: all warps of a warpgroup have come as often */
{
    for (int i = 0; i < b->nwarps && b->launch->fn->wgmma; i++) {
        warp *w = &b->warps[i];
        const group_log *g = &b->log[i / WARPS];
        if (w->async.n_done != g->n)
            sim_report(w, g->done[g->n - 1].in, 0, CK_LAUNCH, false,
                       "warp %d of a warpgroup did %zu of its %zu wgmma instructions", i, w->async.n_done, g->n);
    }
}

void op_wgmma(warp *w, const instruction *in, uint32_t m)
{
    const int32_t *D = in->list;
    const uint64_t a_bits = ((const uint64_t *)(w->R + in->a))[0], b_bits = ((const uint64_t *)(w->R + in->b))[0];
    const unsigned n = in->count * CORE, depth = in->size, first = (unsigned)(w->index % WARPS) * ROWS;
    const uint32_t scale = pred_value(w, in->e);
    static __thread float a[ROWS * 16], b[256 * 16], bt[16][256];
    bool was = w->blk->uncounted;
    (void)m;
    for (int r = 0; r < in->nlist; r++) {
        int32_t *row = &w->async.row[D[r] / (LANES * 4)];
        if (*row == CHANGED)
            sim_report(w, in, 0, CK_LAUNCH, false,
                       "wgmma.mma_async sums in registers that were written without wgmma.fence behind it");
        *row = (int32_t)w->async.group;
    }
    check_group(w, in, a_bits, b_bits);
    w->blk->counts.tensor++;
    w->blk->counts.products += ROWS * n * depth;
    const matrix x = matrix_of(w, in, a_bits, in->mode & 1), y = matrix_of(w, in, b_bits, in->mode & 2);
    read_matrix(w, in, &x, first, ROWS, depth, a);
    w->blk->uncounted = was || w->index % WARPS; /* it is read once for all four */
    read_matrix(w, in, &y, 0, n, depth, b);
    w->blk->uncounted = was;
    for (unsigned j = 0; j < n; j++)
        for (unsigned k = 0; k < depth; k++)
            bt[k][j] = b[j * depth + k];
    for (unsigned i = 0; i < ROWS; i++) {
        float acc[256];
        for (unsigned j = 0; j < n;
             j++) /* register 4 * (j / 8) + 2 * (i / 8) + j % 2 of lane 4 * (i % 8) + j % 8 / 2 */
            acc[j] = !(scale & 1) ? 0
                                  : ((const float *)(w->R + D[j / 8 * 4 + i / 8 * 2 + j % 2]))[i % 8 * 4 + j % 8 / 2];
        for (unsigned k = 0; k < depth; k++)
            for (unsigned j = 0; j < n; j++)
                acc[j] = __builtin_fmaf(a[i * depth + k], bt[k][j], acc[j]);
        for (unsigned j = 0; j < n; j++)
            ((float *)(w->R + D[j / 8 * 4 + i / 8 * 2 + j % 2]))[i % 8 * 4 + j % 8 / 2] = acc[j];
    }
}

void op_wgmma_fence(warp *w, const instruction *in, uint32_t m)
{
    (void)in;
    (void)m;
    for (size_t i = 0; i < w->async.n_row; i++)
        if (w->async.row[i] == CHANGED)
            w->async.row[i] = 0;
}

void op_wgmma_commit(warp *w, const instruction *in, uint32_t m)
{
    (void)in;
    (void)m;
    w->async.group++;
}

void op_wgmma_wait(warp *w, const instruction *in, uint32_t m)
{
    const int64_t done = (int64_t)w->async.group - 1 - in->imm; /* the last of the groups that have come to an end */
    (void)m;
    for (size_t i = 0; i < w->async.n_row; i++)
        if (w->async.row[i] > 0 && w->async.row[i] <= done)
            w->async.row[i] = 0;
    forget_reading(w, done);
}
