/* machine.h - where kernels may run: cores, what they share, and the instruction sets. Read from this host or from one
 * line of text, so that placement is tested on machines that nobody has here. A machine is a plain value.
 *
 * Text: words "NAME:COUNT", in any order, all counts for the whole machine:
 *   package:1 numa:1 l3:2(32MB)=3+1 l2:4(1MB) l1d:4(32KB) core:4(0,1,2,5) line:64 isa:avx512 nta:l2 cpu:EPYC 9754
 * (32MB) is the size of each, in powers of 1024; =3+1 says how many cores, in order, have each (left out: dealt
 * evenly); core's numbers are the system's (left out: 0, 1, ...); isa is the best one; nta:l2 is there where
 * non-temporal data wait in l2; rates of an instruction set, as in rates.h, are those by which plans for it are decided
 * (left out: derived from the set), one word for each set; cpu takes the rest of the line. Only core is required. Left
 * out: one package and numa node, 32KB of l1d and 1MB of l2 for each core, no l3, lines of 64 bytes, isa plain. */
#pragma once
#include "backends/cpu/rates.h"

/* isa: an instruction set that kernels are made for. */
typedef struct isa {
    const char *name;
    const struct isa *under;      /* what it includes, and what that includes; NULL: nothing else */
    int vector_bytes, n_register; /* vector registers: how wide, how many */
    int dot;                      /* products that one instruction adds to each i32, see target.dot; 0: there is none */
    const char *flag[10];         /* that compilers of C make code for it by, NULL at the end */
} isa;
extern const isa isa_table[];                      /* plain first; ends with {0} */
const isa *isa_find(const char *name);             /* NULL when there is none */
bool isa_includes(const isa *i, const isa *other); /* itself, too; plain is of all */
void isa_list(text *t, const isa *best);           /* the names of those that it includes; NULL: all */
const isa *isa_of_host(void);                      /* the best that this processor and its system support */
bool nontemporal_of_host(void);                    /* machine.nta */

/* tier: something that several cores share, from the outside in. */
typedef enum tier_kind { TIER_PACKAGE, TIER_NUMA, TIER_L3, TIER_L2, TIER_L1D, N_TIER } tier_kind;
enum { MAX_CORE = TS_MAX_THREADS, MAX_ISA = 8 }; /* a core is a thread of the team */
typedef struct tier {
    int n;            /* instances in use; 0: there is none */
    int64_t bytes;    /* of the smallest instance; 0 where size means nothing */
    int of[MAX_CORE]; /* instance that core i has, 0..n-1, never decreasing */
} tier;

/* Cores stand in the order of the topology, neighbours share most: a run of cores is a compact part of the machine. */
typedef struct machine {
    char cpu[64];     /* model name, safe to print */
    int n_core;       /* that the calling thread may use; one per physical core, siblings are not counted */
    int os[MAX_CORE]; /* the system's number of core i, to pin to */
    tier tier[N_TIER];
    int line;             /* bytes of a cache line */
    const isa *isa;       /* the best one */
    bool part;            /* of a machine: threads stay on its cores, a single one too */
    bool nta;             /* what is fetched as non-temporal waits in the second cache, and never gets to the third */
    rates known[MAX_ISA]; /* by the place in isa_table */
} machine;

/* fake: the text above; NULL: this host. Load before pinning the calling thread: its mask is what is asked. */
bool machine_load(machine *m, const char *fake, err *e);
/* "numa0" or "cores0-7", cores by their places in os: m becomes that part; an error tells which there are. */
bool machine_part(machine *m, const char *name, err *e);
void machine_print(text *t, const machine *m);       /* machine_load reads it back */
rates machine_rates(const machine *m, const isa *i); /* known, or derived */
/* Measures this machine, m, by a set that it has, on all cores of m: two tenths of a second, 1 at most. disturbed:
 * other work was in the way until the end, so that rates may be too low. False: there are no threads or no memory. */
bool machine_calibrate(const machine *m, const isa *i, double measured[N_RATE], bool *disturbed);
bool machine_quiet(const machine *m);               /* a look of 10 ms: no other work on the cores of m */
int machine_sharers(const machine *m, tier_kind k); /* most cores on one instance; 0 without any */
const isa *machine_isa(const machine *m, const char *name, err *e); /* NULL: the best; NULL and e set when m lacks it */
int machine_threads(const machine *m, int asked, err *e);           /* 0: one per core; 0 and e set when out of range */
