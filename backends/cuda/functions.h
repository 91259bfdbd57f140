/* functions.h - functions that kernels in CUDA carry where they use them; see backends/codegen/library.h. Constant
 * tables. */
#pragma once
#include "backends/codegen/library.h"

extern const function cuda_functions[];      /* ends with {0} */
extern const function_writer cuda_writers[]; /* of the patterns among them, in their order */
