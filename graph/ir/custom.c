/* custom.c - operations that a program defines: calls of their functions, and outputs that share one value. */
#include "graph/ir/custom.h"
#include "graph/ir/rule.h"
#include "graph/ir/scalar.h"
#include "graph/ir/trip.h"

#include <string.h>

enum { ALIGN = 64 }; /* bytes: outputs of several dtypes start on lines of their own */

/* ---- calls of functions ---- */
typedef struct use { /* what a ts_use points to */
    ts_use of;
    ts_array in[MAX_IN], out[MAX_OUTPUT];
    double number[MAX_NUMBER];
} use;

/* What a program's function sees of a node: types without data, numbers of its attributes, one part of one. */
static void use_begin(use *u, const node *n)
{
    const ts_operation *o = n->op->custom;
    int k = 0;
    for (const attr_spec *s = n->op->attr; s && s->name && s->kind == 'f'; s++, k++)
        u->number[k] = n->attr[k].f;
    for (int i = 0; i < n->n_in; i++)
        u->in[i] = type_array(&n->in[i]->type, NULL);
    u->of = (ts_use){.n_in = n->n_in,
                     .n_out = o->n_out,
                     .in = u->in,
                     .out = u->out,
                     .number = u->number,
                     .parts = 1,
                     .user = o->user};
}

/* The text is the program's and may be without an end: no more of it is read than there can be. */
static bool failed(const err *own, const char *function, err *e)
{
    const ts_code code = own->code == TS_OK ? TS_FAILED : own->code;
    return *own->text ? err_set(e, code, "%.*s", (int)sizeof own->text - 1, own->text)
                      : err_set(e, code, "its %s failed and gave no reason", function);
}

/* ---- several outputs in one value ---- */
const type *custom_type(const node *n, int index)
{
    return n->output ? &n->output[index] : &n->type;
}

int custom_outputs(const node *n)
{
    return n->output ? n->n_output : 1;
}

/* Outputs of one dtype lie as elements of it, so that expressions read them; others lie as bytes. */
static bool custom_mixed(int n, const type *t)
{
    bool mixed = false;
    for (int i = 1; i < n; i++)
        mixed = mixed || t[i].dtype != t[0].dtype;
    return mixed;
}

static int64_t room(const type *t, bool bytes) /* that it takes: elements, or bytes */
{
    return bytes ? (type_bytes(t) + ALIGN - 1) / ALIGN * ALIGN : type_count(t);
}

/* Several outputs make one value, [sum of their rooms]; one output is the value itself. */
bool custom_pack(graph *g, node *draft, int n, const type *t, err *e)
{
    const bool bytes = custom_mixed(n, t);
    type *out = &draft->type, *own = arena_array(&g->mem, (size_t)n + 1, sizeof *own);
    for (int i = 0; i < n; i++)
        own[i] = t[i];
    *out = t[0], draft->n_output = n, draft->output = n > 1 ? own : NULL;
    if (n == 1)
        return true;
    *out = (type){.dtype = bytes ? TS_U8 : t[0].dtype, .rank = 1};
    for (int i = 0; i < n; i++)
        if (!int_add(out->dim[0], room(&t[i], bytes), &out->dim[0]))
            return err_set(e, TS_MEMORY, "%d of its %d outputs have more than 2^63 - 1 elements, fewer expected", i + 1,
                           n);
    return type_valid(out, e);
}

/* In elements, or bytes where dtypes differ. */
static int64_t place_of(const node *n, int index)
{
    int64_t at = 0;
    for (int i = 0; i < index; i++)
        at += room(&n->output[i], custom_mixed(custom_outputs(n), n->output));
    return at;
}

int64_t custom_place(const node *n, int index)
{
    return n->output ? place_of(n, index) : 0;
}

bool custom_widens(const node *n)
{
    return n->trip && n->output && custom_mixed(n->n_output, n->output);
}

type custom_wide(const node *n)
{
    type t = n->type;
    t.dtype = dtype_real(t.dtype) ? TS_F64 : t.dtype;
    if (custom_widens(n) && !int_mul(t.dim[0], WIDE_BYTES, &t.dim[0]))
        t.dim[0] = INT64_MAX; /* for which there is no memory */
    return t;
}

/* Attributes may come from a file, so that even what custom_part wrote is checked. */
static bool result_shape(const node *n, type *out, err *e)
{
    const type *t = &n->in[0]->type;
    const attr *dims = node_attr(n, "dims"), *bytes = node_attr(n, "bytes");
    const int64_t at = node_int(n, "at");
    *out = (type){.dtype = t->dtype, .rank = dims->n};
    if (bytes->kind == 's' && !attr_dtype(n, "bytes", &out->dtype, e))
        return false;
    if (dims->n > MAX_RANK)
        return err_set(e, TS_BAD_INPUT, "dims: rank %d is not in 0...%d", dims->n, MAX_RANK);
    memcpy(out->dim, dims->ints, (size_t)dims->n * sizeof *dims->ints);
    if (t->rank != 1 || (t->dtype != out->dtype && t->dtype != TS_U8))
        return err_set(e, TS_BAD_INPUT, "takes outputs one after another, not %s of rank %d", ts_dtype_name(t->dtype),
                       t->rank);
    if (!type_valid(out, e))
        return false;
    const int64_t size = t->dtype == out->dtype ? type_count(out) : type_bytes(out);
    return (at >= 0 && at <= t->dim[0] && size <= t->dim[0] - at) ||
           err_set(e, TS_BAD_INPUT, "%lld from %lld on is beyond the %lld that there are", (long long)size,
                   (long long)at, (long long)t->dim[0]);
}

static void copy_wide(const host_call *c)
{
    const bool widens = custom_widens(c->node->in[0]);
    ts_array from = type_array(&c->node->type,
                               (char *)c->in[0].data + node_int(c->node, "at") * (widens ? WIDE_BYTES : 1));
    from.dtype = widens ? c->out->dtype : from.dtype;
    array_copy(&from, c->out->dtype, c->out->data);
}

/* Part `part` of `parts`: ranges of bytes that together cover all, each once. */
static bool copy_bytes(const host_call *c, err *e)
{
    const int64_t n = type_bytes(&c->node->type), from = n * c->part / c->parts, to = n * (c->part + 1) / c->parts;
    (void)e;
    if (c->wide)
        copy_wide(c);
    else if (to > from)
        memcpy((char *)c->out->data + from, (const char *)c->in[0].data + node_int(c->node, "at") + from,
               (size_t)(to - from));
    return true;
}

/* y[i, j, ...] = x[at + i * stride0 + j * stride1 + ...]; bytes are copied by a routine, no expression reads them as
 * another dtype. */
static const expr *result_body(defn *d)
{
    const type *t = &d->node->type;
    const expr *at = x_whole(d->mem, node_int(d->node, "at"));
    int64_t stride = type_count(t);
    if (d->node->in[0]->type.dtype != t->dtype || custom_widens(d->node->in[0])) {
        const int64_t from = node_int(d->node, "at");
        return defn_routine(d, &(routine){.name = d->node->op->name,
                                          .n_parameter = 1,
                                          .parameter = &from,
                                          .host = copy_bytes,
                                          .wides = true,
                                          .copies = true});
    }
    for (int i = 0; i < t->rank && stride; i++) {
        stride /= t->dim[i];
        at = x2(d->mem, "add", at, x2(d->mem, "mul", x_axis(d->mem, i), x_whole(d->mem, stride)));
    }
    return defn_at(d, 0, &at);
}

static const op result_op = {
    .name = "result",
    .doc = "One of several outputs that lie one after another.",
    .arity = 1,
    .attr = (const attr_spec[]){{"at", 'i', NULL}, {"dims", 'I', NULL}, {"bytes", 's', ""}, {0}},
    .shape = result_shape,
    .body = result_body};

/* whole: the value of n, or what stands for it in another graph. */
const node *custom_part(graph *g, const node *n, int index, const node *whole)
{
    const type *t = custom_type(n, index);
    const attr list[] = {{.name = "at", .kind = 'i', .i = n->output ? place_of(n, index) : 0},
                         {.name = "dims", .kind = 'I', .n = t->rank, .ints = t->dim},
                         {.name = "bytes", .kind = 's', .s = ts_dtype_name(t->dtype)}};
    return n->output ? g_make(g, &result_op, 1, &whole, list, t->dtype == n->type.dtype ? 2 : 3) : whole;
}

const node *custom_output(graph *g, const node *n, int index)
{
    return n && n->output ? g_output(g, custom_part(g, n, index, n), custom_part(g, n, 0, n), index) : n;
}

const node *custom_call(const node *n, int *index)
{
    if (n->op != &result_op || !n->in[0]->output)
        return NULL;
    for (*index = 0; *index < custom_outputs(n->in[0]); ++*index)
        if (place_of(n->in[0], *index) == node_int(n, "at") && type_equal(custom_type(n->in[0], *index), &n->type))
            return n->in[0];
    return NULL;
}

/* ---- types ---- */
/* In an arena of its own: the expression is made only to learn its dtype. */
static bool text_type(node *draft, err *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    const type *in[MAX_ARG];
    defn d = {.mem = &mem, .node = draft};
    for (int i = 0; i < draft->n_in; i++)
        in[i] = &draft->in[i]->type;
    const expr *x = type_broadcast(draft->n_in, in, &draft->type, e) ? defn_text(&d, e) : NULL;
    const bool ok = x && x_expand(&mem, draft->scalars, x, e) &&
                    (x->dtype != TS_N_DTYPE ||
                     err_set(e, TS_BAD_INPUT, "its text uses no operand, one of a, b, ... expected"));
    if (ok)
        draft->type.dtype = x->dtype;
    return ok;
}

static bool output_type(const ts_array *a, int index, type *out, err *e)
{
    if (a->rank < 0 || a->rank > MAX_RANK || a->dtype >= TS_N_DTYPE)
        return err_set(e, TS_BAD_INPUT, "its shape says no dtype, or no rank in 0...%d, of output %d", MAX_RANK, index);
    *out = (type){.dtype = a->dtype, .rank = a->rank};
    memcpy(out->dim, a->dim, (size_t)a->rank * sizeof *a->dim);
    return type_valid(out, e) || err_in(e, "output %d", index);
}

/* A shape function that leaves an output alone is found by its rank, -1. */
static bool output_types(graph *g, node *draft, err *e)
{
    const ts_operation *o = draft->op->custom;
    err own = {0};
    use u;
    use_begin(&u, draft);
    if (!o->shape && !draft->n_in)
        return err_set(e, TS_BAD_INPUT, "0 operands are given, at least 1 expected, of which outputs have the shape");
    for (int k = 0; k < o->n_out; k++)
        u.out[k] = o->shape ? (ts_array){.rank = -1} : u.in[0];
    if (o->shape && !o->shape(&u.of, &own))
        return failed(&own, "shape", e);
    type t[MAX_OUTPUT];
    for (int k = 0; k < o->n_out; k++)
        if (!output_type(&u.out[k], k, &t[k], e))
            return false;
    return custom_pack(g, draft, o->n_out, t, e);
}

bool custom_infer(graph *g, node *draft, err *e)
{
    if (draft->n_in > MAX_IN)
        return err_set(e, TS_BAD_INPUT, "%d operands given, takes at most %d", draft->n_in, MAX_IN);
    return draft->op->custom->text ? text_type(draft, e) : output_types(g, draft, e);
}

/* ---- kernels ---- */
/* A serial kernel is called once, for all parts; others for each part. */
static bool run_kernel(const host_call *c, err *e)
{
    const node *n = c->node;
    const ts_operation *o = n->op->custom;
    err own = {0};
    use u;
    if (o->serial && c->part)
        return true;
    use_begin(&u, n);
    u.of.in = c->in;
    u.of.part = o->serial ? 0 : c->part, u.of.parts = o->serial ? 1 : c->parts;
    for (int k = 0; k < o->n_out; k++) {
        const int64_t at = n->output ? place_of(n, k) * ts_dtype_bytes(n->type.dtype) : 0;
        u.out[k] = type_array(custom_type(n, k), (char *)c->out->data + at);
    }
    if (o->kernel(&u.of, &own))
        return true;
    failed(&own, "kernel", e);
    return *n->label ? err_in(e, "%s \"%s\"", n->op->name, n->label) : err_in(e, "%s", n->op->name);
}

const expr *custom_body(defn *d)
{
    return defn_routine(d, &(routine){.name = d->node->op->name, .host = run_kernel});
}

/* Such calls are neither shared nor computed at load: each of them happens, in every run. */
bool custom_impure(const node *n)
{
    return n->op->custom && n->op->custom->impure;
}

/* ---- gradients ---- */
static bool check_gradient(graph *g, const node *x, const node *dx, int k)
{
    return !dx || type_equal(&dx->type, &x->type) ||
           g_fail(g, TS_BAD_INPUT, "operand %d is %s, its gradient was given as %s", k, type_said(&x->type).s,
                  type_said(&dx->type).s);
}

/* dy: one for each output, NULL where nothing arrives; dx: one for each operand, NULL where nothing goes. */
bool custom_gradient(graph *g, const node *n, const node *const *dy, const node **dx)
{
    const ts_operation *o = n->op->custom;
    const node *y[MAX_OUTPUT];
    err own = {0};
    use u;
    if (!o->gradient) {
        g_fail(g, TS_UNSUPPORTED, "kernel %s has none of its own", n->op->name);
        return err_hint(&g->err, "give its ts_operation a gradient");
    }
    use_begin(&u, n);
    for (int k = 0; k < o->n_out; k++)
        y[k] = custom_output(g, n, k), u.out[k] = type_array(custom_type(n, k), NULL);
    for (int i = 0; i < n->n_in; i++)
        dx[i] = NULL;
    u.of.x = n->in, u.of.y = y, u.of.dy = dy, u.of.dx = dx;
    if (!o->gradient(g, &u.of, &own) && !err_is(&g->err))
        failed(&own, "gradient", &g->err);
    bool ok = !err_is(&g->err) && g_holds(g, "dx", n->n_in, dx);
    for (int i = 0; ok && i < n->n_in; i++)
        ok = check_gradient(g, n->in[i], dx[i], i);
    return ok;
}

/* ---- names ---- */
/* A graph's own operations hide the table's. */
const op *g_op(const graph *g, const char *name)
{
    for (int i = 0; g && i < g->n_custom; i++)
        if (!strcmp(g->custom[i]->name, name))
            return g->custom[i];
    if (g && !strcmp(name, result_op.name))
        return &result_op;
    return g && !strcmp(name, scan_op.name) ? &scan_op : op_find(name);
}
