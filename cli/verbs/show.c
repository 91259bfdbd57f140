/* show.c - tessera show: a model as a tree, as JSON, as its hash, or as the text of one stage. */
#include "cli/draw/dot.h"
#include "graph/base/base.h"
#include "cli/outfile.h"
#include "cli/say.h"
#include "cli/session.h"
#include "cli/draw/tree.h"

#include <stdlib.h>
#include <string.h>

enum { PORTS_SHOWN = 12, MOST_BOXES = 2000 }; /* lines; boxes that a picture may have */

/* Extents with the names that were bound to them: "[batch=1, seq=128, 768]"; before that "[batch, seq, 768]". */
static void shape_text(char *out, size_t size, const ts_port *p)
{
    size_t n = (size_t)snprintf(out, size, p->rank < 0 ? "?" : "[");
    for (int i = 0; i < p->rank && n < size; i++) {
        const char *symbol = p->symbol[i] ? p->symbol[i] : "", *comma = i ? ", " : "";
        if (p->dim[i] < 0)
            n += (size_t)snprintf(out + n, size - n, "%s%s", comma, *symbol ? symbol : "?");
        else
            n += (size_t)snprintf(out + n, size - n, "%s%s%s%lld", comma, symbol, *symbol ? "=" : "",
                                  (long long)p->dim[i]);
    }
    if (p->rank >= 0 && n < size)
        snprintf(out + n, size - n, "]");
}

static void add_port(cJSON *rows, const char *what, const ts_port *p)
{
    char shape[256];
    shape_text(shape, sizeof shape, p);
    js_row(rows, "what:%s,name:%s,dtype:%s,shape:%s,below:%lld", what, p->name,
           p->dtype == TS_N_DTYPE ? "?" : ts_dtype_name(p->dtype), shape, (long long)p->below);
}

/* A cache has dozens of ports that are alike. */
static void add_ports(cJSON *rows, const char *what, const ts_model *m, int n,
                      bool (*get)(const ts_model *m, int i, ts_port *out))
{
    ts_port p;
    int i = 0;
    for (; i < n && i < PORTS_SHOWN && get(m, i, &p); i++)
        add_port(rows, what, &p);
    if (i < n) {
        char more[64];
        snprintf(more, sizeof more, "%d more %ss", n - i, what);
        js_row(rows, "what:%s,name:%s", "...", more);
    }
}

static void put_ports(const session *s)
{
    ENDED_BY(js_free) cJSON *rows = cJSON_CreateArray();
    add_ports(rows, "input", s->model, ts_model_inputs(s->model), ts_model_input);
    add_ports(rows, "output", s->model, ts_model_outputs(s->model), ts_model_output);
    const paper on = console_paper(&s->args->console);
    say_form(&on, rows, "[.!||||\n{what}\t{name}\t[dtype?{dtype}]\t[shape?{shape}]\t[below>0?below {below}]]");
}

/* The outputs as tensors; for free(). */
static ts_tensor *results(const session *s, int *n)
{
    *n = ts_model_outputs(s->model);
    ts_tensor *t = heap_array((size_t)*n + 1, sizeof *t);
    for (int i = 0; i < *n; i++)
        t[i] = ts_model_tensor(s->model, i);
    return t;
}

static bool show_hash(const session *s)
{
    int n;
    char hex[65];
    ENDED_BY(heap_free) ts_tensor *t = results(s, &n);
    ts_hash(n, t, hex);
    reply_give(s->args, js_put(reply_make("hash/1"), "hash:%s", hex), "{hash}\n");
    return true;
}

/* Names in it may hold anything. */
static void put_lines(char *words)
{
    for (char *line = words, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        if (!end) {
            put_safe(stdout, line);
            break;
        }
        *end = 0;
        put_safe(stdout, line);
        fputc('\n', stdout);
    }
}

/* Kernel by kernel: its extents, its loops, and what it reads and writes in which order of dimensions. */
static const char planned_form[] =
    "[kernels*{name} {op} {label}[dims? {dims=}]\n    {loops}\n"
    "[operands*    {operand}: [tensor?{tensor} ]{type} over [layout?{layout}|nothing]\n]]";

static bool show_stage(session *s, const char *stage, ts_error *e)
{
    ENDED_BY(heap_free) char *words = NULL;
    if (strcmp(stage, "imported") == 0) {
        words = ts_model_steps(s->model, e);
    } else if (strcmp(stage, "folded") == 0) {
        int n;
        ENDED_BY(heap_free) ts_tensor *t = results(s, &n);
        words = ts_print(n, t);
    } else {
        ts_plan *plan = ts_plan_make(s->model, &s->options, e);
        words = plan ? ts_plan_json(plan, e) : NULL;
        ts_plan_free(plan);
    }
    if (!words)
        return false;
    if (strcmp(stage, "planned") == 0)
        reply_give(s->args, reply_take(words, e), planned_form), words = NULL;
    else if (s->args->console.json)
        reply_give(s->args, js_put(reply_make("text/1"), "text:%s", words), NULL);
    else
        put_lines(words);
    return true;
}

/* The graph as text for Graphviz; of a model that is not bound, what its file says. */
static char *picture(const cJSON *root, bool bound, const fold *how, int *boxes)
{
    return bound ? dot_text(root, how, boxes) : dot_steps_text(root, boxes);
}

static char *svg_of(session *s, const cJSON *root, bool bound, ts_error *e)
{
    const args *a = s->args;
    const fold some = {args_flag(a, "whole"), args_text(a, "expand")};
    int boxes = 0;
    char *dot = picture(root, bound, &some, &boxes), *svg = NULL;
    if (boxes <= MOST_BOXES) {
        svg = dot_svg_text(dot, boxes, &s->progress, e);
    } else {
        err_set(e, TS_UNSUPPORTED, "show: a picture of %d boxes would take Graphviz very long; up to %d are drawn",
                boxes, MOST_BOXES);
        err_hint(e, some.whole || some.expand
                        ? "leave --whole and --expand out: recipes and equal layers are one box then"
                        : "--dot FILE writes the picture as text, for other programs");
    }
    free(dot);
    return svg;
}

/* Into files instead of on the terminal. "-" is standard output, of which nothing needs to be said. */
static bool draw(session *s, bool bound, ts_error *e)
{
    const args *a = s->args;
    const char *path[] = {args_text(a, "dot"), args_text(a, "svg")};
    const fold whole = {.whole = true};
    int boxes;
    ENDED_BY(js_free) cJSON *root = reply_take(ts_model_json(s->model, e), e);
    char *words[] = {root && path[0] ? picture(root, bound, &whole, &boxes) : NULL,
                     root && path[1] ? svg_of(s, root, bound, e) : NULL};
    progress_close(&s->progress);
    bool ok = root && (!path[1] || words[1]);
    for (int i = 0; i < 2; i++) {
        ok = ok && (!path[i] || outfile_write(path[i], words[i], e));
        if (ok && path[i] && strcmp(path[i], "-") != 0)
            console_note(&a->console, "wrote %s", path[i]);
        free(words[i]);
    }
    return ok;
}

/* What is known before dimensions are bound is shown without the tree. */
static bool show_model(const session *s, bool bound, ts_error *e)
{
    cJSON *root = reply_take(ts_model_json(s->model, e), e);
    const args *a = s->args;
    if (!root)
        return false;
    if (a->console.json) {
        reply_end(root);
        return true;
    }
    put_ports(s);
    if (bound) {
        const paper on = console_paper(&a->console);
        branch *tree = tree_make(root);
        fputc('\n', stdout);
        tree_print(tree, (int)args_integer(a, "depth"), stdout, a->console.color_out);
        say_form(&on, root, "\n{nodes#} nodes, {parameters} parameters ({weight_bytes}), {flops}\n");
        tree_free(tree);
    }
    cJSON_Delete(root);
    return true;
}

static bool show(session *s, const args *a, ts_error *e)
{
    const char *stage = args_text(a, "stage");
    const char *dot = args_text(a, "dot"), *svg = args_text(a, "svg");
    bool whole = !stage && !args_flag(a, "hash"), drawn = dot || svg;
    bool bound = session_open(s, a, args_noun(a, 0), e);
    bool asked = args_flag(a, "dim") || args_flag(a, "in") || args_flag(a, "from") || args_flag(a, "to");
    bool imported = stage && strcmp(stage, "imported") == 0;
    /* What the file says can be drawn, too, where its loops or shapes wait for values or nobody can do it. */
    const bool file = s->model && drawn && (e->code == TS_UNSUPPORTED || (e->code == TS_USAGE && !asked));
    if (s->model && imported)
        bound = bound && !drawn; /* whether it can be bound or not */
    else if (!bound && !file && (!s->model || e->code != TS_USAGE || asked || !whole))
        return false;
    if (!bound && !imported)
        console_note(&a->console, "%s%s", e->text, drawn ? "\n  drawn are the steps of the file" : "");
    *e = (ts_error){0};
    if (args_flag(a, "hash"))
        return show_hash(s);
    if (dot || svg)
        return draw(s, bound, e);
    return stage ? show_stage(s, stage, e) : show_model(s, bound, e);
}

static int run(const args *a, ts_error *e)
{
    session s = {0};
    show(&s, a, e);
    session_close(&s);
    return TS_OK;
}

static const option options[] = {
    {"depth", 0, INTEGER, "N", "levels of names to show", "4", false, 1, 64},
    {"svg", 0, A_FILE, "FILE", "draw the graph with Graphviz: recipes and equal layers folded", ONCE},
    {"expand", 0, WORD, "GLOB", "with --svg: draw recipes of that name unfolded, as in 'attention'", ONCE},
    {"whole", 0, FLAG, NULL, "with --svg: a box for every node, up to 2000", ONCE},
    {"dot", 0, A_FILE, "FILE", "the graph as text for Graphviz, every node a box", ONCE},
    {"hash", 0, FLAG, NULL, "the content hash of the graph, nothing else", ONCE},
    {"stage", 0, CHOICE, "imported|folded|planned", "steps of the file, nodes of the graph, or kernels of the plan",
     ONCE},
    {0},
};

const verb verb_show = {
    .name = "show",
    .brief = "Show a model: inputs, outputs, layers, operations",
    .usage = "MODEL",
    .own = {"Options", options, NULL},
    .groups = session_model_groups,
    .examples = "tessera show bert-base\n"
                "tessera show model.onnx --dim batch=1 --dim seq=128 --depth 2\n"
                "tessera show minilm --hash         # the same on every machine\n"
                "tessera show bert-base --svg bert.svg\n"
                "tessera show minilm --stage folded # every node, one a line",
    .run = run,
};
