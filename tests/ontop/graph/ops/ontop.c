/* ontop.c - an operation that the project does not have: proof that one is a new file. */
#include "graph/ir/rule.h"

const op ops_ontop[] = {
    {.name = "ontop_cube",
     .doc = "The third power, plus a bit.",
     .numpy = "a * a * a + bit",
     .attributes = "bit:f=0.5",
     .text = "a * a * a + bit",
     .cases = "f32[2,3]\nf32[2,3] bit=2\nf64[4]\n"},
    {0},
};
