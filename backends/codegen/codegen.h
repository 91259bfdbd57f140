/* codegen.h - kernels of a plan as text of a C-like language: what a back end asks of this folder.
 *
 *   kernel of a plan ──> statements ──> text through the back end's dialect (dialect.h) ──> its compiler
 *        │  kernel.c, chunks, copy, prefetch, mask (outside of tiles), tile.c, phase, split, partial (inside),
 *        │  scan, scatter
 *        │  vectors.c (a loop over lanes as one over vectors), value.c, shapes.c (how values are computed), vexpr.c
 *        │  lanes.c (of a part that is a group of them), launch.c (several kernels as one), loop.c (a scan's trips)
 *        └─ cstyle.c, text.c, offsets.c (expressions and places), cexpr.c, stmt.c, print.c (trees), library.c
 *        └─ count.c, live.c; walk.c, from which touch.c (by lanes: warp.c) and footprint.c (what a tree does)
 *
 * A kernel becomes one function over pointers and a share of the work, and a tile function for each distinct shape of
 * register tile. Where a part is a group of lanes (lanes.c), all of them run the same function and call the same tiles:
 * trips of some loops of the tile lie in different lanes. Identifiers are counters; no text of a model gets in. The
 * plan is borrowed for the call; what is written is the caller's until kernel_text_free. */
#pragma once
#include "backends/codegen/dialect.h"
#include "schedule/nest/box.h"

enum { MAX_BOX = 8 };   /* maps that a kernel takes */
typedef struct box_of { /* of an operand of the kernel's */
    int operand;
    box box;
} box_of;
typedef struct operand { /* a pointer that the kernel takes */
    const node *node;
    const layout *layout;
    int leaf; /* index in plan.leaf, or -1 */
    bool written;
    char name[16]; /* x0, x1, ... read; y0, y1, ... written */
} operand;

typedef struct member_text { /* of a text of several kernels: a function that stands there once, however many call it */
    char name[24];           /* from its content */
    char *header, *text;
} member_text;
typedef struct kernel_text {
    char name[24];  /* of its function, from its content: equal kernels have one name, and one text */
    const char *op; /* what people call the first kernel with this text; its plan's */
    char *text;     /* a unit of its own, with all functions it uses */
    /* Bytes: what all units may have in front, then functions of the library, then members */
    size_t prelude, begins, behind;
    char *header;  /* a comment for who reads it there, no part of what is compiled */
    int n_operand; /* in the order in which the kernel takes them */
    operand *operand;
    int n_box; /* maps of tensors that it takes behind all else */
    box_of *box;
    int64_t scratch; /* bytes that each part, or group of lanes, needs */
    int64_t spill;   /* bytes of values that a group holds elsewhere, as they do not fit there */
    int lanes;       /* of a group; 1: a part is one worker alone */
    int64_t parts;   /* among which there is work to share, at most */
    bool faults;     /* it checks indices */
    bool asks;       /* first of all, whether a trip before was the last one */
    uint32_t sizes;  /* extents of the run that it takes behind these */
    bool far;        /* some operand has more elements than 32 bits count */
    bool needs_room; /* of a scan: it takes, behind operands, where values of its trips are */
    int tiles;       /* tile functions: tile0, tile1, ... */
    /* What the text begins with, and other kernels may have, too; in place of it: the kernel as others call it, behind
     * all it calls */
    int n_member;
    member_text *member;
    op_counts counts;
    callees uses; /* functions that stand in front of what `begins` is the start of */
} kernel_text;
/* Operands of a scan whose trips are made inside are its own, then the weights that they read. Of a kernel that is
 * launched with others it is what these have of it; alone: by itself all the same.
 * False with e set; then there is nothing to free. */
bool kernel_write(const dialect *d, const plan *p, const kernel *k, kernel_text *out, err *e);
bool kernel_write_alone(const dialect *d, const plan *p, const kernel *k, kernel_text *out, err *e);
/* Adds its statements ("tree"; those of all trips, of a scan), or its text by itself ("text"); see ts_plan_kernel. */
bool kernel_show(const dialect *d, const plan *p, const kernel *k, const char *as, text *out, err *e);
/* What its text does, and on which bytes it works (NULL: nobody asks), without the text */
bool kernel_counted(const dialect *d, const plan *p, const kernel *k, op_counts *out, footprint *bytes, err *e);
/* Where in memory the lanes of its groups are */
bool kernel_touched(const dialect *d, const plan *p, const kernel *k, touching *to, err *e);
void kernel_text_free(kernel_text *k);
void unit_own_tiles(text *t, const kernel_text *k, const char *what); /* with names for its tiles that no other has */
/* Kernels as one unit, in which members stand once, and each has functions of its own: what is made of one depends on
 * no other. header: of each, what stands in front of it; NULL: nothing. Appends to t. */
void unit_join(const dialect *d, const kernel_text *const *k, const char *const *header, int n, text *t);
/* Of a kernel without text: the operands of its call, in order, then the value; of a scan as its stage loads them. To
 * be freed as a text. */
void call_operands(const plan *p, const kernel *k, kernel_text *out);
int text_operands(const kernel_text *k); /* places that it takes: of operands, and the room of trips */
/* It makes a value of bytes of its one operand, as they are from *from on: no text is needed where memory is copied. */
bool kernel_copies(const plan *p, const kernel *k, int64_t *from);
/* Whether the language has what a kernel calls: asked before it has loops. Copies of bytes need none. */
bool kernel_callable(const dialect *d, const kernel *k, err *e);
/* Whether it has no more operands than the target takes. */
bool kernel_operands_fit(const target *on, const kernel *k, err *e);
