/* describe.c - a model as a JSON object of format model/1: its ports, and once it is bound its nodes, before that the
 * steps of the file. Numbers of nodes are those of the text form: n0, n1, ... */
#include "graph/ir/attr.h"
#include "import/model.h"

#include <stdlib.h>

typedef struct writer {
    text t;
    const node **all;
    int n;
    int *number; /* by id */
} writer;

static void add_port(writer *w, const ts_port *p)
{
    json_add(&w->t, "{name:%s,dtype:%s", p->name, p->dtype == TS_N_DTYPE ? "unknown" : ts_dtype_name(p->dtype));
    json_add_wholes(&w->t, "shape", p->rank, p->dim);
    json_add(&w->t, "dims:[");
    for (int i = 0; i < p->rank; i++)
        json_add(&w->t, "%s", p->symbol[i] ? p->symbol[i] : "");
    text_add(&w->t, "]");
}

static void add_ports(writer *w, const ts_model *m)
{
    ts_port p;
    json_add(&w->t, "inputs:[");
    for (int i = 0; ts_model_input(m, i, &p); i++)
        add_port(w, &p), json_add(&w->t, "below:%lld}", (long long)p.below);
    json_add(&w->t, "],outputs:[");
    for (int i = 0; ts_model_output(m, i, &p); i++) {
        add_port(w, &p);
        if (w->n)
            json_add(&w->t, "node:%d", w->number[ts_model_tensor(m, i)->id]);
        text_add(&w->t, "}");
    }
    text_add(&w->t, "]");
}

static void add_dims(writer *w, const ts_model *m)
{
    json_add(&w->t, "dims:{");
    for (int i = 0; i < m->dims.n; i++) {
        const dimension *d = &m->dims.all[i];
        json_add(&w->t, "%s:%lld", d->symbol, (long long)(d->extent >= 0 ? d->extent : d->fallback));
    }
    text_add(&w->t, "}");
}

static void add_attributes(text *t, const node *n)
{
    int k = 0;
    ENDED_BY(text_free) text given = {0};
    for (const attr_spec *s = n->op->attr; s && s->name; s++)
        attr_print(&given, &n->attr[k++]);
    json_add(t, "attributes:%s", given.length ? given.s + 1 : ""); /* printed as in a call: texts have quotes */
}

static void add_node(writer *w, int i)
{
    const node *n = w->all[i];
    json_add(&w->t, "{id:%d,graph_node:%d,op:%s,label:%s,dtype:%s", i, n->id, n->op->name, n->label,
             ts_dtype_name(n->type.dtype));
    json_add_wholes(&w->t, "shape", n->type.rank, n->type.dim);
    json_add(&w->t, "in:[");
    for (int k = 0; k < n->n_in; k++)
        json_add(&w->t, "%d", w->number[n->in[k]->id]);
    text_add(&w->t, "]");
    add_attributes(&w->t, n);
    json_add(&w->t, "flops:%.17g}", node_flops(n));
}

/* The nodes that a recipe was expanded to; those of recipes within it stand in both lists. */
static void add_group(writer *w, const group *r)
{
    json_add(&w->t, "{op:%s,result:%d,nodes:[", r->op->name, w->number[r->result->id]);
    int low = 0, high = w->n; /* the nodes stand by their ids */
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (w->all[middle]->id < r->first)
            low = middle + 1;
        else
            high = middle;
    }
    for (int i = low; i < w->n && w->all[i]->id <= r->last; i++)
        if (!node_is_leaf(w->all[i]))
            json_add(&w->t, "%d", i);
    text_add(&w->t, "]}");
}

static void add_groups(writer *w, const ts_model *m)
{
    json_add(&w->t, "groups:[");
    for (int i = 0; m->bound && i < m->graph->n_group; i++) {
        const group *r = &m->graph->group[i];
        const int at = w->number[r->result->id];
        if (at < w->n && w->all[at] == r->result)
            add_group(w, r);
    }
    text_add(&w->t, "]");
}

static void add_totals(writer *w, const ts_model *m)
{
    char hex[65];
    double total = 0;
    int64_t parameters = 0, bytes = 0;
    for (int i = 0; i < w->n; i++) {
        const node *n = w->all[i];
        total += node_flops(n);
        if (!node_is_leaf(n) || n->leaf->kind != LEAF_WEIGHT)
            continue;
        parameters += type_count(&n->type);
        bytes += type_bytes(&n->type);
    }
    ts_hash(m->bound->n_output, m->result, hex);
    json_add(&w->t, "hash:%s,parameters:%lld,weight_bytes:%lld,flops:%.17g", hex, (long long)parameters,
             (long long)bytes, total);
}

static void number_nodes(writer *w, const ts_model *m)
{
    const int roots = m->bound->n_output;
    w->n = g_reach(roots, m->result, NULL);
    w->all = heap_array((size_t)w->n + 1, sizeof *w->all);
    w->number = heap_array((size_t)m->graph->n + 1, sizeof *w->number);
    g_reach(roots, m->result, w->all);
    for (int i = 0; i < w->n; i++)
        w->number[w->all[i]->id] = i;
}

char *ts_model_json(const ts_model *m, ts_error *e)
{
    writer w = {0};
    if (!err_given(m, "the model", e))
        return NULL;
    if (m->bound)
        number_nodes(&w, m);
    json_add(&w.t, "{format:'model/1',name:%s,bound:%i", m->path, m->bound != NULL);
    add_dims(&w, m);
    if (m->bound)
        add_totals(&w, m);
    add_ports(&w, m);
    if (!m->bound && !m->builder)
        json_add(&w.t, "file:"), steps_json(&w.t, &m->file.main);
    json_add(&w.t, "nodes:[");
    for (int i = 0; i < w.n; i++)
        add_node(&w, i);
    text_add(&w.t, "]");
    add_groups(&w, m);
    text_add(&w.t, "}\n");
    free(w.all);
    free(w.number);
    return text_take(&w.t);
}
