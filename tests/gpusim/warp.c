/* warp.c - control flow of a warp, barriers of a block, and launching a grid. */
#include "tests/gpusim/ptx.h"
#include "tests/gpusim/fp.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SLICE = 1 << 20 }; /* instructions before another warp gets its turn */

static uint32_t epoch_counter;
uint32_t next_epoch(void)
{
    return __atomic_add_fetch(&epoch_counter, 1, __ATOMIC_RELAXED);
}

/* ---- divergence ----
 * Threads of a warp that took different branches form splits, each with its own
 * position.  The split with the lowest position runs; splits that meet merge. */
static void push_split(warp *w, int pc, uint32_t mask, bool blocked)
{
    if (!mask)
        return;
    for (int i = 0; i < w->nsplit; i++)
        if (w->split[i].pc == pc) {
            w->split[i].mask |= mask;
            w->split[i].blocked = false; /* look again: more threads have come */
            return;
        }
    w->split[w->nsplit++] = (splitting){pc, mask, blocked, w->steps};
}

/* Chooses the next split to run; false if all of them wait. */
static bool pick_split(warp *w)
{
    int best = -1;
    bool rotate = (++w->turns & 0xfff) == 0; /* now and then the furthest one, for spin loops */
    for (int i = 0; i < w->nsplit; i++)
        if (!w->split[i].blocked && (best < 0 || (w->split[i].pc < w->split[best].pc) != rotate))
            best = i;
    w->active = 0;
    if (best < 0)
        return false;
    w->pc = w->split[best].pc;
    w->active = w->split[best].mask;
    w->split[best] = w->split[--w->nsplit];
    w->stop = INT_MAX;
    for (int i = 0; i < w->nsplit; i++)
        if (w->split[i].pc > w->pc && w->split[i].pc < w->stop)
            w->stop = w->split[i].pc;
    return true;
}

static void report_stuck(warp *w)
{
    const instruction *code = w->fn->code, *in = &code[w->split[0].pc];
    if (w->nsplit > 1)
        sim_report(w, in, __builtin_ctz(w->split[0].mask), CK_LAUNCH, true,
                   "divergent %s: threads 0x%08x of the warp wait here, threads 0x%08x at PTX line %d",
                   in->kind == K_BARRIER ? "barrier" : "warp-level operation", w->split[0].mask, w->split[1].mask,
                   code[w->split[1].pc].ptx_line);
    sim_report(w, in, __builtin_ctz(w->split[0].mask), CK_LAUNCH, true,
               "divergent %s: threads 0x%08x wait for threads of the warp that never come",
               in->kind == K_BARRIER ? "barrier" : "warp-level operation", w->split[0].mask);
}

/* Threads m have exited while others of the warp wait.  An early return is allowed; threads
 * that did other work instead of coming to the barrier are not. */
static void threads_left(warp *w, const instruction *in, uint32_t m)
{
    for (int i = 0; i < w->nsplit; i++) {
        splitting *s = &w->split[i];
        if (s->blocked && sim_opt.barriers && w->fn->code[s->pc].kind == K_BARRIER && w->steps - s->since > 4)
            sim_report(
                w, in, __builtin_ctz(m), CK_LAUNCH, false,
                "divergent barrier: threads 0x%08x of the warp wait at PTX line %d, this thread has gone round it",
                s->mask, w->fn->code[s->pc].ptx_line);
        s->blocked = false; /* fewer threads to wait for */
    }
}

static uint32_t full_mask(const warp *w)
{
    int left = w->blk->nthreads - w->index * LANES;
    return left >= LANES ? ~0u : (1u << left) - 1;
}

/* May the threads in m perform this warp-level operation now? */
static bool warp_ready(warp *w, const instruction *in, uint32_t m)
{
    uint32_t member = in->flags & F_ALL_LANES ? ~0u : ((uint32_t *)(w->R + in->b))[__builtin_ctz(m)];
    if (!(in->flags & F_ALL_LANES)) {
        for (uint32_t r = m; r; r &= r - 1)
            if (!(member >> __builtin_ctz(r) & 1))
                sim_report(w, in, __builtin_ctz(r), CK_LAUNCH, true,
                           "thread is not in the member mask 0x%08x of its own operation", member);
        member &= full_mask(w);
    }
    if (member & ~w->live)
        sim_report(w, in, __builtin_ctz(m), CK_LAUNCH, (in->flags & F_ALL_LANES) != 0,
                   "warp-level operation names threads 0x%08x that have exited or do not exist", member & ~w->live);
    return (member & w->live & ~m) == 0;
}

/* Runs a warp until a barrier, its end or the end of its slice. */
static void warp_run(warp *w)
{
    const instruction *code = w->fn->code;
    uint64_t limit = w->steps + SLICE;
    for (;;) {
        if (__builtin_expect(w->pc == w->stop, 0)) {
            push_split(w, w->pc, w->active, false);
            pick_split(w);
        }
        const instruction *in = &code[w->pc];
        uint32_t m = w->active & pred_value(w, in->guard);
        if (__builtin_expect(++w->steps >= limit, 0)) {
            w->steps--;
            if (w->blk->launch->stop)
                longjmp(w->blk->escape, 1);
            if (w->steps > sim_opt.max_steps)
                sim_report(w, in, __builtin_ctz(w->active), CK_LAUNCH, true,
                           "warp did not end within SIMCUDA_MAX_STEPS instructions");
            return;
        }
        if (__builtin_expect(in->flags & F_WATCHED, 0) && m)
            wgmma_watch(w, in, m);
        switch (in->kind) {
        case K_PLAIN:
            w->pc++;
            if (__builtin_expect(m != 0, 1))
                in->op(w, in, m);
            if (__builtin_expect(w->yields, 0)) {
                w->yields = false;
                return;
            }
            break;
        case K_BRANCH:
            if (m == w->active) {
                w->pc = in->target;
                if (w->nsplit) {
                    push_split(w, w->pc, w->active, false);
                    pick_split(w);
                }
            } else if (m == 0)
                w->pc++;
            else {
                push_split(w, in->target, m, false);
                push_split(w, w->pc + 1, w->active & ~m, false);
                pick_split(w);
            }
            break;
        case K_SWITCH: {
            const uint32_t *index = (const uint32_t *)(w->R + in->a);
            push_split(w, w->pc + 1, w->active & ~m, false);
            for (uint32_t r = m; r; r &= r - 1) {
                int l = __builtin_ctz(r);
                if (index[l] >= (uint32_t)w->fn->table_length[in->target])
                    sim_report(w, in, l, CK_LAUNCH, true, "branch table index %u", index[l]);
                push_split(w, w->fn->tables[in->target][index[l]], 1u << l, false);
            }
            pick_split(w);
            break;
        }
        case K_CALL: {
            const function *f = w->fn->module->funcs[in->target];
            extern void op_copy_local(warp *, const instruction *, uint32_t);
            uint32_t *back = (uint32_t *)(w->R + f->return_slot);
            op_copy_local(w, in, m);
            EACH_LANE(l, m)
                back[l] = (uint32_t)w->pc + 1;
            push_split(w, f->ncode, m, false);
            push_split(w, w->pc + 1, w->active & ~m, false);
            pick_split(w);
            break;
        }
        case K_RET: {
            const uint32_t *back = (const uint32_t *)(w->R + in->a);
            push_split(w, w->pc + 1, w->active & ~m, false);
            for (uint32_t r = m; r; r &= r - 1)
                push_split(w, (int)back[__builtin_ctz(r)], r & -r, false);
            pick_split(w);
            break;
        }
        case K_EXIT:
            w->live &= ~m;
            w->active &= ~m;
            if (w->active) {
                w->pc++;
                break;
            }
            if (w->nsplit == 0) {
                w->state = W_DONE;
                return;
            }
            threads_left(w, in, m);
            pick_split(w);
            break;
        case K_WARPSYNC:
            if (m == 0) {
                w->pc++;
                break;
            }
            if (warp_ready(w, in, m)) {
                w->pc++;
                in->op(w, in, m);
                break;
            }
            push_split(w, w->pc + 1, w->active & ~m, false);
            push_split(w, w->pc, m, true);
            if (!pick_split(w))
                report_stuck(w);
            break;
        case K_BARRIER:
            if (m == 0) {
                w->pc++;
                break;
            }
            if (m == w->live) {
                w->bar_id = (int)(((uint32_t *)(w->R + in->a))[__builtin_ctz(m)] & (MAX_BARRIERS - 1));
                w->bar_pc = w->pc;
                w->state = W_BARRIER;
                return;
            }
            push_split(w, w->pc + 1, w->active & ~m, false);
            push_split(w, w->pc, m, true);
            if (!pick_split(w))
                report_stuck(w);
            break;
        }
    }
}

/* ---- barriers ---- */
static void set_barrier_result(warp *w, const instruction *in, const barrier *bar)
{
    if (in->flags & F_RED) {
        if (in->mode == 0) {
            uint32_t *d = (uint32_t *)(w->R + in->d);
            EACH_LANE(l, w->live)
                d[l] = bar->red_count;
        } else {
            uint32_t *p = &w->pred[in->d >> 1];
            bool v = in->mode == 1 ? bar->red_and : bar->red_or;
            *p = v ? *p | w->live : *p & ~w->live;
        }
    }
    w->pc = w->bar_pc + 1;
    w->active = w->live;
    w->state = W_RUN;
}

/* Counts a warp that has come to a barrier; returns at once for bar.arrive. */
static void arrive(block *b, warp *w)
{
    const instruction *in = &w->fn->code[w->bar_pc];
    barrier *bar = &b->bars[w->bar_id];
    uint32_t count = in->b >= 0 ? ((uint32_t *)(w->R + in->b))[__builtin_ctz(w->live)] : 0;
    if (!bar->used)
        *bar = (barrier){.used = true, .expected = count, .red_and = 1, .pc = w->bar_pc};
    if (bar->expected != count)
        sim_report(w, in, __builtin_ctz(w->live), CK_LAUNCH, true, "barrier %d is used with %u and %u threads at once",
                   w->bar_id, bar->expected, count);
    if (count == 0 && bar->pc != w->bar_pc && sim_opt.barriers)
        sim_report(w, in, __builtin_ctz(w->live), CK_LAUNCH, false,
                   "divergent barrier: warps of the block wait at different barriers (PTX lines %d and %d)",
                   w->fn->code[bar->pc].ptx_line, in->ptx_line);
    bar->arrived += LANES;
    b->counts.barriers++;
    if (in->flags & F_RED) {
        uint32_t p = pred_value(w, in->e) & w->live;
        bar->red_count += (uint32_t)__builtin_popcount(p);
        bar->red_and &= p == w->live;
        bar->red_or |= p != 0;
    }
    if (in->flags & F_ARRIVE) {
        w->pc = w->bar_pc + 1;
        w->active = w->live;
        w->state = W_RUN;
    }
}

static bool release_barriers(block *b)
{
    bool any = false;
    unsigned live = 0;
    for (int i = 0; i < b->nwarps; i++)
        live += b->warps[i].state != W_DONE;
    for (int id = 0; id < MAX_BARRIERS; id++) {
        barrier *bar = &b->bars[id];
        if (!bar->used || bar->arrived < (bar->expected ? bar->expected : live * LANES))
            continue;
        for (int i = 0; i < b->nwarps; i++) {
            warp *w = &b->warps[i];
            if (w->state == W_BARRIER && w->bar_id == id)
                set_barrier_result(w, &w->fn->code[w->bar_pc], bar);
        }
        bar->used = false;
        bar->arrived = 0;
        b->epoch = next_epoch();
        any = true;
    }
    return any;
}

static void run_block(block *b)
{
    int order = sim_opt.order, n = b->nwarps;
    for (;;) {
        bool progress = false, done = true;
        for (int k = 0; k < n; k++) {
            int i = order == 0  ? k
                    : order < 0 ? n - 1 - k
                                : (int)(((unsigned)k + (unsigned)order + b->epoch) % (unsigned)n);
            warp *w = &b->warps[i];
            if (w->state != W_RUN)
                continue;
            warp_run(w);
            if (w->state == W_BARRIER)
                arrive(b, w);
            progress |= !(w->state == W_RUN && w->idle);
        }
        progress |= release_barriers(b);
        for (int i = 0; i < n; i++)
            done &= b->warps[i].state == W_DONE;
        if (done) {
            wgmma_end(b);
            return;
        }
        if (!progress)
            for (int i = 0; i < n; i++) {
                warp *w = &b->warps[i];
                if (w->state == W_RUN)
                    bulk_stuck(w);
                if (w->state != W_BARRIER)
                    continue;
                sim_report(w, &w->fn->code[w->bar_pc], __builtin_ctz(w->live), CK_LAUNCH, true,
                           "divergent barrier: warp %d waits at barrier %d for warps that never come", i, w->bar_id);
            }
    }
}

/* ---- launching ---- */
typedef struct {
    block block;
    uint8_t *regs;
    size_t regs_size;
    uint32_t *preds;
    size_t preds_size;
    uint8_t *locals;
    size_t locals_size;
    int max_warps;
} worker;
static worker workers[16];

static void *grow(void *p, size_t *have, size_t need)
{
    if (need <= *have)
        return p;
    if (p)
        munmap(p, *have);
    p = mmap(NULL, need, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        abort();
    *have = need;
    return p;
}

static void fill_row(uint8_t *row, const preset *p, const warp *w, const block *b)
{
    const launch *L = b->launch;
    for (int l = 0; l < LANES; l++) {
        unsigned t = (unsigned)(w->index * LANES + l), bx = L->block[0], by = L->block[1];
        uint64_t v = p->value;
        switch (p->sreg) {
        case -1: break;
        case SR_TID_X: v = t % bx; break;
        case SR_TID_Y: v = t / bx % by; break;
        case SR_TID_Z: v = t / (bx * by); break;
        case SR_NTID_X:
        case SR_NTID_Y:
        case SR_NTID_Z: v = L->block[p->sreg - SR_NTID_X]; break;
        case SR_CTAID_X:
        case SR_CTAID_Y:
        case SR_CTAID_Z: v = b->ctaid[p->sreg - SR_CTAID_X]; break;
        case SR_NCTAID_X:
        case SR_NCTAID_Y:
        case SR_NCTAID_Z: v = L->grid[p->sreg - SR_NCTAID_X]; break;
        case SR_LANEID: v = (unsigned)l; break;
        case SR_WARPID: v = (unsigned)w->index; break;
        case SR_NWARPID: v = (unsigned)b->nwarps; break;
        case SR_LANEMASK_EQ: v = 1u << l; break;
        case SR_LANEMASK_LE: v = (2ull << l) - 1; break;
        case SR_LANEMASK_LT: v = (1u << l) - 1; break;
        case SR_LANEMASK_GE: v = ~0u << l; break;
        case SR_LANEMASK_GT: v = (uint32_t) ~((2ull << l) - 1); break;
        case SR_DYNAMIC_SMEM: v = L->shared_dynamic; break;
        case SR_TOTAL_SMEM: v = L->shared_dynamic + w->fn->shared_static; break;
        case SR_ONE: v = 1; break;
        default: v = 0; break;
        }
        if (p->width == 8)
            ((uint64_t *)row)[l] = v;
        else
            ((uint32_t *)row)[l] = (uint32_t)v;
    }
}

static void fill_rows(warp *w, const function *f, const block *b, bool only_ctaid)
{
    for (int i = 0; i < f->npresets; i++) {
        const preset *p = &f->presets[i];
        bool ctaid = p->sreg >= SR_CTAID_X && p->sreg <= SR_CTAID_Z;
        if (ctaid || !only_ctaid)
            fill_row(w->R + p->offset, p, w, b);
    }
}

static block *prepare_worker(launch *L, int id)
{
    worker *k = &workers[id];
    block *b = &k->block;
    const function *f = L->fn;
    const module *m = f->module;
    size_t rows = ((size_t)f->reg_end + 255) & ~(size_t)255;
    uint32_t shared = (f->dynamic_shared >= 0 ? (uint32_t)f->dynamic_shared : f->shared_end) + L->shared_dynamic + 64;
    b->launch = L;
    b->worker = id;
    b->nthreads = (int)(L->block[0] * L->block[1] * L->block[2]);
    b->nwarps = (b->nthreads + LANES - 1) / LANES;
    if (!b->warps) {
        b->warps = calloc(MAX_THREADS_PER_BLOCK / LANES, sizeof *b->warps);
        size_t none = 0;
        b->shared = grow(NULL, &none, 1 << 20);
        none = 0;
        b->shadow = grow(NULL, &none, (1 << 20) * sizeof *b->shadow);
        none = 0;
        b->readers = grow(NULL, &none, (1 << 20) * sizeof *b->readers);
        none = 0;
        b->proxy = grow(NULL, &none, (1 << 20) * sizeof *b->proxy);
    }
    b->shared_size = shared;
    k->regs = grow(k->regs, &k->regs_size, rows * (size_t)b->nwarps);
    k->preds = grow(k->preds, &k->preds_size, (size_t)m->callee_npred * (size_t)b->nwarps * 4);
    k->locals = grow(k->locals, &k->locals_size, (size_t)m->callee_local_end * (size_t)b->nwarps * LANES);
    for (int i = 0; i < b->nwarps; i++) {
        warp *w = &b->warps[i];
        w->R = k->regs + rows * (size_t)i;
        w->pred = k->preds + (size_t)m->callee_npred * (size_t)i;
        w->local = k->locals + (size_t)m->callee_local_end * (size_t)i * LANES;
        w->local_size = m->callee_local_end;
        w->blk = b;
        w->fn = f;
        w->index = i;
        for (int q = 0; q < m->nfuncs; q++)
            if (m->funcs[q] == f || !m->funcs[q]->entry)
                fill_rows(w, m->funcs[q], b, false);
    }
    return b;
}

static void start_block(block *b, uint64_t n)
{
    const launch *L = b->launch;
    b->ctaid[0] = (unsigned)(n % L->grid[0]);
    b->ctaid[1] = (unsigned)(n / L->grid[0] % L->grid[1]);
    b->ctaid[2] = (unsigned)(n / L->grid[0] / L->grid[1]);
    b->first_epoch = next_epoch();
    b->epoch = next_epoch();
    bulk_begin(b);
    b->acquired = b->uncounted = false;
    b->counts = (counters){.blocks = 1};
    memset(b->bars, 0, sizeof b->bars);
    if (b->n_reading)
        memset(b->readers, 0, (1 << 20) * sizeof *b->readers);
    b->n_reading = 0;
    for (size_t i = 0; i < sizeof b->log / sizeof *b->log; i++)
        b->log[i].n = 0;
    for (int i = 0; i < b->nwarps; i++) {
        warp *w = &b->warps[i];
        w->live = w->active = full_mask(w);
        w->pc = w->fn->ncode;
        w->stop = INT_MAX;
        w->nsplit = w->ncopies = 0;
        w->cc = 0;
        w->steps = 0;
        w->sync = 0;
        w->state = W_RUN;
        w->pred[0] = ~0u;
        memset(w->group, 0, sizeof w->group);
        wgmma_begin(w);
        fill_rows(w, w->fn, b, true);
    }
}

typedef struct {
    launch *launch;
    int id;
    uint64_t *next;
    uint64_t total, step;
} job;

static void *worker_main(void *arg)
{
    job *j = arg;
    launch *L = j->launch;
    unsigned csr = _mm_getcsr();
    _mm_setcsr(0x1f80);
    block *b = prepare_worker(L, j->id);
    for (;;) {
        uint64_t i = __atomic_fetch_add(j->next, 1, __ATOMIC_RELAXED);
        if (i >= j->total || L->stop)
            break;
        uint64_t n = sim_opt.order == 0  ? i
                     : sim_opt.order < 0 ? j->total - 1 - i
                                         : (uint64_t)((unsigned __int128)i * j->step % j->total);
        start_block(b, n);
        if (setjmp(b->escape) == 0) {
            run_block(b);
            if (sim_opt.counts)
                counts_take(b);
        } else {
            L->stop = 1;
            break;
        }
    }
    _mm_setcsr(csr);
    return NULL;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    return b ? gcd(b, a % b) : a;
}

int launch_run(launch *L)
{
    uint64_t total = (uint64_t)L->grid[0] * L->grid[1] * L->grid[2], next = 0, step = 1;
    int n = sim_opt.workers;
    L->first_epoch = next_epoch();
    if ((uint64_t)n > total)
        n = (int)total;
    if (sim_opt.order > 0)
        for (step = total * 618 / 1000 + (uint64_t)sim_opt.order; step < 1 || gcd(step, total) != 1;)
            step++;
    job jobs[16];
    pthread_t threads[16];
    for (int i = 0; i < n; i++)
        jobs[i] = (job){L, i, &next, total, step};
    for (int i = 1; i < n; i++)
        if (pthread_create(&threads[i], NULL, worker_main, &jobs[i]))
            abort();
    worker_main(&jobs[0]);
    for (int i = 1; i < n; i++)
        pthread_join(threads[i], NULL);
    return L->status;
}
