/* dialect.c - the spellings of CUDA C, as NVRTC takes it: no header is there, and names of scalar functions are
 * overloaded. */
#include "backends/cuda/dialect.h"
#include "backends/cuda/boxes.h"
#include "backends/cuda/program.h"
#include "backends/cuda/warpgroup.h"

/* A line is a line of the program.
 *
 * max, min: functions of the library have these names, and so have others in the language. Types are no typedefs: where
 * nvcc compiles the text, the system's are there, too. */
/* clang-format off */
static const char head[] =
    "#define int8_t signed char\n"
    "#define int16_t short\n"
    "#define int32_t int\n"
    "#define int64_t long long\n"
    "#define uint8_t unsigned char\n"
    "#define uint16_t unsigned short\n"
    "#define uint32_t unsigned\n"
    "#define uint64_t unsigned long long\n"
    "#undef INT64_C\n"
    "#define INT64_C(x) x##LL\n"
    "#undef UINT64_C\n"
    "#define UINT64_C(x) x##ULL\n"
    "#undef INT64_MIN\n"
    "#define INT64_MIN (-9223372036854775807LL - 1)\n"
    "#undef UINT64_MAX\n"
    "#define UINT64_MAX 18446744073709551615ULL\n"
    "#undef NAN\n"
    "#define NAN __int_as_float(0x7fffffff)\n"
    "#undef INFINITY\n"
    "#define INFINITY __int_as_float(0x7f800000)\n"
    "#define FMA(a, b, c) __fmaf_rn(a, b, c)\n"
    "#define FMA64(a, b, c) __fma_rn(a, b, c)\n"
    "#define MIN(a, b) ((a) < (b) ? (a) : (b))\n"
    "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"
    "#define max max_f64\n"
    "#define min min_f64\n"
    "#define FUNCTION static __device__ __forceinline__\n";

#define SEND(bytes, cache, otherwise)                                                                                  \
    "template <int far> FUNCTION void send" bytes "(uint32_t to, const void *from, int inside)\n"                      \
    "{\n"                                                                                                              \
    "#if __CUDA_ARCH__ >= 800\n"                                                                                       \
    "    asm volatile(\"cp.async." cache ".shared.global [%0 + %3], [%1], " bytes ", %2;\"\n"                          \
    "                 ::\"r\"(to), \"l\"(__cvta_generic_to_global(from)), \"r\"(inside ? " bytes " : 0), \"n\"(far)\n" \
    "                 : \"memory\");\n"                                                                                \
    "#else\n"                                                                                                          \
    "    void *const at = __cvta_shared_to_generic(to + far);\n"                                                       \
    "    " otherwise ";\n"                                                                                             \
    "#endif\n"                                                                                                         \
    "}\n"
#define FRAGMENT4(name, how)                                                                                           \
    "template <int far> FUNCTION void " name "(uint32_t *to, uint32_t at)\n"                                           \
    "{\n"                                                                                                              \
    "    asm volatile(\"ldmatrix.sync.aligned.m8n8.x4" how ".shared.b16 {%0, %1, %2, %3}, [%4 + %5];\"\n"              \
    "                 : \"=r\"(to[0]), \"=r\"(to[1]), \"=r\"(to[2]), \"=r\"(to[3])\n"                                  \
    "                 : \"r\"(at), \"n\"(far) : \"memory\");\n"                                                        \
    "}\n"
#define FRAGMENT2(name, how)                                                                                           \
    "template <int far> FUNCTION void " name "(uint32_t *to, uint32_t at)\n"                                           \
    "{\n"                                                                                                              \
    "    asm volatile(\"ldmatrix.sync.aligned.m8n8.x2" how ".shared.b16 {%0, %1}, [%2 + %3];\"\n"                      \
    "                 : \"=r\"(to[0]), \"=r\"(to[1]) : \"r\"(at), \"n\"(far) : \"memory\");\n"                         \
    "}\n"
#define MMA(name, how)                                                                                                 \
    "FUNCTION void " name "(float *y, const uint32_t *a, const uint32_t *b)\n"                                         \
    "{\n"                                                                                                              \
    "    asm(\"mma.sync.aligned." how " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"           \
    "        : \"+f\"(y[0]), \"+f\"(y[1]), \"+f\"(y[2]), \"+f\"(y[3])\n"                                               \
    "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]),\n"                                                  \
    "          \"r\"(b[0]), \"r\"(b[1]));\n"                                                                           \
    "}\n"

static const function functions[] = {
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
    {"checked", "", FAULTS,
     "FUNCTION int64_t checked(int64_t i, int64_t n, int *fault) /* a gathered index, checked */\n"
     "{\n"
     "    if (i >= 0 && i < n) return i;\n"
     "    *fault = 1;\n"
     "    return 0;\n"
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
    {"send4", "", PLAIN, SEND("4", "ca", "*(uint32_t *)at = inside ? *(const uint32_t *)from : 0")},
    {"send8", "take8", PLAIN, SEND("8", "ca", "*(uint2 *)at = take8(from, inside)")},
    {"send16", "take16", PLAIN, SEND("16", "cg", "*(uint4 *)at = take16(from, inside)")},
    {"sent", "", PLAIN,
     "#if __CUDA_ARCH__ >= 800\n"
     "#define sent() asm volatile(\"cp.async.commit_group;\" ::: \"memory\")\n"
     "#define arrived(n) asm volatile(\"cp.async.wait_group \" #n \";\" ::: \"memory\")\n"
     "#else\n"
     "#define sent()\n"
     "#define arrived(n)\n"
     "#endif\n"},
    {"rows4", "", PLAIN, FRAGMENT4("rows4", "")},
    {"columns4", "", PLAIN, FRAGMENT4("columns4", ".trans")},
    {"rows2", "", PLAIN, FRAGMENT2("rows2", "")},
    {"columns2", "", PLAIN, FRAGMENT2("columns2", ".trans")},
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
    {"mma_f16", "", PLAIN, MMA("mma_f16", "m16n8k16.row.col.f32.f16.f16.f32")},
    {"mma_bf16", "", PLAIN, MMA("mma_bf16", "m16n8k16.row.col.f32.bf16.bf16.f32")},
    {"mma_tf32", "", PLAIN, MMA("mma_tf32", "m16n8k8.row.col.f32.tf32.tf32.f32")},
    WARPGROUP_ALL,
    BOX_ALL,
    {0},
};

static const move_form moves[] = {
    {16, "uint4", "take16($0, $1)", "*(uint4 *)($0) = $1", "send16<$3>($0, $1, $2)"},
    {8, "uint2", "take8($0, $1)", "*(uint2 *)($0) = $1", "send8<$3>($0, $1, $2)"},
    {4, "uint32_t", "take4($0, $1)", "*(uint32_t *)($0) = $1", "send4<$3>($0, $1, $2)"},
    {0}};

/* How lanes hold fragments: PTX ISA, "Matrix Fragments for mma.m16n8k16" and ".m16n8k8"; ldmatrix takes rows of 16
 * bytes, whose places the lanes give. */
#define SUMS 2, 4, "$0 / 4 + $1 / 2 * 8", "$0 % 4 * 2 + $1 % 2", "paired($0, $1, $2)", "$0 % 2 ? 2 : 8", 0
#define HALVES                                                                                                         \
    {4,                                                                                                                \
     {{"rows4<$2>($0, $1)", "$0 % 16", "$0 / 16", 8},                                                                  \
      {"columns4<$2>($0, $1)", "$0 / 8 % 2", "$0 % 8 + $0 / 16 * 8", 8}},                                              \
     {{NULL, NULL, NULL, 0}, {NULL, NULL, NULL, 0}}},                                                                  \
    {2,                                                                                                                \
     {{"rows2<$2>($0, $1)", "$0 % 8", "$0 / 8 % 2", 8}, {"columns2<$2>($0, $1)", "0", "$0 % 16", 8}},                  \
     {{"rows4<$2>($0, $1)", "$0 % 8 + $0 / 16 * 8", "$0 / 8 % 2", 8},                                                  \
      {"columns4<$2>($0, $1)", "$0 / 16", "$0 % 16", 8}}}, {0, NULL, NULL, NULL, NULL, NULL}
#define ALONE {0, NULL, NULL, NULL, NULL, NULL}
static const matrix_form matrices[] = {
    {16, 8, 16, TS_F16, TS_F32, "mma_f16($0, $1, $2)", SUMS, HALVES},
    {16, 8, 16, TS_BF16, TS_F32, "mma_bf16($0, $1, $2)", SUMS, HALVES},
    {16, 8, 8, TS_F32, TS_F32, "mma_tf32($0, $1, $2)", SUMS,
     {4, {{"rows4_tf32<$2>($0, $1)", "$0 % 16", "$0 / 16", 4}, {NULL, NULL, NULL, 0}},
      {{NULL, NULL, NULL, 0}, {NULL, NULL, NULL, 0}}},
     {2, {{"rows2_tf32<$2>($0, $1)", "$0 % 8", "$0 / 8 % 2", 4}, {NULL, NULL, NULL, 0}},
      {{"rows4_tf32<$2>($0, $1)", "$0 % 8 + $0 / 16 * 8", "$0 / 8 % 2", 4}, {NULL, NULL, NULL, 0}}}, ALONE},
    WARPGROUP_FORMS(TS_F16, "f16"),
    WARPGROUP_FORMS(TS_BF16, "bf16"),
    WARPGROUP_FORMS32,
};

static const box_form boxes = {.parameter = "const tensor_map *map$0",
                               .argument = "&map$0",
                               .begin = "boxes_begin($0, $1)",
                               .end = "boxes_end($0, $1)",
                               .expect = "box_expect($0, $1)",
                               .copy = {"box1($0, map$1, $2, $3)", "box2($0, map$1, $2, $3, $4)",
                                        "box3($0, map$1, $2, $3, $4, $5)", "box4($0, map$1, $2, $3, $4, $5, $6)",
                                        "box5($0, map$1, $2, $3, $4, $5, $6, $7)"},
                               .wait = "box_wait($0, $1)"};

static const spelling spellings[] = {{0}};
/* clang-format on */

static void prelude(text *t, const unit_facts *u)
{
    text_add(t, "%stypedef %s trip;\n", head, u->far ? "long long" : "int");
}

static void tile_opens(text *t, const tile_head *h)
{
    text_add(t, "static __device__ __forceinline__ void %s(%s)\n", h->name, h->parameters);
}

/* One group on a processor is enough: asked for no number, the assembler spills registers to have room for more. */
static void kernel_opens(text *t, const kernel_head *h)
{
    text_add(t, "extern \"C\" __global__ void __launch_bounds__(%d, 1) %s(", h->lanes, h->name);
    for (int i = 0; i < h->n; i++)
        text_add(t, "%s%s *%s, ", h->parameter[i].written ? "" : "const ", h->parameter[i].type, h->parameter[i].name);
    text_add(t, "char *spills, int *fault%s%s", h->asks ? ", const unsigned char *ended" : "",
             h->sizes ? ", const int64_t *extents" : "");
    for (int i = 0; i < h->boxes; i++)
        text_add(t, ", const __grid_constant__ tensor_map map%d", i);
    text_add(t, ")\n{\n");
    const int multiple = h->scratch_multiple ? h->scratch_multiple : 16;
    if (h->scratch > SHARED_DECLARED)
        text_add(t, "    extern __shared__ __align__(%d) char scratch[];\n", multiple);
    else if (h->scratch)
        text_add(t, "    __shared__ __align__(%d) char scratch[%lld];\n", multiple, (long long)h->scratch);
    if (h->spill)
        text_add(t, "    char *const spill = spills + (uint64_t)blockIdx.x * %lld;\n", (long long)h->spill);
    for (int v = 0; h->sizes >> v; v++)
        if (h->sizes >> v & 1)
            text_add(t, "    const trip size%d = (trip)extents[%d];\n", v, v);
    if (h->alone)
        text_add(t, "    if (blockIdx.x) return;\n");
    if (h->asks)
        text_add(t, "    if (*ended) return;\n");
}

const dialect cuda_dialect = {
    .name = "cuda",
    .real = {"float", "double"},
    .whole = {"int8_t", "int16_t", "int32_t", "int64_t"},
    .natural = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"},
    .truth = "int",
    .index = "trip",
    .space = {"", "", ""},
    .restricted = "__restrict__ ",
    .restricted_for_good = true, /* NVRTC moves what a stage writes behind where the next one reads it */
    .not_early = "*(const volatile $0 *)&$1",
    .suffix = "f",
    .index_suffix = "LL",
    .nan = "NAN",
    .infinity = "INFINITY",
    .least_whole = "INT64_MIN",
    .fma = {"__fmaf_rn($0, $1, $2)", "__fma_rn($0, $1, $2)"},
    .spelling = spellings,
    .function = functions,
    .constant = "constexpr trip $0 = $1;",
    .table = "constexpr int $0[] = {$1};",
    .unroll = "#pragma unroll $0",
    .lanes = "#pragma unroll",
    .barrier = "__syncthreads()",
    .move = moves,
    .address = "shared_at($0)",
    .sent = "sent()",
    .arrived = "arrived($0)",
    .box = &boxes,
    .matrix = matrices,
    .n_matrix = COUNT(matrices),
    .part = "(trip)blockIdx.x",
    .parts = "(trip)gridDim.x",
    .chunks = (const char *const[]){"for (trip $0 = blockIdx.x; $0 < $1; $0 += gridDim.x) {", NULL},
    .lane = "threadIdx.x",
    .lane_of_all = "((int64_t)blockIdx.x * blockDim.x + threadIdx.x)",
    .lanes_in_all = "((int64_t)gridDim.x * blockDim.x)",
    .fault_parameter = "int *fault",
    .fault = "fault",
    .tile = tile_opens,
    .kernel = kernel_opens,
    .asks = true,
    .prelude = prelude,
};
