/* standalone.c - a plan as a program of its own: the units that a run here would build, and one function between them
 * and the spaces of emit_folder.h, which lie in this order: arena, scratch, weights, inputs (some of them state),
 * outputs, then constants that are results and what state was before a run. Where a run says extents, the spaces of
 * inputs are at the largest, the extents lie behind them, and the last spaces are what inputs come in, dense. */
#include "backends/emit/standalone.h"
#include "graph/eval/eval.h"
#include "backends/weights.h"
#include "schedule/plan/extents.h"

#include <stdlib.h>
#include <string.h>

enum { ARENA, SCRATCH, N_WORK, PAGE = 4096 };

typedef struct place {
    int space;
    int64_t at; /* bytes */
} place;

typedef struct standalone {
    const plan *p;
    const emit_options *asked;
    const emit_code *code;
    emit_space *space;
    int n_space;
    place *from; /* of each root: where its value is after a run */
    bool *old;   /* of each root: it is a state, whose value is put there before the run */
    int given;   /* the space of the first input, where a run says extents */
    int64_t scratch;
    deriver *deriver;
} standalone;

/* Numbers of spaces, in the order at the top of this file. */
static int leaf_space(int i)
{
    return N_WORK + i;
}

static int input_space(const plan *p, int i)
{
    return leaf_space(p->n_leaf) + i;
}

static int output_space(const plan *p, int i)
{
    return input_space(p, p->n_input) + (p->n_variable > 0) + i;
}

/* ---- spaces ---- */

static void add_space(standalone *s, emit_kind kind, size_t bytes)
{
    s->space[s->n_space++] = (emit_space){.kind = kind, .bytes = bytes};
}

/* With dtype and shape, which the program's own main reads and checks files by. */
static void add_port(standalone *s, emit_kind kind, const node *n)
{
    emit_space *x = &s->space[s->n_space];
    add_space(s, kind, (size_t)type_bytes(&n->type));
    x->dtype = n->type.dtype;
    x->rank = n->type.rank;
    memcpy(x->dim, n->type.dim, (size_t)x->rank * sizeof *x->dim);
    for (int d = 0; d < x->rank; d++) {
        const varying v = extents_of(s->p, n, d);
        x->extent[d] = (emit_extent){.varies = v.by, .plus = v.plus, .per = v.per};
        for (int i = 0; i < EMIT_SIZES; i++)
            x->extent[d].times[i] = v.by >> i & 1 ? v.times[i] : 0;
    }
}

static int64_t bytes_of(const node *n)
{
    return type_bytes(&n->type);
}

/* Roots that are not what a state becomes. */
static int n_output(const plan *p)
{
    return p->n_root - p->n_carried;
}

/* The state that input i is, or -1. */
static int state_number(const plan *p, int i)
{
    int k = p->n_carried - 1;
    while (k >= 0 && p->carried[k].input != i)
        k--;
    return k;
}

/* As the kernels read them: in their layouts, which may have more elements than the weight. */
static bool add_leaves(standalone *s, err *e)
{
    for (int i = 0; i < s->p->n_leaf; i++) {
        const packed *w = &s->p->leaf[i];
        size_t bytes;
        if (!size_mul((size_t)w->layout.size, (size_t)ts_dtype_bytes(w->node->type.dtype), &bytes))
            return err_set(e, TS_MEMORY, "a weight of %lld elements of %s, at most 2^63 - 1 bytes expected",
                           (long long)w->layout.size, ts_dtype_name(w->node->type.dtype));
        add_space(s, EMIT_WEIGHT, bytes);
    }
    return true;
}

/* An input that is a state has its first value in the program: given, or zeros. */
static void add_input(standalone *s, int i)
{
    const int state = state_number(s->p, i);
    emit_space *x = &s->space[s->n_space];
    add_port(s, s->p->n_variable ? EMIT_SCRATCH : state < 0 ? EMIT_INPUT : EMIT_STATE, s->p->input[i]);
    x->number = state;
    x->is_zero = state >= 0 && !s->asked->state[state];
}

/* Where root r lies after a run; what it needs for that has a space of its own. */
static place find_root(standalone *s, int r)
{
    const plan *p = s->p;
    const node *n = p->root[r];
    const buffer *h = &p->buffer[n->id];
    const size_t bytes = (size_t)type_bytes(&n->type);
    if (!n->leaf)
        return h->where == IN_INPUT ? (place){input_space(p, h->index), 0} : (place){ARENA, h->offset};
    if (n->leaf->kind != LEAF_INPUT) {
        add_space(s, EMIT_WEIGHT, bytes);
        return (place){s->n_space - 1, 0};
    }
    const int input = input_of(p, n);
    s->old[r] = state_number(p, input) >= 0;
    if (!s->old[r])
        return (place){input_space(p, input), 0};
    if (r < n_output(p))
        return (place){output_space(p, r), 0};
    add_space(s, EMIT_SCRATCH, bytes);
    return (place){s->n_space - 1, 0};
}

static bool make_spaces(standalone *s, err *e)
{
    const plan *p = s->p;
    size_t scratch;
    s->space = heap_array((size_t)output_space(p, 2 * p->n_root) + (size_t)p->n_input, sizeof *s->space);
    s->from = heap_array((size_t)p->n_root + 1, sizeof *s->from),
    s->old = heap_array((size_t)p->n_root + 1, sizeof *s->old);
    s->scratch = (s->code->scratch + PAGE - 1) / PAGE * PAGE; /* parts on pages of their own */
    if (!size_mul((size_t)s->scratch, (size_t)s->code->threads, &scratch))
        return err_set(e, TS_MEMORY,
                       "%d threads with %lld bytes of scratch memory each, at most 2^63 - 1 in all expected",
                       s->code->threads, (long long)s->scratch);
    add_space(s, EMIT_SCRATCH, (size_t)p->arena_bytes);
    add_space(s, EMIT_SCRATCH, scratch);
    if (!add_leaves(s, e))
        return false;
    for (int i = 0; i < p->n_input; i++)
        add_input(s, i);
    if (p->n_variable)
        add_space(s, EMIT_SCRATCH, (size_t)p->n_variable * sizeof(long));
    for (int i = 0; i < n_output(p); i++)
        add_port(s, EMIT_OUTPUT, p->root[i]);
    for (int i = 0; i < p->n_root; i++)
        s->from[i] = find_root(s, i);
    s->given = s->n_space;
    for (int i = 0; p->n_variable && i < p->n_input; i++)
        add_port(s, EMIT_INPUT, p->input[i]);
    return true;
}

/* ---- weights ---- */

static void constant_output(const standalone *s, int at, void *to)
{
    int i = 0;
    while (s->from[i].space != at)
        i++;
    leaf_read(s->p->root[i], to, 0, type_count(&s->p->root[i]->type));
}

static void weight(void *arg, int at, void *to)
{
    const standalone *s = arg;
    const int i = at - N_WORK;
    if (s->space[at].kind == EMIT_STATE) {
        memcpy(to, s->asked->state[s->space[at].number], s->space[at].bytes);
        return;
    }
    if (i >= s->p->n_leaf) {
        constant_output(s, at, to);
        return;
    }
    weight_pack(&s->p->leaf[i], s->deriver, to);
}

/* ---- text ---- */

static void add_copy(text *t, int to, place from, int64_t bytes)
{
    text_line(t, "    memcpy(space[%d], (const char *)space[%d] + %lld, %lld);", to, from.space, (long long)from.at,
              (long long)bytes);
}

static void add_extent(text *t, const varying *v)
{
    varying sum = *v;
    sum.ends = UNLIMITED;
    if (v->ends) {
        text_add(t, "("), add_extent(t, &sum), text_add(t, " < %lld ? ", (long long)v->limit);
        add_extent(t, &sum), text_add(t, " : %lld)", (long long)v->limit);
        return;
    }
    text_add(t, "%s%lld", v->per > 1 ? "(" : "", (long long)v->plus);
    for (int i = 0; i < MOST_VARIABLES; i++)
        if (v->by >> i & 1)
            text_add(t, " + %lld * size[%d]", (long long)v->times[i], i);
    if (v->per > 1)
        text_add(t, ") / %lld", (long long)v->per);
}

static void add_extents(text *t, const char *name, const plan *p, const node *n, bool said)
{
    text_add(t, "        const long %s[] = {", name);
    for (int d = 0; d < n->type.rank; d++) {
        const varying v = extents_of(p, n, d);
        text_add(t, "%s", d ? ", " : "");
        if (v.by && said)
            add_extent(t, &v);
        else
            text_add(t, "%lld", (long long)n->type.dim[d]);
    }
    text_line(t, "};");
}

/* Between a value at the largest extents and a space that has it as it is in this run */
static void add_box(text *t, const plan *p, const node *n, place whole, int dense, bool out)
{
    text_line(t, "    {");
    add_extents(t, "whole", p, n, false), add_extents(t, "box", p, n, true);
    text_line(t, "        box_copy((char *)space[%d] + %lld, space[%d], %d, whole, box, %d, %d);\n    }", whole.space,
              (long long)whole.at, dense, n->type.rank, ts_dtype_bytes(n->type.dtype), out);
}

static void copy_value(const standalone *s, text *t, const node *n, place whole, int dense, bool out)
{
    if (extents_any(s->p, n))
        add_box(t, s->p, n, whole, dense, out);
    else if (out)
        add_copy(t, dense, whole, bytes_of(n));
    else
        add_copy(t, whole.space, (place){dense, 0}, bytes_of(n));
}

static void take_inputs(const standalone *s, text *t)
{
    const plan *p = s->p;
    if (!p->n_variable)
        return;
    text_line(t, "    const long *size = space[%d];\n    if (part == 0) {", input_space(p, p->n_input));
    for (int i = 0; i < p->n_input; i++)
        copy_value(s, t, p->input[i], (place){input_space(p, i), 0}, s->given + i, false);
    text_line(t, "    }\n    wait(team);");
}

/* What state was, for results that are it, before anybody writes. */
static void keep_old(const standalone *s, text *t)
{
    const plan *p = s->p;
    bool any = false;
    for (int i = 0; i < p->n_root; i++) {
        if (!s->old[i])
            continue;
        text_add(t, "    if (part == 0)\n    ");
        add_copy(t, s->from[i].space, (place){input_space(p, input_of(p, p->root[i])), 0}, bytes_of(p->root[i]));
        any = true;
    }
    if (any)
        text_line(t, "    wait(team);");
}

static void copy_results(const standalone *s, text *t)
{
    const plan *p = s->p;
    for (int i = 0; i < n_output(p); i++)
        if (!s->old[i])
            copy_value(s, t, p->root[i], s->from[i], output_space(p, i), true);
    for (int i = 0; i < p->n_carried; i++) {
        const carried *c = &p->carried[i];
        const int to = input_space(p, c->input);
        if (s->from[c->root].space != to)
            add_copy(t, to, s->from[c->root], bytes_of(p->root[c->root]));
    }
}

/* The unit that calls the kernels, and the entry behind it: what emit_folder.h asks for, in terms of what
 * runtime/run.h says. */
static char *program_text(const standalone *s)
{
    const plan *p = s->p;
    text t = {0};
    text_add(&t, "%s\n%s", s->code->calls.text, p->n_variable ? runtime_file("boxes.h") : "");
    text_line(
        &t, "void program(void *const *space, int *fault, int part, int parts, void (*wait)(void *team), void *team)");
    text_line(&t, "{");
    text_line(&t, "    const ts_run r = {.arena = space[%d], .leaf = space + %d, .input = space + %d,", ARENA,
              leaf_space(0), input_space(p, 0));
    text_line(&t,
              "                      .scratch = space[%d], .scratch_bytes = %lld, .fault = fault, .wait = wait, .team "
              "= team};",
              SCRATCH, (long long)s->scratch);
    keep_old(s, &t);
    take_inputs(s, &t);
    text_line(&t, "    run(&r, part, parts);");
    text_line(&t, "    wait(team);");
    text_line(&t, "    if (part)\n        return;");
    copy_results(s, &t);
    text_line(&t, "}");
    return text_take(&t);
}

/* What extents follow, by dimension */
static void add_follows(text *t, const plan *p, const node *port)
{
    json_add(t, "follows:[");
    for (int d = 0; d < port->type.rank; d++) {
        const varying v = extents_of(p, port, d);
        ENDED_BY(text_free) text sum = {0};
        if (v.by)
            extents_print(&sum, p, &v);
        json_add(t, "%s", sum.s);
    }
    text_add(t, "]");
}

static void add_sizes(text *t, const plan *p)
{
    json_add(t, "\n  sizes:[");
    for (int i = 0; i < p->n_variable; i++) {
        const variable *v = &p->variable[i];
        json_add(t, "\n    {name:%s,least:%lld,most:%lld", v->name, (long long)(v->low * v->step),
                 (long long)(v->high * v->step));
        if (v->step > 1)
            json_add(t, "step:%lld", (long long)v->step);
        text_add(t, "}");
    }
    text_add(t, "\n  ]");
}

static void add_name(text *t, const plan *p, const char *name, const node *port)
{
    json_add(t, "\n    {name:%s,dtype:%s", name ? name : port->label, ts_dtype_name(port->type.dtype));
    json_add_wholes(t, "shape", port->type.rank, port->type.dim);
    if (p->n_variable)
        add_follows(t, p, port);
    text_add(t, "}");
}

static char *ports_text(const plan *p, const char *const *output)
{
    text t = {.wide = true};
    json_add(&t, "{\n  inputs:[");
    for (int i = 0; i < p->n_input; i++)
        if (state_number(p, i) < 0)
            add_name(&t, p, NULL, p->input[i]);
    json_add(&t, "\n  ],\n  outputs:[");
    for (int i = 0; i < n_output(p); i++)
        add_name(&t, p, output ? output[i] : NULL, p->root[i]);
    json_add(&t, p->n_carried ? "\n  ],\n  states:[" : "\n  ]");
    for (int i = 0; i < p->n_carried; i++)
        add_name(&t, p, NULL, p->input[p->carried[i].input]);
    text_add(&t, p->n_carried ? "\n  ]" : "");
    if (p->n_variable)
        add_sizes(&t, p);
    text_add(&t, "\n}\n");
    return text_take(&t);
}

static bool write_program(standalone *s, err *e)
{
    const emit_code *c = s->code;
    carried_file *units = calloc((size_t)c->n_unit + 1, sizeof *units);
    emit_size size[MOST_VARIABLES];
    for (int i = 0; i < s->p->n_variable; i++) {
        const variable *v = &s->p->variable[i];
        size[i] = (emit_size){v->low * v->step, v->high * v->step, v->step};
    }
    char *whole = program_text(s), *ports = ports_text(s->p, s->asked->output);
    MUST(units);
    for (int i = 0; i < c->n_unit; i++)
        units[i] = c->unit[i];
    units[c->n_unit] = (carried_file){"program", whole, c->calls.from, c->calls.to};
    const emit_parts parts = {.n_unit = c->n_unit + 1,
                              .unit = units,
                              .extra = c->extra,
                              .entry = "program",
                              .n_space = s->n_space,
                              .space = s->space,
                              .weight = weight,
                              .arg = s,
                              .n_size = s->p->n_variable,
                              .size = size,
                              .size_space = s->p->n_variable ? input_space(s->p, s->p->n_input) : 0,
                              .threads = c->threads,
                              .cpu = c->cpu,
                              .flags = c->flags,
                              .ports = ports,
                              .program = s->asked->program,
                              .add = s->asked->add,
                              .user = s->asked->user};
    const bool ok = s->asked->single ? emit_one_file(s->asked->folder, s->asked->single, &parts, e)
                                     : emit_folder(s->asked->folder, &parts, e);
    free(units), free(whole), free(ports);
    return ok;
}

void emit_unit_header(text *t, const kernel_text *u, const levels *l, const int *unit_of, int unit)
{
    layers_header(t, l, unit_of, unit);
    text_add(t, "%s", u->header);
}

char *emit_unit_text(const kernel_text *u, const levels *l, const int *unit_of, int unit)
{
    text t = {0};
    text_bytes(&t, u->text, u->begins);
    emit_unit_header(&t, u, l, unit_of, unit);
    text_add(&t, "%s", u->text + u->begins);
    return text_take(&t);
}

bool emit_allowed(const plan *p, err *e)
{
    if (!p->reference)
        return true;
    err_set(e, TS_UNSUPPORTED, "a reference plan is for comparisons and does not become a program");
    return err_hint(e, "make the plan without it");
}

bool emit_standalone(const plan *p, const emit_options *w, const emit_code *code, err *e)
{
    const build_options plain = {0};
    standalone s = {.p = p, .asked = w, .code = code, .deriver = deriver_make(p, code->by, &plain)};
    const bool ok = make_spaces(&s, e) && write_program(&s, e);
    deriver_free(s.deriver);
    free(s.space), free(s.from), free(s.old);
    return ok;
}
