/* dialect.h - CUDA C as the generator writes it; see backends/codegen/dialect.h. A part is a block, its lanes are the
 * block's threads. A kernel takes its operands, then memory for what does not fit into a block's (`spill`), and the
 * place where it says that an index led outside (`fault`); all are addresses. A constant record. */
#pragma once
#include "backends/codegen/dialect.h"

extern const dialect cuda_dialect;
