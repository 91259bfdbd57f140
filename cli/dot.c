#include "cli/dot.h"

#include "cli/console.h"
#include "cli/fail.h"
#include "cli/outline.h"
#include "cli/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_WEIGHTS = 3, HEAVY = 1000000 /* FLOPs: in another colour */ };

typedef struct picture {
    FILE *f;
    const cJSON *model;
    const cJSON **node; /* by id */
    int n, frames;
    int *box;             /* the node whose box stands for it */
    const cJSON **recipe; /* whose result a node is */
    bool whole;
} picture;

/* ---- text ---- */

/* Safe for terminals and for Graphviz: names come from files. */
static void put_text(FILE *f, const char *s)
{
    char *safe = NULL;
    size_t size = 0;
    FILE *m = open_memstream(&safe, &size);
    if (!m)
        fail_bug("out of memory", "dot");
    put_safe(m, s);
    fclose(m);
    for (const char *c = safe; *c; c++)
        fprintf(f, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    free(safe);
}

static void put_type(FILE *f, const cJSON *node)
{
    const cJSON *d;
    fprintf(f, "%s [", js_get_text(node, "dtype"));
    cJSON_ArrayForEach(d, js_get(node, "shape"))
        fprintf(f, "%s%.0f", d->prev && d->prev->next ? ", " : "", d->valuedouble);
    fprintf(f, "]");
}

static void put_amount(FILE *f, const char *name, double v)
{
    char s[32];
    outline_value(s, sizeof s, name, &(cJSON){.type = cJSON_Number, .valuedouble = v});
    fprintf(f, "%s", s);
}

static double bytes_of(const cJSON *node)
{
    double n = 0;
    const cJSON *d;
    for (int i = 0; i < TS_N_DTYPE; i++)
        if (strcmp(ts_dtype_name((ts_dtype)i), js_get_text(node, "dtype")) == 0)
            n = ts_dtype_bytes((ts_dtype)i);
    cJSON_ArrayForEach(d, js_get(node, "shape")) n *= d->valuedouble;
    return n;
}

/* ---- which boxes there are ---- */
static bool is_leaf(const cJSON *node)
{
    const cJSON *in = js_get(node, "in");
    return !in || !in->child;
}

static bool is_weight(const cJSON *node)
{
    return is_leaf(node) && strcmp(js_get_text(node, "op"), "input") != 0;
}

/* Outer recipes come after those within them: the last one that holds a node decides. */
static void fold_recipes(picture *p)
{
    const cJSON *r, *id;
    cJSON_ArrayForEach(r, js_get(p->model, "groups"))
    {
        const int result = (int)js_get_number(r, "result", 0);
        cJSON_ArrayForEach(id, js_get(r, "nodes"))
        {
            if (!p->whole && id->valueint >= 0 && id->valueint < p->n)
                p->box[id->valueint] = result;
        }
        p->recipe[result] = r;
    }
}

static void note_twin(void *user, const cJSON *node, const cJSON *first)
{
    picture *p = user;
    p->box[(int)js_get_number(node, "id", 0)] = (int)js_get_number(first, "id", 0);
}

/* Through recipes and equal layers to the node that is drawn. */
static int box_of(const picture *p, int id)
{
    for (int steps = 0; id >= 0 && p->box[id] != id && steps < p->n; steps++)
        id = p->box[id];
    return id;
}

/* ---- boxes ---- */
static double folded_flops(const picture *p, const cJSON *node)
{
    const int id = (int)js_get_number(node, "id", 0);
    const cJSON *r = p->whole ? NULL : p->recipe[id], *i;
    double sum = 0;
    if (!r)
        return js_get_number(node, "flops", 0);
    cJSON_ArrayForEach(i, js_get(r, "nodes")) sum += js_get_number(p->node[i->valueint], "flops", 0);
    return sum;
}

static void put_weights(picture *p, const cJSON *node)
{
    const cJSON *in;
    int shown = 0;
    cJSON_ArrayForEach(in, js_get(node, "in"))
    {
        const cJSON *w = p->node[in->valueint];
        const char *label = js_get_text(w, "label"), *dot = strrchr(label, '.');
        if (!is_weight(w) || !*label || shown++ >= SHOWN_WEIGHTS)
            continue;
        fprintf(p->f, "\\n");
        put_text(p->f, dot ? dot + 1 : label);
        fprintf(p->f, " ");
        put_type(p->f, w);
    }
}

static void put_box(picture *p, const cJSON *node)
{
    const int id = (int)js_get_number(node, "id", 0);
    const cJSON *r = p->recipe[id];
    const double flops = folded_flops(p, node);
    fprintf(p->f, "  n%d [label=\"", id);
    if (is_leaf(node) || (p->whole && *js_get_text(node, "label"))) {
        put_text(p->f, js_get_text(node, "label"));
        fprintf(p->f, "\\n");
    }
    fprintf(p->f, "%s\\n", r && !p->whole ? js_get_text(r, "op") : js_get_text(node, "op"));
    put_type(p->f, node);
    if (flops > 0) {
        fprintf(p->f, "\\n");
        put_amount(p->f, "flops", flops);
        fprintf(p->f, ", ");
        put_amount(p->f, "bytes", bytes_of(node));
    }
    if (!p->whole)
        put_weights(p, node);
    fprintf(p->f, "\"%s]\n",
            is_leaf(node)    ? ", fillcolor=\"#eef3d6\", shape=ellipse"
            : r && !p->whole ? ", fillcolor=\"#dbe7f5\""
            : flops >= HEAVY ? ", fillcolor=\"#f6e3cf\""
                             : "");
}

static void enter(void *user, const char *name, int times)
{
    picture *p = user;
    fprintf(p->f, "  subgraph cluster_%d {\n  label=\"", p->frames++);
    put_text(p->f, name);
    if (times > 1)
        fprintf(p->f, "  (%d times)", times);
    fprintf(p->f, "\"\n");
}

static void leave(void *user)
{
    fprintf(((picture *)user)->f, "  }\n");
}

static void place(void *user, const cJSON *node)
{
    picture *p = user;
    const int id = (int)js_get_number(node, "id", 0);
    if (box_of(p, id) == id)
        put_box(p, node);
}

/* ---- arrows ---- */
typedef struct arrow {
    int from, to;
} arrow;

static int by_ends(const void *a, const void *b)
{
    const arrow *x = a, *y = b;
    return x->from != y->from ? x->from - y->from : x->to - y->to;
}

/* What goes from one of several equal layers to the next leads back to where the first begins: drawn, but without say
 * in the order from top to bottom. */
static void put_arrows(picture *p)
{
    const cJSON *in;
    size_t n = 0, most = 0;
    for (int i = 0; i < p->n; i++)
        most += (size_t)cJSON_GetArraySize(js_get(p->node[i], "in"));
    arrow *all = calloc(most + 1, sizeof *all);
    if (!all)
        fail_bug("out of memory", "dot");
    for (int i = 0; i < p->n; i++)
        cJSON_ArrayForEach(in, js_get(p->node[i], "in"))
        {
            const arrow a = {box_of(p, in->valueint), box_of(p, i)};
            if (a.from >= 0 && a.from != a.to && (p->whole || !is_weight(p->node[in->valueint])))
                all[n++] = a;
        }
    qsort(all, n, sizeof *all, by_ends);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || by_ends(&all[i - 1], &all[i]) != 0)
            fprintf(p->f, "  n%d -> n%d%s\n", all[i].from, all[i].to,
                    all[i].from > all[i].to ? " [style=dashed, constraint=false, color=\"#888888\"]" : "");
    free(all);
}

static void put_outputs(picture *p)
{
    const cJSON *o;
    int i = 0;
    cJSON_ArrayForEach(o, js_get(p->model, "outputs"))
    {
        fprintf(p->f, "  out%d [label=\"", i);
        put_text(p->f, js_get_text(o, "name"));
        fprintf(p->f, "\\n");
        put_type(p->f, o);
        fprintf(p->f, "\", shape=ellipse, fillcolor=\"#eef3d6\"]\n  n%d -> out%d\n",
                box_of(p, (int)js_get_number(o, "node", 0)), i);
        i++;
    }
}

/* ---- the picture ---- */
static void *list(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    if (!p)
        fail_bug("out of memory", "dot");
    return p;
}

static void no_twin(void *user, const cJSON *node, const cJSON *first)
{
    (void)user, (void)node, (void)first;
}

static void draw(picture *p)
{
    branch *tree = tree_make(js_get(p->model, "nodes"));
    const tree_visitor twins = {.user = p, .twin = note_twin};
    const tree_visitor boxes = {p, enter, leave, place, p->whole ? NULL : no_twin};
    fold_recipes(p);
    if (!p->whole)
        tree_visit(tree, &twins);
    for (int i = 0; i < p->n; i++)
        if (is_leaf(p->node[i]) && (p->whole || !is_weight(p->node[i])))
            put_box(p, p->node[i]);
    tree_visit(tree, &boxes);
    put_arrows(p);
    put_outputs(p);
    tree_free(tree);
}

char *dot_text(const cJSON *model, bool whole)
{
    char *out = NULL;
    size_t size = 0;
    const cJSON *nodes = js_get(model, "nodes"), *node;
    const size_t n = (size_t)cJSON_GetArraySize(nodes);
    picture p = {.f = open_memstream(&out, &size), .model = model, .whole = whole};
    p.node = list(n, sizeof *p.node), p.box = list(n, sizeof *p.box), p.recipe = list(n, sizeof *p.recipe);
    if (!p.f)
        fail_bug("out of memory", "dot");
    cJSON_ArrayForEach(node, nodes)
    {
        p.box[p.n] = p.n;
        p.node[p.n++] = node;
    }
    fprintf(p.f, "digraph model {\n  label=\"");
    put_text(p.f, js_get_text(model, "name"));
    fprintf(p.f, "\"\n  labelloc=t\n  fontname=\"Helvetica\"\n  color=\"#aaaaaa\"\n"
                 "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"Helvetica\", fontsize=10]\n"
                 "  edge [color=\"#444444\", arrowsize=0.6]\n");
    draw(&p);
    fprintf(p.f, "}\n");
    fclose(p.f);
    free(p.node);
    free(p.box);
    free(p.recipe);
    return out;
}
