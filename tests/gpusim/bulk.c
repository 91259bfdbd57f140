/* bulk.c - mbarriers, and copies in bulk that tell them how many bytes have come: of one piece, and of boxes of a
 * tensor that a map describes (TMA). A copy is carried out as late as can be, when somebody asks for the phase that it
 * belongs to. What cards hide is found: data read without a wait for their phase, places that are still read or on
 * their way, wrong numbers of bytes, for which cards wait for ever, barriers that are not made known, multiples that
 * are wrong. */
#include "tests/gpusim/driver.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BARRIERS = 64, RANK = 5, PIECE = 16 };

/* ---- maps of tensors ---- */
typedef struct tensor_map { /* what the opaque 128 bytes of a map hold here */
    uint32_t mark;
    uint8_t rank, size, swizzle, unused; /* swizzle: bytes of a row, or 0 */
    uint64_t address;
    uint64_t dim[RANK - 1]; /* all but the last one */
    uint64_t last;
    uint64_t stride[RANK - 2]; /* bytes, from the second dimension on */
    uint32_t far;              /* of the last one, in pieces of 16 bytes */
    uint16_t box[RANK];
    uint16_t end;
} tensor_map;
enum { MARK = 0x544d4150 };
_Static_assert(sizeof(tensor_map) <= 128, "a map has 128 bytes");

__attribute__((visibility("default"))) int cuTensorMapEncodeTiled(void *out, int type, unsigned rank, uint64_t address,
                                                                  const uint64_t *dim, const uint64_t *stride,
                                                                  const uint32_t *box, const uint32_t *step,
                                                                  int interleave, int swizzle, int promotion, int fill)
{
    static const uint8_t size[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    static const uint8_t rows[] = {0, 32, 64, 128};
    enum { INVALID = 1, TYPES = sizeof size };
    tensor_map m = {.mark = MARK, .rank = (uint8_t)rank, .address = address};
    const int failed = fail_call(__func__);
    (void)promotion;
    if (failed)
        return failed;
    if (!out || (uintptr_t)out % 64 || type < 0 || type >= TYPES || rank < 1 || rank > RANK || address % 16 ||
        interleave || fill || swizzle < 0 || swizzle > 3)
        return INVALID;
    m.size = size[type], m.swizzle = rows[swizzle];
    for (unsigned i = 0; i < rank; i++) {
        if (!dim[i] || dim[i] > 1ull << 32 || !box[i] || box[i] > 256 || step[i] != 1)
            return INVALID;
        if (i && (stride[i - 1] % 16 || stride[i - 1] >= 1ull << 40))
            return INVALID;
        *(i < RANK - 1 ? &m.dim[i] : &m.last) = dim[i], m.box[i] = (uint16_t)box[i];
        if (i == RANK - 1)
            m.far = (uint32_t)(stride[i - 1] / 16);
        else if (i)
            m.stride[i - 1] = stride[i - 1];
    }
    if (m.box[0] * m.size % 16 || (m.swizzle && m.box[0] * m.size > m.swizzle))
        return INVALID;
    memset(out, 0, 128);
    memcpy(out, &m, sizeof m);
    return 0;
}

/* ---- barriers ---- */
typedef struct mbarrier {
    uint32_t at, count, pending, phase; /* phase: of those that have ended */
    int64_t bytes;                      /* that are still to come */
    uint32_t epoch, fences;             /* when it was made, and by whom */
    int warp;
    uint32_t seen, seen_in, safe; /* phases that somebody saw end; in which epoch; those seen before that one */
} mbarrier;
typedef struct transfer {
    int barrier;
    uint32_t phase, to, bytes;
    uint64_t from, sector; /* of one piece; where the last bytes came from */
    tensor_map map;
    int32_t at[RANK];
    bool tensor, done;
    const instruction *in;
    int warp, lane;
} transfer;
struct bulk {
    mbarrier bar[MOST_BARRIERS];
    int n_bar;
    transfer *transfer;
    size_t n, cap;
    uint64_t events;
    unsigned granule; /* of the kernel whose transfers they are */
    uint32_t *of;     /* as its shadow: 1 + the number of the transfer that wrote it last; 0: none did */
};

void bulk_begin(block *b)
{
    if (!b->launch->fn->bulk)
        return;
    if (!b->bulk) {
        b->bulk = calloc(1, sizeof *b->bulk);
        b->bulk->of = calloc(1 << 20, sizeof *b->bulk->of);
    }
    struct bulk *u = b->bulk;
    for (size_t i = 0; i < u->n; i++)
        memset(u->of + u->transfer[i].to / u->granule, 0, (u->transfer[i].bytes / u->granule + 1) * sizeof *u->of);
    u->granule = b->launch->fn->granule;
    u->n = 0, u->n_bar = 0, u->events = 0;
    for (int i = 0; i < b->nwarps; i++)
        memset(b->warps[i].seen, 0, sizeof b->warps[i].seen), b->warps[i].idle = b->warps[i].failed = false;
}

static mbarrier *barrier_at(warp *w, const instruction *in, int lane, uint32_t at, const char *what)
{
    block *b = w->blk;
    struct bulk *u = b->bulk;
    for (int i = 0; i < u->n_bar; i++) {
        mbarrier *q = &u->bar[i];
        if (q->at != at)
            continue;
        if (q->epoch == b->epoch && q->warp != w->index)
            sim_report(w, in, lane, CK_LAUNCH, false,
                       "%s of the mbarrier at shared 0x%x, which warp %d makes without a barrier between", what, at,
                       q->warp);
        return q;
    }
    sim_report(w, in, lane, CK_LAUNCH, true, "%s of an mbarrier at shared 0x%x: none is there", what, at);
    return NULL;
}

static void end_phase(block *b, mbarrier *q)
{
    if (q->pending || q->bytes)
        return;
    q->phase++, q->pending = q->count;
    if (q->count > 1) /* threads came together: as a barrier */
        b->epoch = next_epoch();
}

static uint32_t address_of(warp *w, const instruction *in, int lane)
{
    const uint64_t at = in->a < 0              ? (uint64_t)in->imm
                        : in->flags & F_ADDR64 ? ((const uint64_t *)(w->R + in->a))[lane] + (uint64_t)in->imm
                                               : ((const uint32_t *)(w->R + in->a))[lane] + (uint64_t)in->imm;
    if (at % 8)
        sim_report(w, in, lane, CK_ALIGN, true, "mbarrier at shared 0x%llx is at no multiple of 8",
                   (unsigned long long)at);
    return (uint32_t)at;
}

static uint32_t value_of(warp *w, int32_t row, int lane)
{
    return row < 0 ? 1 : ((const uint32_t *)(w->R + row))[lane];
}

void op_mbarrier_init(warp *w, const instruction *in, uint32_t m)
{
    block *b = w->blk;
    struct bulk *u = b->bulk;
    uint8_t *ptr[LANES];
    for (uint32_t r = m; r; r &= r - 1) {
        const int l = __builtin_ctz(r);
        const uint32_t at = address_of(w, in, l), n = value_of(w, in->b, l);
        uint64_t all[LANES] = {0};
        all[l] = at;
        access_pointers(w, in, 1u << l, all, SP_SHARED, 8, A_WRITE, ptr);
        for (int i = 0; i < u->n_bar; i++)
            if (u->bar[i].at == at)
                sim_report(w, in, l, CK_LAUNCH, true, "the mbarrier at shared 0x%x is made twice", at);
        if (u->n_bar == MOST_BARRIERS || !n || n >= 1u << 20)
            sim_report(w, in, l, CK_UNSUPPORTED, true, "mbarrier number %d, for %u arrivals, is not supported",
                       u->n_bar + 1, n);
        u->bar[u->n_bar++] = (mbarrier){
            .at = at, .count = n, .pending = n, .epoch = b->epoch, .fences = w->async.fences, .warp = w->index};
        u->events++;
    }
}

void op_mbarrier_inval(warp *w, const instruction *in, uint32_t m)
{
    struct bulk *u = w->blk->bulk;
    for (uint32_t r = m; r; r &= r - 1) {
        const int l = __builtin_ctz(r);
        mbarrier *q = barrier_at(w, in, l, address_of(w, in, l), "end");
        q->at = UINT32_MAX;
        u->events++;
    }
}

/* in->mode: 1: arrives, 2: expects bytes, 3: both */
void op_mbarrier_arrive(warp *w, const instruction *in, uint32_t m)
{
    struct bulk *u = w->blk->bulk;
    for (uint32_t r = m; r; r &= r - 1) {
        const int l = __builtin_ctz(r);
        mbarrier *q = barrier_at(w, in, l, address_of(w, in, l), "arrival");
        const uint32_t n = in->mode == 1 ? value_of(w, in->b, l) : 1;
        if (in->d >= 0)
            ((uint64_t *)(w->R + in->d))[l] = q->phase;
        if (in->mode & 2)
            q->bytes += value_of(w, in->b, l);
        if (in->mode & 1) {
            if (n > q->pending)
                sim_report(w, in, l, CK_LAUNCH, true,
                           "arrival at the mbarrier at shared 0x%x, to which all %u have come in this phase", q->at,
                           q->count);
            q->pending -= n;
        }
        u->events++;
        end_phase(w->blk, q);
    }
}

/* ---- transfers ---- */
static void put_bytes(block *b, transfer *t, uint32_t to, uint64_t from, uint32_t n, bool inside)
{
    warp *w = &b->warps[t->warp];
    const unsigned granule = w->fn->granule;
    uint64_t src[LANES] = {0};
    uint8_t *ptr[LANES];
    for (uint32_t i = 0; i < n; i += PIECE) {
        uint32_t at = to + i;
        if (t->tensor && t->map.swizzle)
            at ^= (at >> 7 & (t->map.swizzle / PIECE - 1u)) << 4;
        if (inside) {
            src[t->lane] = from + i;
            access_pointers(w, t->in, 1u << t->lane, src, SP_GLOBAL, PIECE, A_READ, ptr);
            memcpy(b->shared + at, ptr[t->lane], PIECE);
            b->counts.read_bytes += PIECE;
            b->counts.read_sectors += src[t->lane] / 32 != t->sector;
            t->sector = src[t->lane] / 32;
        } else
            memset(b->shared + at, 0, PIECE);
        for (unsigned k = 0; k < PIECE; k += granule) {
            shadow *s = &b->shadow[(at + k) / granule];
            s->wr_epoch = b->first_epoch, s->wr_tid = 0, s->wr_sync = 0;
        }
    }
    b->counts.bulk_bytes += n;
}

/* An element of a row; boxes begin anywhere in one. */
static void put_element(block *b, transfer *t, uint32_t at, uint64_t from)
{
    warp *w = &b->warps[t->warp];
    const unsigned size = t->map.size;
    uint64_t src[LANES] = {0};
    uint8_t *ptr[LANES];
    at ^= t->map.swizzle ? (at >> 7 & (t->map.swizzle / PIECE - 1u)) << 4 : 0;
    src[t->lane] = from;
    access_pointers(w, t->in, 1u << t->lane, src, SP_GLOBAL, size, A_READ, ptr);
    memcpy(b->shared + at, ptr[t->lane], size);
    b->counts.read_bytes += size;
    b->counts.read_sectors += from / 32 != t->sector;
    t->sector = from / 32;
}

/* Row by row; elements outside are zeros. What is not a whole piece at its place comes element by element. */
static void put_row(block *b, transfer *t, uint32_t to, uint64_t row, bool inside)
{
    const tensor_map *m = &t->map;
    const int64_t first = t->at[0], n = m->box[0], left = (int64_t)m->dim[0];
    const unsigned of = PIECE / m->size;
    for (int64_t i = 0; i < n; i += of) {
        const uint64_t from = row + (uint64_t)(first + i) * m->size;
        const bool all = inside && first + i >= 0 && first + i + of <= left && from % PIECE == 0;
        put_bytes(b, t, to + (uint32_t)(i * m->size), from, PIECE, all);
        for (unsigned e = 0; inside && !all && e < of; e++)
            if (first + i + e >= 0 && first + i + e < left)
                put_element(b, t, to + (uint32_t)((i + e) * m->size), from + e * m->size);
    }
}

static void carry_out(block *b, transfer *t)
{
    const bool was = b->uncounted;
    b->uncounted = true;
    if (!t->tensor)
        put_bytes(b, t, t->to, t->from, t->bytes, true);
    else {
        const tensor_map *m = &t->map;
        uint32_t i[RANK] = {0}, to = t->to;
        for (;;) {
            uint64_t row = m->address;
            bool inside = true;
            for (int d = 1; d < m->rank; d++) {
                const int64_t at = (int64_t)t->at[d] + i[d];
                inside = inside && at >= 0 && (uint64_t)at < (d < RANK - 1 ? m->dim[d] : m->last);
                row += (uint64_t)at * (d < RANK - 1 ? m->stride[d - 1] : (uint64_t)m->far * 16);
            }
            put_row(b, t, to, row, inside);
            to += m->box[0] * m->size;
            int d = 1;
            while (d < m->rank && ++i[d] == m->box[d])
                i[d++] = 0;
            if (d >= m->rank)
                break;
        }
    }
    b->uncounted = was;
    t->done = true;
}

/* What has been asked to come to the barrier comes. */
static void bring(block *b, int barrier)
{
    struct bulk *u = b->bulk;
    for (size_t i = 0; i < u->n; i++) {
        transfer *t = &u->transfer[i];
        if (t->done || t->barrier != barrier)
            continue;
        mbarrier *q = &u->bar[barrier];
        carry_out(b, t);
        q->bytes -= t->bytes;
        t->phase = q->phase;
        u->events++;
        end_phase(b, q);
    }
}

/* The place is free to be written to, and inside; from here on it is on its way. */
static void claim(warp *w, const instruction *in, int lane, transfer *t, unsigned multiple)
{
    block *b = w->blk;
    struct bulk *u = b->bulk;
    const unsigned granule = w->fn->granule;
    uint64_t at[LANES] = {0};
    uint8_t *ptr[LANES];
    const bool was = b->uncounted;
    if (t->to % multiple || t->bytes % PIECE || !t->bytes)
        sim_report(w, in, lane, CK_ALIGN, true,
                   "a bulk copy of %u bytes to shared 0x%x: places are multiples of %u, numbers of 16", t->bytes, t->to,
                   multiple);
    const mbarrier *q = &u->bar[t->barrier];
    if (b->warps[q->warp].async.fences == q->fences)
        sim_report(w, in, lane, CK_LAUNCH, false,
                   "a bulk copy is to tell the mbarrier at shared 0x%x, behind whose making there is no fence "
                   "(fence.mbarrier_init, or fence.proxy.async)",
                   q->at);
    b->uncounted = true;
    for (uint32_t i = 0; i < t->bytes; i += granule)
        proxy_check(w, in, lane, t->to + i, "a bulk copy goes to");
    for (uint32_t i = 0; i < t->bytes; i += PIECE) {
        at[lane] = t->to + i;
        access_pointers(w, in, 1u << lane, at, SP_SHARED, PIECE, A_WRITE, ptr);
        for (unsigned k = 0; k < PIECE; k += granule) {
            const size_t g = (t->to + i + k) / granule;
            u->of[g] = (uint32_t)u->n + 1;
            b->proxy[g] = 0;
            b->shadow[g].wr_epoch = b->first_epoch, b->shadow[g].wr_tid = 0;
        }
    }
    b->uncounted = was;
    t->in = in, t->warp = w->index, t->lane = lane;
    if (u->n == u->cap) {
        u->cap = u->cap ? 2 * u->cap : 64;
        u->transfer = reallocarray(u->transfer, u->cap, sizeof *u->transfer);
    }
    u->transfer[u->n++] = *t;
    u->events++;
    b->counts.bulk++;
}

/* a, imm: the place; b, target: the source, or the map; list[0], used_bytes: the barrier; then the number of bytes, or
 * coordinates, innermost first; mode: dimensions, or 0 */
void op_bulk(warp *w, const instruction *in, uint32_t m)
{
    struct bulk *u = w->blk->bulk;
    for (uint32_t r = m; r; r &= r - 1) {
        const int l = __builtin_ctz(r);
        transfer t = {.to = in->a < 0 ? (uint32_t)in->imm : value_of(w, in->a, l) + (uint32_t)in->imm,
                      .tensor = in->mode > 0};
        const uint64_t from = ((const uint64_t *)(w->R + in->b))[l] + (uint64_t)(int64_t)in->target;
        const uint32_t bar = value_of(w, in->list[0], l) + in->used_bytes;
        t.barrier = (int)(barrier_at(w, in, l, bar, "bulk copy") - u->bar);
        if (!t.tensor) {
            t.from = from, t.bytes = value_of(w, in->list[1], l);
            if (from % PIECE)
                sim_report(w, in, l, CK_ALIGN, true, "a bulk copy from global 0x%llx, which is no multiple of 16",
                           (unsigned long long)from);
            claim(w, in, l, &t, PIECE);
            continue;
        }
        uint64_t at[LANES] = {0};
        uint8_t *ptr[LANES];
        at[l] = from;
        for (unsigned k = 0; k < sizeof t.map; k += 8) {
            at[l] = from + k;
            access_pointers(w, in, 1u << l, at, SP_GENERIC, 8, A_READ, ptr);
            memcpy((char *)&t.map + k, ptr[l], 8);
        }
        if (from % 64 || t.map.mark != MARK || t.map.rank != in->mode)
            sim_report(w, in, l, CK_LAUNCH, true, "there is no map of a tensor of %d dimensions at 0x%llx", in->mode,
                       (unsigned long long)from);
        t.bytes = t.map.size;
        for (int d = 0; d < t.map.rank; d++)
            t.bytes *= t.map.box[d], t.at[d] = (int32_t)value_of(w, in->list[1 + d], l);
        claim(w, in, l, &t, t.map.swizzle ? 8u * t.map.swizzle : 128);
    }
}

/* ---- who reads ---- */
void bulk_touched(warp *w, const instruction *in, uint32_t m, const uint64_t *addr, unsigned bytes, int kind)
{
    block *b = w->blk;
    struct bulk *u = b->bulk;
    const unsigned granule = w->fn->granule;
    for (uint32_t r = m; r; r &= r - 1) {
        const int l = __builtin_ctz(r);
        for (unsigned k = 0; k < bytes; k += granule) {
            uint32_t *of = &u->of[((uint32_t)addr[l] + k) / granule];
            if (!*of)
                continue;
            const transfer *t = &u->transfer[*of - 1];
            const mbarrier *q = &u->bar[t->barrier];
            const uint32_t safe = q->seen_in < b->epoch ? q->seen : q->safe;
            if (!t->done)
                sim_report(w, in, l, CK_LAUNCH, false,
                           "%s of shared 0x%llx while a bulk copy to it is under way: no wait for its mbarrier",
                           kind == A_READ ? "read" : "write", (unsigned long long)addr[l] + k);
            else if (kind == A_READ && w->seen[t->barrier] <= t->phase && safe <= t->phase)
                sim_report(w, in, l, CK_LAUNCH, false,
                           "read of shared 0x%llx, which came by a bulk copy, in a warp that has not waited for its "
                           "mbarrier",
                           (unsigned long long)addr[l] + k);
            else if (kind == A_READ)
                continue;
            *of = 0;
        }
    }
}

/* ---- waiting ---- */
void op_mbarrier_wait(warp *w, const instruction *in, uint32_t m)
{
    block *b = w->blk;
    struct bulk *u = b->bulk;
    uint32_t ended = 0;
    for (uint32_t r = m; r; r &= r - 1) {
        const int l = __builtin_ctz(r);
        mbarrier *q = barrier_at(w, in, l, address_of(w, in, l), "wait");
        const uint64_t asked = in->mode ? value_of(w, in->b, l) : ((const uint64_t *)(w->R + in->b))[l];
        const int i = (int)(q - u->bar);
        if ((q->phase & 1) == (asked & 1))
            bring(b, i);
        if ((q->phase & 1) == (asked & 1))
            continue;
        ended |= 1u << l;
        w->seen[i] = q->phase;
        if (q->phase > q->seen) {
            if (q->seen_in < b->epoch)
                q->safe = q->seen;
            q->seen = q->phase, q->seen_in = b->epoch;
        }
    }
    uint32_t *p = &w->pred[in->d >> 1];
    *p = (*p & ~m) | ended;
    if (ended) {
        w->failed = w->idle = false;
        return;
    }
    w->idle = w->failed && w->fail_event == u->events;
    w->failed = w->yields = true;
    w->fail_event = u->events, w->fail_in = in, w->fail_at = address_of(w, in, __builtin_ctz(m));
}

void bulk_stuck(warp *w)
{
    const struct bulk *u = w->blk->bulk;
    for (int i = 0; i < u->n_bar; i++) {
        const mbarrier *q = &u->bar[i];
        if (q->at == w->fail_at)
            sim_report(
                w, w->fail_in, 0, CK_LAUNCH, true,
                "wait for ever: the mbarrier at shared 0x%x waits in phase %u for %u arrivals, and %lld bytes %s",
                q->at, q->phase, q->pending, (long long)(q->bytes < 0 ? -q->bytes : q->bytes),
                q->bytes < 0 ? "came beside those expected" : "are to come");
    }
}
