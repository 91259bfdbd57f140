/* trips.h - the loops of a kernel and of its tiles as they will be written, between the nest and the statements: a tree
 * of trips of loops. Passes cut, mark and replace what the nest says, each in the file that is about it, until what is
 * left can be written as it stands: around tiles by kernel.c, in them by tile.c. While a pass is at a node, the emitter
 * stands where the loops around the node do. Nodes live in the emitter's arena. */
#pragma once
#include "backends/codegen/emit.h"

typedef enum trips_kind {
    T_LOOP,    /* trips of a loop, all with the same constants */
    T_STAGE,   /* around tiles: what is in it is of stage number `loop` */
    T_CHUNKS,  /* all trips of the outermost loops up to `loop`, counted together: `end` of them, which parts share */
    T_CARRIED, /* a loop that stages share, along which states are carried */
    T_TILE,    /* a call; `loop`: the first axis along which half of it may do */
    T_IF,      /* around tiles: where more than `left` elements of axis `loop` are left; -1: all that they sum up */
    T_ELSE,    /* where not, behind that */
    T_RING,    /* in a tile: a loop with slices of several of its trips */
    T_ACCESS,  /* a loop over neighbours, which may be moved at once */
    T_LANES,   /* a loop whose trips are lanes, all of which do alike */
    T_APART,   /* what lanes do apart */
    T_VECTORS, /* the loop over lanes, as one over vectors, each of `left` elements */
    T_FIRST,   /* of what elements of a vector were folded into: it is the first one's */
    T_TURN,    /* a loop along which vectors are read, or stored, whose elements change places with those of others */
    T_UNIT,    /* the loops of a matrix unit: sums that a lane has of it */
    T_PRODUCT, /* all loops in registers, multiplied by a matrix unit */
    T_FETCH,   /* of the next slices */
    T_DOT,     /* what an instruction adds of all trips of the loop within */
    T_PHASE    /* what is done with one element, or vector */
} trips_kind;

typedef enum trips_maker {
    BY_EACH,
    BY_PARTS,
    AS_CHUNKS
} trips_maker; /* each part has its own; the next one that is left */

/* strip: trips of a loop, or what stands among loops. */
typedef struct strip strip;
struct strip {
    trips_kind kind;
    tile_phase ph; /* in a tile: which one it is of */
    int loop;      /* of the stage's nest, or of those that stages share */
    bool shared;
    bool rest, masked;      /* the last trip, which has less than a step; it ends where a mask leaves nothing */
    int64_t first, end;     /* trips */
    int64_t all, left;      /* trips of the whole loop; elements of the axis in one of these; 0: it is not cut yet */
    const cexpr *from, *to; /* where first and end are the least and the most alone; NULL: where they say all */
    const cexpr *count;     /* trips that there are in this run; NULL: all */
    trips_way way;
    trips_maker made;  /* around tiles: by whom, of all parts */
    struct ring *ring; /* whose slices its trips take */
    opening how;       /* in a tile: its trips are written; of those that are written out so many together */
    int64_t together;
    strip *in, *next;
};

typedef strip *trips_step(emitter *m, strip *t);
typedef struct trips_pass {
    const char *name, *does, *requires, *guarantees;
    bool around;     /* it is of loops around tiles, too */
    trips_step *run; /* what stands in place of t, which is taken out of its list; NULL: nothing */
} trips_pass;
enum { N_TRIPS_PASS = 20 };
extern const trips_pass trips_passes[N_TRIPS_PASS]; /* in their order */

strip *trips_of_kernel(emitter *m);                           /* all that is around tiles, as the nest has it */
strip *trips_of_phase(emitter *m, tile_phase ph);             /* the same in a tile, of one phase */
strip *trips_through(emitter *m, strip *t, int from, int to); /* passes from ... to - 1 */

/* For passes */
strip *trips_copy(emitter *m, const strip *t);        /* with what is in it, and alone */
strip *trips_apart(emitter *m, strip *t, int64_t at); /* trips from there on as a node of their own, which is next */
strip *trips_wrap(emitter *m, trips_kind kind, strip *t); /* t, alone, in a node of that kind */
strip *trips_node(emitter *m, strip own);                 /* a copy of it */
/* Where the tile has more than `left` of the axis, else; axis -1: all that it sums up */
strip *trips_two_ways(emitter *m, strip *more, strip *rest, int axis, int64_t left);
const loop *trips_loop(const emitter *m, const strip *t);
bool trips_folds(const emitter *m, const strip *t); /* the loop's axis */
bool trips_even(const emitter *m, int l); /* one trip of loop l of the tile after the other, none of them left out */
typedef struct trips_place {              /* where loops stand */
    standing here, shared;
    const affine *inner[MAX_AXIS], *plain[MAX_AXIS];
    int64_t scratch;
    int n_var, count; /* count: elements of the vector */
} trips_place;
void trips_save(const emitter *m, trips_place *was);
void trips_enter(emitter *m, const strip *t, trips_place *was); /* where it stands in one of its trips */
void trips_leave(emitter *m, const trips_place *was);
void trips_go(emitter *m, int axis, const affine *at, int64_t by); /* the axis goes on by so many times `at` */
const source *sources_save(const emitter *m); /* of the stage's loads; what is copied has other ones until the end */
void sources_back(emitter *m, const source *was);

bool lanes_to_one(const emitter *m, const strip *t); /* a loop that is left to lanes: the first has what they sum up */
void chunks_open(emitter *m, const strip *c);        /* what is around the chunks c */
void emit_tile(emitter *m, const strip *t);          /* tile.c: its call */
bool bounds_touch(emitter *m, const strip *t, int64_t trip, bool low); /* guards.c */
void turn_open(emitter *m, const strip *t);                            /* before the loop t: what is read */
void turn_close(emitter *m, const strip *t);                           /* behind it: what is stored */
/* The first loop over axis a in the tile, if it is serial: what loops outside clip makes fewer trips of it. */
const loop *counted_loop(const emitter *m, int a);
uint32_t counted_axes(const emitter *m);             /* folded, of which calls of the tile say how many trips */
const cexpr *counted_trips(const emitter *m, int l); /* that the call says of loop l; NULL: it does not */

/* Each in the file of its name */
trips_step chunks_pass, matrix_pass, vectors_pass, lanes_pass, phases_pass, rings_pass, accesses_pass, cut_pass,
    borders_pass, halves_pass, sums_pass, guards_pass, partial_pass, masks_pass, counted_pass, ends_pass, turns_pass,
    tails_pass, dots_pass, unroll_pass;
