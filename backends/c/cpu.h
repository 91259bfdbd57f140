/* cpu.h - what this processor can do, as text for cache keys: a home folder may be shared by machines that differ.
 * The same processor gives the same text, in every process. The text given is the caller's and is added to. */
#pragma once
#include "graph/base/base.h"

void cpu_features(text *out); /* appends what cpuid says, or hwcap of the system */
