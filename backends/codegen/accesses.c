/* accesses.c - vector accesses: what a loop over neighbours reads and writes of memory, a lane of a group moves as many
 * bytes at once as the places allow. Reads come before the loop and writes behind it; between them elements are
 *
 *   union { uint4 at[1]; float one[4]; } v0;          v0 of load 0, vy of the result
 *   v0.at[0] = ((const uint4 *)&x0[4 * n_0])[0];
 *   for (n_1 ...) vy.one[n_1] = f(v0.one[n_1]);
 *
 * Only what is read whatever the data say is read before the loop, and only whole runs: what is left of them at a
 * border is shorter, and moved in fewer bytes. */
#include "backends/codegen/trips.h"

bool vector_reads(const expr *x, const expr *load)
{
    const int n = x_folds(x) ? 0 : x_is_choice(x) ? 1 : x->n;
    for (int i = 0; i < n; i++)
        if (vector_reads(x->arg[i], load))
            return true;
    return x_same(x, load);
}

bool vector_moves(void *user, const atom *a)
{
    const int *own = user; /* the variable, and the axis */
    return a->kind == A_VAR ? a->var == own[0] : a->kind == A_EXPR && x_axes(a->x) >> own[1] & 1;
}

/* What all places have in common where element 0 of the run lies: multiples of so many elements. 0: elements of the run
 * are no neighbours. */
static int64_t grain_of(emitter *m, int load, int axis, int64_t trips)
{
    const affine *inner = m->tile.inner[axis];
    int own[] = {var_add(&m->sp, "", 0, trips - 1), axis};
    m->tile.inner[axis] = affine_add(&m->sp, inner, affine_var(&m->sp, own[0]), 1);
    const affine *at = load == RESULT ? store_offset(m, m->tile.inner) : source_offset(m, load, m->tile.inner);
    m->tile.inner[axis] = inner;
    const bool neighbours = affine_coef(at, own[0]) == 1;
    int64_t grain = int_gcd(at->c, place_grain(m, load));
    for (int i = 0; i < at->n && neighbours; i++) {
        const affine one = {.n = 1, .t = &at->t[i]};
        if (at->t[i].a->kind != A_VAR && affine_uses(&one, vector_moves, own))
            grain = 1;
        else if (at->t[i].a->kind != A_VAR || at->t[i].a->var != own[0])
            grain = int_gcd(grain, at->t[i].coef);
    }
    m->sp.n--;
    return neighbours ? grain : 0;
}

static dtype dtype_of(const emitter *m, int load)
{
    return load == RESULT ? stored_as(m->p, m->s->node) : source_dtype(m, load);
}

static const move_form *form_of(emitter *m, int load, const loop *q)
{
    const int64_t trips = m->here.cur[q->axis], size = ts_dtype_bytes(dtype_of(m, load));
    const bool near = load_reach(m, load) != ALL; /* counted from where the loops around stand */
    if (load != RESULT && (emit_single(m, load) || m->data.source[m->stage.at][load].mask))
        return NULL;
    const int64_t grain = near && m->stage.peeled ? 0 : grain_of(m, load, q->axis, trips);
    const move_form *f = m->d->move;
    while (grain && f->bytes > size && (trips * size % f->bytes || grain * size % f->bytes))
        f++;
    return grain && f->bytes > size ? f : NULL;
}

static void declare(emitter *m, int load, const char *name)
{
    const move_form *f = m->tile.vector.form[load];
    const int64_t size = ts_dtype_bytes(dtype_of(m, load)), trips = m->tile.vector.trips;
    code_let(&m->out.code,
             arena_format(m->mem, "union { %s at[%lld]; %s one[%lld]; }", f->type, (long long)(trips * size / f->bytes),
                          memory_type(m->d, dtype_of(m, load)), (long long)trips),
             name, NULL);
}

static void move(emitter *m, int load, const char *name, const cexpr *place, bool store) /* all pieces */
{
    const move_form *f = m->tile.vector.form[load];
    const int64_t pieces = m->tile.vector.trips * ts_dtype_bytes(dtype_of(m, load)) / f->bytes;
    for (int64_t i = 0; i < pieces; i++) {
        const char *of = arena_format(m->mem, "%s%s%s *", m->d->space[load_reach(m, load)], store ? "" : "const ",
                                      f->type);
        const cexpr *piece = cexpr_number(m->mem, i),
                    *here = cexpr_element(m->mem, arena_format(m->mem, "%s.at", name), piece, IN_REGISTERS),
                    *start = cexpr_pointer(m->mem, of, emit_address(m, place), cexpr_number(m->mem, 0), f->bytes);
        cexpr *there = (cexpr *)emit_at(m, start, piece, load);
        there->bytes = f->bytes;
        code_store(&m->out.code, store ? there : here, store ? here : there);
    }
}

static const char *name_of(const emitter *m, int load)
{
    return load == RESULT ? "vy" : arena_format(m->mem, "v%d", load);
}

static bool any_reads(int n, const expr *const *x, const expr *load)
{
    bool any = false;
    for (int k = 0; k < n; k++)
        any = any || vector_reads(x[k], load);
    return any;
}

/* Whether some element of the result is asked for what it was: an operand that it lies over, on a condition. */
static bool keeps(const emitter *m, const vector_access *v)
{
    bool any = false;
    for (int i = 0; i < m->s->n_load; i++)
        any = any || (m->data.source[m->stage.at][i].from == FROM_RESULT && !v->form[i]);
    return any && v->form[RESULT];
}

bool vector_open(emitter *m, const loop *q, const char *trip, int n, const expr *const *x, bool stores)
{
    vector_access v = {.trips = m->here.cur[q->axis], .trip = trip};
    const cexpr *place[RESULT + 1];
    bool any = false;
    if (!m->d->move)
        return false;
    for (int i = 0; i < m->s->n_load; i++)
        if (any_reads(n, x, m->s->load[i]) && (v.form[i] = form_of(m, i, q)))
            place[i] = emit_element(m, i), any = true;
    v.form[RESULT] = stores ? form_of(m, RESULT, q) : NULL;
    const bool kept = keeps(m, &v);
    if (kept)
        place[RESULT] = emit_result(m);
    if (!any && !v.form[RESULT])
        return false;
    code_open(&m->out.code, (stmt){.kind = S_BLOCK});
    m->tile.vector = v;
    for (int i = 0; i <= RESULT; i++)
        if (v.form[i])
            declare(m, i, name_of(m, i));
    for (int i = 0; i < m->s->n_load; i++)
        if (v.form[i])
            move(m, i, name_of(m, i), place[i], false);
    if (kept)
        move(m, RESULT, name_of(m, RESULT), place[RESULT], false);
    return true;
}

const cexpr *vector_element(const emitter *m, int load)
{
    return m->tile.vector.form[load] ? cexpr_element(m->mem, arena_format(m->mem, "%s.one", name_of(m, load)),
                                                     cexpr_word(m->mem, m->tile.vector.trip), IN_REGISTERS)
                                     : NULL;
}

void vector_close(emitter *m)
{
    const vector_access v = m->tile.vector;
    if (v.form[RESULT]) {
        m->tile.vector.form[RESULT] = NULL;
        const cexpr *y = emit_result(m);
        m->tile.vector = v;
        move(m, RESULT, name_of(m, RESULT), y, true);
    }
    code_close(&m->out.code);
    m->tile.vector = (vector_access){0};
}

strip *accesses_pass(emitter *m, strip *t)
{
    const loop *q = m->tile.made && t->kind == T_LOOP ? trips_loop(m, t) : NULL;
    if (!q || !q->role->lanes || q->step > 1 || t->loop < nest_unrolled(m->s) ||
        !(t->ph == BODY ? trips_even(m, t->loop) : t->ph == FINISH && !mask_bounds(m, t->loop)))
        return t;
    return trips_wrap(m, T_ACCESS, t);
}
