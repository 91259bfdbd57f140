/* rig.h - an emitter that stands in a tile of the last kernel of a small plan, in a language made up here: for tests
 * of passes. */
#ifndef TS_TEST_RIG_H
#define TS_TEST_RIG_H
#include "backends/codegen/emit.h"
#include "tests/schedule/planned.h"

typedef struct rig {
    planned b;
    arena mem;
    err e;
    callees uses;
    tile_made tile;
    emitter *m;
} rig;

bool rig_begin(rig *r, maker *make, const char *on, const char *what, const char *loops); /* loops of operation what */
void rig_tile(rig *r); /* in a tile that begins anywhere and has all that is left there */
void rig_end(rig *r);
#endif
