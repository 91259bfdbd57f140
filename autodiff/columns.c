/* columns.c - what a tensor receives of readers that read one place along an axis each (a camera's eleven numbers, the
 * rows of gates): zeros but at that place. Added up one by one that is work in proportion to the square of the places;
 * such parts are put side by side instead. */
#include "autodiff/autodiff.h"
#include "graph/ir/rule.h"

enum { MOST = 32 };     /* parts that are put side by side */
typedef struct column { /* of a part: what it has at place `at` along `axis` */
    int axis;
    int64_t at;
    const node *value; /* with extent 1 along the axis */
} column;

/* select(axis == at, value, 0), the value not by that axis */
static bool is_column(const expr *x, const expr **value, column *c)
{
    if (!x_is_choice(x) || !x_is_call(x->arg[0], "eq") || x->arg[2]->kind != X_LIT || x->arg[2]->lit != 0)
        return false;
    const expr *a = x->arg[0]->arg[0], *b = x->arg[0]->arg[1];
    const expr *axis = a->kind == X_AXIS ? a : b, *at = a->kind == X_AXIS ? b : a;
    if (axis->kind != X_AXIS || at->kind != X_LIT || x_axes(x->arg[1]) >> axis->axis & 1)
        return false;
    return c->axis = axis->axis, c->at = at->whole, *value = x->arg[1], true;
}

static bool find_column(const node *part, arena *mem, const expr **value, column *c)
{
    defn d;
    return !part->leaf && !part->trip && g_defn_calls(part, mem, &d, NULL) && d.n_axis == part->type.rank &&
           is_column(d.value, value, c);
}

bool is_column_part(const node *part)
{
    ENDED_BY(arena_free) arena mem = {0};
    column c;
    const expr *value;
    return find_column(part, &mem, &value, &c);
}

static bool column_of(graph *g, const node *part, column *c)
{
    ENDED_BY(arena_free) arena mem = {0};
    const expr *value;
    type shape = part->type;
    if (!find_column(part, &mem, &value, c) || c->at < 0 || c->at >= shape.dim[c->axis])
        return false;
    shape.dim[c->axis] = 1;
    c->value = g_fitted(g, emit_over(g, &shape, value), &shape);
    return c->value != NULL;
}

/* n columns along one axis, zeros where there is none; NULL: they are too many. */
static const node *side_by_side(graph *g, const type *t, int n, const column *c)
{
    const node *part[2 * MOST + 1];
    int axis = c->axis, k = 0;
    int64_t next = 0;
    while (next < t->dim[axis]) {
        const node *here = NULL;
        int64_t gap = t->dim[axis];
        for (int i = 0; i < n; i++) {
            if (c[i].at == next)
                here = here ? g_added(g, here, c[i].value) : c[i].value;
            else if (c[i].at > next && c[i].at < gap)
                gap = c[i].at;
        }
        type zeros = *t;
        zeros.dim[axis] = gap - next;
        part[k++] = here ? here : g_filled(g, &zeros, 0);
        next = here ? next + 1 : gap;
    }
    return g_joined(g, k, part, axis);
}

const node *sum_of_parts(graph *g, const type *t, int n, const node *const *part)
{
    column found[MOST];
    const node *total = NULL;
    uint8_t *taken = arena_array(&g->mem, (size_t)n + 1, sizeof *taken);
    for (int first = 0; first < n && !err_is(&g->err); first++) {
        int k = 0;
        if (n > 1 && !taken[first] && column_of(g, part[first], &found[0]))
            for (int i = first; i < n && k < MOST; i++)
                if (!taken[i] && (i == first || column_of(g, part[i], &found[k])) && found[k].axis == found[0].axis)
                    taken[i] = 1, k++;
        if (k == 1)
            taken[first] = 0;
        const node *next = k > 1 ? side_by_side(g, t, k, found) : taken[first] ? NULL : part[first];
        if (next)
            total = total ? g_added(g, total, next) : next;
    }
    return total;
}
