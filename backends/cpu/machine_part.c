/* machine_part.c - a machine cut down to some of its cores: those of a memory, or a run of them. What they share, and
 * the rates, stay as they were: a plan for a part differs from one for the whole by the number of threads alone. */
#include "backends/cpu/machine.h"
#include "backends/figure.h"

#include <string.h>

/* "cores0-7" or "cores3", by their places in the machine's order */
static bool read_run(const machine *m, const char *name, bool keep[])
{
    int64_t first, last;
    const char *s = name + strlen("cores");
    if (strncmp(name, "cores", strlen("cores")) != 0 || !figure_number(&s, 0, m->n_core - 1, &first))
        return false;
    last = first;
    if (*s && (*s++ != '-' || !figure_number(&s, first, m->n_core - 1, &last) || *s))
        return false;
    for (int64_t c = first; c <= last; c++)
        keep[c] = true;
    return true;
}

static bool read_numa(const machine *m, const char *name, bool keep[])
{
    const tier *memory = &m->tier[TIER_NUMA];
    int64_t which;
    const char *s = name + strlen("numa");
    if (strncmp(name, "numa", strlen("numa")) != 0 || !figure_number(&s, 0, memory->n - 1, &which) || *s)
        return false;
    for (int c = 0; c < m->n_core; c++)
        keep[c] = memory->of[c] == which;
    return true;
}

static bool unknown(const machine *m, const char *name, err *e)
{
    const tier *memory = &m->tier[TIER_NUMA];
    ENDED_BY(text_free) text have = {0};
    for (int i = 0, from = 0, to; i < memory->n && have.length < 300; i++, from = to) {
        for (to = from; to < m->n_core && memory->of[to] == i;)
            to++;
        text_add(&have, "%snuma%d (cores %d to %d)", i ? ", " : "", i, from, to - 1);
    }
    err_set(e, TS_BAD_INPUT, "there is no \"%.40s\" on this machine", name);
    return err_hint(e, "its parts are %s, and runs of cores, of which cores0-%d is all", text_str(&have),
                    m->n_core - 1);
}

static void cut_tier(tier *t, int n, const bool keep[])
{
    int last = -1, kept = 0, had = -1;
    if (!t->n)
        return;
    for (int c = 0; c < n; c++) {
        if (!keep[c])
            continue;
        last += had != t->of[c];
        had = t->of[c];
        t->of[kept++] = last;
    }
    t->n = last + 1;
}

bool machine_part(machine *m, const char *name, err *e)
{
    bool keep[MAX_CORE] = {false};
    int kept = 0;
    if (!read_run(m, name, keep) && !read_numa(m, name, keep))
        return unknown(m, name, e);
    for (int k = 0; k < N_TIER; k++)
        cut_tier(&m->tier[k], m->n_core, keep);
    for (int c = 0; c < m->n_core; c++)
        if (keep[c])
            m->os[kept++] = m->os[c];
    m->n_core = kept, m->part = true;
    return true;
}
