/* touch.h - for each access that the statements of a kernel make: where the lanes of a warp are. The emitter is only
 * read; what it finds goes to the caller's record. */
#pragma once
#include "backends/codegen/emit.h"

void kernel_touch(const emitter *m, touching *to);
