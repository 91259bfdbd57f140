/* steps_json.c - what a file says before anything is made of it, as JSON: for pictures of models that cannot be bound
 * yet. */
#include "import/model.h"

static void add_type(text *t, ts_dtype d, int rank, const int64_t *dim, const char *const *symbol)
{
    text_add(t, ",\"dtype\":\"%s\"", d == TS_N_DTYPE ? "unknown" : ts_dtype_name(d));
    if (rank < 0)
        return;
    text_add(t, ",\"shape\":[");
    for (int i = 0; i < rank; i++) {
        text_add(t, i ? "," : "");
        if (dim[i] >= 0)
            text_add(t, "%lld", (long long)dim[i]);
        else
            text_json(t, symbol && symbol[i] ? symbol[i] : "?");
    }
    text_add(t, "]");
}

static void add_port(text *t, const ts_port *p)
{
    text_add(t, "{\"name\":");
    text_json(t, p->name);
    add_type(t, p->dtype, p->rank, p->dim, p->symbol);
    text_add(t, "}");
}

static void add_names(text *t, const char *key, int n, const char *const *name)
{
    text_add(t, ",\"%s\":[", key);
    for (int i = 0; i < n; i++) {
        text_add(t, i ? "," : "");
        text_json(t, name[i]);
    }
    text_add(t, "]");
}

static void add_step(text *t, const step *s)
{
    int n = 0;
    text_add(t, "{\"op\":");
    text_json(t, s->type);
    text_add(t, ",\"name\":");
    text_json(t, s->name);
    add_names(t, "in", s->n_in, s->in);
    add_names(t, "out", s->n_out, s->out);
    for (int i = 0; i < s->n_attr; i++)
        if (s->attr[i].kind == 'g') {
            text_add(t, n++ ? ",{\"name\":" : ",\"graphs\":[{\"name\":");
            text_json(t, s->attr[i].name);
            text_add(t, ",\"graph\":");
            steps_json(t, &s->body[s->attr[i].i]);
            text_add(t, "}");
        }
    text_add(t, n ? "]}" : "}");
}

void steps_json(text *t, const body *b)
{
    text_add(t, "{\"inputs\":[");
    for (int i = 0; i < b->n_input; i++)
        text_add(t, i ? "," : ""), add_port(t, &b->input[i]);
    text_add(t, "],\"held\":[");
    for (int i = 0; i < b->n_held; i++) {
        const ts_array *a = &b->held[i].value;
        text_add(t, i ? ",{\"name\":" : "{\"name\":");
        text_json(t, b->held[i].name);
        if (!b->held[i].refused)
            add_type(t, a->dtype, a->rank, a->dim, NULL);
        text_add(t, "}");
    }
    text_add(t, "],\"steps\":[");
    for (int i = 0; i < b->n_step; i++)
        text_add(t, i ? "," : ""), add_step(t, &b->step[i]);
    text_add(t, "],\"outputs\":[");
    for (int i = 0; i < b->n_output; i++)
        text_add(t, i ? "," : ""), add_port(t, &b->output[i]);
    text_add(t, "]}");
}
