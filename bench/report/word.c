/* word.c - one function a quantity; its unit is the one that leaves one to three digits before the point. */
#include "bench/report/word.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A number and its unit, kept on one line by a space that does not break; a minus sign as wide as a plus. */
static word join(double v, int digits, const char *unit)
{
    word w;
    char number[32];
    snprintf(number, sizeof number, "%.*f", digits, fabs(v));
    bool zero = strspn(number, "0.") == strlen(number);
    snprintf(w.s, sizeof w.s, "%s%s%s%.8s", v < 0 && !zero ? "−" : "", number, *unit ? "\u00a0" : "", unit);
    return w;
}

/* Three significant digits without an exponent: 403, 71.3, 5.65, 0.31. */
static word three(double v, const char *unit)
{
    double a = fabs(v);
    return join(v, a >= 99.95 || a == 0 ? 0 : a >= 9.995 ? 1 : 2, unit);
}

static word missing(void)
{
    return (word){"–"};
}

word word_time(double ns)
{
    if (!isfinite(ns))
        return missing();
    double a = fabs(ns);
    if (a < 999.5)
        return three(ns, "ns");
    if (a < 999.5e3)
        return three(ns / 1e3, "µs");
    if (a < 999.5e6)
        return three(ns / 1e6, "ms");
    return a < 1e15 ? three(ns / 1e9, "s") : word_number(ns / 1e9);
}

word word_tick(double v, const char *unit)
{
    word w;
    bool apart = *unit && v != 0 && strcmp(unit, "×") != 0;
    snprintf(w.s, sizeof w.s, "%.4g%s%.8s", v, apart ? "\u00a0" : "", v != 0 ? unit : "");
    return w;
}

word word_gain(double ns)
{
    if (!isfinite(ns))
        return missing();
    word w, size = word_time(fabs(ns));
    snprintf(w.s, sizeof w.s, "%s%.40s", ns < 0 ? "−" : "+", size.s);
    return w;
}

word word_bytes(double bytes)
{
    static const char *unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    if (!isfinite(bytes))
        return missing();
    size_t i = 0;
    while (fabs(bytes) >= 1023.5 && i + 1 < sizeof unit / sizeof *unit)
        bytes /= 1024, i++;
    if (fabs(bytes) > 1e6)
        return word_number(bytes);
    return i ? three(bytes, unit[i]) : join(bytes, 0, "B");
}

word word_share(double share)
{
    double v = share * 100, a = fabs(v);
    if (!isfinite(v))
        return missing();
    if (a > 1e6)
        return word_number(v);
    bool whole = fabs(v - round(v)) < 1e-9;
    return join(v, whole || a >= 9.95 ? 0 : a >= 0.095 ? 1 : 2, "%");
}

word word_part(double share)
{
    return share >= 0.995 ? (word){"all"} : word_share(share);
}

word word_ratio(double ratio)
{
    word w;
    if (!isfinite(ratio))
        return missing();
    double off = fabs(ratio - 1);
    snprintf(w.s, sizeof w.s, "%.*f×", off < 0.0995 ? 3 : ratio < 99.95 ? 2 : 0, ratio > 1e9 ? 1e9 : ratio);
    return w;
}

word word_count(double n)
{
    word digits, w = {""};
    if (!isfinite(n) || fabs(n) > 1e18)
        return isfinite(n) ? word_number(n) : missing();
    snprintf(digits.s, sizeof digits.s, "%.0f", n);
    size_t length = strlen(digits.s), at = 0;
    for (size_t i = 0; i < length; i++) {
        bool gap = i && (length - i) % 3 == 0 && digits.s[i - 1] != '-' && length > 4;
        at += (size_t)snprintf(w.s + at, sizeof w.s - at, "%s%c", gap ? "\u00a0" : "", digits.s[i]);
    }
    return w;
}

word word_percent(double share)
{
    word w = {"–"};
    if (isfinite(share))
        snprintf(w.s, sizeof w.s, "%.1f %%", 100 * share);
    return w;
}

word word_real(double v)
{
    word w = {"–"};
    if (isfinite(v))
        snprintf(w.s, sizeof w.s, "%.4g", v);
    return w;
}

word word_number(double v)
{
    word w;
    if (!isfinite(v))
        return missing();
    if (v == 0 || (fabs(v) >= 0.01 && fabs(v) < 1e5))
        return three(v, "");
    snprintf(w.s, sizeof w.s, "%.2g", v);
    return w;
}
