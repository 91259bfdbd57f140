/* dialect.c - the spellings of CUDA C, as NVRTC takes it: no header is there, and names of scalar functions are
 * overloaded. */
#include "backends/cuda/dialect.h"
#include "backends/cuda/functions.h"
#include "backends/cuda/program.h"

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
    "#define BLEND(c, a, b) ((c) ? (a) : (b))\n"
    "#define MIN(a, b) ((a) < (b) ? (a) : (b))\n"
    "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"
    "#define max max_f64\n"
    "#define min min_f64\n"
    "#define FUNCTION static __device__ __forceinline__\n";

static const move_form moves[] = {
    {16, "uint4", "take16($0, $1)", "*(uint4 *)($0) = $1", "send16<$3>($0, $1, $2)"},
    {8, "uint2", "take8($0, $1)", "*(uint2 *)($0) = $1", "send8<$3>($0, $1, $2)"},
    {4, "uint32_t", "take4($0, $1)", "*(uint32_t *)($0) = $1", "send4<$3>($0, $1, $2)"},
    {0}};

/* How lanes hold sums and fragments: PTX ISA, "Matrix Fragments for mma.m16n8k16" and ".m16n8k8"; ldmatrix takes rows
 * of 16 bytes, whose places the lanes give. */
static const sums_form sums = {2, {{LANE, 4, 0, 0}, {SUM_PART, 2, 0, 8}}, {{LANE, 0, 4, 2}, {SUM_PART, 0, 2, 0}},
                               "paired($0, $1, $2)", {8, 2}, 0};
static const fragment_form halves_a = {
    .words = 4,
    .along = {{"rows4<$2>($0, $1)", {{LANE, 0, 16, 0}}, {{LANE, 16, 0, 0}}, 8},
              {"columns4<$2>($0, $1)", {{LANE, 8, 2, 0}}, {{LANE, 0, 8, 0}, {LANE, 16, 0, 8}}, 8}}};
static const fragment_form halves_b = {
    .words = 2,
    .along = {{"rows2<$2>($0, $1)", {{LANE, 0, 8, 0}}, {{LANE, 8, 2, 0}}, 8},
              {"columns2<$2>($0, $1)", {{0}}, {{LANE, 0, 16, 0}}, 8}},
    .pair = {{"rows4<$2>($0, $1)", {{LANE, 0, 8, 0}, {LANE, 16, 0, 8}}, {{LANE, 8, 2, 0}}, 8},
             {"columns4<$2>($0, $1)", {{LANE, 16, 0, 0}}, {{LANE, 0, 16, 0}}, 8}}};
static const fragment_form tf32_a = {
    .words = 4, .along = {{"rows4_tf32<$2>($0, $1)", {{LANE, 0, 16, 0}}, {{LANE, 16, 0, 0}}, 4}}};
static const fragment_form tf32_b = {
    .words = 2,
    .along = {{"rows2_tf32<$2>($0, $1)", {{LANE, 0, 8, 0}}, {{LANE, 8, 2, 0}}, 4}},
    .pair = {{"rows4_tf32<$2>($0, $1)", {{LANE, 0, 8, 0}, {LANE, 16, 0, 8}}, {{LANE, 8, 2, 0}}, 4}}};

/* Of four warps together: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions" */
static const sums_form group_sums = {2,
                                     {{LANE, 4, 0, 0}, {SUM_PART, 2, 2, 8}},
                                     {{LANE, 0, 4, 2}, {SUM_PART, 0, 2, 0}, {SUM_PART, 4, 0, 8}},
                                     "paired($0, $1, $2)", {8, 2}, 2};
static const char show[] = "warpgroup_show()", batch[] = "warpgroup_sent()",
                  descriptor[] = "warpgroup_slice($0, $1, $2, $3)";
static const warpgroup_form
    of32 = {4, show, "warpgroup_begin32($0)", batch, "warpgroup_end32($0)", descriptor},
    of64 = {4, show, "warpgroup_begin64($0)", batch, "warpgroup_end64($0)", descriptor},
    of128 = {4, show, "warpgroup_begin128($0)", batch, "warpgroup_end128($0)", descriptor},
    of256 = {4, show, "warpgroup_begin256($0)", batch, "warpgroup_end256($0)", descriptor};

static const matrix_form matrices[] = {
    {16, 8, 16, TS_F16, TS_F32, "mma_f16($0, $1, $2)", 4, &sums, &halves_a, &halves_b, NULL},
    {16, 8, 16, TS_BF16, TS_F32, "mma_bf16($0, $1, $2)", 4, &sums, &halves_a, &halves_b, NULL},
    {16, 8, 8, TS_F32, TS_F32, "mma_tf32($0, $1, $2)", 4, &sums, &tf32_a, &tf32_b, NULL},
    {16, 32, 16, TS_F16, TS_F32, "wgmma_f16_32<$3, $4>($0, $1, $2)", 16, &group_sums, NULL, NULL, &of32},
    {16, 64, 16, TS_F16, TS_F32, "wgmma_f16_64<$3, $4>($0, $1, $2)", 32, &group_sums, NULL, NULL, &of64},
    {16, 128, 16, TS_F16, TS_F32, "wgmma_f16_128<$3, $4>($0, $1, $2)", 64, &group_sums, NULL, NULL, &of128},
    {16, 256, 16, TS_F16, TS_F32, "wgmma_f16_256<$3, $4>($0, $1, $2)", 128, &group_sums, NULL, NULL, &of256},
    {16, 32, 16, TS_BF16, TS_F32, "wgmma_bf16_32<$3, $4>($0, $1, $2)", 16, &group_sums, NULL, NULL, &of32},
    {16, 64, 16, TS_BF16, TS_F32, "wgmma_bf16_64<$3, $4>($0, $1, $2)", 32, &group_sums, NULL, NULL, &of64},
    {16, 128, 16, TS_BF16, TS_F32, "wgmma_bf16_128<$3, $4>($0, $1, $2)", 64, &group_sums, NULL, NULL, &of128},
    {16, 256, 16, TS_BF16, TS_F32, "wgmma_bf16_256<$3, $4>($0, $1, $2)", 128, &group_sums, NULL, NULL, &of256},
    {16, 32, 8, TS_F32, TS_F32, "wgmma_tf32_32($0, $1, $2)", 16, &group_sums, NULL, NULL, &of32},
    {16, 64, 8, TS_F32, TS_F32, "wgmma_tf32_64($0, $1, $2)", 32, &group_sums, NULL, NULL, &of64},
    {16, 128, 8, TS_F32, TS_F32, "wgmma_tf32_128($0, $1, $2)", 64, &group_sums, NULL, NULL, &of128},
    {16, 256, 8, TS_F32, TS_F32, "wgmma_tf32_256($0, $1, $2)", 128, &group_sums, NULL, NULL, &of256},
    {0},
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
    text_add(t, ")\n{\n    const unsigned group = blockIdx.x, groups = gridDim.x;\n");
    const int multiple = h->scratch_multiple ? h->scratch_multiple : 16;
    if (h->scratch > SHARED_DECLARED)
        text_add(t, "    extern __shared__ __align__(%d) char scratch[];\n", multiple);
    else if (h->scratch)
        text_add(t, "    __shared__ __align__(%d) char scratch[%lld];\n", multiple, (long long)h->scratch);
    if (h->spill)
        text_add(t, "    char *const spill = spills + (uint64_t)group * %lld;\n", (long long)h->spill);
    for (int v = 0; h->sizes >> v; v++)
        if (h->sizes >> v & 1)
            text_add(t, "    const trip size%d = (trip)extents[%d];\n", v, v);
    if (h->alone)
        text_add(t, "    if (group) return;\n");
    if (h->asks)
        text_add(t, "    if (*ended) return;\n");
}

/* All that is a launch's is its caller's: memory of the group, and which part of the launch is its own. */
static void member_opens(text *t, const kernel_head *h)
{
    text_add(t, "static __device__ __forceinline__ void %s(", h->name);
    for (int i = 0; i < h->n; i++)
        text_add(t, "%s%s *%s, ", h->parameter[i].written ? "" : "const ", h->parameter[i].type, h->parameter[i].name);
    for (int v = 0; h->sizes >> v; v++)
        if (h->sizes >> v & 1)
            text_add(t, "const trip size%d, ", v);
    text_add(t, "%sint *fault, const unsigned group, const unsigned groups)\n{\n", h->scratch ? "char *scratch, " : "");
    if (h->alone)
        text_add(t, "    if (group) return;\n");
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
    .function = cuda_functions,
    .writer = cuda_writers,
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
    .part = "(trip)group",
    .parts = "(trip)groups",
    .chunks = (const char *const[]){"for (trip $0 = group; $0 < $1; $0 += groups) {", NULL},
    .lane = "threadIdx.x",
    .shuffle = "__shfl_down_sync(0xffffffffu, $0, $1)",
    .warp_barrier = "__syncwarp()",
    .lane_of_all = "((int64_t)group * blockDim.x + threadIdx.x)",
    .lanes_in_all = "((int64_t)groups * blockDim.x)",
    .fault_parameter = "int *fault",
    .fault = "fault",
    .loop = {.memory = "char",
             .place = {"const char *", "char *"},
             .at = {"(const char *)$0 + $1", "(char *)$0 + $1"},
             .given = {"(const $0 *)$1", "($0 *)$1"},
             .truth = "*$0",
             .copy = "copy_lanes($0, $1, $2)",
             .clear = "clear_lanes($0, $1)",
             .with = {"fault, 0, 1", "scratch, fault, 0, 1"}},
    .tile = tile_opens,
    .kernel = kernel_opens,
    .member = member_opens,
    .members = "member_",
    .asks = true,
    .prelude = prelude,
};
