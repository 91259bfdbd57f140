/* fragment.h - what each lane of a warp holds of an operand for one statement of a matrix unit. Lanes find it in a
 * slice of the group's, or where an earlier stage of the kernel left it: from a place of their own on, at numbers that
 * the text says, so that little is computed. A fragment is a plain value; what it points to is of the emitter's
 * arena. */
#pragma once
#include "backends/codegen/emit.h"

typedef struct fragment { /* of an operand */
    const fragment_form *form;
    int load, axis, folded; /* the axis of its own that the unit walks, and the folded one */
    int pair;               /* the loop of which two trips are taken at once, or -1 */
    bool across;            /* pieces lie along its own axis */
    bool handed;            /* an earlier stage computed it: it lies where the tile's pointer says; else in a slice */
    char name[16];
    const affine *line, *deep; /* the lane's own row of it, in pieces where these lie along it */
    const affine *start;       /* the lane's place for the first of them */
} fragment;
/* Fills in operand i; names the lane's row. Then, where the lane's place is known, names that and the slice's. */
void fragment_find(emitter *m, const matrix_form *f, const unit_loops *u, int i, fragment *q);
void fragment_start(emitter *m, fragment *q);
/* Declares words of 32 bits, name[counts][n]: n in each of `all` */
void emit_words(emitter *m, const char *name, const char *counts, int n, int64_t all);
void fragment_take(emitter *m, const fragment *q);           /* declares it, for the trip of folded loops at hand */
bool fragment_trips(const emitter *m, int l, uint32_t axes); /* loop l is written out over one of the axes */
/* Which it is of those that are held, or how many there are of each */
const cexpr *fragment_words(const emitter *m, const fragment *q);
/* matrix.c */
void matrix_name(emitter *m, const char *name, const lane_part *parts); /* by the lane, and sum number `part` */
int matrix_trips(emitter *m); /* opens loops over all trips of the result in registers: how many loops */
/* For each trip of folded loops in registers, one after the other: places are numbers then */
void matrix_folds(emitter *m, void (*each)(emitter *m, const void *user), const void *user);
/* warpgroup.c */
void warpgroup_body(emitter *m, const matrix_form *f, const unit_loops *u); /* where loops of the tile stand */
