/* restate.c - nodes as calls of ONNX. */
#include "graph/onnx/restate_scan.h"
#include "graph/ir/rule.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

const char *back_new_name(back *b, const char *stem)
{
    return arena_format(b->mem, "%s.%d", stem, b->next++);
}

static const char *add_constant(back *b, dtype d, int rank, int64_t n, void *data)
{
    b->made.held = arena_grown(b->mem, b->made.held, b->made.n_held, &b->cap_held, sizeof *b->made.held);
    held *h = &b->made.held[b->made.n_held++];
    *h = (held){back_new_name(b, "value"), {.dtype = d, .rank = rank, .dim = {n}, .data = data}, NULL, NULL};
    return h->name;
}

const char *back_add_value(back *b, const type *t, const void *data)
{
    void *own = arena_get(b->mem, (size_t)type_bytes(t) + 1);
    memcpy(own, data, (size_t)type_bytes(t));
    const char *name = add_constant(b, t->dtype, t->rank, 0, own);
    memcpy(b->made.held[b->made.n_held - 1].value.dim, t->dim, sizeof t->dim);
    return name;
}

static const char *add_ints(back *b, int rank, int n, const int64_t *v)
{
    return add_constant(b, TS_I64, rank, n, arena_joined(b->mem, v, n, NULL, 0, sizeof *v));
}

const char *back_add_step(back *b, const step *from)
{
    b->made.step = arena_grown(b->mem, b->made.step, b->made.n_step, &b->cap_step, sizeof *b->made.step);
    step *s = &b->made.step[b->made.n_step++];
    *s = *from;
    if (!s->n_out) {
        const char *out = back_new_name(b, "step");
        s->n_out = 1, s->out = arena_joined(b->mem, &out, 1, NULL, 0, sizeof out);
    }
    s->domain = "", s->name = s->out[0];
    return s->name;
}

/* ---- words ---- */
typedef struct writing {
    back *b;
    const node *n;
    const char *last; /* the result of the call before */
    int n_in, n_attr; /* of this one */
    const char **in;
    attr *attr;
} writing;

static const attr *attribute(const writing *w, const char *name, size_t length)
{
    const attr *a = node_attr(w->n, arena_format(w->b->mem, "%.*s", (int)length, name));
    return a->kind == '-' ? NULL : a;
}

/* Element i of "x+y*z"; an attribute that is not given counts as 1. */
static int64_t term(const writing *w, const char *s, size_t length, int i)
{
    int64_t sum = 0, product = 1;
    while (length > 0) {
        size_t k = 0;
        while (k < length && s[k] != '+' && s[k] != '*')
            k++;
        const attr *a = attribute(w, s, k);
        product *= !a ? 1 : a->kind == 'i' ? a->i : a->ints[i];
        if (k == length || s[k] == '+')
            sum += product, product = 1;
        k += k < length;
        s += k, length -= k;
    }
    return sum;
}

static const char *from_attributes(const writing *w, const char *s, size_t length)
{
    const size_t first = strcspn(s, "+* ;");
    const attr *a = attribute(w, s, first < length ? first : length);
    int64_t v[MAX_RANK * 2];
    if (!a)
        return "";
    const int n = a->kind == 'i' ? 1 : a->n;
    for (int i = 0; i < n && i < COUNT(v); i++) {
        v[i] = term(w, s, length, i);
        if (first < length && v[i] < 0) /* an end before the first element, which -1 would not be */
            v[i] = INT64_MIN / 2;
    }
    return add_ints(w->b, a->kind != 'i', n, v);
}

static const char *scalar(const writing *w, double v)
{
    void *data = arena_get(w->b->mem, sizeof(double));
    store_real(w->n->type.dtype, data, 0, v);
    return add_constant(w->b, w->n->type.dtype, 0, 1, data);
}

static const char *axes(const writing *w, const char *s, size_t length)
{
    int64_t all[MAX_RANK];
    const int rank = w->n->in[0]->type.rank;
    for (int i = 0; i < rank; i++)
        all[i] = i;
    return attribute(w, s, length) ? from_attributes(w, s, length) : add_ints(w->b, 1, rank, all);
}

static const char *operand(const writing *w, int i, bool cast)
{
    const node *from = w->n->in[i];
    const char *name = w->b->name[from->id];
    if (!cast || from->type.dtype == w->n->type.dtype)
        return name;
    const attr to = attr_int("to", onnx_code(w->n->type.dtype));
    return back_add_step(w->b, &(step){.type = "Cast",
                                       .n_in = 1,
                                       .in = arena_joined(w->b->mem, &name, 1, NULL, 0, sizeof name),
                                       .n_attr = 1,
                                       .attr = arena_joined(w->b->mem, &to, 1, NULL, 0, sizeof to)});
}

static void put_in(writing *w, const char *name)
{
    MUST(w->n_in < BACK_OPERANDS);
    w->in[w->n_in++] = name;
}

static void put_attribute(writing *w, const char *s, size_t length, size_t mark)
{
    attr a = {.name = arena_format(w->b->mem, "%.*s", (int)mark, s), .kind = 'i'};
    if (s[mark] == ':')
        a.i = strtoll(s + mark + 1, NULL, 10);
    else if (s[mark] == '\'')
        a.kind = 's', a.s = arena_format(w->b->mem, "%.*s", (int)(length - mark - 1), s + mark + 1);
    else if (s[mark] == '~')
        a.i = onnx_code(w->n->type.dtype);
    else {
        const attr *from = attribute(w, s + mark + 1, length - mark - 1);
        if (!from)
            return;
        const char *name = a.name;
        a = *from, a.name = name;
    }
    w->attr[w->n_attr++] = a;
}

static void put_word(writing *w, const char *s, size_t length)
{
    const size_t mark = strcspn(s, "=:~' ;");
    if (mark < length)
        put_attribute(w, s, length, mark);
    else if (*s == '$')
        put_in(w, w->last);
    else if (*s == '#')
        put_in(w, add_ints(w->b, 1, w->n->type.rank, w->n->type.dim));
    else if (*s == '@')
        put_in(w, from_attributes(w, s + 1, length - 1));
    else if (*s == '%')
        put_in(w, axes(w, s + 1, length - 1));
    else if (*s == '!')
        put_in(w, scalar(w, node_real(w->n, arena_format(w->b->mem, "%.*s", (int)length - 1, s + 1))));
    else if (*s == '?')
        put_in(w, back_add_value(w->b, &(type){.dtype = TS_BOOL}, &(uint8_t){1}));
    else if (*s == '-')
        put_in(w, "");
    else if (*s == '*')
        for (int i = 0; i < w->n->n_in; i++)
            put_in(w, operand(w, i, length > 1));
    else {
        MUST(*s >= 'a' && *s - 'a' < w->n->n_in);
        put_in(w, operand(w, *s - 'a', length > 1));
    }
}

/* One call, up to ';' or the end. */
static const char *put_call(writing *w, const char *s)
{
    size_t length = strcspn(s, " ;");
    step call = {.type = arena_format(w->b->mem, "%.*s", (int)length, s)};
    call.in = w->in = arena_array(w->b->mem, BACK_OPERANDS, sizeof *w->in), w->n_in = 0;
    call.attr = w->attr = arena_array(w->b->mem, strlen(s), sizeof *w->attr), w->n_attr = 0;
    for (s += length; *s == ' '; s += length) {
        s += strspn(s, " ");
        length = strcspn(s, " ;");
        if (length > 0)
            put_word(w, s, length);
    }
    while (w->n_in > 0 && !*w->in[w->n_in - 1])
        w->n_in--;
    call.n_in = w->n_in, call.n_attr = w->n_attr;
    w->last = back_add_step(w->b, &call);
    return s;
}

/* ---- which words ---- */

/* The same operands and attributes, as a rule without an adapter says; in one dtype where numpy would make it so. */
static const char *implied(back *b, const node *n)
{
    const onnx_rule *best = NULL;
    for (const onnx_rule *r = n->op->rule; r && r->type; r++)
        if (!r->adapt && r->since <= BACK_OPSET && !strchr(r->type, '.') && (!best || r->since > best->since))
            best = r;
    if (!best)
        return NULL;
    ENDED_BY(text_free) text t = {0};
    const bool casts = n->op->text && (!n->op->shape || n->op->shape == shape_float);
    text_add(&t, "%s %s", best->type, casts ? "*^" : "*");
    for (const onnx_attribute *a = best->attribute; a && a->name; a++)
        text_add(&t, " %s=%s", a->name, a->own);
    for (const attr_spec *s = best->attribute ? NULL : n->op->attr; s && s->name; s++)
        text_add(&t, " %s=%s", s->name, s->name);
    return arena_string(b->mem, text_str(&t));
}

static const char *types_of(const char *words) /* of the operator that they begin with */
{
    char kind[64] = "";
    const onnx_rule *r;
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(words, " "), words);
    return op_for_onnx("", kind, BACK_OPSET, &r) ? r->types : NULL;
}

/* Pointwise operators of ONNX take operands of one dtype; what is not cast has to have it, a condition aside. */
static bool check_dtypes(const node *n, const char *words, err *e)
{
    const dtype last = n->n_in > 0 ? n->in[n->n_in - 1]->type.dtype : n->type.dtype;
    for (int i = 0; n->op->text && !strchr(words, '^') && i < n->n_in; i++)
        if (n->in[i]->type.dtype != last && !(i == 0 && n->n_in == 3 && n->in[i]->type.dtype == TS_BOOL))
            return err_set(e, TS_UNSUPPORTED, "operation %s of %s and %s has no counterpart in ONNX", n->op->name,
                           ts_dtype_name(n->in[i]->type.dtype), ts_dtype_name(last));
    const bool cast = strchr(words, '^'); /* operands are given in the result's dtype */
    const char *want = types_of(words);
    for (int i = 0; want && i < n->n_in; want += want[1] != 0, i++) {
        const dtype d = cast ? n->type.dtype : n->in[i]->type.dtype;
        const dclass k = dtype_class(d);
        const bool ok = strchr("nN", *want)   ? k != D_TRUTH
                        : cast                ? true
                        : *want == 'b'        ? k == D_TRUTH
                        : strchr("iI", *want) ? k == D_WHOLE
                        : strchr("fF", *want) ? k == D_REAL
                                              : true;
        if (!ok)
            return err_set(e, TS_UNSUPPORTED, "operation %s of %s has no counterpart in ONNX", n->op->name,
                           ts_dtype_name(d));
    }
    return true;
}

bool back_node(back *b, const node *n, err *e)
{
    const op *o = n->op;
    if (n->trip)
        return back_scan(b, n, e);
    if (back_output(b, n))
        return true;
    const char *words = o->back_of ? o->back_of(n) : o->back ? o->back : implied(b, n);
    if (!words || n->n_in > BACK_OPERANDS || !onnx_code(n->type.dtype)) {
        err_set(e, TS_UNSUPPORTED, "operation %s has no counterpart in ONNX", n->op->name);
        return n->op->custom && err_hint(e, "the program defines it: make what is to be saved of other operations");
    }
    if (!check_dtypes(n, words, e))
        return false;
    writing w = {.b = b, .n = n};
    while (*words) {
        words = put_call(&w, words);
        words += strspn(words, "; ");
    }
    b->name[n->id] = w.last;
    return true;
}
