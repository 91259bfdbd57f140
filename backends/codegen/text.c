/* text.c - what a stage reads, writes and combines, as text. Inside a tile function pointers x0, x1, ... (by load)
 * and y stand where the tile starts; outside, the kernel's own pointers (by operand) are indexed in full. */
#include "backends/codegen/emit.h"

#include <string.h>

static const cexpr *atom_index(emitter *m, const atom *a)
{
    int64_t low, high;
    if (a->kind == A_VAR)
        return cexpr_word(m->mem, m->sp.var[a->var].name);
    if (a->kind == A_EXPR) {
        writer w = emit_writer(m);
        return cstyle_expr(&w, a->x);
    }
    affine_range(&m->sp, a->of, &low, &high);
    if (low < 0)
        callees_form(m->out.uses, m->d, "whole_div(", "");
    return cexpr_floor(m->mem, emit_index(m, a->of), a->by, low < 0);
}

const cexpr *emit_index(emitter *m, const affine *a)
{
    const cexpr **of = arena_array(m->mem, (size_t)a->n + 1, sizeof *of);
    int64_t *times = arena_array(m->mem, (size_t)a->n + 1, sizeof *times);
    varying_used(m, a);
    for (int i = 0; i < a->n; i++)
        of[i] = atom_index(m, a->t[i].a), times[i] = a->t[i].coef;
    return cexpr_sum(m->mem, a->c, a->n, of, times);
}

void emit_passed(emitter *m, const affine *a)
{
    for (int i = 0; i < a->n; i++) {
        const atom *q = a->t[i].a;
        if (q->kind == A_DIV)
            emit_passed(m, q->of);
        for (int x = 0; q->kind == A_VAR && x < m->s->n_axis; x++)
            if (affine_coef(m->tile.plain[x], q->var) && !affine_coef(m->tile.inner[x], q->var))
                m->tile.made->passed |= 1u << x;
    }
}

static const cexpr *axis_term(void *user, int axis)
{
    emitter *m = user;
    if (m->tile.made)
        emit_passed(m, m->tile.plain[axis]);
    return emit_index(m, m->tile.made ? m->tile.plain[axis] : m->here.axis[axis]);
}

static const cexpr *size_term(void *user, int which)
{
    emitter *m = user;
    ENDED_BY(text_free) text t = {0};
    varying_name(m, &t, which);
    return cexpr_word(m->mem, text_str(&t));
}

/* ---- telling where a tile starts from what its own loops add ---- */
static bool is_start(void *user, const atom *a)
{
    const emitter *m = user;
    return a->kind == A_VAR && *m->sp.var[a->var].name == '@';
}

/* An expression, not linear, of axes that the tile walks: the same text, and another value than where it starts. */
static bool is_moved(void *user, const atom *a)
{
    const emitter *m = user;
    for (int i = 0; a->kind == A_EXPR && i < m->s->n_axis; i++)
        if (x_axes(a->x) >> i & 1 && !affine_same(m->tile.inner[i], m->tile.origin[i]))
            return true;
    return false;
}

static const affine *offset_of(emitter *m, int load, const affine *const *axis)
{
    return load == RESULT   ? store_offset(m, axis)
           : load == STATES ? state_offset(m, axis)
                            : source_offset(m, load, axis);
}

/* The tile's own offset from its start; NULL if it depends on the start, like a gathered index or the quotient of a
 * sum. A constant stays in the offset: a pointer must not stand before its operand. */
static const affine *rest_of(emitter *m, int load)
{
    const affine *all = offset_of(m, load, m->tile.inner), *start = offset_of(m, load, m->tile.origin),
                 *rest = affine_add(&m->sp, all, start, -1);
    if (affine_uses(all, is_moved, m) || affine_uses(rest, is_start, m))
        return NULL;
    if (load < RESULT && affine_has_expr(all) && !expr_reads(m->stage.value, m->s->load[load]))
        return NULL; /* the index is read under the condition, as its element is */
    return affine_add(&m->sp, rest, affine_const(&m->sp, 1), start->c);
}

static bool is_inside(const emitter *m, int load) /* copied within the tile, from where the copy starts */
{
    return load < RESULT && m->data.source[m->stage.at][load].inside;
}

/* From where the tile starts; from the operand's start where the index cannot be split so. */
const cexpr *emit_place(emitter *m, int load)
{
    const affine *at = is_inside(m, load)          ? offset_of(m, load, m->tile.inner)
                       : m->tile.made->whole[load] ? NULL
                                                   : rest_of(m, load);
    if (!at) {
        at = offset_of(m, load, m->tile.plain);
        emit_passed(m, at);
        m->tile.made->whole[load] = true;
    }
    return emit_index(m, at);
}

static bool same_start(emitter *m, const tile_made *f, int i, int k)
{
    const source *a = &m->data.source[m->stage.at][i], *b = &m->data.source[m->stage.at][k];
    if (a->from != b->from || f->whole[i] != f->whole[k] || emit_single(m, i))
        return false;
    if (!(a->from == FROM_MEMORY && a->operand == b->operand) && !(a->from == FROM_STAGE && a->stage == b->stage))
        return false;
    const affine *apart = affine_add(&m->sp, offset_of(m, i, m->tile.origin), offset_of(m, k, m->tile.origin), -1);
    return f->whole[i] || (!apart->n && apart->c == f->c[i] - f->c[k]);
}

void emit_starts(emitter *m, tile_made *f)
{
    for (int i = 0; i < m->s->n_load; i++) {
        f->via[i] = 0;
        while (f->via[i] < i && !same_start(m, f, i, f->via[i]))
            f->via[i]++;
    }
}

bool emit_takes(const tile_made *f, int load)
{
    for (int i = load; i < MAX_LOADS; i++)
        if (f->loads[i] && f->via[i] == load)
            return true;
    return false;
}

const cexpr *emit_at(const emitter *m, const cexpr *pointer, const cexpr *index, int load)
{
    cexpr *x = (cexpr *)cexpr_at(m->mem, pointer, index, load);
    x->stage = m->stage.at;
    x->bytes = ts_dtype_bytes(load < RESULT ? source_dtype(m, load) : stored_as(m->p, m->s->node));
    x->shared = load == STATES || load_reach(m, load) == GROUP;
    return x;
}

const cexpr *emit_result(emitter *m)
{
    const cexpr *moved = vector_element(m, RESULT);
    return moved ? moved : emit_at(m, cexpr_word(m->mem, "y"), emit_place(m, RESULT), RESULT);
}

/* Loads are told apart by what they read and where: two of one tensor are two. */
int emit_number(const emitter *m, const expr *x)
{
    int i = 0;
    while (i < m->s->n_load && !x_same(m->s->load[i], x))
        i++;
    MUST(i < m->s->n_load);
    return i;
}

const cexpr *emit_long(const emitter *m, int64_t n)
{
    return cexpr_literal(m->mem, arena_format(m->mem, "%lld%s", (long long)n, m->d->index_suffix), n);
}

const cexpr *emit_whole(const emitter *m, int64_t n)
{
    return cexpr_number(m->mem, n);
}

stmt *emit_written_out(emitter *m, const char *name, int64_t n)
{
    return code_open(&m->out.code, (stmt){.kind = S_LOOP,
                                          .how = WRITTEN_OUT,
                                          .name = name,
                                          .from = emit_whole(m, 0),
                                          .to = emit_whole(m, n),
                                          .trips = n});
}

const char *number_text(const emitter *m, int64_t n)
{
    return arena_format(m->mem, "%lld", (long long)n);
}

const char *pointer_type(const emitter *m, reach who, dtype d, bool written)
{
    return arena_format(m->mem, "%s%s%s *", m->d->space[who], written ? "" : "const ", memory_type(m->d, d));
}

const cexpr *scratch_at(const emitter *m, const char *of, int64_t offset)
{
    return cexpr_pointer(m->mem, of, cexpr_word(m->mem, "scratch"), emit_whole(m, offset), 1);
}

reach held_reach(const held *h)
{
    return h->spilled ? ALL : GROUP;
}

reach slice_reach(const emitter *m, int i)
{
    return held_reach(&m->data.slice[i]);
}

const cexpr *held_at(const emitter *m, const held *h, dtype d, bool written)
{
    const char *of = pointer_type(m, held_reach(h), d, written);
    return h->spilled ? cexpr_pointer(m->mem, of, cexpr_word(m->mem, "spill"), emit_whole(m, h->at), 1)
                      : scratch_at(m, of, h->at);
}

const cexpr *slice_at(const emitter *m, int i, bool written)
{
    return held_at(m, &m->data.slice[i], stored_as(m->p, m->k->stage[i].node), written);
}

reach load_reach(const emitter *m, int load)
{
    if (load == RESULT)
        return m->s->scratch ? slice_reach(m, m->stage.at) : ALL;
    const source *q = &m->data.source[m->stage.at][load];
    return q->from == FROM_STAGE ? slice_reach(m, q->stage) : q->from == FROM_COPY ? GROUP : ALL;
}

static const cexpr *operand_at(const emitter *m, int i)
{
    return cexpr_word(m->mem, m->data.operand[i].name);
}

static const cexpr *source_start(const emitter *m, int load)
{
    const source *q = &m->data.source[m->stage.at][load];
    return q->from == FROM_MEMORY   ? operand_at(m, q->operand)
           : q->from == FROM_RESULT ? operand_at(m, m->stage.result)
           : q->from == FROM_STAGE  ? slice_at(m, q->stage, false)
                                    : scratch_at(m, pointer_type(m, GROUP, source_dtype(m, load), false), q->offset);
}

static bool is_lane_part(void *user, const atom *a)
{
    const emitter *m = user;
    return a->kind == A_VAR && !strcmp(m->sp.var[a->var].name, "lane");
}

static const cexpr *pointer_to(const emitter *m, int load, const cexpr *start, const cexpr *index)
{
    return cexpr_pointer(m->mem, "", start, index,
                         ts_dtype_bytes(load < RESULT ? source_dtype(m, load) : stored_as(m->p, m->s->node)));
}

/* Of a copy in a tile: "(x0 + what the lane says)[all else]", so that the first is worked out once. */
static const cexpr *lane_place(emitter *m, int load)
{
    const affine *at = m->tile.made->whole[load] ? NULL : rest_of(m, load), *own = affine_const(&m->sp, 0);
    for (int i = 0; at && i < at->n; i++) {
        const affine one = {.n = 1, .t = &at->t[i]};
        own = affine_uses(&one, is_lane_part, m) ? affine_add(&m->sp, own, &one, 1) : own;
    }
    if (!at || !own->n || own->n == at->n)
        return NULL;
    const cexpr *start = cexpr_word(m->mem, arena_format(m->mem, "x%d", m->tile.made->via[load]));
    return emit_at(m, pointer_to(m, load, start, emit_index(m, own)), emit_index(m, affine_add(&m->sp, at, own, -1)),
                   load);
}

bool emit_single(const emitter *m, int load)
{
    return type_count(&m->s->load[load]->from->type) == 1 && m->data.source[m->stage.at][load].from == FROM_MEMORY;
}

static const cexpr *outside_element(emitter *m, int load)
{
    return emit_at(m, source_start(m, load), emit_index(m, source_offset(m, load, m->here.axis)), load);
}

/* x3[...], or what a vector access has loaded of it. */
const cexpr *emit_element(emitter *m, int load)
{
    if (!m->tile.made)
        return outside_element(m, load);
    const cexpr *moved = vector_element(m, load);
    if (moved)
        return moved;
    if (m->data.source[m->stage.at][load].from == FROM_RESULT)
        return emit_at(m, cexpr_word(m->mem, "y"), emit_place(m, RESULT), load);
    const bool inside = is_inside(m, load);
    m->tile.made->loads[load] |= !inside;
    if (!inside && m->copy.sent && (moved = lane_place(m, load)))
        return moved;
    const char *pointer = arena_format(m->mem, inside ? "c%d" : "x%d", inside ? load : m->tile.made->via[load]);
    return emit_at(m, cexpr_word(m->mem, pointer), emit_place(m, load), load);
}

static const cexpr *load_term(void *user, const expr *x)
{
    emitter *m = user;
    const int i = emit_number(m, x);
    if (m->tile.made && emit_single(m, i)) {
        m->tile.made->loads[i] = m->tile.made->whole[i] = true; /* its only element, wherever the form would point */
        return cexpr_word(m->mem, arena_format(m->mem, "s%d", i));
    }
    return cexpr_one(m->mem, cstyle_load(m->mem, m->d, m->out.uses, source_dtype(m, i)), emit_element(m, i));
}

/* What is not linear in it gets a name before the call that it is an argument of. */
static const affine *with_names(emitter *m, const affine *at)
{
    const affine *named = at;
    for (int i = 0; i < at->n; i++) {
        const affine one = {.n = 1, .t = &at->t[i]};
        if (at->t[i].a->kind != A_EXPR || at->t[i].a->x->kind == X_AXIS)
            continue;
        const expr *x = at->t[i].a->x;
        writer w = emit_writer(m);
        w.n_temporary = m->out.names;
        const cexpr *value = value_shaped(m, &w, x);
        const char *name = arena_format(m->mem, "place%d", w.n_temporary);
        m->out.names = w.n_temporary + 1;
        code_let(&m->out.code, arena_format(m->mem, "const %s", memory_type(m->d, TS_I64)), name, value);
        const affine *place = affine_var(&m->sp, var_add(&m->sp, name, INT64_MIN / 4, INT64_MAX / 4));
        named = affine_add(&m->sp, affine_add(&m->sp, named, &one, -1), place, at->t[i].coef);
    }
    return named;
}

/* Where element 0 of all would be, from where the slice or copy in scratch begins: the tile's index is of
 * the whole, constants and all. */
static const affine *start_of_all(emitter *m, int load)
{
    const affine *zero[MAX_AXIS], *own, *all;
    tile_made inside;
    for (int a = 0; a < m->s->n_axis; a++)
        zero[a] = affine_const(&m->sp, 0);
    own = offset_of(m, load, zero);
    m->tile.made = &inside;
    all = offset_of(m, load, zero);
    m->tile.made = NULL;
    return affine_add(&m->sp, own, all, -1);
}

const cexpr *emit_pointer(emitter *m, const tile_made *f, int load) /* where tile f starts, or the start of it all */
{
    return emit_start(m,
                      load != RESULT  ? source_start(m, load)
                      : m->s->scratch ? slice_at(m, m->stage.at, true)
                                      : operand_at(m, m->stage.result),
                      f, load);
}

const cexpr *emit_start(emitter *m, const cexpr *base, const tile_made *f, int load)
{
    const int n = m->sp.n;
    const affine *at = f->whole[load]
                           ? start_of_all(m, load)
                           : affine_add(&m->sp, offset_of(m, load, m->here.axis), affine_const(&m->sp, 1), -f->c[load]);
    if (!f->whole[load] && !m->copy.on)
        at = with_names(m, at);
    const cexpr *index = emit_index(m, at);
    m->sp.n = n;
    return pointer_to(m, load, base, index);
}

static const cexpr *fold_term(void *user, const expr *x)
{
    emitter *m = user;
    const bool vector = m->tile.vectors.each && !(m->s->folds >> m->tile.vectors.axis & 1),
               mask = m->tile.vectors.each && x->kind == X_FOLD && x->dtype == TS_BOOL;
    if (x->kind == X_SCAN) /* see tuple_result */
        return vector ? cexpr_element(m->mem, "folded", cexpr_word(m->mem, m->tile.vectors.each), IN_REGISTERS)
                      : cexpr_word(m->mem, "folded");
    return cexpr_one(m->mem, mask ? "(-$0)" : "$0", value_acc(m, emit_whole(m, 0)));
}

writer emit_writer(emitter *m)
{
    return (writer){.d = m->d,
                    .alike = m->p->reproducible,
                    .mem = m->mem,
                    .uses = m->out.uses,
                    .out = &m->out.code,
                    .wide = m->p->reference,
                    .load = load_term,
                    .axis = axis_term,
                    .size = size_term,
                    .fold = fold_term,
                    .states = m->stage.states ? m->stage.states : "s",
                    .state = m->stage.state,
                    .user = m};
}

const cexpr *emit_address(const emitter *m, const cexpr *x)
{
    return cexpr_whole_as(m->mem, W_ADDRESS, "&$0", 1, &x);
}

const cexpr *emit_bytes(const emitter *m, const cexpr *index, int64_t size, bool brackets)
{
    return cexpr_whole_as(m->mem, W_TIMES, brackets ? "$1 * ($0)" : "$1 * $0", 2,
                          (const cexpr *const[]){index, emit_whole(m, size)});
}

const cexpr *emit_move(emitter *m, moves how, const char *form, int bytes, int n, const cexpr *const *arg)
{
    cexpr *x = (cexpr *)emit_form(m, form, n, arg);
    x->moves = how, x->bytes = bytes;
    return x;
}

const cexpr *emit_form(emitter *m, const char *form, int n, const cexpr *const *arg)
{
    callees_form(m->out.uses, m->d, form, m->d->suffix);
    return cexpr_form(m->mem, form, n, arg);
}

void emit_call(emitter *m, const char *form, int n, const cexpr *const *arg)
{
    code_call(&m->out.code, emit_form(m, form, n, arg));
}

/* ---- in a tile ---- */
const char *tile_loop(const emitter *m, int l)
{
    return arena_format(m->mem, "%s_%d", m->s->letter[m->s->nest.loop[l].axis], l);
}

const cexpr *tile_trip(const emitter *m, int l)
{
    return cexpr_word(m->mem, tile_loop(m, l));
}

const cexpr *emit_sums(emitter *m)
{
    const cexpr *x = cexpr_word(m->mem, "acc");
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++) {
        const loop *q = &m->s->nest.loop[l];
        if (!(m->s->folds >> q->axis & 1) && !q->role->group && !q->role->unit)
            x = cexpr_at(m->mem, x, tile_trip(m, l), IN_REGISTERS);
    }
    return x;
}

const cexpr *value_acc(emitter *m, const cexpr *lane)
{
    if (!matrix_sums(m))
        return emit_acc(m, m->tile.sums ? m->tile.sums : "acc", lane);
    return cexpr_at(m->mem, emit_sums(m), cexpr_word(m->mem, "part"), IN_REGISTERS);
}

const index_list *emit_subscripts(emitter *m, const cexpr *lane)
{
    const index_list *x = NULL;
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++) {
        const int a = m->s->nest.loop[l].axis;
        const bool folded = m->s->folds >> a & 1;
        if ((folded && l != m->stage.lane) || m->s->nest.loop[l].role->group)
            continue;
        x = index_add(m->mem, x, folded && lane ? lane : tile_trip(m, l));
    }
    return m->tile.vectors.each ? index_add(m->mem, x, cexpr_word(m->mem, m->tile.vectors.each)) : x;
}

const cexpr *emit_acc(emitter *m, const char *name, const cexpr *lane)
{
    return cexpr_indexed(m->mem, name, emit_subscripts(m, lane));
}
