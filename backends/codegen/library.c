/* library.c - scalar functions that a compiler can turn into vector code, conversions, and whole numbers that wrap.
 * Polynomials are minimax fits of ours; errors are in units in the last place (ULP). */
#include "backends/codegen/dialect.h"

#include <stdio.h>
#include <string.h>

/* A line is a line of the program. */
/* clang-format off */
const function library[] = { /* each uses only those above it */
    /* The larger as processors have it, which is the first where they are equal, then not-a-numbers: no branch on
     * numbers that nothing foresees */
    {"fast_max", "", PLAIN,
     "FUNCTION float fast_max(float a, float b) { const float m = b > a ? b : a; return b != b ? b : m; }\n"},
    {"fast_min", "", PLAIN,
     "FUNCTION float fast_min(float a, float b) { const float m = b < a ? b : a; return b != b ? b : m; }\n"},
    {"above", "", PLAIN, "FUNCTION float above(float a, float b) { return a > b ? a : b; }\n"},
    {"maxf", "", PLAIN,
     "FUNCTION float maxf(float a, float b) { const float m = b > a ? b : a; return b != b ? b : m; }\n"},
    {"minf", "", PLAIN,
     "FUNCTION float minf(float a, float b) { const float m = b < a ? b : a; return b != b ? b : m; }\n"},
    {"max", "", PLAIN,
     "FUNCTION double max(double a, double b) { const double m = b > a ? b : a; return b != b ? b : m; }\n"},
    {"min", "", PLAIN,
     "FUNCTION double min(double a, double b) { const double m = b < a ? b : a; return b != b ? b : m; }\n"},
    {"bits_float", "", PLAIN,
     "FUNCTION float bits_float(uint32_t u) { float f; memcpy(&f, &u, 4); return f; }\n"},
    {"float_bits", "", PLAIN,
     "FUNCTION uint32_t float_bits(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }\n"},
    {"bits_double", "", PLAIN,
     "FUNCTION double bits_double(uint64_t u) { double f; memcpy(&f, &u, 8); return f; }\n"},
    {"double_bits", "", PLAIN,
     "FUNCTION uint64_t double_bits(double f) { uint64_t u; memcpy(&u, &f, 8); return u; }\n"},
    {"scale_by", "bits_float", PLAIN,
     "/* 2^n for -252 <= n <= 254, in two factors so that the ends do not overflow early */\n"
     "FUNCTION $f scale_by@($f x, $i n)\n"
     "{\n"
     "    const $i a = n >> 1, b = n - a;\n"
     "    return x * $bits_float($as_u(a + 127) << 23) * $bits_float($as_u(b + 127) << 23);\n"
     "}\n"},
    {"exp_step", "", PLAIN,
     "FUNCTION $f exp_step@($f x) /* x / ln 2 to the nearest whole number, which the low bits are */\n"
     "{\n"
     "    return $fma(x, $k(1.44269504f), $k(12582912.0f));\n"
     "}\n"},
    {"exp_rest", "", PLAIN,
     "FUNCTION $f exp_rest@($f x, $f step) /* e^x over 2 to the step */\n"
     "{\n"
     "    const $f n = step - 12582912.0f;\n"
     "    $f r = $fma(n, $k(-0.693359375f), x);\n"
     "    r = $fma(n, $k(2.12194440e-4f), r);\n"
     "    const $f rr = r * r, high = $fma(rr, $k(0.0013814610f), $fma(r, $k(0.0083687101f), $k(0.041668389f)));\n"
     "    return $fma(rr, $fma(rr, high, $fma(r, $k(0.16666521f), $k(0.49999994f))), r + 1.0f);\n"
     "}\n"},
    {"fast_exp", "float_bits scale_by exp_step exp_rest", PLAIN,
     "FUNCTION $f fast_exp@($f x) /* 1.3 ULP; 0 below -104, infinity above 88.73 */\n"
     "{\n"
     "    const $f c = $blend(x < -104.0f, $k(-104.0f), $blend(x > 89.0f, $k(89.0f), x)), step = exp_step@(c);\n"
     "    return scale_by@(exp_rest@(c, step), $as_i($float_bits(step) - 0x4b400000u));\n"
     "}\n"},
    {"near_exp", "bits_float float_bits exp_step exp_rest", PLAIN,
     "FUNCTION $f near_exp@($f x) /* the same bits for -80 < x < 80, and not-a-numbers */\n"
     "{\n"
     "    const $f step = exp_step@(x);\n"
     "    return exp_rest@(x, step) * $bits_float(($float_bits(step) - 0x4b400000u + 127u) << 23);\n"
     "}\n"},
    {"fast_erf", "near_exp", PLAIN,
     "FUNCTION $f fast_erf@($f x) /* 1.3 ULP; near 0 no product of its may vanish */\n"
     "{\n"
     "    const $f size = $abs(x), a = $blend(3.925f < size, $k(3.925f), size), t = x * x;\n"
     "    $f s = $fma($k(-5.74705540e-4f), t, $k(0.00494392728f));\n"
     "    s = $fma(s, t, $k(-0.0267322734f));\n"
     "    s = $fma(s, t, $k(0.11280857f));\n"
     "    s = $fma(s, t, $k(-0.376124024f));\n"
     "    s = $fma(s, t, $k(0.128379136f));\n"
     "    $f l = $fma($k(1.9822070e-4f), a, $k(-0.0030654997f));\n"
     "    l = $fma(l, a, $k(0.022315249f));\n"
     "    l = $fma(l, a, $k(-0.10411374f));\n"
     "    l = $fma(l, a, $k(-0.63697600f));\n"
     "    l = $fma(l, a, $k(-1.1277972f));\n"
     "    l = $fma(l, a, $k(-1.6643909e-4f));\n"
     "    l = $copysign(1.0f - near_exp@(l), x);\n"
     "    return $blend(size < 0.95f, 0.125f * $fma(8.0f * x, s, 8.0f * x), l);\n"
     "}\n"},
    {"one_and_erf", "bits_float float_bits", PLAIN,
     "FUNCTION $f one_and_erf@($f x) /* 1 + erf(x), to 1.7e-7: by the logarithm of erfc */\n"
     "{\n"
     "    const $f size = $abs(x), a = $blend(3.925f < size, $k(3.925f), size), aa = a * a;\n"
     "    const $f l0 = $fma($k(-0.918416381f), a, $k(-1.62790859f));\n"
     "    const $f l1 = $fma($k(0.0282536801f), a, $k(-0.148481607f));\n"
     "    const $f l2 = $fma($k(-0.00148944196f), a, $k(-7.74629065e-4f));\n"
     "    const $f l3 = $fma($k(-4.53586035e-5f), a, $k(4.45507729e-4f));\n"
     "    const $f l = $fma($fma(l3, aa, l2), aa * aa, $fma(l1, aa, l0)) * a;\n"
     "    const $f step = l + 12583039.0f, f = l - (step - 12583039.0f), ff = f * f; /* 1.5 * 2^23 + 127 */\n"
     "    const $f q0 = $fma($k(0.693147182f), f, $k(1.0f)), q1 = $fma($k(0.0555033237f), f, $k(0.240226477f));\n"
     "    const $f q2 = $fma($fma($k(1.53533678e-4f), f, $k(0.00133988762f)), f, $k(0.00961843692f));\n"
     "    const $f q = $fma($fma(q2, ff, q1), ff, q0);\n"
     "    return $copysign(1.0f - q * $bits_float($float_bits(step) << 23), x) + 1.0f;\n"
     "}\n"},
    {"fast_gelu", "bits_float float_bits", PLAIN,
     "FUNCTION $f fast_gelu@($f x) /* x times the normal distribution, to 1e-7 of x: by the logarithm of erfc */\n"
     "{\n"
     "    const $i size = $as_i($float_bits(x)) & 0x7fffffff; /* of whole numbers the smaller is one instruction */\n"
     "    const $f a = $bits_float($as_u($blend_i(size < 0x40b1a00f, size, $ki(0x40b1a00f)))); /* 5.55 */\n"
     "    const $f aa = a * a;\n"
     "    const $f l0 = $fma($k(-0.45920819f), a, $k(-1.15110517f));\n"
     "    const $f l1 = $fma($k(0.00706342002f), a, $k(-0.0524961762f));\n"
     "    const $f l2 = $fma($k(-0.000186180245f), a, $k(-0.00013693636f));\n"
     "    const $f l3 = $fma($k(-2.83491272e-06f), a, $k(3.93776936e-05f));\n"
     "    const $f l = $fma($fma(l3, aa, l2), aa * aa, $fma(l1, aa, l0)) * a;\n"
     "    const $f step = l + 12583038.0f, f = l - (step - 12583038.0f), ff = f * f; /* 1.5 * 2^23 + 126 */\n"
     "    const $f q0 = $fma($k(0.693147182f), f, $k(1.0f)), q1 = $fma($k(0.0555033237f), f, $k(0.240226477f));\n"
     "    const $f q2 = $fma($fma($k(1.53533678e-4f), f, $k(0.00133988762f)), f, $k(0.00961843692f));\n"
     "    const $f q = $fma($fma(q2, ff, q1), ff, q0);\n"
     "    return x * ($copysign(0.5f - q * $bits_float($float_bits(step) << 23), x) + 0.5f);\n"
     "}\n"},
    {"quotient", "FMA", PLAIN,
     "FUNCTION $f quotient@($f x, $f s) /* x / s, a number; its roundings to whole numbers of 17 bits are the same */\n"
     "{\n"
     "#ifdef FUSES\n"
     "    const $f r = 1.0f / s, q = x * r;\n"
     "    return $fma($fma(-q, s, x), r, q);\n"
     "#else\n"
     "    return x / s;\n"
     "#endif\n"
     "}\n"},
    {"fast_tanh", "near_exp", PLAIN,
     "FUNCTION $f fast_tanh@($f x) /* 1.4 ULP; 1 from 9.1 on */\n"
     "{\n"
     "    const $f size = $abs(x), a = $blend(9.1f < size, $k(9.1f), size), t = x * x;\n"
     "    $f s = $fma($k(-0.00621747877f), t, $k(0.0210355017f));\n"
     "    s = $fma(s, t, $k(-0.053844694f));\n"
     "    s = $fma(s, t, $k(0.133325279f));\n"
     "    s = $fma(s, t, $k(-0.333333164f));\n"
     "    s = x * $fma(s, t, $k(1.0f));\n"
     "    const $f l = $copysign(1.0f - 2.0f / (near_exp@(2.0f * a) + 1.0f), x);\n"
     "    return $blend(size < 0.55f, s, l);\n"
     "}\n"},
    {"odd_float", "bits_float float_bits", PLAIN,
     "FUNCTION float odd_float(double v) /* to odd: rounded once more, it is what rounding once would give */\n"
     "{\n"
     "    const float f = (float)v;\n"
     "    const uint32_t u = float_bits(f);\n"
     "    if ((double)f == v || v != v || u & 1) return f;\n"
     "    return bits_float(fabs(v) > fabs((double)f) ? u + 1 : u - 1);\n"
     "}\n"},
    {"half_to_float", "bits_float float_bits", PLAIN,
     "FUNCTION $f half_to_float@($h h) /* all in one line of lanes: no branch */\n"
     "{\n"
     "    const $i all = $to_i(h), rest = all & 0x7fff;\n"
     "    const $f small = $to_f(rest) * 0x1p-24f, usual = $bits_float($as_u(rest << 13)) * 0x1p112f;\n"
     "    const $u size = $float_bits($blend(rest < 0x400, small, usual));\n"
     "    return $bits_float($as_u(all & 0x8000) << 16 | size | $blend_u(rest >= 0x7c00, $ku(0x7f800000u), $ku(0u)));\n"
     "}\n"},
    {"float_to_half", "bits_float float_bits", PLAIN,
     "FUNCTION $h float_to_half@($f f) /* to nearest, ties to even */\n"
     "{\n"
     "    const $u u = $float_bits(f);\n"
     "    const $i sign = $as_i(u >> 16 & 0x8000u), size = $as_i(u & 0x7fffffffu);\n"
     "    const $f low = $bits_float($as_u($blend_i(size < 0x38800000, size, $ki(0)))) + 0.5f;\n"
     "    const $i small = $as_i($float_bits(low) - 0x3f000000u);\n"
     "    const $i usual = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;\n"
     "    const $i most = $blend_i(size > 0x7f800000, $ki(0x7e00), $ki(0x7c00));\n"
     "    return $to_h(sign | $blend_i(size >= 0x47800000, most, $blend_i(size < 0x38800000, small, usual)));\n"
     "}\n"},
    {"bfloat_to_float", "bits_float", PLAIN,
     "FUNCTION $f bfloat_to_float@($h h) { return $bits_float($to_u(h) << 16); }\n"},
    {"float_to_bfloat", "float_bits", PLAIN,
     "FUNCTION $h float_to_bfloat@($f f)\n"
     "{\n"
     "    const $u u = $float_bits(f);\n"
     "    return $to_h($blend_u(f != f, u >> 16 | 0x40u, (u + 0x7fffu + (u >> 16 & 1u)) >> 16));\n"
     "}\n"},
    {"small_to_float", "", PLAIN,
     "FUNCTION float small_to_float(int exponent, int fraction, int bias, int rule, uint8_t b) /* as small.h */\n"
     "{\n"
     "    const int sign = 1 << (exponent + fraction), rest = b & (sign - 1), one = 1 << fraction;\n"
     "    const int place = rest >> fraction, part = rest & (one - 1);\n"
     "    if (rule == 1 && rest == sign - 1) return NAN;\n"
     "    if (rule == 2 && b == sign) return NAN;\n"
     "    if (rule == 0 && rest > sign - 1 - one) return part ? NAN : b & sign ? -INFINITY : INFINITY;\n"
     "    const float v = place ? ldexpf((float)(part + one), place - bias - fraction)\n"
     "                          : ldexpf((float)part, 1 - bias - fraction);\n"
     "    return b & sign ? -v : v;\n"
     "}\n"},
    {"float_to_small", "", PLAIN,
     "FUNCTION uint8_t float_to_small(int exponent, int fraction, int bias, int rule, float v) /* ties to even */\n"
     "{\n"
     "    const int sign = 1 << (exponent + fraction), all = sign - 1, least = 1 - bias;\n"
     "    const int most = rule == 0 ? all - (1 << fraction) : rule == 1 ? all - 1 : all; /* finite */\n"
     "    const int minus = signbit(v) ? sign : 0, over = rule == 0 ? most + 1 : rule == 2 ? sign : all;\n"
     "    const float size = fabsf(v);\n"
     "    int power = 0;\n"
     "    if (v != v) return (uint8_t)(rule == 3 ? 0 : rule == 2 ? sign : all | minus);\n"
     "    if (size > ldexpf(1.0f, (1 << exponent) - bias + 1)) return (uint8_t)(rule == 2 ? over : over | minus);\n"
     "    (void)frexpf(size, &power);\n"
     "    const int place = size == 0.0f || power - 1 < least ? least : power - 1;\n"
     "    const int rest = ((place - least) << fraction) + (int)rintf(ldexpf(size, fraction - place));\n"
     "    if (rest > most) return (uint8_t)(rule == 2 ? over : over | minus);\n"
     "    return (uint8_t)(rule == 2 && !rest ? 0 : rest | minus);\n"
     "}\n"},
    {"power_to_float", "", PLAIN,
     "FUNCTION float power_to_float(uint8_t b) { return b == 255 ? NAN : ldexpf(1.0f, b - 127); }\n"},
    {"float_to_power", "", PLAIN,
     "FUNCTION uint8_t float_to_power(float v) /* up, within its limits */\n"
     "{\n"
     "    int power = 0;\n"
     "    const float m = v != v ? v : frexpf(fabsf(v), &power);\n"
     "    const int place = v == 0.0f ? 0 : isinf(v) ? 254 : power - (m == 0.5f) + 127;\n"
     "    return v != v ? 255 : (uint8_t)(place < 0 ? 0 : place > 254 ? 254 : place);\n"
     "}\n"},
    {"small_whole", "", PLAIN,
     "FUNCTION int64_t small_whole(int bits, int is_signed, int64_t v) /* the low ones */\n"
     "{\n"
     "    const uint64_t up = (uint64_t)v << (64 - bits);\n"
     "    return is_signed ? (int64_t)up >> (64 - bits) : (int64_t)(up >> (64 - bits));\n"
     "}\n"},
    {"whole_add", "", PLAIN, /* these wrap: what overflows with a sign may become anything */
     "FUNCTION int64_t whole_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }\n"},
    {"whole_sub", "", PLAIN,
     "FUNCTION int64_t whole_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }\n"},
    {"whole_mul", "", PLAIN,
     "FUNCTION int64_t whole_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }\n"},
    {"whole_div", "", PLAIN,
     "FUNCTION int64_t whole_div(int64_t a, int64_t b)\n"
     "{\n"
     "    return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b - (a % b != 0 && (a < 0) != (b < 0));\n"
     "}\n"},
    {"whole_mod", "", PLAIN,
     "FUNCTION int64_t whole_mod(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : "
     "a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0); }\n"},
    {"whole_rem", "", PLAIN,
     "FUNCTION int64_t whole_rem(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }\n"},
    {"whole_shl", "", PLAIN,
     "FUNCTION int64_t whole_shl(int64_t a, int64_t n) { return n < 0 || n > 63 ? 0 : "
     "(int64_t)((uint64_t)a << n); }\n"},
    {"whole_shr", "", PLAIN,
     "FUNCTION int64_t whole_shr(int64_t a, int64_t n) { return n < 0 || n > 63 ? (a < 0 ? -1 : 0) : a >> n; }\n"},
    {"whole_pow", "", PLAIN,
     "FUNCTION int64_t whole_pow(int64_t a, int64_t n)\n"
     "{\n"
     "    uint64_t y = 1, b = (uint64_t)a;\n"
     "    if (n < 0)\n"
     "        return a == 1 ? 1 : a == -1 ? (n % 2 ? -1 : 1) : 0;\n"
     "    for (int64_t k = n; k > 0; k >>= 1, b *= b)\n"
     "        if (k & 1) y *= b;\n"
     "    return (int64_t)y;\n"
     "}\n"},
    {"threefry", "", PLAIN,
     "FUNCTION int64_t threefry(int64_t key, int64_t counter) /* Threefry-2x32 of 20 rounds */\n"
     "{\n"
     "    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)((uint64_t)key >> 32), k2 = 0x1BD11BDAu ^ k0 ^ k1;\n"
     "    uint32_t x = (uint32_t)counter + k0, y = (uint32_t)((uint64_t)counter >> 32) + k1;\n"
     "    for (uint32_t group = 1; group <= 5; group++) {\n"
     "        for (int round = 0; round < 4; round++) {\n"
     "            const uint32_t by = (group % 2 ? 0x061A0F0Du : 0x18101D11u) >> 8 * round & 31;\n"
     "            x += y;\n"
     "            y = (y << by | y >> (32 - by)) ^ x;\n"
     "        }\n"
     "        const uint32_t first = k0;\n"
     "        k0 = k1; k1 = k2; k2 = first;\n"
     "        x += k0; y += k1 + group;\n"
     "    }\n"
     "    return (int64_t)((uint64_t)y << 32 | x);\n"
     "}\n"},
    {"floor_mod", "", PLAIN,
     "FUNCTION double floor_mod(double a, double b) { const double r = fmod(a, b); "
     "return r == 0 ? copysign(0.0, b) : (r < 0) != (b < 0) ? r + b : r; }\n"},
    {"floor_modf", "", PLAIN,
     "FUNCTION float floor_modf(float a, float b) { const float r = fmodf(a, b); "
     "return r == 0 ? copysignf(0.0f, b) : (r < 0) != (b < 0) ? r + b : r; }\n"},
    {"swizzled", "", PLAIN, /* where element p of a slice lies */
     "FUNCTION int swizzled(int p, int shift, int mask, int piece) { return p ^ (p >> shift & mask) * piece; }\n"},
    {"floor_div", "", PLAIN,
     "FUNCTION double floor_div(double a, double b)\n"
     "{\n"
     "    const double y = a / b, r = fmod(a, b);\n"
     "    const double q = (a - r) / b - (r != 0 && (r < 0) != (b < 0)), whole = floor(q);\n"
     "    return b == 0 ? y : q == 0 ? copysign(0.0, y) : q - whole > 0.5 ? whole + 1 : whole;\n"
     "}\n"},
    {"floor_divf", "", PLAIN,
     "FUNCTION float floor_divf(float a, float b)\n"
     "{\n"
     "    const float y = a / b, r = fmodf(a, b);\n"
     "    const float q = (a - r) / b - (r != 0 && (r < 0) != (b < 0)), whole = floorf(q);\n"
     "    return b == 0 ? y : q == 0 ? copysignf(0.0f, y) : q - whole > 0.5f ? whole + 1 : whole;\n"
     "}\n"},
    {"real_to_whole", "", PLAIN,
     "FUNCTION int64_t real_to_whole(double x, int bits, int is_signed) /* truncates; saturates; NaN gives 0 */\n"
     "{\n"
     "    const double high = ldexp(1, bits - is_signed), low = is_signed ? -high : 0;\n"
     "    if (x != x) return 0;\n"
     "    if (x >= high) return is_signed ? (int64_t)((UINT64_C(1) << (bits - 1)) - 1) "
     ": (int64_t)(UINT64_MAX >> (64 - bits));\n"
     "    if (x <= low) return is_signed ? (int64_t)(UINT64_MAX << (bits - 1)) : 0;\n"
     "    return x >= 0x1p63 ? (int64_t)(uint64_t)x : (int64_t)x;\n"
     "}\n"},
    {"checked", "", FAULTS,
     "FUNCTION int64_t checked(int64_t i, int64_t n, $0) /* a gathered index, checked */\n"
     "{\n"
     "    if (i >= 0 && i < n) return i;\n"
     "    *fault = 1;\n"
     "    return 0;\n"
     "}\n"},
    {0},
};
/* clang-format on */

/* ---- rows by number: of the dialect's vectors, the library's, then those of the dialect in place of none ---- */
enum { TABLES = 4 };
static const function no_vectors[] = {{0}};

static const function *vectors_of(const dialect *d)
{
    return d->vectors ? d->vectors : no_vectors;
}

static void tables(const dialect *d, const function *out[TABLES])
{
    out[0] = vectors_of(d), out[1] = library, out[2] = library_real, out[3] = d->function;
}

static const function *find(const function *table, const char *name, size_t n)
{
    for (; table->name; table++)
        if (strlen(table->name) == n && !memcmp(table->name, name, n))
            return table;
    return NULL;
}

static int rows_of(const function *table)
{
    int n = 0;
    while (table[n].name)
        n++;
    return n;
}

static const function *row_of(const dialect *d, int i) /* of one that is used */
{
    const function *table[TABLES];
    tables(d, table);
    for (int t = 0; t < TABLES; t++) {
        const int n = rows_of(table[t]);
        if (i < n) {
            const function *other = find(d->function, table[t][i].name, strlen(table[t][i].name));
            return other ? other : &table[t][i];
        }
        i -= n;
    }
    return NULL;
}

/* -1: it is in no table; vectors: what these can do counts, and comes first */
static int number_of(const dialect *d, const char *name, size_t n, bool vectors)
{
    const function *table[TABLES];
    tables(d, table);
    for (int t = 0, before = 0; t < TABLES; before += rows_of(table[t++])) {
        const function *q = t || vectors ? find(table[t], name, n) : NULL;
        if (!q)
            continue;
        MUST(before + (q - table[t]) < MAX_FUNCTION);
        return before + (int)(q - table[t]);
    }
    return -1;
}

/* ---- instances: of one value, or of so many elements of a kind ---- */
static const struct {
    const char *name;
    int bytes;
    element mask;
} elements[N_ELEMENT] = {
    [E_F32] = {"f32", 4, E_I32}, [E_F64] = {"f64", 8, E_I64}, [E_I8] = {"i8", 1, E_I8}, [E_I16] = {"i16", 2, E_I16},
    [E_I32] = {"i32", 4, E_I32}, [E_I64] = {"i64", 8, E_I64}, [E_U8] = {"u8", 1, E_I8}, [E_U16] = {"u16", 2, E_I16},
    [E_U32] = {"u32", 4, E_I32}, [E_U64] = {"u64", 8, E_I64},
};
enum { SIZES = 6, INSTANCES = 1 + SIZES * N_ELEMENT }; /* 2, 4, ... 64 elements */

const char *element_name(element e)
{
    return elements[e].name;
}

int element_bytes(element e)
{
    return elements[e].bytes;
}

element element_mask(element e)
{
    return elements[e].mask;
}

static int instance_of(instance l)
{
    int size = 0;
    while (2 << size < l.n)
        size++;
    MUST(l.n == 1 || (2 << size == l.n && size < SIZES));
    return l.n == 1 ? 0 : 1 + (int)l.of * SIZES + size;
}

static instance instance_lanes(int i)
{
    return i ? (instance){(element)((i - 1) / SIZES), 2 << (i - 1) % SIZES} : (instance){E_F32, 1};
}

/* Of vectors: what is of these alone comes first, name_x, then what has one text for all. -1: there is neither */
static int instance_number(const dialect *d, const char *name, size_t n, instance l)
{
    char own[72];
    snprintf(own, sizeof own, "%.*s_x", (int)n, name);
    int i = l.n > 1 ? number_of(d, own, strlen(own), false) : -1;
    i = i < 0 ? number_of(d, name, n, l.n > 1) : i;
    const function *q = i < 0 ? NULL : row_of(d, i);
    if (!q || (l.n == 1 && q->kind == VECTOR))
        return -1;
    return l.n == 1 || q->kind == VECTOR || (q->kind < FAULTS && strchr(q->text, '$')) ? i : -1;
}

static void note(callees *f, const dialect *d, const char *name, size_t n, instance l)
{
    const int i = instance_number(d, name, n, l);
    if (i >= 0)
        f->used[i] |= UINT64_C(1) << instance_of(l);
}

void callees_call(callees *f, const dialect *d, const char *name, size_t n)
{
    note(f, d, name, n, (instance){.n = 1});
}

void callees_lanes(callees *f, const dialect *d, const char *name, instance l)
{
    note(f, d, name, strlen(name), l);
}

bool callees_have(const dialect *d, const char *name, size_t n, instance l)
{
    return instance_number(d, name, n, l) >= 0;
}

static bool in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void callees_form(callees *f, const dialect *d, const char *form, const char *suffix)
{
    char name[64];
    for (size_t n = 0; *form; form++)
        if (*form == '@')
            for (const char *s = suffix; *s && n < sizeof name; s++)
                name[n++] = *s;
        else if (in_name(*form) && n < sizeof name)
            name[n++] = *form;
        else if (n) {
            if (*form == '(' || *form == '<') /* a function, or one that is told numbers first */
                callees_call(f, d, name, n);
            n = 0;
        }
}

void callees_add(callees *f, const callees *more)
{
    for (int i = 0; i < MAX_FUNCTION; i++)
        f->used[i] |= more->used[i];
    f->own = f->own ? f->own : more->own;
}

/* ---- one text for one value and for vectors ---- */
/* What "$name" stands for: of one value; of vectors: an operation of theirs, "": the type, "()": a cast to it */
typedef struct word {
    const char *name, *one;
    element of;
    const char *many;
} word;
static const word words[] = {
    {"f", "float", E_F32, ""},
    {"d", "double", E_F64, ""},
    {"i", "int32_t", E_I32, ""},
    {"u", "uint32_t", E_U32, ""},
    {"I", "int64_t", E_I64, ""},
    {"U", "uint64_t", E_U64, ""},
    {"h", "uint16_t", E_U16, ""},
    {"k", "", E_F32, "splat"}, /* literals among arguments */
    {"k64", "", E_F64, "splat"},
    {"ki", "", E_I32, "splat"},
    {"ku", "", E_U32, "splat"},
    {"fma", "FMA", E_F32, "fma"},
    {"fma64", "FMA64", E_F64, "fma"},
    {"blend", "BLEND", E_F32, "blend"}, /* condition, what is there if it holds, and if not; both are computed */
    {"blend64", "BLEND", E_F64, "blend"},
    {"blend_i", "BLEND", E_I32, "blend"},
    {"blend_u", "BLEND", E_U32, "blend"},
    {"abs", "fabsf", E_F32, "abs"},
    {"abs64", "fabs", E_F64, "abs"},
    {"copysign", "copysignf", E_F32, "copysign"},
    {"copysign64", "copysign", E_F64, "copysign"},
    {"bits_float", "bits_float", E_F32, "()"}, /* the same bits */
    {"float_bits", "float_bits", E_U32, "()"},
    {"bits_double", "bits_double", E_F64, "()"},
    {"double_bits", "double_bits", E_U64, "()"},
    {"as_i", "(int32_t)", E_I32, "()"},
    {"as_u", "(uint32_t)", E_U32, "()"},
    {"as_I", "(int64_t)", E_I64, "()"},
    {"to_f", "(float)", E_F32, "of"}, /* the same number */
    {"to_d", "(double)", E_F64, "of"},
    {"to_i", "(int32_t)", E_I32, "of"},
    {"to_u", "(uint32_t)", E_U32, "of"},
    {"to_h", "(uint16_t)", E_U16, "of"},
};

static const word *word_at(const char *s, size_t *n)
{
    for (*n = 0; in_name(s[*n]);)
        ++*n;
    for (int i = 0; i < COUNT(words); i++)
        if (strlen(words[i].name) == *n && !memcmp(words[i].name, s, *n))
            return &words[i];
    MUST(!"a word of the library");
    return NULL;
}

static void write_word(text *t, const word *w, int n)
{
    const bool cast = *w->many == '(', bare = cast || !*w->many;
    if (n == 1)
        text_add(t, "%s", w->one);
    else
        text_add(t, "%s%sx%d%s%s", cast ? "(" : "", element_name(w->of), n, bare ? "" : "_", cast ? ")" : w->many);
}

static void write_lanes(text *t, const char *s, int lanes)
{
    static const char head[] = "FUNCTION ";
    for (size_t n; *s; s++)
        if (*s == '$' && lanes == 1 && !*word_at(s + 1, &n)->one) { /* a literal as it is */
            s += n + 2, n = strcspn(s, ")");
            text_bytes(t, s, n), s += n;
        } else if (*s == '$')
            write_word(t, word_at(s + 1, &n), lanes), s += n;
        else if (lanes > 1 && !strncmp(s, head, strlen(head)))
            text_add(t, "LANES "), s += strlen(head) - 1;
        else if (*s != '@')
            text_bytes(t, s, 1);
        else if (lanes > 1)
            text_add(t, "_x%d", lanes);
}

static void note_words(callees *f, const dialect *d, const char *s, int n) /* all that they are of n values */
{
    for (size_t length; *s; s++)
        if (*s == '$') {
            const word *w = word_at(s + 1, &length);
            callees_lanes(f, d, *w->many && *w->many != '(' ? w->many : "type", (instance){w->of, n});
            s += length;
        }
}

/* Behind a name in `uses` ! says that it is called for one value, whoever calls; before it "mask.", of masks. */
static void note_uses(callees *all, const dialect *d, const function *q, instance l)
{
    static const char mask[] = "mask.";
    for (const char *s = q->uses; *s; s += strspn(s, " !")) {
        const bool of_mask = !strncmp(s, mask, strlen(mask));
        s += of_mask ? strlen(mask) : 0;
        const size_t n = strcspn(s, " !");
        note(all, d, s, n, s[n] == '!' ? (instance){.n = 1} : of_mask ? (instance){element_mask(l.of), l.n} : l);
        s += n;
    }
    if (l.n > 1 && q->kind != VECTOR)
        note_words(all, d, q->text, l.n);
}

static callees closed(const callees *f, const dialect *d) /* with what those use in turn */
{
    callees all = *f;
    for (int n = MAX_FUNCTION; n-- > 0;)
        for (int i = 0; all.used[n] && i < INSTANCES; i++)
            if (all.used[n] >> i & 1)
                note_uses(&all, d, row_of(d, n), instance_lanes(i));
    return all;
}

bool callees_wide(const callees *f, const dialect *d)
{
    const callees all = closed(f, d);
    bool wide = false;
    for (int n = 0; n < MAX_FUNCTION; n++)
        for (int i = 1; all.used[n] && i < INSTANCES; i++)
            wide = wide || (all.used[n] >> i & 1 && element_bytes(instance_lanes(i).of) == 8);
    return wide;
}

bool callees_fault(const callees *f, const dialect *d)
{
    bool fault = false;
    for (int i = 0; i < MAX_FUNCTION; i++)
        fault = fault || (f->used[i] && row_of(d, i)->kind == FAULTS);
    return fault;
}

typedef void visit(const dialect *d, const function *q, instance l, void *user);

/* Of rows from `first` to before `end` */
static void each_used(const dialect *d, const callees *f, const int range[2], visit *to, void *user)
{
    const callees all = closed(f, d);
    for (int n = range[0]; n < range[1]; n++)
        for (int i = 0; all.used[n] && i < INSTANCES; i++)
            if (all.used[n] >> i & 1)
                to(d, row_of(d, n), instance_lanes(i), user);
}

typedef struct naming {
    void (*each)(void *user, const char *name);
    void *user;
} naming;

static void tell_name(const dialect *d, const function *q, instance l, void *user)
{
    const naming *to = user;
    ENDED_BY(text_free) text t = {0};
    (void)d;
    text_add(&t, l.n == 1 ? "%s" : q->kind == VECTOR ? "%s%d" : "%s_x%d", q->name, l.n);
    to->each(to->user, text_str(&t));
}

void library_names(const dialect *d, const callees *f, void (*each)(void *user, const char *name), void *user)
{
    each_used(d, f, (int[]){rows_of(vectors_of(d)), MAX_FUNCTION}, tell_name, &(naming){each, user});
}

static void write_one(const dialect *d, const function *q, instance l, void *user)
{
    text *t = user;
    if (q->kind >= PATTERN)
        d->writer[q->kind - PATTERN](t, q);
    else if (q->kind == VECTOR)
        d->vector_writer(t, q, l);
    else if (q->kind == FAULTS)
        form_write(t, NULL, d, q->text, &d->fault_parameter);
    else if (l.n == 1)
        write_lanes(t, q->text, 1);
    else {
        ENDED_BY(text_free) text own = {0};
        write_lanes(&own, q->text, l.n);
        d->vector_writer(t, &(function){q->name, q->uses, q->kind, text_str(&own)}, l);
    }
}

void library_write(text *t, const dialect *d, const callees *f)
{
    each_used(d, f, (int[]){rows_of(vectors_of(d)), MAX_FUNCTION}, write_one, t);
}

void library_vectors(text *t, const dialect *d, const callees *f)
{
    each_used(d, f, (int[]){0, rows_of(vectors_of(d))}, write_one, t);
}
