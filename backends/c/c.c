/* c.c - the C back end: writes the program, has the compiler build it, lays out weights, runs it on a pinned team. */
#include "backends/cpu/cpu.h"
#include "graph/eval/eval.h"
#include "backends/cache/admin.h"
#include "backends/c/calibration.h"
#include "backends/c/custom.h"
#include "backends/c/program.h"
#include "backends/c/runtime/run.h"
#include "backends/c/team.h"
#include "backends/c/units.h"
#include "backends/c/explain.h"
#include "backends/outside.h"
#include "backends/weights.h"
#include "graph/base/clock.h"

#include <stdlib.h>
#include <string.h>

struct program {
    const plan *p;
    c_program written;   /* without its texts */
    walk_program tables; /* of it */
    cc_program *own;     /* what was compiled for it; NULL: no kernel is one of text, or another's program has them */
    const cc_program *code;
    deriver *deriver; /* while it is made */
    build_options asked;
    team *team;
    ts_run args;
    custom_calls custom;
    weights weights;
    void **input;          /* of the last run, for results that are inputs */
    char *mapped;          /* values, then scratch of all parts; NULL: memory of another's */
    size_t bytes;          /* of it */
    int fault, first, end; /* the kernels that run: from the first to before the end */
};

static void drop(program *g)
{
    if (!g)
        return;
    team_close(g->team);
    deriver_free(g->deriver);
    cc_free(g->own);
    c_program_free(&g->written);
    pages_unmap(g->mapped, g->bytes);
    weights_free(&g->weights);
    custom_free(&g->custom);
    free(g->input), free(g);
}

/* ---- weights ---- */
static bool spread(void *user, weight_work *work, void *arg, err *e)
{
    const program *g = user;
    return team_run(g->team, work, arg, e);
}

static bool load_weights(program *g, err *e)
{
    const weight_host host = {.by = &backend_c, .asked = &g->asked, .spread = spread, .user = g, .deriver = g->deriver};
    const bool ok = weights_load(&g->weights, g->p, &host, e);
    deriver_free(g->deriver), g->deriver = NULL;
    return ok;
}

/* What computes weights from others is compiled with all else, side by side: each by itself took as long as it all. */
static bool add_derived(program *g, err *e)
{
    const plan *one;
    g->asked.from = g, g->deriver = deriver_make(g->p, &backend_c, &g->asked);
    bool ok = deriver_plan_all(g->deriver, e);
    for (int i = 0; ok && (one = deriver_plan(g->deriver, i)); i++) {
        c_program own;
        ok = c_program_write(one, &own, e);
        if (ok)
            c_program_join(&g->written, &own);
    }
    return ok;
}

/* ---- building ---- */
static void tell(const cc_report *r, int units, text *facts)
{
    json_add(facts, "compiler:%s,units:%d,compiled:%d,cached:%d,seconds:%.6f,found:%i,notes:%s", text_str(&r->compiler),
             units, r->compiled, r->cached, r->seconds, r->found, text_str(&r->notes));
}

/* The kernels, by their names in the program that was built. */
static void find_kernels(program *g)
{
    const c_program *c = &g->written;
    for (int k = 0; k < c->all; k++)
        if (c->text_of[k] >= 0)
            *(void **)&c->call[k].kernel = cc_symbol(g->code, c->text[c->text_of[k]].name);
}

static bool has_kernels(const cc_program *code, const c_program *c)
{
    int n = 0;
    while (n < c->n_text && cc_symbol(code, c->text[n].name))
        n++;
    return n == c->n_text;
}

static bool compile(program *g, const build_options *w, text *facts, err *e)
{
    const c_program *c = &g->written;
    if (w->from && w->from->code && has_kernels(w->from->code, c))
        return g->code = w->from->code, find_kernels(g), true;
    if (!add_derived(g, e))
        return false;
    phases_done(w->phases, PHASE_TEXTS);
    if (!c->n_text)
        return tell(&(cc_report){0}, 0, facts), true;
    const char **symbols = calloc((size_t)c->n_text + 1, sizeof *symbols);
    c_units units;
    ENDED_BY(arena_free) arena mem = {0};
    cc_report report = {0};
    MUST(symbols);
    for (int i = 0; i < c->n_text; i++)
        symbols[i] = c->text[i].name;
    c_units_write(c, &units);
    const cc_request r = {.n = units.n,
                          .unit = units.unit,
                          .flags = c_flags(&mem, cpu_isa(g->p->on), g->p->reproducible),
                          .isa = g->p->on->model,
                          .cache_folder = w->cache_folder,
                          .symbols = symbols,
                          .progress = w->progress,
                          .user = w->user,
                          .phases = w->phases};
    g->code = g->own = cc_make(&r, &report, e);
    if (g->code)
        find_kernels(g), tell(&report, units.n, facts);
    cc_report_free(&report);
    c_units_free(&units), free(symbols);
    return g->code != NULL;
}

static bool takes(const plan *p, err *e)
{
    c_program c;
    const bool ok = c_program_write(p, &c, e);
    if (ok)
        c_program_free(&c);
    return ok;
}

/* Values and scratch; parts have pages of their own there. */
static bool find_memory(program *g, int64_t scratch_most, const memory *m, err *e)
{
    enum { PAGE = 4096 };
    const size_t values = ((size_t)g->p->arena_bytes + PAGE - 1) / PAGE * PAGE,
                 part = ((size_t)scratch_most + PAGE - 1) / PAGE * PAGE, scratch = part * (size_t)g->p->threads;
    g->args.scratch_bytes = (long)part;
    if (m) {
        g->args.arena = m->take(m->user, (size_t)g->p->arena_bytes, e);
        g->args.scratch = g->args.arena ? m->take(m->user, scratch, e) : NULL;
        return g->args.scratch != NULL;
    }
    g->bytes = values + scratch + PAGE;
    g->args.arena = g->mapped = pages_map(g->bytes, e);
    g->args.scratch = g->mapped ? g->mapped + values : NULL;
    return g->mapped != NULL;
}

static bool make(program *g, const build_options *w, text *facts, err *e)
{
    const plan *p = g->p;
    const int64_t scratch = g->written.scratch_most;
    if (!compile(g, w, facts, e) || !(g->team = team_make(p->threads, cpu_pins(p->on, p->threads), e)) ||
        !load_weights(g, e) || !find_memory(g, scratch, w->memory, e))
        return false;
    c_program_forget(&g->written), g->tables = c_program_tables(&g->written);
    g->args.leaf = g->weights.at, g->args.input = g->input, g->args.fault = &g->fault;
    g->args.wait = team_wait, g->args.team = g->team, g->args.custom = &g->custom.base;
    json_add(facts, "packed_bytes:%zu,scratch_bytes:%lld", g->weights.bytes, (long long)scratch);
    return true;
}

static program *build(const plan *p, const build_options *w, text *facts, err *e)
{
    program *g = heap_array(1, sizeof *g);
    g->p = p, g->asked = *w;
    custom_make(&g->custom, p);
    g->input = heap_array((size_t)p->n_input + 1, sizeof *g->input);
    if (c_program_write(p, &g->written, e) && make(g, w, facts, e))
        return g;
    drop(g);
    return NULL;
}

/* ---- running ---- */
/* Called by every thread of the team with its number. */
static void work(void *arg, int part, int parts)
{
    const program *g = arg;
    walk_calls(&g->tables, &g->args, g->first, g->end, part, parts);
}

/* The program says which kernel, 1 + its number; the interpreter finds the place. */
static bool check_fault(program *g, err *e)
{
    if (!custom_check(&g->custom, e))
        return g->fault = 0, false;
    if (!g->fault)
        return true;
    const kernel *k = &g->p->kernel[g->fault - 1];
    g->fault = 0;
    return outside_kernel(g->p, k, g->input, e);
}

static void take_input(program *g,
                       void *const *input) /* with the extents of the run behind them, if the plan has any */
{
    memcpy(g->input, input, (size_t)(g->p->n_input + (g->p->n_variable > 0)) * sizeof *input);
}

static bool span(program *g, void *const *input, int first, int end, err *e)
{
    take_input(g, input);
    g->first = first, g->end = end;
    return team_run(g->team, work, g, e) && check_fault(g, e);
}

static bool run(program *g, void *const *input, err *e)
{
    return span(g, input, 0, g->p->n_kernel, e);
}

/* Nobody sleeps meanwhile: a kernel would take longer for one before it that had not enough for all. */
static bool run_each(program *g, void *const *input, void (*after)(void *user, int kernel), void *user, err *e)
{
    bool ok = true;
    take_input(g, input);
    team_awake(g->team, true);
    for (g->first = 0; ok && g->first < g->p->n_kernel; g->first++) {
        g->end = g->first + 1;
        if ((ok = team_run(g->team, work, g, e)))
            after(user, g->first);
    }
    team_awake(g->team, false);
    return ok && check_fault(g, e);
}

static bool trace(program *g, void *const *input, span_seen *seen, void *user, err *e)
{
    const int n = g->p->n_kernel, parts = g->p->threads;
    ENDED_BY(heap_free) double *at = heap_array((size_t)n * (size_t)parts * 2 + 1, sizeof *at);
    const ts_moments moments = {seconds_now, at, n};
    g->args.moments = &moments;
    const bool ok = run(g, input, e);
    g->args.moments = NULL;
    for (int i = 0; ok && i < n * parts; i++)
        if (at[2 * i + 1] > 0)
            seen(user, i / n, i % n, at[2 * i], at[2 * i + 1]);
    return ok;
}

/* No copy: the arena is this process's memory. */
static const void *at(const program *g, const node *n, dtype *stored)
{
    *stored = stored_as(g->p, n);
    return g->args.arena + g->p->buffer[n->id].offset;
}

/* Judging plans hold f64, rounded here to what the graph says. */
static bool get(program *g, int root, ts_array *out, err *e)
{
    const plan *p = g->p;
    const node *n = p->root[root];
    const buffer *h = &p->buffer[n->id];
    const int64_t count = type_count(&n->type);
    (void)e;
    if (n->leaf)
        leaf_read(n, out->data, 0, count);
    else if (stored_as(p, n) == n->type.dtype)
        memcpy(out->data, g->args.arena + h->offset, (size_t)type_bytes(&n->type));
    else
        for (int64_t i = 0; i < count; i++)
            store_real(n->type.dtype, out->data, i, ((const double *)(g->args.arena + h->offset))[i]);
    return true;
}

/* Whether there is a compiler; which one, or what is missing. */
static bool usable(text *why)
{
    err e = {0};
    ENDED_BY(text_free) text path = {0}, version = {0};
    const bool ok = cc_compiler(NULL, &path, &version, &e);
    if (ok)
        text_add(why, "%s: %s", text_str(&path), text_str(&version));
    else
        text_add(why, "%s", e.text);
    return ok;
}

/* A machine of text has the rates that the text says */
static const target *c_target(arena *mem, const machine_options *asked, err *e)
{
    machine *on = arena_get(mem, sizeof *on);
    const bool measured = !asked->machine && asked->phases;
    if (!machine_load(on, asked->machine, e) || (measured && !calibration_find(on, asked, RATES_NEEDED, e)))
        return NULL;
    const target *cpu = cpu_target_on(mem, on, asked, e);
    target *own = cpu ? arena_get(mem, sizeof *own) : NULL;
    if (own)
        *own = *cpu, own->explain = c_explain, own->count = c_count;
    return own;
}

static const presence present = {.usable = usable, .runs = cpu_runs, .here = cpu_here, .rates = calibration_print};
static const by_kernel kernels = {.each = run_each, .trace = trace};
static const by_span spans = {.span = span};
static const by_text texts = {.show = c_show};

const backend backend_c = {
    .name = "c",
    .kinds = "cpu",
    .older = "cpu",
    .usual = true,
    .parted = true,
    .varies = true,
    .doc = "C text, one function per kernel, built by the system's compiler and run on pinned threads.",
    .target = c_target,
    .present = &present,
    .takes = takes,
    .build = build,
    .texts = &texts,
    .run = run,
    .kernels = &kernels,
    .at = at,
    .get = get,
    .emit = c_emit,
    .spans = &spans,
    .in_host = true,
    .at_once = true,
    .drop = drop,
    .kept = &c_cache,
};
