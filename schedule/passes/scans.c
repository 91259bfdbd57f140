/* scans.c - the pass that plans scans: a plan of one trip for each. */
#include "schedule/passes/scans.h"
#include "graph/ir/custom.h"
#include "graph/ir/rule.h"
#include "schedule/passes/launches.h"
#include "schedule/nest/nest.h"
#include "schedule/passes/passes.h"
#include "schedule/plan/extents.h"
#include "schedule/schema/schema.h"

#include <stdlib.h>
#include <string.h>

/* ---- making ---- */
typedef struct making {
    plan *around;
    const kernel *k;
    const stage *stage;
    const node *n; /* the scan */
    scan_form form;
    scan_plan *s;
    const node **row; /* inputs that stand for where rows go */
} making;

static int load_of(const making *m, int operand)
{
    int i = 0;
    while (m->stage->load[i]->from != m->n->in[operand])
        i++;
    return i;
}

static bool copy_trip(making *m, const node **root, err *e)
{
    const scan_trip *t = m->n->trip;
    graph *from = m->around->g, *to = m->s->g;
    const node **now = calloc((size_t)from->n + 1, sizeof *now), **need;
    const int n = g_reach(t->n_root, t->root, NULL);
    need = calloc((size_t)n + 1, sizeof *need);
    MUST(now && need);
    g_reach(t->n_root, t->root, need);
    for (int i = 0; i < n; i++) {
        const int64_t k = need[i]->leaf && need[i]->leaf->bound ? trip_operand(need[i]) : -1;
        if (k >= 0 && k < m->n->n_in && scan_reads_whole(&m->form, (int)k) && node_is_weight(m->n->in[k])) {
            const node *w = m->n->in[k];
            now[need[i]->id] = g_leaf(to, w->op, w->label, &w->type, w->leaf);
        }
    }
    const bool ok = g_copy(to, from, t->n_root, t->root, now);
    for (int i = 0; ok && i < t->n_root; i++)
        root[i] = now[t->root[i]->id];
    free(now), free(need);
    return ok || err_set(e, to->err.code, "%s", to->err.text);
}

/* Each result is computed, and by a node of its own, so that it can be written where it goes. */
static bool part_roots(making *m, int n, const node **root, err *e)
{
    for (int i = 0; i < n; i++)
        for (int k = -1; k < i; k++)
            if (k < 0 ? root[i]->leaf != NULL : root[k] == root[i]) {
                root[i] = g_rematerialized(m->s->g, root[i]), k = -1;
                if (!root[i])
                    return err_set(e, m->s->g->err.code, "%s", m->s->g->err.text);
            }
    return true;
}

static plan *new_plan(const making *m, const target *on, int n, const node *const *root)
{
    const plan *p = m->around;
    plan *q = heap_array(1, sizeof *q);
    *q = (plan){.on = on,
                .threads = on->workers,
                .reference = p->reference,
                .own_places = p->own_places,
                .as_written = p->as_written,
                .as_given = p->as_given,
                .whole_sums = p->whole_sums,
                .reproducible = p->reproducible,
                .passes = p->passes,
                .n_variable = extents_within(p, m->n) ? p->n_variable : 0,
                .variable = p->variable,
                .g = m->s->g,
                .n_root = n};
    variables *found = arena_get(&q->mem, sizeof *found);
    *found = (variables){.n = q->n_variable, .of = p->variable};
    q->variables = found;
    const node **own = arena_array(&q->mem, (size_t)n + 1, sizeof *own);
    memcpy(own, root, (size_t)n * sizeof *own);
    q->root = own;
    q->site = arena_array(&q->mem, MAX_SITE, sizeof *q->site);
    bool sites = false;
    for (int i = 0; p->schema && i < p->schema->n_rule; i++)
        sites = sites || p->schema->rule[i].site;
    if (!sites)
        q->schema = p->schema, q->rule_used = p->rule_used;
    return q;
}

/* ---- addresses ---- */
static int64_t place_of(const making *m, int output)
{
    return custom_place(m->n, output) * ts_dtype_bytes(m->n->type.dtype);
}

static trip_address address_of(const making *m, const node *input)
{
    const scan_form *f = &m->form;
    const int64_t k = trip_operand(input), bytes = type_bytes(&input->type);
    const int value = m->stage->n_load;
    if (k == m->n->n_in)
        return (trip_address){.load = -1, .every = 1};
    if (k < f->n_state)
        return (trip_address){.load = value, .at = place_of(m, (int)k), .every = 1};
    const bool row = k > m->n->n_in;
    if (!row && scan_reads_whole(f, (int)k))
        return (trip_address){.load = load_of(m, (int)k), .every = 1};
    const int i = (int)(row ? k - m->n->n_in - 1 : k - f->n_state);
    const bool back = row ? f->row[i] : f->slice[i];
    const int64_t first = row ? place_of(m, f->n_state + i) : 0;
    return (trip_address){.load = row ? value : load_of(m, (int)k),
                          .at = first + (back ? (f->trips - 1) * bytes : 0),
                          .step = back ? -bytes : bytes,
                          .every = row && f->every ? f->every[i] : 1,
                          .row = row};
}

/* Where operand `load` begins, or the scan's own value: of trips within trips these move, too. */
static int64_t grain_around(const making *m, int load)
{
    const plan *p = m->around;
    const bool own = load == m->stage->n_load;
    const node *n = own ? m->stage->node : m->stage->load[load]->from;
    for (int i = 0; own && i < p->n_carried; i++)
        if (p->root[p->carried[i].root] == n)
            n = p->input[p->carried[i].input];
    for (int i = 0; p->input_grain && i < p->n_input; i++)
        if (p->input[i] == n)
            return p->input_grain[i];
    return p->on->align;
}

/* The alignment, in bytes, of an input in every trip */
static int64_t grain_of(const making *m, const node *input)
{
    const trip_address a = address_of(m, input);
    if (a.load < 0)
        return type_bytes(&input->type);
    return int_gcd(int_gcd(a.at, a.step < 0 ? -a.step : a.step), grain_around(m, a.load));
}

/* ---- a plan of one trip ---- */
static int add_input(plan *q, const node *n)
{
    int i = 0;
    while (i < q->n_input && q->input[i] != n)
        i++;
    q->input[i] = n, q->n_input += i == q->n_input;
    return i;
}

/* Its inputs: what stands for operands and is read, all states, and where rows go. */
static void find_inputs(const making *m, plan *q)
{
    graph *g = m->s->g;
    const scan_form *f = &m->form;
    const int n = g_reach(q->n_root, q->root, NULL);
    const node **need = arena_array(&q->mem, (size_t)n + 1, sizeof *need);
    g_reach(q->n_root, q->root, need);
    q->input = arena_array(&q->mem, (size_t)(n + f->n_state + f->n_row) + 1, sizeof *q->input);
    q->carried = arena_array(&q->mem, (size_t)(f->n_state + f->n_row) + 1, sizeof *q->carried);
    for (int i = 0; i < n; i++)
        if (need[i]->leaf && need[i]->leaf->kind == LEAF_INPUT)
            q->input[q->n_input++] = need[i];
    for (int i = 0; i < f->n_state; i++) {
        const node *state = trip_bound(g, i, &q->root[i]->type);
        q->carried[q->n_carried++] = (carried){i, add_input(q, state)};
    }
    for (int i = 0; i < f->n_row; i++) {
        const node *row = trip_bound(g, m->n->n_in + 1 + i, &q->root[f->n_state + i]->type);
        q->carried[q->n_carried++] = (carried){f->n_state + i, add_input(q, row)};
    }
    int64_t *grain = arena_array(&q->mem, (size_t)q->n_input + 1, sizeof *grain);
    for (int i = 0; i < q->n_input; i++)
        grain[i] = grain_of(m, q->input[i]);
    q->input_grain = grain;
}

static bool run_passes(const making *m, plan *q, int to, err *e)
{
    if (!plan_run(q, 0, PASS_EXTENTS, e))
        return false;
    if (q->n_variable)
        extents_inherit(q, m->around, m->n->trip->root);
    return plan_run(q, PASS_EXTENTS + 1, to, e);
}

static plan *try_plan(const making *m, const target *on, int n, const node *const *root, err *e)
{
    plan *q = new_plan(m, on, n, root);
    find_inputs(m, q);
    if (run_passes(m, q, N_PASS, e))
        return q;
    plan_free(q);
    return NULL;
}

/* Whether a trip takes little more time than its kernels take to start. A barrier takes about as long as a start, so
 * several workers would mostly wait. */
static bool is_small(const plan *q)
{
    const target *on = q->on;
    const double flops = 2 * on->cost.fma_per_cycle * on->lanes[TS_F32] * on->cost.cycles_per_second,
                 bytes = on->level[target_last(on)].bytes_per_cycle * on->cost.cycles_per_second;
    double seconds = 0;
    for (int k = 0; k < q->n_kernel; k++) {
        const double a = flops > 0 ? q->kernel[k].flops / flops : 0, b = bytes > 0 ? q->kernel[k].bytes / bytes : 0;
        seconds += a > b ? a : b;
    }
    const double worth = on->team ? 4 : 1; /* starts; one worker of a device is slower, so less is left to it */
    return seconds < worth * on->cost.start_seconds * (q->n_kernel + 1);
}

/* ---- one kernel for all trips ---- */
static bool is_host(const kernel *k) /* a function of the process, which no kernel can call */
{
    const expr *x = k->stage->value;
    return x->kind == X_ROUTINE && !x->run->run && !x->run->copies && !k->scan;
}

enum { MOST_INSIDE = 64 }; /* kernels: one compiler makes all of them, one after another */
static int kernels_inside(const plan *q)
{
    int n = q->n_kernel;
    for (int i = 0; i < q->n_kernel; i++)
        n += q->kernel[i].scan ? kernels_inside(q->kernel[i].scan->plan) : 0;
    return n;
}

static int64_t lanes_inside(const plan *q) /* of the largest group that a kernel of it asks for */
{
    int64_t most = 1;
    for (int i = 0; i < q->n_kernel; i++) {
        const kernel *k = &q->kernel[i];
        most = int_max(most, k->scan ? k->scan->lanes : nest_group_lanes(q, k));
    }
    return most;
}

/* Whether groups of so many lanes can do each kernel: what it takes of them is what all have. */
static bool groups_fit(const plan *q, int64_t lanes)
{
    bool fit = true;
    for (int i = 0; i < q->n_kernel && fit; i++) {
        const kernel *k = &q->kernel[i];
        fit = k->scan ? groups_fit(k->scan->plan, lanes) : kernel_joins(q, k, lanes);
    }
    return fit;
}

/* To call a kernel by tables takes 10 to 20 ns more than from within (measured): a third of a trip that is small, and
 * nothing of one that is not, of which compilers make kernels at the same time, and once for all that call them. */
static bool fits_inside(const plan *q, const kernel *scan)
{
    const target *on = q->on;
    bool fits = on->loops && q->threads == 1 && is_small(q) && kernels_inside(q) <= MOST_INSIDE;
    for (int i = 0; i < q->n_kernel && fits; i++) {
        const kernel *k = &q->kernel[i];
        fits = k->scan ? k->scan->inside : !is_host(k);
    }
    if (!fits || on->team)
        return fits;
    const int operands = scan->stage->n_load + q->n_leaf + 2; /* its value, and where values of trips are */
    return (!on->operands || operands <= on->operands) && groups_fit(q, lanes_inside(q));
}

/* ---- a plan of one trip, for one worker or for all ---- */
static bool plan_trip(making *m, err *e)
{
    plan *p = m->around;
    const int n = m->n->trip->n_root;
    ENDED_BY(heap_free) const node **root = heap_array((size_t)n + 1, sizeof *root);
    target *one = arena_get(&p->mem, sizeof *one);
    *one = *p->on;
    if (one->team || one->loops) /* else each kernel of a trip begins by itself */
        one->workers = 1, one->side_by_side = false;
    bool ok = copy_trip(m, root, e) && part_roots(m, n, root, e);
    m->s->plan = ok ? try_plan(m, one, n, root, e) : NULL;
    m->s->inside = m->s->plan && fits_inside(m->s->plan, m->k);
    m->s->lanes = m->s->inside ? lanes_inside(m->s->plan) : 1;
    if (m->s->plan && one->workers < p->on->workers && !(p->on->team ? is_small(m->s->plan) : m->s->inside)) {
        plan_free(m->s->plan);
        m->s->plan = try_plan(m, p->on, n, root, e);
    }
    return m->s->plan != NULL;
}

/* ---- what a device takes ---- */
bool scan_taken(plan *p, const kernel *k, const target *on, const scan_asker *ask, err *e)
{
    const node *n = k->stage->node;
    scan_plan s = {.g = ts_graph_make()};
    making m = {.around = p, .k = k, .stage = k->stage, .n = n, .form = scan_form_of(n), .s = &s};
    ENDED_BY(heap_free) const node **root = heap_array((size_t)n->trip->n_root + 1, sizeof *root);
    bool ok = copy_trip(&m, root, e) && part_roots(&m, n->trip->n_root, root, e);
    plan *q = ok ? new_plan(&m, on, n->trip->n_root, root) : NULL;
    if (ok)
        find_inputs(&m, q);
    ok = ok && run_passes(&m, q, PASS_PLACE, e);
    for (int i = 0; ok && i < q->n_kernel; i++) {
        const kernel *own = &q->kernel[i];
        ok = ask->takes(ask->user, own, e) && (!own->stage->node->trip || scan_taken(q, own, on, ask, e));
    }
    if (q)
        plan_free(q);
    ts_graph_free(s.g);
    return ok || err_in(e, "a trip");
}

/* ---- where everything is ---- */
enum { COUNTED = 1 << 30 }; /* trips: more than this bound no loop that ends by itself */
static void find_places(making *m)
{
    scan_plan *s = m->s;
    const plan *q = s->plan;
    arena *mem = &m->around->mem;
    s->address = arena_array(mem, (size_t)q->n_input + 1, sizeof *s->address);
    s->first = arena_array(mem, (size_t)q->n_carried + 1, sizeof *s->first);
    s->copy = arena_array(mem, (size_t)q->n_carried + 1, sizeof *s->copy);
    for (int i = 0; i < q->n_input; i++)
        s->address[i] = address_of(m, q->input[i]);
    for (int i = 0; i < q->n_carried; i++) {
        const carried *c = &q->carried[i];
        const node *n = q->root[c->root];
        const trip_copy one = {.root = c->root, .input = c->input, .bytes = type_bytes(&n->type)};
        if (q->buffer[n->id].where != IN_INPUT)
            s->copy[s->n_copy++] = one;
        if (c->root < m->form.n_state)
            s->first[s->n_first] = one, s->first[s->n_first++].load = load_of(m, c->root);
    }
    s->until = m->form.until ? q->n_root - 1 : -1;
    s->plan->ends = m->form.until;
    s->leaf = arena_array(mem, (size_t)q->n_leaf + 1, sizeof *s->leaf);
    for (int i = 0; i < q->n_leaf; i++)
        s->leaf[i] = plan_leaf(m->around, q->leaf[i].node, &q->leaf[i].layout);
    bool counts = false;
    for (int i = 0; i < q->n_input; i++)
        counts = counts || s->address[i].load < 0;
    const target *on = m->around->on;
    s->number = target_aligned(on, q->arena_bytes);
    s->room = arena_get(mem, sizeof *s->room);
    s->room->bytes = s->number + (counts && !on->team ? target_aligned(on, ts_dtype_bytes(TS_I64)) : 0);
}

static void count_work(kernel *k, const scan_plan *s)
{
    const int64_t trips = s->until < 0 || s->trips < COUNTED ? s->trips : 1; /* nobody knows when it ends */
    k->flops = k->bytes = 0;
    for (int i = 0; i < s->plan->n_kernel; i++) {
        k->flops += s->plan->kernel[i].flops * (double)trips;
        k->bytes += s->plan->kernel[i].bytes * (double)trips;
    }
}

static bool plan_scan(plan *p, kernel *k, err *e)
{
    const node *n = k->stage->node;
    making m = {.around = p, .k = k, .stage = k->stage, .n = n, .form = scan_form_of(n)};
    k->scan = m.s = arena_get(&p->mem, sizeof *m.s);
    m.s->g = ts_graph_make(), m.s->trips = m.form.trips, m.s->counted = extents_of(p, n, TRIPS);
    if (!plan_trip(&m, e))
        return err_in(e, "a trip of %s%s%s%s", k->op, *k->label ? " \"" : "", k->label, *k->label ? "\"" : "");
    find_places(&m);
    count_work(k, m.s);
    return true;
}

bool pass_scans(plan *p, err *e)
{
    bool ok = true;
    if (p->n_site)
        return plan_each_part(p, pass_scans, e);
    for (int k = 0; k < p->n_kernel && ok; k++)
        if (scan_planned(p, p->kernel[k].stage->node))
            ok = plan_scan(p, &p->kernel[k], e);
    return ok;
}
