/* sim.h - shared declarations of the CUDA stand-in.
 *
 * The stand-in executes PTX on the host one warp at a time: every virtual
 * register is a row of 32 lanes, and one interpreter step performs one PTX
 * instruction for all active lanes of a warp.
 */
#ifndef SIM_H
#define SIM_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LANES = 32, MAX_BARRIERS = 16, MAX_THREADS_PER_BLOCK = 1024, MAX_REPORTS = 16 };

/* Generic-address windows.  Device memory uses the addresses handed out by
 * mem_alloc(), which are below both windows. */
#define SHARED_WINDOW 0x0010000000000000ull
#define LOCAL_WINDOW 0x0020000000000000ull
#define PARAM_WINDOW 0x0030000000000000ull
#define WINDOW_MASK 0xffffffff00000000ull

typedef enum {
    T_NONE,
    T_PRED,
    T_B8,
    T_B16,
    T_B32,
    T_B64,
    T_U8,
    T_U16,
    T_U32,
    T_U64,
    T_S8,
    T_S16,
    T_S32,
    T_S64,
    T_F16,
    T_BF16,
    T_F32,
    T_F64,
    T_TF32,
    T_F16X2,
    T_BF16X2,
    T_B128
} value_type;

typedef enum { SP_GENERIC, SP_GLOBAL, SP_SHARED, SP_LOCAL, SP_PARAM, SP_CONST } memory_space;

typedef struct warp warp;
typedef struct block block;
typedef struct instruction instruction;
typedef struct function function;
typedef struct module module;

typedef void (*handler)(warp *w, const instruction *in, uint32_t mask);
typedef uint32_t (*comparison)(const void *a, const void *b);

/* How the main loop treats an instruction. */
typedef enum { K_PLAIN, K_BRANCH, K_SWITCH, K_CALL, K_RET, K_EXIT, K_BARRIER, K_WARPSYNC } instruction_kind;

enum { /* flags of an instruction */
       F_FTZ = 1,
       F_SAT = 2,
       F_RELU = 4,
       F_SIGNED = 8,
       F_TRANS = 16,
       F_ALL_LANES = 32,
       F_CC_OUT = 64,
       F_CC_IN = 128,
       F_SUB = 256,
       F_ARRIVE = 512,
       F_RED = 1024,
       F_VOLATILE = 2048,
       F_MASKED = 4096,
       F_ADDR64 = 8192,
       F_WAIT_ALL = 16384,
       F_WATCHED = 32768
};

struct instruction {
    handler op;
    union {
        handler inner;
        comparison cmp;
    };
    int32_t d, a, b, c, e; /* register-file byte offsets, or predicate operands */
    int32_t guard;         /* predicate operand; 0 is "always" */
    int32_t target;        /* branch target, callee index or table index */
    uint16_t flags;
    uint8_t kind, space, size, count, mode, type, type2, rounding;
    uint8_t unused;      /* of a vector that is loaded: elements that nothing reads, a bit each */
    uint32_t used_bytes; /* of all of it: bytes that something reads, a bit each; 0: all */
    int32_t *list;       /* vector operands (offsets) */
    int32_t nlist;
    int64_t imm;
    int32_t line, file; /* source position from .loc */
    int32_t ptx_line;
};

/* Predicate operands: index*2 + negated.  Predicate 0 is always true. */
#define PRED_TRUE 0
#define PRED_FALSE 1

typedef struct {
    uint32_t offset;
    uint64_t value;
    uint8_t width;
    int8_t sreg;
} preset;

typedef struct {
    char name[256];
    uint32_t size, align, offset;
} parameter;

typedef struct {
    char *name;
    uint32_t offset, size;
} shared_variable;

struct function {
    char *name;
    module *module;
    bool entry, defined;
    parameter *parameters;
    int nparams;
    uint32_t parameter_size;
    parameter ret;
    instruction *code;
    int ncode;
    int32_t **tables;
    int *table_length;
    int ntables;
    preset *presets;
    int npresets;
    uint32_t reg_base, reg_end; /* byte range in the register file */
    uint32_t npred;
    uint32_t local_base, local_end;
    shared_variable *shared;
    int nshared;
    uint32_t shared_static; /* what the real device would use */
    uint32_t shared_end;    /* with red zones between variables */
    int32_t dynamic_shared; /* offset where dynamic memory starts */
    uint32_t granule;       /* smallest memory access in bytes */
    int32_t return_slot;    /* register row holding the return index */
    int max_regs_live;
    int reqntid[3], maxntid[3];
    int dynamic_shared_limit;
    bool wgmma, bulk; /* it has products of warpgroups; it has mbarriers, or copies in bulk */
    void *watch;      /* wgmma.c: instructions that touch registers which hold their sums, in order */
    int nwatch;
};

typedef struct symbol symbol;
struct module {
    function **funcs;
    int nfuncs;
    symbol *globals;
    int nglobals;
    char **files;
    int nfiles;
    uint32_t callee_reg_end, callee_local_end, callee_npred;
    int target_sm;
};

/* One shadow entry per granule of shared (and, on request, global) memory. */
typedef struct {
    uint32_t wr_epoch;
    uint16_t wr_tid, wr_sync;
    uint32_t rd_epoch;
    uint16_t rd_tid, rd_sync;
} shadow;
enum { SH_TID = 0x3ff, SH_ATOMIC = 0x8000, SH_PENDING = 0x4000, SH_MANY_WARPS = 0x8000, SH_MANY_LANES = 0x4000 };

typedef struct {
    uint8_t lane, size, src_size;
    uint32_t dst;
    uint64_t src;
    uint32_t group;
    const instruction *in;
} async_copy;

/* wgmma.c: what a warp has under way */
typedef struct {
    uint32_t at;
    int64_t group;
} async_read; /* of 16 bytes of shared memory */
typedef struct {
    int32_t *row; /* by row of registers, of all lanes */
    size_t n_row;
    int64_t group; /* of the products to come, from 1 */
    async_read *read;
    size_t n_read, cap_read;
    size_t n_done;      /* products so far */
    uint32_t fences;    /* between the proxies, so far */
    uint32_t fenced_in; /* the epoch of the last one */
} warp_async;
typedef struct {
    const instruction *in;
    uint64_t a, b;
} group_step;
typedef struct { /* what the first warp of a warpgroup did that came there */
    group_step *done;
    size_t n, cap;
} group_log;

typedef struct {
    int pc;
    uint32_t mask;
    bool blocked;
    uint64_t since;
} splitting; /* since: steps when it blocked */

enum { W_RUN, W_BARRIER, W_DONE };

struct warp {
    uint8_t *R;
    uint32_t *pred;
    uint32_t active, live, cc;
    int pc, stop;
    splitting split[LANES];
    int nsplit;
    block *blk;
    const function *fn;
    int index, state, bar_id, bar_pc;
    uint16_t sync;
    uint8_t *local;
    uint32_t local_size;
    async_copy *copies;
    int ncopies, cap_copies;
    uint32_t group[LANES];
    uint64_t steps;
    uint32_t turns; /* choices between splits so far */
    warp_async async;
    uint32_t seen[64];         /* by mbarrier: phases whose end it saw */
    bool yields, failed, idle; /* its last wait failed: others go on; it failed and nothing has happened since */
    uint64_t fail_event;
    const instruction *fail_in;
    uint32_t fail_at;
};

typedef struct {
    uint32_t expected, arrived, red_and, red_or, red_count;
    int pc;
    bool used;
} barrier;

typedef struct launch {
    const function *fn;
    int device;
    unsigned grid[3], block[3];
    uint32_t shared_dynamic;
    uint8_t *parameters;
    uint32_t first_epoch;
    int reports, status;
    struct {
        const instruction *in;
        const char *fmt;
    } seen[MAX_REPORTS];
    int nseen;
    volatile int stop;
} launch;

/* What a kernel did; a request is one instruction of a warp. */
typedef struct counters {
    uint64_t blocks, instructions, tensor, products, barriers; /* products: multiply-adds of tensor instructions */
    uint64_t reads, writes;                                    /* requests to global memory */
    uint64_t read_sectors, write_sectors;                      /* of 32 bytes, that these touched */
    uint64_t read_bytes, write_bytes;                          /* that lanes asked for */
    uint64_t shared, passes, conflicts; /* requests; passes over the banks; those beyond what so many bytes take */
    uint64_t bulk, bulk_bytes;          /* copies in bulk, and what they brought, zeros included */
} counters;

struct block {
    launch *launch;
    unsigned ctaid[3];
    warp *warps;
    int nwarps, nthreads;
    uint8_t *shared;
    uint32_t shared_size;
    shadow *shadow;
    uint32_t epoch, first_epoch;
    barrier bars[MAX_BARRIERS];
    bool acquired; /* has synchronised with other blocks by an atomic */
    jmp_buf escape;
    int worker;
    counters counts;
    bool uncounted;            /* lanes are looked at one by one */
    uint16_t *readers, *proxy; /* as shadow: products that read it; the writer's fences when it was last written */
    uint64_t n_reading;
    struct bulk *bulk;
    group_log log[MAX_THREADS_PER_BLOCK / LANES / 4];
};

/* ---- options (environment variable SIMCUDA_CHECK etc.; see README) ---- */
typedef struct {
    bool races, uninit_shared, uninit_global, global_races, bounds, barriers, keep_going;
    int workers, order, verbose;
    bool eager, perturb, counts;
    uint64_t memory, max_steps;
} options;
extern options sim_opt;
void sim_options_read(void);
int sim_whole(const char *s); /* the number that it begins with, or 0 */

/* ---- report.c ---- */
typedef enum { CK_BOUNDS = 700, CK_ALIGN = 716, CK_LAUNCH = 719, CK_UNSUPPORTED = 715, CK_ASSERT = 710 } check_code;
void sim_report(warp *w, const instruction *in, int lane, check_code code, bool fatal, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
__attribute__((visibility("default"))) const char *simcuda_reports(void);
__attribute__((visibility("default"))) void simcuda_clear_reports(void);
void sim_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
extern int simcuda_report_count;

/* ---- counts.c: what kernels did, with SIMCUDA_COUNTS ---- */
void count_global(warp *w, uint32_t m, const uint64_t *addr, unsigned bytes, int kind);
void count_shared(warp *w, uint32_t m, const uint64_t *addr, unsigned bytes);
void counts_take(block *b); /* at the end of each block */

/* ---- memory.c: device memory ---- */
typedef struct {
    uint64_t base, size;
    bool live;
    int device; /* whose it is: kernels of another one have no access */
} allocation;
bool mem_reserve(void);
uint64_t mem_alloc(uint64_t size);
int mem_free(uint64_t base);
const allocation *mem_find(uint64_t addr);       /* live or freed allocation holding addr */
uint8_t *mem_host(uint64_t addr, uint64_t size); /* NULL unless inside one live allocation */
void mem_mark_valid(uint64_t addr, uint64_t size, int valid);
void mem_copy_valid(uint64_t dst, uint64_t src, uint64_t size);
int device_now(void); /* that of the calling thread's context */
void mem_usage(uint64_t *used, uint64_t *total);
int mem_live_count(void);
extern uint64_t mem_base, mem_limit;
extern uint8_t *mem_backing, *mem_valid;
extern shadow *mem_shadow;

/* ---- ptx.c ---- */
module *ptx_load(const char *text, char *log, size_t log_size);
void ptx_free(module *m);
function *ptx_find(module *m, const char *name);
bool ptx_global(module *m, const char *name, uint64_t *addr, uint64_t *size);

/* ---- alu.c ---- */
handler alu_find(const char *key);
comparison cmp_find(const char *key);
void op_wrapped(warp *, const instruction *, uint32_t);
void op_setp(warp *, const instruction *, uint32_t);
void op_set(warp *, const instruction *, uint32_t);
void op_cvt(warp *, const instruction *, uint32_t);
void op_carry(warp *, const instruction *, uint32_t);
void op_pred(warp *, const instruction *, uint32_t);
void op_pack(warp *, const instruction *, uint32_t);
void op_clock(warp *, const instruction *, uint32_t);
void op_testp(warp *, const instruction *, uint32_t);

/* ---- access.c: loads, stores, atomics, asynchronous copies, matrices ---- */
void op_ld(warp *, const instruction *, uint32_t);
void op_st(warp *, const instruction *, uint32_t);
void op_atom(warp *, const instruction *, uint32_t);
void op_cp_async(warp *, const instruction *, uint32_t);
void op_cp_commit(warp *, const instruction *, uint32_t);
void op_cp_wait(warp *, const instruction *, uint32_t);
void op_isspace(warp *, const instruction *, uint32_t);
void op_prefetch(warp *, const instruction *, uint32_t);
uint32_t access_pointers(warp *w, const instruction *in, uint32_t m, const uint64_t *addr, int space, unsigned bytes,
                         int kind, uint8_t **ptr);
enum { A_READ, A_WRITE, A_ATOMIC };

/* ---- warpops.c ---- */
void op_shfl(warp *, const instruction *, uint32_t);
void op_vote(warp *, const instruction *, uint32_t);
void op_match(warp *, const instruction *, uint32_t);
void op_redux(warp *, const instruction *, uint32_t);
void op_warpsync(warp *, const instruction *, uint32_t);
void op_ldmatrix(warp *, const instruction *, uint32_t);
void op_mma(warp *, const instruction *, uint32_t);
void op_print(warp *, const instruction *, uint32_t);
void op_assert(warp *, const instruction *, uint32_t);
void op_trap(warp *, const instruction *, uint32_t);

/* ---- bulk.c ---- */
void bulk_begin(block *b);
void bulk_touched(warp *w, const instruction *in, uint32_t m, const uint64_t *addr, unsigned bytes, int kind);
void bulk_stuck(warp *w); /* it waits for an mbarrier, and nobody does anything */
void op_mbarrier_init(warp *, const instruction *, uint32_t);
void op_mbarrier_inval(warp *, const instruction *, uint32_t);
void op_mbarrier_arrive(warp *, const instruction *, uint32_t);
void op_mbarrier_wait(warp *, const instruction *, uint32_t);
void op_bulk(warp *, const instruction *, uint32_t);

/* ---- wgmma.c ---- */
typedef struct row_reference { /* instruction insn reads or writes the row of registers at a byte */
    int insn;
    uint32_t at;
    bool def;
} row_reference;
void wgmma_find(function *f, instruction *code, int n_ref, const row_reference *ref); /* once rows are given */
void wgmma_begin(warp *w);
void wgmma_end(block *b);
void wgmma_watch(warp *w, const instruction *in, uint32_t m); /* before an instruction that is F_WATCHED */
void wgmma_written(warp *w, const instruction *in, uint32_t m, const uint64_t *addr, unsigned bytes);
void op_wgmma(warp *, const instruction *, uint32_t);
void op_wgmma_fence(warp *, const instruction *, uint32_t);
void op_wgmma_commit(warp *, const instruction *, uint32_t);
void op_wgmma_wait(warp *, const instruction *, uint32_t);
/* Somebody else than the lanes reads or writes shared memory there: what they wrote is to be shown. */
void proxy_check(warp *, const instruction *, int lane, uint64_t at, const char *what);
void op_proxy_fence(warp *, const instruction *, uint32_t);

/* ---- warp.c ---- */
int launch_run(launch *l);
uint32_t next_epoch(void);

static inline uint32_t pred_value(const warp *w, int operand)
{
    return w->pred[operand >> 1] ^ -(uint32_t)(operand & 1);
}

static inline int lane_tid(const warp *w, int lane)
{
    return w->index * LANES + lane;
}

/* The first lane of m from l on; LANES: there is none */
static inline int lane_from(uint32_t m, int l)
{
    const uint32_t rest = m == ~0u || l >= LANES ? 0 : m >> l;
    return m == ~0u ? l : rest ? l + __builtin_ctz(rest) : LANES;
}
/* Each active lane; a vector's loop where m is known to be all of them. */
#define EACH_LANE(l, m) for (int l = lane_from(m, 0); l < LANES; l = lane_from(m, l + 1))

#endif
