/* warpgroup.h - the text of functions by which four warps form a product together (PTX ISA, "wgmma"), for dialect.c.
 * Sums are operands of all that is about them: compilers then leave what is done with them on its side. */
#ifndef TS_CUDA_WARPGROUP_H
#define TS_CUDA_WARPGROUP_H

/* All sums of a lane but the first one */
/* clang-format off */
#define TO16(X) \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define TO32(X) TO16(X) \
    X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
#define TO64(X) TO32(X) \
    X(32) X(33) X(34) X(35) X(36) X(37) X(38) X(39) X(40) X(41) X(42) X(43) X(44) X(45) X(46) X(47) \
    X(48) X(49) X(50) X(51) X(52) X(53) X(54) X(55) X(56) X(57) X(58) X(59) X(60) X(61) X(62) X(63)
#define TO128(X) TO64(X) \
    X(64) X(65) X(66) X(67) X(68) X(69) X(70) X(71) X(72) X(73) X(74) X(75) X(76) X(77) X(78) X(79) \
    X(80) X(81) X(82) X(83) X(84) X(85) X(86) X(87) X(88) X(89) X(90) X(91) X(92) X(93) X(94) X(95) \
    X(96) X(97) X(98) X(99) X(100) X(101) X(102) X(103) X(104) X(105) X(106) X(107) X(108) X(109) X(110) X(111) \
    X(112) X(113) X(114) X(115) X(116) X(117) X(118) X(119) X(120) X(121) X(122) X(123) X(124) X(125) X(126) X(127)
/* clang-format on */
#define NUMBER(i) ", %" #i
#define SUM(i) ", \"+f\"(y[" #i "])"
#define ALL_SUMS(TO) "\"+f\"(y[0])" TO(SUM)

#define WARPGROUP_PRODUCT(name, how, TO, a, b, one, turned_a, turned_b)                                      \
    "template <int turned_a, int turned_b> FUNCTION void " name "(float *y, uint64_t a, uint64_t b)\n"       \
    "{\n"                                                                                                    \
    "    asm volatile(\"{ .reg .pred p; setp.ne.b32 p, %" one ", 0; wgmma.mma_async.sync.aligned." how       \
    " {%0" TO(NUMBER) "}, %" a ", %" b ", p, 1, 1, %" turned_a ", %" turned_b "; }\"\n"                      \
                      "                 : " ALL_SUMS(TO) "\n"                                                \
                                                         "                 : \"l\"(a), \"l\"(b), \"r\"(1), " \
                                                         "\"n\"(turned_a), \"n\"(turned_b) : \"memory\");\n" \
                                                         "}\n"
/* Rows of operands of 32 bits hold what is summed, both of them. */
#define WARPGROUP_PRODUCT32(name, how, TO, a, b, one)                                                                 \
    "FUNCTION void " name "(float *y, uint64_t a, uint64_t b)\n"                                                      \
    "{\n"                                                                                                             \
    "    asm volatile(\"{ .reg .pred p; setp.ne.b32 p, %" one ", 0; wgmma.mma_async.sync.aligned." how " {%0" TO(     \
        NUMBER) "}, %" a ", %" b ", p, 1, 1; }\"\n"                                                                   \
                "                 : " ALL_SUMS(TO) "\n"                                                               \
                                                   "                 : \"l\"(a), \"l\"(b), \"r\"(1) : \"memory\");\n" \
                                                   "}\n"
#define WARPGROUP_BEGIN(name, TO)                                                         \
    "FUNCTION void " name "(float *y)\n"                                                  \
    "{\n"                                                                                 \
    "    asm volatile(\"wgmma.fence.sync.aligned;\" : " ALL_SUMS(TO) " :: \"memory\");\n" \
                                                                     "}\n"
#define WARPGROUP_END(name, TO)                                                                  \
    "FUNCTION void " name "(float *y)\n"                                                         \
    "{\n"                                                                                        \
    "    asm volatile(\"wgmma.wait_group.sync.aligned 0;\" : " ALL_SUMS(TO) " :: \"memory\");\n" \
                                                                            "}\n"
#define WARPGROUP_FUNCTIONS(n, TO, a, b, one, turned_a, turned_b)                                               \
    {"warpgroup_begin" n, "", PLAIN, WARPGROUP_BEGIN("warpgroup_begin" n, TO)},                                 \
        {"warpgroup_end" n, "", PLAIN, WARPGROUP_END("warpgroup_end" n, TO)},                                   \
        {"wgmma_tf32_" n, "", PLAIN,                                                                            \
         WARPGROUP_PRODUCT32("wgmma_tf32_" n, "m64n" n "k8.f32.tf32.tf32", TO, a, b, one)},                     \
        {"wgmma_f16_" n, "", PLAIN,                                                                             \
         WARPGROUP_PRODUCT("wgmma_f16_" n, "m64n" n "k16.f32.f16.f16", TO, a, b, one, turned_a, turned_b)},     \
    {                                                                                                           \
        "wgmma_bf16_" n, "", PLAIN,                                                                             \
            WARPGROUP_PRODUCT("wgmma_bf16_" n, "m64n" n "k16.f32.bf16.bf16", TO, a, b, one, turned_a, turned_b) \
    }

/* Of all widths; what a descriptor says of a slice: rows of 128, 64 or 32 bytes are swizzled */
#define WARPGROUP_ALL                                                                                           \
    WARPGROUP_FUNCTIONS("32", TO16, "16", "17", "18", "19", "20"),                                              \
        WARPGROUP_FUNCTIONS("64", TO32, "32", "33", "34", "35", "36"),                                          \
        WARPGROUP_FUNCTIONS("128", TO64, "64", "65", "66", "67", "68"),                                         \
        WARPGROUP_FUNCTIONS("256", TO128, "128", "129", "130", "131", "132"),                                   \
        {"warpgroup_show", "", PLAIN,                                                                           \
         "#define warpgroup_show() asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\")\n"},         \
        {"warpgroup_sent", "", PLAIN,                                                                           \
         "#define warpgroup_sent() asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\")\n"},       \
    {                                                                                                           \
        "warpgroup_slice", "", PLAIN,                                                                           \
            "FUNCTION uint64_t warpgroup_slice(uint32_t at, int row, int rows, int column)\n"                   \
            "{\n"                                                                                               \
            "    return (uint64_t)(row == 128 ? 1 : row == 64 ? 2 : 3) << 62 | (uint64_t)(rows >> 4) << 32 |\n" \
            "           (uint64_t)(column >> 4) << 16 | (at & 0x3ffff) >> 4;\n"                                 \
            "}\n"                                                                                               \
    }

#define WARPGROUP_FORM(n, k, sums, dtype, text)                                                                  \
    {                                                                                                            \
        16, n, k, dtype, TS_F32, text, 2, sums, "$0 / 4 + $1 / 2 % 2 * 8", "$0 % 4 * 2 + $1 % 2 + $1 / 4 * 8",   \
            "paired($0, $1, $2)", "$0 % 2 ? 2 : 8", 2,                                                           \
            {0, {{NULL, NULL, NULL, 0}, {NULL, NULL, NULL, 0}}, {{NULL, NULL, NULL, 0}, {NULL, NULL, NULL, 0}}}, \
            {0, {{NULL, NULL, NULL, 0}, {NULL, NULL, NULL, 0}}, {{NULL, NULL, NULL, 0}, {NULL, NULL, NULL, 0}}}, \
        {                                                                                                        \
            4, "warpgroup_show()", "warpgroup_begin" #n "($0)", "warpgroup_sent()", "warpgroup_end" #n "($0)",   \
                "warpgroup_slice($0, $1, $2, $3)"                                                                \
        }                                                                                                        \
    }
#define WARPGROUP_HALVES(n, sums, dtype, name) \
    WARPGROUP_FORM(n, 16, sums, dtype, "wgmma_" name "_" #n "<$3, $4>($0, $1, $2)")
#define WARPGROUP_FORMS(dtype, name)                                              \
    WARPGROUP_HALVES(32, 16, dtype, name), WARPGROUP_HALVES(64, 32, dtype, name), \
        WARPGROUP_HALVES(128, 64, dtype, name), WARPGROUP_HALVES(256, 128, dtype, name)
#define WARPGROUP_TF32(n, sums) WARPGROUP_FORM(n, 8, sums, TS_F32, "wgmma_tf32_" #n "($0, $1, $2)")
#define WARPGROUP_FORMS32 \
    WARPGROUP_TF32(32, 16), WARPGROUP_TF32(64, 32), WARPGROUP_TF32(128, 64), WARPGROUP_TF32(256, 128)
#endif
