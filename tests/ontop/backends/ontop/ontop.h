/* ontop.h - a back end that the project does not have: a target, a language and a way to run it. */
#ifndef TS_ONTOP_H
#define TS_ONTOP_H
#include "backends/backend.h"
#include "backends/codegen/codegen.h"

extern const dialect ontop_dialect;
extern const backend backend_ontop;
const target *ontop_target(arena *mem, const machine_options *asked, err *e);
#endif
