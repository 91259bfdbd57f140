/* plan.h - everything a back end needs: kernels in order, how each is walked, where values live.
 *
 * A stage computes one node's value over axes; a kernel is one or more stages under shared outer loops, the values that
 * only later stages read being held for one trip of those loops in scratch memory. Axes 0..n_shared-1 of every stage
 * are those of the kernel's shared loops. A plan is read-only once made; it lives in its own arena and borrows the
 * graph.
 *
 * The room:  plan, a plan as such    stage, cost: what stages and kernels are asked    layout, extents, hazard,
 *            resident, declined, checkpointing: what is known of values    site: several devices
 *            target: the machine, which all of them ask */
#pragma once
#include "graph/ir/trip.h"
#include "schedule/plan/declined.h"
#include "schedule/plan/layout.h"
#include "schedule/plan/site.h"

enum { MAX_LOOP = 24, MAX_LETTER = 8, MAX_STAGING = 8 };
enum { MOST_VARIABLES = MAX_SIZE };
/* An extent that is known when the program runs: (plus + the sum of times[v] * what variable v is) / per, rounded
 * down; and no more, or no less, than a limit. */
typedef enum limiting { UNLIMITED, AT_MOST, AT_LEAST } limiting; /* at most: what the extent is at the bounds */
typedef struct varying {
    uint32_t by; /* the variables that it follows, 1u << v; 0: it is constant */
    int64_t times[MOST_VARIABLES], plus, per;
    limiting ends;
    int64_t limit;
} varying;
typedef struct other_extents { /* the same model's graph where variables are less; borrowed for plan_make */
    int64_t size[MOST_VARIABLES];
    graph *graph;
    const node *const *root;
} other_extents;
typedef struct variable { /* a dimension of which a run says the extent: see extents.h */
    const char *name;
    int64_t low, high; /* its bounds, in steps; the plan is made at high */
    int64_t step;      /* of the dimension: what a run says is a multiple of it */
} variable;
typedef struct variables {
    int n; /* 0: all extents are constant */
    const variable *of;
    int n_other; /* for each variable one where it alone is a step less, then those at the least extents */
    const other_extents *other;
    /* The only variable's, where it is so small that seven of eight are larger, both this and its bound being even;
     * NULL: there is none */
    const other_extents *small;
    /* That at any extents, which lasts until the next one is asked for; NULL: there is none, and e says why */
    const other_extents *(*at)(void *user, const int64_t *size, err *e);
    void *user;
} variables;
typedef struct loop {
    int axis;
    int64_t step, range; /* covers `range` (what its axis has left) in strides of step */
    const role *role;    /* of the target's */
} loop;
typedef struct nest {
    int n;
    loop loop[MAX_LOOP];
} nest;

/* staging: +operand at a loop copies what the inner loops read of it into a space of the target's, in the order in
 * which they walk it, or fetches the slice of the next trip: +operand@space*slices. */
typedef struct staging {
    int loop; /* index in the stage's nest, or in the kernel's shared nest */
    bool shared;
    int load;                  /* which of the stage's loads; MAX_LOADS: the result, only fetched */
    const memory_space *space; /* NULL: "@none" */
    int stages;                /* slices that are held there, the current one included */
    bool derived;
} staging;

typedef struct stage {
    const node *node;
    char name[24];
    int n_axis, n_shared, n_result; /* shared axes first, then the other result axes, then folded ones */
    int64_t extent[MAX_AXIS];
    varying varies[MAX_AXIS]; /* which of these are bounds */
    char letter[MAX_AXIS][MAX_LETTER];
    char own[MAX_AXIS][MAX_LETTER]; /* of shared axes: as the stage's operation calls them by itself */
    const node *whole;              /* whose work it does, before what follows it; gives the letters */
    int dim[MAX_AXIS];              /* that a result axis walks; of merged ones the last */
    uint32_t folds;
    const expr *value;           /* at most one fold, over `folds` */
    const expr *store[MAX_RANK]; /* the node's subscripts as functions of the axes */
    /* Of parts of a fold of several values: what is stored in place of the value, over its states, where the first
     * subscript is 0, 1, ... (split_states.c) */
    int n_piece;
    const expr *const *piece;
    /* What is computed of each dimension of the node: the part of it that is read (demand.c) */
    int64_t low[MAX_RANK], count[MAX_RANK];
    bool scratch;           /* lives only inside the kernel */
    const node *over;       /* the operand in whose place it is written, element by element as it is read; or NULL */
    nest nest;              /* over what the shared loops leave */
    const char *rule;       /* of a kernel of several: the rule for this stage that decided; NULL: there is none */
    const char *asked;      /* the text of that rule which its loops follow; NULL: it has none */
    bool guessed;           /* it is "guess", after other loops of the rule were refused */
    bool written;           /* the kernel's rule says its loops */
    const char *second;     /* loops that the guess weighed last against those it took, with both costs; or NULL */
    int64_t tile[MAX_AXIS]; /* what a rule's "tile" is of each axis: of the guess's register tile; 0: not known */
    /* Distinct loads, those under the fold first: operands a, b, c, ... of the notation */
    int n_load, n_folded; /* n_folded: those under the fold */
    const expr **load;
    int *leaf; /* of each load: the entry of plan.leaf it reads, or -1 */
    int n_staging;
    staging staging[MAX_STAGING];
} stage;

typedef struct mask_skip { /* how far each block of rows is walked, where a mask leaves nothing beyond: see mask.c */
    int64_t rows;          /* of the last shared axis, in a block */
    int64_t grain, grains; /* elements counted as one; how many there are of these */
    int n;
    const int *count;      /* grains that each block walks, from the first on */
    int along[MAX_STAGES]; /* the axis of each stage that is walked so far only, or -1 */
    /* Where a value of this stage, of the block's rows, is below least, or no number, the block is walked whole after
     * all, from the first stage on */
    int check;
    double least;
    double share; /* of all elements that is walked */
    bool carried; /* grains are trips of the loop along which states are carried; the others are walked after those */
} mask_skip;

typedef enum where { NOWHERE, IN_ARENA, IN_INPUT, IN_LEAF, IN_OUTPUT } where; /* NOWHERE: also what no result needs */
typedef struct buffer {                                                       /* where a node's value lives */
    where where;
    int index;        /* of the input, leaf or output */
    const node *over; /* in the arena: the value whose place it takes; the offset is the same */
    int64_t offset;   /* bytes in the arena */
    int64_t bytes;
    int first, last; /* kernels between which it is alive */
    bool own;        /* in the arena: nothing else lies there, before or after */
    layout layout;
} buffer;

/* Where an input of a trip's plan lies: in the value of load `load` of the scan's stage, in the scan's own value behind
 * those, or, -1, it is the number of the trip. So many bytes on, and step more in every trip. */
typedef struct trip_address {
    int load;
    int64_t at, step;
    int64_t every; /* trips: the step is made when another so many begin */
    bool row;      /* gathered: of trips that an early end leaves out it is cleared */
} trip_address;
typedef struct trip_copy { /* of so many bytes: a first value of a state, or a result that is not made where it goes */
    int load;              /* that has the first value */
    int root;              /* of the trip's plan: what is copied behind its last kernel */
    int input;             /* of the trip's plan: where to */
    int64_t bytes;
} trip_copy;
typedef struct scan_plan { /* a scan's kernel: the plan of one trip, in a graph of its own (scans.c) */
    struct plan *plan;
    graph *g;
    int64_t trips;
    varying counted;       /* trips of a run, where they vary: trips is their bound */
    int *leaf;             /* by leaf of that plan: which one it is of the plan around it */
    trip_address *address; /* by input of that plan */
    int n_first, n_copy;
    trip_copy *first, *copy; /* before the first trip; behind each one */
    int until;               /* the root that ends it when true; -1: none does */
    bool inside;             /* one kernel holds the loop over the trips, and calls theirs as functions of its own */
    int64_t lanes;           /* then: of the one group that does so */
    buffer *room;            /* of the trips' values, in the arena of the plan around it; all trips have the same */
    int64_t number;          /* behind these, a place for the trip's own, where devices ask for it */
} scan_plan;

typedef struct assembled { /* what an assembler makes of a kernel; registers 0: none was asked, or it is no kernel */
    int64_t registers, spilled,
        shared; /* of a lane; bytes of a lane that are stored and loaded again; bytes of a group */
} assembled;

typedef struct kernel {
    char name[16];     /* k0, k1, ... in order of first appearance; equal kernels share code, not this */
    const char *op;    /* what rules match: the main operation or group */
    const char *label; /* a name from the model, for people; "" */
    const char *was;   /* the label of the kernel that did this work, before a rule took it apart; NULL */
    const char *apart; /* the rule that says that its work is not fused with other; NULL */
    const node *whole; /* whose work the main stage does, before what follows it */
    const op *group;   /* the group that it is, which gives letters to shared axes; NULL: none */
    int n_stage, n_shared;
    stage *stage;
    nest shared;
    int main;              /* index of the stage that names the axes */
    const mask_skip *mask; /* of several stages; NULL: everything is walked */
    const char *rule;      /* the schema rule that chose the loops */
    const char *compute;   /* what that says of products; NULL: nothing */
    const char *asked;     /* the text of that rule which the loops follow; NULL: it has none */
    bool guessed;          /* it is "guess", after other loops of the rule were refused */
    char lost[40];         /* a loop as written that is walked once here, and of which more was said; "" */
    const char *notes;     /* lines: refused candidates, clipped steps, misfits; "" when there are none */
    double flops, bytes;   /* derived from the definitions, without what is not walked; compulsory traffic */
    assembled made;        /* what was asked for after planning (ts_plan_assemble): no pass reads it */
    bool converts;         /* it copies a value from one layout to another, as rules say (layouts.c) */
    bool merges;           /* it adds up what the kernel before it summed in parts (split.c) */
    int site;              /* of the plan's, if it has any; of a transfer: where the value goes */
    int within;            /* which kernel it is of that site's part */
    scan_plan *scan;       /* NULL: it is no loop over a plan of its own */
    int joins;             /* it is launched with the kernel so many behind it, side by side (launches.c) */
    int beside;            /* kernels right before it that other workers make meanwhile (beside.c) */
    const transfer *moves; /* it is a transfer: its one stage has no axes, and names the value; NULL: it computes */
} kernel;

typedef struct packed { /* a weight or constant in one layout */
    const node *node;
    layout layout;
} packed;

typedef struct carried { /* after a run the input's buffer holds the root */
    int root, input;
} carried;

typedef struct replaced { /* kernels that are done in a cheaper way: one of each kind, as rules would match it */
    const char *op;
    dtype dtype;
    int n_axis;
    int64_t extent[MAX_AXIS];
    char letter[MAX_AXIS][MAX_LETTER];
} replaced;

typedef struct detour { /* a node of a cheaper way, and the node of the model that it is computed for */
    const node *node, *stands_for;
    const char *way; /* its name, for people */
    bool last;       /* node is the whole value; others are on the way to it */
    const struct detour *next;
} detour;

typedef struct block_choice { /* a group that could be walked in blocks: how long they are; 0: it is walked whole */
    const char *op, *label;
    int64_t size;
} block_choice;

typedef struct denial { /* loops that a rule gives a kernel, and that it cannot have */
    int rule, kernel;
    int stage; /* that the rule is for; -1: the kernel */
    const char *why;
    const struct denial *next; /* in the order in which they were met */
} denial;

typedef struct plan {
    arena mem;
    const struct pass_record *passes; /* by pass_number, as plan_make has them */
    const target *on;
    int threads;                                                     /* on->workers */
    bool reference;                                                  /* plain loops, reals in f64 */
    bool own_places, as_written, as_given, whole_sums, reproducible; /* as in plan_options */
    bool trial;     /* made to be compared with another one, and never run */
    bool ends;      /* of a trip, one of which may be the last: those launched after it do nothing */
    int n_variable; /* extents that a run says; 0: none */
    const variable *variable;
    const variables *variables; /* the same while it is planned, with the graphs at other extents */
    int n_varies;
    varying **varies;   /* by id of the first n_varies nodes: of each axis of its definition; NULL: all are constant */
    const expr **sized; /* by id of these: its element, where extents are in the formula of it; or NULL */
    struct pairing *paired; /* with the graphs at other extents, while it is planned; NULL: there are none */
    graph *g;
    int n_root;
    const node *const *root;
    int n_kernel;
    kernel *kernel;
    bool fused; /* kernels are those of the graph, its roots and what is to be apart, as these are now */
    declined_list ways, unfused; /* by the pass of alternatives; by the last one of fusion */
    int n_blocked;
    block_choice *blocked;
    int n_replaced;
    replaced *replaced;
    const detour *detours; /* of the ways that were taken; see explain/work.c */
    buffer *buffer;        /* by id of the first n_buffer nodes */
    int n_buffer;
    int n_model;          /* nodes that there were before all passes */
    const bool *of_model; /* of these by id: the roots need it */
    int n_input, n_told;  /* behind those that are read: others whose extents follow variables */
    const node **input;   /* the inputs that the roots need, by id */
    /* By input: multiples of so many bytes at which it begins, where it moves from run to run; NULL: the target's */
    const int64_t *input_grain;
    int n_carried;
    /* Root by root; one whose buffer is the input is written there, others are copied after the run */
    carried *carried;
    int n_leaf;
    packed *leaf;
    int cap_leaf;
    bool streamed; /* a run reads more weights than the third cache holds: none is left when the next run asks */
    int64_t arena_bytes, lower_bound; /* lower bound: the largest set of values alive at once */
    const struct schema *schema;      /* NULL: the guess alone */
    bool *rule_used;                  /* by rule of the schema */
    const denial *refusal;            /* the first one */
    denial *last_refusal;
    int *apart; /* by node id: fused with those of the same number only; 0: with any; NULL: all are 0 */
    const char **was, **apart_by;        /* by node id: see kernel; NULL: nothing was taken apart */
    struct checkpointing *checkpointing; /* what is computed again in the backward pass; NULL: no rule asks for it */
    const site_finder *finder;           /* NULL: everything is done on one device */
    int n_given;                         /* devices that the command names */
    int n_site;                          /* devices that kernels may be on, the command's first; 0: there is only one */
    site *site;
    int *placed; /* by node id: one more than the site of those that rules, or what a device takes, decide; or NULL */
    const char *spread; /* what the guess says of kernels over several devices; NULL: there was none to make */
    bool part;          /* of a plan over several devices: what one of them does */
    int n_crossing;     /* of such a part */
    crossing *crossing;
    void (*passed)(void *user, const struct plan *p, int pass); /* told behind each pass; NULL: nobody */
    void *passed_user;
} plan;

void plan_free(plan *p); /* NULL does nothing */
/* The entry for a leaf in a layout among the plan's, added where it is new. */
int plan_leaf(plan *p, const node *n, const layout *y);

dtype stored_as(const plan *p, const node *n);         /* how an activation lies in memory */
int stored_width(const plan *p, const node *n);        /* bytes that an element of it takes there */
int64_t plan_given(const plan *p);                     /* bytes of its inputs, what a step updates among them */
int input_of(const plan *p, const node *n);            /* the input that it is, or is written into; or -1 */
void stage_finish(plan *p, stage *s);                  /* of which all but its loads is known */
double stage_points(const stage *s, int from, int to); /* of its axes from ... to - 1 */
void kernel_measure(kernel *k);                        /* its flops and bytes */
const node *stage_value(const stage *s, int load);     /* which it reads; MAX_LOADS: which it writes */
int kernel_stage(const kernel *k, const node *n);      /* which computes it; -1: none does */
/* At which subscripts, and the axes that any of them walks */
const expr *const *stage_places(const stage *s, int load);
uint32_t stage_axes(const stage *s, int load);
void kernel_note(plan *p, kernel *k, const char *line); /* adds to what is said of it */
const expr *stage_fold(const stage *s);                 /* the fold in its value, or NULL */
int stage_states(const stage *s);                       /* values that it folds at once; 0 without one */
double stage_flops(const stage *s);                     /* operations on reals, over all its axes */
/* Elements that it has to read of a load, and to write: each once, and no more than are asked for */
double stage_read(const stage *s, const expr *load), stage_stored(const stage *s);
uint32_t x_axes_of(const expr *load); /* axes that any of its subscripts walks */
/* A contraction: something under the fold is read again for every step of an axis that it does not have. Products of
 * rows by rows, one number for each pair, are none: a register tile would have to turn both. */
bool stage_contracts(const stage *s);
int kernel_stream(const plan *p, const kernel *k); /* of its device: where kernels are done in order */
int plan_streams(const plan *p);                   /* that kernels are in */
/* What its work takes on such a machine, by the costs of that, without its start */
double kernel_seconds(const kernel *k, const target *on);
/* What kernels of that site are for */
const target *plan_on(const plan *p, int which);
/* Nests walk it. Scatters and scans have loops that follow from their definition, routines their own; each is a kernel
 * by itself, but for scans that stages around them share. */
bool stage_nested(const stage *s);
/* A scan that is a stage among others: along the last axis that they share, of which trips are made in order. Its
 * states wait in scratch from trip to trip. */
bool stage_carries(const stage *s);
bool stage_updates(const stage *s);    /* a scatter over what it starts from: nothing but its updates moves */
bool stage_keeps_last(const stage *s); /* of which the value of the last trip is stored: a fold of several values */
int kernel_carried(const kernel *k);   /* the shared axis along which stages carry states; -1: none do */
/* "inside ? x[...] : 0" around a load, where the condition depends on nothing but the load's axes: padding. NULL: none,
 * or the same is read without it too. */
const expr *stage_guard(const stage *s, int load);
bool expr_reads(const expr *x, const expr *load); /* whatever the conditions in x say */
/* Where each number of an axis, or each remainder, has a sum of its own over what is loaded, and there are few: how
 * many; 0: not so. *run, unless NULL: so many neighbours have the same one. */
int stage_choice(const stage *s, int axis, int64_t *run);
/* The steps in which an axis must be walked to stay within blocks of what the stage touches; 1: any. */
int64_t stage_block(const plan *p, const stage *s, int axis);
/* The last result axis that weights under the fold of these axes have, where what they are multiplied with has a later
 * one (channels before pixels); else -1. */
int expr_given(const expr *value, uint32_t folds);
int axes_last(uint32_t axes); /* of a set; -1: it is empty */
/* What an axis has left under the shared loops, and under loop l of the stage (l = -1: under none of its own). */
int64_t nest_left(const kernel *k, const stage *s, int axis, int l);
/* Under shared loop l and those before it */
int64_t nest_left_shared(const kernel *k, const stage *s, int axis, int l);
/* Whether the kernel of a scan walks a plan; else, where reals are to be f64, the interpreter does all trips. */
bool scan_planned(const plan *p, const node *n);
/* What such a kernel reads of the routine's operands x: weights that a trip reads are among its plan's own. */
const expr *scan_reads(plan *p, const node *n, const expr *x);
bool scan_reads_whole(const scan_form *f, int operand); /* the same in every trip */

/* pass: a step from a graph to a plan. plan_make runs all of them in the order of its table; plan_check holds after
 * each. Who plans something else meanwhile, a trip of a scan or the same without a rule, runs the plan's table anew. */
typedef enum pass_number {
    PASS_JOIN,
    PASS_RECOGNISE,
    PASS_KNOWN,
    PASS_EXTENTS,
    PASS_COMMON,
    PASS_DOTS,
    PASS_ALTERNATIVES,
    PASS_FUSE,
    PASS_CHECKPOINTING,
    PASS_APART,
    PASS_PLACE,
    PASS_LOOPS,
    PASS_SCANS,
    PASS_MEMORY,
    PASS_LAUNCHES,
    N_PASS
} pass_number;
typedef struct pass_record {
    const char *name, *does, *requires, *guarantees;
    bool (*run)(plan *p, err *e);
} pass_record;
bool plan_run(plan *p, int from, int to, err *e); /* passes from ... to - 1, with a check of what each left */
bool plan_check(const plan *p, err *e);
/* Over several devices: runs a pass on every part, and brings what it says of kernels, values and refusals into the
 * whole plan. */
bool plan_each_part(plan *p, bool (*pass)(plan *part, err *e), err *e);
