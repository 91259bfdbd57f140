/* outside.c - what led outside when an index did: the value of an input, where the index can be followed back to one;
 * else the axes that a kernel's indices walk. */
#include "backends/outside.h"

#include <string.h>

enum { FAR = 16, MOST = 64 }; /* nodes between an input and an index that is made of it; indices of a kernel */

typedef struct place { /* the subscript of one axis of a node that a kernel reads, or writes */
    const node *of;
    int axis;
    const expr *index;
} place;

/* ---- the indices of a kernel ---- */

typedef struct places {
    int n;
    place of[MOST];
} places;

static bool is_checked(const expr *x) /* a subscript: whether the kernel asks if it is inside */
{
    return x_count(x, X_LOAD) > 0 || x_checks(x);
}

static void add_places(places *p, const node *of, const expr *const *subscript, int n)
{
    for (int i = 0; i < n && p->n < MOST; i++)
        if (is_checked(subscript[i]))
            p->of[p->n++] = (place){of, i, subscript[i]};
}

static void find_places(places *p, const node *result, const expr *x)
{
    if (x->kind == X_LOAD)
        add_places(p, x->from, x->arg, x->n);
    if (x->kind == X_SCATTER)
        add_places(p, result, x->arg + 2, x->n - 2);
    for (int i = 0; i < x->n; i++)
        find_places(p, result, x->arg[i]);
}

/* ---- the input that one of them comes from ---- */

/* step[0] is the index, by what load[0] gives; that is step[1], by what load[1] gives; the last one is of an input. */
typedef struct chain {
    int n, input;
    const expr *step[FAR], *load[FAR];
} chain;

/* False where the index depends on more than one element, or on none of an input. */
static bool follow(arena *mem, const plan *p, const expr *index, chain *c)
{
    const expr *x = index;
    for (c->n = 0; c->n < FAR;) {
        const expr *load;
        if (x_alone(x) || x_count(x, X_FOLD) || x_loads(x, &load, 1) != 1)
            return false;
        c->step[c->n] = x, c->load[c->n++] = load;
        c->input = node_is_leaf(load->from) ? input_of(p, load->from) : -1;
        if (c->input >= 0)
            return dtype_class(load->dtype) != D_REAL;
        defn d;
        if (load->from->leaf || !g_defn(load->from, mem, &d, NULL))
            return false;
        x = d.value;
    }
    return false;
}

static const expr *instead_of_load(void *user, const expr *x)
{
    const expr *const *value = user;
    return x->kind == X_LOAD ? *value : x;
}

/* Whether v does, and where to. */
static bool leads_outside(const chain *c, int64_t extent, int64_t v, int64_t *to)
{
    ENDED_BY(arena_free) arena mem = {0};
    const expr *x = x_whole(&mem, v);
    for (int i = c->n; i-- > 0;) {
        const expr *value = x_cast(&mem, c->load[i]->dtype, x);
        x = x_map(&mem, c->step[i], instead_of_load, &value);
    }
    if (x_is_call(x, "at")) /* left as it is where it cannot be done */
        x = x->arg[0];
    const bool outside = x->kind == X_LIT && x->is_whole && (x->whole < 0 || x->whole >= extent);
    *to = outside ? x->whole : v;
    return outside;
}

static void add_position(text *t, const type *y, int64_t i)
{
    int64_t stride = type_count(y);
    text_add(t, "[");
    for (int d = 0; d < y->rank; d++) {
        stride /= y->dim[d];
        text_add(t, "%s%lld", d ? "," : "", (long long)(i / stride % y->dim[d]));
    }
    text_add(t, "]");
}

/* Element i of an input is v and leads to `to`, which is said where v itself, from either end, would be inside. */
static void name_value(const node *in, int64_t i, int64_t v, int64_t to, const place *q, err *e)
{
    const long long last = (long long)q->of->type.dim[q->axis] - 1;
    ENDED_BY(text_free) text at = {0}, has = {0};
    add_position(&at, &in->type, i);
    if (v >= -last - 1 && v <= last)
        text_add(&at, ", which leads to %lld", (long long)to);
    if (*q->of->label && q->axis == 0)
        text_add(&has, "%s has rows 0 to %lld", q->of->label, last);
    else
        text_add(&has, "axis %d of %s goes from 0 to %lld", q->axis, *q->of->label ? q->of->label : "what it indexes",
                 last);
    err_set(e, TS_NUMERICS, "input \"%s\" holds %lld at %s; %s", in->label, (long long)v, text_str(&at),
            text_str(&has));
}

/* The error, if a value of that input leads outside. */
static bool blame(const plan *p, const place *q, void *const *input, err *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    chain c;
    bool found = false;
    if (follow(&mem, p, q->index, &c)) {
        const node *in = p->input[c.input];
        const int64_t n = type_count(&in->type), extent = q->of->type.dim[q->axis];
        for (int64_t i = 0; i < n && !found; i++) {
            const int64_t v = load_whole(in->type.dtype, input[c.input], i);
            int64_t to;
            found = leads_outside(&c, extent, v, &to);
            if (found)
                name_value(in, i, v, to, q, e);
        }
    }
    return found;
}

/* ---- the error ---- */

static void add_axis(text *t, const place *q)
{
    ENDED_BY(text_free) text one = {0};
    text_add(&one, "0...%lld of axis %d", (long long)q->of->type.dim[q->axis] - 1, q->axis);
    if (!strstr(text_str(t), text_str(&one)))
        text_add(t, "%s%s", t->length ? " or " : "", text_str(&one));
}

/* The error, if a value of an input leads outside by one of them. */
static bool blame_any(const plan *p, const places *all, void *const *input, err *e)
{
    for (int i = 0; i < all->n; i++)
        if (blame(p, &all->of[i], input, e))
            return true;
    return false;
}

static bool hint(err *e)
{
    return err_hint(e, "check integer inputs against the sizes of the tables they index");
}

bool outside_kernel(const plan *p, const kernel *k, void *const *input, err *e)
{
    places all = {0};
    for (int i = 0; i < k->n_stage; i++)
        find_places(&all, k->stage[i].node, k->stage[i].value);
    if (blame_any(p, &all, input, e))
        return false;
    ENDED_BY(text_free) text axes = {0};
    for (int i = 0; i < all.n; i++)
        add_axis(&axes, &all.of[i]);
    err_set(e, TS_NUMERICS, "%s%s%s%s: an index is outside %s", k->op, *k->label ? " \"" : "", k->label,
            *k->label ? "\"" : "", axes.length ? axes.s : "its axis");
    return hint(e);
}

bool outside_node(const plan *p, const node *n, void *const *input, const err *found, err *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    places all = {0};
    defn d;
    if (g_defn(n, &mem, &d, NULL))
        find_places(&all, n, d.value);
    const bool named = blame_any(p, &all, input, e);
    if (named)
        return false;
    err_set(e, found->code, "%s", found->text);
    return hint(e);
}
