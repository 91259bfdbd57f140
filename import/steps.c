/* steps.c - what a file says before anything is made of it, as text: a step a line, graphs inside indented. */
#include "graph/ir/attr.h"
#include "import/model.h"

static void add_names(text *t, int n, const char *const *name)
{
    for (int i = 0; i < n; i++) {
        text_add(t, i ? ", " : "");
        if (*name[i])
            text_json(t, name[i]);
        else
            text_add(t, "-");
    }
}

static void add_shape(text *t, ts_dtype d, int rank, const int64_t *dim, const char *const *symbol)
{
    text_add(t, " : %s", d == TS_N_DTYPE ? "unknown" : ts_dtype_name(d));
    if (rank < 0)
        return;
    text_add(t, "[");
    for (int i = 0; i < rank; i++) {
        text_add(t, i ? "," : "");
        if (dim[i] >= 0)
            text_add(t, "%lld", (long long)dim[i]);
        else
            text_add(t, "%s", symbol && symbol[i] ? symbol[i] : "?");
    }
    text_add(t, "]");
}

static void add_port(text *t, int depth, const char *role, const ts_port *p)
{
    text_add(t, "%*s%s ", 4 * depth, "", role);
    text_json(t, p->name);
    for (const char *c = p->form ? p->form : ""; *c; c++)
        text_add(t, " %s of", *c == 's' ? "sequence" : "optional");
    add_shape(t, p->dtype, p->rank, p->dim, p->symbol);
    text_add(t, "\n");
}

static void add_attribute(text *t, const attr *a, const ts_array *tensor)
{
    if (a->kind == 'g')
        return;
    if (a->kind == 'r')
        text_add(t, " %s=@%s", a->name, a->s);
    else if (tensor) {
        text_add(t, " %s", a->name);
        add_shape(t, tensor->dtype, tensor->rank, tensor->dim, NULL);
    } else
        attr_print(t, a);
}

static void add_body(text *t, int depth, const body *b);

static void add_step(text *t, int depth, const step *s)
{
    text_add(t, "%*s", 4 * depth, "");
    add_names(t, s->n_out, s->out);
    text_add(t, " = %s%s%s(", s->domain, *s->domain ? "." : "", s->type);
    add_names(t, s->n_in, s->in);
    text_add(t, ")");
    for (int i = 0; i < s->n_attr; i++)
        add_attribute(t, &s->attr[i], s->tensor ? s->tensor[i] : NULL);
    if (*s->name) {
        text_add(t, " # ");
        text_json(t, s->name);
    }
    text_add(t, "\n");
    for (int i = 0; i < s->n_attr; i++)
        if (s->attr[i].kind == 'g') {
            text_add(t, "%*s%s:\n", 4 * depth + 2, "", s->attr[i].name);
            add_body(t, depth + 1, &s->body[s->attr[i].i]);
        }
}

static void add_body(text *t, int depth, const body *b)
{
    for (int i = 0; i < b->n_input; i++)
        add_port(t, depth, "input", &b->input[i]);
    for (int i = 0; i < b->n_held; i++) {
        const ts_array *a = &b->held[i].value;
        text_add(t, "%*sheld ", 4 * depth, "");
        text_json(t, b->held[i].name);
        if (b->held[i].refused)
            text_add(t, " # %s", b->held[i].refused);
        else
            add_shape(t, a->dtype, a->rank, a->dim, NULL);
        text_add(t, "\n");
    }
    for (int i = 0; i < b->n_step; i++)
        add_step(t, depth, &b->step[i]);
    for (int i = 0; i < b->n_output; i++)
        add_port(t, depth, "output", &b->output[i]);
}

char *ts_model_steps(const ts_model *m, ts_error *e)
{
    text t = {0};
    if (!err_given(m, "the model", e))
        return NULL;
    if (m->builder)
        return err_set(e, TS_USAGE, "%s is built in: there is no file with steps", m->path), NULL;
    for (int i = 0; i < m->file.n_opset; i++)
        text_add(&t, "opset %s%s%d\n", m->file.opset[i].domain, *m->file.opset[i].domain ? " " : "",
                 m->file.opset[i].version);
    add_body(&t, 0, &m->file.main);
    for (int i = 0; i < m->file.n_function; i++) {
        const function *f = &m->file.function[i];
        text_add(&t, "function %s.%s:\n", f->domain, f->name);
        add_body(&t, 1, &f->body);
    }
    return text_take(&t);
}
