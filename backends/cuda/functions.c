/* functions.c - the text of functions that kernels in CUDA call: words of halves, copies into a group's memory,
 * products of matrix units. Instructions of one kind are one pattern, of which a row gives the rest. Sources: PTX ISA,
 * "cp.async", "ldmatrix", "mma", "wgmma", "cp.async.bulk.tensor", "mbarrier". */
#include "backends/cuda/functions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int number_of(const function *f) /* which its name ends with */
{
    const char *s = f->name + strlen(f->name);
    while (isdigit((unsigned char)s[-1]))
        s--;
    return (int)strtol(s, NULL, 10);
}

static void list(text *t, const char *form, int n) /* of the numbers below n */
{
    for (int i = 0; i < n; i++)
        text_add(t, "%s", i ? ", " : ""), text_add(t, form, i);
}

/* Bytes that come while the lane goes on; `text` is a register for them. Of 16 none stay in the first cache. */
static void write_send(text *t, const function *f)
{
    const int bytes = number_of(f);
    text_add(t,
             "template <int far> FUNCTION void %s(uint32_t to, const void *from, int inside)\n"
             "{\n"
             "#if __CUDA_ARCH__ >= 800\n"
             "    asm volatile(\"cp.async.%s.shared.global [%%0 + %%3], [%%1], %d, %%2;\"\n"
             "                 ::\"r\"(to), \"l\"(__cvta_generic_to_global(from)), \"r\"(inside ? %d : 0), \"n\"(far)\n"
             "                 : \"memory\");\n"
             "#else\n"
             "    void *const at = __cvta_shared_to_generic(to + far);\n"
             "    *(%s *)at = %s(from, inside);\n"
             "#endif\n"
             "}\n",
             f->name, bytes == 16 ? "cg" : "ca", bytes, bytes, f->text, f->uses);
}

static void write_fragment(text *t, const function *f) /* of so many words; `text` says how blocks are turned */
{
    const int words = number_of(f);
    text_add(t, "template <int far> FUNCTION void %s(uint32_t *to, uint32_t at)\n{\n", f->name);
    text_add(t, "    asm volatile(\"ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 {", words, f->text);
    list(t, "%%%d", words), text_add(t, "}, [%%%d + %%%d];\"\n                 : ", words, words + 1);
    list(t, "\"=r\"(to[%d])", words), text_add(t, "\n                 : \"r\"(at), \"n\"(far) : \"memory\");\n}\n");
}

static void write_mma(text *t, const function *f)
{
    text_add(t,
             "FUNCTION void %s(float *y, const uint32_t *a, const uint32_t *b)\n"
             "{\n"
             "    asm(\"mma.sync.aligned.%s {%%0, %%1, %%2, %%3}, {%%4, %%5, %%6, %%7}, {%%8, %%9}, "
             "{%%0, %%1, %%2, %%3};\"\n"
             "        : \"+f\"(y[0]), \"+f\"(y[1]), \"+f\"(y[2]), \"+f\"(y[3])\n"
             "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]),\n"
             "          \"r\"(b[0]), \"r\"(b[1]));\n"
             "}\n",
             f->name, f->text);
}

/* Four warps form a product of 64 rows and as many columns as the name says: sums of each lane. They are operands of
 * all that is about them: compilers then leave what is done with them on its side. */
static int lane_sums(const function *f)
{
    return 64 * number_of(f) / 128;
}

static void write_all_sums(text *t, const function *f)
{
    text_add(t, "FUNCTION void %s(float *y)\n{\n    asm volatile(\"%s;\" : ", f->name, f->text);
    list(t, "\"+f\"(y[%d])", lane_sums(f)), text_add(t, " :: \"memory\");\n}\n");
}

static void write_operands(text *t, const function *f)
{
    const int n = lane_sums(f);
    text_add(t, "FUNCTION void %s(float *y, uint64_t a, uint64_t b)\n{\n", f->name);
    text_add(t, "    asm volatile(\"{ .reg .pred p; setp.ne.b32 p, %%%d, 0; wgmma.mma_async.sync.aligned.%s {", n + 2,
             f->text);
    list(t, "%%%d", n), text_add(t, "}, %%%d, %%%d, p, 1, 1", n, n + 1);
}

static void write_product(text *t, const function *f) /* of words: rows hold what is summed, of both operands */
{
    write_operands(t, f), text_add(t, "; }\"\n                 : ");
    list(t, "\"+f\"(y[%d])", lane_sums(f));
    text_add(t, "\n                 : \"l\"(a), \"l\"(b), \"r\"(1) : \"memory\");\n}\n");
}

static void write_product_turned(text *t, const function *f) /* of halves: either may be turned */
{
    const int n = lane_sums(f);
    text_add(t, "template <int turned_a, int turned_b> "), write_operands(t, f);
    text_add(t, ", %%%d, %%%d; }\"\n                 : ", n + 3, n + 4), list(t, "\"+f\"(y[%d])", n);
    text_add(t,
             "\n                 : \"l\"(a), \"l\"(b), \"r\"(1), \"n\"(turned_a), \"n\"(turned_b) : \"memory\");\n}\n");
}

/* Into a group's memory, a box of a tensor of so many dimensions: a, b, ... is where it begins. */
static void write_box(text *t, const function *f)
{
    const int dims = number_of(f);
    text_add(t, "FUNCTION void %s(uint32_t to, const tensor_map *map, uint32_t bar", f->name);
    for (int i = 0; i < dims; i++)
        text_add(t, ", int %c", 'a' + i);
    text_add(t, ")\n{\n    asm volatile(\"cp.async.bulk.tensor.%dd", dims);
    text_add(t, ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%%0], [%%1, {");
    for (int i = 0; i < dims; i++)
        text_add(t, "%s%%%d", i ? ", " : "", 3 + i);
    text_add(t, "}], [%%2];\"\n                 ::\"r\"(to), \"l\"(map), \"r\"(bar)");
    for (int i = 0; i < dims; i++)
        text_add(t, ", \"r\"(%c)", 'a' + i);
    text_add(t, " : \"memory\");\n}\n");
}

enum { SEND = PATTERN, FRAGMENT, MMA, ALL_SUMS, PRODUCT, PRODUCT_TURNED, BOX };
const function_writer cuda_writers[] = {
    [SEND - PATTERN] = write_send,       [FRAGMENT - PATTERN] = write_fragment,
    [MMA - PATTERN] = write_mma,         [ALL_SUMS - PATTERN] = write_all_sums,
    [PRODUCT - PATTERN] = write_product, [PRODUCT_TURNED - PATTERN] = write_product_turned,
    [BOX - PATTERN] = write_box,
};

/* A line is a line of the program. */
/* clang-format off */
const function cuda_functions[] = {
    {"bits_float", "", PLAIN,
     "FUNCTION float bits_float(uint32_t u) { return __uint_as_float(u); }\n"},
    {"float_bits", "", PLAIN,
     "FUNCTION uint32_t float_bits(float f) { return __float_as_uint(f); }\n"},
    {"real_to_whole", "", PLAIN,
     "FUNCTION int64_t real_to_whole(double x, int bits, int is_signed) /* truncates; saturates; NaN gives 0 */\n"
     "{\n"
     "    const double high = __longlong_as_double((int64_t)(bits - is_signed + 1023) << 52);\n"
     "    const double low = is_signed ? -high : 0;\n"
     "    if (x != x) return 0;\n"
     "    if (x >= high) return (int64_t)(~0ULL >> (64 - bits + is_signed));\n"
     "    if (x <= low) return is_signed ? (int64_t)(~0ULL << (bits - 1)) : 0;\n"
     "    return x >= 9223372036854775808.0 ? (int64_t)(uint64_t)x : (int64_t)x;\n"
     "}\n"},
    {"take4", "", PLAIN,
     "FUNCTION uint32_t take4(const void *from, int inside) { return inside ? *(const uint32_t *)from : 0; }\n"},
    {"take8", "", PLAIN,
     "FUNCTION uint2 take8(const void *from, int inside)\n"
     "{\n"
     "    return inside ? *(const uint2 *)from : make_uint2(0, 0);\n"
     "}\n"},
    {"take16", "", PLAIN,
     "FUNCTION uint4 take16(const void *from, int inside)\n"
     "{\n"
     "    return inside ? *(const uint4 *)from : make_uint4(0, 0, 0, 0);\n"
     "}\n"},
    {"shared_at", "", PLAIN,
     "FUNCTION uint32_t shared_at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }\n"},
    {"send4", "take4", SEND, "uint32_t"},
    {"send8", "take8", SEND, "uint2"},
    {"send16", "take16", SEND, "uint4"},
    {"sent", "", PLAIN,
     "#if __CUDA_ARCH__ >= 800\n"
     "#define sent() asm volatile(\"cp.async.commit_group;\" ::: \"memory\")\n"
     "#define arrived(n) asm volatile(\"cp.async.wait_group \" #n \";\" ::: \"memory\")\n"
     "#else\n"
     "#define sent()\n"
     "#define arrived(n)\n"
     "#endif\n"},
    {"rows4", "", FRAGMENT, ""},
    {"columns4", "", FRAGMENT, ".trans"},
    {"rows2", "", FRAGMENT, ""},
    {"columns2", "", FRAGMENT, ".trans"},
    {"paired", "", PLAIN, /* of lanes 2i and 2i + 1 the first takes both low ones, the second both high ones */
     "FUNCTION uint2 paired(uint32_t low, uint32_t high, int lane)\n"
     "{\n"
     "    const uint32_t other = __shfl_xor_sync(0xffffffffu, lane & 1 ? low : high, 1);\n"
     "    return lane & 1 ? make_uint2(other, high) : make_uint2(low, other);\n"
     "}\n"},
    {"half_to_float", "", PLAIN,
     "FUNCTION float half_to_float(uint16_t h)\n"
     "{\n"
     "    float y;\n"
     "    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(y) : \"h\"(h));\n"
     "    return y;\n"
     "}\n"},
    {"float_to_half", "", PLAIN,
     "FUNCTION uint16_t float_to_half(float f)\n"
     "{\n"
     "    uint16_t y;\n"
     "    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(y) : \"f\"(f));\n"
     "    return y;\n"
     "}\n"},
    {"float_to_bfloat", "float_bits", PLAIN,
     "FUNCTION uint16_t float_to_bfloat(float f)\n"
     "{\n"
     "#if __CUDA_ARCH__ >= 800\n"
     "    uint16_t y;\n"
     "    asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(y) : \"f\"(f));\n"
     "    return y;\n"
     "#else\n"
     "    const uint32_t u = float_bits(f);\n"
     "    return (uint16_t)(f != f ? (u >> 16 | 0x40) : (u + 0x7fff + (u >> 16 & 1)) >> 16);\n"
     "#endif\n"
     "}\n"},
    {"round_tf32", "", PLAIN,
     "FUNCTION uint32_t round_tf32(uint32_t x)\n"
     "{\n"
     "    uint32_t y;\n"
     "    asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(y) : \"f\"(__uint_as_float(x)));\n"
     "    return y;\n"
     "}\n"},
    {"rows4_tf32", "rows4 round_tf32", PLAIN,
     "template <int far> FUNCTION void rows4_tf32(uint32_t *to, uint32_t at)\n"
     "{\n"
     "    rows4<far>(to, at);\n"
     "    to[0] = round_tf32(to[0]), to[1] = round_tf32(to[1]), to[2] = round_tf32(to[2]), to[3] = round_tf32(to[3]);\n"
     "}\n"},
    {"rows2_tf32", "rows2 round_tf32", PLAIN,
     "template <int far> FUNCTION void rows2_tf32(uint32_t *to, uint32_t at)\n"
     "{\n"
     "    rows2<far>(to, at);\n"
     "    to[0] = round_tf32(to[0]), to[1] = round_tf32(to[1]);\n"
     "}\n"},
    {"mma_f16", "", MMA, "m16n8k16.row.col.f32.f16.f16.f32"},
    {"mma_bf16", "", MMA, "m16n8k16.row.col.f32.bf16.bf16.f32"},
    {"mma_tf32", "", MMA, "m16n8k8.row.col.f32.tf32.tf32.f32"},
    {"warpgroup_begin32", "", ALL_SUMS, "wgmma.fence.sync.aligned"},
    {"warpgroup_end32", "", ALL_SUMS, "wgmma.wait_group.sync.aligned 0"},
    {"wgmma_tf32_32", "", PRODUCT, "m64n32k8.f32.tf32.tf32"},
    {"wgmma_f16_32", "", PRODUCT_TURNED, "m64n32k16.f32.f16.f16"},
    {"wgmma_bf16_32", "", PRODUCT_TURNED, "m64n32k16.f32.bf16.bf16"},
    {"warpgroup_begin64", "", ALL_SUMS, "wgmma.fence.sync.aligned"},
    {"warpgroup_end64", "", ALL_SUMS, "wgmma.wait_group.sync.aligned 0"},
    {"wgmma_tf32_64", "", PRODUCT, "m64n64k8.f32.tf32.tf32"},
    {"wgmma_f16_64", "", PRODUCT_TURNED, "m64n64k16.f32.f16.f16"},
    {"wgmma_bf16_64", "", PRODUCT_TURNED, "m64n64k16.f32.bf16.bf16"},
    {"warpgroup_begin128", "", ALL_SUMS, "wgmma.fence.sync.aligned"},
    {"warpgroup_end128", "", ALL_SUMS, "wgmma.wait_group.sync.aligned 0"},
    {"wgmma_tf32_128", "", PRODUCT, "m64n128k8.f32.tf32.tf32"},
    {"wgmma_f16_128", "", PRODUCT_TURNED, "m64n128k16.f32.f16.f16"},
    {"wgmma_bf16_128", "", PRODUCT_TURNED, "m64n128k16.f32.bf16.bf16"},
    {"warpgroup_begin256", "", ALL_SUMS, "wgmma.fence.sync.aligned"},
    {"warpgroup_end256", "", ALL_SUMS, "wgmma.wait_group.sync.aligned 0"},
    {"wgmma_tf32_256", "", PRODUCT, "m64n256k8.f32.tf32.tf32"},
    {"wgmma_f16_256", "", PRODUCT_TURNED, "m64n256k16.f32.f16.f16"},
    {"wgmma_bf16_256", "", PRODUCT_TURNED, "m64n256k16.f32.bf16.bf16"},
    {"warpgroup_show", "", PLAIN,
     "#define warpgroup_show() asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\")\n"},
    {"warpgroup_sent", "", PLAIN,
     "#define warpgroup_sent() asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\")\n"},
    {"warpgroup_slice", "", PLAIN, /* what a descriptor says of one: rows of 128, 64 or 32 bytes are swizzled */
     "FUNCTION uint64_t warpgroup_slice(uint32_t at, int row, int rows, int column)\n"
     "{\n"
     "    return (uint64_t)(row == 128 ? 1 : row == 64 ? 2 : 3) << 62 | (uint64_t)(rows >> 4) << 32 |\n"
     "           (uint64_t)(column >> 4) << 16 | (at & 0x3ffff) >> 4;\n"
     "}\n"},
    {"copy_lanes", "", PLAIN, /* by all of a group: words where these begin and end on one */
     "FUNCTION void copy_lanes(void *to, const void *from, int64_t bytes)\n"
     "{\n"
     "    const int64_t words = ((uint64_t)to | (uint64_t)from) % 4 ? 0 : bytes / 4;\n"
     "    for (int64_t i = threadIdx.x; i < words; i += blockDim.x)\n"
     "        ((uint32_t *)to)[i] = ((const uint32_t *)from)[i];\n"
     "    for (int64_t i = 4 * words + threadIdx.x; i < bytes; i += blockDim.x)\n"
     "        ((char *)to)[i] = ((const char *)from)[i];\n"
     "}\n"},
    {"clear_lanes", "", PLAIN,
     "FUNCTION void clear_lanes(void *to, int64_t bytes)\n"
     "{\n"
     "    for (int64_t i = threadIdx.x; i < bytes; i += blockDim.x) ((char *)to)[i] = 0;\n"
     "}\n"},
    {"tensor_map", "", PLAIN,
     "struct __align__(64) tensor_map { uint64_t word[16]; }; /* what the driver calls CUtensorMap */\n"},
    {"box1", "tensor_map", BOX, NULL},
    {"box2", "tensor_map", BOX, NULL},
    {"box3", "tensor_map", BOX, NULL},
    {"box4", "tensor_map", BOX, NULL},
    {"box5", "tensor_map", BOX, NULL},
    {"boxes_begin", "", PLAIN,
     "FUNCTION void boxes_begin(uint32_t bars, int n)\n"
     "{\n"
     "    for (int i = 0; i < n; i++)\n"
     "        asm volatile(\"mbarrier.init.shared::cta.b64 [%0], 1;\" ::\"r\"(bars + 8 * i) : \"memory\");\n"
     "    asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");\n"
     "}\n"},
    {"boxes_end", "", PLAIN,
     "FUNCTION void boxes_end(uint32_t bars, int n)\n"
     "{\n"
     "    for (int i = 0; i < n; i++)\n"
     "        asm volatile(\"mbarrier.inval.shared::cta.b64 [%0];\" ::\"r\"(bars + 8 * i) : \"memory\");\n"
     "}\n"},
    {"box_expect", "", PLAIN,
     "FUNCTION void box_expect(uint32_t bar, int bytes)\n"
     "{\n"
     "    asm volatile(\"{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }\"\n"
     "                 ::\"r\"(bar), \"r\"(bytes) : \"memory\");\n"
     "}\n"},
    {"box_wait", "", PLAIN,
     "FUNCTION void box_wait(uint32_t bar, int parity)\n"
     "{\n"
     "    int ended = 0;\n"
     "    while (!ended)\n"
     "        asm volatile(\"{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\"\n"
     "                     \" selp.b32 %0, 1, 0, p; }\"\n"
     "                     : \"=r\"(ended) : \"r\"(bar), \"r\"(parity) : \"memory\");\n"
     "}\n"},
    {0},
};
/* clang-format on */
