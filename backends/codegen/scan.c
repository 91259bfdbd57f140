/* scan.c - states carried along axes: folds of several values, and scans. Parts share the longest other axis of the
 * result. Where the last axis of the result is not the one that is walked, a block of it has its states in arrays, so
 * that a step is a loop of vectors; else one row after the other is walked. */
#include "backends/codegen/vectors.h"

enum { BLOCK = 64 };
typedef struct walking {
    emitter *m;
    const expr *x;
    writer w;
    int n, cut;    /* states; the axis that parts share, or -1 */
    row_loop lane; /* along the axis in blocks; -1: there is none */
} walking;

static void declare(walking *k)
{
    emitter *m = k->m;
    for (int i = 0; i < k->n; i++)
        code_array(&m->out.code, value_type(m->d, k->x->arg[i]->dtype, m->p->reference), arena_format(m->mem, "s%d", i),
                   k->lane.axis >= 0 ? arena_format(m->mem, "[%d]", BLOCK) : NULL);
}

static const cexpr *state_of(const walking *k, int i)
{
    return cexpr_indexed(k->m->mem, arena_format(k->m->mem, "s%d", i), k->w.state);
}

/* x, in which vectors of states go by that name */
static const cexpr *value_by(walking *k, const char *states, const expr *x)
{
    writer w = k->w;
    if (vectors_here(k->m))
        w.states = states, w.state = NULL;
    const cexpr *value = value_shaped(k->m, &w, x);
    k->w.n_temporary = w.n_temporary;
    return value;
}

static void name_states(walking *k) /* vectors of them, which arrays have */
{
    emitter *m = k->m;
    for (int i = 0; vectors_here(m) && i < k->n; i++) {
        const dtype d = k->x->arg[i]->dtype;
        value_let(m, "was", i, d, vector_load(m, vector_kind_of(m, d), state_of(k, i)));
    }
}

/* States become parts first, first + 1, ... of the expression, all computed from what they were. */
static void set_states(walking *k, int first)
{
    emitter *m = k->m;
    for (int i = 0; i < k->n; i++) {
        const expr *x = k->x->arg[first + i];
        value_let(m, "next", i, x->dtype, value_by(k, "was", x));
    }
    for (int i = 0; i < k->n; i++) {
        const cexpr *next = cexpr_word(m->mem, arena_format(m->mem, "next%d", i));
        if (vectors_here(m))
            vector_store(m, vector_kind_of(m, k->x->arg[i]->dtype), state_of(k, i), next);
        else
            code_store(&m->out.code, state_of(k, i), next);
    }
}

/* ---- what is done with an element, or with a vector ---- */
static const affine *result_place(const void *user)
{
    const walking *k = user;
    return store_offset(k->m, k->m->here.axis);
}

static void put_result(walking *k, const char *states)
{
    plain_put(k->m, result_place(k), value_by(k, states, x_result(k->x)), false);
}

static void start(void *user)
{
    set_states(user, 0);
}

static void step(void *user)
{
    walking *k = user;
    name_states(k), set_states(k, k->n);
    if (!k->x->folds)
        put_result(k, "next");
}

static void finish(void *user)
{
    name_states(user), put_result(user, "was");
}

static void over_lane(walking *k, void (*write)(void *user))
{
    k->lane.write = write;
    if (k->lane.axis >= 0) {
        plain_row(k->m, &k->lane, cexpr_word(k->m->mem, "block"), cexpr_word(k->m->mem, "end"));
        return;
    }
    code_open(&k->m->out.code, (stmt){.kind = S_BLOCK});
    write(k);
    code_close(&k->m->out.code);
}

static bool read_by_states(const expr *x) /* some place that is read follows from a state */
{
    bool any = false;
    for (int i = 0; i < x->n && !any; i++)
        any = (x->kind == X_LOAD && x_count(x->arg[i], X_STATE) > 0) || read_by_states(x->arg[i]);
    return any;
}

/* Truth is no mask in arrays; what is read element by element all along gains nothing from vectors between. */
static int vectors_along(walking *k)
{
    bool apart = false;
    for (int i = 0; i < k->n; i++)
        apart = apart || k->x->arg[i]->dtype == TS_BOOL || dtype_small(k->x->arg[i]->dtype) ||
                read_by_states(k->x->arg[k->n + i]);
    return apart ? 0 : vector_beside(k->m, &k->lane, 2 * k->n + 1, k->x->arg);
}

static int scan_axes(walking *k) /* opens the loops that are walked; their number */
{
    const stage *s = k->m->s;
    int n = 0;
    for (int a = 0; a < s->n_axis; a++) {
        if (k->x->folds ? !(k->x->folds >> a & 1) : a != k->x->axis)
            continue;
        plain_loop(k->m, a, emit_whole(k->m, 0), emit_whole(k->m, s->extent[a])), n++;
    }
    return n;
}

static void write_rows(walking *k)
{
    declare(k);
    over_lane(k, start);
    const int loops = scan_axes(k);
    over_lane(k, step);
    plain_end(k->m, loops);
    if (k->x->folds)
        over_lane(k, finish);
}

static void choose_axes(walking *k)
{
    const stage *s = k->m->s;
    const int scan = k->x->folds ? -1 : k->x->axis;
    k->cut = -1;
    for (int a = 0; a < s->n_result; a++)
        if (a != scan && (k->cut < 0 || s->extent[a] > s->extent[k->cut]))
            k->cut = a;
    k->lane = (row_loop){
        .axis = s->n_result && s->n_result - 1 != scan ? s->n_result - 1 : -1, .place = result_place, .user = k};
    if (k->lane.axis >= 0)
        k->lane.n = vectors_along(k);
}

void emit_scan(emitter *m)
{
    const stage *s = m->s;
    walking k = {.m = m, .x = inside_value(m, NULL, s->value), .w = emit_writer(m), .n = s->value->n_state};
    const cexpr *low = cexpr_word(m->mem, "low"), *high = cexpr_word(m->mem, "high");
    int loops = 0;
    choose_axes(&k);
    emit_range(m, k.cut >= 0 ? s->extent[k.cut] : -1);
    for (int a = 0; a < s->n_result; a++) {
        if (a == k.lane.axis || (!k.x->folds && a == k.x->axis))
            continue;
        plain_loop(m, a, a == k.cut ? low : emit_whole(m, 0), a == k.cut ? high : emit_whole(m, s->extent[a])), loops++;
    }
    if (k.lane.axis >= 0) {
        const bool cut = k.lane.axis == k.cut;
        const cexpr *end = cut ? high : emit_long(m, s->extent[k.lane.axis]);
        code_open(
            &m->out.code,
            (stmt){.kind = S_LOOP, .name = "block", .from = cut ? low : emit_whole(m, 0), .to = end, .step = BLOCK});
        loops++;
        code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->index), "end",
                 cexpr_least(m->mem, cexpr_plus(m->mem, cexpr_word(m->mem, "block"), BLOCK), end));
        const cexpr *at[] = {cexpr_word(m->mem, arena_format(m->mem, "%s_%d", s->letter[k.lane.axis], k.lane.axis)),
                             cexpr_word(m->mem, "block")};
        k.w.state = index_add(m->mem, NULL, cexpr_sum(m->mem, 0, 2, at, (const int64_t[]){1, -1}));
    }
    m->stage.state = k.w.state;
    write_rows(&k);
    m->stage.state = NULL;
    plain_end(m, loops);
}
