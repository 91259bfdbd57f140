/* copy.c - staging into scratch: what the inner loops read of an operand is copied once, in the order in which they
 * walk it, so that a transposed operand is read in rows by the tile. */
#include "backends/codegen/emit.h"

#include <stdio.h>
#include <string.h>

/* What a full trip of a loop leaves of an axis: a loop that stages share, or one of the stage's own. */
static int64_t left_in(const emitter *m, int a, bool shared, int l)
{
    return shared ? nest_left_shared(m->k, m->s, a, l) : nest_left(m->k, m->s, a, l);
}

/* The order of the copy's axes, from outside in: as the loops under it walk them, the vector axis last; first those
 * that only later shared loops walk. */
static int walk_order(const emitter *m, uint32_t axes, bool shared, int l, int *order)
{
    const stage *s = m->s;
    int n = 0, vector = -1;
    uint32_t own = 0;
    for (int i = 0; i < s->nest.n; i++) {
        own |= 1u << s->nest.loop[i].axis;
        if (s->nest.loop[i].role->lanes)
            vector = s->nest.loop[i].axis;
    }
    for (int a = 0; shared && a < s->n_shared; a++)
        if ((axes & ~own) >> a & 1 && left_in(m, a, true, l) > 1)
            order[n++] = a;
    for (int i = 0; i < s->nest.n; i++) {
        const int a = s->nest.loop[i].axis;
        if (!(axes >> a & 1) || a == vector)
            continue;
        axes &= ~(1u << a);
        order[n++] = a;
    }
    if (vector >= 0 && axes >> vector & 1)
        order[n++] = vector;
    return n;
}

/* How far apart in memory the operand's neighbours along each axis of the order are; false when that is not all there
 * is to its place. */
static bool find_strides(emitter *m, int load, const int *order, int n, int64_t *stride)
{
    space sp = {.mem = m->mem};
    const lin *axis[MAX_AXIS], *sub[MAX_RANK];
    const expr *x = m->s->load[load];
    int v[MAX_AXIS];
    for (int a = 0; a < m->s->n_axis; a++)
        axis[a] = lin_var(&sp, v[a] = var_add(&sp, "", 0, 1 << 20));
    for (int i = 0; i < x->n; i++)
        sub[i] = lin_of(&sp, x->arg[i], axis);
    const lin *at = layout_offset(&sp, m->data.operand[m->data.source[m->stage.at][load].operand].layout, sub);
    for (int i = 0; i < n; i++)
        stride[order[i]] = lin_coef(at, v[order[i]]);
    return lin_pure(at);
}

/* ---- the copy's statements ---- */
enum { BLOCK = 16 }; /* elements whose lines stay in the first cache, both ways */

typedef struct copying {
    source *to;
    int load, n;
    const int *order;
    int64_t stride[MAX_AXIS]; /* in the operand */
    int fast, slow;           /* turn: rows along fast, a block at a time, become columns along slow */
    int side;                 /* of a block that is turned */
    bool turn, even;          /* even: the strides say it all */
} copying;

static const char *copy_at(emitter *m, const copying *c) /* where the copy begins */
{
    return scratch_at(m, pointer_type(m, GROUP, source_dtype(m, c->load), true), c->to->offset);
}

static void add_source(emitter *m, const copying *c, text *t) /* where the operand's element is */
{
    m->copy.on = true;
    emit_pointer(m, t, &(tile_made){0}, c->load);
    m->copy.on = false;
}

static void copy_one(emitter *m, const copying *c, const lin *at)
{
    text to = {0}, value = {0};
    text_add(&to, "(%s)[", copy_at(m, c));
    emit_lin(m, &to, at);
    text_add(&to, "]");
    const expr *guard = stage_guard(m->s, c->load);
    if (guard) { /* zeros where the condition does not hold */
        const char *wrap = cstyle_store(m->d, m->out.uses, source_dtype(m, c->load));
        writer w = emit_writer(m);
        text_add(&value, "%s", wrap);
        m->copy.on = true, m->copy.under = guard->arg[0];
        cstyle_expr(&w, &value, guard);
        m->copy.on = false, m->copy.under = NULL;
        text_add(&value, "%s", *wrap ? ")" : "");
    } else {
        text_add(&value, "(");
        add_source(m, c, &value);
        text_add(&value, ")[0]");
    }
    code_store(&m->out.code, to.s, value.s);
    text_free(&to), text_free(&value);
}

/* A loop of the copy along axis a, from 0 or from where its block begins. */
static void copy_loop(emitter *m, const char *what, int a, stmt s)
{
    s.kind = S_LOOP, s.tight = true;
    s.name = arena_format(m->mem, "%s%d", what, a);
    s.from = s.from ? s.from : "0", s.to = s.to ? s.to : number_text(m, m->here.cur[a]);
    code_open(&m->out.code, s);
}

static void turn_rest(emitter *m, const copying *c, const lin *at) /* a block, element by element */
{
    const int axis[] = {c->slow, c->fast};
    for (int i = 0; i < 2; i++) {
        const char *block = arena_format(m->mem, "block%d", axis[i]);
        copy_loop(
            m, "copy", axis[i],
            (stmt){.from = block,
                   .to = arena_format(m->mem, "MIN(%s + %d, %lld)", block, c->side, (long long)m->here.cur[axis[i]])});
    }
    copy_one(m, c, at);
    code_close(&m->out.code), code_close(&m->out.code);
}

static bool clamped(emitter *m, const copying *c) /* some subscript leaves its dimension, and is kept inside */
{
    m->copy.on = true;
    const bool pure = lin_pure(source_offset(m, c->load, m->here.axis));
    m->copy.on = false;
    return !pure;
}

/* Whole blocks by what the dialect has for that. */
static void turn_blocks(emitter *m, const copying *c, const lin *at)
{
    const turning *turn = &m->d->turn;
    const bool words = turn->side && ts_dtype_bytes(source_dtype(m, c->load)) == turn->bytes && c->even &&
                       !clamped(m, c);
    if (!words || stage_guard(m->s, c->load) || m->here.cur[c->fast] < c->side || m->here.cur[c->slow] < c->side) {
        turn_rest(m, c, at);
        return;
    }
    text to = {0}, from = {0}, call = {0};
    const long long fast = m->here.cur[c->fast], slow = m->here.cur[c->slow];
    stmt *test = code_open(&m->out.code,
                           (stmt){.kind = S_IF,
                                  .value = arena_format(m->mem, "block%d + %d <= %lld && block%d + %d <= %lld", c->fast,
                                                        c->side, fast, c->slow, c->side, slow)});
    code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->index), arena_format(m->mem, "copy%d", c->fast),
             arena_format(m->mem, "block%d", c->fast));
    code_also(&m->out.code, arena_format(m->mem, "copy%d", c->slow), arena_format(m->mem, "block%d", c->slow));
    text_add(&to, "%s + ", copy_at(m, c));
    emit_lin(m, &to, at);
    add_source(m, c, &from);
    form_write(
        &call, m->out.uses, m->d, turn->call,
        (const char *[]){to.s, number_text(m, c->to->stride[c->fast]), from.s, number_text(m, c->stride[c->slow])});
    code_add(&m->out.code, (stmt){.kind = S_CALL, .value = call.s});
    code_close(&m->out.code);
    code_else(&m->out.code, test);
    turn_rest(m, c, at);
    code_close(&m->out.code);
    text_free(&to), text_free(&from), text_free(&call);
}

static void copy_loops(emitter *m, copying *c)
{
    const lin *was[MAX_AXIS], *at = lin_const(&m->sp, 0);
    const int n = c->n;
    c->even = find_strides(m, c->load, c->order, n, c->stride);
    c->side = m->d->turn.side ? m->d->turn.side : BLOCK;
    c->fast = -1, c->slow = n ? c->order[n - 1] : -1;
    for (int i = n; i-- > 0;)
        if (c->stride[c->order[i]] == 1)
            c->fast = c->order[i];
    c->turn = c->fast >= 0 && n > 1 && c->slow != c->fast;
    memcpy(was, m->here.axis, sizeof was);
    for (int i = 0; i < n; i++) {
        const int a = c->order[i];
        char name[16];
        snprintf(name, sizeof name, "copy%d", a);
        const int v = var_add(&m->sp, name, 0, m->here.cur[a] - 1);
        if (c->turn && (a == c->fast || a == c->slow))
            copy_loop(m, "block", a, (stmt){.step = c->side});
        else
            copy_loop(m, "copy", a, (stmt){.how = i == n - 1 ? IN_LANES : AS_IT_IS});
        m->here.axis[a] = lin_add(&m->sp, m->here.axis[a], lin_var(&m->sp, v), 1);
        at = lin_add(&m->sp, at, lin_var(&m->sp, v), c->to->stride[a]);
    }
    if (c->turn)
        turn_blocks(m, c, at);
    else
        copy_one(m, c, at);
    for (int i = 0; i < n; i++)
        code_close(&m->out.code);
    memcpy(m->here.axis, was, sizeof was);
}

typedef struct taken {
    const expr *guard[MAX_STAGING], *load[MAX_STAGING];
    int n;
} taken;

static const expr *without_guard(void *user, const expr *x)
{
    const taken *t = user;
    for (int i = 0; i < t->n; i++)
        if (x == t->guard[i])
            return t->load[i];
    return x;
}

const expr *copy_value(emitter *m, const stage *s)
{
    taken t = {0};
    for (int i = 0; i < s->n_staging; i++) {
        const staging *g = &s->staging[i];
        const expr *guard = staging_copies(g) ? stage_guard(s, g->load) : NULL;
        if (guard)
            t.guard[t.n] = guard, t.load[t.n++] = s->load[g->load];
    }
    return t.n ? x_map(m->mem, s->value, without_guard, &t) : s->value;
}

bool copy_enter(emitter *m, int which, bool shared, int l)
{
    const stage *s = &m->k->stage[which];
    for (int i = 0; i < s->n_staging; i++) {
        const staging *g = &s->staging[i];
        int order[MAX_AXIS];
        uint32_t axes = 0;
        if (g->shared != shared || g->loop != l || !staging_copies(g)) /* what is fetched may be the result */
            continue;
        const expr *x = s->load[g->load];
        source *q = &m->data.source[which][g->load];
        if (q->from == FROM_STAGE)
            continue;
        for (int k = 0; k < x->n; k++)
            axes |= x_axes(x->arg[k]);
        source copy = {.from = FROM_COPY, .operand = q->operand, .offset = m->data.scratch};
        const int n = walk_order(m, axes, shared, l, order);
        int64_t stride = 1;
        for (int k = n; k-- > 0;)
            copy.stride[order[k]] = stride, stride *= left_in(m, order[k], shared, l);
        for (int a = 0; a < s->n_axis; a++)
            copy.base[a] = m->here.axis[a];
        q->from = FROM_MEMORY;
        const int64_t bytes = target_aligned(m->p->on, stride * ts_dtype_bytes(stored_as(m->p, x->from)));
        m->data.scratch += bytes;
        m->data.scratch_most = m->data.scratch > m->data.scratch_most ? m->data.scratch : m->data.scratch_most;
        emit_meet(m); /* who still reads what lay there */
        code_open(&m->out.code, (stmt){.kind = S_STAGE, .offset = copy.offset, .bytes = bytes});
        copy_loops(m, &(copying){.to = &copy, .load = g->load, .n = n, .order = order});
        code_close(&m->out.code);
        emit_meet(m);
        *q = copy;
    }
    return true;
}
