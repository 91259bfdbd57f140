/* blocks.h - attention in blocks of keys: one kernel that holds the scores of one block. It gives the interpreter's
 * numbers for blocks that divide the keys and for those that do not, under masks, and where rows see nothing: NaN, or
 * zeros where ONNX wants them. */
#ifndef TS_TEST_BLOCKS_H
#define TS_TEST_BLOCKS_H
#include "tessera.h"

void blocks_check(const ts_options *on, bool cores); /* cores: it knows the roles of a processor */
#endif
