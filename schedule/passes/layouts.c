/* layouts.c - layouts by rule. A value lies as the first kernel says that makes it ("y") or reads it ("a", "b", ...),
 * and whoever else reads it finds it there. A kernel that copies it, element by element, so that bits stay, stands
 * between where it has to lie otherwise, too: an input comes in rows, results go in rows, routines take rows, and a
 * reader may ask for another layout than the one before it. Where no rule speaks, an operand that lies in rows is
 * copied into the blocks of a result whose vectors would gather each of its elements again and again. */
#include "schedule/passes/layouts.h"
#include "graph/affine/linear.h"
#include "graph/ir/rule.h"
#include "schedule/nest/nest.h"

#include <stdio.h>
#include <string.h>

/* ---- what walks the dimensions ---- */
static bool is_part(const expr *x, const char *name, int64_t by, int *axis) /* an axis / by, or an axis % by */
{
    if (!x_is_call(x, name) || x->arg[0]->kind != X_AXIS || x->arg[1]->kind != X_LIT || x->arg[1]->whole != by)
        return false;
    return *axis = x->arg[0]->axis, true;
}

/* The dimension, behind i, that walks what is left of an axis merged of both: a / n and a % n; -1: there is none */
static int other_part(const type *t, const expr *const *sub, int i, int *axis)
{
    for (int j = i + 1, low; j < t->rank; j++)
        if (is_part(sub[i], "floordiv", t->dim[j], axis) && is_part(sub[j], "mod", t->dim[j], &low) && low == *axis)
            return j;
    return -1;
}

/* Every subscript one axis of its own, or a constant 0; or two of them one axis, merged. */
bool layouts_walked(const stage *s, int load, int *axis)
{
    const expr *const *sub = stage_places(s, load);
    const type *t = &stage_value(s, load)->type;
    uint32_t seen = 0, known = 0; /* axes; dimensions */
    bool all = true;
    for (int i = 0; i < t->rank; i++) {
        int a = -1;
        if (known >> i & 1)
            continue;
        axis[i] = -1;
        if (sub[i]->kind == X_LIT && t->dim[i] == 1)
            continue;
        const int other = other_part(t, sub, i, &a);
        if (sub[i]->kind == X_AXIS)
            a = sub[i]->axis;
        if ((sub[i]->kind != X_AXIS && other < 0) || seen >> a & 1) {
            all = false;
            continue;
        }
        seen |= 1u << a, axis[i] = a;
        if (other >= 0)
            axis[other] = a, known |= 1u << other;
    }
    return all;
}

/* ---- what rules say ---- */
/* "conv2d2.b", or "b" where the rule is for that stage; NULL: the kernel has no such stage */
static stage *stage_of(const kernel *k, const rule_layout *y, int own)
{
    for (int i = 0; y->stage && i < k->n_stage; i++)
        if (word_is(k->stage[i].name, y->operand, y->stage))
            return &k->stage[i];
    return y->stage ? NULL : &k->stage[own];
}

const char *layouts_said(const rule *r, const kernel *k, const stage *s, int load, int own)
{
    for (int i = 0; r && i < r->n_layout; i++)
        if (r->layout[i].load == load && stage_of(k, &r->layout[i], own) == s)
            return r->layout[i].text;
    return NULL;
}

static const char *cannot(const plan *p, const kernel *k, const stage *s, int load)
{
    const node *n = s && (load == MAX_LOADS || load < s->n_load) ? stage_value(s, load) : NULL;
    const int by = n ? kernel_stage(k, n) : -1;
    if (!n)
        return s ? "there is no such operand" : "there is no such stage";
    if (by >= 0 && k->stage[by].scratch)
        return "it is in the kernel only, row by row";
    if (p->n_crossing && !node_is_weight(n))
        return "over several devices values lie in rows";
    if (!stage_nested(s))
        return load == MAX_LOADS ? "a routine makes it in rows" : "a routine takes it in rows";
    return NULL;
}

void layouts_note(plan *p, kernel *k, const rule *r, int own)
{
    for (int i = 0; r && i < r->n_layout; i++) {
        const char *why = cannot(p, k, stage_of(k, &r->layout[i], own), r->layout[i].load);
        if (why)
            kernel_note(p, k,
                        arena_format(&p->mem, "layout of %s by rule \"%s\" left aside: %s", r->layout[i].operand,
                                     r->name, why));
    }
}

/* Without axes that the operation has, and of which there is one element here */
static text without(const kernel *k, const stage *s, const char *said)
{
    text t = {0};
    for (const char *at = said + strspn(said, " "); *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " "), name = strcspn(at, " /");
        if (!names_left_out(k, s, at, name))
            text_add(&t, t.length ? " " : ""), text_bytes(&t, at, n);
        at += n;
    }
    return t;
}

bool layouts_read(const kernel *k, const stage *s, int load, const char *said, layout *y, err *e)
{
    const type *t = &stage_value(s, load)->type;
    const char *letter[MAX_RANK];
    int64_t tile[MAX_RANK];
    int axis[MAX_RANK];
    layouts_walked(s, load, axis);
    for (int d = 0; d < t->rank; d++)
        letter[d] = axis[d] < 0 ? "" : s->letter[axis[d]], tile[d] = axis[d] < 0 ? 0 : s->tile[axis[d]];
    text some = without(k, s, said);
    err short_of_some = {0}; /* refusals are about what was said */
    const bool ok = layout_parse(y, t, letter, tile, text_str(&some), &short_of_some);
    text_free(&some);
    return ok || (layout_parse(y, t, letter, tile, said, e) && err_set(e, TS_BAD_INPUT, "%s", short_of_some.text));
}

/* ---- kernels between two layouts ---- */
typedef struct added { /* before kernel `at`, or behind it */
    int at;
    bool behind;
    kernel kernel;
} added;
typedef struct following {
    plan *p;
    int n_said, n_added; /* layouts that rules say of kernels, or that blocks want: at most as many kernels are added */
    added *added;
    int n_node;
    bool *fixed, *whole, *root; /* by node id: its layout is settled; a routine makes or takes it; it is a result */
    const node **last;          /* the last copy of it in another layout, or NULL; the one before is its operand */
} following;

static const node *same_value(following *f, const node *n)
{
    const expr *sub[MAX_RANK];
    for (int d = 0; d < n->type.rank; d++)
        sub[d] = x_axis(&f->p->mem, d);
    return g_formula_of(f->p->g, x_load(&f->p->mem, n, sub));
}

/* A node for the same value elsewhere, which this plan does not have yet */
static const node *another(following *f, const node *n, const layout *y)
{
    plan *p = f->p;
    const node *c = f->last[n->id] ? f->last[n->id] : n;
    do
        c = same_value(f, c);
    while (c && c->id < p->n_buffer && p->buffer[c->id].layout.size);
    if (!c)
        return NULL;
    if (p->n_buffer < p->g->n)
        p->n_buffer = p->g->n;
    p->buffer[c->id] = (buffer){.layout = *y};
    return f->last[n->id] = c;
}

static const node *another_so(const following *f, const node *n, const layout *y) /* NULL: none lies so yet */
{
    for (const node *c = f->last[n->id]; c && c != n; c = c->in[0])
        if (c->id < f->p->n_buffer && layout_same(&f->p->buffer[c->id].layout, y))
            return c;
    return NULL;
}

/* to[i,j] = from[i,j], where stage s walks one of both as its value `load` */
static kernel copying(const following *f, const kernel *k, const stage *s, int load, const node *from, const node *to)
{
    plan *p = f->p;
    const type *t = &from->type;
    stage *c = arena_get(&p->mem, sizeof *c);
    const expr *sub[MAX_RANK];
    int axis[MAX_RANK];
    layouts_walked(s, load, axis);
    *c = (stage){.node = to, .name = "convert", .whole = to};
    for (int d = 0; d < t->rank; d++) {
        const int a = c->n_axis;
        c->low[d] = 0, c->count[d] = t->dim[d];
        if (t->dim[d] == 1) {
            sub[d] = c->store[d] = x_whole(&p->mem, 0);
            continue;
        }
        sub[d] = c->store[d] = x_axis(&p->mem, a);
        c->extent[a] = t->dim[d], c->dim[a] = d, c->n_axis++;
        if (axis[d] >= 0 && s->extent[axis[d]] == t->dim[d]) {
            memcpy(c->letter[a], s->letter[axis[d]], MAX_LETTER);
            c->varies[a] = s->varies[axis[d]];
        } else
            snprintf(c->letter[a], MAX_LETTER, "d%u", (unsigned)d % MAX_RANK);
    }
    c->n_result = c->n_axis, c->value = x_load(&p->mem, from, sub);
    memcpy(c->own, c->letter, sizeof c->own);
    stage_finish(p, c);
    kernel one = {.op = "convert",
                  .label = *from->label ? from->label
                           : *to->label ? to->label
                                        : k->label,
                  .whole = to,
                  .n_stage = 1,
                  .stage = c,
                  .rule = "",
                  .notes = "",
                  .converts = true,
                  .site = k->site};
    kernel_measure(&one);
    return one;
}

typedef struct exchange {
    arena *mem;
    const node *from, *to;
} exchange;

static const expr *exchanged(void *user, const expr *x)
{
    const exchange *c = user;
    return x->kind == X_LOAD && x->from == c->from ? x_load(c->mem, c->to, x->arg) : x;
}

static void read_instead(following *f, stage *s, const node *from, const node *to)
{
    exchange c = {&f->p->mem, from, to};
    s->value = x_map(&f->p->mem, s->value, exchanged, &c);
    stage_finish(f->p, s);
}

static bool no_node(const plan *p, err *e)
{
    return err_set(e, p->g->err.code ? p->g->err.code : TS_UNSUPPORTED, "%s",
                   p->g->err.code ? p->g->err.text : "no node for a value in another layout");
}

/* ---- a value ---- */
static bool place_result(following *f, int at, stage *s, const layout *y, err *e)
{
    plan *p = f->p;
    kernel *k = &p->kernel[at];
    const node *n = s->node, *there;
    f->fixed[n->id] = true;
    if (layout_same(&p->buffer[n->id].layout, y))
        return true;
    if (!f->root[n->id] && !f->whole[n->id])
        return p->buffer[n->id].layout = *y, true;
    if (!(there = another(f, n, y)))
        return no_node(p, e);
    f->added[f->n_added++] = (added){at, true, copying(f, k, s, MAX_LOADS, there, n)};
    s->node = there;
    for (int i = 0; i < k->n_stage; i++)
        read_instead(f, &k->stage[i], n, there);
    return true;
}

static bool place_operand(following *f, int at, stage *s, int load, const layout *y, err *e)
{
    plan *p = f->p;
    const node *n = s->load[load]->from, *there = another_so(f, n, y);
    const bool stays = f->fixed[n->id] || f->root[n->id] || f->whole[n->id] || n->leaf;
    if (layout_same(&p->buffer[n->id].layout, y))
        return f->fixed[n->id] = true;
    if (!stays)
        return f->fixed[n->id] = true, p->buffer[n->id].layout = *y, true;
    if (!there && kernel_stage(&p->kernel[at], n) >= 0) {
        kernel_note(p, &p->kernel[at], "an operand that the kernel makes itself lies as its result");
        return true;
    }
    if (!there) {
        if (!(there = another(f, n, y)))
            return no_node(p, e);
        f->added[f->n_added++] = (added){at, false, copying(f, &p->kernel[at], s, load, n, there)};
    }
    return read_instead(f, s, n, there), true;
}

/* A rule serves many kernels: one whose operand has other axes than the operation's letters say is skipped, not
 * refused. */
static bool passed_over(plan *p, kernel *k, const stage *s, int load, const rule_layout *y, err *e)
{
    int axis[MAX_RANK];
    if (layouts_walked(s, load, axis))
        return false;
    kernel_note(p, k, arena_format(&p->mem, "layout of %s left aside: %s", y->operand, e->text));
    *e = (err){0};
    return true;
}

static bool follow(following *f, int at, const rule *r, int own, err *e)
{
    plan *p = f->p;
    kernel *k = &p->kernel[at];
    for (int i = 0; r && i < r->n_layout; i++) {
        const int load = r->layout[i].load;
        stage *s = stage_of(k, &r->layout[i], own);
        layout y;
        if (cannot(p, k, s, load) || node_is_weight(stage_value(s, load)) || !type_count(&stage_value(s, load)->type))
            continue;
        if (r->layout[i].tiles)
            choose_tiles(p, k);
        if (!layouts_read(k, s, load, r->layout[i].text, &y, e))
            return passed_over(p, k, s, load, &r->layout[i], e) ||
                   err_in(e, "%s: rule \"%s\" on %s %s, operand %s", r->place, r->name, k->op, k->label,
                          r->layout[i].operand);
        if (!(load == MAX_LOADS ? place_result(f, at, s, &y, e) : place_operand(f, at, s, load, &y, e)))
            return false;
    }
    return true;
}

/* ---- where no rule speaks ---- */
/* Times that a stage reads each element of an operand, from which on a copy costs less than gathers */
enum { OFTEN = 4 };

static bool read_often(const stage *s, int load) /* within sums, or behind them */
{
    double reads = 1;
    for (int i = 0; i < (load < s->n_folded ? s->n_axis : s->n_result); i++)
        reads *= (double)s->extent[i];
    return reads >= OFTEN * (double)type_count(&s->load[load]->from->type);
}

static bool walks(const stage *s, const expr *sub, int axis) /* that axis alone, from 0 on */
{
    linear l;
    bool found = false;
    if (!linear_of(sub, &l) || l.plus)
        return false;
    for (int i = 0; i < l.n; i++) {
        const bool at = l.atom[i]->kind == X_AXIS, one = at && s->extent[l.atom[i]->axis] == 1;
        if (at && l.atom[i]->axis == axis && l.by[i] == 1)
            found = true;
        else if (!one)
            return false;
    }
    return found;
}

/* The blocks of the result for an operand of which they walk a dimension of rows that is not the last. */
static bool gathered(const plan *p, const stage *s, int operand, layout *y)
{
    const expr *load = s->load[operand];
    const layout *to = &p->buffer[s->node->id].layout;
    const type *t = &load->from->type;
    if (node_is_weight(load->from) || !layout_in_blocks(to) || !read_often(s, operand) ||
        !layout_is_rows(&p->buffer[load->from->id].layout, t))
        return false;
    const digit *block = &to->digit[to->n - 1];
    const expr *at = s->store[block->dim];
    int dim = 0;
    while (dim < t->rank - 1 && !(at->kind == X_AXIS && walks(s, load->arg[dim], at->axis)))
        dim++;
    if (dim >= t->rank - 1 || t->dim[dim] < block->span)
        return false;
    *y = (layout){0};
    for (int d = 0; d < t->rank; d++)
        layout_digit(y, d, d == dim ? block->span : 1, t->dim[d]);
    layout_digit(y, dim, 1, block->span);
    return layout_seal(y, t);
}

/* The stage of a kernel of which operands may be copied so, or NULL */
static stage *alone(const plan *p, const kernel *k)
{
    return k->n_stage == 1 && stage_nested(k->stage) && !p->n_crossing ? k->stage : NULL;
}

static bool bring(following *f, int at, err *e)
{
    stage *s = alone(f->p, &f->p->kernel[at]);
    layout y;
    for (int i = 0; s && i < s->n_load; i++)
        if (gathered(f->p, s, i, &y) && !place_operand(f, at, s, i, &y, e))
            return false;
    return true;
}

/* ---- the pass ---- */
static const rule *first_rule(const plan *p, const kernel *k, int which) /* which -1: for the kernel */
{
    const int at = !p->schema  ? -1
                   : which < 0 ? schema_match(p->schema, k, 0)
                               : schema_match_stage(p->schema, k, which, 0);
    return at < 0 ? NULL : &p->schema->rule[at];
}

static void count_said(following *f)
{
    const plan *p = f->p;
    for (int i = 0; i < p->n_kernel; i++) {
        const stage *s = alone(p, &p->kernel[i]);
        layout y;
        for (int l = 0; s && l < s->n_load; l++)
            f->n_said += gathered(p, s, l, &y);
        for (int j = -1; j < p->kernel[i].n_stage; j++) {
            const rule *r = first_rule(p, &p->kernel[i], j);
            f->n_said += r ? r->n_layout : 0;
        }
    }
}

static void find_whole(following *f)
{
    const plan *p = f->p;
    for (int i = 0; i < p->n_root; i++)
        f->root[p->root[i]->id] = true;
    for (int i = 0; i < p->n_kernel; i++)
        for (int j = 0; j < p->kernel[i].n_stage; j++) {
            const stage *s = &p->kernel[i].stage[j];
            if (s->over)
                f->whole[s->over->id] = f->whole[s->node->id] = true;
            if (stage_nested(s))
                continue;
            f->whole[s->node->id] = true;
            for (int l = 0; l < s->n_load; l++)
                f->whole[s->load[l]->from->id] = true;
        }
}

static void put_in_order(following *f)
{
    plan *p = f->p;
    kernel *all = arena_array(&p->mem, (size_t)(p->n_kernel + f->n_added) + 1, sizeof *all);
    int n = 0;
    for (int i = 0, a = 0; i < p->n_kernel; i++) {
        const int first = a;
        for (; a < f->n_added && f->added[a].at == i; a++)
            if (!f->added[a].behind)
                all[n++] = f->added[a].kernel;
        all[n++] = p->kernel[i];
        for (int b = first; b < a; b++)
            if (f->added[b].behind)
                all[n++] = f->added[b].kernel;
    }
    p->kernel = all, p->n_kernel = n;
}

bool layouts_follow(plan *p, err *e)
{
    following f = {.p = p};
    if (p->reference)
        return true;
    count_said(&f);
    if (!f.n_said)
        return true;
    const size_t n = (size_t)p->g->n + (size_t)f.n_said + 1;
    ENDED_BY(arena_free) arena mem = {0};
    buffer *all = arena_array(&p->mem, n, sizeof *all);
    memcpy(all, p->buffer, (size_t)p->n_buffer * sizeof *all), p->buffer = all;
    f.added = arena_array(&mem, (size_t)f.n_said, sizeof *f.added);
    f.fixed = arena_array(&mem, n, sizeof *f.fixed), f.whole = arena_array(&mem, n, sizeof *f.whole);
    f.root = arena_array(&mem, n, sizeof *f.root), f.last = arena_array(&mem, n, sizeof *f.last);
    find_whole(&f);
    bool ok = true;
    for (int i = 0; ok && i < p->n_kernel; i++) {
        for (int s = -1; ok && s < p->kernel[i].n_stage; s++)
            ok = follow(&f, i, first_rule(p, &p->kernel[i], s), s < 0 ? p->kernel[i].main : s, e);
        ok = ok && bring(&f, i, e);
    }
    if (ok)
        put_in_order(&f);
    return ok;
}
