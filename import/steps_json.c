/* steps_json.c - what a file says before anything is made of it, as JSON: for pictures of models that cannot be bound
 * yet. */
#include "import/model.h"

static void add_type(text *t, ts_dtype d, int rank, const int64_t *dim, const char *const *symbol)
{
    json_add(t, "dtype:%s", d == TS_N_DTYPE ? "unknown" : ts_dtype_name(d));
    if (rank < 0)
        return;
    json_add(t, "shape:[");
    for (int i = 0; i < rank; i++)
        if (dim[i] >= 0)
            json_add(t, "%lld", (long long)dim[i]);
        else
            json_add(t, "%s", symbol && symbol[i] ? symbol[i] : "?");
    text_add(t, "]");
}

static void add_ports(text *t, int n, const ts_port *p)
{
    for (int i = 0; i < n; i++) {
        json_add(t, "{name:%s", p[i].name);
        add_type(t, p[i].dtype, p[i].rank, p[i].dim, p[i].symbol);
        text_add(t, "}");
    }
}

static void add_step(text *t, const step *s)
{
    int n = 0;
    json_add(t, "{op:%s,name:%s", s->type, s->name);
    json_add_texts(t, "in", s->n_in, s->in);
    json_add_texts(t, "out", s->n_out, s->out);
    for (int i = 0; i < s->n_attr; i++)
        if (s->attr[i].kind == 'g') {
            json_add(t, n++ ? "{name:%s,graph:" : "graphs:[{name:%s,graph:", s->attr[i].name);
            steps_json(t, &s->body[s->attr[i].i]);
            text_add(t, "}");
        }
    text_add(t, n ? "]}" : "}");
}

void steps_json(text *t, const body *b)
{
    json_add(t, "{inputs:[");
    add_ports(t, b->n_input, b->input);
    json_add(t, "],held:[");
    for (int i = 0; i < b->n_held; i++) {
        const ts_array *a = &b->held[i].value;
        json_add(t, "{name:%s", b->held[i].name);
        if (!b->held[i].refused)
            add_type(t, a->dtype, a->rank, a->dim, NULL);
        text_add(t, "}");
    }
    json_add(t, "],steps:[");
    for (int i = 0; i < b->n_step; i++)
        add_step(t, &b->step[i]);
    json_add(t, "],outputs:[");
    add_ports(t, b->n_output, b->output);
    text_add(t, "]}");
}
