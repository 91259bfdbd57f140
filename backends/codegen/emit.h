/* emit.h - writing one kernel, for the files of this folder alone: the emitter, which holds what is known at the
 * place that the text has come to, and what each file writes.
 *
 * An emitter lives for one kernel. What hangs on it is of its arena, or of the plan, and dies with it; nothing here
 * frees. Whoever changes what holds further in (`here`, `stage`, `tile`) puts it back when the loop is closed.
 * The first error stays in *e, and the kernel is thrown away. */
#pragma once
#include "backends/codegen/codegen.h"
#include "backends/codegen/cstyle.h"
#include "schedule/nest/nest.h"

enum {
    MAX_OPERAND = MAX_STAGES * (MAX_LOADS + 1), /* all that a kernel's stages can load and write */
    MAX_TILE = 2 * MAX_STAGES + 16,
    MAX_SPLIT = 16,
    MAX_APART = 32,
    MAX_ARGUMENT = 256,
    /* Stand where a load's number is asked: for the result, and for what is carried from trip to trip */
    RESULT = MAX_LOADS,
    STATES
};

typedef struct source {                                            /* where a load of a stage finds its element */
    enum { FROM_MEMORY, FROM_STAGE, FROM_COPY, FROM_RESULT } from; /* FROM_RESULT: where it is about to write */
    int operand;                                                   /* FROM_MEMORY */
    int stage;                    /* FROM_STAGE: the earlier stage that holds it in scratch */
    int64_t stride[MAX_AXIS];     /* FROM_COPY: scratch strides by axis of this stage; 0: not part of it */
    const affine *base[MAX_AXIS]; /* FROM_COPY: the axes' values where the copy was made */
    int64_t offset;               /* bytes in scratch, of a stage's slice or of a copy */
    int64_t bytes;                /* of one slice, where there are several */
    bool inside;                  /* FROM_COPY: made within the tile */
    int shift, mask, piece;       /* FROM_COPY: of slice */
    int64_t block, apart;
} source;

typedef struct split {     /* one comparison of a guard: place >= bound, or place < bound */
    const expr *x, *place; /* place NULL: another condition */
    bool low;
    int64_t bound;
    /* in the tile being written: taken over by loop `last` (-1: by one test around all, MAX_LOOP: holds everywhere) */
    bool done;
    int last;
} split;

typedef struct tile_made { /* a tile function: equal stages and extents share it */
    int stage, number;
    int64_t cur[MAX_AXIS];
    int64_t low[MAX_AXIS], high[MAX_AXIS]; /* where it may start, along axes whose borders have tiles of their own */
    bool loads[MAX_LOADS];                 /* those it reads */
    int via[MAX_LOADS];                    /* of each: the first that starts where it does, whose pointer both take */
    uint32_t passed;                       /* axes it takes as numbers */
    uint32_t sizes;                        /* extents of the run that it takes */
    uint32_t boxes;                        /* maps that it takes */
    bool clipped;                          /* may end before its extents do, along varying axes that it sums up */
    uint32_t counted;                      /* folded axes of which it takes how many trips it makes */
    bool prefetch, masked;                 /* takes pointers to fetch from; takes how far it walks */
    bool lanes, scratch;                   /* mentions the lane that it is; takes the pointer to scratch */
    callees uses;
    double registers, spills;      /* that it takes at once; loads in place of those that there are not */
    const char *declared;          /* its parameters */
    const cexpr *const *parameter; /* their names, in the order of a call's arguments */
    stmt *body;
    /* of each load, of the result and of states */
    int64_t c[STATES + 1];  /* constant that stays inside the tile */
    bool whole[STATES + 1]; /* indexed from its start, not from where the tile starts */
} tile_made;

typedef struct arguments { /* of a call of a tile; the names of its parameters, and their declarations as text */
    int n;
    const cexpr *of[MAX_ARGUMENT], *name[MAX_ARGUMENT];
    text declared;
} arguments;

typedef struct prefetch { /* the next slice of an operand, or of the result */
    int stage, load, loop;
    const memory_space *space;     /* into which it is fetched */
    bool shared;                   /* the loop is one that stages share */
    bool along;                    /* pieces are spread along themselves, not one after another */
    bool varies;                   /* a run says how much of the slice there is */
    int64_t lines, calls;          /* of each piece; tiles over which they are spread */
    int64_t pieces, stride, share; /* bytes from one to the next; pieces for one tile */
} prefetch;

/* ---- what is known while a kernel is written, each part for those files that are about it ---- */
typedef struct output { /* where what is written goes */
    code code;
    callees *uses; /* of the function that is being written */
    callees all;   /* of the kernel with its tiles */
    text front;    /* what stands in front of tile functions */
    int names;     /* numbers of what stands before calls of tiles: place0, t1, ... */
    bool lanes;    /* what is outside tiles mentions the lane that it is */
} output;

typedef struct held { /* where values wait within the kernel */
    int64_t at;
    bool spilled; /* elsewhere than in scratch */
} held;

typedef struct data_used { /* what the kernel reads and writes, and what it holds in scratch */
    int n_operand;
    operand operand[MAX_OPERAND];
    source (*source)[MAX_LOADS];       /* of each stage; in the emitter's arena */
    held slice[MAX_STAGES];            /* of each scratch stage */
    held state[MAX_STAGES][MAX_STATE]; /* of each one that carries some */
    int64_t scratch, scratch_most;     /* bytes in use, and the most */
    int64_t spill;                     /* bytes in use elsewhere */
    int n_box;
    box_of box[MAX_BOX];
    int scratch_multiple;  /* of so many bytes scratch is to begin; 0: any that the language gives */
    int64_t room, besides; /* bytes of scratch that there are, 0: no limit; of these those that are not for slices */
} data_used;

typedef struct standing {         /* where the loops stand, axis by axis */
    const affine *axis[MAX_AXIS]; /* its value */
    int64_t cur[MAX_AXIS];        /* what it has left here: a constant */
} standing;

typedef struct stage_state { /* of the stage that is being written */
    int at;                  /* its number */
    const expr *value;       /* what it computes, without guards that copies have taken over */
    const expr *fold;
    int result;                   /* the operand it writes, when not to scratch */
    const affine *base[MAX_AXIS]; /* the part of each axis that the shared loops give */
    bool outer_fold;              /* a folded loop outside the tile: partial sums wait in the result */
    bool carries;                 /* states wait for the next trip of the shared loops */
    int lane;                     /* the tile's vector loop over a folded axis, or -1 */
    uint32_t peeled;              /* axes whose loops outside the tile write first and last trips apart */
    uint32_t known;               /* loops of a tile without a fold that are written out trip by trip */
    const char *states;           /* as a writer has them; NULL: "s" */
    const index_list *state;
} stage_state;

typedef struct bounds { /* guards.c: comparisons of the guard under the stage's fold */
    int n;
    split split[MAX_SPLIT];
    const expr *guard;
} bounds;

typedef struct chunking { /* chunks.c */
    int core;             /* the last loop whose trips they are */
    int64_t parts;        /* among which the work can be shared */
    char name[24];        /* the variable that counts them */
} chunking;

typedef struct later { /* a trip of a loop of the tile that is still to come */
    int axis;
    int64_t step, left; /* elements of all trips, where the last one has fewer than step; 0: all have step */
    const affine *at;   /* its number */
} later;
/* TAKEN: into registers, from which they are PUT later; BOXED: by the device itself */
typedef enum moving { AT_ONCE, SENT, TAKEN, PUT, BOXED } moving;

typedef struct copying { /* of an operand's slice into scratch */
    source *to;
    int load, n;
    const int *order;
    const char *into; /* the pointer to where it begins, or the address if it is SENT; NULL: what is known of `to` */
    /* By axis: elements it has; what is not there of them becomes zeros. NULL: those there are */
    const int64_t *extent;
    const later *later; /* it is of a later trip; NULL: of where loops stand */
    const cexpr *when;  /* then alone what is SENT is there; NULL: always */
    moving how;
    int64_t stride[MAX_AXIS]; /* in the operand */
    int fast, slow;           /* turn: rows along fast, a block at a time, become columns along slow */
    bool turn, even;          /* even: the strides say it all */
    bool inside;              /* its guard holds, as loops stand */
} copying;

typedef struct copy_state { /* copy.c */
    bool on;                /* what is addressed is copied, whether it will be used or not */
    bool sent;              /* it is sent: the lane's part of its place is worked out once */
    const expr *under;      /* then: the condition under which it is read; NULL: none */
} copy_state;

typedef struct fetching { /* prefetch.c: what is prefetched of the tile being written, at outer loops first */
    int n;
    prefetch slice[2 * MAX_STAGING];
} fetching;

typedef struct tile_list { /* tile.c: those of the kernel */
    int n;
    tile_made *made[MAX_TILE]; /* in the emitter's arena */
} tile_list;

typedef struct vector_access { /* accesses.c: of the loop over neighbours that is being written */
    int64_t trips;
    const char *trip;                  /* its variable */
    const move_form *form[RESULT + 1]; /* of each load and of the result; NULL: element by element */
} vector_access;

typedef struct turned_access { /* turns.c: of the loop over vectors that is being written */
    bool of[RESULT + 1];       /* loads, and the result, that are taken from vectors along the loop around */
    const cexpr *trip;         /* which of these is at hand; NULL: outside of that loop */
} turned_access;

typedef struct position { /* on an axis, of loops */
    const affine *inner, *plain;
} position;

typedef struct vector_loop { /* vectors.c: of the loop over lanes of the tile, or over neighbours outside */
    int n;                   /* neighbours that one holds; 0: there are none */
    int axis, count;         /* along which; how many of them there are in the one at hand */
    const char *each;        /* where one after another is computed: the variable that says which; NULL elsewhere */
    position at;             /* then: without it; variables of indices */
    int n_var;
    int names; /* numbers of what is named: v0, e1, ... */
} vector_loop;

typedef struct barriers_made { /* boxes.c: of a ring within loops of the tile, which are made once in front of these */
    stmt *around;              /* what holds these loops; NULL: rings make their own */
    int loop, slots;           /* of the ring; slots 0: none has been made */
    int64_t at;                /* bytes in scratch */
} barriers_made;

typedef struct tile_state {         /* inside a tile function */
    tile_made *made;                /* NULL outside */
    const affine *origin[MAX_AXIS]; /* symbol of where the tile starts */
    const affine *inner[MAX_AXIS];  /* the same plus its loops */
    const affine *plain[MAX_AXIS]; /* the same with the axis passed in as a number: for guards and what is not linear */
    uint32_t apart;                /* loops that are written out trip by trip */
    bool clipped;                  /* the tile that is called may meet the end of a varying axis that it sums up */
    uint32_t tested;               /* such axes along which each element is asked whether it is there */
    const expr *there;             /* that it is there along all of these, as a condition; NULL: it is not asked */
    const expr *term;              /* what it folds: without what the loops' bounds settle */
    const move_form *run;          /* neighbours of the result that are stored at once; NULL: each by itself */
    const move_form *pair;         /* two runs of them, of two trips of the innermost loop; NULL: one by one */
    int64_t trips;                 /* of the loop that was opened last */
    const char *sums;              /* where they wait for what follows; NULL: in "acc", the registers */
    const char *step;              /* where FINISH puts a step on the way to the value; NULL: it stores the value */
    int piece;                     /* which piece of the states is stored: the result's first subscript */
    vector_access vector;
    vector_loop vectors;
    turned_access turned;
    struct ring *sends; /* the slice to come of it is not on its way yet; NULL: it is, or there is none */
    barriers_made barriers;
} tile_state;

typedef struct varying_state { /* varying.c: of the kernel */
    uint32_t used;             /* the plan's variables that are mentioned outside of tiles */
} varying_state;
typedef enum trips_way { EVERY_TRIP, TRIPS_LEFT, WHOLE_TRIPS, LAST_TRIP, VECTORS_LEFT } trips_way;

typedef struct text_around { /* the text that a kernel stands in, with others */
    int64_t lanes;           /* that a group has, at least */
} text_around;

typedef struct emitter {
    const dialect *d;
    const plan *p;
    const kernel *k;
    const stage *s; /* the one that is being written */
    arena *mem;
    err *e;
    text_around of;
    int64_t group; /* lanes of a group; 1: a part is one worker alone */
    space sp;
    output out;
    data_used data;
    standing shared, here; /* of the loops that stages share; of all */
    stage_state stage;
    bounds bounds;
    chunking chunks;
    copy_state copy;
    fetching fetches;
    tile_list tiles;
    tile_state tile;
    varying_state varies;
    touching *touching;   /* who asks what is touched, in place of text; NULL: nobody */
    footprint *footprint; /* the same of what loops work on */
} emitter;

/* MERGE: of a vector; GATHER: of lanes of a group; CARRY: states make a step; SPILL: sums leave the registers; TAKE:
 * the sums so far, KEEP: for later ones */
typedef enum tile_phase { CLEAR, BODY, MERGE, GATHER, CARRY, SPILL, FINISH, TAKE, KEEP } tile_phase;
bool phase_spills(emitter *m, int64_t sums); /* what follows so many has too few registers beside them */
/* A part of x, over the sums, that is done first for all of them, and is what x then goes on from; NULL: x is short */
const expr *phase_step(emitter *m, const expr **x);
/* offsets.c: offsets in elements within a load's source, and within the result's place. */
const affine *source_offset(emitter *m, int load, const affine *const *axis);
const affine *store_offset(emitter *m, const affine *const *axis);
const affine *state_offset(emitter *m, const affine *const *axis); /* within the slice of each state */
const expr *checked_place(emitter *m, const expr *at,
                          int64_t extent); /* a subscript that the data says, checked once */
dtype source_dtype(const emitter *m, int load);
int64_t place_grain(const emitter *m,
                    int load); /* elements at multiples of which the load's, or result's, memory begins */
/* text.c: expressions and addresses as text, in the tile or outside. */
writer emit_writer(emitter *m);
const cexpr *emit_index(emitter *m, const affine *a);
/* For as long as the statements live */
const char *number_text(const emitter *m, int64_t n);
const cexpr *emit_whole(const emitter *m, int64_t n);
const cexpr *emit_long(const emitter *m, int64_t n);             /* of the type of loop variables, whatever it meets */
stmt *emit_written_out(emitter *m, const char *name, int64_t n); /* opens a loop of n trips, all in the text */
const char *pointer_type(const emitter *m, reach who, dtype d, bool written); /* "const float *" */
const cexpr *scratch_at(const emitter *m, const char *of, int64_t offset);
const cexpr *slice_at(const emitter *m, int stage, bool written); /* where a stage's values wait for later ones */
const cexpr *held_at(const emitter *m, const held *h, dtype d, bool written);
reach slice_reach(const emitter *m, int stage);
reach held_reach(const held *h);
const cexpr *emit_element(emitter *m, int load);                     /* the operand's element, as memory has it */
reach load_reach(const emitter *m, int load);                        /* of the pointer to it */
const cexpr *emit_pointer(emitter *m, const tile_made *f, int load); /* outside: the pointer that tile f is given */
bool emit_takes(const tile_made *f, int load);                       /* a pointer, of this load */
void emit_starts(emitter *m, tile_made *f); /* in a tile, its start being set up: which loads share a pointer */
const cexpr *emit_at(const emitter *m, const cexpr *pointer, const cexpr *index, int load); /* of memory */
const cexpr *emit_result(emitter *m);          /* in a tile: the element y[...] */
const cexpr *emit_place(emitter *m, int load); /* in a tile: the index of a load, of the result or of states */
/* Outside: base, and where tile f starts behind it */
const cexpr *emit_start(emitter *m, const cexpr *base, const tile_made *f, int load);
const char *tile_loop(const emitter *m, int l);                         /* what loop l of the tile calls its trip */
const cexpr *tile_trip(const emitter *m, int l);                        /* that trip */
const cexpr *emit_acc(emitter *m, const char *name, const cexpr *lane); /* the accumulator of that name */
const index_list *emit_subscripts(emitter *m, const cexpr *lane);       /* what it is indexed by */
const cexpr *emit_sums(emitter *m); /* of a matrix unit: those of a lane for one trip of it, acc[m_3] */
const cexpr *emit_address(const emitter *m, const cexpr *x);
const cexpr *emit_bytes(const emitter *m, const cexpr *index, int64_t size, bool brackets); /* of so many elements */
/* The form moves bytes at once */
const cexpr *emit_move(emitter *m, moves how, const char *form, int bytes, int n, const cexpr *const *arg);
const cexpr *emit_form(emitter *m, const char *form, int n, const cexpr *const *arg);
void emit_call(emitter *m, const char *form, int n, const cexpr *const *arg); /* a statement of it */
/* In a tile: a number on its own, read before all loops */
bool emit_single(const emitter *m, int load);
int emit_number(const emitter *m, const expr *x); /* of a load */
void emit_passed(emitter *m, const affine *a); /* in a tile: the axes whose numbers the text of a form will mention */
/* value.c: values of one element in the innermost loop of a tile, or of the vector that the loop stands at */
const char *value_spelled(emitter *m, dtype d);
typedef const expr *value_step(emitter *m, writer *w, const expr *x);
typedef struct value_pass { /* over the expression of a value, where loops stand: what is to be written in its place */
    const char *name, *does, *requires, *guarantees;
    value_step *run;
} value_pass;
enum { N_VALUE_PASS = 4 };
extern const value_pass value_passes[N_VALUE_PASS]; /* in their order */
/* Each in the file of its name. What idioms give is to be written as it is: its functions are in no table. */
value_step inside_value, idioms_value, products_value, shapes_value;
const expr *value_through(emitter *m, writer *w, const expr *x, int from, int to); /* x by passes from ... to - 1 */
const cexpr *value_of(emitter *m, writer *w, const expr *x);     /* by all of them, as it is written */
const cexpr *value_shaped(emitter *m, writer *w, const expr *x); /* by the last one alone */
int64_t value_width(const emitter *m, dtype d);                  /* of one, or of a vector */
void value_let(emitter *m, const char *prefix, int number, dtype d, const cexpr *value); /* "was0" */
const cexpr *value_read(emitter *m, dtype d, const cexpr *place);
void value_write(emitter *m, dtype d, const cexpr *place, const cexpr *value);
void value_put(emitter *m, const cexpr *value);        /* it is the result there */
const cexpr *value_acc(emitter *m, const cexpr *lane); /* acc[m_3][lane]; NULL: where the folded vector loop stands */
const cexpr *value_unit(emitter *m);                   /* of the fold */
const cexpr *value_combined(emitter *m, const cexpr *a, const cexpr *b); /* by the fold */
const cexpr *value_sum(emitter *m, const expr *x, const cexpr *acc);     /* acc (+) x */
/* The value, but what `was` has of elements that there are not: where these are folded into one */
const cexpr *value_counted(emitter *m, dtype d, const cexpr *value, const cexpr *was);
/* phases.c: one element of the tile, or one vector, in the innermost loop. */
void emit_phase(emitter *m, tile_phase ph);
void emit_dot(emitter *m); /* in place of BODY, of vectors: by one instruction */
/* Half of so many lanes takes the other half in, until there is one. */
void phase_halves(emitter *m, int64_t lanes, void (*take)(emitter *m, const cexpr *low, const cexpr *high));
/* tile.c */
/* given: what the parameter is at the call; NULL: it has that name there, too */
void argument_add(const emitter *m, arguments *a, const char *of, const char *name, const cexpr *given);
void argument_number(const emitter *m, arguments *a, const char *name,
                     const cexpr *given);       /* of loop variables' type */
void kernel_outline(const emitter *m, text *t); /* outline.c */
void print_tile(const emitter *m, const tile_made *f, text *out);
/* lanes.c: a part that is a group of lanes. */
void lanes_fit(emitter *m);          /* before all statements: the lanes of the group, and what it has for scratch */
bool lanes_check(emitter *m);        /* behind all of them: that scratch fits */
const cexpr *lanes_lane(emitter *m); /* the number of the lane, where it is asked for */
/* Opens what is done by those lanes alone that have trips first up to end of loop l of the tile, as text. */
void lanes_enter(emitter *m, int l, int64_t first, int64_t end, const cexpr *to);
bool lanes_one(emitter *m); /* the stage has no such loops, but the group has lanes: opens what one of them does */
bool lanes_fold(const emitter *m);                  /* several lanes sum up one element of the stage */
void lanes_merge(emitter *m);                       /* their sums, in a fixed order: to the first of them */
void lanes_declare(emitter *m, const tile_made *f); /* at the tile's head: which trips are this lane's */
void lanes_head(emitter *m);                        /* behind all statements outside of tiles: the same at their head */
/* tuple.c: folds of several values, in a tile: acc0, acc1, ... in place of acc. */
bool tuple_fold(const emitter *m);         /* the stage's fold is one */
const char *tuple_type(emitter *m, int k); /* of accumulator k */
int64_t tuple_bytes(const emitter *m, int k);
const cexpr *tuple_acc(emitter *m, int k, const cexpr *lane);
void tuple_clear(emitter *m);                /* each state is its start */
void tuple_step(emitter *m);                 /* they make a step */
void tuple_lanes(emitter *m, int64_t lanes); /* those of a folded vector loop become those of its first lane */
const cexpr *tuple_first(emitter *m, int k, const cexpr *at); /* state k of the first lane, whatever `at` is */
/* Those at hand become what they are together with others: with(k) of state k */
void tuple_merge(emitter *m, const cexpr *(*mine)(emitter *m, int k, const cexpr *at),
                 const cexpr *(*with)(emitter *m, int k, const cexpr *at), const cexpr *at);
void tuple_result(emitter *m); /* names what comes of them `folded` */
void tuple_leave(emitter *m);  /* of one part: stores its states, for the kernel that puts parts together */
/* carry.c: states that are carried along a shared loop. */
void carry_start(emitter *m);                                       /* before the loop */
void carry_open(emitter *m);                                        /* around a stage: which trip is the last */
void carry_one(emitter *m);                                         /* in a tile: one element's states make a step */
void carry_result(emitter *m);                                      /* and the result what its value is then */
void carry_arguments(emitter *m, arguments *a, const tile_made *f); /* the states' pointers */
/* move.c: copies by all lanes of the group together. */
void lanes_copy(emitter *m, const copying *c);
void lanes_held(emitter *m, const copying *c); /* declares what a lane holds of it when it is TAKEN */
bool lanes_send(emitter *m, const copying *c); /* whether it can be SENT */
/* accesses.c: neighbours that a lane moves at once, around loop q of the tile, which makes all its trips, one for each
 * element. x: the n that are computed in it. stores: into the result. Whether there are any; then there is something to
 * close. */
bool vector_open(emitter *m, const loop *q, const char *trip, int n, const expr *const *x, bool stores);
void vector_close(emitter *m);
bool vector_reads(const expr *x, const expr *load); /* in x, whatever conditions say, outside folds */
bool vector_moves(void *user, const atom *a);       /* with a variable, or an expression of an axis: int[2] */
const cexpr *vector_element(const emitter *m,
                            int load); /* within: a load's, or the result's; NULL: it is none of them */
/* turns.c: accesses along another loop than that over vectors */
void turn_expect(emitter *m);                          /* notes those that may be, for who asks what vectors gain */
const cexpr *turn_element(const emitter *m, int load); /* the vector at hand, of the result to be stored to; or NULL */
/* vectors.c: a loop over lanes as one over vectors, where the language has them. */
void vectors_find(emitter *m);                          /* in the tile, its start being set up: whether it has them */
int64_t vectors_of(const emitter *m);                   /* that the loop has */
int64_t vectors_trips(const emitter *m, tile_phase ph); /* elements that the loop has in that phase */
const expr *vectors_value(emitter *m);                  /* partial_value, of all elements of the vector at hand */
/* matrix.c: products that a matrix unit forms, where lanes of a group do so together. */
bool matrix_of(const emitter *m, unit_loops *u, const matrix_form **form); /* whether the stage has such loops */
bool matrix_check(emitter *m);                                             /* that the language has the unit */
bool matrix_waits(const emitter *m); /* its lanes wait for the unit, and may do something else before */
void matrix_show(emitter *m);        /* before lanes meet: what they copied is there for the unit, too */
void matrix_body(emitter *m);        /* in the innermost serial loop */
bool matrix_sums(const emitter *m);  /* there is a unit: sums of a lane go by `part` */
/* Opens what is done with each of them, as many blocks as it says. placed: where the result has it. */
int matrix_enter(emitter *m, bool placed);
void matrix_finish(emitter *m); /* before all of them: what runs wait in for the next ones */
void matrix_store(emitter *m, const cexpr *y, const cexpr *value); /* of a run of neighbours: the last one stores all */
/* held.c: what stages hand on, and carry */
void held_give(emitter *m);  /* gives it places */
void held_clear(emitter *m); /* before all loops: zeros where matrix units read what no stage writes */
/* unroll.c */
bool role_unrolled(const role *r); /* in registers, and its trips are not the elements of one */
int tile_rows(const emitter *m);   /* the outermost loop in registers over what the tile gives */
/* chunks.c: how parts share the work. */
const cexpr *chunks_trip(const emitter *m, int l); /* which trip of outer loop l a chunk belongs to */
bool chunks_first(const emitter *m, int l);        /* no loop around outer loop l walks its axis */
/* Of n, or of count where that is given: the part's own */
const cexpr *share_from(emitter *m, int64_t n, const cexpr *count),
    *share_to(emitter *m, int64_t n, const cexpr *count);
void emit_range(emitter *m, int64_t n); /* low and high: the part's own of n elements; n < 0: the first part does all */
/* plain.c: loops written as they are, for what no nest walks. */
typedef struct row_loop {                     /* a loop over an axis */
    int axis, n;                              /* elements of a vector, see vector_beside; 0: they go one by one */
    const affine *(*place)(const void *user); /* where the loops stand: of the element that is stored */
    void (*write)(void *user);                /* what is done with one, or with a vector of them */
    void *user;
} row_loop;
void plain_loop(emitter *m, int axis, const cexpr *from, const cexpr *to); /* opens it */
void plain_end(emitter *m, int n);                                         /* closes n loops */
void plain_row(emitter *m, const row_loop *r, const cexpr *from, const cexpr *to);
void plain_put(emitter *m, const affine *place, const cexpr *x, bool combined); /* y[place] = x, or y (+) x */
void emit_scan(emitter *m);                                                     /* scan.c: states carried along axes */
/* scatter.c: the loops of a stage that stores where its indices say */
void emit_scatter(emitter *m);
/* routine.c: a call of a routine, with its text */
void emit_routine(emitter *m);
/* prefetch.c: fetching the next slices into a cache, spread over the tiles of the present ones. */
/* Outside, at a loop of the stage at hand, or one that it shares: sets up what its staging asks for. */
void prefetch_enter(emitter *m, bool shared, int loop);
void prefetch_leave(emitter *m, bool shared, int loop);
void emit_fetch(emitter *m); /* in the tile's innermost fold loop, or at its start */
void emit_prefetch_arguments(emitter *m, arguments *a);
/* guards.c: padding as bounds of loops. */
bool bounds_read(const expr *x, split *c); /* 0 <= place, place < n, and the same written otherwise */
void bounds_find(emitter *m);              /* of the stage */
void bounds_tile(emitter *m); /* in the tile, its start being set up: what settles each comparison, and m->term */
bool bounds_open(emitter *m); /* opens a test around the tile's folds where one is needed */
/* masks.c: what a mask leaves of a block of rows. */
#define MASK_TABLE "count"     /* its name in the text */
void mask_open(emitter *m);    /* before the first stage */
void mask_check(emitter *m);   /* behind each stage */
bool mask_carried(emitter *m); /* before the loop along which states are carried: opens a block if it ends there */
bool mask_bounds(const emitter *m, int l);                   /* whether loop l of the stage ends where that ends */
const cexpr *mask_end(const emitter *m, int l, int64_t end); /* where, of trips up to `end` */
/* varying.c: extents that a run says. */
void varying_begin(emitter *m); /* before all statements */
bool varying_axis(const emitter *m, int axis);
/* Steps that an axis has from `at` on, begun ones counted */
const cexpr *varying_trips(emitter *m, const varying *v, const affine *at, int64_t step);
/* At a call, conditions: the tile has all of its elements; more than so many are left of the axis */
const cexpr *varying_full(emitter *m), *varying_more(emitter *m, int axis, int64_t than);
/* Of a loop over neighbours in a tile that sums up nothing: it is long, and takes those vectors that are there. */
bool varying_row(const emitter *m, int l, int64_t trips);
void varying_bounds(emitter *m, int l, trips_way way, const cexpr **from, const cexpr **to); /* narrows them */
uint32_t ends_always(const emitter *m); /* ends.c: axes that no serial loop of the tile walks: each element is asked */
const expr *varying_term(emitter *m, const expr *x);        /* what is summed up, where it is there */
const expr *varying_step(emitter *m, const expr *x, int k); /* of state k */
/* A subscript that data say, of a dimension that is `below` */
const expr *varying_place(emitter *m, const expr *x, const varying *below);
void varying_name(emitter *m, text *t, int v);  /* of an extent in expressions */
void varying_used(emitter *m, const affine *a); /* an index is written that may mention extents */
void varying_arguments(emitter *m, const tile_made *f, arguments *a);
/* partial.c: choices that are known in a tile. */
void partial_find(emitter *m);         /* of the stage */
const expr *partial_value(emitter *m); /* in the tile: what it computes here */
/* copy.c: copies what the inner loops read of an operand into scratch. */
void copy_enter(emitter *m, int stage, bool shared, int loop);
void copy_leave(emitter *m, int loop);                   /* a shared one: its operands are in memory alone again */
const cexpr *copy_element(emitter *m, const copying *c); /* the operand's, as memory has it */
const cexpr *copy_index(emitter *m, const source *q, const affine *at); /* where element `at` of the copy lies */
const cexpr *copy_into(emitter *m, const copying *c, const affine *at);
const expr *copy_value(emitter *m, const stage *s); /* a padded operand that is copied has its zeros there */
/* idioms.c */
bool stays_between(const expr *x, double low, double high); /* whatever is read */
const expr *without_round_trips(emitter *m, const expr *x); /* conversions that change nothing here */
/* kernel.c: the loops around tiles */
void loop_name(const emitter *m, const nest *t, int l, char name[24]); /* its variable: from the axis and its number */
int loop_depth(const emitter *m, const nest *t, int l);                /* loops entered with it, shared ones first */
void stage_enter(emitter *m, int i); /* the stage is the one at hand, with all that is known of it as a whole */
void kernel_statements(emitter *m);  /* gives operands, scratch, tiles and m->code */
void op_counts_add(op_counts *c, const op_counts *more, double times);
/* count.c */
void kernel_count(const emitter *m, op_counts *out); /* of its statements */
double stmt_trips(const stmt *s);                    /* of a loop */
/* footprint.c */
void kernel_footprint(const emitter *m, footprint *to); /* of its statements */
/* live.c */
void kernel_live(const emitter *m);            /* tells of its tiles what they take, and spill */
void emit_meet(emitter *m);                    /* the workers of a group wait for one another */
void kernel_header(text *t, const emitter *m); /* what equal kernels share (header.c) */
void loop_header(text *t, const kernel *k, const kernel_text *out, const kernel_text *member);
/* unit.c */
bool member_make(const dialect *d, const plan *p, const kernel *k, text_around of, kernel_text *out, err *e);
void member_name(const dialect *d, char name[24]);          /* from that which it has as a unit */
void member_write(kernel_text *out, text *header, text *t); /* what it consists of, besides those it calls; taken */
void member_take(kernel_text *out, kernel_text *k);         /* takes its functions, and notes what it needs */
/* A function that calls members, with the name that is given: out is named after that text, and so after theirs. */
typedef void calling(void *user, const char *name, text *t);
void unit_call(kernel_text *out, calling *write, void *user);
void unit_whole(const dialect *d, kernel_text *out, calling *write, void *user, text *header); /* members, then it */
/* loop.c: a scan with its loop, as a unit or a member */
bool loop_write(const dialect *d, const plan *p, const kernel *k, kernel_text *out, err *e);
bool loop_member(const dialect *d, const plan *p, const kernel *k, text_around of, kernel_text *out, err *e);
