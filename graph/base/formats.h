/* formats.h - what documents in JSON are called that one room writes and another one reads: "format" holds it, and the
 * number goes up when old readers would misread new documents. Texts that never change; docs/formats has a schema of
 * each. A document of one room alone has its name there. */
#pragma once

#define FORMAT_TILING "tiling/1"         /* a schema */
#define FORMAT_RESULTS "results/1"       /* what bench measured */
#define FORMAT_COMPARISON "comparison/1" /* of two of them */
#define FORMAT_SWEEP "sweep/1"           /* races over a grid */
#define FORMAT_SUITE "suite/1"           /* races of a fixed list */
#define FORMAT_STEP "step/1"             /* one training step of a run */
