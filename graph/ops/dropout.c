/* dropout.c - where a model leaves values out in training, and the same model with that done. A place is an operation
 * of the file, or whatever has a name; which elements stay is a pure function of seed, place and element (random.c), so
 * that a gradient, and a value computed again, meet the same ones. */
#include "graph/ir/rule.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME = 512 };

/* ---- helpers ---- */
static const node *thinned(graph *g, const node *x, const node *seed, double rate, uint64_t place)
{
    return g_apply_n(g, "random_dropout", NODES(x, seed),
                     ATTRS(attr_real("rate", rate), attr_int("salt", (int64_t)(place >> 33))));
}

/* ---- ONNX ---- */
static const node *of_file(const onnx_call *c, const node *x, double ratio, uint64_t place)
{
    return thinned(c->g, x, g_scalar(c->g, TS_I64, onnx_real(c, "seed", 0)), ratio, place);
}

/* In training each element stays with probability 1 - ratio, and is then divided by that; else nothing is left out, and
 * the place is kept for who trains. The mask, where asked for, is what ones become. */
static bool adapt_dropout(const onnx_call *c, const node **out, err *e)
{
    double ratio = onnx_real(c, "ratio", 0.5), training = 0;
    if (!onnx_number(c, 1, &ratio, e) || !onnx_number(c, 2, &training, e))
        return false;
    if (!(ratio >= 0 && ratio < 1))
        return err_set(e, TS_BAD_INPUT, "Dropout: ratio %g is outside 0...1", ratio);
    graph *g = c->g;
    const node *x = c->in[0], *kept = g_broadcast(g, g_scalar(g, TS_BOOL, 1), x->type.rank, x->type.dim);
    const bool real = dtype_class(x->type.dtype) == D_REAL, drops = training != 0 && ratio > 0;
    const attr rate = attr_real("rate", ratio);
    const uint64_t place = drops ? (uint64_t)g_own(g) << 2 : 0;
    const node *thin = drops ? of_file(c, x, ratio, place) : real && ratio > 0 ? g_apply(g, "dropout", x, 1, &rate) : x;
    if (!onnx_give(c, out, thin, e))
        return false;
    if (c->n_out < 2)
        return true;
    if (drops)
        kept = g_call2(g, "not_equal", of_file(c, g_filled(g, &x->type, 1), ratio, place), g_scalar_like(g, x, 0));
    return onnx_give(c, out + 1, c->version < 10 ? g_cast(g, kept, x->type.dtype) : kept, e);
}

/* ---- passes: places by name ---- */
/* '/' as '.', without one in front: labels of nodes are paths like names of weights. */
static void as_path(const char *name, char *out)
{
    size_t n = 0;
    for (name += *name == '/'; *name && n + 1 < MOST_NAME; name++)
        out[n++] = *name == '/' ? '.' : *name;
    out[n] = 0;
}

typedef struct place {
    char name[MOST_NAME];
    const node *last; /* the newest node of it: what it gives */
} place;
typedef struct thinning {
    graph *g;
    const ts_dropout_options *asked;
    const char **scope; /* by id: the weight that a value is made of, if of weights alone; "": constants */
    place *place;
    int n_place, cap_place, n_hit;
    double rate;
    bool *hit; /* of each glob */
} thinning;

static void add_place(thinning *t, const char *name, const node *n)
{
    int i = 0;
    while (i < t->n_place && strcmp(t->place[i].name, name))
        i++;
    if (i == t->n_place) {
        t->place = heap_grown(t->place, i, &t->cap_place, sizeof *t->place);
        snprintf(t->place[i].name, sizeof t->place[i].name, "%s", name), t->n_place++;
    }
    t->place[i].last = n;
}

/* Assigns n to the shortest prefix of its path that a glob matches. */
static void name_places(thinning *t, const char *path, const node *n)
{
    char glob[MOST_NAME], part[MOST_NAME];
    const char *at = t->asked->on;
    for (int k = 0; line_next(&at, part, sizeof part); k++) {
        as_path(part, glob);
        for (size_t i = 1, end = strlen(path); i <= end; i++) {
            if (path[i] && path[i] != '.')
                continue;
            snprintf(part, sizeof part, "%.*s", (int)i, path);
            if (fnmatch(glob, part, 0))
                continue;
            add_place(t, part, n), t->hit[k] = true;
            break;
        }
    }
}

static void look_at(thinning *t, const node *n)
{
    char path[MOST_NAME];
    if (n->leaf) {
        t->scope[n->id] = n->leaf->kind == LEAF_WEIGHT ? n->label : n->leaf->kind == LEAF_CONST ? "" : NULL;
        return;
    }
    const char *made_of = n->n_in ? "" : NULL;
    for (int i = 0; i < n->n_in; i++) {
        const char *s = t->scope[n->in[i]->id];
        made_of = !s || !made_of ? NULL : *made_of ? made_of : s;
    }
    if ((t->scope[n->id] = made_of) || dtype_class(n->type.dtype) != D_REAL)
        return;
    as_path(n->label, path);
    if (*path)
        name_places(t, path, n);
    for (int i = 0; i < n->n_in; i++) {
        const char *s = t->scope[n->in[i]->id];
        as_path(s ? s : "", path);
        char *dot = strrchr(path, '.');
        if (dot)
            *dot = 0, name_places(t, path, n);
    }
}

static bool is_seeded(const node *n) /* dropout that the file has switched on */
{
    return !strcmp(n->op->name, "random_dropout") && n->in[1]->leaf && n->in[1]->leaf->kind == LEAF_CONST;
}

/* ---- passes ---- */
static const node *with_dropout(void *user, const node *old, const node *now)
{
    thinning *t = user;
    const bool marked = !strcmp(old->op->name, "dropout"), seeded = is_seeded(old);
    const ts_dropout_options *w = t->asked;
    char name[32];
    const char *where = NULL;
    double rate = w->rate;
    if (marked || seeded)
        now = now->in[0];
    if ((marked || seeded) && !w->on) {
        snprintf(name, sizeof name, "dropout %d", t->n_hit);
        where = name, rate = rate < 0 ? node_real(old, "rate") : rate;
    }
    for (int i = 0; i < t->n_place && !where; i++)
        where = t->place[i].last == old ? t->place[i].name : NULL;
    if (!where)
        return now;
    t->n_hit++;
    return rate > 0 ? thinned(t->g, now, w->seed, rate, quick_hash(where, strlen(where), 1)) : now;
}

static bool all_hit(thinning *t)
{
    char glob[MOST_NAME];
    const char *at = t->asked->on;
    for (int k = 0; line_next(&at, glob, sizeof glob); k++)
        if (!t->hit[k])
            return g_fail(t->g, TS_BAD_INPUT, "dropout on '%s': no operation or layer has such a name", glob), false;
    return true;
}

int ts_dropout(ts_graph *g, int n, const ts_tensor *t, const ts_dropout_options *asked, ts_tensor *out)
{
    if (!g_given(g, "what dropout is asked for", asked) || !g_all(g, "dropout", n, t))
        return -1;
    thinning s = {.g = g, .asked = asked, .scope = heap_array((size_t)g->n + 1, sizeof *s.scope)};
    ENDED_BY(heap_free) const node **need = heap_array((size_t)g->n + 1, sizeof *need);
    int globs = 1;
    for (const char *at = asked->on; at && *at; at++)
        globs += *at == '\n';
    s.hit = heap_array((size_t)globs, sizeof *s.hit);
    bool ok = true;
    if (!(asked->rate < 1))
        ok = (g_fail(g, TS_BAD_INPUT, "dropout: a rate of %g is not below 1", asked->rate), false);
    if (ok && asked->on) {
        const int count = g_reach(n, t, need);
        for (int i = 0; i < count; i++)
            look_at(&s, need[i]);
        ok = all_hit(&s);
    }
    ok = ok && g_rewrite(g, n, t, with_dropout, &s, out);
    free(s.scope), free(s.hit), free(s.place);
    return ok ? s.n_hit : -1;
}

/* ---- records ---- */
const op ops_dropout[] = {
    ELEMENT("dropout rate:f=0.5", "a", "a", NULL, "f32[2,3]\nf64[] rate=0.1",
            "The value itself: a place where training leaves elements out with probability `rate`.",
            .adapted = ADAPTED({"Dropout 1 ffb 1..3 >2 is_test ratio seed", adapt_dropout}),
            .onnx_cases = "Dropout f32[3]", .back = "Dropout a", .trained = "in=2"),
    {0},
};
