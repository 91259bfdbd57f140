/* search.c - loops that a kernel could have: points of a space of register tiles, orders, steps and copies, written in
 * the notation and checked as a rule's loops are. The quickest by the prediction are looked for by changing one choice
 * of a point at a time, from the best points so far on. */
#include "schedule/explain/explain.h"
#include "schedule/nest/nest.h"
#include "schedule/passes/layouts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 16, MOST_VECTORS = 8, MOST_LOOPS = 400 }; /* bytes of a text */
enum { BEAM = 5, ROUNDS = 6, KEPT = 512, ALIKE = 3, TRIES = 64 };

/* What is chosen; each is a number below its bound. */
typedef enum choice {
    COLUMN,  /* the axis of the vectors, among those that can be */
    ROW,     /* the result axis that is unrolled: the last but this one; beyond the first: none */
    ROWS,    /* of the tile, less 1 */
    VECTORS, /* of the tile, less 1 */
    APART,   /* whether each is written out: what an element is, where pieces alternate, is then known of each */
    FOLDS,   /* the order of the folded axes: as they are, or the last one first */
    DEEP,    /* a step of the last folded axis, outside of the tile */
    UNROLL,  /* steps of it that are written out */
    OUTER,   /* which loop is outermost, and spread: rows, columns, or another axis */
    PIECES,  /* that a worker gets of it: 0: single trips */
    PANEL,   /* tiles that the step of a further loop over the columns has; 0: there is none */
    ORDER,   /* whether columns stand within rows */
    STAGED,  /* 0: what the guess fetches; else a copy of that load but one */
    N_CHOICE
} choice;
typedef struct point {
    int8_t at[N_CHOICE];
    double seconds;
    const char *bound;
    char loops[MOST_LOOPS];
} point;

typedef struct space_of {
    const plan *p;
    const kernel *k;
    kernel own; /* a copy, which has each point's loops in turn */
    stage *stage;
    int which, n_column, n_row, column[MAX_AXIS], row[MAX_AXIS];
    int n_fold, fold[MAX_AXIS];
    int64_t left[MAX_AXIS], block[MAX_AXIS], lanes;
    int most[N_CHOICE];
    int n; /* legal points that were met, the quickest first */
    point *met;
} space_of;

/* ---- the space ---- */
static bool can_be_column(const space_of *o, const stage *s, int a)
{
    const loop *last = s->nest.n ? &s->nest.loop[nest_last(s)] : NULL;
    return o->left[a] > 1 &&
           (o->block[a] > 1 || a == s->n_result - 1 || (last && last->role->lanes && last->axis == a));
}

static void space_open(space_of *o, const plan *p, const kernel *k)
{
    *o = (space_of){.p = p, .k = k, .own = *k, .which = k->main};
    o->stage = heap_array((size_t)k->n_stage, sizeof *o->stage);
    memcpy(o->stage, k->stage, (size_t)k->n_stage * sizeof *o->stage);
    o->own.stage = o->stage, o->met = heap_array(KEPT + 1, sizeof *o->met);
    const stage *s = &k->stage[o->which];
    o->lanes = nest_lanes(p, s);
    for (int a = 0; a < s->n_axis; a++)
        o->left[a] = nest_left(k, s, a, -1), o->block[a] = stage_block(p, s, a);
    for (int a = s->n_axis - 1; a >= 0; a--) {
        if (s->folds >> a & 1)
            o->fold[o->n_fold++] = a;
        else if (o->left[a] > 1)
            o->row[o->n_row++] = a;
        if (can_be_column(o, s, a))
            o->column[o->n_column++] = a;
    }
    const int n_load = stage_fold(s) ? s->n_folded : 0;
    const int most[N_CHOICE] = {[COLUMN] = o->n_column,
                                [ROW] = o->n_row < 3 ? o->n_row + 1 : 4,
                                [ROWS] = MOST_ROWS,
                                [VECTORS] = MOST_VECTORS,
                                [APART] = o->n_fold ? 1 : 2,
                                [FOLDS] = o->n_fold > 1 ? 2 : 1,
                                [DEEP] = o->n_fold ? 5 : 1,
                                [UNROLL] = o->n_fold ? 4 : 1,
                                [OUTER] = 3,
                                [PIECES] = 4,
                                [PANEL] = 5,
                                [ORDER] = 2,
                                [STAGED] = 1 + (n_load < 4 ? n_load : 4)};
    memcpy(o->most, most, sizeof most);
}

static void space_close(space_of *o)
{
    free(o->stage), free(o->met);
}

/* ---- a point as loops ---- */
typedef struct writer {
    const space_of *o;
    const stage *s;
    text t;
    int64_t left[MAX_AXIS]; /* under what was written */
    const char *role;       /* of the next loop, the outermost; "" */
} writer;

static const char *role_called(const target *on, bool (*is)(const role *r))
{
    for (int i = 0; i < on->n_role; i++)
        if (is(&on->role[i]))
            return on->role[i].name;
    return NULL;
}
static bool is_spread(const role *r)
{
    return r->parallel;
}
static bool is_lanes(const role *r)
{
    return r->in_registers && r->lanes;
}
static bool is_unrolled(const role *r)
{
    return r->in_registers && !r->lanes && !r->dot && !r->unit;
}

/* A loop that does something: of more than one trip */
static void put(writer *w, int axis, int64_t step, const char *how)
{
    if (step >= w->left[axis] && !(how && step == 1))
        return;
    text_add(&w->t, "%s%s", w->t.length ? " " : "", w->s->letter[axis]);
    if (step > 1)
        text_add(&w->t, "/%lld", (long long)step);
    how = how ? how : w->s->folds >> axis & 1 ? "" : w->role;
    if (*how)
        text_add(&w->t, "@%s", how);
    w->role = "";
    w->left[axis] = step;
}

/* The outermost loop: pieces of its axis, whole tiles of it, that are spread over the workers. */
static void put_outer(writer *w, const point *q, int axis, int64_t tile)
{
    const bool panel = axis == w->o->column[q->at[COLUMN]] && q->at[PANEL]; /* steps of it enough */
    const int64_t share = q->at[PIECES] && !panel ? (int64_t)w->o->p->threads << (q->at[PIECES] - 1) : 0;
    if (share)
        put(w, axis, int_ceil_div(int_ceil_div(w->left[axis], share), tile) * tile, NULL);
    put(w, axis, tile, NULL);
}

static void put_folds(writer *w, const point *q, const char *unroll)
{
    const space_of *o = w->o;
    for (int i = o->n_fold - 1; i >= 0; i--) {
        const int at = q->at[FOLDS] ? (i + 1) % o->n_fold : i, a = o->fold[at];
        if (o->block[a] > 1)
            put(w, a, o->block[a], NULL);
        const int64_t steps = (int64_t)1 << q->at[UNROLL];
        if (i == 0 && steps > 1)
            put(w, a, steps, NULL), put(w, a, 1, unroll);
        else
            put(w, a, 1, NULL);
    }
}

/* Steps of a tile: rows of one axis, vectors of another. The loops around, from outside in. */
static void put_point(writer *w, const point *q)
{
    const space_of *o = w->o;
    const target *on = o->p->on;
    const char *unroll = role_called(on, is_unrolled), *lanes = role_called(on, is_lanes);
    const int c = o->column[q->at[COLUMN]], r = q->at[ROW] < o->n_row ? o->row[q->at[ROW]] : -1,
              last = o->n_fold ? o->fold[q->at[FOLDS]] : -1;
    const int64_t tile = o->lanes * (q->at[VECTORS] + 1), rows = q->at[ROWS] + 1,
                  panel = tile * ((int64_t)1 << (q->at[PANEL] + 1)),
                  deep = q->at[DEEP] ? (int64_t)64 << q->at[DEEP] : 0;
    int other = -1; /* the first that is neither */
    for (int i = 0; i < o->n_row; i++)
        other = o->row[i] != c && o->row[i] != r ? o->row[i] : other;
    w->role = o->k->n_stage == 1 ? role_called(on, is_spread) : "";
    if (q->at[OUTER] == 2 && other >= 0)
        put_outer(w, q, other, 1);
    else if (q->at[OUTER] == 1 && r >= 0)
        put_outer(w, q, r, rows);
    else
        put_outer(w, q, c, q->at[PANEL] ? panel : tile);
    if (deep)
        put(w, last, deep, NULL);
    if (q->at[PANEL])
        put(w, c, panel, NULL);
    for (int i = o->n_row - 1; i >= 0; i--)
        if (o->row[i] != c && o->row[i] != r)
            put(w, o->row[i], 1, NULL);
    for (int pass = 0; pass < 2; pass++)
        if ((pass == 0) == (q->at[ORDER] == 0))
            put(w, c, tile, NULL);
        else if (r >= 0)
            put(w, r, rows, NULL);
    if (q->at[STAGED] && w->t.length)
        text_add(&w->t, "+%s", operand_called(q->at[STAGED] - 1).s);
    put_folds(w, q, unroll);
    if (r >= 0 && w->left[r] > 1)
        put(w, r, 1, unroll);
    const int64_t apart = o->block[c] == 1 && q->at[APART] ? o->lanes : o->block[c];
    if (apart > 1)
        put(w, c, apart, unroll);
    put(w, c, 1, lanes);
}

static void write_loops(const space_of *o, point *q)
{
    writer w = {.o = o, .s = &o->k->stage[o->which]};
    memcpy(w.left, o->left, sizeof w.left);
    put_point(&w, q);
    text all = {0};
    if (o->k->n_stage > 1) { /* as they are but for this stage */
        nest_print_shared(&all, o->k, false);
        text_add(&all, " ; %s: ", w.s->name);
    }
    text_add(&all, "%s", text_str(&w.t));
    snprintf(q->loops, sizeof q->loops, "%s", all.length < sizeof q->loops ? text_str(&all) : "");
    text_free(&w.t), text_free(&all);
}

/* ---- looking for them ---- */
/* With weights as the loops walk them */
static bool foresee(space_of *o, point *q, err *e)
{
    const rule *const none[1 + MAX_STAGES] = {0};
    plan p = *o->p;
    p.mem = (arena){0}, p.cap_leaf = p.n_leaf;
    const bool ok = loops_lay_out(&p, &o->own, o->which, none, e);
    if (ok) {
        p.on->guess->prefetch(&p, &o->own);
        const prediction f = kernel_predict(&p, &o->own, NULL, NULL);
        q->seconds = f.seconds, q->bound = f.bound;
    }
    arena_free(&p.mem);
    return ok;
}

static bool legal(space_of *o, point *q)
{
    err e = {0};
    write_loops(o, q);
    for (int i = 0; i < o->n; i++)
        if (!strcmp(o->met[i].loops, q->loops))
            return false;
    memcpy(o->stage, o->k->stage, (size_t)o->k->n_stage * sizeof *o->stage);
    o->own = *o->k, o->own.stage = o->stage;
    stage *s = &o->stage[o->which];
    const bool one = o->k->n_stage == 1;
    s->nest.n = 0;
    for (int i = s->n_staging = 0; !one && i < o->k->stage[o->which].n_staging; i++)
        if (o->k->stage[o->which].staging[i].shared)
            s->staging[s->n_staging++] = o->k->stage[o->which].staging[i];
    const char *own = one ? q->loops : strchr(q->loops, ':');
    if (!own || !*own || !nest_parse_stage(o->p->on, &o->own, o->which, one ? own : own + 2, &e) ||
        !nest_fits(o->p, &o->own, q->loops, &e))
        return false;
    return foresee(o, q, &e);
}

static void keep(space_of *o, const point *q) /* in order */
{
    int i = o->n < KEPT ? o->n++ : KEPT;
    for (; i > 0 && o->met[i - 1].seconds > q->seconds; i--)
        if (i < KEPT)
            o->met[i] = o->met[i - 1];
    if (i < KEPT)
        o->met[i] = *q;
}

static void draw(space_of *o, int most, uint64_t seed)
{
    uint64_t next = 0;
    for (int i = 0; i < TRIES * most && o->n < most && o->n < KEPT; i++) {
        point q = {0};
        for (int c = 0; c < N_CHOICE; c++)
            q.at[c] = (int8_t)(random_bits(seed, next++) % (uint64_t)o->most[c]);
        if (legal(o, &q))
            keep(o, &q);
    }
}

static void improve(space_of *o)
{
    point beam[BEAM];
    for (int round = 0; round < ROUNDS; round++) {
        const int n = o->n < BEAM ? o->n : BEAM;
        const double best = o->n ? o->met[0].seconds : 0;
        memcpy(beam, o->met, (size_t)n * sizeof *beam);
        for (int i = 0; i < n; i++)
            for (int c = 0; c < N_CHOICE; c++)
                for (int v = 0; v < o->most[c]; v++) {
                    point q = beam[i];
                    q.at[c] = (int8_t)v;
                    if (v != beam[i].at[c] && legal(o, &q))
                        keep(o, &q);
                }
        if (round > 2 && o->met[0].seconds >= best)
            return;
    }
}

/* Few with one tile: a prediction tells others that differ in it better apart than those that do not. */
static bool is_new(const space_of *o, int i)
{
    int alike = 0;
    for (int j = 0; j < i; j++)
        alike += !memcmp(o->met[j].at, o->met[i].at, VECTORS + 1);
    return alike < ALIKE;
}

void plan_nests(const plan *p, const kernel *k, int most, uint64_t seed, text *out)
{
    space_of o;
    text_add(out, "[");
    const bool open = stage_nested(k->stage) && !k->scan && !k->moves && !k->merges && !k->converts && !p->on->group &&
                      nest_split(&k->stage[k->main]) < 0;
    space_open(&o, p, k);
    if (open && o.n_column)
        draw(&o, seed ? most : 4 * BEAM, seed ? seed : 1);
    if (!seed && o.n)
        improve(&o);
    for (int i = 0, n = 0; i < o.n && n < most; i++)
        if (seed || is_new(&o, i))
            n++, json_add(out, "{loops:%s,predicted_ns:%.4g,bound:%s}", o.met[i].loops, o.met[i].seconds * 1e9,
                          o.met[i].bound);
    text_add(out, "]");
    space_close(&o);
}
