/* dialect.h - a C-like language as one record: what the generator asks of it. Nothing else in this folder knows what a
 * language, a compiler or a processor calls things, so another such language is another record, in its back end's
 * folder.
 *
 *   nest --> statements (stmt.h) --> text, through a dialect --> unit: prelude, functions it uses (library.h), kernel
 *
 * Forms are text in which $0, $1, ... stand for arguments; in forms of functions on reals @ is the suffix of the
 * narrow kind ("exp@($0)"). Functions that a form calls are put in front of the unit when they are rows of the library
 * or of the dialect. Records are constant. */
#pragma once
#include "backends/codegen/library.h"
#include "graph/ir/graph.h"

typedef struct spelling { /* a scalar function spelled otherwise; for reals of 4 bytes when narrow, else of 8 */
    const char *fn;
    bool narrow;
    const char *text;
} spelling;
/* By functions of the library, as processors have them; the first few only where bits are to be those of other targets.
 * Ends with {0} */
extern const spelling library_spelled[];
enum { SPELLED_ALIKE = 1 };

typedef enum reach { ALL, GROUP, OWN, N_REACH } reach; /* who sees it: everybody, a group of workers, one worker */

typedef struct role_form { /* how a loop of a role opens */
    const char *role;      /* as nests name it */
    const char *head;      /* $0 goes from $1 to before $2 in steps of $3 */
    bool divergent;        /* workers that wait for one another at barriers make different trips of it */
} role_form;

typedef struct lane_part {     /* x / by % of * times; 0 leaves it out */
    enum { LANE, SUM_PART } x; /* the lane's number in its warp, or that of a sum */
    int by, of, times;
} lane_part;
enum { LANE_PARTS = 3 }; /* added up; all 0: no more */

typedef struct fragment_lanes { /* how the lanes of a warp load one */
    const char *take;           /* a statement: to words $0 what the lanes find at address $1, $2 bytes behind it */
    lane_part line[LANE_PARTS], deep[LANE_PARTS]; /* which that is of its own axis and of the folded one */
    int piece;                                    /* neighbours are counted in pieces of so many */
} fragment_lanes;
typedef struct fragment_form { /* of an operand: what each lane of a warp holds of it for one such statement */
    int words;                 /* of 32 bits */
    /* [0]: folded elements are neighbours where it lies; [1]: those of its own axis are. pair: two of them, the second
     * behind the first along its own axis; take NULL: not so */
    fragment_lanes along[2], pair[2];
} fragment_form;
/* Of a unit that several warps share, and which finds its operands in slices by descriptors. Statements: lanes show it
 * what they put there; sums $0 are its own from here on, and again the lanes'; what began since then is one batch. */
typedef struct warpgroup_form {
    int warps;
    const char *show, *begin, *sent, *end;
    /* Of the slice at address $0: rows of $1 bytes; from eight of them to the next, and from a column to the next, $2
     * and $3 bytes */
    const char *slice;
} warpgroup_form;
typedef struct sums_form { /* where the lanes of a warp hold sums of a product */
    int run;               /* so many one after another of them are neighbours in a row */
    lane_part row[LANE_PARTS], column[LANE_PARTS];
    /* Of words $0 and $1, runs of one trip of the unit and of the next one along its rows: two words that are one
     * behind the other in a row, by exchange with a lane beside lane $2, so that a row is written in fewer pieces. They
     * begin so many elements before the second run. NULL: runs are written as they are */
    const char *paired;
    int before[2]; /* of a lane of an even number; of an odd one */
    int across;    /* a unit has both: so many runs from one to the other; 0: the next trip has the second */
} sums_form;
typedef struct matrix_form { /* y[m,n] += sum over k of a[m,k] b[k,n] in one statement */
    int m, n, k;
    dtype operand, sum;
    /* $0 y, $1 a, $2 b; of several warps: $3 and $4: 1 where neighbours in a, b are those of its own axis, else 0 */
    const char *text;
    int sums; /* of y in each lane of a warp, who form it together */
    const sums_form *held;
    const fragment_form *a, *b;  /* NULL: it is of several warps */
    const warpgroup_form *group; /* NULL: it is of one */
} matrix_form;

typedef struct move_form { /* neighbours in memory that a lane of a group moves at once, from memory into a slice */
    int bytes;
    const char *type; /* of a register that holds them */
    const char *take; /* what lies at $0, zeros where not $1 */
    const char *put;  /* a statement: $1, which was taken, goes to $0 */
    /* A statement: what lies at $1, zeros where not $2, will have come to address $0, $3 bytes behind it; NULL: none */
    const char *send;
} move_form;

enum { FORM_DIMS = 5 };
/* Boxes of a tensor that a device copies into a group's memory by itself, and barriers there that tell when they have
 * come. All but the first two are statements, of one lane but for `wait`. */
typedef struct box_form {
    const char *parameter, *argument; /* of a tile: map $0; what the kernel gives it */
    const char *begin, *end;          /* $1 barriers from address $0 on are made, and are no more */
    const char *expect;               /* the barrier at address $0 is told of $1 bytes that will come */
    /* By dimensions of the tensor, less one: to address $0, by map $1, telling the barrier at address $2, the box that
     * begins at $3, $4, ... */
    const char *copy[FORM_DIMS];
    const char *wait; /* of a lane, until the barrier at address $0 has ended its phase of parity $1 */
} box_form;

typedef struct routine_form {                 /* a call of a routine, whose text (graph/routines) is C */
    const char *before;                       /* that text; NULL: the language does not take it */
    const char *operands, *pointer, *numbers; /* $0: pointers, one after another; one of them; numbers */
    const char *call;                         /* of routine $0, whose operands have types $1, for the part's share */
} routine_form;

typedef struct parameter { /* of a kernel */
    const char *type, *name;
    bool written;
} parameter;
typedef struct kernel_head {
    const char *name;
    int n, boxes; /* boxes: maps that it takes behind all else */
    const parameter *parameter;
    bool empty, alone;      /* it has no statements; one part does all the work */
    int64_t scratch, spill; /* bytes that a part, or a group, needs; of values that do not fit there */
    int scratch_multiple;   /* of so many bytes scratch begins; 0: as the language has it */
    int lanes;              /* of a group; 1: a part is one worker alone */
    bool asks;              /* first of all, whether a trip before was the last one: of a byte behind all operands */
    uint32_t sizes; /* extents of the run that it mentions: a kernel has their list as the operand behind all others */
} kernel_head;
typedef struct tile_head {
    const char *name, *parameters;
    int loads; /* places of operands that it reads, for each of its elements */
} tile_head;
typedef struct unit_facts {
    bool far;         /* some operand has more elements than 32 bits count */
    int warp;         /* lanes that read one another's registers; 0: none do */
    const char *body; /* all that follows */
} unit_facts;

typedef struct loop_form { /* how a kernel makes the trips of a scan by calls of others; memory NULL: none does */
    const char *memory;    /* type of what it is given */
    const char *place[2], *at[2]; /* type of a place in memory, and of the one $1 bytes behind $0: [1]: is written */
    const char *given[2];         /* place $1 as an operand of type $0; NULL: every place is one */
    const char *truth;            /* the one at place $0 */
    const char *copy, *clear;     /* statements: to $0 what is at $1, of $2 bytes; zeros to $1 bytes from $0 on */
    const char *number;           /* a statement: $1 is the number at place $0; NULL: a variable has a place */
    const char *share, *with[2];  /* a statement before all calls, or NULL; behind operands, [1]: with scratch */
    const char *const *chunks;    /* as the dialect's, of kernels that are called: each does all of its work */
} loop_form;

struct dialect {
    const char *name;
    /* Types: reals of 4 and 8 bytes, integers of 1, 2, 4, 8; truth values in expressions; loop variables */
    const char *real[2], *whole[4], *natural[4], *truth, *index;
    const char *space[N_REACH]; /* qualifiers of pointers, with a blank behind them; "" for none */
    const char *restricted;     /* of a pointer that nothing else points to */
    bool restricted_for_good; /* it is taken to hold for the whole kernel, not for the function that has the pointer */
    const char *not_early;    /* a $0 at $1 of a group's space, read no sooner than where it stands; NULL: none is */
    /* Literals and functions */
    const char *suffix, *index_suffix; /* of narrow reals and their functions; of numbers of loop variables' type */
    const char *nan, *infinity, *least_whole;
    const char *fma[2];       /* $0 * $1 + $2, narrow and wide */
    const spelling *spelling; /* ends with {0} */
    const function *function; /* its own, and those it has in place of the library's; ends with {0} */
    const function *vectors; /* what vectors are and can do: "type", "load", ...; ends with {0}; NULL: there are none */
    vector_writer vector_writer;
    const function_writer *writer; /* of its patterns */
    /* Statements */
    const char *constant; /* $0 is the whole number $1 */
    const char *table;    /* $0[] of `truth` is $1 */
    int unroll_most;      /* trips written out where nothing is summed; 0: all */
    /* A line in front of a loop of $0 trips: written out; elements of vectors; NULL: none */
    const char *unroll, *lanes;
    bool lanes_written_out; /* its compilers keep sums in registers only where no loop over lanes is left */
    const char *fetch;      /* a line from $0 on into space number $1; NULL: none */
    const char *barrier;    /* of the workers of a group; NULL: a group is one worker */
    const move_form *move;  /* from wide to narrow; ends with {0}; NULL: none */
    const char *address;    /* of 32 bits, of pointer $0 into a group's memory; NULL: there are none */
    /* What a lane sent since it said so last is one sending; waits until all but its last $0 sendings have come. NULL:
     * nothing is sent */
    const char *sent, *arrived;
    const box_form *box;       /* NULL: there are none */
    const role_form *role;     /* of roles whose loops open otherwise; ends with {0} */
    const matrix_form *matrix; /* ends with {0}; NULL: none */
    /* A part's share of a kernel: which one it is of how many; what opens blocks in which $0 is each trip of $1 that it
     * takes as it comes to them, a line for each block, NULL at the end */
    const char *part, *parts, *const *chunks;
    /* Where a part is a group of lanes: the number of a lane in its group; which one it is of the lanes of all groups.
     * NULL: a part is one worker alone */
    const char *lane, *lane_of_all, *lanes_in_all;
    /* $0 of the lane $1 behind the own one in its warp, all of which ask; a statement, a barrier of these. NULL: nobody
     * may ask */
    const char *shuffle, *warp_barrier;
    /* Where indices are checked: the parameter by which a function is told where to say so, and the argument */
    const char *fault_parameter, *fault;
    routine_form routine;
    bool asks; /* kernels of trips that may end early ask whether they have */
    loop_form loop;
    /* Text */
    void (*tile)(text *t, const tile_head *h);     /* up to the opening brace */
    void (*kernel)(text *t, const kernel_head *h); /* with all that stands before the statements */
    /* Of a kernel that launches of several call, or loops of trips: a function of its operands, then of what the
     * kernels of the language have: memory of its own, where to tell of an index that led outside, its share of the
     * work. NULL: there are no such calls */
    void (*member)(text *t, const kernel_head *h);
    const char *members; /* what their names begin with where units of one program may have the same; NULL: none may */
    void (*prelude)(text *t, const unit_facts *u); /* what every unit begins with */
};

const char *memory_type(const dialect *d, dtype t);           /* of an element in memory */
const char *value_type(const dialect *d, dtype t, bool wide); /* in which it computes; wide: reals in f64 */
/* The form with its arguments, the functions it calls noted in f, which may be NULL. */
void form_write(text *t, callees *f, const dialect *d, const char *form, const char *const *arg);
const role_form *role_form_of(const dialect *d, const char *role); /* NULL: a loop like any other */
