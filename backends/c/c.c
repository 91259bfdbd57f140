/* c.c - the C back end: writes the program, has the compiler build it, lays out weights, runs it on a pinned team. */
#include "backends/cpu/cpu.h"
#include "backends/store/admin.h"
#include "backends/c/pages.h"
#include "backends/c/program.h"
#include "backends/c/runtime/run.h"
#include "backends/c/team.h"
#include "backends/c/toolchain.h"
#include "backends/derived.h"

#include <stdlib.h>
#include <string.h>

struct program {
    const plan *p;
    cc_program *code;
    team *team;
    void (*run)(const ts_run *r, long part, long parts);
    void (*step)(const ts_run *r, long kernel, long part, long parts);
    ts_run args;
    void **leaf, **input;  /* input: of the last run, for results that are inputs */
    char *weights, *arena; /* mapped */
    size_t weight_bytes, arena_bytes, scratch_bytes;
    int64_t *leaf_at;  /* offset in weights, or -1: used where it is */
    page_files files;  /* mapped ones, whose pages go once copied */
    char *rows;        /* of the seeded weight that is being laid out */
    int fault, kernel; /* kernel: the one that runs alone */
};

static void drop(program *g)
{
    if (!g)
        return;
    team_close(g->team);
    cc_free(g->code);
    pages_unmap(g->weights, g->weight_bytes);
    pages_unmap(g->arena, g->arena_bytes);
    free(g->leaf), free(g->input), free(g->leaf_at), free(g);
}

/* ---- weights ---- */
static bool used_in_place(const packed *w)
{
    const leaf *l = w->node->leaf;
    return l->data && (uintptr_t)l->data % (uintptr_t)ts_dtype_bytes(w->node->type.dtype) == 0 &&
           layout_is_rows(&w->layout, &w->node->type);
}

/* Seeded and laid out otherwise than in rows: in rows first. */
static bool seeded_apart(const packed *w)
{
    const leaf *l = w->node->leaf;
    return !l->data && !l->of && !layout_is_rows(&w->layout, &w->node->type);
}

static void load_leaf(const program *g, int i, int part, int parts)
{
    const packed *w = &g->p->leaf[i];
    const bool apart = seeded_apart(w), rows = layout_is_rows(&w->layout, &w->node->type);
    const int64_t n = type_count(&w->node->type), first = n * part / parts, end = n * (part + 1) / parts;
    char *to = g->weights + g->leaf_at[i];
    if (apart || rows)
        leaf_read(w->node, (apart ? g->rows : to) + first * ts_dtype_bytes(w->node->type.dtype), first, end);
    if (apart)
        team_wait(g->team);
    if (!rows)
        layout_pack(&w->layout, &w->node->type, to, apart ? g->rows : w->node->leaf->data, part, parts);
}

/* What was copied from a file need not stay in memory. */
static void release_leaf(const program *g, const node *n)
{
    if (n->leaf->data)
        pages_release(&g->files, n->leaf->data, (size_t)type_bytes(&n->type));
}

static void load_leaves(void *arg, int part, int parts)
{
    const program *g = arg;
    for (int i = 0; i < g->p->n_leaf; i++) {
        if (g->leaf_at[i] < 0 || g->p->leaf[i].node->leaf->of)
            continue;
        load_leaf(g, i, part, parts);
        team_wait(g->team); /* a part that still reads needs the rows, and would bring pages back */
        if (part == 0)
            release_leaf(g, g->p->leaf[i].node);
    }
}

static bool load_weights(program *g, err *e)
{
    size_t most = 0;
    for (int i = 0; i < g->p->n_leaf; i++) {
        const size_t bytes = seeded_apart(&g->p->leaf[i]) ? (size_t)type_bytes(&g->p->leaf[i].node->type) : 0;
        most = bytes > most ? bytes : most;
    }
    if (most && !(g->rows = pages_map(most, e)))
        return false;
    const bool good = team_run(g->team, load_leaves, g, e);
    pages_unmap(g->rows, most);
    return good;
}

typedef struct packing {
    const program *g;
    int leaf;
    const void *rows;
} packing;

static void pack_leaf(void *arg, int part, int parts)
{
    const packing *k = arg;
    const packed *w = &k->g->p->leaf[k->leaf];
    layout_pack(&w->layout, &w->node->type, k->g->weights + k->g->leaf_at[k->leaf], k->rows, part, parts);
}

static void release_operands(const program *g, const node *n)
{
    if (n->leaf)
        release_leaf(g, n);
    for (int i = 0; i < n->n_in; i++)
        release_operands(g, n->in[i]);
}

/* The largest weight that is computed and not yet there; -1: none. The memory of its program is then gone before the
 * others come. */
static int next_derived(const program *g, const bool *done)
{
    int best = -1;
    for (int i = 0; i < g->p->n_leaf; i++) {
        const bool open = g->p->leaf[i].node->leaf->of && !done[i];
        if (open && (best < 0 || g->p->leaf[i].layout.size > g->p->leaf[best].layout.size))
            best = i;
    }
    return best;
}

static bool derive_alike(program *g, deriver *d, int like, bool *done, err *e)
{
    const int kind = deriver_kind(d, g->p->leaf[like].node, e);
    for (int i = 0; i < g->p->n_leaf && kind >= 0; i++) {
        const node *n = g->p->leaf[i].node;
        if (i != like && (done[i] || !n->leaf->of || deriver_kind(d, n, e) != kind))
            continue;
        packing k = {g, i, deriver_value(d, n, e)};
        if (!k.rows || !team_run(g->team, pack_leaf, &k, e))
            return false;
        release_operands(g, n->leaf->of);
        done[i] = true;
    }
    if (kind >= 0)
        deriver_forget(d, kind);
    return kind >= 0;
}

static bool derive_weights(program *g, const build_options *w, err *e)
{
    deriver *d = deriver_make(g->p, &backend_c, w);
    bool *done = calloc((size_t)g->p->n_leaf + 1, sizeof *done), ok = true;
    MUST(done);
    for (int i = next_derived(g, done); i >= 0 && ok; i = next_derived(g, done))
        ok = derive_alike(g, d, i, done, e);
    free(done), deriver_free(d);
    return ok;
}

static bool place_weights(program *g, const build_options *asked, err *e)
{
    const plan *p = g->p;
    g->leaf = calloc((size_t)p->n_leaf + 1, sizeof *g->leaf),
    g->leaf_at = calloc((size_t)p->n_leaf + 1, sizeof *g->leaf_at);
    MUST(g->leaf && g->leaf_at);
    for (int i = 0; i < p->n_leaf; i++) {
        const packed *w = &p->leaf[i];
        size_t bytes;
        g->leaf_at[i] = -1;
        if (used_in_place(w)) {
            g->leaf[i] = (void *)(uintptr_t)w->node->leaf->data;
            continue;
        }
        g->leaf_at[i] = (int64_t)g->weight_bytes;
        if (!size_mul((size_t)w->layout.size, (size_t)ts_dtype_bytes(w->node->type.dtype), &bytes) ||
            !size_add(g->weight_bytes, bytes + 127, &g->weight_bytes))
            return err_set(e, TS_MEMORY, "the weights have too many bytes");
        g->weight_bytes = g->weight_bytes / 64 * 64;
    }
    if (g->weight_bytes && !(g->weights = pages_map(g->weight_bytes, e)))
        return false;
    for (int i = 0; i < p->n_leaf; i++)
        if (g->leaf_at[i] >= 0)
            g->leaf[i] = g->weights + g->leaf_at[i];
    pages_find_files(&g->files);
    /* Computing takes memory for a while: it is over before the others are there. */
    return !g->weight_bytes || (derive_weights(g, asked, e) && load_weights(g, e));
}

/* ---- building ---- */
static void tell(const plan *p, const c_program *c, const cc_report *r, const program *g, text *facts)
{
    text_add(facts, "\"compiler\":");
    text_json(facts, text_str(&r->compiler));
    text_add(facts,
             ",\"units\":%d,\"compiled\":%d,\"cached\":%d,\"seconds\":%.6f,\"found\":%s,\"notes\":", c->n_unit + 1,
             r->compiled, r->cached, r->seconds, r->found ? "true" : "false");
    text_json(facts, text_str(&r->notes));
    text_add(facts, ",\"packed_bytes\":%zu,\"scratch_bytes\":%lld", g->weight_bytes, (long long)c->scratch_most);
    (void)p;
}

static bool compile(program *g, c_program *c, const build_options *w, text *facts, err *e)
{
    static const char *const symbols[] = {"run", "step", NULL};
    cc_unit *all = calloc((size_t)c->n_unit + 1, sizeof *all);
    cc_report report = {0};
    MUST(all);
    for (int i = 0; i < c->n_unit; i++)
        all[i].text = c->unit[i].text;
    all[c->n_unit].text = c->calls;
    const cc_request r = {.n = c->n_unit + 1,
                          .unit = all,
                          .flags = c_flags(cpu_isa(g->p->on)),
                          .isa = g->p->on->model,
                          .cache_dir = w->cache_dir,
                          .symbols = symbols,
                          .progress = w->progress,
                          .user = w->user};
    g->code = cc_build(&r, &report, e);
    if (g->code) {
        *(void **)&g->run = cc_symbol(g->code, "run");
        *(void **)&g->step = cc_symbol(g->code, "step");
        tell(g->p, c, &report, g, facts);
    }
    cc_report_free(&report);
    free(all);
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

static program *build(const plan *p, const build_options *w, text *facts, err *e)
{
    c_program c;
    program *g = calloc(1, sizeof *g);
    MUST(g);
    g->p = p;
    g->input = calloc((size_t)p->n_input + 1, sizeof *g->input);
    MUST(g->input);
    if (!c_program_write(p, &c, e))
        return drop(g), NULL;
    bool ok = compile(g, &c, w, facts, e);
    ok = ok && (g->team = team_make(p->threads, p->threads <= p->on->places ? cpu_machine(p->on)->os : NULL, e)) &&
         place_weights(g, w, e);
    if (ok) {
        g->scratch_bytes = ((size_t)c.scratch_most + 4095) / 4096 * 4096;
        const size_t arena_part = ((size_t)p->arena_bytes + 4095) / 4096 * 4096;
        g->arena_bytes = arena_part + g->scratch_bytes * (size_t)p->threads + 4096;
        ok = (g->arena = pages_map(g->arena_bytes, e)) != NULL;
        g->args = (ts_run){.arena = g->arena,
                           .leaf = g->leaf,
                           .input = g->input,
                           .scratch = g->arena + arena_part,
                           .scratch_bytes = (long)g->scratch_bytes,
                           .fault = &g->fault,
                           .wait = team_wait,
                           .team = g->team};
    }
    c_program_free(&c);
    if (ok)
        return g;
    drop(g);
    return NULL;
}

/* ---- running ---- */
static void work_all(void *arg, int part, int parts)
{
    const program *g = arg;
    g->run(&g->args, part, parts);
}

static void work_one(void *arg, int part, int parts)
{
    const program *g = arg;
    g->step(&g->args, g->kernel, part, parts);
}

static bool check_fault(program *g, err *e)
{
    if (!g->fault)
        return true;
    const kernel *k = &g->p->kernel[g->fault - 1];
    g->fault = 0;
    return c_outside(g->p, k, g->input, e);
}

static bool run(program *g, void *const *input, err *e)
{
    memcpy(g->input, input, (size_t)g->p->n_input * sizeof *input);
    return team_run(g->team, work_all, g, e) && check_fault(g, e);
}

static bool run_each(program *g, void *const *input, void (*after)(void *user, int kernel), void *user, err *e)
{
    memcpy(g->input, input, (size_t)g->p->n_input * sizeof *input);
    for (g->kernel = 0; g->kernel < g->p->n_kernel; g->kernel++) {
        if (!team_run(g->team, work_one, g, e))
            return false;
        after(user, g->kernel);
    }
    return check_fault(g, e);
}

static const void *at(const program *g, const node *n, dtype *stored)
{
    *stored = stored_as(g->p, n);
    return g->arena + g->p->buffer[n->id].offset;
}

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
        memcpy(out->data, g->arena + h->offset, (size_t)type_bytes(&n->type));
    else
        for (int64_t i = 0; i < count; i++)
            store_real(n->type.dtype, out->data, i, ((const double *)(g->arena + h->offset))[i]);
    return true;
}

static bool usable(text *why)
{
    err e = {0};
    text path = {0}, version = {0};
    const bool ok = cc_compiler(NULL, &path, &version, &e);
    if (ok)
        text_add(why, "%s: %s", text_str(&path), text_str(&version));
    else
        text_add(why, "%s", e.text);
    text_free(&path), text_free(&version);
    return ok;
}

const backend backend_c = {
    .name = "c",
    .doc = "C text, one function per kernel, built by the system's compiler and run on pinned threads.",
    .target = cpu_target,
    .here = cpu_here,
    .runs = cpu_runs,
    .usable = usable,
    .takes = takes,
    .build = build,
    .run = run,
    .each = run_each,
    .at = at,
    .get = get,
    .emit = c_standalone,
    .drop = drop,
    .kept = &c_cache,
};
