/* inner.c - operators of the standard domain inside of adapters: what other domains fuse is made of them. */
#include "graph/ir/rule.h"

#include <string.h>

static bool takes(const op *o, const onnx_rule *r, const char *name)
{
    for (const onnx_attribute *a = r->attribute; a && a->name; a++)
        if (!strcmp(a->name, name))
            return true;
    for (const attr_spec *s = r->attribute ? NULL : o->attr; s && s->name; s++)
        if (!strcmp(s->name, name))
            return true;
    return false;
}

/* Those in `more`, then c's own of other names, as far as the operator has them. */
static int kept(const onnx_call *c, const onnx_inner *i, const op *o, const onnx_rule *r, attr *out)
{
    int n = 0;
    for (int k = 0; k < i->n_more + c->n_attr; k++) {
        const attr *a = k < i->n_more ? &i->more[k] : &c->attr[k - i->n_more];
        bool has = a->kind == '-' || a->kind == 't' || !takes(o, r, a->name);
        for (int j = 0; j < i->n_more && k >= i->n_more; j++)
            has = has || !strcmp(i->more[j].name, a->name);
        if (!has)
            out[n++] = *a;
    }
    return n;
}

const node *onnx_standard(const onnx_call *c, const onnx_inner *i)
{
    graph *g = c->g;
    err e = {0};
    const onnx_rule *r;
    const op *o = op_for_onnx("", i->type, i->version, &r);
    const size_t most = (size_t)(i->n_more + c->n_attr);
    const node **out = arena_array(&g->mem, (size_t)i->n_out + 1, sizeof *out);
    if (err_is(&g->err))
        return NULL;
    if (!o)
        return g_fail(g, TS_UNSUPPORTED, "operator \"%.40s\" is not known; those of docs/operators.md are", i->type);
    onnx_call own = *c;
    attr *list = arena_array(&g->mem, most + 1, sizeof *list);
    onnx_value *value = arena_array(&g->mem, (size_t)i->n_in + 1, sizeof *value);
    for (int k = 0; k < i->n_in; k++)
        value[k].node = i->in[k];
    own.type = i->type, own.domain = "", own.version = i->version;
    own.n_in = i->n_in, own.in = i->in, own.value = value, own.n_out = i->n_out ? i->n_out : 1;
    own.n_attr = kept(c, i, o, r, list), own.attr = list;
    own.tensor = arena_array(&g->mem, most + 1, sizeof *own.tensor);
    if (!onnx_apply(o, r, &own, out, &e))
        return g_fail(g, e.code, "%s", e.text);
    for (int k = 0; k < i->n_out; k++)
        i->out[k] = out[k];
    return out[0];
}
