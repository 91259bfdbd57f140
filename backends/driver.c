/* driver.c - the plans of tessera.h: a model, a schedule, a back end, and the values that go in and out. */
#include "backends/driver.h"
#include "backends/interrupt.h"
#include "graph/base/suggest.h"
#include "graph/ir/trip.h"
#include "schedule/make.h"
#include "schedule/explain/explain.h"
#include "schedule/plan/extents.h"
#include "schedule/schema/schema.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const backend *backend_find(const char *name, err *e)
{
    ENDED_BY(suggest_free) suggestion near = {.word = name};
    for (const backend *const *b = backends; *b; suggest_offer(&near, (*b++)->name))
        if (!strcmp((*b)->name, name))
            return *b;
    err_set(e, TS_USAGE, "no target \"%s\"", name);
    suggest_hint(&near, "the targets are", e);
    return NULL;
}

/* A back end that says so, else one that runs in this process, else any: there is always one (interp). */
const backend *backend_usual(void)
{
    const backend *found = backends[0];
    for (const backend *const *b = backends; *b; b++)
        if (!found->usual && ((*b)->usual || ((*b)->in_host && !found->in_host)))
            found = *b;
    return found;
}

bool backend_usable(const backend *by, text *why)
{
    return !by->present || !by->present->usable || by->present->usable(why);
}

static bool backend_runs(const backend *by, const target *t, err *e)
{
    return !by->present || !by->present->runs || by->present->runs(t, e);
}

/* ---- making ---- */
/* A name once, though several back ends plan for the same kind of machine. */
static void add_name(arena *mem, const char **list, int *n, int most, const char *name, size_t length)
{
    int i = 0;
    while (i < *n && (strlen(list[i]) != length || strncmp(list[i], name, length)))
        i++;
    if (i == *n && *n < most)
        list[(*n)++] = arena_format(mem, "%.*s", (int)length, name);
}

/* What rules of a schema may be for: back ends, and kinds of machines that these plan for */
static const char *const *all_targets(arena *mem)
{
    int most = 0, n = 0;
    for (const backend *const *b = backends; *b; b++)
        most += 4;
    const char **list = arena_array(mem, (size_t)most + 1, sizeof *list);
    for (const backend *const *b = backends; *b; b++)
        add_name(mem, list, &n, most, (*b)->name, strlen((*b)->name));
    for (const backend *const *b = backends; *b; b++)
        for (const char *s = (*b)->kinds; s && *s; s += strspn(s, " ")) {
            const size_t length = strcspn(s, " ");
            add_name(mem, list, &n, most, s, length);
            s += length;
        }
    return list;
}

/* What is planned: roots of a graph, the last n_state of which are written over state[] when a run ends. */
typedef struct wanted {
    const variables *variables; /* NULL: all extents are constant */
    int n_root, n_state;        /* the last roots are what state[] becomes */
    const node *const *root, *const *state;
} wanted;

static bool isa_used(const plan *p, const char *isa, const char *name, err *e) /* some part of the plan takes it */
{
    bool any = !isa || p->on->named;
    for (int i = 0; i < p->n_site; i++)
        any = any || p->site[i].on->named;
    return any || (err_set(e, TS_USAGE, "instruction set \"%.40s\": nothing of the plan for %s runs on a processor",
                           isa, name),
                   err_hint(e, "leave it out, or plan for the processor: c"));
}

static bool goes_back(const graph *g)
{
    int i = 0;
    while (i < g->n && !g->node[i]->back)
        i++;
    return i < g->n;
}

/* One that fits, if recomputing makes one: with as few values recomputed as that takes. Else the leanest, or NULL. */
static plan *plan_lean(graph *g, const wanted *want, plan_options w, const char *limits, err *e)
{
    int least = 0, most = RULE_SHARES;
    w.trial = true, w.shares = most;
    plan *p = plan_make(g, want->n_root, want->root, &w, e);
    while (p && most - least > 1 && driver_fits(p, limits, NULL)) {
        w.shares = (least + most) / 2;
        plan *q = plan_make(g, want->n_root, want->root, &w, e);
        *(q && driver_fits(q, limits, NULL) ? &most : &least) = w.shares;
        plan_free(q);
    }
    plan_free(p);
    w.trial = false, w.shares = most;
    return p ? plan_make(g, want->n_root, want->root, &w, e) : NULL;
}

/* What does not fit is planned again: first with the same bits, then without alternatives and what weights alone say,
 * which take more memory. */
static plan *plan_within(graph *g, const wanted *want, plan_options *w, const char *limits, err *e)
{
    const bool back = goes_back(g) && !w->reference;
    for (bool last = w->as_given;; last = w->as_written = w->as_given = true) {
        plan *p = plan_make(g, want->n_root, want->root, w, e);
        if (p && back && !driver_fits(p, limits, NULL))
            plan_free(p), p = plan_lean(g, want, *w, limits, e);
        if (!p || last || driver_fits(p, limits, NULL))
            return p;
        plan_free(p);
    }
}

static bool plans_for(const backend *b, const char *kind, size_t n)
{
    bool found = false;
    for (const char *s = b->kinds; s && *s && !found; s += strcspn(s, " "), s += strspn(s, " "))
        found = strcspn(s, " ") == n && !strncmp(s, kind, n);
    return found;
}

/* Where nobody names it: "gpu:h100" is for the first target that plans for that kind, all else for the usual one. */
static const char *target_of(const ts_options *o)
{
    const size_t n = o->machine ? strcspn(o->machine, ":") : 0;
    const char *name = o->target;
    for (const backend *const *b = backends; !name && n && *b; b++)
        if (plans_for(*b, o->machine, n))
            name = (*b)->name;
    return name ? name : backend_usual()->name;
}

/* What is set before a failure is freed by ts_plan_free, which takes a plan in any state of making. */
static bool set_up(ts_plan *p, const ts_options *o, const wanted *want, graph *g, err *e)
{
    const ts_options none = {0};
    o = o ? o : &none;
    site named[MAX_SITE];
    phases_begin(&p->phases);
    sites_search(&p->sites, &p->mem,
                 &(machine_options){.machine = o->machine,
                                    .isa = o->isa,
                                    .threads = o->threads,
                                    .device = o->device,
                                    .cache_folder = o->cache_folder,
                                    .phases = &p->phases},
                 o->mem_limit);
    const int n_site = sites_read(&p->sites, target_of(o), named, e);
    if (!n_site)
        return false;
    p->by = p->target = sites_backend(named), p->on = named->on;
    p->device = n_site > 1 ? arena_string(&p->mem, target_of(o)) : named->name;
    plan_options w = {.on = p->on,
                      .target = p->target->name,
                      .finder = &p->sites.finder,
                      .n_site = n_site,
                      .site = named,
                      .schema = o->schema,
                      .targets = all_targets(&p->mem),
                      .reference = o->reference,
                      .as_written = p->target->as_written || o->as_written || o->reproducible,
                      .as_given = p->target->as_written || o->reproducible,
                      .whole_sums = (p->target->as_written && !p->target->in_blocks) || o->as_written ||
                                    o->reproducible,
                      .reproducible = o->reproducible,
                      .variables = want->variables,
                      .passed = o->passed ? show_pass : NULL,
                      .user = (void *)(uintptr_t)o,
                      .n_state = want->n_state,
                      .state = want->state};
    if (want->variables && !p->target->varies) {
        err_set(e, TS_UNSUPPORTED, "target %s makes no programs of which runs say the extent of \"%s\"",
                p->target->name, want->variables->of->name);
        return err_hint(e, "give it one extent: --dim %s=N", want->variables->of->name);
    }
    p->asked = (build_options){.progress = o->progress, .user = o->user, .phases = &p->phases};
    if (o->cache_folder)
        p->asked.cache_folder = p->cache_folder = strdup(o->cache_folder);
    p->plan = plan_within(g, want, &w, o->mem_limit, e);
    if (!p->plan || !driver_limits(o->mem_limit, p->plan, e) || !driver_fits(p->plan, o->mem_limit, e) ||
        !isa_used(p->plan, o->isa, p->target->name, e))
        return false;
    g_add_user(g, &p->graph);
    p->by = p->plan->n_site ? &several : p->target;
    const size_t n_input = (size_t)(p->plan->n_input + p->plan->n_told) + 1;
    p->given = heap_array(n_input, sizeof *p->given), p->lent = heap_array(n_input, sizeof *p->lent);
    p->old = heap_array((size_t)p->plan->n_root + 1, sizeof *p->old);
    p->said = heap_array(n_input * MAX_RANK, sizeof *p->said);
    phases_done(&p->phases, PHASE_PLAN);
    return true;
}

/* input_of[port]: the plan's input, or -1 where the results do not depend on it. preset[port]: the value that shapes
 * were derived from, to which every run is held. */
static void find_ports(ts_plan *p, ts_model *m, const graph *g)
{
    p->n_port = ts_model_inputs(m);
    p->input_of = heap_array((size_t)p->n_port + 1, sizeof *p->input_of);
    p->preset = heap_array((size_t)p->n_port + 1, sizeof *p->preset);
    varying_count_ports(p, m);
    for (int i = 0; i < p->n_port; i++) {
        ts_port port;
        ts_model_input(m, i, &port);
        p->input_of[i] = -1;
        for (int k = 0; k < p->plan->n_input + p->plan->n_told; k++)
            if (!strcmp(p->plan->input[k]->label, port.name) &&
                (k < p->plan->n_input || extents_any(p->plan, p->plan->input[k])))
                p->input_of[i] = k;
    }
    for (int k = 0; k < g->n; k++) {
        const node *n = g->node[k];
        ts_port port;
        for (int i = 0; n->leaf && n->leaf->preset && n->leaf->preset->used && ts_model_input(m, i, &port); i++)
            if (!strcmp(n->label, port.name) && varying_counted(p, i) < 0)
                p->preset[i] = n->leaf->preset;
    }
}

static void name_outputs(ts_plan *p, ts_model *m, int n)
{
    p->output = heap_array((size_t)n + 1, sizeof *p->output);
    for (int i = 0; i < n; i++) {
        ts_port port;
        ts_model_output(m, i, &port);
        p->output[i] = port.name;
    }
}

ts_plan *driver_make(ts_model *m, const variables *v, const ts_options *o, err *e)
{
    graph *g = err_given(m, "the model", e) ? ts_model_graph(m) : NULL;
    const int n = m ? ts_model_outputs(m) : 0;
    if (!g)
        return err_set(e, TS_USAGE, "the model's dimensions are not bound yet: ts_model_bind comes first"), NULL;
    const int n_append = o ? o->n_append : 0;
    if (n_append && !v)
        return err_set(e, TS_USAGE, "inputs go on (ts_append) where dimensions vary: ts_plan_make_varying"), NULL;
    ts_plan *p = heap_array(1, sizeof *p);
    p->n_grown = n_append, p->grown = heap_array((size_t)n_append + 1, sizeof *p->grown);
    const node **root = appending_roots(m, o, p->grown, e), **from = heap_array((size_t)n_append + 1, sizeof *from);
    for (int i = 0; i < n_append; i++)
        from[i] = p->grown[i].buffer;
    const wanted all = {.variables = v, .n_root = n + n_append, .root = root, .n_state = n_append, .state = from};
    const bool ok = root && set_up(p, o, &all, g, e);
    if (ok)
        find_ports(p, m, g), name_outputs(p, m, n), appending_begin(p);
    free(root), free(from);
    if (ok)
        return p;
    ts_plan_free(p);
    return NULL;
}

ts_plan *ts_plan_make(ts_model *m, const ts_options *o, ts_error *e)
{
    return driver_make(m, NULL, o, e);
}

void ts_plan_free(ts_plan *p)
{
    if (!p)
        return;
    g_drop_user(&p->graph);
    if (p->program)
        p->by->drop(p->program);
    merges_end(p);
    for (int i = 0; p->given && i < p->plan->n_input + p->plan->n_told; i++)
        if (!p->lent[i])
            ts_array_free(&p->given[i]);
    for (int i = 0; p->old && i < p->plan->n_root; i++)
        ts_array_free(&p->old[i]);
    plan_free(p->plan);
    arena_free(&p->mem);
    text_free(&p->facts);
    free(p->given), free(p->lent), free(p->said), free(p->input_of), free(p->preset), free(p->output), free(p->old),
        free(p->grown), free(p->cache_folder), free(p);
}

bool driver_stands(const ts_plan *p, err *e)
{
    if (!err_given(p, "the plan", e) || p->graph.of)
        return p != NULL;
    err_set(e, TS_USAGE, "the graph of the plan was freed, or its model bound again: only ts_plan_free is left");
    return err_hint(e, "free plans before what they are of; ts_model_take keeps a graph beyond its model's next bind");
}

const char *ts_plan_device(const ts_plan *p)
{
    return p ? p->device : NULL;
}

bool ts_plan_runs(const ts_plan *p, ts_error *e)
{
    if (!driver_stands(p, e))
        return false;
    if (!p->by->build)
        return err_set(e, TS_UNSUPPORTED, "target %s plans and emits, but does not run", p->target->name);
    bool ok = backend_runs(p->by, p->on, e);
    for (int i = 0; ok && i < p->plan->n_site; i++) {
        const site *s = &p->plan->site[i];
        ok = !s->part || backend_runs(sites_backend(s), s->on, e) || err_in(e, "device %s", s->name);
    }
    return ok;
}

bool ts_plan_build(ts_plan *p, ts_error *e)
{
    if (p && p->program)
        return driver_stands(p, e);
    if (!ts_plan_runs(p, e))
        return false;
    p->facts.length = 0, p->assembled = false;
    interrupt_open();
    phases_begin(&p->phases);
    p->program = p->by->build(p->plan, &p->asked, &p->facts, e);
    phases_done(&p->phases, PHASE_LOAD);
    if (interrupt_close()) { /* what its end broke is not the cause; nor does who asked want to hear of a program */
        if (p->program)
            p->by->drop(p->program), p->program = NULL;
        if (e)
            *e = (err){0};
        return err_set(e, TS_INTERRUPTED, "stopped while it was built: nothing half made is kept");
    }
    if (!p->program)
        return false;
    p->held = p->by->inputs ? p->by->inputs->hold(p->program) : NULL;
    json_add(&p->facts, "times_kernels:%i,phases:", p->by->kernels != NULL);
    phases_json(&p->phases, &p->facts);
    return true;
}

/* ---- running ---- */
/* go runs the program in one way or another: at once, kernel by kernel, timed. */
bool driver_run(ts_plan *p, driver_way *go, void *user, err *e)
{
    if (!ts_plan_build(p, e) || !merges_await(p, e))
        return false;
    ENDED_BY(heap_free) void **input = heap_array((size_t)p->plan->n_input + 1, sizeof *input);
    p->last = RUN_FAILED, p->at = p->from = 0;
    if (!p->trimmed) /* what planning and building needed besides: 3 MB of a BERT-base */
        pages_trim(), p->trimmed = true;
    if (driver_gather(p, input, e) && driver_keep_old(p, e) && go(p, input, user, e) && driver_carry_over(p, e))
        p->last = RAN, p->runs++, p->at = p->to = p->plan->n_kernel, appending_end(p);
    return p->last == RAN;
}

static bool go_through(ts_plan *p, void *const *input, void *user, err *e)
{
    (void)user;
    return p->by->run(p->program, input, e);
}

bool ts_plan_run(ts_plan *p, ts_error *e)
{
    return driver_run(p, go_through, NULL, e);
}

bool ts_plan_get(ts_plan *p, int output, ts_array *out, ts_error *e)
{
    if (!driver_stands(p, e) || !err_given(out, "the array for an output", e))
        return false;
    if (p->last != RAN)
        return err_set(e, TS_USAGE,
                       p->last == NOT_RUN ? "the plan has not run yet: ts_plan_run comes first"
                                          : "the last run failed, so that there are no results of it");
    const int n_output = p->plan->n_root - p->plan->n_carried;
    if (output < 0 || output >= n_output)
        return err_set(e, TS_USAGE, "output %d, but the plan has %d of them, counted from 0", output, n_output);
    const type *t = &p->plan->root[output]->type;
    if (extents_any(p->plan, p->plan->root[output]))
        return varying_get(p, output, out, e);
    if (!ts_array_make(out, t->dtype, t->rank, t->dim, e))
        return false;
    if (driver_value(p, output, out, e))
        return true;
    ts_array_free(out);
    return false;
}

/* ---- plans over tensors ---- */
static void number_ports(ts_plan *p) /* every input is a port of its own */
{
    p->n_port = p->plan->n_input;
    p->input_of = heap_array((size_t)p->n_port + 1, sizeof *p->input_of);
    p->preset = heap_array((size_t)p->n_port + 1, sizeof *p->preset);
    for (int i = 0; i < p->n_port; i++)
        p->input_of[i] = i;
}

/* Roots: the n tensors asked for, then what states become. */
ts_plan *ts_plan_of(ts_graph *g, int n, const ts_tensor *t, int n_state, const ts_state *state, const ts_options *o,
                    ts_error *e)
{
    if (n < 0 || n_state < 0)
        return err_set(e, TS_USAGE, "a plan of %d tensors and %d states, 0 or more expected", n, n_state), NULL;
    if (!ts_graph_ok(g, e) || (n && !err_given(t, "the list of tensors", e)) ||
        (n_state && !err_given(state, "the list of states", e)))
        return NULL;
    const node **root = heap_array((size_t)n + (size_t)n_state + 1, sizeof *root),
               **from = heap_array((size_t)n_state + 1, sizeof *from);
    ts_plan *p = heap_array(1, sizeof *p);
    bool ok = true;
    for (int i = 0; ok && i < n + n_state; i++) {
        root[i] = i < n ? t[i] : state[i - n].to;
        if (i >= n)
            from[i - n] = state[i - n].from;
        ok = (root[i] && (i < n || from[i - n])) || err_set(e, TS_USAGE, "tensor %d is NULL", i);
    }
    ok = ok && ((g_holds(g, "plan", n + n_state, root) && g_holds(g, "plan", n_state, from) &&
                 trips_ended(g, "plan", n + n_state, root)) ||
                ts_graph_ok(g, e));
    ok = ok && set_up(p, o, &(wanted){.n_root = n + n_state, .n_state = n_state, .root = root, .state = from}, g, e);
    if (ok)
        number_ports(p);
    free(root), free(from);
    if (ok)
        return p;
    ts_plan_free(p);
    return NULL;
}

int ts_plan_find(const ts_plan *p, const char *input)
{
    for (int i = 0; input && driver_stands(p, NULL) && i < p->n_port; i++)
        if (p->input_of[i] >= 0 && !strcmp(p->plan->input[p->input_of[i]]->label, input))
            return i;
    return -1;
}

/* A machine without an assembler still explains its plans: the failure becomes the reason. */
void ts_plan_assemble(ts_plan *p)
{
    ENDED_BY(text_free) text own = {0};
    err e = {0};
    if (!driver_stands(p, NULL) || !p->by->texts || !p->by->texts->assemble || p->assembled)
        return;
    p->assembled = true;
    if (!p->by->texts->assemble(p->plan, &p->asked, &own, &e)) {
        own.length = 0;
        json_add(&own, "assembler:{reason:%.*s}", (int)strcspn(e.text, "\n"), e.text); /* without the hint */
    }
    if (own.length)
        json_add_raw(&p->facts, own.s);
}

char *ts_plan_json(ts_plan *p, ts_error *e)
{
    text t = {0};
    if (!driver_stands(p, e))
        return NULL;
    plan_explain(p->plan, p->target->name, text_str(&p->facts), &t);
    return text_take(&t);
}

static void say_port(const void *of, int input, int root, text *out)
{
    const ts_plan *p = of;
    if (input >= 0)
        json_add(out, "newest:%s,takes:[",
                 !p->given[input].data              ? "missing"
                 : p->held && p->held->newer[input] ? "device"
                                                    : "host");
    else
        json_add(out, "gives:[");
    merges_say(p, input, root, out);
    text_add(out, "]");
}

char *ts_plan_ledger(ts_plan *p, ts_error *e)
{
    text t = {0};
    if (!driver_stands(p, e))
        return NULL;
    const bool at_edges = p->by->at_edges && p->by->at_edges(p->plan);
    plan_ledger(p->plan, &(ledger_asker){p->target->name, at_edges, say_port, p}, &t);
    return text_take(&t);
}

char *ts_plan_nests(ts_plan *p, int number, int most, uint64_t seed, ts_error *e)
{
    text t = {0};
    if (!driver_stands(p, e))
        return NULL;
    if (number < 0 || number >= p->plan->n_kernel || most < 1)
        return err_set(e, TS_USAGE, "kernel %d, %d loops: the plan has %d kernels", number, most, p->plan->n_kernel),
               NULL;
    const kernel *k = &p->plan->kernel[number];
    const plan *own = sites_plan(p->plan, k);
    plan_nests(own, own == p->plan ? k : &own->kernel[k->within], most, seed, &t);
    return text_take(&t);
}

char *ts_schema_text(const char *name, const ts_options *o, ts_error *e)
{
    return err_given(name, "the name of a schema", e)
               ? schema_text(name, o && o->target ? o->target : backend_usual()->name, e)
               : NULL;
}

/* What a schema would have to say to get the guess: a start for writing one. */
char *ts_schema_guess(ts_model *m, const ts_options *o, ts_error *e)
{
    ts_options own = o ? *o : (ts_options){0};
    text t = {0};
    own.schema = NULL;
    ts_plan *p = ts_plan_make(m, &own, e);
    if (!p)
        return NULL;
    plan_schema(p->plan, p->target->name, &t);
    ts_plan_free(p);
    return text_take(&t);
}

/* ---- evaluating tensors ---- */
/* all: by id. Nodes of two graphs may have one id. */
static bool of_one_graph(int count, const node *const *need, const node *const *all, int n, const ts_tensor *t, err *e)
{
    const node *other = NULL;
    for (int i = 0; i < n && !other; i++)
        other = all[t[i]->id] == t[i] ? NULL : t[i];
    for (int i = 0; i < count; i++)
        for (int k = 0; k < need[i]->n_in && !other; k++)
            other = all[need[i]->in[k]->id] == need[i]->in[k] ? NULL : need[i]->in[k];
    if (!other)
        return true;
    err_set(e, TS_BAD_INPUT, "%s \"%s\" and %s \"%s\" are tensors of different graphs", all[other->id]->op->name,
            all[other->id]->label, other->op->name, other->label);
    return err_hint(e, "evaluate those of each graph by a call of their own");
}

bool ts_eval(int n, const ts_tensor *t, int n_given, const ts_given *given, const ts_options *o, ts_array *out,
             ts_error *e)
{
    graph own = {0}; /* the nodes needed, by id; what a plan puts in their place is made behind them */
    int most = 256, last = 0, got = 0;
    if ((n > 0 && (!err_given(t, "the list of tensors", e) || !err_given(out, "the list of arrays", e))) ||
        (n_given > 0 && !err_given(given, "the list of values", e)))
        return false;
    for (int i = 0; i < n; i++) {
        if (!t[i])
            return err_set(e, TS_USAGE, "tensor %d is NULL: ask ts_graph_ok for the mistake", i);
        last = t[i]->id > last ? t[i]->id : last;
    }
    while (most <= last) /* as a graph grows */
        most *= 2;
    const node **all = heap_array((size_t)most + 1, sizeof *all), **need = heap_array((size_t)most + 1, sizeof *need);
    const int count = g_reach(n, t, need);
    for (int i = 0; i < count; i++)
        all[need[i]->id] = need[i];
    if (!of_one_graph(count, need, all, n, t, e))
        return free(all), free(need), false;
    for (int i = 0; i < most; i++)
        if (!all[i])
            all[i] = need[0];
    own.node = all, own.n = count ? most : 0, own.cap = most, own.users = graph_users_make();
    ts_plan *p = heap_array(1, sizeof *p);
    bool ok = set_up(p, o, &(wanted){.n_root = n, .root = t}, &own, e) && driver_give(p, n_given, given, e) &&
              ts_plan_run(p, e);
    while (ok && got < n)
        ok = ts_plan_get(p, got, &out[got], e) && ++got;
    for (int i = 0; !ok && i < got; i++)
        ts_array_free(&out[i]);
    ts_plan_free(p);
    graph_users_free(own.users);
    arena_free(&own.mem);
    free(all), free(need);
    return ok;
}

const char *ts_target_usual(void)
{
    return backend_usual()->name;
}

char *ts_targets_json(void)
{
    text t = {0};
    text_add(&t, "[");
    for (const backend *const *b = backends; *b; b++) {
        ENDED_BY(text_free) text why = {0};
        const bool usable = backend_usable(*b, &why);
        json_add(&t, "{name:%s,doc:%s,usable:%i,%s:%s}", (*b)->name, (*b)->doc, usable, usable ? "with" : "reason",
                 text_str(&why));
    }
    text_add(&t, "]");
    return text_take(&t);
}
