/* ops_json.c - the operation table as JSON: what help, documents and tests of operations read. */
#include "graph/ir/op.h"

#include <string.h>

static void field(text *t, const char *before, const char *name, const char *value)
{
    text_add(t, "%s\"%s\":", before, name);
    if (value)
        text_json(t, value);
    else
        text_add(t, "null");
}

static void print_attributes(text *t, const op *o)
{
    text_add(t, ",\"attributes\":[");
    for (const attr_spec *s = o->attr; s && s->name; s++) {
        field(t, s == o->attr ? "{" : ",{", "name", s->name);
        field(t, ",", "kind", (char[]){s->kind, 0});
        field(t, ",", "default", s->fallback); /* null: must be given; "": may be absent */
        text_add(t, "}");
    }
    text_add(t, "]");
}

static void print_onnx(text *t, const op *o)
{
    text_add(t, ",\"onnx\":[");
    for (const onnx_rule *r = o->onnx; r && r->type; r++) {
        const char *types = onnx_listed(o->onnx_types, r->type); /* up to a space */
        field(t, r == o->onnx ? "{" : ",{", "type", r->type);
        text_add(t, ",\"since\":%d,\"operands\":\"%.*s\"", r->since, types ? (int)strcspn(types, " ") : 0,
                 types ? types : "");
        const char *takes = r->adapt ? onnx_listed(o->onnx_takes, r->type) : NULL; /* up to a space */
        if (takes)
            text_add(t, ",\"takes\":\"%.*s\"", (int)strcspn(takes, " "), takes);
        text_add(t, "}");
    }
    text_add(t, "]");
}

static void print_cases(text *t, const op *o)
{
    bool first = true;
    text_add(t, ",\"cases\":[");
    for (const char *s = o->cases; s && *s; first = false) {
        const char *end = s;
        while (*end && *end != '\n')
            end++;
        text line = {0};
        text_bytes(&line, s, (size_t)(end - s));
        text_add(t, first ? "" : ",");
        text_json(t, text_str(&line));
        text_free(&line);
        s = *end ? end + 1 : end;
    }
    text_add(t, "]");
}

static void print_op(text *t, const op *o)
{
    field(t, "{", "name", o->name);
    field(t, ",", "doc", o->doc);
    field(t, ",", "kind", o->text ? "text" : o->body ? "body" : o->lower ? "recipe" : "leaf");
    field(t, ",", "numpy", o->numpy);
    text_add(t, ",\"arity\":%d", o->arity);
    field(t, ",", "axes", o->axes);
    print_attributes(t, o);
    print_onnx(t, o);
    print_cases(t, o);
    text_add(t, "}");
}

char *ts_ops_json(void)
{
    text t = {0};
    const char *between = "";
    text_add(&t, "{\"format\":\"ops/1\",\"ops\":[");
    for (const op *const *const *table = op_tables; *table; table++)
        for (const op *const *o = *table; *o; o++, between = ",\n") {
            text_add(&t, "%s", between);
            print_op(&t, *o);
        }
    text_add(&t, "]}\n");
    return text_take(&t);
}

char *ts_axes_json(void)
{
    text t = {0};
    const char *between = "{";
    for (const op *const *const *table = op_tables; *table; table++)
        for (const op *const *o = *table; *o; o++) {
            if (!(*o)->axes)
                continue;
            field(&t, between, (*o)->name, (*o)->axes);
            between = ",\n ";
        }
    text_add(&t, "}\n");
    return text_take(&t);
}
