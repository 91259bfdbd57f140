/* fn.c - the table of scalar functions. Adding one is adding a row: interpreter, constant folding, generated code,
 * derivative, printing and cost follow. Reals are computed in double here; integers and truth values in int64_t,
 * wrapped by the caller. */
#include "graph/base/random.h"
#include "graph/ir/expr.h"

#include <math.h>
#include <string.h>

/* A row is a line. r_: reals; w_: whole numbers; n_: natural ones, of u64 */
/* clang-format off */
static uint64_t u(int64_t v) { return (uint64_t)v; }

static double r_add(const double *x) { return x[0] + x[1]; }
static double r_sub(const double *x) { return x[0] - x[1]; }
static double r_mul(const double *x) { return x[0] * x[1]; }
static double r_div(const double *x) { return x[0] / x[1]; }
static double r_same(const double *x) { return x[0]; }
static double r_neg(const double *x) { return -x[0]; }
static double r_abs(const double *x) { return fabs(x[0]); }
static double r_max(const double *x) { return x[0] >= x[1] || x[0] != x[0] ? x[0] : x[1]; }
static double r_min(const double *x) { return x[0] <= x[1] || x[0] != x[0] ? x[0] : x[1]; }
static double r_pow(const double *x) { return pow(x[0], x[1]); }
static double r_exp(const double *x) { return exp(x[0]); }
static double r_expm1(const double *x) { return expm1(x[0]); }
static double r_log(const double *x) { return log(x[0]); }
static double r_log1p(const double *x) { return log1p(x[0]); }
static double r_sqrt(const double *x) { return sqrt(x[0]); }
static double r_sin(const double *x) { return sin(x[0]); }
static double r_cos(const double *x) { return cos(x[0]); }
static double r_tan(const double *x) { return tan(x[0]); }
static double r_asin(const double *x) { return asin(x[0]); }
static double r_acos(const double *x) { return acos(x[0]); }
static double r_atan(const double *x) { return atan(x[0]); }
static double r_atan2(const double *x) { return atan2(x[0], x[1]); }
static double r_sinh(const double *x) { return sinh(x[0]); }
static double r_cosh(const double *x) { return cosh(x[0]); }
static double r_tanh(const double *x) { return tanh(x[0]); }
static double r_asinh(const double *x) { return asinh(x[0]); }
static double r_acosh(const double *x) { return acosh(x[0]); }
static double r_atanh(const double *x) { return atanh(x[0]); }
static double r_erf(const double *x) { return erf(x[0]); }
static double r_floor(const double *x) { return floor(x[0]); }
static double r_ceil(const double *x) { return ceil(x[0]); }
static double r_round(const double *x) { return nearbyint(x[0]); }
static double r_trunc(const double *x) { return trunc(x[0]); }
static double r_sign(const double *x) { return x[0] > 0 ? 1 : x[0] < 0 ? -1 : x[0] == 0 ? 0 : x[0]; }
static double r_fmod(const double *x) { return fmod(x[0], x[1]); }
static double r_isnan(const double *x) { return x[0] != x[0]; }
static double r_isinf(const double *x) { return isinf(x[0]) != 0; }
static double r_lt(const double *x) { return x[0] < x[1]; }
static double r_le(const double *x) { return x[0] <= x[1]; }
static double r_eq(const double *x) { return x[0] == x[1]; }
static double r_ne(const double *x) { return x[0] != x[1]; }
static double r_select(const double *x) { return x[0] != 0 ? x[1] : x[2]; }
static double r_mod(const double *x) /* numpy: the sign of the divisor */
{
    double r = fmod(x[0], x[1]);
    return r == 0 ? copysign(0, x[1]) : (r < 0) != (x[1] < 0) ? r + x[1] : r;
}
static double r_floordiv(const double *x) /* numpy: by the remainder; what rounding leaves beside a whole goes */
{
    const double y = x[0] / x[1], r = fmod(x[0], x[1]);
    const double q = (x[0] - r) / x[1] - (r != 0 && (r < 0) != (x[1] < 0)), whole = floor(q);
    return x[1] == 0 ? y : q == 0 ? copysign(0, y) : q - whole > 0.5 ? whole + 1 : whole;
}

static int64_t w_add(const int64_t *x) { return (int64_t)(u(x[0]) + u(x[1])); }
static int64_t w_sub(const int64_t *x) { return (int64_t)(u(x[0]) - u(x[1])); }
static int64_t w_mul(const int64_t *x) { return (int64_t)(u(x[0]) * u(x[1])); }
static int64_t w_neg(const int64_t *x) { return (int64_t)-u(x[0]); }
static int64_t w_abs(const int64_t *x) { return x[0] < 0 ? (int64_t)-u(x[0]) : x[0]; }
static int64_t w_max(const int64_t *x) { return x[0] > x[1] ? x[0] : x[1]; }
static int64_t w_min(const int64_t *x) { return x[0] < x[1] ? x[0] : x[1]; }
static int64_t w_floordiv(const int64_t *x)
{
    const bool down = x[1] != 0 && x[1] != -1 && x[0] % x[1] != 0 && (x[0] < 0) != (x[1] < 0);
    return x[1] == 0 ? 0 : x[1] == -1 ? (int64_t)-u(x[0]) : x[0] / x[1] - down;
}
static int64_t w_mod(const int64_t *x)
{
    const int64_t r = x[1] == 0 || x[1] == -1 ? 0 : x[0] % x[1];
    return r != 0 && (x[0] < 0) != (x[1] < 0) ? r + x[1] : r;
}
static int64_t w_fmod(const int64_t *x) { return x[1] == 0 || x[1] == -1 ? 0 : x[0] % x[1]; }
static int64_t w_sign(const int64_t *x) { return (x[0] > 0) - (x[0] < 0); }
static int64_t w_same(const int64_t *x) { return x[0]; }
static int64_t w_no(const int64_t *x) { return (void)x, 0; }
static int64_t w_lt(const int64_t *x) { return x[0] < x[1]; }
static int64_t w_le(const int64_t *x) { return x[0] <= x[1]; }
static int64_t w_eq(const int64_t *x) { return x[0] == x[1]; }
static int64_t w_ne(const int64_t *x) { return x[0] != x[1]; }
static int64_t w_and(const int64_t *x) { return x[0] && x[1]; }
static int64_t w_or(const int64_t *x) { return x[0] || x[1]; }
static int64_t w_not(const int64_t *x) { return !x[0]; }
static int64_t w_bitand(const int64_t *x) { return x[0] & x[1]; }
static int64_t w_bitor(const int64_t *x) { return x[0] | x[1]; }
static int64_t w_bitxor(const int64_t *x) { return x[0] ^ x[1]; }
static int64_t w_bitnot(const int64_t *x) { return ~x[0]; }
static int64_t w_shl(const int64_t *x) { return x[1] < 0 || x[1] > 63 ? 0 : (int64_t)(u(x[0]) << x[1]); }
static int64_t w_shr(const int64_t *x) { return x[1] < 0 || x[1] > 63 ? (x[0] < 0 ? -1 : 0) : x[0] >> x[1]; }
static int64_t w_threefry(const int64_t *x) { return (int64_t)random_bits(u(x[0]), u(x[1])); }
static int64_t w_select(const int64_t *x) { return x[0] ? x[1] : x[2]; }
static int64_t n_max(const int64_t *x) { return u(x[0]) > u(x[1]) ? x[0] : x[1]; }
static int64_t n_min(const int64_t *x) { return u(x[0]) < u(x[1]) ? x[0] : x[1]; }
static int64_t n_floordiv(const int64_t *x) { return (int64_t)(u(x[1]) == 0 ? 0 : u(x[0]) / u(x[1])); }
static int64_t n_mod(const int64_t *x) { return (int64_t)(u(x[1]) == 0 ? 0 : u(x[0]) % u(x[1])); }
static int64_t n_lt(const int64_t *x) { return u(x[0]) < u(x[1]); }
static int64_t n_le(const int64_t *x) { return u(x[0]) <= u(x[1]); }
static int64_t n_sign(const int64_t *x) { return x[0] != 0; }
/* numpy refuses negative exponents; here the fraction goes, and 0 keeps it total */
static int64_t w_pow(const int64_t *x)
{
    uint64_t y = 1, b = (uint64_t)x[0];
    if (x[1] < 0)
        return x[0] == 1 ? 1 : x[0] == -1 ? (x[1] % 2 ? -1 : 1) : 0;
    for (int64_t n = x[1]; n > 0; n >>= 1, b *= b)
        if (n & 1) y *= b;
    return (int64_t)y;
}

/* Ties of max and min give the whole derivative to the second argument, so that relu = max(a, 0) has derivative 0
 * at 0. */
static const fn table[] = {
    /* name, arity, result, real, whole, C for reals, C for integers,
     * derivatives, unit, cost, steps, monotone, of u64, C for u64 */
    {"add", 2, R_SAME, r_add, w_add, "($0 + $1)", "whole_add($0, $1)", {"1", "1"}, 0, 1, 1, 1, NULL, NULL},
    {"sub", 2, R_SAME, r_sub, w_sub, "($0 - $1)", "whole_sub($0, $1)", {"1", "-1"}, NAN, 1, 1, 1, NULL, NULL},
    {"mul", 2, R_SAME, r_mul, w_mul, "($0 * $1)", "whole_mul($0, $1)", {"b", "a"}, 1, 1, 1, 1, NULL, NULL},
    {"div", 2, R_SAME, r_div, NULL, "($0 / $1)", NULL, {"1 / b", "-y / b"}, NAN, 1, 8, 2, NULL, NULL},
    {"neg", 1, R_SAME, r_neg, w_neg, "(-$0)", "whole_sub(0, $0)", {"-1"}, NAN, 1, 1, 1, NULL, NULL},
    {"abs", 1, R_SAME, r_abs, w_abs, "fabs@($0)", "($0 < 0 ? whole_sub(0, $0) : $0)",
     {"sign(a)"}, NAN, 1, 1, 0, w_same, "$0"},
    {"max", 2, R_SAME, r_max, w_max, "max@($0, $1)", "($0 > $1 ? $0 : $1)",
     {"b < a ? 1 : 0", "b < a ? 0 : 1"}, -INFINITY, 1, 1, 1, n_max, NULL},
    {"min", 2, R_SAME, r_min, w_min, "min@($0, $1)", "($0 < $1 ? $0 : $1)",
     {"a < b ? 1 : 0", "a < b ? 0 : 1"}, INFINITY, 1, 1, 1, n_min, NULL},
    {"pow", 2, R_SAME, r_pow, w_pow, "pow@($0, $1)", "whole_pow($0, $1)",
     {"b == 0 ? 0 : b * pow(a, b - 1)", "a == 0 ? 0 : y * log(a)"}, NAN, 10, 10, 0, NULL, NULL},
    {"exp", 1, R_SAME, r_exp, NULL, "exp@($0)", NULL, {"y"}, NAN, 10, 10, 1, NULL, NULL},
    {"expm1", 1, R_SAME, r_expm1, NULL, "expm1@($0)", NULL, {"y + 1"}, NAN, 10, 10, 1, NULL, NULL},
    {"log", 1, R_SAME, r_log, NULL, "log@($0)", NULL, {"1 / a"}, NAN, 10, 10, 0, NULL, NULL},
    {"log1p", 1, R_SAME, r_log1p, NULL, "log1p@($0)", NULL, {"1 / (1 + a)"}, NAN, 10, 10, 0, NULL, NULL},
    {"sqrt", 1, R_SAME, r_sqrt, NULL, "sqrt@($0)", NULL, {"0.5 / y"}, NAN, 1, 8, 0, NULL, NULL},
    {"sin", 1, R_SAME, r_sin, NULL, "sin@($0)", NULL, {"cos(a)"}, NAN, 10, 10, 0, NULL, NULL},
    {"cos", 1, R_SAME, r_cos, NULL, "cos@($0)", NULL, {"-sin(a)"}, NAN, 10, 10, 0, NULL, NULL},
    {"tan", 1, R_SAME, r_tan, NULL, "tan@($0)", NULL, {"1 + y * y"}, NAN, 10, 10, 0, NULL, NULL},
    {"asin", 1, R_SAME, r_asin, NULL, "asin@($0)", NULL, {"1 / sqrt(1 - a * a)"}, NAN, 10, 10, 0, NULL, NULL},
    {"acos", 1, R_SAME, r_acos, NULL, "acos@($0)", NULL, {"-1 / sqrt(1 - a * a)"}, NAN, 10, 10, 0, NULL, NULL},
    {"atan", 1, R_SAME, r_atan, NULL, "atan@($0)", NULL, {"1 / (1 + a * a)"}, NAN, 10, 10, 1, NULL, NULL},
    {"atan2", 2, R_SAME, r_atan2, NULL, "atan2@($0, $1)", NULL,
     {"b / (a * a + b * b)", "-a / (a * a + b * b)"}, NAN, 10, 10, 0, NULL, NULL},
    {"sinh", 1, R_SAME, r_sinh, NULL, "sinh@($0)", NULL, {"cosh(a)"}, NAN, 10, 10, 1, NULL, NULL},
    {"cosh", 1, R_SAME, r_cosh, NULL, "cosh@($0)", NULL, {"sinh(a)"}, NAN, 10, 10, 0, NULL, NULL},
    {"tanh", 1, R_SAME, r_tanh, NULL, "tanh@($0)", NULL, {"1 - y * y"}, NAN, 10, 10, 1, NULL, NULL},
    {"asinh", 1, R_SAME, r_asinh, NULL, "asinh@($0)", NULL, {"1 / sqrt(a * a + 1)"}, NAN, 10, 10, 0, NULL, NULL},
    {"acosh", 1, R_SAME, r_acosh, NULL, "acosh@($0)", NULL, {"1 / sqrt(a * a - 1)"}, NAN, 10, 10, 0, NULL, NULL},
    {"atanh", 1, R_SAME, r_atanh, NULL, "atanh@($0)", NULL, {"1 / (1 - a * a)"}, NAN, 10, 10, 0, NULL, NULL},
    {"erf", 1, R_SAME, r_erf, NULL, "erf@($0)", NULL, {"1.1283791670955126 * exp(-a * a)"}, NAN, 20, 20, 1, NULL, NULL},
    {"floor", 1, R_SAME, r_floor, w_same, "floor@($0)", "$0", {"0"}, NAN, 1, 1, 1, NULL, NULL},
    {"ceil", 1, R_SAME, r_ceil, w_same, "ceil@($0)", "$0", {"0"}, NAN, 1, 1, 1, NULL, NULL},
    {"round", 1, R_SAME, r_round, w_same, "rint@($0)", "$0", {"0"}, NAN, 1, 1, 1, NULL, NULL},
    {"trunc", 1, R_SAME, r_trunc, w_same, "trunc@($0)", "$0", {"0"}, NAN, 1, 1, 1, NULL, NULL},
    {"sign", 1, R_SAME, r_sign, w_sign, "($0 > 0 ? 1 : $0 < 0 ? -1 : $0 == 0 ? 0 : $0)", "(($0 > 0) - ($0 < 0))",
     {"0"}, NAN, 1, 1, 1, n_sign, "($0 != 0)"},
    {"floordiv", 2, R_SAME, r_floordiv, w_floordiv, "floor_div@($0, $1)", "whole_div($0, $1)",
     {"0", "0"}, NAN, 1, 8, 2, n_floordiv, "($1 == 0 ? 0 : $0 / $1)"},
    {"mod", 2, R_SAME, r_mod, w_mod, "floor_mod@($0, $1)", "whole_mod($0, $1)",
     {"1", "-floordiv(a, b)"}, NAN, 2, 8, 0, n_mod, "($1 == 0 ? 0 : $0 % $1)"},
    {"fmod", 2, R_SAME, r_fmod, w_fmod, "fmod@($0, $1)", "whole_rem($0, $1)",
     {"1", "-trunc(a / b)"}, NAN, 2, 8, 0, n_mod, "($1 == 0 ? 0 : $0 % $1)"},
    {"isnan", 1, R_BOOL, r_isnan, w_no, "($0 != $0)", "0", {"0"}, NAN, 0, 0, 0, NULL, NULL},
    {"isinf", 1, R_BOOL, r_isinf, w_no, "(isinf($0) != 0)", "0", {"0"}, NAN, 0, 0, 0, NULL, NULL},
    {"lt", 2, R_BOOL, r_lt, w_lt, "($0 < $1)", "($0 < $1)", {"0", "0"}, NAN, 0, 0, 1, n_lt, NULL},
    {"le", 2, R_BOOL, r_le, w_le, "($0 <= $1)", "($0 <= $1)", {"0", "0"}, NAN, 0, 0, 1, n_le, NULL},
    {"eq", 2, R_BOOL, r_eq, w_eq, "($0 == $1)", "($0 == $1)", {"0", "0"}, NAN, 0, 0, 0, NULL, NULL},
    {"ne", 2, R_BOOL, r_ne, w_ne, "($0 != $1)", "($0 != $1)", {"0", "0"}, NAN, 0, 0, 0, NULL, NULL},
    {"and", 2, R_BOOL, NULL, w_and, NULL, "($0 && $1)", {"0", "0"}, 1, 0, 0, 1, NULL, NULL},
    {"or", 2, R_BOOL, NULL, w_or, NULL, "($0 || $1)", {"0", "0"}, 0, 0, 0, 1, NULL, NULL},
    {"not", 1, R_BOOL, NULL, w_not, NULL, "(!$0)", {"0"}, NAN, 0, 0, 1, NULL, NULL},
    {"bitand", 2, R_SAME, NULL, w_bitand, NULL, "($0 & $1)", {"0", "0"}, -1, 1, 1, 0, NULL, NULL},
    {"bitor", 2, R_SAME, NULL, w_bitor, NULL, "($0 | $1)", {"0", "0"}, 0, 1, 1, 0, NULL, NULL},
    {"bitxor", 2, R_SAME, NULL, w_bitxor, NULL, "($0 ^ $1)", {"0", "0"}, 0, 1, 1, 0, NULL, NULL},
    {"bitnot", 1, R_SAME, NULL, w_bitnot, NULL, "(~$0)", {"0"}, NAN, 1, 1, 0, NULL, NULL},
    {"shl", 2, R_SAME, NULL, w_shl, NULL, "whole_shl($0, $1)", {"0", "0"}, NAN, 1, 1, 0, NULL, NULL},
    {"shr", 2, R_SAME, NULL, w_shr, NULL, "whole_shr($0, $1)", {"0", "0"}, NAN, 1, 1, 0, NULL, NULL},
    /* random bits of a seed and an index, both i64 (base/random.h) */
    {"threefry", 2, R_SAME, NULL, w_threefry, NULL, "threefry($0, $1)", {"0", "0"}, NAN, 72, 72, 0, NULL, NULL},
    {"stop", 1, R_SAME, r_same, w_same, "$0", "$0", {"0"}, NAN, 0, 0, 1, NULL, NULL},
    /* a subscript, checked against 0 <= a < b */
    {"at", 2, R_SAME, NULL, w_same, NULL, "checked($0, $1, fault)", {"0", "0"}, NAN, 0, 0, 1, NULL, NULL},
    {"select", 3, R_SECOND, r_select, w_select, "($0 ? $1 : $2)", "($0 ? $1 : $2)",
     {"0", "a ? 1 : 0", "a ? 0 : 1"}, NAN, 0, 0, 0, NULL, NULL},
};
/* clang-format on */

const fn *fn_find(const char *name)
{
    for (int i = 0; i < COUNT(table); i++)
        if (*table[i].name == *name && !strcmp(table[i].name, name))
            return &table[i];
    return NULL;
}

const fn *fn_at(int i)
{
    return i >= 0 && i < COUNT(table) ? &table[i] : NULL;
}

int64_t fn_whole(const fn *f, dtype d, const int64_t *x)
{
    return d == TS_U64 && f->natural ? f->natural(x) : f->whole(x);
}

const char *fn_spelled(const fn *f, dtype d)
{
    return dtype_class(d) == D_REAL ? f->c_real : d == TS_U64 && f->c_natural ? f->c_natural : f->c_whole;
}
