/* copy.c - staging into scratch: what the inner loops read of an operand is copied once, in the order in which they
 * walk it, so that a transposed operand is read in rows by the tile. */
#include "backends/codegen/rings.h"
#include "backends/codegen/vectors.h"

#include <stdio.h>
#include <string.h>

/* The distance in memory between neighbours along each axis of the order; false if the address depends on more than
 * that. */
static bool find_strides(emitter *m, int load, const int *order, int n, int64_t *stride)
{
    space sp = {.mem = m->mem};
    const affine *axis[MAX_AXIS], *sub[MAX_RANK];
    const expr *x = m->s->load[load];
    int v[MAX_AXIS];
    for (int a = 0; a < m->s->n_axis; a++)
        axis[a] = affine_var(&sp, v[a] = var_add(&sp, "", 0, 1 << 20));
    for (int i = 0; i < x->n; i++)
        sub[i] = affine_of(&sp, x->arg[i], axis);
    const affine *at = layout_offset(&sp, m->data.operand[m->data.source[m->stage.at][load].operand].layout, sub);
    for (int i = 0; i < n; i++)
        stride[order[i]] = affine_coef(at, v[order[i]]);
    return affine_pure(at);
}

/* ---- the copy's statements ---- */
static const element of_bytes[] = {[1] = E_U8, [2] = E_U16, [4] = E_U32, [8] = E_U64};
enum { HALF_LINE = 32 }; /* bytes: longer vectors cross a line wherever rows are not whole lines */
enum { BLOCK = 16 };     /* elements whose lines stay in the first cache, both ways */

static const cexpr *copy_at(emitter *m, const copying *c) /* where the copy begins */
{
    return scratch_at(m, pointer_type(m, GROUP, source_dtype(m, c->load), true), c->to->offset);
}

static const cexpr *source_at(emitter *m, const copying *c) /* where the operand's element is */
{
    m->copy.on = true;
    const cexpr *at = emit_pointer(m, &(tile_made){0}, c->load);
    m->copy.on = false;
    return at;
}

const cexpr *copy_index(emitter *m, const source *q, const affine *at)
{
    const cexpr *place = emit_index(m, at);
    if (!q->mask)
        return place;
    static const char form[] = "swizzled($0, $1, $2, $3)";
    callees_form(m->out.uses, m->d, form, m->d->suffix);
    return cexpr_whole_as(
        m->mem, W_SWIZZLED, form, 4,
        (const cexpr *const[]){place, emit_whole(m, q->shift), emit_whole(m, q->mask), emit_whole(m, q->piece)});
}

const cexpr *copy_into(emitter *m, const copying *c, const affine *at)
{
    const cexpr *to = c->into         ? cexpr_word(m->mem, c->into)
                      : c->to->inside ? cexpr_word(m->mem, arena_format(m->mem, "c%d", c->load))
                                      : copy_at(m, c);
    cexpr *x = (cexpr *)emit_at(m, to, copy_index(m, c->to, at), c->load);
    x->shared = true;
    return x;
}

const cexpr *copy_element(emitter *m, const copying *c)
{
    const cexpr *all;
    const expr *guard = stage_guard(m->s, c->load), *limits = m->copy.under;
    if (guard)
        m->copy.under = limits ? x2(m->mem, "and", limits, guard->arg[0]) : guard->arg[0];
    if (guard && !c->inside) { /* zeros where the condition does not hold */
        writer w = emit_writer(m);
        m->copy.on = true;
        all = cexpr_one(m->mem, cstyle_store(m->mem, m->d, m->out.uses, source_dtype(m, c->load)),
                        cstyle_expr(&w, guard));
        m->copy.on = false;
    } else if (m->tile.made) {
        m->copy.on = true;
        all = emit_element(m, c->load);
        m->copy.on = false;
    } else
        all = emit_at(m, source_at(m, c), emit_whole(m, 0), c->load);
    m->copy.under = limits;
    return all;
}

/* an element: to place `at` of the copy */
static void copy_one(emitter *m, const copying *c, const affine *at)
{
    const cexpr *to = copy_into(m, c, at);
    code_store(&m->out.code, to, copy_element(m, c));
}

static const cexpr *copy_end(emitter *m, int a)
{
    const cexpr *all = emit_whole(m, m->here.cur[a]);
    return varying_axis(m, a) ? cexpr_least(m->mem, all, varying_trips(m, &m->s->varies[a], m->here.axis[a], 1)) : all;
}

/* A loop of the copy along axis a, from 0 or from where its block begins. */
static void copy_loop(emitter *m, const char *what, int a, stmt s)
{
    s.kind = S_LOOP, s.tight = true;
    s.name = arena_format(m->mem, "%s%d", what, a);
    s.from = s.from ? s.from : emit_whole(m, 0);
    s.to = s.to ? s.to : copy_end(m, a);
    code_open(&m->out.code, s);
}

static void turn_rest(emitter *m, const copying *c, const affine *at) /* a block, element by element */
{
    const int axis[] = {c->slow, c->fast};
    for (int i = 0; i < 2; i++) {
        const cexpr *block = cexpr_word(m->mem, arena_format(m->mem, "block%d", axis[i]));
        copy_loop(
            m, "copy", axis[i],
            (stmt){.from = block,
                   .to = cexpr_least(m->mem, cexpr_plus(m->mem, block, BLOCK), emit_whole(m, m->here.cur[axis[i]]))});
    }
    copy_one(m, c, at);
    code_close(&m->out.code), code_close(&m->out.code);
}

static bool clamped(emitter *m, const copying *c) /* a subscript may leave its dimension */
{
    const expr *guard = stage_guard(m->s, c->load), *limits = m->copy.under;
    m->copy.on = true, m->copy.under = guard && c->inside ? guard->arg[0] : limits;
    const bool pure = affine_pure(source_offset(m, c->load, m->here.axis));
    m->copy.on = false, m->copy.under = limits;
    return !pure;
}

static const cexpr *holds_block(emitter *m, int a) /* a whole one is left of the axis */
{
    const cexpr *block = cexpr_word(m->mem, arena_format(m->mem, "block%d", a));
    return cexpr_two(m->mem, "($0 <= $1)", cexpr_plus(m->mem, block, BLOCK), emit_whole(m, m->here.cur[a]));
}

/* Whole blocks by vectors, where the language has them. */
static void turn_blocks(emitter *m, const copying *c, const affine *at)
{
    const int bytes = ts_dtype_bytes(source_dtype(m, c->load)),
              n = (int)int_min(vector_count(m, bytes), HALF_LINE / bytes);
    const element e = of_bytes[bytes];
    const bool turns = n > 1 && n <= BLOCK && callees_have(m->d, "turned", 6, (instance){e, n}) && c->even &&
                       !clamped(m, c) && !stage_guard(m->s, c->load);
    if (!turns || m->here.cur[c->fast] < BLOCK || m->here.cur[c->slow] < BLOCK) {
        turn_rest(m, c, at);
        return;
    }
    stmt *test = code_open(
        &m->out.code,
        (stmt){.kind = S_IF, .value = cexpr_both(m->mem, holds_block(m, c->fast), holds_block(m, c->slow))});
    code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->index), arena_format(m->mem, "copy%d", c->fast),
             cexpr_word(m->mem, arena_format(m->mem, "block%d", c->fast)));
    code_also(&m->out.code, arena_format(m->mem, "copy%d", c->slow),
              cexpr_word(m->mem, arena_format(m->mem, "block%d", c->slow)));
    const cexpr *to = cexpr_pointer(m->mem, "", copy_at(m, c), emit_index(m, at), bytes), *from = source_at(m, c);
    m->tile.vectors.n = n;
    code_call(&m->out.code, vector_call(m, e, "turned", "($0, $1, $2, $3)",
                                        (const cexpr *const[]){to, cexpr_number(m->mem, c->to->stride[c->fast]), from,
                                                               cexpr_number(m->mem, c->stride[c->slow])}));
    m->tile.vectors.n = 0;
    code_close(&m->out.code);
    code_else(&m->out.code, test);
    turn_rest(m, c, at);
    code_close(&m->out.code);
}

/* Neighbours in both places: how many of them are moved at once; 0: they are none */
static int moved_at_once(emitter *m, const copying *c)
{
    const int last = c->n ? c->order[c->n - 1] : -1, bytes = ts_dtype_bytes(source_dtype(m, c->load));
    const bool near = last >= 0 && !c->turn && c->even && c->stride[last] == 1 && c->to->stride[last] == 1 &&
                      !c->to->mask && (c->inside || !stage_guard(m->s, c->load)) && !clamped(m, c);
    const int n = near && bytes ? vector_count(m, bytes) : 0;
    return n <= m->here.cur[last] ? n : 0;
}

static void copy_vector(emitter *m, const copying *c, const affine *at)
{
    const element e = of_bytes[ts_dtype_bytes(source_dtype(m, c->load))];
    const cexpr *to = copy_into(m, c, at);
    vector_store(m, e, to, vector_load(m, e, copy_element(m, c)));
}

/* The part of a row along variable v that a guard lets through: its ends, and a condition for the whole part */
typedef struct part {
    int v;
    const cexpr *from, *to, *when;
} part;

/* Narrows the part by a condition; false: the condition is no interval of v. */
static bool part_under(emitter *m, const expr *x, part *y)
{
    split c;
    if (x_is_call(x, "and"))
        return part_under(m, x->arg[0], y) && part_under(m, x->arg[1], y);
    if (!bounds_read(x, &c))
        return false;
    const affine *place = affine_of(&m->sp, c.place, m->here.axis);
    const int64_t by = affine_coef(place, y->v);
    if (by == 1) { /* place + v >= bound, or < bound */
        const affine *rest = affine_add(&m->sp, place, affine_var(&m->sp, y->v), -1),
                     *bound = affine_add(&m->sp, affine_const(&m->sp, c.bound), rest, -1);
        const cexpr **end = c.low ? &y->from : &y->to;
        *end = (c.low ? cexpr_most : cexpr_least)(m->mem, *end, emit_index(m, bound));
    } else
        y->when = cexpr_both(
            m->mem, y->when,
            cexpr_whole(m->mem, c.low ? W_LEAST : W_LESS, emit_index(m, place), emit_whole(m, c.bound)));
    return affine_pure(place) && by >= 0 && by <= 1;
}

/* Fills the row before and behind the part that a guard lets through, and names the ends of that part. */
static bool fill_around(emitter *m, copying *c, int a, part y, const affine *at, const cexpr *ends[2])
{
    const expr *guard = stage_guard(m->s, c->load);
    if (!guard || guard->arg[2]->kind != X_LIT || m->copy.under || !part_under(m, guard->arg[0], &y))
        return false;
    c->inside = true;
    if (!moved_at_once(m, c))
        return c->inside = false;
    writer w = emit_writer(m);
    const cexpr *end = copy_end(m, a), *fill = cstyle_expr(&w, guard->arg[2]);
    fill = cexpr_one(m->mem, cstyle_store(m->mem, m->d, m->out.uses, source_dtype(m, c->load)), fill);
    if (y.when)
        y.from = cexpr_whole_as(m->mem, W_WHERE, "($0 ? $1 : $2)", 3, (const cexpr *const[]){y.when, y.from, end});
    const cexpr *first = cexpr_word(m->mem, arena_format(m->mem, "from%d", a)),
                *behind = cexpr_word(m->mem, arena_format(m->mem, "to%d", a)), *of[] = {emit_whole(m, 0), behind},
                *to[] = {first, end};
    code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->index), arena_format(m->mem, "from%d", a),
             cexpr_least(m->mem, y.from, end));
    code_also(&m->out.code, arena_format(m->mem, "to%d", a), cexpr_most(m->mem, first, y.to));
    for (int i = 0; i < 2; i++) {
        copy_loop(m, "copy", a, (stmt){.how = IN_LANES, .from = of[i], .to = to[i]});
        code_store(&m->out.code, copy_into(m, c, at), fill);
        code_close(&m->out.code);
    }
    ends[0] = first, ends[1] = behind;
    return true;
}

/* Opens the last loop, behind that over vectors; `here`: where the axis is in both */
static void copy_row(emitter *m, copying *c, int a, int v, const affine *here, const affine *at)
{
    const cexpr *ends[2] = {emit_whole(m, 0), copy_end(m, a)};
    m->here.axis[a] = here;
    fill_around(m, c, a, (part){v, ends[0], ends[1], NULL}, at, ends);
    const int n = moved_at_once(m, c);
    if (n) {
        ends[0] = vectors_enter(m, n, arena_format(m->mem, "copy%d", a), ends[0], ends[1]);
        copy_vector(m, c, at);
        vectors_leave(m);
    }
    copy_loop(m, "copy", a, (stmt){.how = IN_LANES, .from = ends[0], .to = ends[1]});
}

static void copy_loops(emitter *m, copying *c)
{
    const affine *was[MAX_AXIS], *at = affine_const(&m->sp, 0);
    const int n = c->n;
    c->fast = -1, c->slow = n ? c->order[n - 1] : -1;
    for (int i = n; i-- > 0;)
        if (c->stride[c->order[i]] == 1)
            c->fast = c->order[i];
    c->turn = c->fast >= 0 && n > 1 && c->stride[c->slow] != 1;
    memcpy(was, m->here.axis, sizeof was);
    for (int i = 0; i < n; i++) {
        const int a = c->order[i];
        char name[16];
        snprintf(name, sizeof name, "copy%d", a);
        const int v = var_add(&m->sp, name, 0, m->here.cur[a] - 1);
        const affine *here = affine_add(&m->sp, m->here.axis[a], affine_var(&m->sp, v), 1);
        at = affine_add(&m->sp, at, affine_var(&m->sp, v), c->to->stride[a]);
        if (c->turn && (a == c->fast || a == c->slow))
            copy_loop(m, "block", a, (stmt){.step = BLOCK});
        else if (i < n - 1)
            copy_loop(m, "copy", a, (stmt){0});
        else
            copy_row(m, c, a, v, here, at);
        m->here.axis[a] = here;
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

const int64_t *copy_filled(const slice *y)
{
    return y->whole ? y->extent : NULL;
}

source copy_place(emitter *m, const stage *s, const staging *g, slice *y)
{
    source copy = {.from = FROM_COPY, .inside = m->tile.made != NULL};
    slice_find(m->p, m->k, s, g, y);
    if (y->multiple) {
        m->data.scratch = int_ceil_div(m->data.scratch, y->multiple) * y->multiple;
        m->data.scratch_multiple = y->multiple;
    }
    copy.offset = m->data.scratch;
    for (int k = 0; k < y->n; k++)
        copy.stride[y->order[k]] = y->stride[y->order[k]];
    for (int a = 0; a < s->n_axis; a++)
        copy.base[a] = copy.inside ? m->tile.inner[a] : m->here.axis[a];
    copy.shift = y->shift, copy.mask = y->mask, copy.piece = y->piece, copy.block = y->block, copy.apart = y->apart;
    copy.bytes = target_aligned(m->p->on, y->size * ts_dtype_bytes(stored_as(m->p, s->load[g->load]->from)));
    m->data.scratch += copy.bytes * (copy_follows(m, g, g->loop) ? g->stages : 1);
    m->data.scratch_most = m->data.scratch > m->data.scratch_most ? m->data.scratch : m->data.scratch_most;
    return copy;
}

static void write_copy(emitter *m, copying *c)
{
    code_open(&m->out.code, (stmt){.kind = S_STAGE, .offset = c->to->offset, .bytes = m->data.scratch - c->to->offset});
    c->even = find_strides(m, c->load, c->order, c->n, c->stride);
    if (c->to->inside) {
        m->tile.made->scratch = true;
        code_let(&m->out.code, pointer_type(m, GROUP, source_dtype(m, c->load), true),
                 arena_format(m->mem, "c%d", c->load), copy_at(m, c));
    }
    if (m->group > 1 || c->to->inside)
        lanes_copy(m, c);
    else
        copy_loops(m, c);
    code_close(&m->out.code);
}

bool copy_follows(const emitter *m, const staging *g, int l)
{
    return m->tile.made && staging_copies(g) && g->space->shared && g->stages > 1 && !g->shared && g->loop == l &&
           m->data.source[m->stage.at][g->load].from != FROM_STAGE;
}

/* Whether a loop further inside copies the operand again, from memory: then nobody reads this copy. */
static bool copied_within(const stage *s, const staging *g)
{
    bool any = false;
    for (int i = 0; i < s->n_staging && !any; i++) {
        const staging *o = &s->staging[i];
        any = o->load == g->load && staging_copies(o) && (o->shared == g->shared ? o->loop > g->loop : g->shared);
    }
    return any;
}

void copy_enter(emitter *m, int which, bool shared, int l)
{
    const stage *s = &m->k->stage[which];
    for (int i = 0; i < s->n_staging; i++) {
        const staging *g = &s->staging[i];
        slice y;
        if (g->shared != shared || g->loop != l || !staging_copies(g)) /* what is fetched may be the result */
            continue;
        if (copied_within(s, g))
            continue;
        source *q = &m->data.source[which][g->load];
        if (q->from == FROM_STAGE)
            continue;
        source copy = copy_place(m, s, g, &y);
        copy.operand = q->operand;
        *q = (source){.from = FROM_MEMORY, .operand = q->operand};
        emit_meet(m); /* who still reads what lay there */
        write_copy(m, &(copying){.to = &copy, .load = g->load, .n = y.n, .order = y.order, .extent = copy_filled(&y)});
        matrix_show(m);
        emit_meet(m);
        *q = copy;
    }
}

void copy_leave(emitter *m, int l)
{
    for (int i = 0; i < m->k->n_stage; i++)
        for (int k = 0; k < m->k->stage[i].n_staging; k++) {
            const staging *g = &m->k->stage[i].staging[k];
            source *q = &m->data.source[i][g->load];
            if (g->shared && g->loop == l && staging_copies(g) && q->from == FROM_COPY)
                *q = (source){.from = FROM_MEMORY, .operand = q->operand};
        }
}
