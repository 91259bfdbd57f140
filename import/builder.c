/* builder.c - steps become nodes. Extents are numbers by now, so shape arithmetic is arithmetic on constants: a step
 * whose operands are constants becomes a constant itself as long as that is small. Graphs inside steps and functions
 * are gone through each time that somebody passes through them: loops come out unrolled, calls inlined. Steps that
 * nobody can do are gathered, and so are those behind them left out, until everything else was tried. */
#include "graph/eval/eval.h"
#include "import/model.h"
#include "graph/ir/scalar.h"

#include <string.h>

enum {
    FOLD_WORK = 4 << 20, /* elements walked to compute a constant */
    MOST_DEPTH = 48,     /* graphs in graphs, calls in calls */
};

typedef struct builder {
    const model_file *f;
    graph *g;
    arena *mem;     /* until the graph is built */
    bool bound;     /* extents are known */
    int64_t folded; /* bytes of constants made here */
    int64_t steps;  /* gone through, each time counted */
    int depth;
    bool hard; /* a lack that no value would mend */
    unsupported unsupported;
} builder;

/* One pass through a graph. */
typedef struct frame {
    builder *b;
    const body *body;
    const links *l;
    onnx_value *value; /* by number */
    const opset *opset;
    int n_opset;
    const function *function;   /* that the graph belongs to, or NULL */
    const step *call;           /* of that function, its attributes resolved */
    const struct frame *outer;  /* whose values it sees, or NULL */
    const struct frame *within; /* whose step `at` goes through it, or NULL: it is the model's */
    int at;
} frame;

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

static onnx_value value_at(frame *f, int i)
{
    const int k = i - f->body->n_input;
    const held *h = k >= 0 && k < f->body->n_held ? &f->body->held[k] : NULL;
    if (h && h->refused)
        unsupported_add(&f->b->unsupported, arena_format(f->b->mem, "tensor \"%s\"", h->name), h->refused, ""),
            f->b->hard = true;
    else if (h && !f->value[i].node)
        f->value[i].node = held_node(f->b, h);
    return i < 0 ? (onnx_value){0} : f->value[i];
}

static bool is_absent(const onnx_value *v)
{
    return !v->node && !v->list;
}

/* ---- folding ---- */
static bool is_const(const node *n)
{
    return node_is_leaf(n) && n->leaf->kind == LEAF_CONST;
}

/* Elements that computing nodes [first, g->n) walks. */
static double work_since(const graph *g, int first)
{
    double total = 0;
    for (int i = first; i < g->n && total < FOLD_WORK; i++)
        total += node_points(g->node[i]);
    return total;
}

/* Reals of integers in fewer bytes, as quantized weights are, which products may take as these. */
static bool widens(const onnx_call *c, const node *n)
{
    const type *from = &c->in[0]->type;
    return dtype_class(n->type.dtype) == D_REAL && type_count(&n->type) > 1 && dtype_class(from->dtype) == D_WHOLE &&
           dtype_bits(from->dtype) < dtype_bits(n->type.dtype);
}

static bool fold(builder *b, const onnx_call *c, int first, const node **out, err *e)
{
    const node *n = *out;
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i] && !is_const(c->in[i]))
            return true;
    if (node_is_leaf(n) || (c->n_in && c->in[0] && widens(c, n)) || type_count(&n->type) > FOLD_ELEMENTS ||
        work_since(b->g, first) >= FOLD_WORK)
        return true;
    const ts_array *v = g_value(b->g, n, FOLD_ELEMENTS);
    if (!v)
        return true;
    b->folded += type_bytes(&n->type);
    if (b->folded > b->f->limits.folded) {
        err_set(e, TS_MEMORY, "M025 constants computed from constants need %lld bytes or more, the limit is %lld",
                (long long)b->folded, (long long)b->f->limits.folded);
        return limits_hint("folded", 2 * b->f->limits.folded, e);
    }
    *out = g_const(b->g, "", &n->type, v->data);
    return true;
}

/* ---- steps ---- */
static int version_of(const frame *f, const char *domain)
{
    const int i = row_named(f->opset, f->n_opset, sizeof *f->opset, domain);
    return i < 0 ? 1 : f->opset[i].version; /* 1: a domain that the file does not import */
}

/* "node[3] "loop", node[0] "add"" */
static const char *place(const frame *f, int i)
{
    const char *own = arena_format(f->b->mem, "node[%d] \"%s\"", i, f->body->step[i].name);
    return f->within ? arena_format(f->b->mem, "%s, %s", place(f->within, f->at), own) : own;
}

/* "com.acme.Foo (opset 1, f32)": operator, version and the dtype that it works on, if it is known. */
static void add_unsupported(const frame *f, int i, const node *operand, const char *reason)
{
    const step *s = &f->body->step[i];
    const char *what = arena_format(f->b->mem, "%s%s%s (opset %d%s%s)", s->domain, *s->domain ? "." : "", s->type,
                                    version_of(f, s->domain), operand ? ", " : "",
                                    operand ? ts_dtype_name(operand->type.dtype) : "");
    unsupported_add(&f->b->unsupported, what, reason, place(f, i));
    f->b->hard = true;
}

static bool check_size(const frame *f, int i, const node *n, err *e)
{
    const int64_t count = type_count(&n->type), most = f->b->f->limits.elements;
    if (count <= most)
        return true;
    ENDED_BY(text_free) text t = {0};
    type_print(&t, &n->type);
    err_set(e, TS_MEMORY, "M025 %s %s: output %s has %lld elements, the limit is %lld", place(f, i),
            f->body->step[i].type, text_str(&t), (long long)count, (long long)most);
    return limits_hint("elements", count, e);
}

/* The operands of step i; false when one was not made because of a lack further up. */
static bool operands(frame *f, int i, onnx_value *value, const node **in)
{
    const step *s = &f->body->step[i];
    bool all = true;
    for (int k = 0; k < s->n_in; k++) {
        const int from = f->l->operand[f->l->first_in[i] + k];
        value[k] = value_at(f, from);
        in[k] = value[k].node;
        all = all && (!is_absent(&value[k]) || !*s->in[k] || (from >= 0 && from < f->body->n_input && f->function));
    }
    return all;
}

static int outputs_of(const step *s)
{
    int n = s->n_out;
    while (n > 0 && !*s->out[n - 1])
        n--;
    return n;
}

/* ---- attributes of functions ---- */

/* What the caller gave, what the function falls back to, or nothing. */
static const attr *given_attribute(const frame *f, const char *name, const ts_array **tensor)
{
    const step *call = f->call;
    for (int i = 0; call && i < call->n_attr; i++)
        if (!strcmp(call->attr[i].name, name)) {
            *tensor = call->tensor ? call->tensor[i] : NULL;
            return &call->attr[i];
        }
    for (int i = 0; f->function && i < f->function->n_attr; i++)
        if (!strcmp(f->function->attr[i].name, name)) {
            *tensor = f->function->tensor[i];
            return &f->function->attr[i];
        }
    return NULL;
}

/* s with every reference replaced by what it stands for. */
static step resolved(const frame *f, const step *s)
{
    step own = *s;
    attr *list = arena_array(f->b->mem, (size_t)s->n_attr, sizeof *list);
    const ts_array **tensor = arena_array(f->b->mem, (size_t)s->n_attr, sizeof *tensor);
    own.n_attr = 0;
    for (int i = 0; i < s->n_attr; i++) {
        const attr *a = &s->attr[i];
        const ts_array *t = s->tensor ? s->tensor[i] : NULL;
        if (a->kind == 'r')
            a = given_attribute(f, a->s, &t);
        if (!a)
            continue;
        list[own.n_attr] = *a;
        list[own.n_attr].name = s->attr[i].name;
        tensor[own.n_attr++] = t;
    }
    own.attr = list, own.tensor = tensor;
    return own;
}

/* A step was come to, or the graph in one begins again. What steps become counts too: one may be hundreds of nodes. */
static bool count_step(const frame *f, int i, err *e)
{
    enum { NODES = 4 }; /* that are worth a step */
    const int64_t most = f->b->f->limits.steps;
    if (++f->b->steps + f->b->g->n / NODES <= most)
        return true;
    err_set(e, TS_MEMORY, "M025 %s %s: more than %lld steps when loops are unrolled and functions inlined", place(f, i),
            f->body->step[i].type, (long long)most);
    return limits_hint("steps", 2 * most, e);
}

/* ---- graphs in steps ---- */
static bool run_frame(frame *f, const onnx_pass *p, err *e);

/* There is another way where this one fails, or something in it is not supported. */
static bool try_frame(frame *f, const onnx_pass *p, err *e)
{
    builder *b = f->b;
    const bool hard = b->hard;
    const int depth = b->depth;
    if (b->unsupported.n > 0)
        return err_set(e, TS_UNSUPPORTED, "something before is not supported");
    const bool ok = run_frame(f, p, e) && b->unsupported.n == 0;
    b->unsupported.n = b->unsupported.more = 0;
    b->hard = hard, b->depth = depth;
    return ok || err_is(e) ? ok : err_set(e, TS_UNSUPPORTED, "something inside is not supported");
}

typedef struct making {
    frame *f;
    int step;
    const step *own; /* its attributes resolved */
} making;

typedef bool going(frame *f, const onnx_pass *p, err *e);

static bool go_through(const onnx_call *c, const onnx_pass *p, going *go, err *e)
{
    const making *m = c->user;
    frame *outer = m->f;
    const attr *a = onnx_attr(c, p->attribute);
    if (!a || a->kind != 'g' || a->i >= m->own->n_body)
        return err_set(e, TS_BAD_INPUT, "attribute %s is not a graph", p->attribute);
    frame inner = *outer;
    inner.body = &m->own->body[a->i], inner.l = inner.body->links, inner.outer = outer;
    inner.within = outer, inner.at = m->step;
    if (p->n_in != inner.body->n_input || p->n_out > inner.body->n_output)
        return err_set(e, TS_BAD_INPUT, "the graph in %s has %d inputs and %d outputs, %d and %d are needed",
                       p->attribute, inner.body->n_input, inner.body->n_output, p->n_in, p->n_out);
    return count_step(outer, m->step, e) && go(&inner, p, e);
}

static bool pass_through(const onnx_call *c, const onnx_pass *p, err *e)
{
    return go_through(c, p, run_frame, e);
}

static bool attempt(const onnx_call *c, const onnx_pass *p, err *e)
{
    return go_through(c, p, try_frame, e);
}

static const function *function_for(const builder *b, const onnx_call *c)
{
    for (int i = 0; i < b->f->n_function; i++)
        if (!strcmp(b->f->function[i].name, c->type) && !strcmp(b->f->function[i].domain, c->domain))
            return &b->f->function[i];
    return NULL;
}

static bool call_function(frame *f, int i, const function *to, const onnx_call *c, onnx_value *out, err *e)
{
    const making *m = c->user;
    const int n = to->body.n_input;
    if (c->n_in > n || c->n_out > to->body.n_output)
        return err_set(e, TS_BAD_INPUT, "the function has %d inputs and %d outputs, %d and %d are used", n,
                       to->body.n_output, c->n_in, c->n_out);
    onnx_value *in = arena_array(f->b->mem, (size_t)n, sizeof *in);
    for (int k = 0; k < c->n_in; k++)
        in[k] = c->value[k];
    frame inner = {f->b, &to->body, to->body.links, .function = to, .call = m->own};
    inner.opset = to->opset, inner.n_opset = to->n_opset;
    inner.within = f, inner.at = i;
    return run_frame(&inner, &(onnx_pass){NULL, n, c->n_out, in, out}, e);
}

/* Without operands: only for what is not supported further in. */
static bool look_inside(frame *f, int i, const function *to, const onnx_call *c, err *e)
{
    bool ok = true;
    if (to)
        return call_function(f, i, to, &(onnx_call){.user = c->user}, NULL, e);
    for (int k = 0; ok && k < c->n_attr; k++) {
        const making *m = c->user;
        if (c->attr[k].kind != 'g')
            continue;
        const int n = m->own->body[c->attr[k].i].n_input;
        onnx_value *none = arena_array(f->b->mem, (size_t)n, sizeof *none);
        ok = pass_through(c, &(onnx_pass){c->attr[k].name, n, 0, none, NULL}, e);
    }
    return ok;
}

/* ---- one step ---- */

/* Takes the results of step i over: sizes checked, folded where possible, named after the step. */
static bool keep(frame *f, int i, const onnx_call *c, int first, onnx_value *out, err *e)
{
    const step *s = &f->body->step[i];
    for (int k = 0; k < outputs_of(s); k++) {
        const node *n = out[k].node;
        if (n && (!check_size(f, i, n, e) || (first >= 0 && !fold(f->b, c, first, &out[k].node, e))))
            return false;
        if (n && !node_is_leaf(out[k].node))
            g_label(f->b->g, out[k].node, *s->name ? s->name : s->out[k]);
        f->value[f->l->first_out[i] + k] = out[k];
    }
    return true;
}

/* Who makes a step: a function of the file, a rule of an operation, a form, or a scalar function. */
typedef struct maker {
    const function *function;
    const scalar_text *scalar;
    const op *op;
    const onnx_rule *rule;
    const onnx_rule *form;
} maker;

/* "tessera.relu3", where the file has relu3(x) */
static const scalar_text *scalar_for(const builder *b, const onnx_call *c)
{
    const size_t n = strlen(c->type);
    for (int i = 0; !strcmp(c->domain, "tessera") && i < b->f->n_scalar; i++) {
        const char *head = b->f->scalar[i].head + strspn(b->f->scalar[i].head, " ");
        if (!strncmp(head, c->type, n) && head[n + strspn(head + n, " ")] == '(')
            return &b->f->scalar[i];
    }
    return NULL;
}

static maker maker_of(const builder *b, const onnx_call *c)
{
    bool lists = false;
    maker m = {.function = function_for(b, c)};
    for (int i = 0; i < c->n_in; i++)
        lists = lists || c->value[i].list;
    if (!m.function && !lists)
        m.op = op_for_onnx(c->domain, c->type, c->version, &m.rule);
    if (!m.function && !m.op)
        m.op = op_for_form(c->domain, c->type, c->version, &m.form);
    if (!m.function && !m.op && !lists)
        m.scalar = scalar_for(b, c);
    return m;
}

static bool apply_scalar(const onnx_call *c, onnx_value *out, err *e)
{
    if (c->n_attr)
        return err_set(e, TS_BAD_INPUT, "it has no attribute \"%s\"", c->attr[0].name);
    const scalar *f = scalar_find(c->g->scalars, c->type, strlen(c->type));
    if (f && c->n_out > f->n_result)
        return err_set(e, TS_BAD_INPUT, "its results are %d, and %d are used", f->n_result, c->n_out);
    const node *y = ts_call(c->g, c->type, c->n_in, c->in);
    for (int i = 0; y && i < c->n_out; i++)
        out[i].node = i ? ts_output(c->g, y, i) : y;
    if (err_is(&c->g->err))
        *e = c->g->err;
    return !err_is(e);
}

static bool only_moves(graph *g, const node *y, const node *x) /* elements of x, into y */
{
    err none = {0};
    defn d;
    while (y && y != x && !node_is_leaf(y) && y->n_in && (y->op->text || y->op->body) &&
           g_defn(y, &g->mem, &d, &none) && d.value->kind == X_LOAD && d.value->from == y->in[0])
        y = y->in[0];
    return y == x;
}

static bool apply(const maker *m, const onnx_call *c, onnx_value *out, err *e)
{
    if (m->scalar)
        return apply_scalar(c, out, e);
    if (m->form)
        return onnx_make(m->op, m->form, c, out, e);
    const node **result = arena_array(&c->g->mem, (size_t)c->n_out + 1, sizeof *result);
    if (!onnx_apply(m->op, m->rule, c, result, e))
        return false;
    for (int i = 0; i < c->n_out; i++)
        out[i].node = result[i];
    if (c->n_in && c->n_out && c->value[0].texts && only_moves(c->g, result[0], c->in[0]))
        out[0].texts = c->value[0].texts, out[0].none = c->value[0].none;
    return true;
}

static bool make_step(frame *f, int i, const onnx_call *c, bool ready, err *e)
{
    builder *b = f->b;
    const step *s = &f->body->step[i];
    const maker by = maker_of(b, c);
    const node *subject = c->n_in > 0 ? c->in[0] : NULL;
    onnx_value *out = arena_array(b->mem, (size_t)s->n_out + 1, sizeof *out);
    const int lacking = b->unsupported.n + b->unsupported.more, first = b->g->n;
    if ((!by.op && !by.function && !by.scalar) || s->refused) {
        add_unsupported(f, i, subject, s->refused ? s->refused : onnx_left(s->domain, s->type));
        return true;
    }
    if (!ready) {
        if (lacking == 0 && b->bound)
            add_unsupported(f, i, subject, "one of its inputs is an optional output that its maker does not give");
        return look_inside(f, i, by.function, c, e);
    }
    err own = {0};
    const bool reads = by.form || (by.rule && by.rule->adapt && !by.op->extents); /* extents, to make its call */
    if (reads && !g_none_open(b->g, s->type, c->n_in, c->in))
        own = b->g->err;
    else if (by.function ? call_function(f, i, by.function, c, out, &own) : apply(&by, c, out, &own))
        return keep(f, i, c, by.rule ? first : -1, out, e);
    b->g->err = (err){0};
    if (own.code != TS_UNSUPPORTED && !strncmp(own.text, "M0", 2)) /* said further in */
        return err_set(e, own.code, "%s", own.text);
    if (own.code != TS_UNSUPPORTED)
        return err_set(e, own.code, "%s %s %s: %s", own.code == TS_MEMORY ? "M025" : "M024", place(f, i), s->type,
                       own.text);
    if (lacking == b->unsupported.n + b->unsupported.more) { /* else it was said further in */
        const bool hard = b->hard || !b->g->waits;
        add_unsupported(f, i, subject, own.text);
        b->hard = hard;
    }
    b->g->waits = false;
    return true;
}

static bool build_step(frame *f, int i, err *e)
{
    builder *b = f->b;
    const step *s = &f->body->step[i];
    const step own = f->function ? resolved(f, s) : *s;
    onnx_value *value = arena_array(b->mem, (size_t)s->n_in, sizeof *value);
    const node **in = arena_array(b->mem, (size_t)s->n_in, sizeof *in);
    const bool ready = operands(f, i, value, in);
    making m = {f, i, &own};
    if (!count_step(f, i, e))
        return false;
    const onnx_call c = {.g = b->g,
                         .type = s->type,
                         .domain = s->domain,
                         .name = s->name,
                         .version = version_of(f, s->domain),
                         .n_in = s->n_in,
                         .n_out = outputs_of(s),
                         .in = in,
                         .n_attr = own.n_attr,
                         .attr = own.attr,
                         .tensor = own.tensor,
                         .value = value,
                         .pass = pass_through,
                         .attempt = attempt,
                         .user = &m};
    return make_step(f, i, &c, ready, e);
}

static bool run_steps(frame *f, err *e)
{
    for (int i = 0; i < f->l->n_order; i++)
        if (!build_step(f, f->l->order[i], e))
            return false;
    return true;
}

/* Results that were not made because of a lack are none. */
static bool run_frame(frame *f, const onnx_pass *p, err *e)
{
    builder *b = f->b;
    const links *l = f->l;
    f->value = arena_array(b->mem, (size_t)l->n_value, sizeof *f->value);
    for (int i = 0; i < p->n_in; i++)
        f->value[i] = p->in[i];
    for (int i = 0; i < l->n_capture; i++)
        f->value[l->n_value - l->n_capture + i] = value_at((frame *)(uintptr_t)f->outer, l->capture[i]);
    if (++b->depth > MOST_DEPTH)
        return err_set(e, TS_BAD_INPUT, "M004 graphs and functions are nested %d deep, at most %d expected", b->depth,
                       MOST_DEPTH);
    const bool ok = run_steps(f, e);
    b->depth--;
    for (int i = 0; ok && i < p->n_out; i++) {
        p->out[i] = value_at(f, l->result[i]);
        if (is_absent(&p->out[i]) && b->unsupported.n > 0)
            return err_set(e, TS_UNSUPPORTED, "something inside is not supported");
    }
    return ok;
}

/* ---- ports ---- */
static const node *build_input(const builder *b, const binding *with, int i, err *e)
{
    const ts_port *p = &with->input[i];
    preset *k = &with->preset[i];
    type t = {.dtype = p->dtype, .rank = p->rank};
    memcpy(t.dim, p->dim, sizeof t.dim);
    const node *n = k->held ? held_node(b, &(held){.name = p->name, .value = k->value}) : g_input(b->g, p->name, &t, k);
    if (!n)
        err_set(e, b->g->err.code, "input \"%s\": %s", p->name, b->g->err.text);
    return n;
}

/* A sequence or optional again from its tensors, which begin at *next. Their names say where they belong. */
static onnx_value whole_input(const builder *b, const binding *with, const char *name, const char *form, int *next,
                              err *e)
{
    onnx_value v = {0};
    const size_t n = strlen(name);
    if (!*form) {
        v.node = build_input(b, with, (*next)++, e);
        return v;
    }
    onnx_list *l = arena_get(&b->g->mem, sizeof *l);
    onnx_value *item = arena_array(&b->g->mem, (size_t)(with->n - *next) + 1, sizeof *item);
    while (*next < with->n && !strncmp(with->input[*next].name, name, n) && with->input[*next].name[n] == '[') {
        const char *inner = arena_format(b->mem, "%s[%d]", name, l->n);
        item[l->n++] = whole_input(b, with, inner, form + 1, next, e);
        if (err_is(e))
            break;
    }
    l->optional = *form == 'o', l->dtype = TS_N_DTYPE, l->item = item;
    v.list = l;
    return v;
}

static bool build_inputs(frame *f, const binding *with, err *e)
{
    int next = 0;
    for (int i = 0; i < f->body->n_input; i++) {
        const ts_port *p = &f->body->input[i];
        f->value[i] = whole_input(f->b, with, p->name, p->form ? p->form : "", &next, e);
        if (err_is(e))
            return false;
    }
    return true;
}

static bool build(frame *f, const binding *with, onnx_value *result, err *e)
{
    builder *b = f->b;
    for (int i = 0; i < b->f->n_refused; i++)
        unsupported_add(&b->unsupported, b->f->refused[i], "", ""), b->hard = true;
    if (with && !build_inputs(f, with, e))
        return false;
    if (!run_steps(f, e) || !unsupported_tell(&b->unsupported, e))
        return false;
    for (int i = 0; b->bound && i < f->body->n_output; i++) {
        result[i] = value_at(f, f->l->result[i]);
        if (is_absent(&result[i]))
            return err_set(e, TS_BAD_INPUT, "M012 output \"%s\": its node gives no such result",
                           f->body->output[i].name);
    }
    return true;
}

bool builder_run(const model_file *file, const binding *with, graph *g, onnx_value *result, err *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    if (file->n_refused > 0)
        with = NULL; /* inputs among them have no type to be built of */
    builder b = {.f = file, .g = g, .mem = &mem, .bound = with != NULL};
    frame f = {&b, &file->main, file->main.links, .opset = file->opset, .n_opset = file->n_opset};
    f.value = arena_array(&mem, (size_t)f.l->n_value, sizeof *f.value);
    bool ok = true;
    for (int i = 0; i < file->n_scalar && ok; i++)
        ok = ts_function(g, file->scalar[i].head, file->scalar[i].text, file->scalar[i].derivative) ||
             err_set(e, g->err.code, "scalars[%d]: %s", i, g->err.text);
    ok = ok && build(&f, with, result, e);
    g->waits = !ok && b.unsupported.n > 0 && !b.hard;
    unsupported_free(&b.unsupported);
    return ok;
}
