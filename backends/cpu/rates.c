/* rates.c - the table of rates: steps, bounds, derivations; a record as text and as JSON. */
#include "backends/cpu/rates.h"
#include "backends/cpu/machine.h"
#include "backends/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Values that a rate may have, in each power of ten where these are the decade's; ends with 0 */
static const int twelfths[] = {10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82, 0},
                 sixths[] = {10, 15, 22, 33, 47, 68, 0}, parts[] = {3, 25, 100, 0},
                 units[] = {25, 35, 50, 71, 100, 141, 200, 283, 400, 566, 800, 0},
                 whole[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 0};

/* Derived: the same for all sets, or for each byte of a vector. Clock, units and cycles are those of Zen 2 and Skylake
 * and of what came after; of the first two caches what the makers state; of the third and of memory what two cores of
 * Zen 3 read, 10.5 to 11.4 and 5 to 6 bytes a cycle by vectors of 32, wider vectors being taken to come with wider
 * paths. Seen and start were fitted there. */
static const struct {
    const char *name, *shown; /* in the text; in JSON, where hundredths are reals */
    const int *steps;
    bool decades;
    int64_t least, most;
    double stays; /* what was known stays where as much, or as little, of it was measured now */
    double derived, by_byte, scale;
} table[N_RATE] = {
    [RATE_CLOCK] = {"clock", "clock_mhz", twelfths, true, 100, 10000, 1.18, 3000, 0, 1},
    [RATE_FMA] = {"fma", "fma_per_cycle", units, false, 25, 800, 1.3, 200, 0, 100},
    [RATE_LATENCY] = {"latency", "latency_cycles", whole, false, 1, 16, 1.18, 4, 0, 1},
    [RATE_L1] = {"l1", "l1_bytes_per_cycle", twelfths, true, 100, 100000, 1.18, 0, 200, 100},
    [RATE_L2] = {"l2", "l2_bytes_per_cycle", twelfths, true, 50, 100000, 1.18, 0, 100, 100},
    [RATE_L3] = {"l3", "l3_bytes_per_cycle", twelfths, true, 10, 100000, 1.18, 0, 36.7, 100},
    [RATE_MEMORY] = {"memory", "memory_bytes_per_cycle", twelfths, true, 1, 100000, 1.18, 0, 18.75, 100},
    [RATE_NEAR] = {"near", "pass_near_bytes_per_cycle", twelfths, true, 10, 100000, 1.18, 0, 36.7, 100},
    [RATE_FAR] = {"far", "pass_far_bytes_per_cycle", twelfths, true, 1, 100000, 1.18, 0, 36.7, 100},
    [RATE_SEEN] = {"seen", "seen_percent", parts, false, 3, 100, 2.5, 25, 0, 1},
    [RATE_START] = {"start", "start_ns", sixths, true, 100, 1000000, 1.4, 1000, 0, 1},
};

rates rates_derived(const isa *of)
{
    rates r = {.of = of};
    for (int k = 0; k < N_RATE; k++)
        r.at[k] = (int64_t)llround(table[k].derived + table[k].by_byte * of->vector_bytes);
    return r;
}

/* The step next to it, by the quotient */
static int64_t nearest(int k, double x)
{
    double best = (double)table[k].least;
    for (double power = table[k].decades ? 0.01 : 1; power <= (table[k].decades ? 1e5 : 1); power *= 10)
        for (const int *s = table[k].steps; *s; s++) {
            const double step = *s * power;
            if (step >= (double)table[k].least && step <= (double)table[k].most &&
                fabs(log(x / step)) < fabs(log(x / best)))
                best = step;
        }
    return (int64_t)llround(best);
}

rates rates_stepped(const isa *of, const double measured[N_RATE], const rates *before)
{
    rates r = {.of = of};
    for (int k = 0; k < N_RATE; k++) {
        const double x = fmin(fmax(measured[k], (double)table[k].least), (double)table[k].most),
                     was = before ? (double)before->at[k] : 0, stays = table[k].stays;
        r.at[k] = was > 0 && x < was * stays && x > was / stays ? before->at[k] : nearest(k, x);
    }
    return r;
}

bool rates_read(const char **s, rates *r)
{
    char name[16];
    const size_t n = strcspn(*s, "( ");
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : 0), *s);
    *s += n;
    r->of = isa_find(name);
    for (int k = 0; r->of && k < N_RATE; k++) {
        const size_t length = strlen(table[k].name);
        if (*(*s)++ != (k ? ',' : '(') || strncmp(*s, table[k].name, length) != 0 || *(*s += length) != '=')
            return false;
        ++*s;
        if (!figure_number(s, table[k].least, table[k].most, &r->at[k]))
            return false;
    }
    static const char mark[] = ",disturbed";
    r->disturbed = strncmp(*s, mark, sizeof mark - 1) == 0;
    *s += r->disturbed ? sizeof mark - 1 : 0;
    return r->of && *(*s)++ == ')';
}

void rates_print(text *t, const rates *r)
{
    text_add(t, "rates:%s", r->of->name);
    for (int k = 0; k < N_RATE; k++)
        text_add(t, "%s%s=%lld", k ? "," : "(", table[k].name, (long long)r->at[k]);
    text_add(t, r->disturbed ? ",disturbed)" : ")");
}

void rates_json(text *t, const rates *r)
{
    json_add(t, "{isa:%s", r->of->name);
    for (int k = 0; k < N_RATE; k++)
        text_add(t, ",\"%s\":%.6g", table[k].shown, (double)r->at[k] / table[k].scale);
    text_add(t, "}");
}
