/* builder.c - steps become nodes. Extents are numbers by now, so shape arithmetic is arithmetic on constants: a step
 * whose operands are constants becomes a constant itself as long as that is small. Steps that nobody can do are
 * gathered, and so are those behind them left out, until everything else was tried. */
#include "import/model.h"

#include <stdio.h>
#include <string.h>

enum {
    FOLD_ELEMENTS = 65536,  /* of a result that becomes a constant */
    FOLD_WORK = 4 << 20,    /* elements walked to compute it */
    FOLD_TOTAL = 256 << 20, /* bytes of all such constants */
};

typedef struct builder {
    const model_file *f;
    const links *l;
    graph *g;
    arena *mem;         /* until the graph is built */
    const node **value; /* by number; NULL: not made */
    bool bound;         /* extents are known */
    int64_t folded;     /* bytes of constants made here */
    lacks lacks;
} builder;

/* ---- what the file holds ---- */

/* Integers and single numbers steer shapes and scales: constants. Everything else is a weight and stays where it lies.
 */
static const node *held_node(const builder *b, const held *h)
{
    const ts_array *a = &h->value;
    type t = {.dtype = a->dtype, .rank = a->rank};
    memcpy(t.dim, a->dim, sizeof t.dim);
    const int64_t n = type_count(&t);
    const bool steers = n <= 1 || (dtype_class(t.dtype) != D_REAL && n <= FOLD_ELEMENTS);
    return steers ? g_const(b->g, "", &t, a->data) : g_weight(b->g, h->name, &t, a->data);
}

static const node *value_at(builder *b, int i)
{
    const int k = i - b->f->n_input;
    const held *h = k >= 0 && k < b->f->n_held ? &b->f->held[k] : NULL;
    if (h && h->refused)
        lacks_add(&b->lacks, arena_format(b->mem, "tensor \"%s\"", h->name), h->refused, "");
    else if (h && !b->value[i])
        b->value[i] = held_node(b, h);
    return i < 0 ? NULL : b->value[i];
}

/* ---- folding ---- */
static bool is_const(const node *n)
{
    return node_is_leaf(n) && n->leaf->kind == LEAF_CONST;
}

/* Elements that computing nodes [first, g->n) walks. */
static int64_t work_since(const graph *g, int first)
{
    int64_t total = 0;
    arena mem = {0};
    for (int i = first; i < g->n && total < FOLD_WORK; i++) {
        defn d;
        int64_t one = 1;
        if (node_is_leaf(g->node[i]) || !g_defn(g->node[i], &mem, &d, NULL))
            continue;
        for (int k = 0; k < d.n_axis; k++)
            if (!int_mul(one, d.extent[k], &one))
                one = FOLD_WORK;
        total += one < FOLD_WORK ? one : FOLD_WORK;
    }
    arena_free(&mem);
    return total;
}

static bool fold(builder *b, const onnx_call *c, int first, const node **out, err *e)
{
    const node *n = *out;
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i] && !is_const(c->in[i]))
            return true;
    if (node_is_leaf(n) || type_count(&n->type) > FOLD_ELEMENTS || work_since(b->g, first) >= FOLD_WORK)
        return true;
    const ts_array *v = g_value(b->g, n, FOLD_ELEMENTS);
    if (!v)
        return true;
    b->folded += type_bytes(&n->type);
    if (b->folded > FOLD_TOTAL)
        return err_set(e, TS_MEMORY, "M025 constants computed from constants need more than %d MiB", FOLD_TOTAL >> 20);
    *out = g_const(b->g, "", &n->type, v->data);
    return true;
}

/* ---- steps ---- */
static int version_of(const model_file *f, const char *domain)
{
    for (int i = 0; i < f->n_opset; i++)
        if (!strcmp(f->opset[i].domain, domain))
            return f->opset[i].version;
    return 1; /* a domain that the file does not import */
}

static const char *place(builder *b, int i)
{
    return arena_format(b->mem, "node[%d] \"%s\"", i, b->f->step[i].name);
}

/* "com.acme.Foo (opset 1, f32)": operator, version and the dtype that it works on, if it is known. */
static void add_lack(builder *b, int i, const node *operand, const char *reason)
{
    const step *s = &b->f->step[i];
    const char *what = arena_format(b->mem, "%s%s%s (opset %d%s%s)", s->domain, *s->domain ? "." : "", s->type,
                                    version_of(b->f, s->domain), operand ? ", " : "",
                                    operand ? ts_dtype_name(operand->type.dtype) : "");
    lacks_add(&b->lacks, what, reason, place(b, i));
}

static bool check_size(builder *b, int i, const node *n, err *e)
{
    if (type_count(&n->type) <= MODEL_ELEMENTS)
        return true;
    text t = {0};
    type_print(&t, &n->type);
    err_set(e, TS_MEMORY, "M025 %s %s: output %s has more than 2^40 elements", place(b, i), b->f->step[i].type,
            text_str(&t));
    text_free(&t);
    return false;
}

/* The operands of step i; false when one was not made because of a lack further up. */
static bool operands(builder *b, int i, const node **in)
{
    const step *s = &b->f->step[i];
    bool all = true;
    for (int k = 0; k < s->n_in; k++) {
        in[k] = value_at(b, b->l->operand[b->l->first_in[i] + k]);
        all = all && (in[k] || !*s->in[k]);
    }
    return all;
}

/* Takes the results of step i over: sizes checked, folded where possible, named after the step. */
static bool keep(builder *b, int i, const onnx_call *c, int first, const node **out, err *e)
{
    const step *s = &b->f->step[i];
    for (int k = 0; k < s->n_out; k++) {
        if (!out[k])
            continue;
        if (!check_size(b, i, out[k], e) || !fold(b, c, first, &out[k], e))
            return false;
        if (!node_is_leaf(out[k]))
            g_label(b->g, out[k], *s->name ? s->name : s->out[k]);
        b->value[b->l->first_out[i] + k] = out[k];
    }
    return true;
}

static int outputs_of(const step *s)
{
    int n = s->n_out;
    while (n > 0 && !*s->out[n - 1])
        n--;
    return n;
}

static bool build_step(builder *b, int i, err *e)
{
    const step *s = &b->f->step[i];
    const onnx_rule *rule;
    const op *o = op_for_onnx(s->domain, s->type, version_of(b->f, s->domain), &rule);
    const node **in = arena_array(b->mem, (size_t)s->n_in, sizeof *in);
    const node **out = arena_array(b->mem, (size_t)s->n_out, sizeof *out);
    const bool ready = operands(b, i, in);
    const node *subject = s->n_in > 0 ? in[0] : NULL;
    if (!o || s->refused)
        add_lack(b, i, subject, s->refused ? s->refused : "");
    else if (!ready && b->lacks.n == 0 && b->bound)
        add_lack(b, i, subject, "one of its inputs is an optional output that its maker does not give");
    if (!o || s->refused || !ready)
        return true;
    const onnx_call c = {.g = b->g,
                         .type = s->type,
                         .domain = s->domain,
                         .name = s->name,
                         .version = version_of(b->f, s->domain),
                         .n_in = s->n_in,
                         .n_out = outputs_of(s),
                         .in = in,
                         .n_attr = s->n_attr,
                         .attr = s->attr,
                         .tensor = s->tensor};
    const int first = b->g->n;
    err own = {0};
    if (onnx_apply(o, rule, &c, out, &own))
        return keep(b, i, &c, first, out, e);
    b->g->err = (err){0};
    if (own.code != TS_UNSUPPORTED)
        return err_set(e, own.code, "M024 %s %s: %s", place(b, i), s->type, own.text);
    add_lack(b, i, subject, own.text);
    return true;
}

/* ---- ports ---- */
static bool build_inputs(builder *b, const binding *with, err *e)
{
    for (int i = 0; i < with->n; i++) {
        const ts_port *p = &with->input[i];
        type t = {.dtype = p->dtype, .rank = p->rank};
        memcpy(t.dim, p->dim, sizeof t.dim);
        b->value[i] = g_input(b->g, p->name, &t, &with->preset[i]);
        if (!b->value[i])
            return err_set(e, b->g->err.code, "input \"%s\": %s", p->name, b->g->err.text);
    }
    return true;
}

static bool build(builder *b, const binding *with, const node **result, err *e)
{
    for (int i = 0; i < b->f->n_refused; i++)
        lacks_add(&b->lacks, b->f->refused[i], "", "");
    if (with && !build_inputs(b, with, e))
        return false;
    for (int i = 0; i < b->l->n_order; i++)
        if (!build_step(b, b->l->order[i], e))
            return false;
    if (!lacks_tell(&b->lacks, e))
        return false;
    for (int i = 0; b->bound && i < b->f->n_output; i++) {
        result[i] = value_at(b, b->l->result[i]);
        if (!result[i])
            return err_set(e, TS_BAD_INPUT, "M012 output \"%s\": its node gives no such result", b->f->output[i].name);
    }
    return true;
}

bool builder_run(const model_file *f, const links *l, const binding *with, graph *g, const node **result, err *e)
{
    arena mem = {0};
    builder b = {.f = f, .l = l, .g = g, .mem = &mem, .bound = with != NULL};
    b.value = arena_array(&mem, (size_t)l->n_value, sizeof *b.value);
    const bool ok = build(&b, with, result, e);
    lacks_free(&b.lacks);
    arena_free(&mem);
    return ok;
}
