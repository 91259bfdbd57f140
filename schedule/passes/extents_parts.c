/* extents_parts.c - numbers that are parts of a variable, rounded down, or the smallest of a sum and a number: every
 * second row, windows that go by two, an image half as large, five rows or as many as there are. They cannot be told
 * from few extents: (n - 3) / 3 + 1 is (n - 5) / 2 at 11, 14, 15 and 16, and not at 12. So they are guessed, by how
 * much they rise over a period below the bound and above the least extent, and then held to the graphs at every extent
 * of the ranges, in all combinations: what is accepted has been seen to be right wherever a run can be. */
#include "schedule/passes/extents_pair.h"

#include <math.h>
#include <string.h>

enum { MOST_WALKED = 1 << 20 }; /* nodes, all graphs together, and 1024 elements of constants as one: some seconds */

static bool pair_at(pairing *q, const int64_t *size)
{
    const variables *v = q->p->variables;
    const other_extents *x = v->at(v->user, size, q->e);
    return x && pairing_hold(q, x);
}

static const other_extents *least(const plan *p) /* of all variables */
{
    return &p->variables->other[p->variables->n_other - 1];
}

static bool learn(pairing *q, int how, int v, int64_t extent)
{
    int64_t size[MOST_VARIABLES] = {0};
    for (int i = 0; i < q->p->n_variable; i++)
        size[i] = q->p->variable[i].high;
    size[v] = extent, q->learns = v, q->how = how;
    return pair_at(q, size);
}

bool pairing_guess(pairing *q)
{
    bool ok = true;
    for (int v = 0; ok && v < q->p->n_variable; v++) {
        const int64_t high = q->p->variable[v].high, most = high - q->p->variable[v].low;
        const int64_t whole = int_min(q->period, most);
        for (int64_t i = 0; ok && i < whole; i++)
            ok = learn(q, i ? ROUNDS : RISES, v, high - (i ? i : whole));
        for (int64_t i = 0; ok && q->limited && i < whole + 1; i++)
            ok = learn(q, i > 1 ? ROUNDS : LIMITS, v, high - most + (i == 1 ? whole : i > 1 ? i - 1 : 0));
    }
    q->learns = -1;
    return ok && pairing_hold(q, least(q->p));
}

bool pairing_affordable(pairing *q)
{
    const plan *p = q->p;
    double each = 0, graphs = 1;
    for (int i = 0; i < q->n_met; i++) {
        const node *n = q->met[i];
        const bool constant = n->leaf && n->leaf->kind != LEAF_INPUT && extents_any(p, n);
        each += 1 + (constant ? (double)type_count(&n->type) / 1024 : 0);
    }
    for (int v = 0; v < p->n_variable; v++)
        graphs *= (double)(p->variable[v].high - p->variable[v].low + 1);
    if (each * graphs <= MOST_WALKED)
        return true;
    const char *name = p->variable[0].name;
    err_set(
        q->e, TS_UNSUPPORTED,
        "dimension \"%s\" cannot vary from run to run: extents are parts of it, which are compared at every extent, "
        "%.0f of them, and at most %.0f are",
        name, graphs, floor(MOST_WALKED / each));
    return err_hint(q->e, "give it a shorter range, or steps in which they are whole: --dim %s=LOW..HIGH/STEP", name);
}

bool pairing_everywhere(pairing *q)
{
    const variable *of = q->p->variable;
    const int n = q->p->n_variable;
    int64_t size[MOST_VARIABLES];
    int v = 0;
    for (memcpy(size, least(q->p)->size, sizeof size); v < n;
         v < n ? size[v]++ : 0) { /* what was guessed near the bound is wrong here first */
        if (!pair_at(q, size))
            return false;
        for (v = 0; v < n && size[v] == of[v].high; v++)
            size[v] = of[v].low;
    }
    return true;
}
