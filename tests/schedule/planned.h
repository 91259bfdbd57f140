/* planned.h - small graphs, and plans of them on machines that nobody has, under rules given as text. A setting is only
 * read; a planned owns its graph, plan and folder until free_plan. */
#ifndef TS_TEST_PLANNED_H
#define TS_TEST_PLANNED_H
#include "backends/cpu/cpu.h"
#include "backends/gpu/gpu.h"
#include "schedule/make.h"
#include "tests/scratch.h"

typedef const node *maker(graph *g);
typedef struct setting {
    maker *make;
    const char *machine, *isa, *rules; /* rules: of a schema, separated by commas; NULL is the guess */
    int threads;                       /* isa and threads: nothing to a card */
} setting;
typedef struct planned {
    graph *g;
    machine machine;
    gpu_facts card;
    arena mem; /* of the card's target */
    target on;
    plan *p;
    const node *root; /* of the graph; the plan may have others */
    scratch folder;   /* holds the schema as test.json */
} planned;
bool make_plan(planned *b, const setting *s); /* false, and a failed check, when there is none; free in any case */
void free_plan(planned *b);
void plan_is_refused(const setting *s, ts_code code, const char *want); /* want: without the schema's folder */

extern const char two_cores[]; /* 32 KB, 1 MB each, 32 MB together */
maker product;                 /* matmul m=128 n=768 k=768, weights "w" */
maker small_product;           /* matmul m=24 n=36 k=40, two inputs */
maker wide_rows;               /* matmul m=64 n=1024 k=1024, two inputs: rows of 4096 bytes */
maker deep;                    /* matmul m=64 n=64 k=16384 */
maker convolution;             /* 8 of 4 channels, 3 x 3 */
maker strided;                 /* the same in steps of 2 and 3, padded, batch of 2 */
maker normalized;              /* layer norm over the sum of two */
maker strange_names;           /* quotes, control bytes, no UTF-8 */
maker attention;               /* batch 2, 3 triples, 40 queries, 24 keys, 32 values */
maker triples;                 /* two layers: q, k, v of one matrix, o of their sum; 16 MiB of weights each */
maker network;                 /* products alike and not, named l.0 l.1 l.2* head, a softmax */
#endif
