/* extents_find.c - the pass that finds which extents follow variables. The graph stands at the bound of each; beside it
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
#include "graph/ir/custom.h"
#include "graph/ir/rule.h"
#include "graph/ir/trip.h"
#include "schedule/passes/extents_pair.h"
#include "schedule/passes/passes.h"
#include "schedule/passes/unflatten.h"

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
    varying v = extents_of(q->p, n, axis), **of = &q->p->varies[n->id];
    if (!pairing_number(q, &v, here, there))
        return refuse_extent(q, n, here, there);
    if (q->learns >= 0 && v.times[q->learns] < 0)
        return pairing_refuse(q, n, "has an extent that shrinks as it grows");
    if (v.ends == AT_LEAST || (v.ends && axis == TRIPS))
        return refuse_extent(q, n, here, there);
    if (v.by && !*of)
        *of = arena_array(&q->p->mem, TRIPS + 1, sizeof **of);
    if (v.by)
        (*of)[axis] = v;
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
    const bool inside = q->inside;
    bool same = a->trip->n_root == b->trip->n_root;
    q->inside = true;
    for (int i = 0; same && i < a->trip->n_root; i++)
        same = pairing_take(q, a->trip->root[i], b->trip->root[i]);
    q->inside = inside;
    return same;
}

/* What scans are beside their trips' number */
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
    if (q->inside && extents_of(q->p, a, TRIPS).by)
        return pairing_refuse(q, a, "is a loop within a loop, of which the trips are counted when a plan is made");
    bool same = true;
    for (int i = 0; same && i < a->n_in; i++)
        same = pairing_take(q, a->in[i], b->in[i]);
    return same && (same_trip(q, a, b) || (!err_is(q->e) && is_other(q, a)));
}

/* Results of a scan lie at the same places of its value at all extents: those at the bounds. */
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

/* What no nest walks is computed at the bound: right where it goes forwards, one element after another, and nothing of
 * it depends on what lies behind. */
static bool walked_whole(pairing *q, const node *n, const expr *x, bool sized)
{
    return !x_alone(x) || x_folds(x) || (!extents_any(q->p, n) && !reads_varying(q, x) && !sized) ||
           (x->kind == X_SCAN && !x->folds && !n->trip && !x_checks(x) && !sized) ||
           pairing_refuse(q, n, "goes through all of its operand at once");
}

/* What a trip computes is computed at the bounds: an element of what is there reads nothing behind the ends. */
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
    for (int i = 0; i < q->n_met; i++)
        for (int d = 0; d < q->met[i]->type.rank; d++)
            if (q->aligned[q->met[i]->id].ends >> d & 1)
                p->varies[q->met[i]->id][d] = (varying){.per = 1};
    for (int i = 0; ok && i < q->n_met; i++) {
        const node *n = q->met[i];
        ok = (!p->sized[n->id] || !q->within[n->id] ||
              pairing_refuse(q, n, "has the extent in the formula of its elements")) &&
             (!q->within[n->id] || !sums_varying(p, n) ||
              pairing_refuse(q, n, "sums up, in a trip of a loop, what varies")) &&
             (!q->form[n->id] || walked_whole(q, n, q->form[n->id], p->sized[n->id]));
    }
    return ok;
}

static pairing pairing_make(plan *p, err *e)
{
    const size_t nodes = (size_t)p->g->n + 1;
    pairing q = {.p = p, .learns = -1, .e = e};
    p->n_varies = p->g->n; /* what was known of extents is forgotten */
    p->varies = arena_array(&p->mem, nodes, sizeof *p->varies);
    p->sized = arena_array(&p->mem, nodes, sizeof *p->sized);
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

static bool keep(pairing *q, bool ok) /* the plan's expressions are in its arena */
{
    if (ok)
        arena_take(&q->p->mem, &q->mem);
    else
        arena_free(&q->mem);
    return ok;
}

/* The roots; those that are constants are computed, in case they follow variables. */
static const node *const *computed(graph *g, arena *mem, int n, const node *const *of)
{
    const node **root = arena_array(mem, (size_t)n + 1, sizeof *root);
    for (int i = 0; i < n; i++)
        root[i] = of[i]->leaf && of[i]->leaf->kind != LEAF_INPUT ? g_rematerialized(g, of[i]) : of[i];
    return root;
}

static bool unflatten(plan *p, err *e)
{
    const node **root = arena_array(&p->mem, (size_t)p->n_root + 1, sizeof *root);
    const bool ok = g_unflatten(p->g, p->n_root, p->root, root);
    p->root = root;
    return ok || err_set(e, p->g->err.code, "%s", p->g->err.text);
}

/* The other graph as it would be planned, as far as that changes it. */
static bool prepare(const plan *p, const other_extents *x, bool apart, plan *other, err *e)
{
    *other = (plan){.on = p->on, .as_written = p->as_written, .whole_sums = true, .g = x->graph, .n_root = p->n_root};
    other->root = computed(x->graph, &other->mem, p->n_root, x->root);
    return pass_join(other, e) && pass_known(other, e) && (!apart || unflatten(other, e));
}

bool pairing_hold(pairing *q, const other_extents *x)
{
    const plan *p = q->p;
    plan other = {0};
    bool ok = prepare(p, x, q->apart, &other, q->e);
    if (ok && !walk(q, x, p->root, other.root)) {
        q->least = q->learns < 0, *q->e = q->least ? (err){0} : *q->e;
        ok = q->least && walk(q, x, p->root, other.root), q->least = false;
    }
    arena_free(&other.mem);
    return ok;
}

/* ---- the graph at a small extent ---- */
struct small {
    const node *const *root, **mate; /* mate: by id of the plan's own nodes, as they were then */
    int n;
};

/* Learns from the first graphs, one for each variable; those at the least extents, and then the small one, have to be
 * what was found. apart: axes that were made one are kept apart in all of them. */
static bool find_all(plan *p, bool apart, err *e)
{
    const variables *v = p->variables;
    pairing q = pairing_make(p, e);
    bool ok = true;
    for (int k = 0; ok && k < v->n_other + (v->small != NULL); k++) {
        const bool small = k == v->n_other;
        const other_extents *x = small ? v->small : &v->other[k];
        plan other = {0};
        q.learns = k < v->n ? k : -1, q.least = k >= v->n && !small;
        ok = prepare(p, x, apart, &other, e) && walk(&q, x, p->root, other.root);
        if (ok && small) {
            p->small = arena_get(&p->mem, sizeof *p->small);
            *p->small = (struct small){other.root, q.mate, p->g->n};
            arena_take(&p->mem, &other.mem);
        } else
            arena_free(&other.mem);
    }
    return keep(&q, ok && settle(&q));
}

/* What it is that stands in the way is said of whole numbers, or that there are too many extents. */
static bool find_any(plan *p, bool apart, err *e)
{
    int64_t longest = 0;
    for (int v = 0; v < p->n_variable; v++)
        longest = int_max(longest, p->variable[v].high - p->variable[v].low);
    bool found = find_all(p, apart, e);
    const int64_t guesses = 2 * int_min(longest, MOST_PERIOD); /* each without limits first */
    for (int64_t i = 0; !found && e->code == TS_UNSUPPORTED && i < guesses; i++) {
        err own = {0};
        pairing q = pairing_make(p, &own);
        q.parts = true, q.apart = apart, q.limited = i % 2, p->small = NULL;
        const bool fits = pairing_guess(&q, i / 2 + 1), cheap = fits && pairing_affordable(&q);
        found = keep(&q, cheap && pairing_everywhere(&q) && settle(&q));
        if (found || (fits && !cheap))
            return *e = own, found;
    }
    return found;
}

const node *extents_small_node(const plan *p, const node *n)
{
    return !p->n_variable ? n : p->small && n->id < p->small->n ? p->small->mate[n->id] : NULL;
}

typedef struct there { /* by id of the nodes there: what is to be done of them */
    const extents_rewriting *by;
    graph *g;
    const bool *is;
    int n;
} there;

static const node *rewritten(void *user, const node *old, const node *now)
{
    const there *t = user;
    return old->id < t->n && t->is[old->id] ? t->by->there(t->g, now) : now;
}

bool extents_rewrite(plan *p, const extents_rewriting *r)
{
    struct small *m = p->small;
    const plan was = *p;
    err ignored = {0};
    graph *g = p->variables->small->graph;
    bool *is = arena_array(&p->mem, (size_t)g->n + 1, sizeof *is);
    const node **root = arena_array(&p->mem, (size_t)p->n_root + 1, sizeof *root);
    for (int i = 0; i < m->n; i++)
        if (m->mate[i] && r->done(r->user, p->g->node[i]))
            is[m->mate[i]->id] = true;
    if (g_rewrite(g, p->n_root, m->root, rewritten, &(there){r, g, is, g->n}, root)) {
        pairing q = pairing_make(p, &ignored);
        q.learns = 0;
        if (keep(&q, walk(&q, p->variables->small, r->root, root) && settle(&q)))
            return true;
    }
    arena mem = p->mem; /* what was asked for meanwhile is in it */
    *p = was, p->mem = mem;
    return false;
}

bool pass_extents(plan *p, err *e)
{
    if (!p->n_variable)
        return true;
    err as_it_is = {0}, kept_apart = {0};
    p->root = computed(p->g, &p->mem, p->n_root, p->root);
    if (find_any(p, false, p->n_variable > 1 ? &as_it_is : e))
        return true;
    if (p->n_variable == 1) /* else extents may be products of several */
        return false;
    if (unflatten(p, &kept_apart) && find_any(p, true, &kept_apart))
        return true;
    *e = kept_apart.code == TS_UNSUPPORTED ? kept_apart
                                           : as_it_is; /* what cannot be rewritten is no fault of the model */
    return false;
}
