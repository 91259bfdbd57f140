/* fn.c - the table of scalar functions. Adding one is adding a row: interpreter, constant folding, generated code,
 * derivative, printing and cost follow. Reals are computed in double here; integers and truth values in int64_t,
 * wrapped by the caller. */
#include "graph/ir/expr.h"

#include <math.h>
#include <string.h>

/* A row is a line. */
/* clang-format off */
#define REAL(name, formula)                                                                                            \
    static double r_##name(const double *x)                                                                            \
    {                                                                                                                  \
        return formula;                                                                                                \
    }
#define WHOLE(name, formula)                                                                                           \
    static int64_t w_##name(const int64_t *x)                                                                          \
    {                                                                                                                  \
        return formula;                                                                                                \
    }
#define NATURAL(name, formula)                                                                                         \
    static int64_t n_##name(const int64_t *x)                                                                          \
    {                                                                                                                  \
        const uint64_t u[] = {(uint64_t)x[0], (uint64_t)x[1]};                                                         \
        return (int64_t)(formula);                                                                                     \
    }
#define WRAP(a, o, b) (int64_t)((uint64_t)(a)o(uint64_t)(b))

REAL(add, x[0] + x[1])
REAL(sub, x[0] - x[1])
REAL(mul, x[0] * x[1])
REAL(div, x[0] / x[1])
REAL(neg, -x[0])
REAL(abs, fabs(x[0]))
REAL(max, x[0] >= x[1] || x[0] != x[0] ? x[0] : x[1])
REAL(min, x[0] <= x[1] || x[0] != x[0] ? x[0] : x[1])
REAL(pow, pow(x[0], x[1]))
REAL(exp, exp(x[0]))
REAL(expm1, expm1(x[0]))
REAL(log, log(x[0]))
REAL(log1p, log1p(x[0]))
REAL(sqrt, sqrt(x[0]))
REAL(sin, sin(x[0]))
REAL(cos, cos(x[0]))
REAL(tan, tan(x[0]))
REAL(asin, asin(x[0]))
REAL(acos, acos(x[0]))
REAL(atan, atan(x[0]))
REAL(atan2, atan2(x[0], x[1]))
REAL(sinh, sinh(x[0]))
REAL(cosh, cosh(x[0]))
REAL(tanh, tanh(x[0]))
REAL(asinh, asinh(x[0]))
REAL(acosh, acosh(x[0]))
REAL(atanh, atanh(x[0]))
REAL(erf, erf(x[0]))
REAL(floor, floor(x[0]))
REAL(ceil, ceil(x[0]))
REAL(round, nearbyint(x[0]))
REAL(trunc, trunc(x[0]))
REAL(sign, x[0] > 0 ? 1 : x[0] < 0 ? -1 : x[0] == 0 ? 0 : x[0])
REAL(fmod, fmod(x[0], x[1]))
REAL(isnan, x[0] != x[0])
REAL(isinf, isinf(x[0]) != 0)
REAL(lt, x[0] < x[1])
REAL(le, x[0] <= x[1])
REAL(eq, x[0] == x[1])
REAL(ne, x[0] != x[1])
REAL(select, x[0] != 0 ? x[1] : x[2])
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

WHOLE(add, WRAP(x[0], +, x[1]))
WHOLE(sub, WRAP(x[0], -, x[1]))
WHOLE(mul, WRAP(x[0], *, x[1]))
WHOLE(neg, WRAP(0, -, x[0]))
WHOLE(abs, x[0] < 0 ? WRAP(0, -, x[0]) : x[0])
WHOLE(max, x[0] > x[1] ? x[0] : x[1])
WHOLE(min, x[0] < x[1] ? x[0] : x[1])
WHOLE(floordiv, x[1] == 0 ? 0 : x[1] == -1 ? WRAP(0, -, x[0])
                : x[0] / x[1] - (x[0] % x[1] != 0 && (x[0] < 0) != (x[1] < 0)))
WHOLE(mod, x[1] == 0 || x[1] == -1 ? 0 : x[0] % x[1] + (x[0] % x[1] != 0 && (x[0] < 0) != (x[1] < 0) ? x[1] : 0))
WHOLE(fmod, x[1] == 0 || x[1] == -1 ? 0 : x[0] % x[1])
WHOLE(sign, (x[0] > 0) - (x[0] < 0))
WHOLE(same, x[0])
WHOLE(no, (void *)x == NULL)
WHOLE(lt, x[0] < x[1])
WHOLE(le, x[0] <= x[1])
WHOLE(eq, x[0] == x[1])
WHOLE(ne, x[0] != x[1])
WHOLE(and, x[0] && x[1])
WHOLE(or, x[0] || x[1])
WHOLE(not, !x[0])
WHOLE(bitand, x[0] & x[1])
WHOLE(bitor, x[0] | x[1])
WHOLE(bitxor, x[0] ^ x[1])
WHOLE(bitnot, ~x[0])
WHOLE(shl, x[1] < 0 || x[1] > 63 ? 0 : (int64_t)((uint64_t)x[0] << x[1]))
WHOLE(shr, x[1] < 0 || x[1] > 63 ? (x[0] < 0 ? -1 : 0) : x[0] >> x[1])
WHOLE(select, x[0] ? x[1] : x[2])
NATURAL(max, u[0] > u[1] ? u[0] : u[1])
NATURAL(min, u[0] < u[1] ? u[0] : u[1])
NATURAL(floordiv, u[1] == 0 ? 0 : u[0] / u[1])
NATURAL(mod, u[1] == 0 ? 0 : u[0] % u[1])
NATURAL(lt, u[0] < u[1])
NATURAL(le, u[0] <= u[1])
static int64_t n_sign(const int64_t *x)
{
    return x[0] != 0;
}
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
     * derivatives, unit, cost, monotone, of u64, C for u64 */
    {"add", 2, R_SAME, r_add, w_add, "($0 + $1)", "whole_add($0, $1)", {"1", "1"}, 0, 1, 1, NULL, NULL},
    {"sub", 2, R_SAME, r_sub, w_sub, "($0 - $1)", "whole_sub($0, $1)", {"1", "-1"}, NAN, 1, 1, NULL, NULL},
    {"mul", 2, R_SAME, r_mul, w_mul, "($0 * $1)", "whole_mul($0, $1)", {"b", "a"}, 1, 1, 1, NULL, NULL},
    {"div", 2, R_SAME, r_div, NULL, "($0 / $1)", NULL, {"1 / b", "-y / b"}, NAN, 1, 2, NULL, NULL},
    {"neg", 1, R_SAME, r_neg, w_neg, "(-$0)", "whole_sub(0, $0)", {"-1"}, NAN, 1, 1, NULL, NULL},
    {"abs", 1, R_SAME, r_abs, w_abs, "fabs@($0)", "($0 < 0 ? whole_sub(0, $0) : $0)",
     {"sign(a)"}, NAN, 1, 0, w_same, "$0"},
    {"max", 2, R_SAME, r_max, w_max, "max@($0, $1)", "($0 > $1 ? $0 : $1)",
     {"b < a ? 1 : 0", "b < a ? 0 : 1"}, -INFINITY, 1, 1, n_max, NULL},
    {"min", 2, R_SAME, r_min, w_min, "min@($0, $1)", "($0 < $1 ? $0 : $1)",
     {"a < b ? 1 : 0", "a < b ? 0 : 1"}, INFINITY, 1, 1, n_min, NULL},
    {"pow", 2, R_SAME, r_pow, w_pow, "pow@($0, $1)", "whole_pow($0, $1)",
     {"b == 0 ? 0 : b * pow(a, b - 1)", "a == 0 ? 0 : y * log(a)"}, NAN, 10, 0, NULL, NULL},
    {"exp", 1, R_SAME, r_exp, NULL, "exp@($0)", NULL, {"y"}, NAN, 10, 1, NULL, NULL},
    {"expm1", 1, R_SAME, r_expm1, NULL, "expm1@($0)", NULL, {"y + 1"}, NAN, 10, 1, NULL, NULL},
    {"log", 1, R_SAME, r_log, NULL, "log@($0)", NULL, {"1 / a"}, NAN, 10, 0, NULL, NULL},
    {"log1p", 1, R_SAME, r_log1p, NULL, "log1p@($0)", NULL, {"1 / (1 + a)"}, NAN, 10, 0, NULL, NULL},
    {"sqrt", 1, R_SAME, r_sqrt, NULL, "sqrt@($0)", NULL, {"0.5 / y"}, NAN, 1, 0, NULL, NULL},
    {"sin", 1, R_SAME, r_sin, NULL, "sin@($0)", NULL, {"cos(a)"}, NAN, 10, 0, NULL, NULL},
    {"cos", 1, R_SAME, r_cos, NULL, "cos@($0)", NULL, {"-sin(a)"}, NAN, 10, 0, NULL, NULL},
    {"tan", 1, R_SAME, r_tan, NULL, "tan@($0)", NULL, {"1 + y * y"}, NAN, 10, 0, NULL, NULL},
    {"asin", 1, R_SAME, r_asin, NULL, "asin@($0)", NULL, {"1 / sqrt(1 - a * a)"}, NAN, 10, 0, NULL, NULL},
    {"acos", 1, R_SAME, r_acos, NULL, "acos@($0)", NULL, {"-1 / sqrt(1 - a * a)"}, NAN, 10, 0, NULL, NULL},
    {"atan", 1, R_SAME, r_atan, NULL, "atan@($0)", NULL, {"1 / (1 + a * a)"}, NAN, 10, 1, NULL, NULL},
    {"atan2", 2, R_SAME, r_atan2, NULL, "atan2@($0, $1)", NULL,
     {"b / (a * a + b * b)", "-a / (a * a + b * b)"}, NAN, 10, 0, NULL, NULL},
    {"sinh", 1, R_SAME, r_sinh, NULL, "sinh@($0)", NULL, {"cosh(a)"}, NAN, 10, 1, NULL, NULL},
    {"cosh", 1, R_SAME, r_cosh, NULL, "cosh@($0)", NULL, {"sinh(a)"}, NAN, 10, 0, NULL, NULL},
    {"tanh", 1, R_SAME, r_tanh, NULL, "tanh@($0)", NULL, {"1 - y * y"}, NAN, 10, 1, NULL, NULL},
    {"asinh", 1, R_SAME, r_asinh, NULL, "asinh@($0)", NULL, {"1 / sqrt(a * a + 1)"}, NAN, 10, 0, NULL, NULL},
    {"acosh", 1, R_SAME, r_acosh, NULL, "acosh@($0)", NULL, {"1 / sqrt(a * a - 1)"}, NAN, 10, 0, NULL, NULL},
    {"atanh", 1, R_SAME, r_atanh, NULL, "atanh@($0)", NULL, {"1 / (1 - a * a)"}, NAN, 10, 0, NULL, NULL},
    {"erf", 1, R_SAME, r_erf, NULL, "erf@($0)", NULL, {"1.1283791670955126 * exp(-a * a)"}, NAN, 20, 1, NULL, NULL},
    {"floor", 1, R_SAME, r_floor, w_same, "floor@($0)", "$0", {"0"}, NAN, 1, 1, NULL, NULL},
    {"ceil", 1, R_SAME, r_ceil, w_same, "ceil@($0)", "$0", {"0"}, NAN, 1, 1, NULL, NULL},
    {"round", 1, R_SAME, r_round, w_same, "rint@($0)", "$0", {"0"}, NAN, 1, 1, NULL, NULL},
    {"trunc", 1, R_SAME, r_trunc, w_same, "trunc@($0)", "$0", {"0"}, NAN, 1, 1, NULL, NULL},
    {"sign", 1, R_SAME, r_sign, w_sign, "($0 > 0 ? 1 : $0 < 0 ? -1 : $0 == 0 ? 0 : $0)", "(($0 > 0) - ($0 < 0))",
     {"0"}, NAN, 1, 1, n_sign, "($0 != 0)"},
    {"floordiv", 2, R_SAME, r_floordiv, w_floordiv, "floor_div@($0, $1)", "whole_div($0, $1)",
     {"0", "0"}, NAN, 1, 2, n_floordiv, "($1 == 0 ? 0 : $0 / $1)"},
    {"mod", 2, R_SAME, r_mod, w_mod, "floor_mod@($0, $1)", "whole_mod($0, $1)",
     {"1", "-floordiv(a, b)"}, NAN, 2, 0, n_mod, "($1 == 0 ? 0 : $0 % $1)"},
    {"fmod", 2, R_SAME, r_fmod, w_fmod, "fmod@($0, $1)", "whole_rem($0, $1)",
     {"1", "-trunc(a / b)"}, NAN, 2, 0, n_mod, "($1 == 0 ? 0 : $0 % $1)"},
    {"isnan", 1, R_BOOL, r_isnan, w_no, "($0 != $0)", "0", {"0"}, NAN, 0, 0, NULL, NULL},
    {"isinf", 1, R_BOOL, r_isinf, w_no, "(isinf($0) != 0)", "0", {"0"}, NAN, 0, 0, NULL, NULL},
    {"lt", 2, R_BOOL, r_lt, w_lt, "($0 < $1)", "($0 < $1)", {"0", "0"}, NAN, 0, 1, n_lt, NULL},
    {"le", 2, R_BOOL, r_le, w_le, "($0 <= $1)", "($0 <= $1)", {"0", "0"}, NAN, 0, 1, n_le, NULL},
    {"eq", 2, R_BOOL, r_eq, w_eq, "($0 == $1)", "($0 == $1)", {"0", "0"}, NAN, 0, 0, NULL, NULL},
    {"ne", 2, R_BOOL, r_ne, w_ne, "($0 != $1)", "($0 != $1)", {"0", "0"}, NAN, 0, 0, NULL, NULL},
    {"and", 2, R_BOOL, NULL, w_and, NULL, "($0 && $1)", {"0", "0"}, 1, 0, 1, NULL, NULL},
    {"or", 2, R_BOOL, NULL, w_or, NULL, "($0 || $1)", {"0", "0"}, 0, 0, 1, NULL, NULL},
    {"not", 1, R_BOOL, NULL, w_not, NULL, "(!$0)", {"0"}, NAN, 0, 1, NULL, NULL},
    {"bitand", 2, R_SAME, NULL, w_bitand, NULL, "($0 & $1)", {"0", "0"}, -1, 1, 0, NULL, NULL},
    {"bitor", 2, R_SAME, NULL, w_bitor, NULL, "($0 | $1)", {"0", "0"}, 0, 1, 0, NULL, NULL},
    {"bitxor", 2, R_SAME, NULL, w_bitxor, NULL, "($0 ^ $1)", {"0", "0"}, 0, 1, 0, NULL, NULL},
    {"bitnot", 1, R_SAME, NULL, w_bitnot, NULL, "(~$0)", {"0"}, NAN, 1, 0, NULL, NULL},
    {"shl", 2, R_SAME, NULL, w_shl, NULL, "whole_shl($0, $1)", {"0", "0"}, NAN, 1, 0, NULL, NULL},
    {"shr", 2, R_SAME, NULL, w_shr, NULL, "whole_shr($0, $1)", {"0", "0"}, NAN, 1, 0, NULL, NULL},
    /* a subscript, checked against 0 <= a < b */
    {"at", 2, R_SAME, NULL, w_same, NULL, "checked($0, $1, fault)", {"0", "0"}, NAN, 0, 1, NULL, NULL},
    {"select", 3, R_SECOND, r_select, w_select, "($0 ? $1 : $2)", "($0 ? $1 : $2)",
     {"0", "a ? 1 : 0", "a ? 0 : 1"}, NAN, 0, 0, NULL, NULL},
};
/* clang-format on */

const fn *fn_find(const char *name)
{
    for (int i = 0; i < COUNT(table); i++)
        if (!strcmp(table[i].name, name))
            return &table[i];
    return NULL;
}

int64_t fn_whole(const fn *f, dtype d, const int64_t *x)
{
    return d == TS_U64 && f->natural ? f->natural(x) : f->whole(x);
}

const char *fn_spelled(const fn *f, dtype d)
{
    return dtype_class(d) == D_REAL ? f->c_real : d == TS_U64 && f->c_natural ? f->c_natural : f->c_whole;
}
