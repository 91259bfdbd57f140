/* tree.c - building, folding and printing the tree of names. */
#include "cli/draw/tree.h"

#include "cli/say.h"
#include "graph/base/base.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 32, KINDS_SHOWN = 8, NAME = 256 }; /* of operations: counted, and named in a line; bytes of a name */

struct branch {
    char *name;     /* of this level only */
    branch *outer;  /* NULL: the root */
    branch **child; /* in order of first appearance */
    int n_child, cap_child;
    int *slot, n_slot;  /* of children by name, one more than their index; a power of two */
    const cJSON **node; /* operations that belong here and not deeper, in order */
    int n_node, cap_node;
    double parameters; /* of weights that belong here and not deeper */
};

/* ---- building ---- */

static branch *branch_make(const char *name, size_t length)
{
    branch *b = calloc(1, sizeof *b);
    if (b)
        b->name = strndup(name, length);
    if (!b || !b->name)
        memory_failed(sizeof *b + length + 1, "a branch of the tree");
    return b;
}

static int *slot_of(const branch *b, const char *name, size_t length) /* its own, or a free one */
{
    for (uint64_t h = quick_hash(name, length, 0);; h++) {
        int *slot = &b->slot[h & (uint64_t)(b->n_slot - 1)];
        const char *there = *slot ? b->child[*slot - 1]->name : "";
        if (!*slot || (strncmp(there, name, length) == 0 && !there[length]))
            return slot;
    }
}

static void make_slots(branch *b) /* twice as many as there will be children, at least */
{
    if (2 * (b->n_child + 1) <= b->n_slot)
        return;
    free(b->slot);
    b->n_slot = b->n_slot ? 2 * b->n_slot : 16;
    b->slot = heap_array((size_t)b->n_slot, sizeof *b->slot);
    for (int i = 0; i < b->n_child; i++)
        *slot_of(b, b->child[i]->name, strlen(b->child[i]->name)) = i + 1;
}

static branch *child_of(branch *b, const char *name, size_t length)
{
    make_slots(b);
    int *slot = slot_of(b, name, length);
    if (*slot)
        return b->child[*slot - 1];
    b->child = heap_grown(b->child, b->n_child, &b->cap_child, sizeof *b->child);
    b->child[b->n_child] = branch_make(name, length);
    b->child[b->n_child]->outer = b;
    *slot = ++b->n_child;
    return b->child[b->n_child - 1];
}

/* The branch of a dotted name without its last part. */
static branch *at(branch *root, const char *name)
{
    branch *b = root;
    for (;;) {
        name += strspn(name, "./");
        size_t length = strcspn(name, "./");
        if (length == 0 || !name[length])
            return b;
        b = child_of(b, name, length);
        name += length;
    }
}

static bool is_weight(const cJSON *node)
{
    return strcmp(js_get_text(node, "op"), "weight") == 0;
}

static bool is_operation(const cJSON *node)
{
    const cJSON *in = js_get(node, "in");
    return in && in->child;
}

double tree_elements(const cJSON *node)
{
    double n = 1;
    const cJSON *d;
    cJSON_ArrayForEach(d, js_get(node, "shape")) n *= d->valuedouble;
    return n;
}

typedef struct place {
    const cJSON *node;
    branch *home, *user;  /* where it belongs; where its users do, if that is one place. NULL for leaves */
    branch *weights;      /* of a constant: where the weights that it is made of are; NULL: in no one place */
    bool fixed, split;    /* its name or a weight says so; its users are in several places */
    bool port;            /* it is called as an output of the model, which says nothing of its place */
    bool named, of_named; /* its own name says so; all its users' names do */
    bool constant;        /* a weight, or made of weights alone */
    const char *claims;   /* of a constant: the operation that reads it first */
} place;

typedef struct builder {
    branch *root;
    int n;
    place *of; /* by id */
} builder;

static place *operand(const builder *b, const cJSON *id)
{
    return id->valueint >= 0 && id->valueint < b->n ? &b->of[id->valueint] : NULL;
}

/* Whether a step is at home where this operand is: a weight, or made of weights alone. A table that is tied to the last
 * layer is looked up there, and the product with it belongs to that layer. */
static bool claimed(place *o, const char *op)
{
    if (!o->weights)
        return false;
    o->claims = o->claims ? o->claims : op;
    return strcmp(o->claims, op) == 0;
}

static void find_constant(const builder *b, place *p)
{
    const cJSON *in;
    p->constant = is_weight(p->node) || is_operation(p->node);
    cJSON_ArrayForEach(in, js_get(p->node, "in"))
    {
        const place *o = operand(b, in);
        p->constant = p->constant && o && o->constant;
    }
}

/* The home of the latest operand; of a step that joins several, what is around the layer that made it: the scores of
 * attention are no part of the projection of keys, nor is the product with a tied table part of the last norm. */
static branch *beside(const builder *b, const place *p)
{
    const place *latest = NULL;
    const cJSON *in;
    bool joins = false;
    cJSON_ArrayForEach(in, js_get(p->node, "in"))
    {
        const place *o = operand(b, in);
        joins = joins || (o && o->constant);
        if (!o || !o->home || o->constant || o == latest)
            continue;
        joins = joins || latest;
        latest = !latest || o > latest ? o : latest;
    }
    branch *home = latest ? latest->home : b->root;
    return joins && home->parameters > 0 && home->outer ? home->outer : home;
}

/* Names of results say nothing of place; only those with a path do. A nameless operation belongs to the first weight
 * among its operands, else to where the latest of its operands was made. */
static void find_home(builder *b, place *p)
{
    const char *label = js_get_text(p->node, "label");
    const cJSON *in;
    p->home = NULL;
    p->fixed = !p->port && label[strcspn(label, "./")] != 0;
    p->named = p->fixed;
    if (p->fixed)
        p->home = at(b->root, label);
    cJSON_ArrayForEach(in, js_get(p->node, "in"))
    {
        place *o = operand(b, in);
        if (p->home || !o || !claimed(o, js_get_text(p->node, "op")))
            continue;
        p->home = o->weights;
        p->fixed = true;
    }
    if (p->constant)
        p->weights = p->home;
    if (!p->home)
        p->home = beside(b, p);
}

/* What costs nothing (a view) belongs to its users rather than to its maker, and a nameless step to steps with names.
 * Called from the last node to the first. */
static void settle(builder *b, place *p)
{
    const bool view = !p->fixed && js_get_number(p->node, "flops", 0) == 0;
    if (p->user && !p->split && (view || (p->of_named && !*js_get_text(p->node, "label"))))
        p->home = p->user;
    const cJSON *in;
    cJSON_ArrayForEach(in, js_get(p->node, "in"))
    {
        place *o = operand(b, in);
        if (!o)
            continue;
        o->split |= o->user && o->user != p->home;
        o->of_named = p->named && (o->of_named || !o->user);
        o->user = p->home;
    }
}

static void mark_ports(builder *b, const cJSON *outputs)
{
    const cJSON *o;
    cJSON_ArrayForEach(o, outputs)
    {
        const int id = (int)js_get_number(o, "node", -1);
        if (id >= 0 && id < b->n)
            b->of[id].port = strcmp(js_get_text(b->of[id].node, "label"), js_get_text(o, "name")) == 0;
    }
}

static void fill(builder *b, const cJSON *model)
{
    const cJSON *node;
    cJSON_ArrayForEach(node, js_get(model, "nodes")) b->of[b->n++].node = node;
    mark_ports(b, js_get(model, "outputs"));
    for (place *p = b->of; p < b->of + b->n; p++) {
        node = p->node;
        find_constant(b, p);
        if (is_weight(node) && *js_get_text(node, "label")) {
            p->weights = at(b->root, js_get_text(node, "label"));
            p->weights->parameters += tree_elements(node);
        }
        if (is_operation(node))
            find_home(b, p);
    }
    for (int i = b->n - 1; i >= 0; i--) {
        if (b->of[i].home)
            settle(b, &b->of[i]);
    }
    for (int i = 0; i < b->n; i++) {
        branch *home = b->of[i].home;
        if (!home)
            continue;
        home->node = heap_grown(home->node, home->n_node, &home->cap_node, sizeof *home->node);
        home->node[home->n_node++] = b->of[i].node;
    }
}

branch *tree_make(const cJSON *model)
{
    builder b = {.root = branch_make("", 0)};
    b.of = heap_array((size_t)cJSON_GetArraySize(js_get(model, "nodes")) + 1, sizeof *b.of);
    fill(&b, model);
    free(b.of);
    return b.root;
}

void tree_free(branch *b)
{
    if (!b)
        return;
    for (int i = 0; i < b->n_child; i++)
        tree_free(b->child[i]);
    free(b->child);
    free(b->slot);
    free(b->node);
    free(b->name);
    free(b);
}

/* ---- sums and likeness ---- */

static double parameters(const branch *b)
{
    double sum = b->parameters;
    for (int i = 0; i < b->n_child; i++)
        sum += parameters(b->child[i]);
    return sum;
}

static double operations(const branch *b)
{
    double sum = 0;
    for (int i = 0; i < b->n_node; i++)
        sum += js_get_number(b->node[i], "flops", 0);
    for (int i = 0; i < b->n_child; i++)
        sum += operations(b->child[i]);
    return sum;
}

bool tree_like(const char *a, const char *b)
{
    for (;;) {
        bool da = isdigit((unsigned char)*a), db = isdigit((unsigned char)*b);
        if (da && db) {
            a += strspn(a, "0123456789");
            b += strspn(b, "0123456789");
        } else if (*a != *b) {
            return false;
        } else if (!*a++) {
            return true;
        } else {
            b++;
        }
    }
}

static bool same(const branch *a, const branch *b)
{
    if (a->n_child != b->n_child || a->n_node != b->n_node || a->parameters != b->parameters)
        return false;
    for (int i = 0; i < a->n_node; i++) {
        if (strcmp(js_get_text(a->node[i], "op"), js_get_text(b->node[i], "op")) != 0 ||
            !cJSON_Compare(js_get(a->node[i], "shape"), js_get(b->node[i], "shape"), true))
            return false;
    }
    for (int i = 0; i < a->n_child; i++) {
        if (!tree_like(a->child[i]->name, b->child[i]->name) || !same(a->child[i], b->child[i]))
            return false;
    }
    return true;
}

/* How many siblings from child i on are the same but for a number. */
static int alike(const branch *b, int i)
{
    int n = 1;
    while (i + n < b->n_child && tree_like(b->child[i]->name, b->child[i + n]->name) &&
           same(b->child[i], b->child[i + n]))
        n++;
    return n;
}

/* "layer.0", or "layer.0-11". */
static void name_alike(char out[NAME], const branch *b, int i, int n)
{
    const char *last = b->child[i + n - 1]->name, *digits = last + strcspn(last, "0123456789");
    snprintf(out, NAME, n > 1 ? "%s-%s" : "%s", b->child[i]->name, digits);
}

/* ---- printing ---- */

typedef struct printer {
    cJSON *rows;
    int depth; /* levels left */
} printer;

static const char rows_form[] = "[.!name|>|>parameters|>work|operations|result\n{name}\t[times>1?{times} x]\t"
                                "[parameters>0?{parameters}]\t[flops>0?{flops}]\t{operations}\t[last?{shape}]]";

/* The kinds of operations in a branch, by first appearance. */
static int gather_ops(const branch *b, bool deep, const char *kinds[], int n)
{
    for (int i = 0; i < b->n_node; i++) {
        const char *op = js_get_text(b->node[i], "op");
        int k = 0;
        while (k < n && strcmp(kinds[k], op) != 0)
            k++;
        if (k == n && n < KINDS)
            kinds[n++] = op;
    }
    for (int i = 0; deep && i < b->n_child; i++)
        n = gather_ops(b->child[i], true, kinds, n);
    return n;
}

static void add_ops(text *t, const branch *b, bool deep)
{
    const char *kinds[KINDS];
    int n = gather_ops(b, deep, kinds, 0);
    for (int i = 0; i < n && i <= KINDS_SHOWN; i++)
        text_add(t, "%s%s", i ? " " : "", i < KINDS_SHOWN ? kinds[i] : "...");
}

static const cJSON *last_node(const branch *b, bool deep)
{
    if (deep && b->n_child)
        return last_node(b->child[b->n_child - 1], true);
    return b->n_node ? b->node[b->n_node - 1] : NULL;
}

static void put_row(printer *p, const branch *b, const char *name, int level, int times, bool deep)
{
    ENDED_BY(text_free) text indented = {0}, ops = {0};
    const cJSON *last = last_node(b, deep);
    text_add(&indented, "%*s%s", 2 * level, "", name);
    add_ops(&ops, b, deep);
    cJSON *row = js_row(p->rows, "name:%s,times:%d,parameters:%g,flops:%g,operations:%s", text_str(&indented), times,
                        parameters(b), operations(b), text_str(&ops));
    js_flag(row, "last", last != NULL);
    cJSON_AddItemToObject(row, "shape", cJSON_Duplicate(js_get(last, "shape"), true));
}

static void put_children(printer *p, const branch *b, int level);

/* A chain of only children is one line: "encoder.layer". */
static void put_branch(printer *p, const branch *b, const char *name, int level, int times)
{
    if (b->n_child == 1 && b->n_node == 0 && b->parameters == 0) {
        char longer[NAME];
        snprintf(longer, sizeof longer, "%s%s%s", name, *name ? "." : "", b->child[0]->name);
        put_branch(p, b->child[0], longer, level, times);
        return;
    }
    bool deep = level + 1 >= p->depth || b->n_child == 0;
    put_row(p, b, name, level, times, deep);
    if (!deep)
        put_children(p, b, level + 1);
}

static void put_children(printer *p, const branch *b, int level)
{
    char name[NAME];
    for (int i = 0, n; i < b->n_child; i += n) {
        n = alike(b, i);
        name_alike(name, b, i, n);
        put_branch(p, b->child[i], name, level, n);
    }
}

/* ---- frames ---- */

static int number(const cJSON *node)
{
    return (int)js_get_number(node, "id", 0);
}

static int add_frame(frames *f, const char *name, int times, int outer)
{
    f->of = heap_grown(f->of, f->n, &f->cap, sizeof *f->of);
    f->of[f->n] = (struct frame){strdup(name), outer, times};
    if (!f->of[f->n].name)
        memory_failed(strlen(name) + 1, "the name of a frame");
    return f->n++;
}

static void place_twins(frames *f, const branch *b, const branch *first)
{
    for (int i = 0; i < b->n_node; i++) {
        const int id = number(b->node[i]), own = number(first->node[i]);
        f->twin[id] = f->twin[own], f->home[id] = f->home[own];
    }
    for (int i = 0; i < b->n_child; i++)
        place_twins(f, b->child[i], first->child[i]);
}

static void place_all(frames *f, const branch *b, int in, bool folded)
{
    char name[NAME];
    for (int i = 0; i < b->n_node; i++)
        f->home[number(b->node[i])] = in;
    for (int i = 0, n; i < b->n_child; i += n) {
        const branch *own = b->child[i];
        n = folded ? alike(b, i) : 1;
        name_alike(name, b, i, n);
        for (; own->n_child == 1 && own->n_node == 0 && n == 1; own = own->child[0]) {
            const size_t used = strlen(name);
            snprintf(name + used, sizeof name - used, "%s%s", used ? "." : "", own->child[0]->name);
        }
        place_all(f, own, add_frame(f, name, n, in), folded);
        for (int k = 1; k < n; k++)
            place_twins(f, b->child[i + k], b->child[i]);
    }
}

frames frames_make(const branch *root, int nodes, bool folded)
{
    const size_t n = (size_t)nodes + 1;
    frames f = {.home = heap_array(n, sizeof *f.home), .twin = heap_array(n, sizeof *f.twin)};
    for (int i = 0; i < nodes; i++)
        f.home[i] = -1, f.twin[i] = i;
    place_all(&f, root, -1, folded);
    return f;
}

void frames_free(frames *f)
{
    for (int i = 0; i < f->n; i++)
        free(f->of[i].name);
    free(f->of), free(f->home), free(f->twin);
}

void tree_print(const branch *root, int depth, FILE *f, bool color)
{
    printer p = {.rows = cJSON_CreateArray(), .depth = depth};
    branch own = *root; /* what has no place in the tree */
    own.n_child = 0;
    if (own.n_node)
        put_row(&p, &own, "(no name)", 0, 1, false);
    put_children(&p, root, 0);
    say_form(&(paper){f, color, 0, NULL}, p.rows, rows_form);
    cJSON_Delete(p.rows);
}
