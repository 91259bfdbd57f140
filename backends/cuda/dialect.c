/* dialect.c - the spellings of CUDA C, as NVRTC takes it: no header is there, and names of scalar functions are
 * overloaded. */
#include "backends/cuda/dialect.h"
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
    "#define MIN(a, b) ((a) < (b) ? (a) : (b))\n"
    "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"
    "#define max max_f64\n"
    "#define min min_f64\n"
    "#define FUNCTION static __device__ __forceinline__\n";

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
    {0},
};

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
    text_add(t, "char *spills, int *fault)\n{\n");
    if (h->scratch > SHARED_DECLARED)
        text_add(t, "    extern __shared__ __align__(16) char scratch[];\n");
    else if (h->scratch)
        text_add(t, "    __shared__ __align__(16) char scratch[%lld];\n", (long long)h->scratch);
    if (h->spill)
        text_add(t, "    char *const spill = spills + (uint64_t)blockIdx.x * %lld;\n", (long long)h->spill);
    if (h->alone)
        text_add(t, "    if (blockIdx.x) return;\n");
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
    .barrier = "__syncthreads()",
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
    .prelude = prelude,
};
