/* restate.c - a graph that has no steps of a file, as steps of ONNX: what operations say of the way back. Weights are
 * filled. */
#include "graph/onnx/restate.h"
#include "import/model.h"
#include "import/names.h"

#include <string.h>

typedef struct restating {
    const made_graph *from;
    model_file *to;
    back back;
    name_table taken;
    unsupported unsupported;
} restating;

/* The label, made different from all others. */
static const char *name_of(restating *r, const char *label, int id)
{
    const char *name = *label ? label : arena_format(&r->to->mem, "n%d", id);
    for (int k = 1; name_add(&r->taken, name, id) != id; k++)
        name = arena_format(&r->to->mem, "%s.%d", *label ? label : "n", id + k);
    return name;
}

static bool hold(restating *r, const node *n, const char *name, err *e)
{
    body *b = &r->to->main;
    held *h = &b->held[b->n_held++];
    ts_array value;
    h->name = name;
    if (r->from->bare && n->leaf->kind == LEAF_WEIGHT) {
        h->value = (ts_array){.dtype = n->type.dtype, .rank = n->type.rank};
        memcpy(h->value.dim, n->type.dim, sizeof h->value.dim);
        return true;
    }
    if (!ts_leaf_value(n, &value, e))
        return false;
    const size_t bytes = (size_t)type_bytes(&n->type);
    h->value = value;
    h->value.data = memcpy(arena_get(&r->to->mem, bytes + 1), value.data, bytes);
    ts_array_free(&value);
    return true;
}

static bool add_node(restating *r, const node *n, err *e)
{
    if (!node_is_leaf(n)) {
        err own = {0};
        if (!back_node(&r->back, n, &own)) {
            unsupported_add(&r->unsupported, arena_string(&r->to->mem, own.text), "", n->label);
            r->back.name[n->id] = "";
        }
        return true;
    }
    const char *name = r->back.name[n->id] = name_of(r, n->label, n->id);
    return n->leaf->kind == LEAF_INPUT || hold(r, n, name, e);
}

/* Names that the way back made must not meet those of leaves; a result gets the name that the model has for it. */
static void take_steps(restating *r)
{
    const ports *p = &r->from->ports;
    const body *made = &r->back.made;
    body *b = &r->to->main;
    arena *mem = &r->to->mem;
    b->held = arena_joined(mem, b->held, b->n_held, made->held, made->n_held, sizeof *b->held);
    b->n_held += made->n_held;
    b->step = arena_joined(mem, made->step, made->n_step, NULL, p->n_output, sizeof *b->step);
    b->n_step = made->n_step;
    for (int i = 0; i < p->n_output; i++) {
        const char **ends = arena_array(mem, 2, sizeof *ends);
        ends[0] = r->back.name[r->from->result[i]->id], ends[1] = p->output[i].name;
        b->step[b->n_step++] = (step){
            .type = "Identity", .domain = "", .name = "", .n_in = 1, .in = ends, .n_out = 1, .out = ends + 1};
    }
}

static bool add_nodes(restating *r, err *e)
{
    const made_graph *f = r->from;
    const int n_root = f->ports.n_output, n = g_reach(n_root, f->result, NULL);
    const node **all = arena_array(&r->to->mem, (size_t)n, sizeof *all);
    r->back.name = arena_array(&r->to->mem, (size_t)f->graph->n, sizeof *r->back.name);
    r->to->main.held = arena_array(&r->to->mem, (size_t)n, sizeof *r->to->main.held);
    for (int i = 0; i < n_root; i++)
        name_add(&r->taken, f->ports.output[i].name, -1 - i);
    g_reach(n_root, f->result, all);
    for (int i = 0; i < n; i++)
        if (!add_node(r, all[i], e))
            return false;
    return unsupported_tell(&r->unsupported, e);
}

/* Inputs that nothing needs stay: whoever runs the model gives them. */
static void take_ports(const made_graph *from, model_file *to)
{
    to->main.n_input = from->ports.n_input, to->main.input = from->ports.input;
    to->main.n_output = from->ports.n_output, to->main.output = from->ports.output;
    to->opset = arena_get(&to->mem, sizeof *to->opset);
    to->opset[0] = (opset){"", BACK_OPSET}, to->n_opset = 1;
    to->name = from->name;
}

bool restate_graph(const made_graph *from, model_file *out, err *e)
{
    *out = (model_file){0};
    restating r = {.from = from, .to = out, .back = {.mem = &out->mem}, .taken = {.mem = &out->mem}};
    take_ports(from, out);
    const bool ok = add_nodes(&r, e);
    if (ok)
        take_steps(&r);
    unsupported_free(&r.unsupported);
    return ok;
}
