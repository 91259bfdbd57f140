/* loops.c - the pass that gives every kernel its loops, and every weight the layout in which its loops walk it.
 *
 * Requires: kernels from the fusion pass. Guarantees: every stage's nest walks all its axes; a load of a weight names
 * the entry of plan.leaf whose layout it expects. Each candidate that was refused is noted with its reason. */
#include "schedule/legal.h"
#include "schedule/mask.h"
#include "schedule/nest.h"
#include "schedule/resident.h"
#include "schedule/schema.h"

#include <string.h>

static void note(plan *p, kernel *k, const char *what)
{
    k->notes = arena_format(&p->mem, "%s%s\n", k->notes, what);
}

/* ---- loops ---- */
static bool guess(const plan *p, kernel *k, bool shared, err *e)
{
    text t = {0};
    bool ok = true;
    if (k->n_stage > 1 && shared) {
        p->on->guess->shared(p, k, &t);
        ok = nest_parse_shared(p->on, k, text_str(&t), e);
    }
    for (int i = 0; ok && i < k->n_stage; i++) {
        if (k->stage[i].nest.n)
            continue;
        t.len = 0;
        if (t.s)
            *t.s = 0;
        p->on->guess->stage(p, k, i, &t);
        ok = nest_parse_stage(p->on, k, i, text_str(&t), e);
        if (!ok)
            err_in(e, "guess \"%s\"", text_str(&t));
    }
    text_free(&t);
    return ok;
}

static void reset(kernel *k)
{
    k->shared.n = 0;
    for (int i = 0; i < k->n_stage; i++)
        k->stage[i].nest.n = k->stage[i].n_staging = 0;
}

/* What the guess's register tile has of each axis, on this machine: what rules call "tile". */
static void find_tiles(const plan *p, kernel *k)
{
    err e = {0};
    reset(k);
    const bool ok = stage_nested(k->stage) && guess(p, k, true, &e);
    for (int i = 0; i < k->n_stage; i++)
        for (int a = 0; a < k->stage[i].n_axis; a++) {
            stage *s = &k->stage[i];
            const int64_t left = ok ? nest_left(k, s, a, nest_unrolled(s) - 1) : 0;
            s->tile[a] = ok && left < 1 ? 1 : left;
        }
}

static bool try_loops(plan *p, kernel *k, const char *loops, err *e)
{
    reset(k);
    if (!stage_nested(k->stage))
        return !strcmp(loops, "guess") ||
               err_set(e, TS_BAD_INPUT,
                       "loops \"%s\": the loops of %s are its own and no others can be chosen: it is a routine, or "
                       "walks an axis with states, or stores where its indices say",
                       loops, k->stage->name);
    if (!strcmp(loops, "guess"))
        return guess(p, k, true, e) && nest_fits(p, k, loops, e);
    return nest_parse(p->on, k, loops, e) && guess(p, k, false, e) && nest_fits(p, k, loops, e);
}

static bool by_rule(plan *p, kernel *k, int at, bool *chosen, err *e)
{
    const rule *r = &p->schema->rule[at];
    text all = {0};
    *chosen = false;
    for (int i = 0; i < r->n_loops && !*chosen; i++) {
        err why = {0};
        if (try_loops(p, k, r->loops[i], &why)) {
            k->rule = r->name, k->asked = r->loops[i], *chosen = true;
            k->guessed = i && !strcmp(r->loops[i], "guess");
            if (*k->lost)
                note(
                    p, k,
                    arena_format(&p->mem,
                                 "loops \"%s\": %s is walked once, for its axis has one element or is part of another; "
                                 "what else it says is left aside",
                                 r->loops[i], k->lost));
            break;
        }
        text_add(&all, "\n  %s", why.text);
        note(p, k, why.text);
        schema_refuse(p, at, k, why.text);
    }
    if (!*chosen && r->n_loops && !r->optional) {
        err_set(e, TS_BAD_INPUT, "%s: rule \"%s\" on %s %s: every alternative is refused:%s", r->loops_place, r->name,
                k->op, k->label, text_str(&all));
        err_hint(e, "add \"guess\" to its loops, or \"optional\": true to pass on to the next rule");
    }
    text_free(&all);
    return !err_is(e);
}

static bool choose(plan *p, kernel *k, const rule **used, err *e)
{
    *used = NULL;
    for (int at = 0; p->schema && (at = schema_match(p->schema, k, at)) >= 0; at++) {
        const rule *r = &p->schema->rule[at];
        bool chosen = false;
        if (r->n_loops || r->n_layout)
            find_tiles(p, k);
        if (r->n_loops && !by_rule(p, k, at, &chosen, e))
            return false;
        if (!chosen && r->n_loops)
            continue;
        *used = r;
        p->rule_used[at] = true;
        if (!chosen)
            k->rule = r->name;
        if (chosen)
            return true;
        break;
    }
    if (!*used)
        k->rule = "guess";
    return try_loops(p, k, "guess", e) || err_in(e, "kernel %d (%s)", (int)(k - p->kernel), k->op);
}

/* ---- layouts of weights ---- */
static bool is_part(const expr *x, const char *name, int64_t by, int *axis) /* an axis / by, or an axis % by */
{
    if (x->kind != X_CALL || strcmp(x->fn->name, name) || x->arg[0]->kind != X_AXIS || x->arg[1]->kind != X_LIT ||
        x->arg[1]->whole != by)
        return false;
    return *axis = x->arg[0]->axis, true;
}

/* Every subscript one axis of its own, or a constant 0; or two of them one axis, merged: a / n and a % n. */
static bool walked_axes(const expr *x, int *axis)
{
    uint32_t seen = 0;
    for (int i = 0; i < x->n; i++) {
        const int64_t next = i + 1 < x->n ? x->from->type.dim[i + 1] : 0;
        int a = x->arg[i]->kind == X_AXIS ? x->arg[i]->axis : -1, low;
        axis[i] = -1;
        if (x->arg[i]->kind == X_LIT && x->from->type.dim[i] == 1)
            continue;
        const bool two = next && is_part(x->arg[i], "floordiv", next, &a) &&
                         is_part(x->arg[i + 1], "mod", next, &low) && low == a;
        if (a < 0 || (x->arg[i]->kind != X_AXIS && !two) || seen >> a & 1)
            return false;
        seen |= 1u << a, axis[i] = a;
        if (two)
            axis[++i] = a;
    }
    return true;
}

static bool is_merged(int n, const int *axis, int d)
{
    return axis[d] >= 0 && ((d > 0 && axis[d - 1] == axis[d]) || (d + 1 < n && axis[d + 1] == axis[d]));
}

static bool plain_axes(const expr *x, int *axis) /* none of them merged */
{
    bool plain = walked_axes(x, axis);
    for (int d = 0; plain && d < x->n; d++)
        plain = !is_merged(x->n, axis, d);
    return plain;
}

/* The order in which the loops walk the operand: staging applied once, when the weight is loaded. */
static bool walked(const stage *s, const expr *x, const int *axis, layout *y)
{
    int64_t left[MAX_RANK];
    y->n = 0;
    memcpy(left, x->from->type.dim, sizeof left);
    for (int l = 0; l < s->nest.n; l++)
        for (int d = 0; d < x->n; d++) {
            const loop *q = &s->nest.loop[l];
            if (axis[d] != q->axis || left[d] <= 1)
                continue;
            if (q->step > 1 && is_merged(x->n, axis, d))
                return false;
            const int64_t step = q->step < left[d] ? q->step : left[d];
            if (!layout_digit(y, d, step, left[d]))
                return false;
            left[d] = step;
        }
    return layout_seal(y, &x->from->type);
}

static int leaf_entry(plan *p, const node *n, const layout *y)
{
    for (int i = 0; i < p->n_leaf; i++)
        if (p->leaf[i].node == n && layout_same(&p->leaf[i].layout, y))
            return i;
    if (p->n_leaf == p->cap_leaf) {
        const int cap = p->cap_leaf ? 2 * p->cap_leaf : 256;
        packed *more = arena_array(&p->mem, (size_t)cap, sizeof *more);
        if (p->n_leaf)
            memcpy(more, p->leaf, (size_t)p->n_leaf * sizeof *more);
        p->leaf = more, p->cap_leaf = cap;
    }
    p->leaf[p->n_leaf] = (packed){n, *y};
    return p->n_leaf++;
}

static const char *rule_layout_of(const rule *r, int load)
{
    for (int i = 0; r && i < r->n_layout; i++)
        if (r->layout[i].operand[0] == 'a' + load && !r->layout[i].operand[1])
            return r->layout[i].text;
    return NULL;
}

static void note_layouts(plan *p, kernel *k, const rule *r) /* those that cannot be followed */
{
    const stage *s = &k->stage[k->main];
    for (int i = 0; r && i < r->n_layout; i++) {
        const int load = r->layout[i].operand[0] - 'a';
        const node *n = load < s->n_load ? s->load[load]->from : NULL;
        int axis[MAX_RANK];
        const char *why = !n                                        ? "there is no such operand"
                          : !n->leaf || n->leaf->kind == LEAF_INPUT ? "only weights and constants are laid out"
                          : s->value->kind == X_ROUTINE             ? "a routine takes it in rows"
                          : !plain_axes(s->load[load], axis)        ? "it is not read along its dimensions"
                                                                    : NULL;
        if (why)
            note(p, k,
                 arena_format(&p->mem, "layout of %s by rule \"%s\" left aside: %s", r->layout[i].operand, r->name,
                              why));
    }
}

static bool lay_out(plan *p, kernel *k, int which, const rule *r, err *e)
{
    stage *s = &k->stage[which];
    s->leaf = arena_array(&p->mem, (size_t)s->n_load + 1, sizeof *s->leaf);
    for (int i = 0; i < s->n_load; i++) {
        const node *n = s->load[i]->from;
        const char *wanted = rule_layout_of(r, i);
        int axis[MAX_RANK];
        layout y;
        s->leaf[i] = -1;
        if (!n->leaf || n->leaf->kind == LEAF_INPUT)
            continue;
        layout_rows(&y, &n->type);
        const bool plain = s->value->kind != X_ROUTINE && plain_axes(s->load[i], axis),
                   matrix = n->type.rank > 1 && (type_count(&n->type) >= 4096 || stage_given(s) >= 0);
        if (wanted && plain) {
            const char *letter[MAX_RANK];
            int64_t tile[MAX_RANK];
            for (int d = 0; d < n->type.rank; d++)
                letter[d] = axis[d] < 0 ? "?" : s->letter[axis[d]], tile[d] = axis[d] < 0 ? 0 : s->tile[axis[d]];
            if (!layout_parse(&y, &n->type, letter, tile, wanted, e))
                return err_in(e, "%s: rule \"%s\" on %s %s, operand %c", r->place, r->name, k->op, k->label, 'a' + i);
        } else if (matrix && s->value->kind != X_ROUTINE && walked_axes(s->load[i], axis) && stage_fold(s) &&
                   k->n_stage == 1 && !p->reference) {
            if (!walked(s, s->load[i], axis, &y))
                layout_rows(&y, &n->type);
        }
        s->leaf[i] = leaf_entry(p, n, &y);
    }
    return true;
}

bool pass_loops(plan *p, err *e)
{
    p->streamed = resident_as_given(p) > target_bytes(p->on, target_last(p->on));
    for (int i = 0; i < p->n_kernel; i++) {
        kernel *k = &p->kernel[i];
        const rule *r;
        if (!choose(p, k, &r, e))
            return false;
        for (int s = 0; s < k->n_stage; s++)
            if (!lay_out(p, k, s, s == k->main ? r : NULL, e))
                return false;
        note_layouts(p, k, r);
        if (!r || !r->whole)
            mask_find(p, k);
        p->on->guess->prefetch(p, k);
    }
    return true;
}
