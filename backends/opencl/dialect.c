/* dialect.c - the spellings of OpenCL C 1.2: functions are overloaded and have no suffixes, types have other names,
 * memory of a group is local, and no conversion of pointers goes from one memory to another. */
#include "backends/opencl/dialect.h"

#include <stdio.h>

/* A line is a line of the program. */
/* clang-format off */
static const char head[] =
    "#ifdef cl_khr_fp64\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#endif\n"
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "typedef char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;\n"
    "typedef uchar uint8_t; typedef ushort uint16_t; typedef uint uint32_t; typedef ulong uint64_t;\n"
    "#define UINT64_C(n) n##UL\n"
    "#define fabsf fabs\n"
    "#define expf exp\n"
    "#define expm1f expm1\n"
    "#define logf log\n"
    "#define log1pf log1p\n"
    "#define sqrtf sqrt\n"
    "#define sinf sin\n"
    "#define cosf cos\n"
    "#define tanf tan\n"
    "#define asinf asin\n"
    "#define acosf acos\n"
    "#define atanf atan\n"
    "#define atan2f atan2\n"
    "#define sinhf sinh\n"
    "#define coshf cosh\n"
    "#define tanhf tanh\n"
    "#define asinhf asinh\n"
    "#define acoshf acosh\n"
    "#define atanhf atanh\n"
    "#define erff erf\n"
    "#define floorf floor\n"
    "#define ceilf ceil\n"
    "#define rintf rint\n"
    "#define truncf trunc\n"
    "#define fmodf fmod\n"
    "#define powf pow\n"
    "#define ldexpf ldexp\n"
    "#define frexpf frexp\n"
    "#define copysignf copysign\n"
    "#undef max\n" /* there are functions of these names, for other types too */
    "#undef min\n"
    "#define max larger\n"
    "#define min smaller\n"
    "#define half halved\n" /* a type there, a name in functions of ours */
    "#define FMA(a, b, c) fma((float)(a), (float)(b), (float)(c))\n"
    "#define FMA64(a, b, c) fma((double)(a), (double)(b), (double)(c))\n"
    "#define BLEND(c, a, b) ((c) ? (a) : (b))\n"
    "#define MIN(a, b) ((a) < (b) ? (a) : (b))\n"
    "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"
    "#define FUNCTION static inline\n";

static const function functions[] = {
    {"bits_float", "", PLAIN, "FUNCTION float bits_float(uint32_t u) { return as_float(u); }\n"},
    {"float_bits", "", PLAIN, "FUNCTION uint32_t float_bits(float f) { return as_uint(f); }\n"},
    {"bits_double", "", PLAIN, "FUNCTION double bits_double(uint64_t u) { return as_double(u); }\n"},
    {"double_bits", "", PLAIN, "FUNCTION uint64_t double_bits(double f) { return as_ulong(f); }\n"},
    {"real_to_whole", "", PLAIN,
     "FUNCTION int64_t real_to_whole(double x, int bits, int is_signed) /* truncates; saturates; NaN gives 0 */\n"
     "{\n"
     "    const double high = ldexp(1.0, bits - is_signed), low = is_signed ? -high : 0.0;\n"
     "    if (x != x) return 0;\n"
     "    if (x >= high) return is_signed ? (int64_t)((1UL << (bits - 1)) - 1) : (int64_t)(ULONG_MAX >> (64 - bits));\n"
     "    if (x <= low) return is_signed ? (int64_t)(ULONG_MAX << (bits - 1)) : 0;\n"
     "    return x >= 0x1p63 ? (int64_t)(uint64_t)x : (int64_t)x;\n"
     "}\n"},
    {"copy_lanes", "", PLAIN, /* by all of a group: words where these begin and end on one */
     "FUNCTION void copy_lanes(__global void *to, const __global void *from, long bytes)\n"
     "{\n"
     "    const long words = ((ulong)to | (ulong)from) % 4 ? 0 : bytes / 4, lanes = get_local_size(0);\n"
     "    for (long i = get_local_id(0); i < words; i += lanes)\n"
     "        ((__global uint *)to)[i] = ((const __global uint *)from)[i];\n"
     "    for (long i = 4 * words + get_local_id(0); i < bytes; i += lanes)\n"
     "        ((__global char *)to)[i] = ((const __global char *)from)[i];\n"
     "}\n"},
    {"clear_lanes", "", PLAIN,
     "FUNCTION void clear_lanes(__global void *to, long bytes)\n"
     "{\n"
     "    for (long i = get_local_id(0); i < bytes; i += get_local_size(0)) ((__global char *)to)[i] = 0;\n"
     "}\n"},
    {"take4", "", PLAIN,
     "FUNCTION uint take4(const __global void *from, int inside)\n"
     "{\n"
     "    return inside ? *(const __global uint *)from : 0;\n"
     "}\n"},
    {"take8", "", PLAIN,
     "FUNCTION uint2 take8(const __global void *from, int inside)\n"
     "{\n"
     "    return inside ? *(const __global uint2 *)from : (uint2)(0);\n"
     "}\n"},
    {"take16", "", PLAIN,
     "FUNCTION uint4 take16(const __global void *from, int inside)\n"
     "{\n"
     "    return inside ? *(const __global uint4 *)from : (uint4)(0);\n"
     "}\n"},
    {0},
};

static const move_form moves[] = {{16, "uint4", "take16($0, $1)", "*(__local uint4 *)($0) = $1", NULL},
                                  {8, "uint2", "take8($0, $1)", "*(__local uint2 *)($0) = $1", NULL},
                                  {4, "uint", "take4($0, $1)", "*(__local uint *)($0) = $1", NULL},
                                  {0}};

static const spelling spellings[] = {
    {"exp", true, "fast_exp($0)"},
    {"log", true, "fast_log($0)"},
    {"log1p", true, "fast_log1p($0)"},
    {"erf", true, "fast_erf($0)"},
    {"tanh", true, "fast_tanh($0)"},
    {"max", true, "fast_max($0, $1)"},
    {"min", true, "fast_min($0, $1)"},
    {0},
};
/* clang-format on */

/* Which lanes of a group are a sub-group is the driver's to say. A kernel asks for its size where drivers have several;
 * what lanes ask for beyond the last one is nobody's. */
static const char subgroups[] = "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n"
                                "#ifdef cl_intel_required_subgroup_size\n"
                                "#define IN_SUBGROUPS __attribute__((intel_reqd_sub_group_size(SUBGROUP)))\n"
                                "#else\n"
                                "#define IN_SUBGROUPS\n"
                                "#endif\n"
                                "#ifdef cl_khr_subgroup_shuffle_relative\n"
                                "#define BEHIND(x, n) sub_group_shuffle_down(x, n)\n"
                                "#else\n"
                                "#define BEHIND(x, n) intel_sub_group_shuffle_down(x, x, n)\n"
                                "#endif\n";

static void prelude(text *t, const unit_facts *u)
{
    text_add(t, "%stypedef %s ts_index;\n", head, u->far ? "long" : "int");
    if (u->warp)
        text_add(t, "#define SUBGROUP %d\n%s", u->warp, subgroups);
}

/* Neither static nor inline: of functions that are, and hold barriers, LLVM 15's inliner dies within PoCL 3.1. */
static void tile(text *t, const tile_head *h)
{
    text_add(t, "void %s(%s)\n", h->name, h->parameters);
}

/* scratch: the line that says where it is */
static void open_kernel(text *t, const kernel_head *h, const char *scratch)
{
    text_add(t, "__kernel __attribute__((reqd_work_group_size(%d, 1, 1)))\nvoid %s(", h->lanes, h->name);
    for (int i = 0; i < h->n; i++)
        text_add(t, "__global char *memory%d, const ulong offset%d, ", i, i);
    text_add(t, "__global char *spills, __global int *faults, const int number");
    for (int v = 0; h->sizes >> v; v++)
        if (h->sizes >> v & 1)
            text_add(t, ", const long extent%d", v);
    text_add(t, ")\n{\n    const size_t group = get_group_id(0), groups = get_num_groups(0);\n");
    for (int v = 0; h->sizes >> v; v++)
        if (h->sizes >> v & 1)
            text_add(t, "    const ts_index size%d = (ts_index)extent%d;\n", v, v);
    text_add(t, "%s", scratch);
    if (h->spill)
        text_add(t, "    __global char *spill = spills + group * %lldUL;\n", (long long)h->spill);
    text_add(t, "    __global int *fault = faults + number;\n");
    for (int i = 0; !h->empty && i < h->n; i++) {
        const parameter *p = &h->parameter[i];
        const char *access = p->written ? "" : "const ";
        text_add(t, "    __global %s%s *%s = (__global %s%s *)(memory%d + offset%d);\n", access, p->type, p->name,
                 access, p->type, i, i);
    }
    if (h->alone)
        text_add(t, "    if (group) return;\n");
}

static void kernel(text *t, const kernel_head *h)
{
    char line[96] = "";
    if (h->scratch)
        snprintf(line, sizeof line, "    __local char scratch[%lld] __attribute__((aligned(16)));\n",
                 (long long)h->scratch);
    open_kernel(t, h, line);
}

static void kernel_subgroups(text *t, const kernel_head *h)
{
    text_add(t, "%s", h->lanes > 1 ? "IN_SUBGROUPS " : "");
    kernel(t, h);
}

/* Of a worker that is alone it is in memory like all else. */
static void kernel_alone(text *t, const kernel_head *h)
{
    char line[96] = "";
    if (h->scratch)
        snprintf(line, sizeof line, "    __global char *scratch = spills + group * %lldUL;\n",
                 (long long)ocl_scratch(h->scratch));
    open_kernel(t, h, line);
}

int64_t ocl_scratch(int64_t bytes)
{
    enum { MULTIPLE = 128 }; /* the widest vectors of the language, float16 and double16 */
    return int_ceil_div(bytes, MULTIPLE) * MULTIPLE;
}

/* Neither static nor inline, as tiles. scratch: where it lies */
static void open_member(text *t, const kernel_head *h, const char *scratch)
{
    text_add(t, "void %s(", h->name);
    for (int i = 0; i < h->n; i++)
        text_add(t, "__global %s%s *%s, ", h->parameter[i].written ? "" : "const ", h->parameter[i].type,
                 h->parameter[i].name);
    for (int v = 0; h->sizes >> v; v++)
        if (h->sizes >> v & 1)
            text_add(t, "const ts_index size%d, ", v);
    text_add(t, "%s__global int *fault, const size_t group, const size_t groups)\n{\n", h->scratch ? scratch : "");
    if (h->alone)
        text_add(t, "    if (group) return;\n");
}

static void member(text *t, const kernel_head *h)
{
    open_member(t, h, "__local char *scratch, ");
}

static void member_alone(text *t, const kernel_head *h)
{
    open_member(t, h, "__global char *scratch, ");
}

const dialect opencl_dialect = {
    .name = "opencl",
    .real = {"float", "double"},
    .whole = {"int8_t", "int16_t", "int32_t", "int64_t"},
    .natural = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"},
    .truth = "int",
    .index = "ts_index",
    .space = {"__global ", "__local ", ""},
    .restricted = "restrict ",
    .suffix = "f",
    .index_suffix = "L",
    .nan = "NAN",
    .infinity = "INFINITY",
    .least_whole = "LONG_MIN",
    .fma = {"FMA($0, $1, $2)", "FMA64($0, $1, $2)"},
    .spelling = spellings,
    .function = functions,
    .constant = "const ts_index $0 = $1; (void)$0;",
    .table = "const int $0[] = {$1};",
    .unroll = "#pragma unroll $0",
    .unroll_most = 16,
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
    .part = "group",
    .parts = "groups",
    .chunks = (const char *const[]){"for (ts_index $0 = group; $0 < $1; $0 += groups) {", NULL},
    .move = moves,
    .lane = "get_local_id(0)",
    .lane_of_all = "((long)group * get_local_size(0) + get_local_id(0))",
    .lanes_in_all = "((long)groups * get_local_size(0))",
    .fault_parameter = "__global int *fault",
    .fault = "fault",
    .loop = {.memory = "char",
             .place = {"const __global char *", "__global char *"},
             .at = {"(const __global char *)$0 + $1", "(__global char *)$0 + $1"},
             .given = {"(const __global $0 *)$1", "(__global $0 *)$1"},
             .truth = "*$0",
             .copy = "copy_lanes($0, $1, $2)",
             .clear = "clear_lanes($0, $1)",
             .number = "if (get_local_id(0) == 0) *(__global long *)$0 = $1",
             .with = {"fault, 0, 1", "scratch, fault, 0, 1"}},
    .tile = tile,
    .kernel = kernel,
    .member = member,
    .members = "member_",
    .prelude = prelude,
};

/* Nobody waits for others, and nothing is shared: no barriers, no memory of a group, no numbers of lanes. */
void ocl_dialect_alone(dialect *out)
{
    *out = opencl_dialect;
    out->space[GROUP] = out->space[ALL];
    out->barrier = out->lane = out->lane_of_all = out->lanes_in_all = NULL;
    out->move = NULL; /* compilers make vectors of its loops, */
    /* and of these once they are gone (LLVM 15, a tile of 4x24: 62 GFLOP/s as loops, 190 written out) */
    out->lanes_written_out = true;
    out->kernel = kernel_alone, out->member = member_alone;
}

void ocl_dialect_groups(dialect *out, bool subgroups_too)
{
    *out = opencl_dialect;
    if (!subgroups_too)
        return;
    out->lane = "(get_sub_group_id() * SUBGROUP + get_sub_group_local_id())";
    out->shuffle = "BEHIND($0, $1)";
    out->warp_barrier = "sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)";
    out->kernel = kernel_subgroups;
}
