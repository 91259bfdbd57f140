/* phases.c - laps of one clock. */
#include "backends/phases.h"
#include "graph/base/clock.h"

void phases_begin(phases *p)
{
    p->last = seconds_now();
}

bool phases_done(phases *p, phase which)
{
    if (!p)
        return true;
    const double now = seconds_now();
    p->seconds[which] += now - p->last;
    p->last = now;
    return true;
}

void phases_part(phases *p, phase which, phase part, double share)
{
    if (!p)
        return;
    p->seconds[part] += share * p->seconds[which];
    p->seconds[which] *= 1 - share;
}

void phases_json(const phases *p, text *out)
{
    static const char *const name[] = {"plan",      "calibration", "texts", "compiler",
                                       "assembler", "linker",      "load",  "weights"};
    for (int i = 0; i < N_PHASE; i++)
        text_add(out, "%s\"%s_s\":%.6f", i ? "," : "{", name[i], p->seconds[i]);
    text_add(out, "}");
}
