/* chunks.c - how parts share a kernel's work. All trips of the loop spread over cores and of those around it, counted
 * together, are its units. Each part has its share, in one piece, and takes the next of its own in ever smaller steps;
 * who has none left takes from others (guided self-scheduling, Polychronopoulos and Kuck 1987): a core that lost time
 * is not waited for. Who computes a unit changes no bit of it. Where something goes from trip to trip of a loop around
 * (sums, copies), or those trips are not alike, parts keep to their own. */
#include "backends/codegen/emit.h"

#include <stdio.h>

void chunks_open(emitter *m)
{
    const nest *t = nest_outer(m->k);
    int64_t n = 1;
    m->core = nest_chunks(m->k) - 1;
    for (int l = 0; l < m->core; l++)
        if (m->k->n_stage == 1 && m->peeled >> t->loop[l].axis & 1)
            m->core = -1;
    for (int l = 0; l <= m->core; l++)
        n *= loop_trips(&t->loop[l]);
    if (!n)
        m->core = -1;
    if (m->core < 0)
        return;
    if (m->core) /* a loop on its own counts itself */
        snprintf(m->chunk, sizeof m->chunk, "chunk");
    else
        loop_name(m, t, 0, m->chunk);
    callees_form(m->uses, m->d, "next_units(", "");
    text_line(&m->body, "for (ts_units u = {0}; next_units(share, %lld, &u);) {", (long long)n);
    text_line(&m->body, "    for (long %s = u.from; %s < u.to; %s++) {", m->chunk, m->chunk, m->chunk);
    m->body.depth += 2;
}

void chunks_trip(const emitter *m, int l, text *out)
{
    const nest *t = nest_outer(m->k);
    int64_t inner = 1;
    for (int i = l + 1; i <= m->core; i++)
        inner *= loop_trips(&t->loop[i]);
    text_add(out, "%s", m->chunk);
    if (inner > 1)
        text_add(out, " / %lld", (long long)inner);
    if (l > 0)
        text_add(out, " %% %lld", (long long)loop_trips(&t->loop[l]));
}

void chunks_close(emitter *m)
{
    if (m->core < 0)
        return;
    for (int i = 0; i < 2; i++)
        m->body.depth--, text_line(&m->body, "}");
    m->core = -1;
}

void emit_range(emitter *m, int64_t n)
{
    static const char piece[] =
        "const long low = %lldL * share->part / share->parts, high = %lldL * (share->part + 1) / share->parts;";
    if (n < 0)
        text_line(&m->body, "if (share->part) return;");
    else
        text_line(&m->body, piece, (long long)n, (long long)n);
}
