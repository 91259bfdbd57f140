/* dialect.c - a C-like language that nobody speaks: its own names for types, its own loops, and a unit of its own that
 * the hands of a group work together. A C compiler reads it by way of a few macros, so that what it says can be run:
 * each hand is a thread. */
#include "backends/ontop/ontop.h"

static const char words[] =
    "#include <math.h>\n"
    "#include <pthread.h>\n"
    "#include <stdint.h>\n"
    "#include <string.h>\n"
    "typedef float real;\n"
    "typedef double wide;\n"
    "typedef int flag;\n"
    "typedef long place;\n"
    "typedef int8_t i8; typedef int16_t i16; typedef int32_t i32; typedef int64_t i64;\n"
    "typedef uint8_t n8; typedef uint16_t n16; typedef uint32_t n32; typedef uint64_t n64;\n"
    "#define far\n"
    "#define near\n"
    "#define only restrict\n"
    "#define MULADD(a, b, c) ((a) * (b) + (c))\n"
    "#define FMA(a, b, c) MULADD(a, b, c)\n"
    "#define FMA64(a, b, c) MULADD(a, b, c)\n"
    "#define BLEND(c, a, b) ((c) ? (a) : (b))\n"
    "#define MIN(a, b) ((a) < (b) ? (a) : (b))\n"
    "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"
    "#define FUNCTION static inline __attribute__((unused))\n"
    "#define MEET() ((void)pthread_barrier_wait(meeting))\n"
    "#define HOP(i, from, to, step) for (place i = from; i < to; i += step)\n"
    "#define DEAL(i, n) for (place i = (n) * group / groups; i < (n) * (group + 1) / groups; i++)\n"
    "static _Thread_local place hand;\n"
    "static _Thread_local pthread_barrier_t *meeting;\n"
    "static _Thread_local char *desk;\n";

static void prelude(text *t, const unit_facts *u)
{
    (void)u;
    text_add(t, "%s", words);
}

static void tile(text *t, const tile_head *h)
{
    text_add(t, "static void %s(%s)\n", h->name, h->parameters);
}

static void kernel_begin(text *t, const kernel_head *h)
{
    text_add(
        t, "void %s(char **memory, char *scratch, flag *fault, place group, place groups, place own, void *where)\n{\n",
        h->name);
    text_add(t, "    (void)memory, (void)scratch, (void)fault, (void)group, (void)groups;\n");
    text_add(t, "    hand = own, meeting = where, desk = scratch;\n");
    for (int i = 0; !h->empty && i < h->n; i++) {
        const parameter *p = &h->parameter[i];
        const char *access = p->written ? "" : "const ";
        text_add(t, "    far %s%s *%s = (far %s%s *)memory[%d];\n", access, p->type, p->name, access, p->type, i);
    }
    if (h->alone)
        text_add(t, "    if (group) return;\n");
}

static const function functions[] = {
    {"checked", "", FAULTS,
     "FUNCTION i64 checked(i64 i, i64 n, flag *fault)\n"
     "{\n"
     "    if (i < 0 || i >= n) *fault = 1;\n"
     "    return i < 0 || i >= n ? 0 : i;\n"
     "}\n"},
    {"take_row", "", PLAIN,
     "FUNCTION void take_row(n32 *row, n32 at, n32 more)\n"
     "{\n"
     "    memcpy(row, desk + at + more, 4 * sizeof *row);\n"
     "}\n"},
    {"by_fours", "", PLAIN,
     "static real shown[2][4][4]; /* rows of a, columns of b: a hand has one of each */\n"
     "FUNCTION void by_fours(real *y, const n32 *a, const n32 *b)\n"
     "{\n"
     "    memcpy(shown[0][hand], a, sizeof shown[0][hand]);\n"
     "    memcpy(shown[1][hand], b, sizeof shown[1][hand]);\n"
     "    MEET();\n"
     "    for (int n = 0; n < 4; n++)\n"
     "        for (int k = 0; k < 4; k++)\n"
     "            y[n] = MULADD(shown[0][hand][k], shown[1][n][k], y[n]);\n"
     "    MEET();\n"
     "}\n"},
    {0}};

/* y[m,n] += sum over k of a[m,k] b[k,n], 4 of each: hand i holds row i of a and of y, and column i of b. */
static const fragment_form line = {.words = 4,
                                   .along = {{.take = "take_row($0, $1, $2)", .line = {{LANE, 1}}, .piece = 4}}};
static const matrix_form units[] = {
    {.m = 4,
     .n = 4,
     .k = 4,
     .operand = TS_F32,
     .sum = TS_F32,
     .text = "by_fours($0, $1, $2)",
     .sums = 4,
     .held = &(const sums_form){.run = 1, .row = {{LANE, 1}}, .column = {{SUM_PART, 1}}},
     .a = &line,
     .b = &line},
    {0}};

const dialect ontop_dialect = {
    .name = "ontop",
    .real = {"real", "wide"},
    .whole = {"i8", "i16", "i32", "i64"},
    .natural = {"n8", "n16", "n32", "n64"},
    .truth = "flag",
    .index = "place",
    .space = {"far ", "near ", ""},
    .restricted = "only ",
    .suffix = "f",
    .index_suffix = "",
    .nan = "NAN",
    .infinity = "INFINITY",
    .least_whole = "INT64_MIN",
    .fma = {"MULADD($0, $1, $2)", "MULADD($0, $1, $2)"},
    .spelling = (const spelling[]){{0}},
    .function = functions,
    .constant = "const place $0 = $1; (void)$0;",
    .table = "const flag $0[] = {$1};",
    .barrier = "MEET()",
    .address = "(n32)((const char *)$0 - desk)",
    .matrix = units,
    .lane = "hand",
    .lane_of_all = "(group * 4 + hand)",
    .lanes_in_all = "(groups * 4)",
    .role = (const role_form[]){{"hops", "HOP($0, $1, $2, $3)", false}, {"skew", "HOP($0, $1, $2, $3)", true}, {0}},
    .part = "group",
    .parts = "groups",
    .chunks = (const char *const[]){"DEAL($0, $1) {", NULL},
    .fault_parameter = "flag *fault",
    .fault = "fault",
    .tile = tile,
    .kernel = kernel_begin,
    .prelude = prelude};
