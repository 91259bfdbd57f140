/* dot.c - statements of the language in the order in which Graphviz lays them out best: frames and boxes as the tree
 * is walked, then arrows, then outputs. */
#include "cli/draw/dot.h"

#include "cli/draw/boxes.h"
#include "graph/base/base.h"
#include "cli/outline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_WEIGHTS = 3, SHOWN_STEPS = 5, HEAVY = 1000000 /* FLOPs: in another colour */ };

typedef struct picture {
    FILE *f;
    const cJSON *model;
    boxes boxes;
    frames frames;
    int *held;         /* by frame: boxes in it */
    int *first, *next; /* by frame + 1, by box: the first box of it, the next box of the same one; + 1 */
    int drawn;
    char *alone; /* names of frames around nothing but the box that comes next */
    fold fold;
} picture;

/* ---- text ---- */

/* Safe for terminals: names come from files. For free(). */
static char *made_safe(const char *s)
{
    text t = {0};
    text_safe(&t, s);
    return text_take(&t);
}

/* And for Graphviz. */
void dot_name(FILE *f, const char *s)
{
    ENDED_BY(heap_free) char *safe = made_safe(s);
    for (const char *c = safe; *c; c++)
        fprintf(f, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
}

void dot_type(FILE *f, const cJSON *value)
{
    const cJSON *dim, *shape = js_get(value, "shape");
    dot_name(f, js_get_text(value, "dtype"));
    fputs(shape ? " [" : "", f);
    cJSON_ArrayForEach(dim, shape)
    {
        fputs(dim == shape->child ? "" : ", ", f);
        if (cJSON_IsString(dim))
            dot_name(f, dim->valuestring);
        else
            fprintf(f, "%.0f", dim->valuedouble);
    }
    fputs(shape ? "]" : "", f);
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

/* ---- boxes ---- */
static void put_weight(picture *p, const cJSON *w)
{
    const char *label = js_get_text(w, "label"), *dot = strrchr(label, '.');
    fprintf(p->f, "\\n");
    dot_name(p->f, dot && dot[1] ? dot + 1 : label);
    fprintf(p->f, " ");
    dot_type(p->f, w);
}

/* The weights that a step reads, through what is made of weights alone. */
static void put_weights(picture *p, int id, int *shown)
{
    const cJSON *in;
    cJSON_ArrayForEach(in, js_get(p->boxes.node[id], "in"))
    {
        const cJSON *w = p->boxes.node[in->valueint];
        if (box_is_weight(w) && *js_get_text(w, "label") && (*shown)++ < SHOWN_WEIGHTS)
            put_weight(p, w);
        else if (p->boxes.box[in->valueint] < 0 && !box_is_leaf(w) && *shown < SHOWN_WEIGHTS)
            put_weights(p, in->valueint, shown);
    }
}

static const char *op_of(const picture *p, int id)
{
    const cJSON *r = p->boxes.recipe[id];
    return js_get_text(r ? r : p->boxes.node[id], "op");
}

/* "conv + add + relu": the steps in a box; those that only move elements where there are no others. */
static void put_steps(picture *p, int id, double flops)
{
    int shown = 0;
    for (int i = id; i >= 0; i = p->boxes.next[i]) {
        if (i != id && flops > 0 && box_work(&p->boxes, i) == 0)
            continue;
        if (shown++ < SHOWN_STEPS)
            fprintf(p->f, "%s%s", shown > 1 ? " + " : "", op_of(p, i));
    }
    fprintf(p->f, "%s\\n", shown > SHOWN_STEPS ? " + ..." : "");
}

/* "past.0.key", or "past.0.key ... past.11.key (12)": inputs that are read alike. */
static void put_name(picture *p, int id)
{
    const boxes *b = &p->boxes;
    dot_name(p->f, js_get_text(b->node[id], "label"));
    if (b->alike[id] > 1) {
        fprintf(p->f, " ... ");
        dot_name(p->f, js_get_text(b->node[b->last[id]], "label"));
        fprintf(p->f, " (%d)", b->alike[id]);
    }
    fprintf(p->f, "\\n");
}

static void put_box(picture *p, int id)
{
    const boxes *b = &p->boxes;
    const bool leaf = box_is_leaf(b->node[id]);
    double flops = 0;
    int last = id, shown = 0;
    for (int i = id; i >= 0; last = i, i = b->next[i])
        flops += box_work(b, i);
    p->drawn++;
    fprintf(p->f, "  n%d [label=\"", id);
    if (p->alone)
        dot_name(p->f, p->alone), fprintf(p->f, "\\n");
    free(p->alone), p->alone = NULL;
    if (leaf)
        put_name(p, id);
    else if (p->fold.whole && *js_get_text(b->node[id], "label"))
        dot_name(p->f, js_get_text(b->node[id], "label")), fprintf(p->f, "\\n");
    put_steps(p, id, flops);
    dot_type(p->f, b->node[last]);
    if (flops > 0) {
        fprintf(p->f, "\\n");
        put_amount(p->f, "flops", flops);
        fprintf(p->f, ", ");
        put_amount(p->f, "bytes", bytes_of(b->node[last]));
    }
    for (int i = id; i >= 0 && !p->fold.whole; i = b->next[i])
        put_weights(p, i, &shown);
    fprintf(p->f, "\"%s]\n",
            leaf             ? ", fillcolor=\"#eef3d6\", shape=ellipse"
            : b->recipe[id]  ? ", fillcolor=\"#dbe7f5\""
            : flops >= HEAVY ? ", fillcolor=\"#f6e3cf\""
                             : "");
}

/* ---- frames: one around a single box is a name in that box ---- */
static bool is_drawn(const picture *p, int i)
{
    return p->held[i] != 1 || p->fold.whole;
}

static void open_frame(picture *p, int i)
{
    const struct frame *own = &p->frames.of[i];
    text whole = {0};
    text_add(&whole, "%s%s%s", p->alone ? p->alone : "", p->alone ? "." : "", own->name);
    if (own->times > 1)
        text_add(&whole, "  (%d times)", own->times);
    char *label = text_take(&whole);
    free(p->alone);
    p->alone = NULL;
    if (!is_drawn(p, i)) {
        p->alone = label;
        return;
    }
    fprintf(p->f, "  subgraph cluster_%d {\n  label=\"", i);
    dot_name(p->f, label);
    fprintf(p->f, "\"\n");
    free(label);
}

static bool is_placed(const picture *p, int id)
{
    return !box_is_leaf(p->boxes.node[id]) && box_of(&p->boxes, id) == id;
}

static void place_boxes(picture *p)
{
    const size_t n = (size_t)p->frames.n + 1;
    p->held = heap_array(n, sizeof *p->held), p->first = heap_array(n, sizeof *p->first);
    p->next = heap_array((size_t)p->boxes.n + 1, sizeof *p->next);
    for (int id = p->boxes.n - 1; id >= 0; id--) {
        const int in = p->frames.home[id];
        if (!is_placed(p, id))
            continue;
        p->next[id] = p->first[in + 1], p->first[in + 1] = id + 1;
        for (int i = in; i >= 0; i = p->frames.of[i].outer)
            p->held[i]++;
    }
}

static void put_inside(picture *p, int outer)
{
    for (int id = p->first[outer + 1]; id; id = p->next[id - 1])
        put_box(p, id - 1);
    for (int i = outer + 1; i < p->frames.n && p->frames.of[i].outer >= outer; i++)
        if (p->frames.of[i].outer == outer) {
            open_frame(p, i);
            put_inside(p, i);
            fputs(is_drawn(p, i) ? "  }\n" : "", p->f);
        }
}

/* ---- arrows ---- */
typedef struct arrow {
    int from, to;
    bool back; /* from one of equal layers to the next */
} arrow;

static int by_ends(const void *a, const void *b)
{
    const arrow *x = a, *y = b;
    return x->from != y->from ? x->from - y->from : x->back != y->back ? x->back - y->back : x->to - y->to;
}

static size_t find_arrows(const picture *p, arrow *all)
{
    const boxes *b = &p->boxes;
    const cJSON *in;
    size_t n = 0;
    for (int i = 0; i < b->n; i++)
        cJSON_ArrayForEach(in, js_get(b->node[i], "in"))
        {
            const arrow a = {box_of(b, in->valueint), box_of(b, i), box_step(b, in->valueint) > box_step(b, i)};
            if (a.from >= 0 && a.to >= 0 && a.from != a.to)
                all[n++] = a;
        }
    qsort(all, n, sizeof *all, by_ends);
    return n;
}

/* What goes from one of several equal layers to the next leads back to where the first begins: drawn once, and without
 * say in the order from top to bottom. */
static void put_arrows(picture *p)
{
    size_t most = 0;
    for (int i = 0; i < p->boxes.n; i++)
        most += (size_t)cJSON_GetArraySize(js_get(p->boxes.node[i], "in"));
    ENDED_BY(heap_free) arrow *all = heap_array(most + 1, sizeof *all);
    const size_t n = find_arrows(p, all);
    for (size_t i = 0; i < n; i++) {
        const arrow *a = &all[i], *before = i ? a - 1 : NULL;
        const bool same = before && before->from == a->from && before->back == a->back;
        if (!same || (!a->back && before->to != a->to))
            fprintf(p->f, "  n%d -> n%d%s\n", a->from, a->to,
                    a->back ? " [style=dashed, constraint=false, color=\"#888888\"]" : "");
    }
}

/* ---- outputs: those that are alike and come from one box are one ---- */
typedef struct output {
    const cJSON *port;
    int box, place;
} output;

static int by_source(const void *a, const void *b)
{
    const output *x = a, *y = b;
    const int shape = x->box != y->box ? 0
                                       : (int)cJSON_GetArraySize(js_get(x->port, "shape")) -
                                             (int)cJSON_GetArraySize(js_get(y->port, "shape"));
    return x->box != y->box ? x->box - y->box : shape ? shape : x->place - y->place;
}

static void put_output(picture *p, const output *first, int n)
{
    fprintf(p->f, "  out%d [label=\"", first->place);
    dot_name(p->f, js_get_text(first->port, "name"));
    if (n > 1) {
        fprintf(p->f, " ... ");
        dot_name(p->f, js_get_text(first[n - 1].port, "name"));
        fprintf(p->f, " (%d)", n);
    }
    fprintf(p->f, "\\n");
    dot_type(p->f, first->port);
    fprintf(p->f, "\", shape=ellipse, fillcolor=\"#eef3d6\"]\n  n%d -> out%d\n", first->box, first->place);
}

static bool together(const picture *p, const output *a, const output *b)
{
    return !p->fold.whole && a->box == b->box &&
           strcmp(js_get_text(a->port, "dtype"), js_get_text(b->port, "dtype")) == 0 &&
           cJSON_Compare(js_get(a->port, "shape"), js_get(b->port, "shape"), true);
}

static void put_outputs(picture *p)
{
    const cJSON *o, *ports = js_get(p->model, "outputs");
    ENDED_BY(heap_free) output *all = heap_array((size_t)cJSON_GetArraySize(ports) + 1, sizeof *all);
    int n = 0;
    cJSON_ArrayForEach(o, ports) all[n] = (output){o, box_of(&p->boxes, (int)js_get_number(o, "node", 0)), n}, n++;
    qsort(all, (size_t)n, sizeof *all, by_source);
    for (int i = 0, many; i < n; i += many) {
        for (many = 1; i + many < n && together(p, &all[i], &all[i + many]);)
            many++;
        put_output(p, &all[i], many);
    }
}

/* ---- the picture ---- */
static void draw(picture *p)
{
    branch *tree = tree_make(p->model);
    p->boxes = boxes_make(p->model, tree, &p->fold);
    p->frames = frames_make(tree, p->boxes.n, !p->fold.whole);
    for (int i = 0; i < p->boxes.n; i++)
        if (box_is_leaf(p->boxes.node[i]) && box_of(&p->boxes, i) == i)
            put_box(p, i);
    place_boxes(p);
    put_inside(p, -1);
    put_arrows(p);
    put_outputs(p);
    boxes_free(&p->boxes);
    tree_free(tree);
    frames_free(&p->frames);
    free(p->held), free(p->first), free(p->next);
}

/* The same within a label in HTML. */
static void put_html(FILE *f, const char *s)
{
    ENDED_BY(heap_free) char *safe = made_safe(s);
    for (const char *c = safe; *c; c++) {
        const char *as = *c == '&' ? "&amp;" : *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : *c == '"' ? "&quot;" : NULL;
        if (as)
            fputs(as, f);
        else
            fputc(*c, f);
    }
}

void dot_begin(FILE *f, const char *title, const legend *l)
{
    int n = 0;
    while (l[n].color)
        n++;
    fprintf(f,
            "digraph model {\n  label=<<table border=\"0\" cellborder=\"0\" cellspacing=\"4\"><tr><td colspan=\"%d\">",
            n);
    put_html(f, title);
    fprintf(f, "</td></tr><tr>");
    for (; l->color; l++)
        fprintf(f, "<td bgcolor=\"%s\"><font point-size=\"10\">%s</font></td>", l->color, l->text);
    fprintf(f, "</tr></table>>\n  labelloc=t\n  fontname=\"Helvetica\"\n  color=\"#aaaaaa\"\n"
               "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"Helvetica\", fontsize=10]\n"
               "  edge [color=\"#444444\", arrowsize=0.6]\n  ranksep=0.3\n  nodesep=0.2\n");
}

void dot_hurry(FILE *f, int count)
{
    enum { MANY = 300 }; /* above it the layout is done in a hurry */
    if (count > MANY)
        fputs("  nslimit=1\n  nslimit1=1\n", f);
}

char *dot_text(const cJSON *model, const fold *how, int *count)
{
    static const legend colors[] = {{"#eef3d6", "input, weight, output"},
                                    {"#dbe7f5", "operation made of several"},
                                    {"#f6e3cf", "1 MFLOP and more"},
                                    {"white", "dashed: on to the next equal layer"},
                                    {0}};
    char *out = NULL;
    size_t size = 0;
    picture p = {.f = open_memstream(&out, &size), .model = model, .fold = *how};
    if (!p.f)
        memory_failed(0, "the picture");
    dot_begin(p.f, js_get_text(model, "name"), colors);
    draw(&p);
    dot_hurry(p.f, p.drawn);
    *count = p.drawn;
    fprintf(p.f, "}\n");
    fclose(p.f);
    return out;
}
