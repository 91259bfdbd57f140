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
    const lin *at = layout_offset(&sp, m->operand[m->source[m->at][load].operand].layout, sub);
    for (int i = 0; i < n; i++)
        stride[order[i]] = lin_coef(at, v[order[i]]);
    return lin_pure(at);
}

/* ---- the copy's text ---- */
typedef struct copying {
    source *to;
    int load, n;
    const int *order;
    int64_t stride[MAX_AXIS]; /* in the operand */
    int fast, slow;           /* turn: rows along fast, 16 at a time, become columns along slow */
    bool turn, even;          /* even: the strides say it all */
} copying;

static void copy_one(emitter *m, const copying *c, const lin *at)
{
    text line = {0};
    text_add(&line, "((%s *)(scratch + %lld))[", memory_type(m->d, source_dtype(m, c->load)), (long long)c->to->offset);
    emit_lin(m, &line, at);
    const expr *guard = stage_guard(m->s, c->load);
    if (guard) { /* zeros where the condition does not hold */
        const char *wrap = cstyle_store(m->d, m->uses, source_dtype(m, c->load));
        writer w = emit_writer(m);
        text_add(&line, "] = %s", wrap);
        m->copying = true, m->under = guard->arg[0];
        cstyle_expr(&w, &line, guard);
        m->copying = false, m->under = NULL;
        text_line(&m->body, "%s%s;", line.s, *wrap ? ")" : "");
    } else {
        text_add(&line, "] = (");
        m->copying = true;
        emit_pointer(m, &line, &(tile_made){0}, c->load);
        m->copying = false;
        text_line(&m->body, "%s)[0];", line.s);
    }
    text_free(&line);
}

static void turn_rest(emitter *m, const copying *c, const lin *at) /* a block, element by element */
{
    const int axis[] = {c->slow, c->fast};
    for (int i = 0; i < 2; i++, m->body.depth++)
        text_line(&m->body, "for (long copy%d = block%d; copy%d < MIN(block%d + 16, %lld); copy%d++)", axis[i], axis[i],
                  axis[i], axis[i], (long long)m->cur[axis[i]], axis[i]);
    copy_one(m, c, at);
    m->body.depth -= 2;
}

static bool clamped(emitter *m, const copying *c) /* some subscript leaves its dimension, and is kept inside */
{
    m->copying = true;
    const bool pure = lin_pure(source_offset(m, c->load, m->axis));
    m->copying = false;
    return !pure;
}

static void turn_blocks(emitter *m, const copying *c, const lin *at)
{
    const bool words = ts_dtype_bytes(source_dtype(m, c->load)) == 4 && c->even && !clamped(m, c);
    if (!words || stage_guard(m->s, c->load) || m->cur[c->fast] < 16 || m->cur[c->slow] < 16) {
        turn_rest(m, c, at);
        return;
    }
    text line = {0};
    text_line(&m->body, "if (block%d + 16 <= %lld && block%d + 16 <= %lld) {", c->fast, (long long)m->cur[c->fast],
              c->slow, (long long)m->cur[c->slow]);
    m->body.depth++;
    text_line(&m->body, "const long copy%d = block%d, copy%d = block%d;", c->fast, c->fast, c->slow, c->slow);
    callees_form(m->uses, m->d, "turn16(", "");
    text_add(&line, "turn16((%s *)(scratch + %lld) + ", memory_type(m->d, source_dtype(m, c->load)),
             (long long)c->to->offset);
    emit_lin(m, &line, at);
    text_add(&line, ", %lld, ", (long long)c->to->stride[c->fast]);
    m->copying = true;
    emit_pointer(m, &line, &(tile_made){0}, c->load);
    m->copying = false;
    text_line(&m->body, "%s, %lld);", line.s, (long long)c->stride[c->slow]);
    m->body.depth--;
    text_line(&m->body, "} else");
    m->body.depth++;
    turn_rest(m, c, at);
    m->body.depth--;
    text_free(&line);
}

static void copy_loops(emitter *m, copying *c)
{
    const lin *was[MAX_AXIS], *at = lin_const(&m->sp, 0);
    const int n = c->n;
    c->even = find_strides(m, c->load, c->order, n, c->stride);
    c->fast = -1, c->slow = n ? c->order[n - 1] : -1;
    for (int i = n; i-- > 0;)
        if (c->stride[c->order[i]] == 1)
            c->fast = c->order[i];
    c->turn = c->fast >= 0 && n > 1 && c->slow != c->fast;
    memcpy(was, m->axis, sizeof was);
    for (int i = 0; i < n; i++, m->body.depth++) {
        const int a = c->order[i];
        char name[16];
        snprintf(name, sizeof name, "copy%d", a);
        const int v = var_add(&m->sp, name, 0, m->cur[a] - 1);
        if (c->turn && (a == c->fast || a == c->slow))
            text_line(&m->body, "for (long block%d = 0; block%d < %lld; block%d += 16)", a, a, (long long)m->cur[a], a);
        else
            text_line(&m->body, "%sfor (long copy%d = 0; copy%d < %lld; copy%d++)", i == n - 1 ? "SIMD " : "", a, a,
                      (long long)m->cur[a], a);
        m->axis[a] = lin_add(&m->sp, m->axis[a], lin_var(&m->sp, v), 1);
        at = lin_add(&m->sp, at, lin_var(&m->sp, v), c->to->stride[a]);
    }
    if (c->turn)
        turn_blocks(m, c, at);
    else
        copy_one(m, c, at);
    m->body.depth -= n;
    memcpy(m->axis, was, sizeof was);
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
        source *q = &m->source[which][g->load];
        if (q->from == FROM_STAGE)
            continue;
        for (int k = 0; k < x->n; k++)
            axes |= x_axes(x->arg[k]);
        source copy = {.from = FROM_COPY, .operand = q->operand, .offset = m->scratch};
        const int n = walk_order(m, axes, shared, l, order);
        int64_t stride = 1;
        for (int k = n; k-- > 0;)
            copy.stride[order[k]] = stride, stride *= left_in(m, order[k], shared, l);
        for (int a = 0; a < s->n_axis; a++)
            copy.base[a] = m->axis[a];
        q->from = FROM_MEMORY;
        m->scratch += (stride * ts_dtype_bytes(stored_as(m->p, x->from)) + 63) / 64 * 64;
        m->scratch_most = m->scratch > m->scratch_most ? m->scratch : m->scratch_most;
        copy_loops(m, &(copying){.to = &copy, .load = g->load, .n = n, .order = order});
        *q = copy;
    }
    return true;
}
