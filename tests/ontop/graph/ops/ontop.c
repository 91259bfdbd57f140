/* ontop.c - an operation that the project does not have: proof that one is a new file. */
#include "graph/ir/rule.h"

static const op op_ontop_cube = {
    .name = "ontop_cube",
    .doc = "The third power, plus a bit.",
    .numpy = "a * a * a + bit",
    .arity = 1,
    .attr = (const attr_spec[]){{"bit", 'f', "0.5"}, {0}},
    .text = "a * a * a + bit",
    .cases = "f32[2,3]\nf32[2,3] bit=2\nf64[4]\n",
};

const op *const ops_ontop[] = {&op_ontop_cube, NULL};
