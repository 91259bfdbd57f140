/* make.c - making a plan: the table of its passes. */
#include "schedule/make.h"
#include "graph/ir/recognise.h"
#include "schedule/fuse/fuse.h"
#include "schedule/passes/passes.h"
#include "schedule/place/place.h"
#include "schedule/schema/schema.h"

#include <string.h>

static void find_inputs(plan *p)
{
    const int n = g_reach(p->n_root, p->root, NULL);
    const node **need = arena_array(&p->mem, (size_t)n + 1, sizeof *need);
    g_reach(p->n_root, p->root, need);
    p->input = arena_array(&p->mem, (size_t)(p->n_variable ? p->g->n : n) + 1, sizeof *p->input);
    for (int i = 0; i < n; i++)
        if (need[i]->leaf && need[i]->leaf->kind == LEAF_INPUT)
            p->input[p->n_input++] = need[i];
    bool *read = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *read);
    for (int i = 0; i < p->n_input; i++)
        read[p->input[i]->id] = true;
    for (int i = 0; i < p->g->n && p->n_variable; i++) /* which of them vary is found later */
        if (p->g->node[i]->leaf && p->g->node[i]->leaf->kind == LEAF_INPUT && !p->g->node[i]->leaf->bound && !read[i])
            p->input[p->n_input + p->n_told++] = p->g->node[i];
}

/* ---- state ---- */
static bool carry(plan *p, int root, const node *into, int which, err *e)
{
    const node *from = p->root[root];
    int i = 0;
    while (i < p->n_input && p->input[i] != into)
        i++;
    if (i == p->n_input)
        return err_set(e, TS_USAGE, "state %d: \"%s\" is no input that the tensors need", which, into->label),
               err_hint(e, "what a plan carries over, parameters of a step too, is made by ts_input, not by ts_weight, "
                           "and has its first value by ts_plan_set");
    for (int k = 0; k < which; k++)
        if (p->carried[k].input == i)
            return err_set(e, TS_USAGE, "state %d: \"%s\" becomes something else already", which, into->label);
    if (!type_equal(&from->type, &into->type)) {
        ENDED_BY(text_free) text a = {0}, b = {0};
        type_print(&a, &into->type), type_print(&b, &from->type);
        return err_set(e, TS_USAGE, "state %d: \"%s\" is %s and would become %s", which, into->label, a.s, b.s);
    }
    p->carried[p->n_carried++] = (carried){root, i};
    return true;
}

static bool carry_all(plan *p, const plan_options *asked, err *e)
{
    p->carried = arena_array(&p->mem, (size_t)asked->n_state + 1, sizeof *p->carried);
    for (int i = 0; i < asked->n_state; i++)
        if (!carry(p, p->n_root - asked->n_state + i, asked->state[i], i, e))
            return false;
    return true;
}

static bool pass_recognise(plan *p, err *e) /* groups of the graph -> more groups */
{
    g_recognise(p->g);
    return !err_is(&p->g->err) || err_set(e, p->g->err.code, "%s", p->g->err.text);
}

/* ---- passes ---- */
const pass_record plan_passes[N_PASS] = {
    [PASS_JOIN] = {"join", "makes one scan of two of which one makes all that the other does", "a graph",
                   "roots of the same values; trips that are the same are made once", pass_join},
    [PASS_RECOGNISE] = {"recognise", "names groups that somebody wrote out (attention, norms)", "a graph",
                        "more groups; nothing that is computed changes", pass_recognise},
    [PASS_KNOWN] = {"known", "makes weights of what depends on weights alone, computed once at load", "a graph",
                    "the same values; what weights alone give is a leaf", pass_known},
    [PASS_EXTENTS] = {"extents", "finds what follows dimensions of which a run says the extent",
                      "the graph at the largest extents, and at others",
                      "extents that vary; nothing else depends on them", pass_extents},
    [PASS_COMMON] = {"common", "computes once what takes long and elements of several nodes have in common", "a graph",
                     "roots of the same values, to the bit; what was lifted is kept in a kernel, or worth its memory",
                     pass_common},
    [PASS_DOTS] = {"dots", "takes products of integers where the target multiplies and adds them at once", "a graph",
                   "roots of the same values", pass_dots},
    [PASS_ALTERNATIVES] =
        {"alternatives",
         "takes Winograd or Strassen where operations offer it and costs favour it; long sums in blocks", "a graph",
         "roots of the same values up to rounding, or the same roots and their kernels", pass_alternatives},
    [PASS_FUSE] = {"fuse", "makes kernels of stages; letters, merged axes", "a graph and its roots",
                   "stages compute all that is read from memory, and before it is read", pass_fuse},
    [PASS_CHECKPOINTING] = {"checkpointing", "lets the backward pass compute again what rules give up",
                            "kernels, which say what the backward pass reads",
                            "kernels of a graph in which that is computed twice", pass_checkpointing},
    [PASS_APART] = {"apart", "takes apart what a schema says \"fuse\": \"none\" of", "kernels",
                    "no kernel whose first rule says so computes more than one node; an operation, group or stage "
                    "within one, of which a rule says so, is a kernel of its own",
                    pass_apart},
    [PASS_PLACE] = {"place", "gives kernels to devices where a schema or the command names several", "kernels",
                    "kernels of one device each, in order, with transfers between them; a part for each device",
                    pass_place},
    [PASS_LOOPS] = {"loops", "makes nests of schema and guess; layouts of weights follow", "kernels",
                    "nests that walk all axes and that the target can do; a layout for each weight", pass_loops},
    [PASS_SCANS] = {"scans", "makes a plan of one trip of each scan", "kernels, with their loops",
                    "a plan for each scan, of which the weights are among those of the plan around it", pass_scans},
    [PASS_MEMORY] = {"memory", "makes buffers of lifetimes, in one arena", "kernels in order, with their loops",
                     "a buffer for every value in memory; two that are alive at once lie apart", pass_memory},
    [PASS_LAUNCHES] = {"launches", "lets small kernels that wait for nothing of each other begin together",
                       "kernels, and a buffer for every value in memory",
                       "launches of one kernel or several, which wait for launches before them alone", pass_launches}};

/* Behind those of the schema, which so decide first. */
static void add_sharing(plan *p, schema *s, const schema_use *by, int shares)
{
    rule *all = arena_array(&p->mem, (size_t)s->n_rule + 1, sizeof *all);
    if (s->n_rule)
        memcpy(all, s->rule, (size_t)s->n_rule * sizeof *all);
    all[s->n_rule++] = (rule){.name = "mem-limit",
                              .place = "--mem-limit",
                              .fuse = true,
                              .tells_recompute = true,
                              .recompute = true,
                              .shares = shares};
    s->rule = all;
    schema_set_aside(&p->mem, s, by);
}

static bool read_schema(plan *p, const plan_options *asked, err *e)
{
    schema *s = arena_get(&p->mem, sizeof *s);
    const schema_use by = {asked->target, asked->on->kind, asked->targets, p->g};
    if (asked->reference || !(asked->schema || asked->shares))
        return true;
    const bool ok = schema_load(&p->mem, asked->schema, &by, s, e);
    if (ok && asked->shares)
        add_sharing(p, s, &by, asked->shares);
    p->schema = s;
    p->rule_used = arena_array(&p->mem, (size_t)(ok ? s->n_rule : 0) + 1, sizeof *p->rule_used);
    return ok;
}

/* Operands have lower numbers than what takes them. */
static const bool *needed(plan *p)
{
    bool *all = arena_array(&p->mem, (size_t)p->n_model + 1, sizeof *all);
    for (int i = 0; i < p->n_root; i++)
        all[p->root[i]->id] = true;
    for (int id = p->n_model; id-- > 0;)
        for (int i = 0; all[id] && i < p->g->node[id]->n_in; i++)
            all[p->g->node[id]->in[i]->id] = true;
    return all;
}

plan *plan_make(graph *g, int n_root, const node *const *root, const plan_options *asked, err *e)
{
    plan *p = heap_array(1, sizeof *p);
    *p = (plan){.on = asked->on,
                .threads = asked->on->workers,
                .reference = asked->reference,
                .trial = asked->trial,
                .own_places = asked->own_places,
                .as_written = asked->as_written || asked->reference,
                .as_given = asked->as_given || asked->reference,
                .reproducible = asked->reproducible,
                .whole_sums = asked->whole_sums || asked->reference,
                .n_variable = asked->variables ? asked->variables->n : 0,
                .variables = asked->variables,
                .g = g,
                .n_model = g->n,
                .finder = asked->finder,
                .passes = plan_passes,
                .passed = asked->passed,
                .passed_user = asked->user,
                .n_root = n_root};
    const node **all = arena_array(&p->mem, (size_t)n_root + 1, sizeof *all);
    for (int i = 0; i < n_root; i++)
        all[i] = root[i];
    p->root = all;
    p->of_model = needed(p);
    find_inputs(p);
    variable *own = arena_array(&p->mem, (size_t)p->n_variable + 1, sizeof *own);
    for (int i = 0; i < p->n_variable; i++)
        own[i] = asked->variables->of[i], own[i].name = arena_format(&p->mem, "%s", own[i].name);
    p->variable = own;
    p->site = arena_array(&p->mem, MAX_SITE, sizeof *p->site);
    MUST(asked->n_site <= MAX_SITE);
    for (int i = 0; i < asked->n_site; i++)
        p->site[i] = asked->site[i];
    p->n_given = asked->n_site;
    if (carry_all(p, asked, e) && read_schema(p, asked, e) && plan_run(p, 0, N_PASS, e))
        return p;
    plan_free(p);
    return NULL;
}
