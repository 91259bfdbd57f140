/* nesting.c - loops put one inside another: each is checked by what the target says of its role, whoever puts it, the
 * reader of the notation or a guess. */
#include "schedule/nest/nest.h"

#include <stdio.h>

static bool refuse(nesting *b, int which, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static bool refuse(nesting *b, int which, const char *fmt, ...) /* the first reason is kept */
{
    va_list v;
    va_start(v, fmt);
    if (!*b->why)
        vsnprintf(b->why, sizeof b->why, fmt, v), b->refused = which;
    va_end(v);
    return false;
}

/* Of what is staged: what the stages' shared loops stage of it */
static void keep_shared(stage *s)
{
    int n = 0;
    for (int i = 0; i < s->n_staging; i++)
        if (s->staging[i].shared)
            s->staging[n++] = s->staging[i];
    s->n_staging = n;
}

nesting nest_begin(const target *on, kernel *k, stage *s)
{
    const bool own = s != NULL;
    s = own ? s : &k->stage[k->main];
    nesting b = {.on = on, .k = k, .s = s, .into = own ? &s->nest : &k->shared, .shared = !own};
    b.into->n = 0;
    if (own)
        keep_shared(s);
    for (int a = 0; a < s->n_axis; a++) {
        b.left[a] = own ? nest_left(k, s, a, -1) : s->extent[a];
        if (own && k->n_stage > 1 && a < s->n_shared && b.left[a] == 1)
            b.left[a] = 0, b.outside |= 1u << a; /* nothing left to walk */
    }
    return b;
}

/* Two trips of a folded loop, and the element that both would write */
static bool refuse_fold(nesting *b, const loop *l)
{
    const char *letter = b->s->letter[l->axis];
    ENDED_BY(text_free) text element = {0};
    for (int i = 0; i < b->s->node->type.rank; i++)
        text_add(&element, "%s0", i ? "," : "");
    if (l->step < l->range)
        refuse(b, b->into->n, "axis %s folds: it cannot be %s, as %s = 0 and %s = %lld both write y[%s]", letter,
               l->role->done, letter, letter, (long long)l->step, text_str(&element));
    return refuse(b, b->into->n, "axis %s folds: it cannot be %s", letter, l->role->done);
}

/* What a loop's role says of where it stands */
static bool check_role(nesting *b, const loop *l)
{
    const char *letter = b->s->letter[l->axis];
    ENDED_BY(text_free) text have = {0};
    if (!l->role->folded && !l->role->parts && b->s->folds >> l->axis & 1)
        return refuse_fold(b, l);
    if (l->role->last && l->step != 1)
        return refuse(b, b->into->n, "the %s loop of %s must be its last, without a step", l->role->name, letter);
    if (!b->shared || l->role->shared)
        return true;
    for (int i = 0; i < b->on->n_role; i++)
        if (b->on->role[i].shared)
            text_add(&have, "%s%s%s", have.length ? " or " : "", i ? "@" : "", b->on->role[i].name);
    return refuse(b, b->into->n, "loops that stages share are %s", text_str(&have));
}

bool nest_put(nesting *b, int axis, int64_t step, int how)
{
    const loop l = {.axis = axis, .step = step, .range = b->left[axis], .role = &b->on->role[how]};
    if (*b->why || b->outside >> axis & 1)
        return !*b->why;
    if (b->into->n == MAX_LOOP)
        return refuse(b, b->into->n, "loop %d, at most %d expected", MAX_LOOP + 1, MAX_LOOP);
    if (l.range == 0 && b->s->extent[axis] != 0)
        return refuse(b, b->into->n, "axis %s is walked twice", b->s->letter[axis]);
    if (!check_role(b, &l))
        return false;
    /* a step beyond the extent is one clipped trip */
    b->left[axis] = step == 1 ? 0 : step < l.range ? step : l.range;
    b->into->loop[b->into->n++] = l;
    return true;
}

static bool refuse_result(nesting *b) /* copied */
{
    const memory_space *best = NULL;
    for (int i = 0; i < b->on->n_space; i++)
        if (!b->on->space[i].copied && (!best || b->on->space[i].level == b->on->near))
            best = !best || best->level != b->on->near ? &b->on->space[i] : best;
    return best ? refuse(b, -1, "the result is not copied, only fetched: +y@%s*%d", best->name, best->least)
                : refuse(b, -1, "the result is not copied");
}

bool nest_stage(nesting *b, stage *s, const staging *g)
{
    staging own = *g;
    own.loop = b->into->n - 1, own.shared = b->shared;
    if (*b->why || own.loop < 0)
        return false;
    if (own.load == MAX_LOADS && staging_copies(&own))
        return refuse_result(b);
    if (own.space && b->into->loop[own.loop].role->in_registers)
        return refuse(b, -1, "loop %s is within the register tile: operand %s can be staged at the loops outside it",
                      b->s->letter[b->into->loop[own.loop].axis], operand_called(own.load).s);
    const char *why = staging_copies(&own) ? nest_no_copy(b->k, s, own.load, b->shared) : NULL;
    if (why)
        return refuse(b, -1, "operand %s %s", operand_called(own.load).s, why);
    if (s->n_staging == MAX_STAGING)
        return refuse(b, -1, "operand %s is number %d that is staged, at most %d expected", operand_called(own.load).s,
                      MAX_STAGING + 1, MAX_STAGING);
    s->staging[s->n_staging++] = own;
    return true;
}

void nest_copy(nesting *b, stage *s, int load, int slices)
{
    const memory_space *in = b->on->space;
    if (load >= 0)
        nest_stage(b, s, &(staging){.load = load, .space = in, .stages = slices > in->least ? slices : in->least});
}

static int64_t loops_of(const nest *q, int n, const role *how) /* of the first n loops */
{
    int64_t count = 0;
    for (int i = 0; i < n; i++)
        count += q->loop[i].role == how;
    return count;
}

static bool check_order(nesting *b)
{
    const nest *q = b->into;
    bool tile = false;
    for (int i = 0; i < q->n; i++) {
        const loop *l = &q->loop[i];
        const role *how = l->role;
        const char *letter = b->s->letter[l->axis];
        const bool within = how->lanes && i == q->n - 2 && q->loop[i + 1].role->dot;
        if (how->dot && (!i || !q->loop[i - 1].role->lanes))
            return refuse(b, i, "the %s loop must be within one over lanes", how->name);
        if (how->last && i < q->n - 1 && !within)
            return refuse(b, i, "the %s loop must be the last", how->name);
        if (tile && !how->in_registers)
            return refuse(b, i, "serial loop %s inside an unrolled one", letter);
        tile = tile || how->in_registers;
        if (how->outer && i && !q->loop[i - 1].role->outer)
            return refuse(b, i, "loop %s is inside another: what is %s stands outside of all other loops", letter,
                          how->done);
        if (how->most && loops_of(q, i, how) == how->most)
            return how->most == 1 ? refuse(b, i, "a second @%s loop: one loop is %s", how->name, how->done)
                                  : refuse(b, i, "loop %s is number %lld that is %s, at most %lld expected", letter,
                                           (long long)how->most + 1, how->done, (long long)how->most);
        if (how->trips && loop_trips(l) > how->trips)
            return refuse(b, i, "%s would be %s %lld times; at most %lld", letter, how->done, (long long)loop_trips(l),
                          (long long)how->trips);
    }
    return true;
}

bool nest_end(nesting *b)
{
    if (*b->why || !check_order(b))
        return false;
    for (int a = 0; !b->shared && a < b->s->n_axis; a++)
        if (b->left[a] > 1)
            return refuse(b, -1, "no loop %s without a step: every axis ends in one", b->s->letter[a]);
    for (int i = 0; !b->shared && b->k->n_stage > 1 && i < b->into->n; i++)
        if (!b->into->loop[i].role->own)
            return refuse(b, i, "@%s belongs to the loops that the stages share", b->into->loop[i].role->name);
    return true;
}
