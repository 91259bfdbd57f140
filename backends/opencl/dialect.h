/* dialect.h - OpenCL C 1.2, as the generator asks for it: a part is a work-group, its lanes are work-items; or a
 * work-group is one worker alone. Constant records that codegen alone reads. */
#pragma once
#include "backends/codegen/dialect.h"

/* A kernel takes a memory object and a byte offset for each operand, then one for what its groups hold outside of local
 * memory, one for faults, an int for each kernel, and the number of its own. */
extern const dialect opencl_dialect;
void ocl_dialect_alone(dialect *out);
void ocl_dialect_groups(dialect *out, bool subgroups);
int64_t ocl_scratch(int64_t bytes); /* of so much scratch: what a worker alone has of the object for its groups */
