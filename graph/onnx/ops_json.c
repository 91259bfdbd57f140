/* ops_json.c - the operation table as JSON: what help, documents and tests of operations read. */
#include "graph/ir/op.h"

static void print_count(text *t, int n)
{
    text_add(t, n < 0 ? "*" : "%d", n);
}

static void print_onnx(text *t, const op *o)
{
    json_add(t, "onnx:[");
    for (const onnx_rule *r = o->rule; r && r->type; r++) {
        ENDED_BY(text_free) text takes = {0};
        json_add(t, "{type:%s,since:%d,operands:%s", r->type, r->since, r->types ? r->types : "");
        print_count(&takes, r->most), text_add(&takes, ","), print_count(&takes, r->results);
        for (const onnx_attribute *a = r->attribute; a && a->name; a++)
            text_add(&takes, ",%s", a->name);
        if (r->attribute)
            json_add(t, "takes:%s", text_str(&takes));
        text_add(t, "}");
    }
    text_add(t, "]");
}

static void print_op(text *t, const op *o)
{
    json_add(t, "\n{name:%s,doc:%s,kind:%s,numpy:%s,arity:%d,axes:%s,attributes:[", o->name, o->doc,
             o->text    ? "text"
             : o->body  ? "body"
             : o->lower ? "recipe"
                        : "leaf",
             o->numpy, o->arity, o->axes);
    for (const attr_spec *s = o->attr; s && s->name; s++) /* null: must be given; "": may be absent */
        json_add(t, "{name:%s,kind:%c,default:%s}", s->name, s->kind, s->fallback);
    text_add(t, "]");
    print_onnx(t, o);
    json_add_lines(t, "cases", o->cases ? o->cases : "");
    text_add(t, "}");
}

char *ts_ops_json(void)
{
    text t = {0};
    json_add(&t, "{format:'ops/1',ops:[");
    for (const op *o = op_next(NULL); o; o = op_next(o))
        print_op(&t, o);
    text_add(&t, "]}\n");
    return text_take(&t);
}

char *ts_axes_json(void)
{
    text t = {0};
    text_add(&t, "{");
    for (const op *o = op_next(NULL); o; o = op_next(o))
        if (o->axes)
            json_add(&t, t.length > 1 ? "\n %s:%s" : "%s:%s", o->name, o->axes);
    text_add(&t, "}\n");
    return text_take(&t);
}
