/* tile.c - the innermost part of a stage: accumulators, the serial folds around them, and what follows the fold.
 *
 * The text is scalar loops with constant bounds; loops marked @unroll and @vector carry pragmas, and the compiler turns
 * the array of accumulators into registers. (Measured: the same speed as named vector registers, and the
 * text stays readable.) */
#include "backends/codegen/emit.h"

#include <stdio.h>
#include <string.h>

typedef enum phase { CLEAR, BODY, MERGE, FINISH } phase;

/* ---- one element of each phase ---- */
static void clear_one(emitter *m)
{
    text line = {0};
    emit_acc(m, &line, false);
    text_add(&line, " = ");
    cstyle_literal(&line, m->d, x_unit(m->mem, m->fold->fn, m->fold->dtype), m->p->reference);
    text_line(&m->body, "%s;", line.s);
    text_free(&line);
}

static void body_one(emitter *m)
{
    writer w = emit_writer(m);
    text acc = {0}, line = {0};
    const expr *x = with_idioms(m, m->term);
    emit_acc(m, &acc, false);
    cstyle_temporaries(&w, &m->body, x);
    const bool product = dtype_class(x->dtype) == D_REAL && x->kind == X_CALL && !strcmp(x->fn->name, "mul") &&
                         !strcmp(m->fold->fn->name, "add");
    if (product) {
        text a = {0}, b = {0};
        cstyle_expr(&w, &a, x->arg[0]), cstyle_expr(&w, &b, x->arg[1]);
        form_write(&line, m->uses, m->d, m->d->fma[m->fold->dtype == TS_F64 || m->p->reference],
                   (const char *[]){a.s, b.s, acc.s});
        text_free(&a), text_free(&b);
    } else {
        text value = {0};
        cstyle_expr(&w, &value, x);
        emit_combine(m, &line, acc.s, value.s);
        text_free(&value);
    }
    text_line(&m->body, "%s = %s;", acc.s, line.s);
    text_free(&acc), text_free(&line);
}

/* The lanes of a folded vector loop, in a fixed order: halves of them, down to one. (Comparing single numbers, one
 * after another, took a tenth of attention's time: which is larger is not foreseen.) */
static void merge_one(emitter *m)
{
    const int a = m->s->nest.loop[m->lane].axis;
    text at = {0}, low = {0}, high = {0}, sum = {0};
    emit_acc(m, &at, true);
    at.s[at.len -= 3] = 0; /* without its [0] */
    text_add(&low, "%s[i]", at.s);
    for (int64_t half, lanes = nest_left(m->k, m->s, a, m->lane - 1); lanes > 1; lanes = half) {
        half = (lanes + 1) / 2;
        high.len = sum.len = 0;
        text_add(&high, "%s[i + %lld]", at.s, (long long)half);
        emit_combine(m, &sum, low.s, high.s);
        text_line(&m->body, "SIMD");
        text_line(&m->body, "for (long i = 0; i < %lld; i++) %s = %s;", (long long)(lanes - half), low.s, sum.s);
    }
    text_free(&at), text_free(&low), text_free(&high), text_free(&sum);
}

static void finish_one(emitter *m)
{
    writer w = emit_writer(m);
    text value = {0}, y = {0}, acc = {0}, sum = {0};
    const char *wrap = cstyle_store(m->d, m->uses, stored_as(m->p, m->s->node));
    emit_result(m, &y);
    if (m->outer_fold) { /* partial sums wait in the result */
        emit_acc(m, &acc, true);
        emit_combine(m, &sum, y.s, acc.s);
        text_line(&m->body, "if (!first) %s = %s;", acc.s, sum.s);
    }
    const expr *x = with_idioms(m, partial_value(m));
    cstyle_temporaries(&w, &m->body, x);
    cstyle_expr(&w, &value, x);
    if (m->outer_fold)
        text_line(&m->body, "%s = last ? %s : %s;", y.s, value.s, acc.s);
    else
        text_line(&m->body, "%s = %s%s%s;", y.s, wrap, value.s, *wrap ? ")" : "");
    text_free(&value), text_free(&y), text_free(&acc), text_free(&sum);
}

/* ---- loops ---- */
typedef struct saved {
    int64_t cur[MAX_AXIS];
    const lin *inner[MAX_AXIS], *plain[MAX_AXIS];
} saved;

static void save(const emitter *m, saved *s)
{
    memcpy(s->cur, m->cur, sizeof s->cur), memcpy(s->inner, m->inner, sizeof s->inner),
        memcpy(s->plain, m->plain, sizeof s->plain);
}

static void restore(emitter *m, const saved *s)
{
    memcpy(m->cur, s->cur, sizeof s->cur), memcpy(m->inner, s->inner, sizeof s->inner),
        memcpy(m->plain, s->plain, sizeof s->plain);
}

typedef struct span { /* trips of a loop that are written with the same constants */
    int64_t first, end, left;
} span;

static int spans_of(const emitter *m, int l, phase ph, span out[MAX_APART + 1])
{
    const loop *q = &m->s->nest.loop[l];
    const int64_t left = m->cur[q->axis], full = left / q->step, rest = left % q->step;
    int n = 0;
    if (ph == BODY ? m->apart >> l & 1 : m->known >> l & 1)
        for (int64_t i = 0; i < full; i++)
            out[n++] = (span){i, i + 1, q->step};
    else if (full)
        out[n++] = (span){0, full, q->step};
    if (rest)
        out[n++] = (span){full, full + 1, rest};
    return n;
}

/* Without sums nothing stays in registers from trip to trip, and of 48 trips with halves gcc makes one piece in a
 * minute, of these at a time at once. */
enum { MOST_APIECE = 16 };

/* Opens loop l over some of its trips; false when none of them counts. */
static bool enter(emitter *m, int l, const span *s, phase ph)
{
    const loop *q = &m->s->nest.loop[l];
    int64_t first = s->first, end = s->end;
    text from = {0}, to = {0};
    char name[16];
    snprintf(name, sizeof name, "%s_%d", m->s->letter[q->axis], l);
    bool moves = ph == BODY && bounds_loop(m, l, &first, &end, &from, &to);
    if (mask_bounds(m, l)) {
        from.len = to.len = 0, moves = m->into->masked = true;
        text_add(&from, "%lld", (long long)first), mask_end(m, &to, l, end);
    }
    if (first < end && !moves && end == first + 1)
        text_line(&m->body, "{ enum { %s = %lld }; (void)%s;", name, (long long)first, name);
    else if (first < end) {
        if (q->role->in_registers && !q->role->lanes)
            text_line(&m->body, "UNROLL(%lld)",
                      (long long)(m->fold || end - first < MOST_APIECE ? end - first : MOST_APIECE));
        if (q->role->lanes && ph != MERGE)
            text_line(&m->body, "SIMD");
        if (moves)
            text_line(&m->body, "for (long %s = %s; %s < %s; %s++) {", name, from.s, name, to.s, name);
        else
            text_line(&m->body, "for (long %s = %lld; %s < %lld; %s++) {", name, (long long)first, name, (long long)end,
                      name);
    }
    text_free(&from), text_free(&to);
    if (first >= end)
        return false;
    m->body.depth++;
    const lin *at = lin_var(&m->sp, var_add(&m->sp, name, first, end - 1));
    m->inner[q->axis] = lin_add(&m->sp, m->inner[q->axis], at, q->step);
    m->plain[q->axis] = lin_add(&m->sp, m->plain[q->axis], at, q->step);
    m->cur[q->axis] = s->left;
    return true;
}

static void leave(emitter *m)
{
    m->body.depth--;
    text_line(&m->body, "}");
}

static void register_loops(emitter *m, int l, phase ph)
{
    static void (*const one[])(emitter *) = {clear_one, body_one, merge_one, finish_one};
    if (l == m->s->nest.n) {
        one[ph](m);
        return;
    }
    const loop *q = &m->s->nest.loop[l];
    const bool folded = m->s->folds >> q->axis & 1;
    if (folded && ph != BODY && !(ph == CLEAR && l == m->lane)) {
        register_loops(m, l + 1, ph);
        return;
    }
    saved all;
    span spans[MAX_APART + 1];
    save(m, &all);
    if (folded && ph == CLEAR) /* all lanes, clipped trips too */
        m->cur[q->axis] = nest_left(m->k, m->s, q->axis, l - 1);
    const int n = spans_of(m, l, ph, spans);
    for (int i = 0; i < n; i++) {
        saved was;
        save(m, &was);
        if (enter(m, l, &spans[i], ph)) {
            register_loops(m, l + 1, ph);
            leave(m);
        }
        restore(m, &was);
    }
    restore(m, &all);
}

static void fold_loops(emitter *m, int l, int unrolled)
{
    if (l == unrolled) {
        emit_fetch(m);
        register_loops(m, l, BODY);
        return;
    }
    span spans[MAX_APART + 1];
    const int n = spans_of(m, l, BODY, spans);
    for (int i = 0; i < n; i++) {
        saved was;
        save(m, &was);
        if (enter(m, l, &spans[i], BODY)) {
            fold_loops(m, l + 1, unrolled);
            leave(m);
        }
        restore(m, &was);
    }
}

static void declare_acc(emitter *m)
{
    text dims = {0};
    for (int l = nest_unrolled(m->s); l < m->s->nest.n; l++) {
        const loop *q = &m->s->nest.loop[l];
        const bool folded = m->s->folds >> q->axis & 1;
        if (folded && l != m->lane)
            continue;
        int64_t have = folded                       ? nest_left(m->k, m->s, q->axis, l - 1)
                       : m->cur[q->axis] < q->range ? m->cur[q->axis]
                                                    : q->range;
        text_add(&dims, "[%lld]", (long long)((have + q->step - 1) / q->step));
    }
    text_line(&m->body, "%s acc%s;", acc_type(m), text_str(&dims));
    text_free(&dims);
}

/* Where the tile starts: a symbol for each axis, times what every loop outside advances it by a multiple of; a number
 * where a border has a tile of its own. */
static void start_symbols(emitter *m, tile_made *f)
{
    const int tile = nest_tile(m->s);
    for (int a = 0; a < m->s->n_axis; a++) {
        int64_t step = 0;
        char name[16];
        for (int i = 0; a < m->s->n_shared && i < m->k->shared.n; i++)
            if (m->k->shared.loop[i].axis == a)
                step = int_gcd(m->k->shared.loop[i].step, step);
        for (int l = 0; l < tile; l++)
            if (m->s->nest.loop[l].axis == a)
                step = int_gcd(m->s->nest.loop[l].step, step);
        m->origin[a] = m->inner[a] = m->plain[a] = lin_const(&m->sp, 0);
        if (!step)
            continue;
        f->low[a] = 0, f->high[a] = m->s->extent[a];
        if (m->peeled >> a & 1)
            lin_range(&m->sp, m->axis[a], &f->low[a], &f->high[a]);
        if (f->low[a] == f->high[a]) {
            m->origin[a] = m->inner[a] = m->plain[a] = lin_const(&m->sp, f->low[a]);
            continue;
        }
        snprintf(name, sizeof name, "@%s", m->s->letter[a]);
        m->origin[a] = m->inner[a] = lin_scale(&m->sp,
                                               lin_var(&m->sp, var_add(&m->sp, name, 0, m->s->extent[a] / step)), step);
        snprintf(name, sizeof name, "%s_at", m->s->letter[a]);
        m->plain[a] = lin_var(&m->sp, var_add(&m->sp, name, f->low[a], f->high[a]));
    }
}

static void write_head(emitter *m, const tile_made *f, text *out)
{
    text all = {0};
    char name[24];
    int operands = 0;
    snprintf(name, sizeof name, "tile%d", f->number);
    text_add(&all, "%s *%sy", memory_type(m->d, stored_as(m->p, m->s->node)), m->d->restricted);
    for (int i = 0; i < m->s->n_load; i++)
        if (f->loads[i])
            text_add(&all, ", const %s *%sx%d", memory_type(m->d, source_dtype(m, i)), m->d->restricted, i), operands++;
    for (int a = 0; a < m->s->n_axis; a++)
        if (f->passed >> a & 1)
            text_add(&all, ", const %s %s_at", m->d->index, m->s->letter[a]);
    if (m->outer_fold)
        text_add(&all, ", const %s first, const %s last", m->d->truth, m->d->truth);
    if (f->prefetch)
        emit_prefetch_parameters(m, &all);
    if (f->masked)
        text_add(&all, ", const %s limit", m->d->index);
    if (callees_fault(&f->uses, m->d))
        text_add(&all, ", %s", m->d->fault_parameter);
    m->d->tile(out,
               &(tile_head){name, all.s, operands, !m->fold && kernel_sums(m->k) && callees_chain(&f->uses, m->d)});
    text_add(out, "{\n");
    for (int i = 0; i < m->s->n_load; i++) {
        const dtype d = source_dtype(m, i);
        if (!f->loads[i] || !emit_single(m, i))
            continue;
        const char *wrap = cstyle_load(m->d, m->uses, d);
        text_add(out, "    const %s s%d = %sx%d[0]%s;\n", value_type(m->d, d, m->p->reference), i, wrap, i,
                 *wrap ? ")" : "");
    }
    text_free(&all);
}

static void write_body(emitter *m, tile_made *f)
{
    start_symbols(m, f);
    bounds_tile(m);
    for (int i = 0; i < m->s->n_load; i++)
        f->c[i] = source_offset(m, i, m->inner)->c;
    f->c[RESULT] = store_offset(m, m->inner)->c;
    if (m->fold) {
        declare_acc(m);
        register_loops(m, nest_unrolled(m->s), CLEAR);
        const bool tested = bounds_open(m), bare = !tested && nest_tile(m->s) == m->s->nest.n;
        if (bare) /* no loop keeps its names from those of what follows */
            text_line(&m->body, "{"), m->body.depth++;
        fold_loops(m, nest_tile(m->s), nest_unrolled(m->s));
        if (tested || bare)
            leave(m);
        if (m->lane >= 0)
            register_loops(m, nest_unrolled(m->s), MERGE);
    } else
        emit_fetch(m);
    register_loops(m, nest_unrolled(m->s), FINISH);
}

static tile_made *make_tile(emitter *m)
{
    tile_made *f = &m->tile[m->n_tile];
    text was = m->body;
    callees *outer_uses = m->uses;
    saved outer;
    const int n_var = m->sp.n;
    bool whole[COUNT(f->whole)];
    if (m->n_tile == MAX_TILE) {
        err_set(m->e, TS_UNSUPPORTED, "more than %d shapes of tile in one kernel: choose steps that divide the extents",
                MAX_TILE);
        return NULL;
    }
    *f = (tile_made){.stage = m->at, .number = m->n_tile++};
    memcpy(f->cur, m->cur, sizeof f->cur);
    save(m, &outer);
    m->body = (text){.depth = 1};
    m->into = f, m->uses = &f->uses;
    do { /* again when a load turned out to be indexed from its start: everywhere, then */
        memcpy(whole, f->whole, sizeof whole), m->body.len = 0, m->sp.n = n_var, f->uses = (callees){0};
        restore(m, &outer);
        write_body(m, f);
    } while (memcmp(f->whole, whole, sizeof whole) != 0);
    write_head(m, f, &m->tiles);
    text_add(&m->tiles, "%s}\n\n", text_str(&m->body));
    text_free(&m->body);
    m->body = was, m->into = NULL, m->sp.n = n_var, m->uses = outer_uses;
    callees_add(m->uses, &f->uses);
    restore(m, &outer);
    return f;
}

static bool serves(emitter *m, const tile_made *f) /* the extents and, at borders, the place are those it is for */
{
    bool same = f->stage == m->at && !memcmp(f->cur, m->cur, (size_t)m->s->n_axis * sizeof *m->cur);
    for (int a = 0; same && a < m->s->n_axis; a++) {
        int64_t low, high;
        if (!(m->peeled >> a & 1))
            continue;
        lin_range(&m->sp, m->axis[a], &low, &high);
        same = low == f->low[a] && high == f->high[a];
    }
    return same;
}

void emit_tile(emitter *m)
{
    const tile_made *f = NULL;
    text call = {0};
    for (int i = 0; i < m->n_tile && !f; i++)
        if (serves(m, &m->tile[i]))
            f = &m->tile[i];
    if (!f && !(f = make_tile(m)))
        return;
    text_add(&call, "tile%d(", f->number);
    emit_pointer(m, &call, f, RESULT);
    for (int i = 0; i < m->s->n_load; i++)
        if (f->loads[i])
            text_add(&call, ", "), emit_pointer(m, &call, f, i);
    for (int a = 0; a < m->s->n_axis; a++)
        if (f->passed >> a & 1)
            text_add(&call, ", "), emit_lin(m, &call, m->axis[a]);
    if (m->outer_fold)
        text_add(&call, ", first, last");
    if (f->prefetch)
        emit_prefetch_arguments(m, &call);
    if (f->masked)
        text_add(&call, ", limit");
    if (callees_fault(&f->uses, m->d))
        text_add(&call, ", %s", m->d->fault);
    text_line(&m->body, "%s);", call.s);
    text_free(&call);
}
