/* access.c - loads, stores, atomics and asynchronous copies, with their checks. */
#include "tests/gpusim/sim.h"
#include "tests/gpusim/fp.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- addresses ---- */
static void compute_addresses(warp *w, const instruction *in, uint64_t *addr)
{
    uint64_t disp = (uint64_t)in->imm;
    if (in->a < 0) {
        for (int l = 0; l < LANES; l++)
            addr[l] = disp;
        return;
    }
    if (in->flags & F_ADDR64) {
        const uint64_t *a = (const uint64_t *)(w->R + in->a);
        for (int l = 0; l < LANES; l++)
            addr[l] = a[l] + disp;
    } else {
        const uint32_t *a = (const uint32_t *)(w->R + in->a);
        for (int l = 0; l < LANES; l++)
            addr[l] = (uint32_t)(a[l] + (uint32_t)disp);
    }
}

static const char *verb(int kind)
{
    return kind == A_READ ? "read" : kind == A_WRITE ? "write" : "atomic";
}

static void check_alignment(warp *w, const instruction *in, uint32_t m, const uint64_t *addr, unsigned bytes, int kind,
                            const char *space)
{
    uint64_t any = 0;
    if (m == ~0u)
        for (int l = 0; l < LANES; l++)
            any |= addr[l];
    else
        for (uint32_t r = m; r; r &= r - 1)
            any |= addr[__builtin_ctz(r)];
    if (!(any & (bytes - 1)))
        return;
    for (int l = 0; l < LANES; l++)
        if (m >> l & 1 && addr[l] & (bytes - 1))
            sim_report(w, in, l, CK_ALIGN, true, "misaligned %s of %u bytes at %s address 0x%llx", verb(kind), bytes,
                       space, (unsigned long long)addr[l]);
}

static bool in_variable(const function *f, uint64_t off)
{
    for (int k = 0; k < f->nshared; k++)
        if (off - f->shared[k].offset < f->shared[k].size)
            return true;
    return f->dynamic_shared >= 0 && off >= (uint32_t)f->dynamic_shared;
}

/* ---- races and uninitialised reads ---- */
static bool same_warp_ordered(const warp *w, unsigned tid, uint16_t sync)
{
    return tid / LANES == (unsigned)w->index && sync != w->sync;
}

static const char *other_thread(const warp *w, unsigned tid)
{
    static __thread char text[64];
    unsigned x = w->blk->launch->block[0], y = w->blk->launch->block[1];
    snprintf(text, sizeof text, "thread (%u,%u,%u)", tid % x, tid / x % y, tid / (x * y));
    return text;
}

/* "shared tile+0x40" or "global 0x7f..." */
static const char *place(const warp *w, uint64_t addr, bool global)
{
    static __thread char text[300];
    const function *f = w->fn;
    if (global)
        snprintf(text, sizeof text, "global 0x%llx", (unsigned long long)addr);
    else if (f->dynamic_shared >= 0 && addr >= (uint64_t)f->dynamic_shared)
        snprintf(text, sizeof text, "shared (dynamic)+0x%llx", (unsigned long long)addr - (unsigned)f->dynamic_shared);
    else {
        const shared_variable *v = NULL; /* the variable that holds addr, or ends before it */
        for (int k = 0; k < f->nshared; k++)
            if (f->shared[k].offset <= addr && (!v || f->shared[k].offset > v->offset))
                v = &f->shared[k];
        if (v)
            snprintf(text, sizeof text, "shared %.200s+0x%llx", v->name, (unsigned long long)addr - v->offset);
        else
            snprintf(text, sizeof text, "shared 0x%llx", (unsigned long long)addr);
    }
    return text;
}

/* Reads of the own warp before its last __syncwarp are those of one thread for all that comes. */
static inline void note_read(shadow *s, uint32_t epoch, unsigned tid, uint16_t sync)
{
    const unsigned differs = (s->rd_tid ^ tid) & SH_TID;
    if (s->rd_epoch != epoch || (s->rd_sync != sync && differs < LANES && !(s->rd_tid & SH_MANY_WARPS))) {
        s->rd_epoch = epoch;
        s->rd_tid = (uint16_t)tid;
    } else {
        if (differs)
            s->rd_tid |= differs >= LANES ? SH_MANY_WARPS : SH_MANY_LANES;
    }
    s->rd_sync = sync;
}

static __attribute__((noinline)) void check_read(warp *w, const instruction *in, int lane, shadow *s, uint64_t addr,
                                                 bool atomic, bool global)
{
    block *b = w->blk;
    unsigned tid = (unsigned)lane_tid(w, lane);
    if (!global && s->wr_epoch < b->first_epoch) {
        uint32_t off = (uint32_t)addr;
        if (!in_variable(w->fn, off))
            sim_report(w, in, lane, CK_BOUNDS, true, "out-of-bounds read of %s, past its end", place(w, off, false));
        if (sim_opt.uninit_shared)
            sim_report(w, in, lane, CK_LAUNCH, false, "read of uninitialised shared memory, %s", place(w, off, false));
        s->wr_epoch = b->first_epoch;
        s->wr_tid = (uint16_t)tid;
        s->wr_sync = w->sync; /* report once */
    }
    if (!sim_opt.races)
        return;
    if (s->wr_epoch >= b->first_epoch) {
        if (s->wr_tid & SH_PENDING)
            sim_report(w, in, lane, CK_LAUNCH, false, "access to %s while a cp.async of %s to it is not waited for",
                       place(w, addr, global), other_thread(w, s->wr_tid & SH_TID));
        else if (s->wr_epoch == b->epoch && (s->wr_tid & SH_TID) != tid && !(atomic && s->wr_tid & SH_ATOMIC) &&
                 !same_warp_ordered(w, s->wr_tid & SH_TID, s->wr_sync))
            sim_report(w, in, lane, CK_LAUNCH, false, "race on %s: read without a barrier after the write by %s",
                       place(w, addr, global), other_thread(w, s->wr_tid & SH_TID));
    } else if (global && s->wr_epoch >= b->launch->first_epoch && !(s->wr_tid & SH_ATOMIC) && !b->acquired &&
               !(in->flags & F_VOLATILE))
        sim_report(w, in, lane, CK_LAUNCH, false, "race on global 0x%llx: read of a value written by another block",
                   (unsigned long long)addr);
    note_read(s, b->epoch, tid, w->sync);
}

/* Returns true where the write may conflict with an earlier write in the same epoch:
 * the caller reports it if the value differs. */
static __attribute__((noinline)) bool check_write(warp *w, const instruction *in, int lane, shadow *s, uint64_t addr,
                                                  bool atomic, bool global)
{
    block *b = w->blk;
    unsigned tid = (unsigned)lane_tid(w, lane), flags = atomic ? SH_ATOMIC : 0;
    bool conflict = false;
    if (sim_opt.races) {
        if (s->wr_epoch >= b->first_epoch) {
            if (s->wr_tid & SH_PENDING)
                sim_report(w, in, lane, CK_LAUNCH, false, "write to %s while a cp.async of %s to it is not waited for",
                           place(w, addr, global), other_thread(w, s->wr_tid & SH_TID));
            else if (s->wr_epoch == b->epoch && (s->wr_tid & SH_TID) != tid && !(atomic && s->wr_tid & SH_ATOMIC) &&
                     !same_warp_ordered(w, s->wr_tid & SH_TID, s->wr_sync))
                conflict = true;
        } else if (global && s->wr_epoch >= b->launch->first_epoch && !(atomic && s->wr_tid & SH_ATOMIC) &&
                   !b->acquired)
            conflict = true;
        if (!atomic && s->rd_epoch == b->epoch && s->rd_tid != tid &&
            (s->rd_tid & SH_MANY_WARPS || !same_warp_ordered(w, s->rd_tid & SH_TID, s->rd_sync)))
            sim_report(w, in, lane, CK_LAUNCH, false, "race on %s: write without a barrier after a read by %s",
                       place(w, addr, global),
                       (s->rd_tid & SH_TID) != tid ? other_thread(w, s->rd_tid & SH_TID) : "other threads");
        else if (!atomic && global && s->rd_epoch < b->first_epoch && s->rd_epoch >= b->launch->first_epoch &&
                 !b->acquired)
            sim_report(w, in, lane, CK_LAUNCH, false, "race on global 0x%llx: write after a read by another block",
                       (unsigned long long)addr);
    }
    s->wr_epoch = b->epoch;
    s->wr_tid = (uint16_t)(tid | flags);
    s->wr_sync = w->sync;
    return conflict;
}

static void report_conflict(warp *w, const instruction *in, int lane, uint64_t addr)
{
    sim_report(w, in, lane, CK_LAUNCH, false,
               "race on %s: two threads write different values without a barrier between",
               place(w, addr, addr >= mem_base && addr < mem_limit));
}

/* ---- translation ---- */
static void lane_range(uint32_t m, const uint64_t *addr, uint64_t *lo, uint64_t *hi)
{
    uint64_t a = ~0ull, b = 0;
    if (m == ~0u)
        for (int l = 0; l < LANES; l++) {
            a = addr[l] < a ? addr[l] : a;
            b = addr[l] > b ? addr[l] : b;
        }
    else
        for (uint32_t r = m; r; r &= r - 1) {
            uint64_t x = addr[__builtin_ctz(r)];
            a = x < a ? x : a;
            b = x > b ? x : b;
        }
    *lo = a;
    *hi = b;
}

static bool all_valid(const uint8_t *v, unsigned n) /* n is a multiple of 32 */
{
    uint64_t all = 0x0101010101010101ull;
    for (unsigned i = 0; i < n; i += 8)
        all &= *(const uint64_t *)(v + i);
    return all == 0x0101010101010101ull;
}

static uint32_t global_pointers(warp *w, const instruction *in, uint32_t m, const uint64_t *addr, unsigned bytes,
                                int kind, uint8_t **ptr)
{
    check_alignment(w, in, m, addr, bytes, kind, "global");
    if (sim_opt.counts)
        count_global(w, m, addr, bytes, kind);
    uint64_t lo, hi;
    lane_range(m, addr, &lo, &hi);
    const allocation *a = mem_find(lo);
    if (a && a->live && a->device != w->blk->launch->device)
        sim_report(w, in, __builtin_ctz(m), CK_BOUNDS, true,
                   "global %s of memory of device %d by a kernel of device %d", verb(kind), a->device,
                   w->blk->launch->device);
    if (!(a && a->live && lo >= a->base && hi + bytes <= a->base + a->size))
        for (int l = 0; l < LANES; l++)
            if (m >> l & 1 && !mem_host(addr[l], bytes)) {
                const allocation *near = mem_find(addr[l]);
                for (int k = 1; !near && k < 64; k++)
                    near = mem_find(addr[l] - (uint64_t)k * 256);
                char text[160] = "";
                if (near && !near->live && addr[l] >= near->base && addr[l] < near->base + near->size)
                    snprintf(text, sizeof text, "; the allocation was freed");
                else if (near)
                    snprintf(text, sizeof text, "; %lld bytes from the start of an allocation of %llu bytes",
                             (long long)(addr[l] - near->base), (unsigned long long)near->size);
                sim_report(w, in, l, CK_BOUNDS, true, "out-of-bounds global %s of %u bytes at 0x%llx%s", verb(kind),
                           bytes, (unsigned long long)addr[l], text);
            }
    uint8_t *backing = mem_backing, *valid = mem_valid;
    const uint64_t start = mem_base;
    for (int l = 0; l < LANES; l++) /* of the others it is not used */
        ptr[l] = backing + (addr[l] - start);
    bool dense = hi - lo == (uint64_t)bytes * (LANES - 1) && m == ~0u && kind != A_ATOMIC; /* probably one piece */
    for (int l = 0; dense && l < LANES; l++)
        dense = addr[l] == lo + (uint64_t)l * bytes;
    if (kind != A_WRITE && sim_opt.uninit_global && !(dense && all_valid(valid + (lo - start), bytes * LANES))) {
        for (uint32_t r = m; r; r &= r - 1) {
            int l = __builtin_ctz(r);
            const uint8_t *v = valid + (addr[l] - start);
            bool ok = true;
            switch (bytes) {
            case 1: ok = *v; break;
            case 2: ok = *(const uint16_t *)v == 0x0101; break;
            case 4: ok = *(const uint32_t *)v == 0x01010101; break;
            default:
                for (unsigned i = 0; i < bytes; i += 8)
                    ok &= *(const uint64_t *)(v + i) == 0x0101010101010101ull;
            }
            if (!ok) {
                sim_report(w, in, l, CK_LAUNCH, false, "read of uninitialised global memory at 0x%llx",
                           (unsigned long long)addr[l]);
                mem_mark_valid(addr[l], bytes, 1);
            }
        }
    }
    if (kind != A_READ && dense)
        memset(valid + (lo - start), 1, bytes * LANES);
    else if (kind != A_READ)
        switch (bytes) {
        case 4:
            EACH_LANE(l, m)
                *(uint32_t *)(valid + (addr[l] - start)) = 0x01010101;
            break;
        case 2:
            EACH_LANE(l, m)
                *(uint16_t *)(valid + (addr[l] - start)) = 0x0101;
            break;
        default:
            for (uint32_t r = m; r; r &= r - 1)
                memset(valid + (addr[__builtin_ctz(r)] - start), 1, bytes);
        }
    uint32_t conflicts = 0;
    if (mem_shadow && sim_opt.global_races) {
        unsigned g = w->fn->granule;
        for (uint32_t r = m; r; r &= r - 1) {
            int l = __builtin_ctz(r);
            for (unsigned i = 0; i < bytes; i += g) {
                shadow *s = &mem_shadow[(addr[l] + i - mem_base) / g];
                if (kind == A_READ)
                    check_read(w, in, l, s, addr[l] + i, false, true);
                else if (check_write(w, in, l, s, addr[l] + i, kind == A_ATOMIC, true))
                    conflicts |= 1u << l;
            }
        }
    }
    return conflicts;
}

static uint32_t shared_pointers(warp *w, const instruction *in, uint32_t m, const uint64_t *addr, unsigned bytes,
                                int kind, uint8_t **ptr)
{
    block *b = w->blk;
    const function *f = w->fn;
    uint64_t dyn = f->dynamic_shared >= 0 ? (uint64_t)f->dynamic_shared : ~0ull >> 1,
             dyn_end = dyn + b->launch->shared_dynamic, lo, hi;
    check_alignment(w, in, m, addr, bytes, kind, "shared");
    if (sim_opt.counts)
        count_shared(w, m, addr, bytes);
    lane_range(m, addr, &lo, &hi);
    if (!(hi + bytes <= f->shared_end || (lo >= dyn && hi + bytes <= dyn_end)))
        for (uint32_t r = m; r; r &= r - 1) {
            int l = __builtin_ctz(r);
            if (!(addr[l] + bytes <= f->shared_end || (addr[l] >= dyn && addr[l] + bytes <= dyn_end)))
                sim_report(w, in, l, CK_BOUNDS, true,
                           "out-of-bounds shared %s of %u bytes at offset 0x%llx (%u static bytes from 0x40, %u "
                           "dynamic bytes from 0x%x)",
                           verb(kind), bytes, (unsigned long long)addr[l], f->shared_static, b->launch->shared_dynamic,
                           f->dynamic_shared);
        }
    uint8_t *base = b->shared;
    for (int l = 0; l < LANES; l++) /* of the others it is not used */
        ptr[l] = base + addr[l];
    if (f->bulk)
        bulk_touched(w, in, m, addr, bytes, kind);
    if (kind != A_READ && (f->wgmma || f->bulk))
        wgmma_written(w, in, m, addr, bytes);
    if (!sim_opt.races && !sim_opt.uninit_shared)
        return 0;

    /* The common cases are decided here: a read of what an earlier epoch wrote, a write to what
     * this epoch has not touched.  Everything else goes to check_read and check_write. */
    const int shift = __builtin_ctz(f->granule), n = (int)(bytes >> shift);
    const uint32_t epoch = b->epoch, first = b->first_epoch, span = epoch - first;
    const uint16_t sync = w->sync;
    shadow *marks = b->shadow, *previous = NULL;
    uint32_t conflicts = 0;
    for (uint32_t r = m; r; r &= r - 1) {
        int l = __builtin_ctz(r);
        unsigned tid = (unsigned)lane_tid(w, l);
        shadow *s = marks + (addr[l] >> shift);
        if (kind == A_READ) {
            if (s == previous || (l >= 16 && addr[l] == addr[l - 16] && m >> (l - 16) & 1)) {
                bool settled = true; /* already checked for another lane? */
                for (int i = 0; i < n; i++)
                    settled &= s[i].wr_epoch != epoch;
                if (settled) {
                    for (int i = 0; i < n; i++)
                        s[i].rd_tid |= SH_MANY_LANES;
                    continue;
                }
            }
            previous = s;
            for (int i = 0; i < n; i++, s++) {
                if (__builtin_expect(s->wr_epoch - first < span && !(s->wr_tid & SH_PENDING), 1))
                    note_read(s, epoch, tid, sync);
                else
                    check_read(w, in, l, s, addr[l] + ((unsigned)i << shift), false, false);
            }
            continue;
        }
        for (int i = 0; i < n; i++, s++) {
            uint64_t at = addr[l] + ((unsigned)i << shift);
            if (kind == A_WRITE &&
                __builtin_expect(s->wr_epoch - first < span && !(s->wr_tid & SH_PENDING) && s->rd_epoch != epoch, 1)) {
                s->wr_epoch = epoch;
                s->wr_tid = (uint16_t)tid;
                s->wr_sync = sync;
                continue;
            }
            if (kind == A_ATOMIC)
                check_read(w, in, l, s, at, true, false);
            if (s->wr_epoch < first && !in_variable(f, at))
                sim_report(w, in, l, CK_BOUNDS, true, "out-of-bounds write of %s, past its end", place(w, at, false));
            if (check_write(w, in, l, s, at, kind == A_ATOMIC, false))
                conflicts |= 1u << l;
        }
    }
    return conflicts;
}

/* Translates and checks the addresses of the active lanes.  Returns the lanes whose
 * write may race with another write. */
uint32_t access_pointers(warp *w, const instruction *in, uint32_t m, const uint64_t *addr, int space, unsigned bytes,
                         int kind, uint8_t **ptr)
{
    switch (space) {
    case SP_GLOBAL: return global_pointers(w, in, m, addr, bytes, kind, ptr);
    case SP_SHARED: return shared_pointers(w, in, m, addr, bytes, kind, ptr);
    case SP_LOCAL:
        check_alignment(w, in, m, addr, bytes, kind, "local");
        for (uint32_t r = m; r; r &= r - 1) {
            int l = __builtin_ctz(r);
            if (addr[l] < 16 || addr[l] + bytes > w->local_size)
                sim_report(w, in, l, CK_BOUNDS, true, "out-of-bounds local %s at offset 0x%llx", verb(kind),
                           (unsigned long long)addr[l]);
            ptr[l] = w->local + (size_t)l * w->local_size + addr[l];
        }
        return 0;
    case SP_PARAM:
        for (uint32_t r = m; r; r &= r - 1) {
            int l = __builtin_ctz(r);
            if (addr[l] + bytes > w->fn->parameter_size || kind != A_READ)
                sim_report(w, in, l, CK_BOUNDS, true, "out-of-bounds parameter %s at offset 0x%llx", verb(kind),
                           (unsigned long long)addr[l]);
            ptr[l] = w->blk->launch->parameters + addr[l];
        }
        return 0;
    default: { /* generic: split the lanes by window */
        static const struct {
            uint64_t base;
            int space;
        } windows[] = {{0, SP_GLOBAL}, {SHARED_WINDOW, SP_SHARED}, {LOCAL_WINDOW, SP_LOCAL}, {PARAM_WINDOW, SP_PARAM}};
        uint32_t conflicts = 0;
        uint64_t local[LANES];
        for (int k = 3; k >= 0 && m; k--) {
            uint32_t sub = 0;
            for (uint32_t r = m; r; r &= r - 1) {
                int l = __builtin_ctz(r);
                if (k == 0 || (addr[l] & WINDOW_MASK) == windows[k].base) {
                    sub |= 1u << l;
                    local[l] = addr[l] - windows[k].base;
                }
            }
            if (sub)
                conflicts |= access_pointers(w, in, sub, local, windows[k].space, bytes, kind, ptr);
            m &= ~sub;
        }
        return conflicts;
    }
    }
}

/* ---- loads and stores ---- */

/* What something reads of element k, bytes first on; 0: nothing */
static unsigned used_run(const instruction *in, unsigned k, unsigned *first)
{
    const unsigned all = (1u << in->size) - 1, used = in->unused >> k & 1 ? 0
                                                      : in->used_bytes    ? in->used_bytes >> k * in->size & all
                                                                          : all;
    *first = used ? (unsigned)__builtin_ctz(used) : 0;
    return used ? (unsigned)(32 - __builtin_clz(used)) - *first : 0;
}

/* Element by element: bytes that nothing reads are held to the alignment of the whole alone. */
static void used_pointers(warp *w, const instruction *in, uint32_t m, const uint64_t *addr, uint8_t **ptr)
{
    const unsigned size = in->size;
    uint64_t at[LANES];
    uint8_t *part[LANES];
    bool any = false;
    check_alignment(w, in, m, addr, size * in->count, A_READ, "vector");
    if (sim_opt.counts && in->space == SP_SHARED)
        count_shared(w, m, addr, size * in->count);
    else if (sim_opt.counts)
        count_global(w, m, addr, size * in->count, A_READ);
    w->blk->uncounted = true;
    for (unsigned k = 0, first, bytes; k < in->count; k++) {
        if (!(bytes = used_run(in, k, &first)))
            continue;
        for (int l = 0; l < LANES; l++)
            at[l] = addr[l] + k * size + first;
        for (unsigned i = 0; i < bytes; i += bytes == size ? size : 1) {
            access_pointers(w, in, m, at, in->space, bytes == size ? size : 1, A_READ, part);
            for (int l = 0; l < LANES; l++) {
                at[l]++;
                if (!any)
                    ptr[l] = m >> l & 1 ? part[l] - k * size - first : NULL;
            }
            any = true;
        }
    }
    w->blk->uncounted = false;
}

/* What lanes load, `off` bytes behind their pointers. Inlined, so that loops over all lanes become loops of vectors. */
static inline __attribute__((always_inline)) void load(const instruction *in, uint32_t m, uint8_t *const *ptr,
                                                       unsigned off, void *row)
{
    const unsigned size = in->size, spare = 64 - 8 * size;
    const bool is_signed = in->flags & F_SIGNED;
    uint64_t *wide = row;
    uint32_t *d = row;
    if (in->type2 == 8 && size == 8)
        EACH_LANE(l, m)
            wide[l] = *(const uint64_t *)(ptr[l] + off);
    else if (in->type2 == 8 && size == 4 && is_signed)
        EACH_LANE(l, m)
            wide[l] = (uint64_t)(int64_t) * (const int32_t *)(ptr[l] + off);
    else if (in->type2 == 8)
        EACH_LANE(l, m) {
            uint64_t v = 0;
            memcpy(&v, ptr[l] + off, size);
            wide[l] = is_signed ? (uint64_t)((int64_t)(v << spare) >> spare) : v;
        }
    else if (size == 4)
        EACH_LANE(l, m)
            d[l] = *(const uint32_t *)(ptr[l] + off);
    else if (size == 2 && is_signed)
        EACH_LANE(l, m)
            d[l] = (uint32_t)(int32_t) * (const int16_t *)(ptr[l] + off);
    else if (size == 2)
        EACH_LANE(l, m)
            d[l] = *(const uint16_t *)(ptr[l] + off);
    else
        EACH_LANE(l, m)
            d[l] = is_signed ? (uint32_t)(int32_t)(int8_t)ptr[l][off] : ptr[l][off];
}

static inline __attribute__((always_inline)) void store(const instruction *in, uint32_t m, uint8_t *const *ptr,
                                                        unsigned off, const uint8_t *row)
{
    const unsigned stride = in->type2;
    switch (in->size) {
    case 8:
        EACH_LANE(l, m)
            *(uint64_t *)(ptr[l] + off) = ((const uint64_t *)row)[l];
        break;
    case 4:
        EACH_LANE(l, m)
            memcpy(ptr[l] + off, row + (size_t)l * stride, 4);
        break;
    case 2:
        EACH_LANE(l, m)
            memcpy(ptr[l] + off, row + (size_t)l * stride, 2);
        break;
    default:
        EACH_LANE(l, m)
            ptr[l][off] = row[(size_t)l * stride];
        break;
    }
}

void op_ld(warp *w, const instruction *in, uint32_t m)
{
    uint64_t addr[LANES];
    uint8_t *ptr[LANES];
    unsigned size = in->size, bytes = size * in->count;
    compute_addresses(w, in, addr);
    if ((in->unused && in->unused + 1 < 1 << in->count) || in->used_bytes)
        used_pointers(w, in, m, addr, ptr);
    else
        access_pointers(w, in, m, addr, in->space, bytes, A_READ, ptr);
    for (int k = 0; k < in->count; k++) {
        uint8_t *row = w->R + in->list[k];
        unsigned off = (unsigned)k * size;
        if (m == ~0u)
            load(in, ~0u, ptr, off, row);
        else
            load(in, m, ptr, off, row);
    }
}

void op_st(warp *w, const instruction *in, uint32_t m)
{
    uint64_t addr[LANES];
    uint8_t *ptr[LANES];
    unsigned size = in->size, bytes = size * in->count, stride = in->type2;
    compute_addresses(w, in, addr);
    uint32_t conflicts = access_pointers(w, in, m, addr, in->space, bytes, A_WRITE, ptr);
    for (int k = 0; k < in->count; k++) {
        const uint8_t *row = w->R + in->list[k];
        unsigned off = (unsigned)k * size;
        if (conflicts)
            for (uint32_t r = m & conflicts; r; r &= r - 1) {
                /* lanes before this one in the same instruction have not stored yet: do it now */
                int l = __builtin_ctz(r);
                for (uint32_t q = m & ((1u << l) - 1); q; q &= q - 1)
                    memcpy(ptr[__builtin_ctz(q)] + off, row + (size_t)__builtin_ctz(q) * stride, size);
                if (memcmp(ptr[l] + off, row + (size_t)l * stride, size) != 0)
                    report_conflict(w, in, l, addr[l]);
            }
        if (m == ~0u)
            store(in, ~0u, ptr, off, row);
        else
            store(in, m, ptr, off, row);
    }
}

void op_copy_local(warp *w, const instruction *in, uint32_t m)
{
    for (int k = 0; k + 2 < in->nlist; k += 3)
        for (uint32_t r = m; r; r &= r - 1) {
            uint8_t *frame = w->local + (size_t)__builtin_ctz(r) * w->local_size;
            memcpy(frame + in->list[k], frame + in->list[k + 1], (size_t)in->list[k + 2]);
        }
}

void op_isspace(warp *w, const instruction *in, uint32_t m)
{
    const uint64_t *a = (const uint64_t *)(w->R + in->a);
    uint32_t r = 0;
    for (int l = 0; l < LANES; l++) {
        uint64_t win = a[l] & WINDOW_MASK;
        int space = win == SHARED_WINDOW  ? SP_SHARED
                    : win == LOCAL_WINDOW ? SP_LOCAL
                    : win == PARAM_WINDOW ? SP_PARAM
                                          : SP_GLOBAL;
        r |= (uint32_t)(space == in->space) << l;
    }
    uint32_t *p = &w->pred[in->d >> 1];
    *p = (*p & ~m) | (r & m);
}

/* ---- atomics ---- */
static volatile int atomic_lock;

static uint64_t combine(int mode, value_type t, uint64_t old, uint64_t b, uint64_t c)
{
    switch (mode) {
    case 0:
        switch (t) {
        case T_F32: return f2u(u2f((uint32_t)old) + u2f((uint32_t)b));
        case T_F64: return d2u(u2d(old) + u2d(b));
        case T_F16: return f2h(h2f((uint16_t)old) + h2f((uint16_t)b));
        case T_BF16: return f2bf(bf2f((uint16_t)old) + bf2f((uint16_t)b));
        case T_F16X2:
            return f2h(h2f((uint16_t)old) + h2f((uint16_t)b)) |
                   (uint32_t)f2h(h2f((uint16_t)(old >> 16)) + h2f((uint16_t)(b >> 16))) << 16;
        case T_BF16X2:
            return f2bf(bf2f((uint16_t)old) + bf2f((uint16_t)b)) |
                   (uint32_t)f2bf(bf2f((uint16_t)(old >> 16)) + bf2f((uint16_t)(b >> 16))) << 16;
        default: return old + b;
        }
    case 1:
    case 2: {
        bool less = t == T_S32 ? (int32_t)b < (int32_t)old : t == T_S64 ? (int64_t)b < (int64_t)old : b < old;
        return less == (mode == 1) ? b : old;
    }
    case 3: return old & b;
    case 4: return old | b;
    case 5: return old ^ b;
    case 6: return b;
    case 7: return old == b ? c : old;
    case 8: return old >= b ? 0 : old + 1;
    default: return old == 0 || old > b ? b : old - 1;
    }
}

void op_atom(warp *w, const instruction *in, uint32_t m)
{
    uint64_t addr[LANES];
    uint8_t *ptr[LANES];
    unsigned size = in->size, stride = size == 8 ? 8 : 4;
    compute_addresses(w, in, addr);
    uint32_t conflicts = access_pointers(w, in, m, addr, in->space, size, A_ATOMIC, ptr);
    bool lock = sim_opt.workers > 1;
    if (conflicts)
        report_conflict(w, in, __builtin_ctz(conflicts), addr[__builtin_ctz(conflicts)]);
    w->blk->acquired = true;
    if (lock)
        while (__atomic_exchange_n(&atomic_lock, 1, __ATOMIC_ACQUIRE)) {}
    for (uint32_t r = m; r; r &= r - 1) {
        int l = __builtin_ctz(r);
        uint64_t old = 0, b = 0, c = 0;
        memcpy(&old, ptr[l], size);
        memcpy(&b, w->R + in->b + (size_t)l * stride, size);
        if (in->mode == 7)
            memcpy(&c, w->R + in->c + (size_t)l * stride, size);
        uint64_t v = combine(in->mode, in->type, old, b, c);
        memcpy(ptr[l], &v, size);
        if (in->d >= 0) {
            if (stride == 8)
                ((uint64_t *)(w->R + in->d))[l] = old;
            else
                ((uint32_t *)(w->R + in->d))[l] = (uint32_t)old;
        }
    }
    if (lock)
        __atomic_store_n(&atomic_lock, 0, __ATOMIC_RELEASE);
}

/* ---- cp.async: checked when issued, carried out when waited for ---- */
void op_cp_async(warp *w, const instruction *in, uint32_t m)
{
    uint64_t dst[LANES], src[LANES];
    uint8_t *ptr[LANES];
    block *b = w->blk;
    const uint64_t *pb = (const uint64_t *)(w->R + in->b);
    uint32_t skip = pred_value(w, in->e), reading = 0;
    compute_addresses(w, in, dst);
    for (int l = 0; l < LANES; l++)
        src[l] = pb[l] + (uint64_t)(int64_t)in->target;
    uint8_t count[LANES];
    for (int l = 0; l < LANES; l++) {
        uint32_t n = in->c >= 0 ? ((const uint32_t *)(w->R + in->c))[l] : in->size;
        if (skip >> l & 1)
            n = 0;
        count[l] = (uint8_t)(n > in->size ? in->size : n);
        if (m >> l & 1 && count[l])
            reading |= 1u << l;
    }
    if (reading) {
        check_alignment(w, in, reading, src, in->size, A_READ, "global");
        if (sim_opt.counts)
            count_global(w, reading, src, in->size, A_READ);
        b->uncounted = true;
        for (uint32_t r = reading; r; r &= r - 1) /* partial copies may end inside the vector */
            access_pointers(w, in, r & -r, src, SP_GLOBAL,
                            count[__builtin_ctz(r)] & (count[__builtin_ctz(r)] - 1) ? 1 : count[__builtin_ctz(r)],
                            A_READ, ptr);
        b->uncounted = false;
    }
    uint32_t conflicts = access_pointers(w, in, m, dst, SP_SHARED, in->size, A_WRITE, ptr);
    if (conflicts)
        report_conflict(w, in, __builtin_ctz(conflicts), dst[__builtin_ctz(conflicts)]);
    for (uint32_t r = m; r; r &= r - 1) {
        int l = __builtin_ctz(r);
        if (w->ncopies == w->cap_copies) {
            w->cap_copies = w->cap_copies ? w->cap_copies * 2 : 256;
            w->copies = reallocarray(w->copies, (size_t)w->cap_copies, sizeof *w->copies);
        }
        w->copies[w->ncopies++] = (async_copy){(uint8_t)l, in->size,    count[l], (uint32_t)dst[l],
                                               src[l],     w->group[l], in};
        for (unsigned i = 0; i < in->size; i += w->fn->granule)
            b->shadow[(dst[l] + i) / w->fn->granule].wr_tid |= SH_PENDING;
    }
}

void op_cp_commit(warp *w, const instruction *in, uint32_t m)
{
    (void)in;
    EACH_LANE(l, m)
        w->group[l]++;
}

void op_cp_wait(warp *w, const instruction *in, uint32_t m)
{
    block *b = w->blk;
    unsigned g = w->fn->granule;
    int kept = 0;
    for (int i = 0; i < w->ncopies; i++) {
        async_copy c = w->copies[i];
        bool due = m >> c.lane & 1 &&
                   (in->flags & F_WAIT_ALL || (int64_t)c.group < (int64_t)w->group[c.lane] - in->imm);
        if (!due) {
            w->copies[kept++] = c;
            continue;
        }
        uint8_t *to = b->shared + c.dst;
        memcpy(to, mem_backing + (c.src - mem_base) * (c.src_size != 0), c.src_size);
        memset(to + c.src_size, 0, (size_t)(c.size - c.src_size));
        for (unsigned k = 0; k < c.size; k += g) {
            shadow *s = &b->shadow[(c.dst + k) / g];
            *s = (shadow){.wr_epoch = b->epoch,
                          .wr_tid = (uint16_t)lane_tid(w, c.lane),
                          .wr_sync = w->sync,
                          .rd_epoch = s->rd_epoch,
                          .rd_tid = s->rd_tid,
                          .rd_sync = s->rd_sync};
        }
    }
    w->ncopies = kept;
}
