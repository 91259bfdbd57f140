/* library_real.c - exponentials, logarithms, powers and trigonometric functions that a compiler turns into vector code:
 * no branch, no table, no call. Errors are in units in the last place (ULP), over all numbers of 4 bytes, and over many
 * drawn by exponent of 8 (tests/backends/codegen/real_test.c).
 *
 * Polynomials are minimax fits of ours (Remez' exchange in 200 bits, then rounded). Sines, cosines, tangents and powers
 * of f32 are computed in f64: few terms do, and one rounding is all that is lost. Those named near_ are for arguments
 * that are not large; what the others leave when multiples of pi are taken away, a dialect knows. */
#include "backends/codegen/dialect.h"

/* A line is a line of the program. */
/* clang-format off */
const function library_real[] = { /* each uses those of the library and those above it */
    {"fast_expm1", "bits_float float_bits", PLAIN,
     "FUNCTION $f fast_expm1@($f x) /* 1.3 ULP; nearer to 0 than 0.5 without a power of two */\n"
     "{\n"
     "    const $f size = $abs(x), c = $blend(x < -18.0f, $k(-18.0f), $blend(x > 89.0f, $k(89.0f), x));\n"
     "    const $f step = $fma($blend(size < 0.5f, $k(0.0f), c), $k(1.44269504f), $k(12582912.0f));\n"
     "    const $f n = step - 12582912.0f;\n"
     "    $f r = $fma(n, $k(-0.693359375f), c);\n"
     "    r = $fma(n, $k(2.12194440e-4f), r);\n"
     "    $f p = $fma($k(0.000200241688f), r, $k(0.00139848667f));\n"
     "    p = $fma(p, r, $k(0.00833299756f));\n"
     "    p = $fma(p, r, $k(0.0416658074f));\n"
     "    p = $fma(p, r, $k(0.166666687f));\n"
     "    p = $fma(p, r, $k(0.5f));\n"
     "    p = $fma(r * r, p, r);\n"
     "    const $f half = $bits_float(($float_bits(step) - 0x4b400000u + 126u) << 23); /* 2^n / 2 */\n"
     "    const $f y = $fma(half, p, half - 0.5f);\n"
     "    return $copysign($blend(size < 0.5f, p, y + y), x);\n"
     "}\n"},
    {"log_sum", "", PLAIN,
     "FUNCTION $f log_sum@($f k, $f f) /* k ln 2 + log(1 + f), -0.293 <= f <= 0.415 */\n"
     "{\n"
     "    const $f ff = f * f;\n"
     "    $f p = $fma($k(-0.0789235458f), f, $k(0.128894106f));\n"
     "    p = $fma(p, f, $k(-0.131274715f));\n"
     "    p = $fma(p, f, $k(0.141810462f));\n"
     "    p = $fma(p, f, $k(-0.166243404f));\n"
     "    p = $fma(p, f, $k(0.20002313f));\n"
     "    p = $fma(p, f, $k(-0.250008166f));\n"
     "    p = $fma(p, f, $k(0.333333164f));\n"
     "    const $f low = $fma(ff * f, p, $fma(k, $k(3.19461833e-5f), -0.5f * ff));\n"
     "    return $fma(k, $k(0.693115234f), f + low);\n"
     "}\n"},
    {"fast_log", "bits_float float_bits log_sum", PLAIN,
     "FUNCTION $f fast_log@($f x) /* 0.9 ULP */\n"
     "{\n"
     "    const $i tiny = x < 0x1p-126f;\n"
     "    const $u u = $float_bits($blend(tiny, x * 0x1p23f, x)) - 0x3f3504f3u; /* over the root of 1/2 */\n"
     "    const $f k = $to_f($as_i(u) >> 23), f = $bits_float((u & 0x7fffffu) + 0x3f3504f3u) - 1.0f;\n"
     "    const $f y = log_sum@($blend(tiny, k - 23.0f, k), f), up = $blend(x < INFINITY, y, x);\n"
     "    return $blend(x > 0.0f, up, $blend(x == 0.0f, $k(-INFINITY), $k(NAN)));\n"
     "}\n"},
    {"fast_log1p", "bits_float float_bits log_sum", PLAIN,
     "FUNCTION $f fast_log1p@($f x) /* 1.5 ULP */\n"
     "{\n"
     "    const $f one = 1.0f + x;\n"
     "    const $u u = $float_bits(one) - 0x3f3504f3u;\n"
     "    const $i k = $as_i(u) >> 23;\n"
     "    const $f scale = $bits_float($as_u(127 - k) << 23), near = $fma(x, scale, scale - 1.0f);\n"
     "    const $f far = $bits_float((u & 0x7fffffu) + 0x3f3504f3u) - 1.0f, f = $blend(k > 24, far, near);\n"
     "    const $f y = log_sum@($to_f(k), f), up = $blend(x < INFINITY, y, x);\n"
     "    return $copysign($blend(x > -1.0f, up, $blend(x == -1.0f, $k(-INFINITY), $k(NAN))), x);\n"
     "}\n"},
    {"fast_pow", "bits_double double_bits", PLAIN,
     "FUNCTION $f fast_pow@($f x, $f y) /* 0.6 ULP: 2^(y log2 |x|) in f64 */\n"
     "{\n"
     "    const $d size = $abs64($to_d(x));\n"
     "    const $U u = $double_bits(size) + 0x00095f619980c433u; /* over the root of 1/2, times 2^1024 */\n"
     "    const $d k = $bits_double((u >> 52) | 0x4330000000000000u) - 4503599627371519.0;\n"
     "    const $d m = $bits_double((u & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu);\n"
     "    const $d s = (m - 1.0) / (m + 1.0), z = s * s;\n"
     "    $d l = $fma64($k64(0.3407596765934145), z, $k64(0.41167111978701532));\n"
     "    l = $fma64(l, z, $k64(0.57708361174847989));\n"
     "    l = $fma64(l, z, $k64(0.96179667319975126));\n"
     "    l = $fma64(l, z, $k64(2.8853900817902027));\n"
     "    l = $fma64(s, l, k);\n"
     "    l = $blend64(size == 0.0, $k64(-INFINITY), $blend64(size < INFINITY, l, size));\n"
     "    const $d e = l * $to_d(y), c = $blend64(e < -200.0, $k64(-200.0), $blend64(e > 200.0, $k64(200.0), e));\n"
     "    const $d step = c + 6755399441055744.0, r = c - (step - 6755399441055744.0);\n"
     "    $d p = $fma64($k64(0.00015446979654957694), r, $k64(0.0013401543964744926));\n"
     "    p = $fma64(p, r, $k64(0.0096180962399027431));\n"
     "    p = $fma64(p, r, $k64(0.055503242698449383));\n"
     "    p = $fma64(p, r, $k64(0.24022650729827572));\n"
     "    p = $fma64(p, r, $k64(0.69314720810922159));\n"
     "    p = $fma64(p, r, $k64(1.0)) * $bits_double(($double_bits(step) + 1023u) << 52);\n"
     "    const $d size_y = $abs64($to_d(y)); /* larger ones are even: */\n"
     "    const $d some = $blend64(size_y < 0x1p24, size_y, $k64(0.0));\n"
     "    const $d near = some + 4503599627370496.0; /* 2^52: its last bit is that of the nearest whole number */\n"
     "    const $i whole = $to_i(near - 4503599627370496.0 == some);\n"
     "    const $f q = $to_f(p), odd = $blend($to_i($double_bits(near) & 1u) != 0, $copysign(q, x), q);\n"
     "    const $f fits = $blend(whole, odd, $k(NAN)), even = $blend(whole, odd, q);\n"
     "    const $f left = $blend((x < 0.0f) & (x > -INFINITY), fits, even);\n"
     "    const $i one = (x == 1.0f) | (y == 0.0f) | ((x == -1.0f) & ($abs(y) == INFINITY));\n"
     "    return $blend(one, $k(1.0f), left);\n"
     "}\n"},
    {"sin_near", "", PLAIN,
     "FUNCTION $d sin_near@($d r) /* to 6e-9 of it, up to pi/2 */\n"
     "{\n"
     "    const $d z = r * r;\n"
     "    $d p = $fma64($k64(2.60578916951351e-06), z, $k64(-0.00019809606556585112));\n"
     "    p = $fma64(p, z, $k64(0.0083330662928134142));\n"
     "    p = $fma64(p, z, $k64(-0.16666659552102225));\n"
     "    return r * $fma64(p, z, $k64(1.0));\n"
     "}\n"},
    {"near_sin", "bits_double double_bits sin_near", PLAIN,
     "FUNCTION $f near_sin@($f x) /* 0.6 ULP below 3e7: pi is 0x1.921fb54p1 + 0x1.10b4611a62633p-29 */\n"
     "{\n"
     "    const $d v = $to_d(x), step = $fma64(v, $k64(0.31830988618379067), $k64(6755399441055744.0));\n"
     "    const $d n = step - 6755399441055744.0;\n"
     "    const $d r = $fma64(n, $k64(-1.9841871593610809e-09), $fma64(n, $k64(-3.1415926516056061), v));\n"
     "    return $to_f($bits_double($double_bits(sin_near@(r)) ^ $double_bits(step) << 63));\n"
     "}\n"},
    {"near_cos", "bits_double double_bits sin_near", PLAIN,
     "FUNCTION $f near_cos@($f x) /* the same by the sine of what is beyond n + 1/2 times pi */\n"
     "{\n"
     "    const $d v = $to_d(x), step = $fma64(v, $k64(0.31830988618379067), $k64(-0.5)) + 6755399441055744.0;\n"
     "    const $d n = (step - 6755399441055744.0) + 0.5;\n"
     "    const $d r = $fma64(n, $k64(-1.9841871593610809e-09), $fma64(n, $k64(-3.1415926516056061), v));\n"
     "    return $to_f($bits_double($double_bits(sin_near@(r)) ^ ($double_bits(step) + 1u) << 63));\n"
     "}\n"},
    {"near_tan", "double_bits", PLAIN,
     "FUNCTION $f near_tan@($f x) /* 0.7 ULP below 3e7 */\n"
     "{\n"
     "    const $d v = $to_d(x), step = $fma64(v, $k64(0.63661977236758134), $k64(6755399441055744.0));\n"
     "    const $d n = step - 6755399441055744.0;\n"
     "    const $d r = $fma64(n, $k64(-9.9209357968054043e-10), $fma64(n, $k64(-1.570796325802803), v)), z = r * r;\n"
     "    const $d s0 = $fma64($k64(-0.00019514098306567732), z, $k64(0.008332155154622654));\n"
     "    const $d s = r * $fma64($fma64(s0, z, $k64(-0.16666654591710958)), z, $k64(1.0));\n"
     "    const $d c0 = $fma64($k64(2.4386416326171373e-05), z, $k64(-0.001388672184739389));\n"
     "    const $d c1 = $fma64($fma64(c0, z, $k64(0.041666622035666873)), z, $k64(-0.49999999714165649));\n"
     "    const $d c = $fma64(c1, z, $k64(1.0));\n"
     "    const $I odd = $as_I(0 - ($double_bits(step) & 1u));\n"
     "    return $to_f($blend64(odd, -c, s) / $blend64(odd, s, c));\n"
     "}\n"},
    {"exp_rest64", "", PLAIN,
     "FUNCTION $d exp_rest64@($d x, $d n) /* e^x over 2^n, n being x / ln 2 to the nearest whole number */\n"
     "{\n"
     "    const $d high = $fma64(n, $k64(-0.69314718055920821), x);\n"
     "    const $d r = $fma64(n, $k64(-7.3710025651677989e-13), high);\n"
     "    $d p = $fma64($k64(2.5123023291141132e-08), r, $k64(2.7631437828833496e-07));\n"
     "    p = $fma64(p, r, $k64(2.7557201294800909e-06));\n"
     "    p = $fma64(p, r, $k64(2.4801489537667458e-05));\n"
     "    p = $fma64(p, r, $k64(0.0001984126993271178));\n"
     "    p = $fma64(p, r, $k64(0.001388888894736475));\n"
     "    p = $fma64(p, r, $k64(0.0083333333333008124));\n"
     "    p = $fma64(p, r, $k64(0.041666666666514286));\n"
     "    p = $fma64(p, r, $k64(0.16666666666666707));\n"
     "    p = $fma64(p, r, $k64(0.50000000000000133));\n"
     "    return 1.0 + $fma64(r * r, p, r);\n"
     "}\n"},
    {"near_exp64", "bits_double double_bits exp_rest64", PLAIN,
     "FUNCTION $d near_exp64@($d x) /* for |x| < 700 */\n"
     "{\n"
     "    const $d step = $fma64(x, $k64(1.4426950408889634), $k64(6755399441055744.0));\n"
     "    return exp_rest64@(x, step - 6755399441055744.0) * $bits_double(($double_bits(step) + 1023u) << 52);\n"
     "}\n"},
    {"fast_exp64", "bits_double double_bits exp_rest64", PLAIN,
     "FUNCTION $d fast_exp64@($d x) /* 1.1 ULP; in two factors of which each is normal */\n"
     "{\n"
     "    const $d c = $blend64(x < -746.0, $k64(-746.0), $blend64(x > 710.0, $k64(710.0), x));\n"
     "    const $d step = $fma64(c, $k64(1.4426950408889634), $k64(6755399441055744.0));\n"
     "    const $d n = step - 6755399441055744.0;\n"
     "    const $U power = $double_bits(step) - 0x4337fffffffff000u, half = power >> 1; /* n + 4096 */\n"
     "    return exp_rest64@(c, n) * $bits_double((half - 1025u) << 52) * $bits_double((power - half - 1025u) << 52);\n"
     "}\n"},
    {"fast_log64", "bits_double double_bits", PLAIN,
     "FUNCTION $d fast_log64@($d x) /* 0.8 ULP */\n"
     "{\n"
     "    const $I tiny = x < 0x1p-1022;\n"
     "    const $U u = $double_bits($blend64(tiny, x * 0x1p54, x)) + 0x00095f619980c433u; /* as in fast_pow */\n"
     "    const $d whole = $bits_double((u >> 52) | 0x4330000000000000u) - 4503599627371519.0;\n"
     "    const $d k = $blend64(tiny, whole - 54.0, whole);\n"
     "    const $d f = $bits_double((u & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;\n"
     "    const $d s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;\n"
     "    $d p = $fma64($k64(0.14798273724716948), z, $k64(0.15313830977163675));\n"
     "    p = $fma64(p, z, $k64(0.18183572389704733));\n"
     "    p = $fma64(p, z, $k64(0.22222198428534998));\n"
     "    p = $fma64(p, z, $k64(0.28571428743688526));\n"
     "    p = $fma64(p, z, $k64(0.39999999999409352));\n"
     "    p = $fma64(p, z, $k64(0.66666666666667351));\n"
     "    /* log(1 + f) = 2 s + s z p(z), and 2 s = f - s f */\n"
     "    const $d low = $fma64(k, $k64(7.3710025651677989e-13), s * $fma64(z, p, half)) - half;\n"
     "    const $d y = $fma64(k, $k64(0.69314718055920821), f + low), up = $blend64(x < INFINITY, y, x);\n"
     "    return $blend64(x > 0.0, up, $blend64(x == 0.0, $k64(-INFINITY), $k64(NAN)));\n"
     "}\n"},
    {"fast_pow64", "fast_exp64 fast_log64", PLAIN,
     "FUNCTION double fast_pow64(double x, double y) /* 1 + |y log x| ULP */\n"
     "{\n"
     "    const double size = fabs(x), r = fast_exp64(y * fast_log64(size));\n"
     "    const int whole = floor(y) == y;\n"
     "    if (x == 1.0 || y == 0.0 || (size == 1.0 && fabs(y) == INFINITY)) return 1.0;\n"
     "    if (x < 0.0 && !whole && size < INFINITY) return NAN;\n"
     "    return fabs(fmod(y, 2.0)) == 1.0 ? copysign(r, x) : r;\n"
     "}\n"},
    {"fast_tanh64", "near_exp64", PLAIN,
     "FUNCTION $d fast_tanh64@($d x) /* 1.5 ULP */\n"
     "{\n"
     "    const $d size = $abs64(x), a = $blend64(20.0 < size, $k64(20.0), size), t = x * x;\n"
     "    $d p = $fma64($k64(5.0970859234011525e-05), t, $k64(-0.00021023529132844633));\n"
     "    p = $fma64(p, t, $k64(0.00057909996088795082));\n"
     "    p = $fma64(p, t, $k64(-0.0014532057341403799));\n"
     "    p = $fma64(p, t, $k64(0.0035917177915360905));\n"
     "    p = $fma64(p, t, $k64(-0.0088631943118978283));\n"
     "    p = $fma64(p, t, $k64(0.021869485964152689));\n"
     "    p = $fma64(p, t, $k64(-0.053968253875806872));\n"
     "    p = $fma64(p, t, $k64(0.13333333333168559));\n"
     "    p = $fma64(p, t, $k64(-0.33333333333332316));\n"
     "    const $d s = x * $fma64(p, t, $k64(1.0)), l = $copysign64(1.0 - 2.0 / (near_exp64@(2.0 * a) + 1.0), x);\n"
     "    return $blend64(size < 0.55, s, l);\n"
     "}\n"},
    {"fast_erf64", "near_exp64", PLAIN,
     "FUNCTION $d fast_erf64@($d x) /* 1.3 ULP: from 1 on by the logarithm of erfc */\n"
     "{\n"
     "    const $d size = $abs64(x), a = $blend64(5.93 < size, $k64(5.93), size), t = x * x;\n"
     "    $d s = $fma64($k64(-7.7723877359934419e-10), t, $k64(1.3707236843983259e-08));\n"
     "    s = $fma64(s, t, $k64(-1.6205460510319363e-07));\n"
     "    s = $fma64(s, t, $k64(1.6447021867950793e-06));\n"
     "    s = $fma64(s, t, $k64(-1.4924703560923064e-05));\n"
     "    s = $fma64(s, t, $k64(0.00012055293130436901));\n"
     "    s = $fma64(s, t, $k64(-0.00085483259147033639));\n"
     "    s = $fma64(s, t, $k64(0.0052239776058211184));\n"
     "    s = $fma64(s, t, $k64(-0.026866170643076261));\n"
     "    s = $fma64(s, t, $k64(0.11283791670943971));\n"
     "    s = $fma64(s, t, $k64(-0.37612638903183515));\n"
     "    s = $fma64(s, t, $k64(0.12837916709551256));\n"
     "    $d l = $fma64($k64(1.748204324807947e-11), a, $k64(-6.4390401922110723e-10));\n"
     "    l = $fma64(l, a, $k64(1.0773351081945725e-08));\n"
     "    l = $fma64(l, a, $k64(-1.0691237202309931e-07));\n"
     "    l = $fma64(l, a, $k64(6.7872171042460876e-07));\n"
     "    l = $fma64(l, a, $k64(-2.627696834974428e-06));\n"
     "    l = $fma64(l, a, $k64(3.4402834360228512e-06));\n"
     "    l = $fma64(l, a, $k64(2.8490823215604557e-05));\n"
     "    l = $fma64(l, a, $k64(-0.00023175029587434721));\n"
     "    l = $fma64(l, a, $k64(0.00092186262507058683));\n"
     "    l = $fma64(l, a, $k64(-0.0021013691375969174));\n"
     "    l = $fma64(l, a, $k64(0.00058675736488858086));\n"
     "    l = $fma64(l, a, $k64(0.018863278445693365));\n"
     "    l = $fma64(l, a, $k64(-0.10263645129420196));\n"
     "    l = $fma64(l, a, $k64(-0.6366680469756465));\n"
     "    l = $fma64(l, a, $k64(-1.1283686000168398));\n"
     "    l = $fma64(l, a, $k64(-1.0760148255462467e-06));\n"
     "    l = $copysign64(1.0 - near_exp64@(l), x);\n"
     "    return $blend64(size < 1.0, 0.125 * $fma64(8.0 * x, s, 8.0 * x), l);\n"
     "}\n"},
    {"turned64", "bits_double double_bits", PLAIN,
     "/* sin(r + low + turns pi/2), |r| <= pi/4; 1.4 ULP */\n"
     "FUNCTION $d turned64@($d r, $d low, $U turns)\n"
     "{\n"
     "    const $d z = r * r;\n"
     "    $d s = $fma64($k64(1.5896021071785302e-10), z, $k64(-2.5050745170648623e-08));\n"
     "    s = $fma64(s, z, $k64(2.7557313612107658e-06));\n"
     "    s = $fma64(s, z, $k64(-0.00019841269829586671));\n"
     "    s = $fma64(s, z, $k64(0.0083333333333221495));\n"
     "    s = $fma64(s, z, $k64(-0.1666666666666663));\n"
     "    s = r + $fma64(r * z, s, low);\n"
     "    $d c = $fma64($k64(-1.1359117368143815e-11), z, $k64(2.0875713363864824e-09));\n"
     "    c = $fma64(c, z, $k64(-2.7557314282064781e-07));\n"
     "    c = $fma64(c, z, $k64(2.4801587289248739e-05));\n"
     "    c = $fma64(c, z, $k64(-0.0013888888888873767));\n"
     "    c = $fma64(c, z, $k64(0.041666666666666595));\n"
     "    c = 1.0 + $fma64(z, $fma64(c, z, $k64(-0.5)), -(r * low));\n"
     "    const $U odd = 0 - (turns & 1u); /* no comparison of whole numbers, which SSE2 does not have */\n"
     "    const $d y = $bits_double(($double_bits(c) & odd) | ($double_bits(s) & ~odd));\n"
     "    return $bits_double($double_bits(y) ^ turns >> 1 << 63);\n"
     "}\n"},
    {"near_turned64", "double_bits turned64", PLAIN,
     "/* sin(x + turns pi/2) below 1e5, where n pi/2 is exact but for its last part of three */\n"
     "FUNCTION $d near_turned64@($d x, uint64_t turns)\n"
     "{\n"
     "    const $d step = $fma64(x, $k64(0.63661977236758134), $k64(6755399441055744.0));\n"
     "    const $d n = step - 6755399441055744.0;\n"
     "    const $d a = $fma64(n, $k64(-1.5707963267923333), x), b = n * 2.5633441515839558e-12, h = a - b;\n"
     "    const $d c = n * 1.0562999066987428e-23, r = h - c;\n"
     "    const $d y = turned64@(r, ((h - r) - c) + ((a - h) - b), $double_bits(step) + turns);\n"
     "    return turns ? y : $blend64(x != 0.0, y, x);\n"
     "}\n"},
    {0},
};

/* of f32, then of f64 */
const spelling library_spelled[] = {
    {"pow", false, "fast_pow64($0, $1)"}, /* C's is better */
    {"exp", true, "fast_exp($0)"},
    {"expm1", true, "fast_expm1($0)"},
    {"log", true, "fast_log($0)"},
    {"log1p", true, "fast_log1p($0)"},
    {"pow", true, "fast_pow($0, $1)"},
    {"tanh", true, "fast_tanh($0)"},
    {"erf", true, "fast_erf($0)"},
    {"sin", true, "fast_sin($0)"},
    {"cos", true, "fast_cos($0)"},
    {"tan", true, "fast_tan($0)"},
    {"max", true, "fast_max($0, $1)"},
    {"min", true, "fast_min($0, $1)"},
    {"exp", false, "fast_exp64($0)"},
    {"log", false, "fast_log64($0)"},
    {"tanh", false, "fast_tanh64($0)"},
    {"erf", false, "fast_erf64($0)"},
    {"sin", false, "fast_sin64($0)"},
    {"cos", false, "fast_cos64($0)"},
    {0},
};
/* clang-format on */
