/* extents_number.c - numbers of two graphs: what of the variables they follow, learned from extents near the bound, or
 * near the least. A guess, which is held to other extents by those who ask. */
#include "graph/ir/rule.h"
#include "schedule/passes/extents_pair.h"

#include <stdlib.h>
#include <string.h>

static const int64_t MOST_NUMBER = INT64_C(1) << 40; /* that follows a variable: parts of it are sums yet */

static varying finer(const varying *v, int64_t times) /* over `times` as large a denominator */
{
    varying fine = extents_scaled(v, times);
    return fine.plus += times - 1, fine.per *= times, fine;
}

/* The slope of a number that did not depend on the variable so far */
static bool rises(const pairing *q, varying *v, int64_t here, int64_t there)
{
    const int64_t high = q->p->variable[q->learns].high, apart = high - q->of->size[q->learns], rise = here - there;
    const int64_t gcd = int_gcd(rise < 0 ? -rise : rise, apart), per = apart / gcd; /* of steps, mostly 1 */
    *v = finer(v, per / int_gcd(v->per, per));
    v->by |= 1u << q->learns, v->times[q->learns] = rise / gcd * (v->per / per);
    v->plus -= v->times[q->learns] * high;
    return true;
}

/* The offset of a rounded quotient is unknown: it starts as the largest possible and shrinks where that proves too
 * large. */
static bool rounds(const pairing *q, varying *v, int64_t there)
{
    varying times = *v;
    times.plus = 0, times.per = 1, times.ends = UNLIMITED;
    v->plus = v->per * (there + 1) - 1 - extents_at(&times, q->of->size);
    return true;
}

/* Compares the least extents and those a period above. A number that is constant near the bound may rise there, up to
 * its value at the bound; one that rises near the bound may have a lower limit there. */
static bool limits(const pairing *q, varying *v, int64_t here, int64_t there)
{
    const int64_t least = q->p->variable[q->learns].low, apart = q->of->size[q->learns] - least;
    if (!apart && !v->by) {
        *v = (varying){.by = 1u << q->learns, .per = 1, .plus = there - least, .ends = AT_MOST, .limit = here};
        return v->times[q->learns] = 1, true;
    }
    if (!apart)
        return v->limit = there, !v->ends && (v->ends = AT_LEAST);
    if (v->ends != AT_MOST || v->by != 1u << q->learns)
        return false;
    const int64_t first = int_floor_div(v->plus + v->times[q->learns] * least, v->per);
    const int64_t gcd = int_gcd(llabs(there - first), apart);
    v->per = apart / gcd, v->times[q->learns] = (there - first) / gcd;
    v->plus = first * v->per + v->per - 1 - v->times[q->learns] * least;
    return there > first;
}

bool pairing_number(const pairing *q, varying *v, int64_t here, int64_t there)
{
    const int64_t now = v->by ? extents_at(v, q->of->size) : here, rise = now - there;
    const bool known = q->learns >= 0 && v->by >> q->learns & 1;
    varying one = v->by ? *v : (varying){.plus = here, .per = 1};
    const bool again = q->how == LIMITS && known && one.ends == AT_MOST && /* it may rise more slowly */
                       q->of->size[q->learns] > q->p->variable[q->learns].low;
    if ((!rise && !again) || q->learns < 0 || llabs(rise) > MOST_NUMBER || llabs(there) > MOST_NUMBER)
        return !rise;
    const bool may = q->how == LIMITS  ? limits(q, &one, here, there)
                     : q->how == RISES ? !known && !one.ends && rises(q, &one, now, there)
                                       : known && one.ends != AT_LEAST && rise > 0 && rounds(q, &one, there);
    if (may && extents_at(&one, q->of->size) == there)
        return *v = one, true;
    return false;
}
