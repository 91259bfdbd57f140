/* boxes.h - the text of functions by which a device of capability 9.0 copies boxes of a tensor by itself, and of the
 * barriers that tell when they have come (PTX ISA, "cp.async.bulk.tensor", "mbarrier"), for dialect.c. */
#ifndef TS_CUDA_BOXES_H
#define TS_CUDA_BOXES_H

/* Of so many dimensions: its places as parameters, in the instruction, and as its operands */
#define BOX_COPY(n, places, at, operands)                                                                \
    {                                                                                                    \
        "box" n, "tensor_map", PLAIN,                                                                    \
            "FUNCTION void box" n "(uint32_t to, const tensor_map *map, uint32_t bar, " places ")\n"     \
            "{\n"                                                                                        \
            "    asm volatile(\"cp.async.bulk.tensor." n                                                 \
            "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" at "}], [%2];\"\n" \
            "                 ::\"r\"(to), \"l\"(map), \"r\"(bar), " operands " : \"memory\");\n"        \
            "}\n"                                                                                        \
    }

#define BOX_ALL                                                                                                   \
    {"tensor_map", "", PLAIN,                                                                                     \
     "struct __align__(64) tensor_map { uint64_t word[16]; }; /* what the driver calls CUtensorMap */\n"},        \
        BOX_COPY("1", "int a", "%3", "\"r\"(a)"), BOX_COPY("2", "int a, int b", "%3, %4", "\"r\"(a), \"r\"(b)"),  \
        BOX_COPY("3", "int a, int b, int c", "%3, %4, %5", "\"r\"(a), \"r\"(b), \"r\"(c)"),                       \
        BOX_COPY("4", "int a, int b, int c, int d", "%3, %4, %5, %6", "\"r\"(a), \"r\"(b), \"r\"(c), \"r\"(d)"),  \
        BOX_COPY("5", "int a, int b, int c, int d, int e", "%3, %4, %5, %6, %7",                                  \
                 "\"r\"(a), \"r\"(b), \"r\"(c), \"r\"(d), \"r\"(e)"),                                             \
        {"boxes_begin", "", PLAIN,                                                                                \
         "FUNCTION void boxes_begin(uint32_t bars, int n)\n"                                                      \
         "{\n"                                                                                                    \
         "    for (int i = 0; i < n; i++)\n"                                                                      \
         "        asm volatile(\"mbarrier.init.shared::cta.b64 [%0], 1;\" ::\"r\"(bars + 8 * i) : \"memory\");\n" \
         "    asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");\n"                           \
         "}\n"},                                                                                                  \
        {"boxes_end", "", PLAIN,                                                                                  \
         "FUNCTION void boxes_end(uint32_t bars, int n)\n"                                                        \
         "{\n"                                                                                                    \
         "    for (int i = 0; i < n; i++)\n"                                                                      \
         "        asm volatile(\"mbarrier.inval.shared::cta.b64 [%0];\" ::\"r\"(bars + 8 * i) : \"memory\");\n"   \
         "}\n"},                                                                                                  \
        {"box_expect", "", PLAIN,                                                                                 \
         "FUNCTION void box_expect(uint32_t bar, int bytes)\n"                                                    \
         "{\n"                                                                                                    \
         "    asm volatile(\"{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }\"\n"         \
         "                 ::\"r\"(bar), \"r\"(bytes) : \"memory\");\n"                                           \
         "}\n"},                                                                                                  \
    {                                                                                                             \
        "box_wait", "", PLAIN,                                                                                    \
            "FUNCTION void box_wait(uint32_t bar, int parity)\n"                                                  \
            "{\n"                                                                                                 \
            "    int ended = 0;\n"                                                                                \
            "    while (!ended)\n"                                                                                \
            "        asm volatile(\"{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\"\n"    \
            "                     \" selp.b32 %0, 1, 0, p; }\"\n"                                                 \
            "                     : \"=r\"(ended) : \"r\"(bar), \"r\"(parity) : \"memory\");\n"                   \
            "}\n"                                                                                                 \
    }
#endif
