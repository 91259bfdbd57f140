/* define.c - ts_define: a program's record, checked, as one of this graph's operations. */
#include "graph/ir/custom.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

/* ---- numbers ---- */
static bool add_number(op *o, attr_spec *spec, int n, const char *word, err *e)
{
    char *name = (char *)(uintptr_t)word, *value = strchr(name, '='), *end;
    if (value)
        *value++ = 0;
    if (!*name || isdigit((unsigned char)*name) || name[strspn(name, letters)])
        return err_set(e, TS_BAD_INPUT, "numbers: \"%s\" is no name of lower-case letters, digits and _", name);
    if (o->text && !name[1] && *name < 'a' + MAX_ARG)
        return err_set(e, TS_BAD_INPUT, "numbers: \"%s\" is an operand's name", name);
    for (int i = 0; i < n; i++)
        if (!strcmp(spec[i].name, name))
            return err_set(e, TS_BAD_INPUT, "numbers: \"%s\" stands there twice", name);
    if (value && (strtod(value, &end), end == value || *end))
        return err_set(e, TS_BAD_INPUT, "numbers: %s=%s has no number", name, value);
    spec[n] = (attr_spec){name, 'f', value};
    return true;
}

/* "beta=1 eps": names with defaults, or without. A call that is never the same as another has a number of its own. */
static bool read_numbers(graph *g, op *o, const char *numbers, err *e)
{
    attr_spec *spec = arena_array(&g->mem, MAX_NUMBER + 2, sizeof *spec);
    char *words = arena_string(&g->mem, numbers ? numbers : ""), *rest = NULL;
    int n = 0;
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest), n++) {
        if (n == MAX_NUMBER)
            return err_set(e, TS_BAD_INPUT, "numbers: %s is number %d, at most %d expected", word, n + 1, MAX_NUMBER);
        if (!add_number(o, spec, n, word, e))
            return false;
    }
    if (o->custom->impure)
        spec[n] = (attr_spec){"call", 'i', "own"};
    o->attr = spec;
    return true;
}

/* ---- checks ---- */
static bool check_counts(const ts_operation *o, err *e)
{
    if (o->n_in < -1 || o->n_in > MAX_IN)
        return err_set(e, TS_BAD_INPUT, "n_in is %d, expected 0 to %d, or -1 for any number", o->n_in, MAX_IN);
    if (o->n_out < 0 || o->n_out > MAX_OUTPUT)
        return err_set(e, TS_BAD_INPUT, "n_out is %d, expected 1 to %d", o->n_out, MAX_OUTPUT);
    if (!o->text == !o->kernel)
        return err_set(e, TS_BAD_INPUT, "it has %s; give one of them",
                       o->text ? "both text and kernel" : "neither text nor kernel");
    if (o->text && (o->n_in < 1 || o->n_in > MAX_ARG))
        return err_set(e, TS_BAD_INPUT, "n_in is %d, text takes 1 to %d operands", o->n_in, MAX_ARG);
    if (o->text && (o->n_out > 1 || o->shape || o->serial || o->impure))
        return err_set(e, TS_BAD_INPUT,
                       "text says one output and its shape: n_out, shape, serial and impure are for "
                       "kernels");
    return o->text || o->shape || o->n_in ||
           err_set(e, TS_BAD_INPUT, "n_in is 0 and shape is NULL, one of them expected");
}

/* The text over operands of one element each. */
static bool check_text(graph *g, const op *o, err *e)
{
    static const node one = {.type = {.dtype = TS_F32}, .label = ""};
    const node *in[MAX_ARG];
    attr number[MAX_NUMBER];
    ENDED_BY(arena_free) arena mem = {0};
    node draft = {.op = o, .label = "", .n_in = o->arity, .in = in, .attr = number, .scalars = g->scalars};
    int k = 0;
    for (int i = 0; i < o->arity; i++)
        in[i] = &one;
    for (const attr_spec *s = o->attr; s->name; s++, k++)
        number[k] = (attr){.name = s->name, .kind = 'f', .f = 1};
    return defn_text(&(defn){.mem = &mem, .node = &draft}, e) != NULL;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool same(const ts_operation *a, const ts_operation *b)
{
    return a->n_in == b->n_in && a->n_out == b->n_out && same_text(a->numbers, b->numbers) &&
           same_text(a->text, b->text) && a->shape == b->shape && a->kernel == b->kernel &&
           a->gradient == b->gradient && a->serial == b->serial && a->impure == b->impure && a->user == b->user;
}

/* ---- definitions ---- */
static const char *kept(graph *g, const char *s)
{
    return s ? arena_string(&g->mem, s) : NULL;
}

/* What the table has for texts that calls bring. */
static const op *of_texts(void)
{
    const op *o = op_next(NULL);
    while (!o->unrolled)
        o = op_next(o);
    return o;
}

static op *make(graph *g, const ts_operation *o, err *e)
{
    ts_operation *own = arena_get(&g->mem, sizeof *own);
    op *made = arena_get(&g->mem, sizeof *made);
    *own = *o;
    own->name = kept(g, o->name), own->numbers = kept(g, o->numbers), own->text = kept(g, o->text);
    *made = (op){.name = own->name,
                 .doc = "Defined by the program.",
                 .arity = own->n_in,
                 .text = own->text,
                 .body = own->text ? NULL : custom_body,
                 .unrolled = own->text ? of_texts()->unrolled : NULL,
                 .custom = own};
    return read_numbers(g, made, o->numbers, e) && (!own->text || check_text(g, made, e)) ? made : NULL;
}

static void add(graph *g, const op *o)
{
    g->custom = arena_grown(&g->mem, g->custom, g->n_custom, &g->cap_custom, sizeof *g->custom);
    g->custom[g->n_custom++] = o;
}

bool define_text(graph *g, const char *name, int n_in, const char *source, err *e)
{
    const op *made = make(g, &(ts_operation){.name = name, .n_in = n_in, .n_out = 1, .text = source}, e);
    if (made)
        add(g, made);
    return made != NULL;
}

bool ts_define(ts_graph *g, const ts_operation *o)
{
    if (!g || err_is(&g->err) || !g_given(g, "the record to define", o))
        return false;
    if (!o->name || !*o->name || o->name[strspn(o->name, letters)])
        return err_set(&g->err, TS_BAD_INPUT, "define \"%s\": a name is of lower-case letters, digits and _",
                       o->name ? o->name : "");
    const op *before = g_op(g, o->name);
    ts_operation whole = *o;
    whole.n_out += !o->n_out;
    if (before && before->custom && same(before->custom, &whole))
        return true;
    if (before) {
        g_fail(g, TS_BAD_INPUT, "define %s: the %s has an operation of that name", o->name,
               before->custom ? "graph" : "table");
        return err_hint(&g->err, "give one of them another name");
    }
    const op *made = check_counts(&whole, &g->err) ? make(g, &whole, &g->err) : NULL;
    if (!made)
        return err_in(&g->err, "define %s", o->name);
    add(g, made);
    return true;
}

ts_tensor ts_output(ts_graph *g, ts_tensor t, int index)
{
    int own = 0;
    const node *call = t ? custom_call(t, &own) : NULL;
    const int n = call ? custom_outputs(call) : 1;
    if (!g || err_is(&g->err) || !g_holds(g, "output", 1, &t))
        return NULL;
    if (!t)
        return g_fail(g, TS_BAD_INPUT, "output %d of a tensor that is missing", index);
    const node *result = call ? NULL : scalar_output(g, t, index);
    if (result || (index >= 0 && index < n))
        return result ? result : call ? custom_output(g, call, index) : t;
    g_fail(g, TS_BAD_INPUT, "output %d of %s, which has %d", index, (call ? call : t)->op->name, n);
    return NULL;
}
