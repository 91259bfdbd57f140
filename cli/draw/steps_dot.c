/* steps_dot.c - the steps of a file as a picture: what can be drawn of a model whose loops or shapes wait for values.
 * Graphs inside a step (the body of a Loop, the branches of an If) are frames between a box that takes what the step
 * takes and one that has what it gives. */
#include "cli/draw/dot.h"
#include "graph/base/base.h"

#include <stdlib.h>
#include <string.h>

/* Who has a value of this name, in which graph. */
typedef struct made {
    int graph;
    const char *name;
    int box; /* -1: a tensor of the file, or a constant: not drawn */
} made;

typedef struct want { /* an arrow, once all values are known */
    int graph, box;
    const char *name;
} want;

typedef struct drawing {
    FILE *f;
    made *made;
    want *want;
    int *outer; /* by graph: the one around it; -1: none */
    int n_made, cap_made, n_want, cap_want, n_graph, cap_graph;
    int boxes;
} drawing;

static void add_made(drawing *d, int graph, const char *name, int box)
{
    d->made = heap_grown(d->made, d->n_made, &d->cap_made, sizeof *d->made);
    d->made[d->n_made++] = (made){graph, name, box};
}

static void add_want(drawing *d, int graph, const char *name, int box)
{
    if (!*name)
        return;
    d->want = heap_grown(d->want, d->n_want, &d->cap_want, sizeof *d->want);
    d->want[d->n_want++] = (want){graph, box, name};
}

static int add_graph(drawing *d, int outer)
{
    d->outer = heap_grown(d->outer, d->n_graph, &d->cap_graph, sizeof *d->outer);
    d->outer[d->n_graph] = outer;
    return d->n_graph++;
}

/* ---- boxes ---- */
static const char *text_of(const cJSON *name)
{
    return cJSON_IsString(name) ? name->valuestring : "";
}

static int put_port(drawing *d, const cJSON *port)
{
    fprintf(d->f, "  n%d [label=\"", d->boxes);
    dot_name(d->f, js_get_text(port, "name"));
    fprintf(d->f, "\\n");
    dot_type(d->f, port);
    fprintf(d->f, "\", fillcolor=\"#eef3d6\", shape=ellipse]\n");
    return d->boxes++;
}

/* The box of a step, or one end of a step with graphs in it. */
static int put_step(drawing *d, const cJSON *step, const char *more)
{
    fprintf(d->f, "  n%d [label=\"", d->boxes);
    dot_name(d->f, js_get_text(step, "op"));
    fprintf(d->f, "%s\\n", more);
    dot_name(d->f, js_get_text(step, "name"));
    fprintf(d->f, "\"%s]\n", *more ? ", fillcolor=\"#dbe7f5\"" : "");
    return d->boxes++;
}

static void put_graph(drawing *d, const cJSON *graph, int id);

static void put_inner(drawing *d, const cJSON *step, int graph)
{
    const cJSON *in, *out, *g;
    const int begin = put_step(d, step, "");
    cJSON_ArrayForEach(in, js_get(step, "in")) add_want(d, graph, text_of(in), begin);
    const int end = put_step(d, step, ": result");
    cJSON_ArrayForEach(g, js_get(step, "graphs"))
    {
        const cJSON *inner = js_get(g, "graph"), *port;
        const int id = add_graph(d, graph), first = d->boxes;
        fprintf(d->f, "  subgraph cluster_%d {\n  label=\"", id);
        dot_name(d->f, js_get_text(step, "op"));
        fprintf(d->f, " ");
        dot_name(d->f, js_get_text(g, "name"));
        fprintf(d->f, "\"\n");
        put_graph(d, inner, id);
        fprintf(d->f, "  }\n");
        const int inputs = cJSON_GetArraySize(js_get(inner, "inputs")), all = d->boxes - first;
        for (int i = 0; i < (inputs ? inputs : all > 0); i++)
            fprintf(d->f, "  n%d -> n%d [style=dashed]\n", begin, first + i);
        cJSON_ArrayForEach(port, js_get(inner, "outputs")) add_want(d, id, js_get_text(port, "name"), end);
    }
    cJSON_ArrayForEach(out, js_get(step, "out")) add_made(d, graph, text_of(out), end);
}

static void put_graph(drawing *d, const cJSON *graph, int id)
{
    const cJSON *x, *v;
    cJSON_ArrayForEach(x, js_get(graph, "inputs")) add_made(d, id, js_get_text(x, "name"), put_port(d, x));
    cJSON_ArrayForEach(x, js_get(graph, "held")) add_made(d, id, js_get_text(x, "name"), -1);
    cJSON_ArrayForEach(x, js_get(graph, "steps"))
    {
        if (js_get(x, "graphs")) {
            put_inner(d, x, id);
            continue;
        }
        const bool constant = strcmp(js_get_text(x, "op"), "Constant") == 0;
        const int box = constant ? -1 : put_step(d, x, "");
        cJSON_ArrayForEach(v, js_get(x, "in")) add_want(d, id, text_of(v), box);
        cJSON_ArrayForEach(v, js_get(x, "out")) add_made(d, id, text_of(v), box);
    }
}

/* ---- arrows ---- */
static int by_name(const void *a, const void *b)
{
    const made *x = a, *y = b;
    return x->graph != y->graph ? x->graph - y->graph : strcmp(x->name, y->name);
}

static const made *find(const drawing *d, int graph, const char *name)
{
    const made *m = NULL;
    for (; !m && graph >= 0; graph = d->outer[graph])
        m = bsearch(&(made){.graph = graph, .name = name}, d->made, (size_t)d->n_made, sizeof *d->made, by_name);
    return m;
}

static void put_arrows(drawing *d)
{
    if (d->n_made)
        qsort(d->made, (size_t)d->n_made, sizeof *d->made, by_name);
    for (int i = 0; i < d->n_want; i++) {
        const want *w = &d->want[i];
        const made *m = find(d, w->graph, w->name);
        if (m && m->box >= 0 && m->box != w->box && w->box >= 0)
            fprintf(d->f, "  n%d -> n%d\n", m->box, w->box);
    }
}

char *dot_steps_text(const cJSON *model, int *boxes)
{
    static const legend colors[] = {
        {"#eef3d6", "input, output"}, {"#dbe7f5", "result of a step with graphs in it"}, {0}};
    char *out = NULL;
    size_t size = 0;
    const cJSON *graph = js_get(model, "file"), *port;
    drawing d = {.f = open_memstream(&out, &size)};
    if (!d.f)
        memory_failed(0, "the picture");
    dot_begin(d.f, js_get_text(model, "name"), colors);
    const int id = add_graph(&d, -1);
    put_graph(&d, graph, id);
    cJSON_ArrayForEach(port, js_get(graph, "outputs")) add_want(&d, id, js_get_text(port, "name"), put_port(&d, port));
    put_arrows(&d);
    dot_hurry(d.f, d.boxes);
    *boxes = d.boxes;
    fprintf(d.f, "}\n");
    fclose(d.f);
    free(d.made), free(d.want), free(d.outer);
    return out;
}
