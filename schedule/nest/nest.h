/* nest.h - the notation of loops: how a kernel is walked, read from outside in.
 *
 *   axis[/step][@role][+operand[@space][*slices]] ...
 *
 * A kernel of one stage has one such list. A kernel of several has the loops that its stages share, then each stage's
 * own: "h@core q/32 ; matmul: n/48 q/8 k q@unroll n@vector ; ..."; stages left out are guessed. The last loop of each
 * axis has step 1. Roles and spaces are those of the target (target.h); here as on a CPU. Roles in registers make the
 * register tile, which is what follows the last serial loop over an axis that is not folded, or that copies. A step of
 * "tile" is what the guess's register tile has of that axis on this machine (stage.tile). What prints parses, with
 * numbers alone. Loops are parsed into the kernel, printed to the end of the caller's text; nothing else is kept.
 *
 * The room:  nesting: nests, made    nest, read, letters: the notation    legal: what the target can do    slice, kept,
 *            box: how copies, and what stages hand on, lie    stride: how operands lie    sums: their order */
#pragma once
#include "schedule/plan/plan.h"

/* Loops that are put one inside another, from outside in; who reads and who guesses them makes them so. The first that
 * is refused ends it. It is a plain value, and borrows the kernel, in which the loops are. */
typedef struct nesting {
    const target *on;
    kernel *k;
    stage *s;    /* whose axes are walked */
    nest *into;  /* the stage's, or what stages share */
    bool shared; /* it is that */
    int64_t left[MAX_AXIS];
    uint32_t outside; /* axes that the loops outside walk to their end, and which take no loop here */
    int refused;      /* which loop is; -1: what is staged, or what is left at the end */
    char why[400];    /* "": nothing is */
} nesting;
nesting nest_begin(const target *on, kernel *k, stage *s);  /* s NULL: what its stages share */
bool nest_put(nesting *b, int axis, int64_t step, int how); /* "axis/step@how", how being the role's number */
/* At the last loop: "+load@space*slices", of g the rest; and "+load*slices", copied to the target's first space, where
 * there is such a load */
bool nest_stage(nesting *b, stage *s, const staging *g);
void nest_copy(nesting *b, stage *s, int load, int slices);
bool nest_end(nesting *b);

/* Refused with a reason: e names the loop and says what would do. */
bool nest_parse(const target *on, kernel *k, const char *source, err *e);
/* One list, over what the shared loops leave */
bool nest_parse_stage(const target *on, kernel *k, int which, const char *source, err *e);
bool nest_parse_shared(const target *on, kernel *k, const char *source, err *e);
void nest_print(text *t, const kernel *k, bool derived); /* derived: staging nobody wrote is shown, in brackets */
void nest_print_shared(text *t, const kernel *k, bool derived); /* the loops that its stages share */
void nest_print_stage(text *t, const stage *s, bool derived);   /* its own loops alone */
void loop_print(text *t, const stage *s, const loop *l);        /* "n/48@core" */
extern const char nest_nowhere[]; /* "none", in place of a space: the guess shall not fetch */
int nest_split(const stage *s);   /* the loop over a folded axis whose trips go to different workers; or -1 */
/* First loop of the tile: serial folds under the last loop that copies, then unrolled and vector loops. What the lanes
 * of a group copy together is copied within the tile. */
int nest_tile(const stage *s);
int nest_unrolled(const stage *s); /* first loop after which all are unrolled or vector */
/* Why the operand cannot be copied, at a loop that stages share or one of the stage's own; NULL: it can. */
const char *nest_no_copy(const kernel *k, const stage *s, int load, bool shared);
/* Whether the n bytes at name may be an axis of the stage's operation or of the kernel's group, if there is none here:
 * it has one element, or was merged into another. */
bool names_left_out(const kernel *k, const stage *s, const char *name, size_t n);
/* Whether kernels of one of these operations, of any where n_op is 0, may have an axis that is called so, numbers
 * behind a letter apart */
bool names_known(const char *axis, int n_op, const char *const *name);
/* a, ..., z, a1, ..., z1, a2, ...; MAX_LOADS: y, the result, which operand 24 is called, too, where there is one. */
typedef struct operand_name {
    char s[8];
} operand_name;
operand_name operand_called(int load);
int operand_number(const char *s, size_t n); /* the same back; -1: no operand is called so */
bool staging_copies(const staging *g);       /* rather than fetches, or keeps the guess from fetching */
int64_t loop_trips(const loop *l);
const nest *nest_outer(const kernel *k); /* the outermost loops: what stages share, or the only stage's own */
int nest_parallel(const kernel *k);      /* the first of them whose trips go to different workers, or -1 */
/* How many of the outermost loops have their trips counted together and shared among the cores, down to the one that is
 * spread; 0: none, or that one alone within each trip of those around it. */
int nest_chunks(const kernel *k);
bool nest_spread(const kernel *k, int l);          /* different workers have the trips of outer loop l */
int64_t nest_parts(const kernel *k);               /* trips of all such loops together, at least 1 */
int64_t nest_lanes(const plan *p, const stage *s); /* elements of one vector of the stage's */
/* Lanes that the loops of a stage, or of the stage of the kernel that has most, are given to; 1: it has no such loops.
 * A worker has so many, rounded up to whole warps. */
int64_t nest_group(const stage *s);
/* What lanes folded apart along loop l is put together in halves. Whether the first n of its trips are in lanes of one
 * warp, which read one another's registers; whether some step of the stage is by way of the group's memory. */
bool nest_merges_in_warp(const plan *p, const stage *s, int l, int64_t n);
bool nest_merges_in_memory(const plan *p, const stage *s);
int64_t nest_lanes_under(const stage *s, int l); /* of one trip of loop l */
int64_t nest_group_lanes(const plan *p, const kernel *k);
/* Loops that a matrix unit takes: rows, columns and folded, and the loads that have the rows and the columns. */
typedef struct unit_loops {
    int loop[3];      /* of the stage's nest */
    int load[2];      /* of the stage; -1: there is no such load, or more than one */
    int64_t trips[3]; /* as the loops around leave it: where the axis has less, the rest are zeros */
} unit_loops;
bool nest_unit(const stage *s, unit_loops *out); /* false: it has no such loops, or others than these three */
/* Which of the target's units takes them; NULL: none */
const matrix_unit *nest_unit_row(const plan *p, const stage *s, const unit_loops *u);
/* Whether a matrix unit can form the stage over axes m and n of its result: it multiplies two operands of one dtype,
 * and nothing else is read. load: the operand along m and that along n. */
bool nest_unit_fits(const stage *s, int m, int n, int load[2]);
int nest_last(const stage *s); /* the innermost loop, but for one that is multiplied at once; or -1 */
/* Whether there is such a loop, or could be: the stage adds up products of two loads, load[0] without the axis and
 * load[1] with it, as the form has them. */
bool nest_dots(const stage *s, const dot_form *f, int column, int load[2]);
int64_t nest_cover(const stage *s, int axis, int l); /* of an axis of the unit's, under loop l: whole trips of its */
int64_t nest_sums(const plan *p, const stage *s);    /* vector registers that the tile's sums take; 0 without a fold */

/* legal.c: whether loops that read well can be done by what the target has. A refusal is a sentence with both counts;
 * it is asked of written and guessed loops alike. */
bool nest_fits(const plan *p, const kernel *k, const char *loops, err *e); /* refused with numbers, and what would do */
bool nest_splits(const stage *s); /* so many axes, and tensors that it reads, may values of parts have */
