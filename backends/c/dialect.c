/* dialect.c - the spellings of C: pragmas for the compiler at hand, types of stdint.h, shares of a team of threads. */
#include "backends/c/dialect.h"
#include "backends/c/vectors.h"
#include "backends/emit/emit_folder.h"

#include <string.h>

/* What a unit may begin with: a piece stands there if one of its words stands behind it, as compilers take longer over
 * headers than over small kernels, or if a piece behind it needs it, of whose words it has one. A word with ~ may end
 * in f. A line is a line of the program. */
/* clang-format off */
typedef struct head_piece {
    const char *words, *text;
} head_piece;
static const head_piece head[] = {
    {"INFINITY NAN HUGE_VAL~ isnan isinf isfinite isnormal signbit fpclassify acos~ asin~ atan~ atan2~ cos~ sin~ tan~ "
     "acosh~ asinh~ atanh~ cosh~ sinh~ tanh~ exp~ exp2~ expm1~ frexp~ ilogb~ ldexp~ log~ log10~ log1p~ log2~ logb~ "
     "modf~ scalbn~ scalbln~ cbrt~ fabs~ hypot~ pow~ sqrt~ erf~ erfc~ lgamma~ tgamma~ ceil~ floor~ nearbyint~ rint~ "
     "lrint~ llrint~ round~ lround~ llround~ trunc~ fmod~ remainder~ remquo~ copysign~ nan~ nextafter~ nexttoward~ "
     "fdim~ fmax~ fmin~ fma~",
     "#include <math.h>\n"},
    {"int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t INT8_MIN INT8_MAX INT16_MIN "
     "INT16_MAX INT32_MIN INT32_MAX INT64_MIN INT64_MAX UINT8_MAX UINT16_MAX UINT32_MAX UINT64_MAX SIZE_MAX",
     "#include <stdint.h>\n"},
    {"memcpy memmove memset memcmp strlen size_t NULL",
     "#include <string.h>\n"},
    {"_Atomic",
     "#include <stdatomic.h>\n"},
    {"TEXT UNROLL",
     "#define TEXT(x) _Pragma(#x)\n"},
    {"UNROLL",
     "#if defined(__clang__)\n"
     "#define UNROLL(n) TEXT(clang loop unroll_count(n))\n"
     "#elif defined(__GNUC__)\n"
     "#define UNROLL(n) TEXT(GCC unroll n)\n"
     "#else\n"
     "#define UNROLL(n)\n"
     "#endif\n"},
    {"PREFETCH",
     "#ifdef __GNUC__\n"
     "#define PREFETCH(p, level) __builtin_prefetch(p, 0, (level) == 1 ? 3 : (level) == 2 ? 2 : 0)\n"
     "#else\n"
     "#define PREFETCH(p, level) ((void)0)\n"
     "#endif\n"},
    {"MAY_BE_UNUSED FUNCTION",
     "#ifdef __GNUC__\n"
     "#define MAY_BE_UNUSED __attribute__((unused))\n"
     "#else\n"
     "#define MAY_BE_UNUSED\n"
     "#endif\n"},
    {"ZIP",
     "#ifdef __clang__\n"
     "#define ZIP(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)\n"
     "#else\n"
     "#define ZIP(a, b, ...) __builtin_shuffle(a, b, (lanes){__VA_ARGS__})\n"
     "#endif\n"},
    {"FMA FMA64",
     "#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined FUSED\n"
     "#define FMA(a, b, c) __builtin_fmaf(a, b, c)\n"
     "#define FMA64(a, b, c) __builtin_fma(a, b, c)\n"
     "#define FUSES /* it rounds once */\n"
     "#else\n"
     "#define FMA(a, b, c) ((a) * (b) + (c))\n"
     "#define FMA64(a, b, c) ((a) * (b) + (c))\n"
     "#endif\n"},
    {"BLEND", "#define BLEND(c, a, b) ((c) ? (a) : (b))\n"},
    {"LANES",
     "#ifdef __GNUC__ /* all are built in: no vector is passed */\n"
     "#pragma GCC diagnostic ignored \"-Wpsabi\"\n"
     "#endif\n"
     "#define LANES static inline __attribute__((always_inline, unused))\n"},
    {"MIN", "#define MIN(a, b) ((a) < (b) ? (a) : (b))\n"},
    {"MAX", "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"},
    {"FUNCTION", "#define FUNCTION static inline MAY_BE_UNUSED\n"},
};

/* Sines, cosines, tangents */
static const char each_if_far[] =
    "LANES %T fast_%N_x%n(%T x)\n"
    "{\n"
    "    if (%M_some(~is_near_x%n(x))) {\n"
    "        float each[%n];\n"
    "        __builtin_memcpy(each, &x, sizeof x);\n"
    "        for (int i = 0; i < %n; i++) each[i] = fast_%N(each[i]);\n"
    "        __builtin_memcpy(&x, each, sizeof x);\n"
    "        return x;\n"
    "    }\n"
    "    return near_%N_x%n(x);\n"
    "}\n";

static const function functions[] = {
    /* Asking another part costs a line of its cache, whether it has work left or not: few are asked */
    {"ts_units", "", PLAIN,
     "typedef struct ts_units {\n"
     "    long from, to, owner; /* owner: so many parts behind */\n"
     "} ts_units;\n"},
    {"next_units", "ts_units", PLAIN,
     "FUNCTION int next_units(const ts_share *s, long n, ts_units *u) /* of n: first own ones, then others' */\n"
     "{\n"
     "    for (; u->owner < MIN(s->parts, 8); u->owner++) {\n"
     "        const long p = (s->part + u->owner) % s->parts, first = n * p / s->parts, end = n * (p + 1) / s->parts;\n"
     "        _Atomic long *claimed = (_Atomic long *)(s->claimed + p * s->apart);\n"
     "        long old = atomic_load_explicit(claimed, memory_order_relaxed);\n"
     "        for (long left; (left = end - first - old) > 0;) {\n"
     "            const long some = s->parts > 1 ? (left + 7) / 8 : left;\n"
     "            if (!atomic_compare_exchange_weak_explicit(claimed, &old, old + some, memory_order_relaxed,\n"
     "                                                       memory_order_relaxed))\n"
     "                continue;\n"
     "            u->from = first + old, u->to = u->from + some;\n"
     "            return 1;\n"
     "        }\n"
     "    }\n"
     "    return 0;\n"
     "}\n"},
    /* Sines of large arguments, which are seldom: functions over lanes look once whether there are any, and each
     * function alone gives what they give. */
    {"far_rest", "bits_double double_bits", PLAIN,
     "__extension__ typedef unsigned __int128 whole128;\n"
     "/* x - n pi/2, no farther than pi/4, in two parts, and n: 192 bits of 2/pi from those on that count */\n"
     "FUNCTION double far_rest(double x, double *low, uint64_t *turns)\n"
     "{\n"
     "    static const uint64_t over_pi[] = { /* 1/pi, behind the point */\n"
     "        0, 0x517cc1b727220a94, 0xfe13abe8fa9a6ee0, 0x6db14acc9e21c820, 0xff28b1d5ef5de2b0, 0xdb92371d2126e970,\n"
     "        0x0324977504e8c90e, 0x7f0ef58e5894d39f, 0x74411afa975da242, 0x74ce38135a2fbf20, 0x9cc8eb1cc1a99cfa,\n"
     "        0x4e422fc5defc941d, 0x8ffc4bffef02cc07, 0xf79788c5ad05368f, 0xb69b3f6793e584db, 0xa7a31fb34f2ff516,\n"
     "        0xba93dd63f5f2f8bd, 0x9e839cfbc5294975, 0x35fdafd88fc6ae84, 0x2b0198237e3db5d5};\n"
     "    const uint64_t u = double_bits(fabs(x)), m = (u & 0xfffffffffffffu) | 0x10000000000000u;\n"
     "    const int from = (int)(u >> 52) - 1012, shift = from % 64;\n"
     "    const uint64_t *w = over_pi + from / 64;\n"
     "    const uint64_t a = w[0] << shift | w[1] >> 1 >> (63 - shift);\n"
     "    const uint64_t b = w[1] << shift | w[2] >> 1 >> (63 - shift);\n"
     "    const uint64_t c = w[2] << shift | w[3] >> 1 >> (63 - shift);\n"
     "    const whole128 third = (whole128)m * c, second = (whole128)m * b + (third >> 64);\n"
     "    const uint64_t first = m * a + (uint64_t)(second >> 64);\n"
     "    whole128 f = ((whole128)first << 64 | (uint64_t)second) << 2; /* of pi/2, behind the point */\n"
     "    const int up = (int)(f >> 127);\n"
     "    const uint64_t n = (first >> 62) + (uint64_t)up;\n"
     "    f = up ? -f : f;\n"
     "    const int zeros = f >> 64 ? __builtin_clzll((uint64_t)(f >> 64)) : 64 + __builtin_clzll((uint64_t)f | 1);\n"
     "    const whole128 scaled = (whole128)(uint64_t)(f << zeros >> 64) * 0xc90fdaa22168c235u; /* pi / 4 */\n"
     "    const uint64_t r = (uint64_t)(scaled >> 64);\n"
     "    const double unit = bits_double((uint64_t)(960 - zeros) << 52), sign = up != (x < 0.0) ? -unit : unit;\n"
     "    *low = (double)(r & 0x7ffu) * sign, *turns = x < 0.0 ? 0 - n : n;\n"
     "    return (double)(r & ~UINT64_C(0x7ff)) * sign;\n"
     "}\n"},
    {"far_turned", "far_rest sin_near", PLAIN,
     "FUNCTION double far_turned(float x, uint64_t turns) /* sin(x + turns pi/2) */\n"
     "{\n"
     "    double low;\n"
     "    uint64_t n;\n"
     "    if (!(fabsf(x) < INFINITY)) return NAN;\n"
     "    const double r = far_rest(x, &low, &n);\n"
     "    const double y = sin_near((n + turns) & 1u ? 1.5707963267948966 - fabs(r) : r);\n"
     "    return (n + turns) & 2u ? -y : y;\n"
     "}\n"},
    {"is_near", "", PLAIN, "FUNCTION $i is_near@($f x) { return $abs(x) < 3e7f; }\n"},
    {"fast_sin", "is_near near_sin far_turned", PLAIN,
     "FUNCTION float fast_sin(float x)\n"
     "{\n"
     "    return is_near(x) ? near_sin(x) : (float)far_turned(x, 0);\n"
     "}\n"},
    {"fast_cos", "is_near near_cos far_turned", PLAIN,
     "FUNCTION float fast_cos(float x)\n"
     "{\n"
     "    return is_near(x) ? near_cos(x) : (float)far_turned(x, 1);\n"
     "}\n"},
    {"fast_tan", "is_near near_tan far_turned", PLAIN,
     "FUNCTION float fast_tan(float x)\n"
     "{\n"
     "    return is_near(x) ? near_tan(x) : (float)(far_turned(x, 0) / far_turned(x, 1));\n"
     "}\n"},
    {"fast_sin_x", "is_near near_sin fast_sin! mask.some", VECTOR, each_if_far},
    {"fast_cos_x", "is_near near_cos fast_cos! mask.some", VECTOR, each_if_far},
    {"fast_tan_x", "is_near near_tan fast_tan! mask.some", VECTOR, each_if_far},
    {"is_near64", "", PLAIN, "FUNCTION $i is_near64@($d x) { return $to_i($abs64(x) < 1e5); }\n"},
    {"fast_turned64", "is_near64 near_turned64 far_rest turned64", PLAIN,
     "FUNCTION double fast_turned64(double x, uint64_t turns)\n"
     "{\n"
     "    double low;\n"
     "    uint64_t n;\n"
     "    if (is_near64(x)) return near_turned64(x, turns);\n"
     "    if (!(fabs(x) < INFINITY)) return NAN;\n"
     "    const double r = far_rest(x, &low, &n);\n"
     "    return turned64(r, low, n + turns);\n"
     "}\n"},
    {"fast_sin64", "fast_turned64", PLAIN,
     "FUNCTION double fast_sin64(double x) { return fast_turned64(x, 0); }\n"},
    {"fast_cos64", "fast_turned64", PLAIN,
     "FUNCTION double fast_cos64(double x) { return fast_turned64(x, 1); }\n"},
    {"fast_sin64_x", "is_near64 near_turned64 fast_sin64! mask.some", VECTOR,
     "LANES f64x%n fast_sin64_x%n(f64x%n x)\n"
     "{\n"
     "    if (%M_some(~is_near64_x%n(x))) {\n"
     "        double each[%n];\n"
     "        __builtin_memcpy(each, &x, sizeof x);\n"
     "        for (int i = 0; i < %n; i++) each[i] = fast_sin64(each[i]);\n"
     "        __builtin_memcpy(&x, each, sizeof x);\n"
     "        return x;\n"
     "    }\n"
     "    return near_turned64_x%n(x, 0u);\n"
     "}\n"},
    {"fast_cos64_x", "is_near64 near_turned64 fast_cos64! mask.some", VECTOR,
     "LANES f64x%n fast_cos64_x%n(f64x%n x)\n"
     "{\n"
     "    if (%M_some(~is_near64_x%n(x))) {\n"
     "        double each[%n];\n"
     "        __builtin_memcpy(each, &x, sizeof x);\n"
     "        for (int i = 0; i < %n; i++) each[i] = fast_cos64(each[i]);\n"
     "        __builtin_memcpy(&x, each, sizeof x);\n"
     "        return x;\n"
     "    }\n"
     "    return near_turned64_x%n(x, 1u);\n"
     "}\n"},
    {0},
};

/* clang-format on */

static bool in_words(const char *words, const char *name, size_t n)
{
    for (const char *w = words; w; w = strchr(w, ' ')) {
        w += *w == ' ';
        if (*w != *name)
            continue;
        const size_t length = strcspn(w, " ~");
        if (!memcmp(w, name, length < n ? length : n) &&
            (n == length || (n == length + 1 && w[length] == '~' && name[length] == 'f')))
            return true;
    }
    return false;
}

enum { BUCKETS = 1024 };
typedef struct pieces {
    bool used[COUNT(head)];
    bool likely[BUCKETS]; /* some word is there: few names of a text are words */
} pieces;

static int bucket(const char *name, size_t n)
{
    return ((unsigned char)name[0] * 37 + (unsigned char)name[1] * 5 + (int)n) % BUCKETS;
}

static void sort_words(pieces *p, const char *words)
{
    for (const char *w = words; w; w = strchr(w, ' ')) {
        w += *w == ' ';
        const size_t n = strcspn(w, " ~");
        p->likely[bucket(w, n)] = true;
        p->likely[bucket(w, n + (w[n] == '~'))] = true;
    }
}

static void note_pieces(pieces *p, const char *s)
{
    for (size_t n; *s; s += n) {
        for (n = 0; in_word(s[n]);)
            n++;
        for (int i = 0; n > 1 && p->likely[bucket(s, n)] && i < COUNT(head); i++)
            p->used[i] = p->used[i] || in_words(head[i].words, s, n);
        n += !n;
    }
}

static void prelude(text *t, const unit_facts *u)
{
    pieces p = {0};
    for (int i = 0; i < COUNT(head); i++)
        sort_words(&p, head[i].words);
    note_pieces(&p, u->body);
    for (int i = 0; i < COUNT(head); i++)
        if (p.used[i])
            text_add(t, "%s", head[i].text);
    text_add(t, "\n%s", runtime_file("share.h"));
}

static const char apart[] = "#ifdef __GNUC__\n__attribute__((noinline))\n#endif\n";
enum { MANY_LOADS = 8 };

/* Tiles that read much are many where borders have some of their own: in one function gcc takes longer over them. */
static void tile(text *t, const tile_head *h)
{
    if (h->loads > MANY_LOADS)
        text_add(t, "%s", apart);
    text_add(t, "static void %s(%s)\n", h->name, h->parameters);
}

static void kernel(text *t, const kernel_head *h)
{
    text_add(t, "void %s(void *const *at, char *scratch, int *fault, const ts_share *share)\n{\n", h->name);
    for (int i = 0; !h->empty && i < h->n; i++)
        text_add(t, "    %s%s *%s = at[%d];\n", h->parameter[i].written ? "" : "const ", h->parameter[i].type,
                 h->parameter[i].name, i);
    for (int v = 0; h->sizes >> v; v++)
        if (h->sizes >> v & 1)
            text_add(t, "    const long size%d = ((const int64_t *)at[%d])[%d];\n", v, h->n, v);
    text_add(t, "    %s(void)scratch, (void)fault, (void)share;\n", h->empty ? "(void)at, " : "");
    if (h->alone)
        text_add(t, "    if (share->part) return;\n");
}

/* Not inlined: each stays the code that it is by itself. A GRU of 128 took 1.2 times as long where the compiler mixed
 * its kernels. */
static void member(text *t, const kernel_head *h)
{
    text_add(t, "%sstatic void %s(", apart, h->name);
    for (int i = 0; i < h->n; i++)
        text_add(t, "%s%s *%s, ", h->parameter[i].written ? "" : "const ", h->parameter[i].type, h->parameter[i].name);
    for (int v = 0; h->sizes >> v; v++)
        if (h->sizes >> v & 1)
            text_add(t, "const long size%d, ", v);
    text_add(t, "char *scratch, int *fault, const ts_share *share)\n{\n    ");
    for (int i = 0; h->empty && i < h->n; i++)
        text_add(t, "(void)%s, ", h->parameter[i].name);
    text_add(t, "(void)scratch, (void)fault, (void)share;\n");
}

const dialect c_dialect = {
    .name = "c",
    .real = {"float", "double"},
    .whole = {"int8_t", "int16_t", "int32_t", "int64_t"},
    .natural = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"},
    .truth = "int",
    .index = "long",
    .space = {"", "", ""},
    .restricted = "restrict ",
    .suffix = "f",
    .index_suffix = "L",
    .nan = "NAN",
    .infinity = "INFINITY",
    .least_whole = "INT64_MIN",
    .fma = {"FMA($0, $1, $2)", "FMA64($0, $1, $2)"},
    .spelling = library_spelled + SPELLED_ALIKE,
    .function = functions,
    .vectors = c_vectors,
    .vector_writer = c_vector_write,
    .constant = "enum { $0 = $1 }; (void)$0;",
    .table = "static const int $0[] = {$1};",
    .fetch = "PREFETCH($0, $1);",
    .unroll = "UNROLL($0)",
    .unroll_most = 16, /* of 48 trips with halves gcc makes one piece in a minute, of these at a time at once */
    .part = "share->part",
    .parts = "share->parts",
    .chunks = (const char *const[]){"for (ts_units u = {0}; next_units(share, $1, &u);) {",
                                    "for (long $0 = u.from; $0 < u.to; $0++) {", NULL},
    .fault_parameter = "int *fault",
    .fault = "fault",
    .routine = {"#define ROUTINE static\n", "void *const with[] = {$0}", "(void *)$0",
                "static const int64_t parameter[] = {$0}",
                "routine_$0(with, \"$1\", parameter, scratch, share->part, share->parts)"},
    .loop = {.memory = "void",
             .place = {"const void *", "void *"},
             .at = {"(const char *)$0 + $1", "(char *)$0 + $1"},
             .truth = "*(const char *)$0",
             .copy = "memcpy($0, $1, $2)",
             .clear = "memset($0, 0, $1)",
             .share = "static const ts_share alone = {0, 1, 0, 0}",
             .with = {"scratch, fault, &alone", "scratch, fault, &alone"},
             .chunks = (const char *const[]){"for (long $0 = 0; $0 < $1; $0++) {", NULL}},
    .tile = tile,
    .kernel = kernel,
    .member = member,
    .prelude = prelude,
};
