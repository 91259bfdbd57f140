/* extents.c - the pass that finds which extents follow variables. The graph stands at the bound of each; beside it
 * are the same model's at other extents. From those where one variable is a step less it is learned what follows that
 * one: each is walked with the plan's graph from the results down; a node is the same where the expression of its
 * element is, and only extents of axes and whole numbers in it differ, which become sums of multiples of the variables.
 * A constant of which there is less in another graph must begin as it does there (positions, causal masks). The graphs
 * at the least extents, of each variable and of all, must be what these sums say. The first node of which this does not
 * hold is named.
 *
 * Requires: a graph at the bounds. Guarantees: plan.varies, plan.sized; what is computed of the first elements along
 * varying dimensions is what the graph at these extents computes, if sums over varying axes end where these do. */
#include "graph/affine/linear.h"
#include "graph/eval/eval.h"
#include "graph/ir/custom.h"
#include "graph/ir/rule.h"
#include "graph/ir/trip.h"
#include "schedule/passes/extents_pair.h"

#include <string.h>

typedef long long ll;
enum {
    MOST_COMPARED = 1 << 24, /* elements of a constant */
    MOST_PERIOD = 32         /* of how many steps, in which windows go or a whole is parted */
};

/* ---- what is refused ---- */
static int differs(const pairing *q, bool *alone) /* the first variable that is another one there; the only one */
{
    int n = 0, first = 0;
    for (int v = 0; v < q->p->n_variable; v++)
        if (q->of->size[v] != q->p->variable[v].high)
            first = n++ ? first : v;
    return *alone = n == 1, first;
}

static const node *scan_of(const node *n) /* that it is, or a result among several of; NULL: neither */
{
    int k;
    return n->trip ? n : custom_call(n, &k) && custom_call(n, &k)->trip ? custom_call(n, &k) : NULL;
}

/* "matmul "y"", or of what has no name "iterate of gru "y"": the recipe that it is a part of, and who reads it */
static const char *called(pairing *q, const node *n)
{
    const group *of = g_group_of(q->p->g, n);
    const node *named = n, *scan = scan_of(n);
    const char *what = (scan ? scan : n)->op->name;
    if (*n->label)
        return arena_format(&q->mem, "%s \"%s\"", what, n->label);
    while (named && !*named->label)
        named = q->reader[named->id];
    return !of && !named ? what
           : named
               ? arena_format(&q->mem, "%s of %s%s\"%s\"", what, of ? of->op->name : "", of ? " " : "", named->label)
               : arena_format(&q->mem, "%s of %s", what, of->op->name);
}

bool pairing_refuse(pairing *q, const node *n, const char *why)
{
    bool alone;
    const char *name = q->p->variable[differs(q, &alone)].name;
    err_set(q->e, TS_UNSUPPORTED, "dimension \"%s\" cannot vary from run to run: %s %s", name, called(q, n), why);
    return err_hint(q->e, "give it one extent: --dim %s=N", name);
}

static bool is_other(pairing *q, const node *n)
{
    return pairing_refuse(q, n, "is computed in another way at another extent");
}

static bool refuse_extent(pairing *q, const node *n, int64_t here, int64_t there)
{
    bool alone;
    const int which = differs(q, &alone);
    const variable *v = &q->p->variable[which];
    const int64_t size = q->of->size[which];
    ENDED_BY(text_free) text t = {0};
    text_add(&t, "has an extent of %lld", (ll)here);
    if (alone)
        text_add(&t, " where that is %lld, and of %lld where it is %lld", (ll)(v->high * v->step), (ll)there,
                 (ll)(size * v->step));
    else
        text_add(&t, ", and of %lld where all dimensions are least: that is no sum of multiples of them", (ll)there);
    pairing_refuse(q, n, text_str(&t));
    if (size == v->low)
        return err_hint(q->e, "or a range that begins later: --dim %s=LOW..HIGH", v->name);
    return v->step > 1 ? false : err_hint(q->e, "or steps in which it varies: --dim %s=LOW..HIGH/STEP", v->name);
}

static bool follow(pairing *q, const node *n, int axis, int64_t here, int64_t there)
{
    const varying *settled = q->aligned[n->id].extents;
    varying v = settled ? settled[axis] : extents_of(q->p, n, axis), **of = &q->p->varies[n->id];
    if (!pairing_number(q, &v, here, there))
        return refuse_extent(q, n, here, there);
    if (q->learns >= 0 && v.times[q->learns] < 0)
        return pairing_refuse(q, n, "has an extent that shrinks as it grows");
    if (v.ends == AT_LEAST || (v.ends && axis == TRIPS))
        return refuse_extent(q, n, here, there);
    if (v.by && q->learns >= 0) {
        if (!*of)
            *of = arena_array(&q->p->mem, TRIPS + 1, sizeof **of);
        (*of)[axis] = v;
    }
    return true;
}

static const node *input_of_name(const graph *g, const char *name)
{
    int i = 0;
    while (!(g->node[i]->leaf && g->node[i]->leaf->kind == LEAF_INPUT && !strcmp(g->node[i]->label, name)))
        MUST(++i < g->n);
    return g->node[i];
}

static bool same_leaf(pairing *q, const node *a, const node *b)
{
    const leaf *x = a->leaf, *y = b->leaf;
    if (x->kind == LEAF_INPUT || y->kind == LEAF_INPUT)
        return (x->kind == y->kind && !strcmp(a->label, b->label)) ||
               pairing_refuse(q, a, "is another one at another extent");
    return (x->data && y->data) ||
           (!x->data && !y->data && type_equal(&a->type, &b->type) && x->seed == y->seed && x->mean == y->mean &&
            x->scale == y->scale) ||
           pairing_refuse(q, a, "has other values at another extent");
}

/* ---- definitions ---- */
static bool same_trip(pairing *q, const node *a, const node *b)
{
    bool same = a->trip->n_root == b->trip->n_root;
    for (int i = 0; same && i < a->trip->n_root; i++)
        same = pairing_take(q, a->trip->root[i], b->trip->root[i]);
    return same;
}

/* Whether two scans differ in the number of their trips alone */
static bool same_form(const scan_form *f, const scan_form *o)
{
    return f->n_state == o->n_state && f->n_slice == o->n_slice && f->n_row == o->n_row && f->until == o->until &&
           f->keep == o->keep && !f->every == !o->every &&
           !memcmp(f->slice, o->slice, (size_t)f->n_slice * sizeof *f->slice) &&
           !memcmp(f->row, o->row, (size_t)f->n_row * sizeof *f->row) &&
           (!f->every || !memcmp(f->every, o->every, (size_t)f->n_row * sizeof *f->every));
}

static bool same_scan(pairing *q, const node *a, const node *b)
{
    if (!b->trip || a->n_in != b->n_in)
        return is_other(q, a);
    const scan_form f = scan_form_of(a), other = scan_form_of(b);
    if (!same_form(&f, &other) || !follow(q, a, TRIPS, f.trips, other.trips))
        return err_is(q->e) ? false : is_other(q, a);
    bool same = true;
    for (int i = 0; same && i < a->n_in; i++)
        same = pairing_take(q, a->in[i], b->in[i]);
    return same && (same_trip(q, a, b) || (!err_is(q->e) && is_other(q, a)));
}

/* A scan's results stand in one value at offsets that no extent changes: those at the bounds. */
static bool same_result(pairing *q, const node *a, const node *b)
{
    int k = 0, other = 0;
    const node *from = custom_call(a, &k), *there = custom_call(b, &other);
    return there && k == other ? pairing_take(q, from, there) : is_other(q, a);
}

static bool same_routine(const expr *x, const expr *y)
{
    if (x->kind != X_ROUTINE || y->kind != X_ROUTINE)
        return true;
    return !strcmp(x->run->name, y->run->name) && x->run->n_parameter == y->run->n_parameter &&
           !memcmp(x->run->parameter, y->run->parameter, (size_t)x->run->n_parameter * sizeof *x->run->parameter);
}

static bool same_made(pairing *q, const node *a, const node *b)
{
    defn x, y;
    if (a->trip)
        return same_scan(q, a, b);
    if (scan_of(a))
        return same_result(q, a, b);
    if (!g_defn(a, q->form[a->id] ? &q->scratch : &q->mem, &x, q->e) || !g_defn(b, &q->scratch, &y, q->e))
        return false;
    if (x.n_axis != y.n_axis)
        return is_other(q, a);
    for (int i = 0; i < x.n_axis; i++)
        if (!follow(q, a, i, x.extent[i], y.extent[i]))
            return false;
    pairing_axes(q, &y);
    const expr *form = q->form[a->id] ? q->form[a->id] : pairing_form(q, &q->mem, &x);
    const bool as_found = q->learns < 0;
    q->form[a->id] = as_found ? form : pairing_learned(q, form, pairing_form(q, &q->scratch, &y));
    const bool same = same_routine(x.value, y.value) && q->form[a->id] &&
                      (!as_found || pairing_alike(q, form, y.value, a->type.rank));
    if (err_is(q->e))
        return false;
    return same || (as_found ? is_other(q, a) : pairing_refuse(q, a, "has the extent in the formula of its elements"));
}

/* ---- nodes ---- */
/* Small constants are computed while a graph is built, large ones are left as they were said; a: of g. */
static bool same_values(const pairing *q, graph *g, const node *a, const node *b)
{
    const ts_array *x = g_value(g, a, MOST_COMPARED), *y = x ? g_value(q->of->graph, b, MOST_COMPARED) : NULL;
    int64_t by;
    return x && y && pairing_apart(a, x->data, b, y->data, 0, &by) && !by;
}

const node *pairing_source(const node *n)
{
    while (n->leaf && n->leaf->of)
        n = n->leaf->of;
    return n;
}

bool pairing_take(pairing *q, const node *a, const node *b)
{
    const node *was = q->mate[a->id];
    b = pairing_source(b);
    if (was || err_is(q->e)) /* constants that were computed are nodes of their own, however equal */
        return was && (was == b || (type_equal(&was->type, &b->type) && same_values(q, q->of->graph, was, b)) ||
                       pairing_refuse(q, a, "stands for two values at another extent"));
    q->mate[a->id] = b, q->open[q->n_open++] = a;
    if (!q->seen[a->id])
        q->seen[a->id] = true, q->met[q->n_met++] = a, q->within[a->id] = q->inside, q->reader[a->id] = q->at;
    if (a->type.dtype != b->type.dtype || a->type.rank != b->type.rank)
        return is_other(q, a);
    for (int i = 0; i < a->type.rank && !(a->trip && a->output); i++) /* what holds several results has no extents */
        if (!follow(q, a, i, a->type.dim[i], b->type.dim[i]))
            return false;
    return !a->leaf || !a->leaf->data || !b->leaf || !b->leaf->data || pairing_align(q, a, b);
}

static bool same_node(pairing *q, const node *a)
{
    const node *from = pairing_source(a), *b = q->mate[a->id];
    q->at = a, q->inside = q->within[a->id] || a != from;
    if (!from->leaf != !b->leaf)
        return same_values(q, q->p->g, a, b) || is_other(q, a);
    return a != from ? pairing_take(q, from, b) : b->leaf ? same_leaf(q, a, b) : same_made(q, a, b);
}

/* Walks both graphs from their roots down, and from inputs of which the results need no element. */
static bool walk(pairing *q, const other_extents *of, const node *const *here, const node *const *there)
{
    const plan *p = q->p;
    bool ok = true;
    q->of = of, q->n_open = 0, q->at = NULL, q->inside = false;
    memset(q->mate, 0, ((size_t)p->n_varies + 1) * sizeof *q->mate);
    for (int i = 0; ok && i < p->n_root; i++)
        ok = pairing_take(q, here[i], there[i]);
    for (int i = 0; ok && i < p->n_input + p->n_told; i++)
        ok = pairing_take(q, p->input[i], input_of_name(of->graph, p->input[i]->label));
    while (ok && q->n_open)
        ok = same_node(q, q->open[--q->n_open]);
    arena_free(&q->scratch);
    return ok;
}

/* ---- what was found ---- */
static bool reads_varying(const pairing *q, const expr *x)
{
    bool any = x->kind == X_LOAD && extents_any(q->p, x->from);
    for (int i = 0; i < x->n && !any; i++)
        any = reads_varying(q, x->arg[i]);
    return any;
}

/* A value that is no nest of loops is computed at the bounds. That is right if it runs forwards, element by element,
 * and nothing depends on later elements. */
static bool walked_whole(pairing *q, const node *n, const expr *x, bool sized)
{
    return !x_alone(x) || x_folds(x) || (!extents_any(q->p, n) && !reads_varying(q, x) && !sized) ||
           (x->kind == X_SCAN && !x->folds && !n->trip && !x_checks(x) && !sized) ||
           pairing_refuse(q, n, "goes through all of its operand at once");
}

/* Weights are computed at the bounds: an element of what is there reads nothing behind the ends. */
static bool sums_varying(const plan *p, const node *n)
{
    bool any = false;
    for (int a = n->type.rank; a < MAX_AXIS && !any; a++)
        any = extents_of(p, n, a).by;
    return any;
}

/* Elements with extents that vary in them; of constants that are counted from their ends all is there. */
static bool settle(pairing *q)
{
    plan *p = q->p;
    bool ok = true;
    for (int i = 0; i < q->n_met; i++) {
        const expr **x = &p->sized[q->met[i]->id];
        *x = q->form[q->met[i]->id] ? x_map(&q->mem, q->form[q->met[i]->id], pairing_in_whole, q) : NULL;
        *x = *x && x_find(*x, X_SIZE) ? *x : NULL;
    }
    for (int i = 0; i < q->n_met; i++) {
        aligned *a = &q->aligned[q->met[i]->id];
        varying **of = &p->varies[q->met[i]->id];
        if (a->ends)
            a->extents = *of, *of = arena_joined(&p->mem, *of, TRIPS + 1, NULL, 0, sizeof **of);
        for (int d = 0; d < q->met[i]->type.rank; d++)
            if (a->ends >> d & 1)
                (*of)[d] = (varying){.per = 1};
    }
    for (int i = 0; ok && i < q->n_met; i++) {
        const node *n = q->met[i];
        ok = (!p->sized[n->id] || !q->within[n->id] ||
              pairing_refuse(q, n, "has the extent in the formula of its elements")) &&
             (!q->within[n->id] || !sums_varying(p, n) ||
              pairing_refuse(q, n, "sums up, when a program is loaded, what varies")) &&
             (!q->form[n->id] || walked_whole(q, n, q->form[n->id], p->sized[n->id]));
    }
    return ok;
}

/* r: what is done of the graph of `before`, in all graphs; NULL: they are as they are */
static pairing pairing_make(plan *p, pairing *before, const extents_rewriting *r, err *e)
{
    const size_t nodes = (size_t)p->g->n + 1;
    pairing q = {.p = p, .learns = -1, .e = e, .before = before, .root = p->root};
    p->n_varies = p->g->n; /* what was known of extents is forgotten */
    p->varies = arena_array(&p->mem, nodes, sizeof *p->varies);
    p->sized = arena_array(&p->mem, nodes, sizeof *p->sized);
    if (r)
        q.rewriting = *r, q.root = r->root;
    q.mate = arena_array(&p->mem, nodes, sizeof *q.mate);
    q.open = arena_array(&q.mem, nodes, sizeof *q.open);
    q.met = arena_array(&q.mem, nodes, sizeof *q.met);
    q.seen = arena_array(&q.mem, nodes, sizeof *q.seen);
    q.within = arena_array(&q.mem, nodes, sizeof *q.within);
    q.reader = arena_array(&q.mem, nodes, sizeof *q.reader);
    q.aligned = arena_array(&q.mem, nodes, sizeof *q.aligned);
    q.form = arena_array(&q.mem, nodes, sizeof *q.form);
    for (size_t i = 0; i < nodes; i++)
        q.aligned[i].shift.per = 1;
    return q;
}

/* What was found is the plan's, in its arena, and asked again where its graph is rewritten. */
static bool keep(pairing *q, bool ok)
{
    plan *p = q->p;
    if (!ok)
        return arena_free(&q->mem), false;
    arena_take(&p->mem, &q->mem);
    p->paired = arena_get(&p->mem, sizeof *p->paired);
    return *p->paired = *q, true;
}

/* The roots; those that are constants are computed, in case they follow variables. */
static const node *const *computed(graph *g, arena *mem, int n, const node *const *of)
{
    const node **root = arena_array(mem, (size_t)n + 1, sizeof *root);
    for (int i = 0; i < n; i++)
        root[i] = of[i]->leaf && of[i]->leaf->kind != LEAF_INPUT ? g_rematerialized(g, of[i]) : of[i];
    return root;
}

static bool unflatten(plan *p, kept_apart which, err *e)
{
    if (!which)
        return true;
    const node **root = arena_array(&p->mem, (size_t)p->n_root + 1, sizeof *root);
    const bool ok = g_unflatten(p->g, which, p->n_root, p->root, root);
    p->root = root;
    return ok || err_set(e, p->g->err.code, "%s", p->g->err.text);
}

/* Compares without learning: as near the bounds, and where that fails by what changes at the least extents. */
static bool holds(pairing *q, const other_extents *x, const node *const *there)
{
    bool ok = walk(q, x, q->root, there);
    if (!ok && q->learns < 0)
        *q->e = (err){0}, q->least = true, ok = walk(q, x, q->root, there), q->least = false;
    return ok;
}

static const node *rewritten(void *user, const node *old, const node *now)
{
    const pairing *q = user;
    return q->is[old->id] ? q->rewriting.there(q->p, q->before->of->graph, now) : now;
}

/* Applies the rewriting of the plan's graph to the other graph, by the nodes that correspond. */
static bool rewrite(pairing *q, plan *other)
{
    const pairing *was = q->before;
    const node **root = arena_array(&other->mem, (size_t)other->n_root + 1, sizeof *root);
    q->is = arena_array(&other->mem, (size_t)other->g->n + 1, sizeof *q->is);
    for (int i = 0; i < was->p->n_varies; i++)
        if (was->mate[i] && q->rewriting.done[i])
            q->is[was->mate[i]->id] = true;
    const bool ok = g_rewrite(other->g, other->n_root, other->root, rewritten, q, root);
    other->root = root;
    return ok || err_set(q->e, other->g->err.code, "%s", other->g->err.text);
}

/* The other graph as it would be planned, as far as that changes it. */
static bool prepare(pairing *q, const other_extents *x, plan *other)
{
    const plan *p = q->p;
    if (q->before) {
        q->before->e = q->e;
        return prepare(q->before, x, other) && holds(q->before, x, other->root) && rewrite(q, other);
    }
    *other = (plan){.on = p->on,
                    .as_written = p->as_written,
                    .as_given = p->as_given,
                    .whole_sums = true,
                    .g = x->graph,
                    .n_root = p->n_root};
    other->root = computed(x->graph, &other->mem, p->n_root, x->root);
    return pass_join(other, q->e) && pass_known(other, q->e) && unflatten(other, q->apart, q->e);
}

bool pairing_hold(pairing *q, const other_extents *x)
{
    plan other = {0};
    const bool ok = prepare(q, x, &other) && holds(q, x, other.root);
    arena_free(&other.mem);
    return ok;
}

/* ---- the graph at a small extent ---- */
/* It has to be what was found; of its nodes it is asked later what choices gain there. */
static bool hold_small(pairing *q)
{
    const other_extents *x = q->p->variables->small;
    const bool ok = !x || pairing_hold(q, x);
    q->small = x ? q->mate : NULL, q->mate = arena_array(&q->p->mem, (size_t)q->p->n_varies + 1, sizeof *q->mate);
    return ok;
}

const node *extents_small_node(const plan *p, const node *n)
{
    const pairing *q = p->paired;
    return !p->n_variable ? n : q && q->small && n->id < p->n_varies ? q->small[n->id] : NULL;
}

/* ---- finding ---- */
/* Learns from the first graphs, one for each variable; others have to be what was found. */
static bool find_all(pairing *q, int n, const other_extents *of)
{
    bool ok = true;
    for (int k = 0; ok && k < n; k++)
        q->learns = k < q->p->n_variable ? k : -1, ok = pairing_hold(q, &of[k]);
    q->learns = -1;
    return keep(q, ok && hold_small(q) && settle(q));
}

/* As whole numbers: what it is that stands in the way is said of these. */
static bool find_whole(plan *p, kept_apart apart, pairing *before, const extents_rewriting *r, err *e)
{
    const variables *v = p->variables;
    bool found = false;
    if (before && !before->parts && v->small) { /* what is cut in two there is so at all extents, if these are whole */
        pairing q = pairing_make(p, before, r, e);
        found = find_all(&q, 1, v->small), *e = (err){0};
    }
    if (!found) {
        pairing q = pairing_make(p, before, r, e);
        q.apart = apart, found = find_all(&q, v->n_other, v->other);
    }
    return found;
}

/* As parts, where that is what whole numbers were refused for; else it is said that there are too many extents. */
static bool find_parts(plan *p, kept_apart apart, pairing *before, const extents_rewriting *r, err *e)
{
    int64_t longest = 0;
    for (int i = 0; i < p->n_variable; i++)
        longest = int_max(longest, p->variable[i].high - p->variable[i].low);
    bool found = false;
    const int64_t known = before && before->parts ? before->period : 1; /* that of what is rewritten is a part of it */
    const int64_t guesses = 2 * int_min(longest, MOST_PERIOD) / known;  /* each without limits first */
    for (int64_t i = 0; !found && e->code == TS_UNSUPPORTED && i < guesses; i++) {
        err own = {0};
        pairing q = pairing_make(p, before, r, &own);
        q.parts = true, q.apart = apart, q.limited = i % 2, q.period = known * (i / 2 + 1);
        const bool fits = pairing_guess(&q), cheap = fits && pairing_affordable(&q);
        found = keep(&q, cheap && pairing_everywhere(&q) && hold_small(&q) && settle(&q));
        if (found || (fits && !cheap))
            return *e = own, found;
    }
    return found;
}

bool extents_rewrite(plan *p, const extents_rewriting *r)
{
    if (!p->paired) /* of a trip: other graphs are not there to be rewritten */
        return false;
    const plan was = *p;
    plan *then = arena_get(&p->mem, sizeof *then);
    pairing *before = p->paired;
    err ignored = {0};
    *then = was, then->mem = (arena){0}, before->p = then;
    const bool found = find_whole(p, NO_AXES, before, r, &ignored) || find_parts(p, NO_AXES, before, r, &ignored);
    arena_take(&p->mem, &before->mem);
    if (!found) {
        const arena mem = p->mem; /* what was asked for meanwhile is in it */
        *p = was, p->mem = mem, before->p = p;
    }
    return found;
}

/* Extents may be products of several variables, and places an extent times an axis: then axes are kept apart. What
 * cannot be rewritten is no fault of the model. */
static bool find_extents(plan *p, err *e)
{
    const node *const *root[ALL_AXES + 1] = {computed(p->g, &p->mem, p->n_root, p->root)};
    bool found = false;
    err own[ALL_AXES + 1] = {0};
    const size_t bytes = (size_t)p->n_root * sizeof **root;
    for (int i = 0; !found && i <= ALL_AXES; i++) {
        p->root = *root;
        if (unflatten(p, i, &own[i]) && (!i || memcmp(*root, p->root, bytes)))
            root[i] = p->root, found = find_whole(p, i, NULL, NULL, &own[i]);
    }
    for (int i = 0; !found && i <= ALL_AXES; i++)
        if ((p->root = root[i]))
            found = find_parts(p, i, NULL, NULL, &own[i]);
    for (int i = ALL_AXES; !found && i >= 0; i--)
        if (!i || own[i].code == TS_UNSUPPORTED)
            return *e = own[i], false;
    return found;
}

bool pass_extents(plan *p, err *e)
{
    return !p->n_variable || (find_extents(p, e) && extents_constants(p, e));
}
