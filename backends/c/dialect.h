/* dialect.h - C as the generator writes it: GNU C11 with vectors by pragma, for one worker a part. A constant record,
 * read by codegen alone; what it spells is ours, never text of a model. */
#pragma once
#include "backends/codegen/dialect.h"

extern const dialect c_dialect;
