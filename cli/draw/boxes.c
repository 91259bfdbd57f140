/* boxes.c - folding the nodes of a picture into boxes, in this order: recipes into their results, what weights alone
 * decide into nothing, cheap steps into what they follow, equal layers into the first, inputs of equal use into one. */
#include "cli/draw/boxes.h"

#include "graph/base/base.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { CHEAP = 16, CHEAP_RECIPE = 4 }; /* FLOPs for an element, at most */

typedef struct folding {
    boxes *b;
    bool *constant;        /* by id: made of weights alone */
    int *readers, *reader; /* by id, once recipes are folded: how many boxes read it, 2 for many; the last one */
    frames frames;         /* of every layer */
} folding;

static int number(const cJSON *o, const char *name)
{
    return (int)js_get_number(o, name, 0);
}

bool box_is_leaf(const cJSON *node)
{
    const cJSON *in = js_get(node, "in");
    return !in || !in->child;
}

bool box_is_weight(const cJSON *node)
{
    return box_is_leaf(node) && strcmp(js_get_text(node, "op"), "input") != 0;
}

static int result_of(const boxes *b, int id) /* the recipe's that it is a step of; itself */
{
    while (b->box[id] > id)
        id = b->box[id];
    return id;
}

int box_step(const boxes *b, int id)
{
    return b->twin[result_of(b, id)];
}

int box_of(const boxes *b, int id)
{
    id = box_step(b, id);
    while (id >= 0 && b->box[id] != id)
        id = b->box[id];
    return id;
}

double box_work(const boxes *b, int id)
{
    const cJSON *i;
    double sum = 0;
    if (!b->recipe[id])
        return js_get_number(b->node[id], "flops", 0);
    cJSON_ArrayForEach(i, js_get(b->recipe[id], "nodes")) sum += js_get_number(b->node[i->valueint], "flops", 0);
    return sum;
}

/* ---- recipes ---- */

/* Outer recipes come after those within them: the last one that holds a node decides. */
static void fold_recipes(boxes *b, const cJSON *model, const char *expand)
{
    const cJSON *r, *id;
    cJSON_ArrayForEach(r, js_get(model, "groups"))
    {
        const int result = number(r, "result");
        if (expand && fnmatch(expand, js_get_text(r, "op"), 0) == 0)
            continue;
        cJSON_ArrayForEach(id, js_get(r, "nodes")) b->box[id->valueint] = result;
        b->recipe[result] = r;
    }
}

/* ---- weights ---- */
static void fold_constants(folding *f, const cJSON *model)
{
    boxes *b = f->b;
    const cJSON *in, *o;
    for (int i = 0; i < b->n; i++) {
        f->constant[i] = box_is_weight(b->node[i]) || !box_is_leaf(b->node[i]);
        cJSON_ArrayForEach(in, js_get(b->node[i], "in")) f->constant[i] = f->constant[i] && f->constant[in->valueint];
    }
    cJSON_ArrayForEach(o, js_get(model, "outputs")) f->constant[number(o, "node")] = false;
    for (int i = 0; i < b->n; i++)
        if (f->constant[i])
            b->box[i] = -1;
}

/* ---- cheap steps ---- */
static bool within(const frames *f, int inner, int outer)
{
    while (inner > outer && inner >= 0)
        inner = f->of[inner].outer;
    return inner == outer;
}

/* One within the other or beside it under another name ("conv1", "relu"), so that no step leaves the layer that it is
 * in. */
static bool near(const frames *f, int a, int b)
{
    const int x = f->home[a], y = f->home[b];
    if (x == y || x < 0 || y < 0)
        return x == y || f->of[x > y ? x : y].outer < 0;
    return within(f, x, y) || within(f, y, x) ||
           (f->of[x].outer == f->of[y].outer && !tree_like(f->of[x].name, f->of[y].name));
}

static void count_readers(folding *f, const cJSON *model)
{
    const boxes *b = f->b;
    const cJSON *in, *o;
    for (int i = 0; i < b->n; i++)
        cJSON_ArrayForEach(in, js_get(b->node[i], "in"))
        {
            const int from = box_of(b, in->valueint), to = box_of(b, i);
            if (from < 0 || from == to || (f->readers[from] && f->reader[from] == to))
                continue;
            f->readers[from]++, f->reader[from] = to;
        }
    cJSON_ArrayForEach(o, js_get(model, "outputs"))
    {
        const int from = box_of(b, number(o, "node"));
        if (from >= 0)
            f->readers[from] += 2;
    }
}

static bool cheap(const boxes *b, int id, double work, int after)
{
    const double n = tree_elements(b->node[id]);
    return work == 0 || (work <= (b->recipe[id] ? CHEAP_RECIPE : CHEAP) * n && n >= tree_elements(b->node[after]));
}

/* Of the operands of node i, one of the steps of id, which does so much work: the latest that nothing else reads, or
 * `found` if that is later. */
static int latest(const folding *f, int id, double work, int i, int found)
{
    const cJSON *in;
    cJSON_ArrayForEach(in, js_get(f->b->node[i], "in"))
    {
        const int a = result_of(f->b, in->valueint);
        if (a > found && a != id && !f->constant[a] && !box_is_leaf(f->b->node[a]) && f->readers[a] == 1 &&
            near(&f->frames, a, id) && cheap(f->b, id, work, a))
            found = a;
    }
    return found;
}

static int followed(const folding *f, int id) /* the step in whose box it may stand, or -1 */
{
    const cJSON *r = f->b->recipe[id], *i;
    const double work = box_work(f->b, id);
    int found = r ? -1 : latest(f, id, work, id, -1);
    cJSON_ArrayForEach(i, js_get(r, "nodes")) found = latest(f, id, work, i->valueint, found);
    return found;
}

static void fold_steps(folding *f)
{
    boxes *b = f->b;
    for (int i = 0; i < b->n; i++) {
        const int after = b->box[i] != i || box_is_leaf(b->node[i]) ? -1 : followed(f, i);
        if (after < 0)
            continue;
        b->next[after] = i;
        b->box[i] = box_of(b, after);
    }
}

/* ---- inputs ---- */
static uint64_t mixed(uint64_t h, uint64_t v)
{
    return (h ^ v) * 0x9E3779B97F4A7C15u;
}

typedef struct use {
    uint64_t by;    /* who reads it, as one of equal layers, and its dtype and shape */
    int id, reader; /* one that reads it, as itself; -1: none */
} use;

static int by_use(const void *a, const void *b)
{
    const use *x = a, *y = b;
    return x->by != y->by ? x->by < y->by ? -1 : 1 : x->id - y->id;
}

static void find_uses(const boxes *b, use *all)
{
    const cJSON *in, *d;
    for (int i = 0; i < b->n; i++) {
        all[i] = (use){1, i, -1};
        for (const char *c = js_get_text(b->node[i], "dtype"); *c; c++)
            all[i].by = mixed(all[i].by, (unsigned char)*c);
        cJSON_ArrayForEach(d, js_get(b->node[i], "shape")) all[i].by = mixed(all[i].by, (uint64_t)d->valuedouble);
    }
    for (int i = 0; i < b->n; i++)
        cJSON_ArrayForEach(in, js_get(b->node[i], "in"))
        {
            use *u = &all[in->valueint];
            u->by = mixed(u->by, (uint64_t)box_step(b, i) + 1), u->reader = i;
        }
}

/* The caches of equal layers. Two that one step reads stay two. */
static void fold_inputs(boxes *b)
{
    ENDED_BY(heap_free) use *all = heap_array((size_t)b->n + 1, sizeof *all);
    int n = 0;
    find_uses(b, all);
    for (int i = 0; i < b->n; i++)
        if (all[i].reader >= 0 && box_is_leaf(b->node[i]) && !box_is_weight(b->node[i]))
            all[n++] = all[i];
    if (n)
        qsort(all, (size_t)n, sizeof *all, by_use);
    for (int i = 1, first = 0; i < n; i++) {
        first = all[i].by == all[first].by ? first : i;
        if (all[i].reader != all[first].reader)
            b->twin[all[i].id] = all[first].id;
    }
}

/* ---- all of it ---- */
static void fold_all(folding *f, const cJSON *model, const branch *tree)
{
    const size_t n = (size_t)f->b->n;
    f->constant = heap_array(n + 1, sizeof *f->constant);
    f->readers = heap_array(n + 1, sizeof *f->readers), f->reader = heap_array(n + 1, sizeof *f->reader);
    f->frames = frames_make(tree, f->b->n, false);
    fold_constants(f, model);
    count_readers(f, model);
    fold_steps(f);
    frames layers = frames_make(tree, f->b->n, true);
    memcpy(f->b->twin, layers.twin, n * sizeof *layers.twin);
    fold_inputs(f->b);
    frames_free(&layers), frames_free(&f->frames);
    free(f->constant), free(f->readers), free(f->reader);
}

boxes boxes_make(const cJSON *model, const branch *tree, const fold *how)
{
    const cJSON *nodes = js_get(model, "nodes"), *node;
    const size_t n = (size_t)cJSON_GetArraySize(nodes);
    boxes b = {.node = heap_array(n + 1, sizeof *b.node), .recipe = heap_array(n + 1, sizeof *b.recipe)};
    b.twin = heap_array(n + 1, sizeof *b.twin), b.box = heap_array(n + 1, sizeof *b.box),
    b.next = heap_array(n + 1, sizeof *b.next);
    cJSON_ArrayForEach(node, nodes)
    {
        b.twin[b.n] = b.box[b.n] = b.n, b.next[b.n] = -1;
        b.node[b.n++] = node;
    }
    b.alike = heap_array(n + 1, sizeof *b.alike), b.last = heap_array(n + 1, sizeof *b.last);
    if (!how->whole) {
        fold_recipes(&b, model, how->expand);
        fold_all(&(folding){.b = &b}, model, tree);
    }
    for (int i = 0; i < b.n; i++)
        b.alike[b.twin[i]]++, b.last[b.twin[i]] = i;
    return b;
}

void boxes_free(boxes *b)
{
    free(b->node), free(b->recipe), free(b->twin), free(b->box), free(b->next);
    free(b->alike), free(b->last);
}
