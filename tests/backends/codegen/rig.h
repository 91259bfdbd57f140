/* rig.h - for tests of passes: an emitter inside a tile of a small plan's last kernel, in a language made up here. */
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
