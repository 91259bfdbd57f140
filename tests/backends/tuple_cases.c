#include "tests/backends/tuple_cases.h"
#include "tests/tuples.h"

/* Extents differ, so that dim tells a row's kernel from the others. */
const ruled tuple_cases[TUPLE_CASES] = {
    {"x f32[5,701]; y argmax axis=1 x", "argmax", "\"c\":701", "r@block c/64 c@lane"},
    {"x f32[5,702]; y argmin axis=1 last=1 x", "argmin", "\"c\":702", "r@block c/64 c@lane"},
    {"x i32[6,703]; y argmax axis=1 x", "argmax", "\"c\":703", "r/2@block c/128 r@lane c/4@lane c@vector"},
    {"x i64[7,704]; y argmax axis=1 last=1 x", "argmax", "\"c\":704", "r@block c/96 c/8@warp c@unroll"},
    {"x f32[9,705]; y argmax axis=1 x", "argmax", "\"c\":705", "r/4@block c/50@lane r@unroll c@unroll"},
    {"x f32[706,33]; y argmin axis=0 x", "argmin", "\"c\":706", "r/16@block c/10 c@lane r@lane"},
    {"x f16[5,707]; y argmax axis=1 x", "argmax", "\"c\":707", "r c/20@lane c@unroll"},
    {"x f32[8,708]; b f32[708]; p add x b; a argmax axis=1 keepdims=1 p; y multiply a a", "argmax", "\"c\":708",
     "r/3@block c/24 r@lane c@lane"},
    {"x i32[5,301]", "", "\"c\":301", "r@block c/32 c@lane"},
    {"x i64[6,302]", "", "\"c\":302", "r/2@block c/128 r@lane c/4@lane c@unroll"},
    {"x i32[7,303]", "", "\"c\":303", "r/4@block c/40 c/4@warp r@unroll c@unroll"},
    {"x i64[8,304]", "", "\"c\":304", "r@block c/7@lane c@unroll"},
    {"x i64[9,305]", "", "\"c\":305", "r/16@block c r@lane"},
    /* in parts, which groups share */
    {"x f32[5,711]; y argmax axis=1 x", "argmax", "\"c\":711", "r@block c/100@block c/64 c@lane"},
    {"x f32[712,9]; y argmin axis=0 last=1 x", "argmin", "\"c\":712", "c/100@block r/16@block c r@lane"},
    {"x i32[5,306]", "", "\"c\":306", "c/64@block r/2@block c/32 r@lane c@lane"},
    {"x i64[6,307]", "", "\"c\":307", "r/4@block c/128@block c/4@lane r@unroll c@unroll"},
    {"x i32[40000]; y argmax x", NULL, NULL, NULL}, /* by the guess */
};
const op *const tuple_then[TUPLE_CASES] = {
    [8] = &tuple_both,   [9] = &tuple_both,   [10] = &tuple_place, [11] = &tuple_signs,
    [12] = &tuple_signs, [15] = &tuple_place, [16] = &tuple_signs};
