/* ontop.c - an operation that the project does not have: proof that one is a new file. */
#include "graph/ir/rule.h"

/* ---- records ---- */
const op ops_ontop[] = {
    {.call = "ontop_cube bit:f=0.5",
     .doc = "The third power, plus a bit.",
     .numpy = "a * a * a + bit",
     .text = "a * a * a + bit",
     .cases = "f32[2,3]\nf32[2,3] bit=2\nf64[4]\n"},
    {0},
};
