/* adapt.c - what adapters ask of a call of ONNX. Of the format itself nothing is known here. An attribute of the wrong
 * kind is put on record in the graph, so that every later call fails. */
#include "graph/eval/eval.h"
#include "graph/ir/attr.h"
#include "graph/base/suggest.h"
#include "graph/ir/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const attr *named(const attr *list, int n, const char *name)
{
    const int i = row_named(list, n, sizeof *list, name);
    return i < 0 ? NULL : &list[i];
}

const attr *onnx_attr(const onnx_call *c, const char *name)
{
    return named(c->attr, c->n_attr, name);
}

static bool wrong_kind(const onnx_call *c, const char *name, const char *kind)
{
    g_fail(c->g, TS_BAD_INPUT, "attribute %s is not %s", name, kind);
    return false;
}

int64_t onnx_int(const onnx_call *c, const char *name, int64_t fallback)
{
    const attr *a = onnx_attr(c, name);
    if (a && a->kind != 'i')
        wrong_kind(c, name, "an integer");
    return a && a->kind == 'i' ? a->i : fallback;
}

double onnx_real(const onnx_call *c, const char *name, double fallback)
{
    const attr *a = onnx_attr(c, name);
    if (a && a->kind == 'i') /* "1" for "1.0" in files that people write */
        return (double)a->i;
    if (a && a->kind != 'f')
        wrong_kind(c, name, "a number");
    return a && a->kind == 'f' ? a->f : fallback;
}

static const char *fallback(const onnx_call *c, const char *name)
{
    const attr_spec *s = c->op->attr;
    while (strcmp(s->name, name))
        s++;
    return s->fallback;
}

int64_t onnx_own_int(const onnx_call *c, const char *name)
{
    return onnx_int(c, name, strtoll(fallback(c, name), NULL, 10));
}

double onnx_own_real(const onnx_call *c, const char *name)
{
    return onnx_real(c, name, strtod(fallback(c, name), NULL));
}

static bool too_many(const char *what, int64_t n, int max, err *e)
{
    return err_set(e, TS_BAD_INPUT, "%s: %lld values, at most %d make sense", what, (long long)n, max);
}

static bool ints_of_input(const onnx_call *c, int i, int64_t *out, int max, int *n, err *e)
{
    char what[32];
    snprintf(what, sizeof what, "input %d", i);
    const type *t = &c->in[i]->type;
    if (t->rank > 1 || dtype_class(t->dtype) == D_REAL)
        return err_set(e, TS_BAD_INPUT, "%s is not a list of integers", what);
    if (type_count(t) > max)
        return too_many(what, type_count(t), max, e);
    const ts_array *v = g_needed(c->g, c->in[i]);
    if (!v)
        return g_wait(c->g, e, "%s decides a shape but depends on values known only at run time", what);
    *n = (int)type_count(t);
    for (int k = 0; k < *n; k++)
        out[k] = load_whole(v->dtype, v->data, k);
    return true;
}

bool onnx_ints(const onnx_call *c, const char *name, int i, int64_t *out, int max, int *n, err *e)
{
    const attr *a = name && *name ? onnx_attr(c, name) : NULL;
    *n = 0;
    if (a && a->kind == 'i' && max >= 1) {
        *n = 1;
        out[0] = a->i;
        return true;
    }
    if (a && a->kind != 'I')
        return err_set(e, TS_BAD_INPUT, "attribute %s is not a list of integers", name);
    if (a && a->n > max)
        return too_many(name, a->n, max, e);
    if (a) {
        *n = a->n;
        if (a->n > 0)
            memcpy(out, a->ints, (size_t)a->n * sizeof *out);
        return true;
    }
    if (i >= 0 && i < c->n_in && c->in[i])
        return ints_of_input(c, i, out, max, n, e);
    return err_set(e, TS_BAD_INPUT, "%s is not given", name && *name ? name : "an input with integers");
}

/* ---- what an operator takes ---- */

/* Version 1 had operands that may be overwritten; two underscores begin what a maker keeps for itself. */
static bool means_nothing(const onnx_call *c, const char *name)
{
    return (c->version < 6 && !strcmp(name, "consumed_inputs")) || !strncmp(name, "__", 2);
}

static int given(const onnx_call *c) /* operands; those absent at the end are none */
{
    int n = c->n_in;
    while (n > 0 && !c->in[n - 1] && !(c->value && c->value[n - 1].list))
        n--;
    return n;
}

static bool check_attribute(const onnx_call *c, const char *name, const char *const *taken, err *e)
{
    for (const char *const *k = taken; *k; k++)
        if (!strcmp(*k, name))
            return true;
    if (means_nothing(c, name))
        return true;
    ENDED_BY(suggest_free) suggestion near = {.word = name};
    for (const char *const *k = taken; *k; k++)
        suggest_offer(&near, *k);
    err_set(e, TS_BAD_INPUT, "no attribute %s", name);
    return suggest_near(&near, "", e) && false;
}

/* That it has nothing which nobody would read: numbers would come out that are not what the file means. */
static bool check_call(const op *o, const onnx_rule *r, const onnx_call *c, err *e)
{
    const char *known[MAX_ATTR + 1];
    int n = 0;
    if (r->most >= 0 && given(c) > r->most)
        return err_set(e, TS_BAD_INPUT, "%d inputs, takes %d", given(c), r->most);
    if (r->results >= 0 && c->n_out > r->results)
        return err_set(e, TS_BAD_INPUT, "%d outputs, gives %d", c->n_out, r->results);
    for (const onnx_attribute *a = r->attribute; a && a->name; a++)
        known[n++] = a->name;
    for (const attr_spec *s = r->attribute ? NULL : o->attr; s && s->name; s++)
        known[n++] = s->name;
    known[n] = NULL;
    for (int i = 0; i < c->n_attr; i++)
        if (!check_attribute(c, c->attr[i].name, known, e))
            return false;
    return true;
}

/* Its attributes as the operation calls them, and what stands for those that are left out; how many, or -1. */
static int own_attributes(const op *o, const onnx_rule *r, const onnx_call *c, attr *own, err *e)
{
    int n = 0;
    for (int i = 0; i < c->n_attr; i++) {
        if (means_nothing(c, c->attr[i].name))
            continue;
        if (c->attr[i].kind == 't')
            return err_set(e, TS_UNSUPPORTED, "attribute %s is not supported", c->attr[i].name), -1;
        own[n] = c->attr[i];
        for (const onnx_attribute *a = r->attribute; a && a->name; a++)
            if (!strcmp(a->name, own[n].name)) {
                own[n].name = a->own;
                break;
            }
        n++;
    }
    for (const onnx_attribute *a = r->attribute; a && a->name; a++) {
        int more = 0;
        if (!a->fallback || named(own, n, a->own))
            continue;
        MUST(attr_parse(&c->g->mem, o, arena_format(&c->g->mem, "%s=%s", a->own, a->fallback), own + n, &more, NULL));
        n += more;
    }
    return n;
}

/* The same operands and attributes under other names: what most operators are. */
static bool apply_as_is(const op *o, const onnx_rule *r, const onnx_call *c, const node **out, err *e)
{
    attr *own = arena_array(&c->g->mem, (size_t)c->n_attr + MAX_ATTR, sizeof *own);
    for (int i = 0; i < given(c); i++)
        if (!c->in[i])
            return err_set(e, TS_BAD_INPUT, "input %d is missing", i);
    const int n = own_attributes(o, r, c, own, e);
    out[0] = n < 0 ? NULL : g_make(c->g, o, given(c), c->in, own, n);
    return out[0] != NULL;
}

const node *onnx_made(const onnx_call *c, int n, const node *const *in, int n_more, const attr *more)
{
    err e = {0};
    attr *own = arena_array(&c->g->mem, (size_t)(c->n_attr + n_more) + MAX_ATTR, sizeof *own);
    int n_own = own_attributes(c->op, c->rule, c, own, &e), n_kept = 0;
    if (n_own < 0)
        return g_fail(c->g, e.code, "%s", e.text);
    for (int i = 0; i < n_own; i++) {
        bool has = false;
        for (const attr_spec *s = c->op->attr; s->name && !has; s++)
            has = !strcmp(s->name, own[i].name);
        if (has && !named(more, n_more, own[i].name))
            own[n_kept++] = own[i];
    }
    for (int k = 0; k < n_more; k++)
        own[n_kept++] = more[k];
    return g_make(c->g, c->op, n, in, own, n_kept);
}

/* An adapter says why, or the graph does. */
static bool ended(const onnx_call *c, bool ok, err *e)
{
    ok = ok && !err_is(&c->g->err);
    if (!ok && err_is(&c->g->err))
        err_set(e, c->g->err.code, "%s", c->g->err.text);
    return ok || err_set(e, TS_BUG, "%s was refused without a reason", c->type);
}

/* ---- element types ---- */
static bool wants_alike(char want)
{
    return want && strchr("TFIN", want);
}

static const char *wanted_type(char want, dtype have, dtype alike) /* NULL: that is what it has */
{
    static const struct {
        const char *letters, *name;
        bool real, whole, truth;
    } kinds[] = {{"fF", "real numbers", true, false, false},
                 {"iI", "integers", false, true, false},
                 {"nN", "numbers", true, true, false},
                 {"b", "bool", false, false, true}};
    const dclass k = dtype_class(have);
    for (int i = 0; i < COUNT(kinds); i++)
        if (strchr(kinds[i].letters, want) &&
            !((k == D_REAL && kinds[i].real) || (k == D_WHOLE && kinds[i].whole) || (k == D_TRUTH && kinds[i].truth)))
            return kinds[i].name;
    return wants_alike(want) && have != alike ? ts_dtype_name(alike) : NULL;
}

static bool check_types(const char *types, const onnx_call *c, err *e)
{
    dtype alike = TS_N_DTYPE;
    for (int i = 0; types && i < c->n_in; types += types[1] != 0, i++) {
        if (!c->in[i])
            continue;
        const dtype have = c->in[i]->type.dtype;
        if (alike == TS_N_DTYPE && wants_alike(*types))
            alike = have;
        const char *want = wanted_type(*types, have, alike);
        if (!want)
            continue;
        err_set(e, TS_BAD_INPUT, "operand %d is %s where the operator takes %s", i + 1, ts_dtype_name(have), want);
        return err_hint(e, "a Cast step in front converts it");
    }
    return true;
}

bool onnx_apply(const op *o, const onnx_rule *rule, const onnx_call *c, const node **out, err *e)
{
    onnx_call own = *c;
    own.op = o, own.rule = rule;
    if (!check_call(o, rule, c, e) || !check_types(rule->types, c, e) || !onnx_need(c, rule->least, e))
        return false;
    return ended(c, rule->adapt ? rule->adapt(&own, out, e) : apply_as_is(o, rule, c, out, e), e);
}

bool onnx_make(const op *o, const onnx_rule *form, const onnx_call *c, onnx_value *out, err *e)
{
    return check_call(o, form, c, e) && ended(c, onnx_need(c, form->least, e) && form->make(c, out, e), e);
}
