/* phases.h - where the time to a first result goes. Whoever does a part of the work says when it is done: what has
 * passed since the last word counts for that part. So the parts' seconds are together those of the clock. */
#pragma once
#include "graph/base/base.h"

typedef enum phase {
    PHASE_PLAN,
    PHASE_CALIBRATION,
    PHASE_TEXTS,
    PHASE_COMPILER,
    PHASE_ASSEMBLER,
    PHASE_LINKER,
    PHASE_LOAD,
    PHASE_WEIGHTS,
    N_PHASE
} phase;
typedef struct phases { /* of one plan; a thread at a time has it */
    double seconds[N_PHASE], last;
} phases;

void phases_begin(phases *p);             /* what passed meanwhile is nobody's */
bool phases_done(phases *p, phase which); /* NULL: nobody asks; true, to stand between what may fail */
/* Of what which took, the share that was spent on part, which ran beside it */
void phases_part(phases *p, phase which, phase part, double share);
void phases_json(const phases *p, text *out); /* an object: "plan_s", "texts_s", ... */
