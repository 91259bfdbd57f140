/* bits.c - which choices of a plan decide the bits of its results, and could be others elsewhere. */
#include "schedule/explain/explain.h"
#include "schedule/schema/schema.h"

#include <string.h>

static void put_choice(text *t, const char *what, const char *by, int n)
{
    if (n)
        json_add(t, "{what:%s,by:%s,n:%d}", what, by, n);
}

void bits_explain(text *t, const plan *p)
{
    int ways = 0, blocks = 0, rules = 0;
    for (const detour *d = p->detours; d; d = d->next)
        ways += d->last;
    for (int i = 0; i < p->n_blocked; i++)
        blocks += p->blocked[i].size > 0;
    for (int k = 0; k < p->n_kernel; k++) {
        bool ruled = false;
        for (int s = 0; s < p->kernel[k].n_stage; s++)
            ruled = ruled || (stage_fold(&p->kernel[k].stage[s]) && strcmp(p->kernel[k].rule, "guess") != 0);
        rules += ruled;
    }
    json_add(t, "bits:{reproducible:%i,choices:[", p->reproducible);
    put_choice(t, "Strassen or Winograd", "what this machine's operations cost", ways);
    put_choice(t, "groups in blocks", "its caches, or a rule", blocks);
    put_choice(t, "loops of sums", "a rule", rules);
    text_add(t, "]}");
}
