/* standalone.c - a plan as a program of its own: the units that a run here would build, and one function between them
 * and the spaces of emitdir.h, which lie in this order: arena, scratch, weights, inputs, outputs, then constants that
 * are outputs. */
#include "backends/backend.h"
#include "backends/c/emitdir.h"
#include "backends/c/program.h"

#include <stdlib.h>
#include <string.h>

enum { ARENA, SCRATCH, N_WORK, PAGE = 4096 };

typedef struct standalone {
    const plan *p;
    c_program code;
    emit_space *space;
    int n_space;
    int *copied; /* of each output: the space that it is copied from */
    int64_t scratch;
} standalone;

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
    return input_space(p, p->n_input) + i;
}

/* ---- spaces ---- */

static void add_space(standalone *s, emit_kind kind, size_t bytes)
{
    s->space[s->n_space++] = (emit_space){.kind = kind, .bytes = bytes};
}

static void add_port(standalone *s, emit_kind kind, const node *n)
{
    emit_space *x = &s->space[s->n_space];
    add_space(s, kind, (size_t)type_bytes(&n->type));
    x->dtype = n->type.dtype;
    x->rank = n->type.rank;
    memcpy(x->dim, n->type.dim, (size_t)x->rank * sizeof *x->dim);
}

static int input_number(const plan *p, const node *n)
{
    int i = 0;
    while (p->input[i] != n)
        i++;
    return i;
}

static bool add_leaves(standalone *s, err *e)
{
    for (int i = 0; i < s->p->n_leaf; i++) {
        const packed *w = &s->p->leaf[i];
        size_t bytes;
        if (!size_mul((size_t)w->layout.size, (size_t)ts_dtype_bytes(w->node->type.dtype), &bytes))
            return err_set(e, TS_MEMORY, "the weights have too many bytes");
        add_space(s, EMIT_WEIGHT, bytes);
    }
    return true;
}

static bool make_spaces(standalone *s, err *e)
{
    const plan *p = s->p;
    size_t scratch;
    s->space = calloc((size_t)output_space(p, 2 * p->n_root), sizeof *s->space);
    s->copied = calloc((size_t)p->n_root + 1, sizeof *s->copied);
    MUST(s->space && s->copied);
    s->scratch = (s->code.scratch_most + PAGE - 1) / PAGE * PAGE; /* parts on pages of their own */
    if (!size_mul((size_t)s->scratch, (size_t)p->threads, &scratch))
        return err_set(e, TS_MEMORY, "scratch memory for %d threads has too many bytes", p->threads);
    add_space(s, EMIT_SCRATCH, (size_t)p->arena_bytes);
    add_space(s, EMIT_SCRATCH, scratch);
    if (!add_leaves(s, e))
        return false;
    for (int i = 0; i < p->n_input; i++)
        add_port(s, EMIT_INPUT, p->input[i]);
    for (int i = 0; i < p->n_root; i++)
        add_port(s, EMIT_OUTPUT, p->root[i]);
    for (int i = 0; i < p->n_root; i++) {
        const node *n = p->root[i];
        s->copied[i] = !n->leaf ? ARENA : n->leaf->kind == LEAF_INPUT ? input_space(p, input_number(p, n)) : s->n_space;
        if (s->copied[i] == s->n_space)
            add_space(s, EMIT_WEIGHT, (size_t)type_bytes(&n->type));
    }
    return true;
}

/* ---- weights ---- */

static void constant_output(const standalone *s, int at, void *to)
{
    int i = 0;
    while (s->copied[i] != at)
        i++;
    leaf_read(s->p->root[i], to, 0, type_count(&s->p->root[i]->type));
}

static void weight(void *arg, int at, void *to)
{
    const standalone *s = arg;
    const int i = at - N_WORK;
    if (i >= s->p->n_leaf) {
        constant_output(s, at, to);
        return;
    }
    const packed *w = &s->p->leaf[i];
    const type *t = &w->node->type;
    const int64_t n = type_count(t);
    if (layout_is_rows(&w->layout, t)) {
        leaf_read(w->node, to, 0, n);
        return;
    }
    void *rows = malloc((size_t)type_bytes(t) + 1);
    MUST(rows);
    leaf_read(w->node, rows, 0, n);
    layout_pack(&w->layout, t, to, rows, 0, 1);
    free(rows);
}

/* ---- text ---- */

/* The unit that calls the kernels, and the entry behind it: what emitdir.h asks for, in terms of what
 * c_run_type says. */
static char *program_text(const standalone *s)
{
    const plan *p = s->p;
    text t = {0};
    text_add(&t, "#include <string.h>\n\n%s\n", s->code.calls);
    text_line(
        &t, "void program(void *const *space, int *fault, int part, int parts, void (*wait)(void *team), void *team)");
    text_line(&t, "{");
    text_line(&t, "    const ts_run r = {.arena = space[%d], .leaf = space + %d, .input = space + %d,", ARENA,
              leaf_space(0), input_space(p, 0));
    text_line(&t,
              "                      .scratch = space[%d], .scratch_bytes = %lld, .fault = fault, .wait = wait, .team "
              "= team};",
              SCRATCH, (long long)s->scratch);
    text_line(&t, "    run(&r, part, parts);");
    text_line(&t, "    wait(team);");
    text_line(&t, "    if (part)\n        return;");
    for (int i = 0; i < p->n_root; i++) {
        const int64_t at = s->copied[i] == ARENA ? p->home[p->root[i]->id].offset : 0;
        text_line(&t, "    memcpy(space[%d], (const char *)space[%d] + %lld, %lld);", output_space(p, i), s->copied[i],
                  (long long)at, (long long)type_bytes(&p->root[i]->type));
    }
    text_line(&t, "}");
    return text_take(&t);
}

static void add_names(text *t, const char *what, int n, const node *const *port)
{
    text_add(t, "  \"%s\": [", what);
    for (int i = 0; i < n; i++) {
        text_add(t, "%s\n    {\"name\": ", i ? "," : "");
        text_json(t, port[i]->label);
        text_add(t, ", \"dtype\": \"%s\", \"shape\": [", ts_dtype_name(port[i]->type.dtype));
        for (int d = 0; d < port[i]->type.rank; d++)
            text_add(t, "%s%lld", d ? ", " : "", (long long)port[i]->type.dim[d]);
        text_add(t, "]}");
    }
    text_add(t, "\n  ]");
}

static char *ports_text(const plan *p)
{
    text t = {0};
    text_add(&t, "{\n");
    add_names(&t, "inputs", p->n_input, p->input);
    text_add(&t, ",\n");
    add_names(&t, "outputs", p->n_root, p->root);
    text_add(&t, "\n}\n");
    return text_take(&t);
}

static bool write_folder(standalone *s, const char *dir, err *e)
{
    const int n = s->code.n_unit;
    emit_unit *units = calloc((size_t)n + 1, sizeof *units);
    char *whole = program_text(s), *ports = ports_text(s->p);
    MUST(units);
    for (int i = 0; i < n; i++)
        units[i] = (emit_unit){s->code.unit[i].name, s->code.unit[i].text};
    units[n] = (emit_unit){"program", whole};
    const emit_parts parts = {.n_unit = n + 1,
                              .unit = units,
                              .entry = "program",
                              .n_space = s->n_space,
                              .space = s->space,
                              .weight = weight,
                              .arg = s,
                              .threads = s->p->threads,
                              .flags = c_flags(s->p->isa),
                              .ports = ports};
    const bool ok = emit_dir(dir, &parts, e);
    free(units), free(whole), free(ports);
    return ok;
}

bool c_standalone(const plan *p, const char *dir, err *e)
{
    standalone s = {.p = p};
    if (p->reference) {
        err_set(e, TS_UNSUPPORTED, "a reference plan is for comparisons and does not become a program");
        return err_hint(e, "make the plan without it");
    }
    if (!c_program_write(p, &s.code, e))
        return false;
    const bool ok = make_spaces(&s, e) && write_folder(&s, dir, e);
    c_program_free(&s.code);
    free(s.space), free(s.copied);
    return ok;
}
