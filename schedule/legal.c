/* legal.c - loops against the tables of the target. */
#include "schedule/legal.h"
#include "schedule/nest.h"
#include "schedule/slice.h"

/* Partial sums wait in the result, which must hold them exactly as the accumulator does: one of halves is an f32. */
static bool check_partial(const stage *s, err *e)
{
    const expr *fold = stage_fold(s);
    if (!fold)
        return true;
    const bool half = dtype_class(fold->dtype) == D_REAL && dtype_bits(fold->dtype) < 32;
    const dtype sum = half ? TS_F32 : fold->dtype;
    for (int l = 0; l < nest_tile(s); l++)
        if (s->folds >> s->nest.loop[l].axis & 1 && s->node->type.dtype != sum)
            return err_set(e, TS_BAD_INPUT,
                           "loop %s folds outside the register tile, but partial sums (%s) do not fit the result (%s)",
                           s->letter[s->nest.loop[l].axis], ts_dtype_name(sum), ts_dtype_name(s->node->type.dtype));
    return true;
}

/* The register tile is named so because its sums stay in registers: more of them than there are is refused. */
static bool check_registers(const plan *p, const stage *s, err *e)
{
    const int64_t sums = nest_sums(p, s);
    text tile = {0}, by_name = {0}, fits = {0};
    if (sums <= p->on->n_register)
        return true;
    for (int l = nest_unrolled(s); l < s->nest.n; l++) {
        const loop *q = &s->nest.loop[l];
        if (!q->role->lanes && s->folds >> q->axis & 1)
            continue;
        text_add(&tile, "%s%s %lld", tile.len ? ", " : "", s->letter[q->axis], (long long)loop_trips(q));
        text_add(&by_name, " %s/tile", s->letter[q->axis]);
        text_add(&fits, " %s/%lld", s->letter[q->axis], (long long)s->tile[q->axis]);
    }
    err_set(e, TS_BAD_INPUT,
            "the sums of the register tile (%s) take %lld vector registers, %s has %d: unroll less, or write%s, here%s",
            text_str(&tile), (long long)sums, p->on->model, p->on->n_register, text_str(&by_name), text_str(&fits));
    text_free(&tile), text_free(&by_name), text_free(&fits);
    return false;
}

/* A worker that is a group of lanes has so many of them at most. */
static bool check_group(const plan *p, const stage *s, err *e)
{
    text loops = {0};
    if (nest_group(s) <= (p->on->group ? p->on->group : 1))
        return true;
    for (int l = nest_unrolled(s); l < s->nest.n; l++)
        if (s->nest.loop[l].role->group)
            text_add(&loops, "%s%s %lld", loops.len ? ", " : "", s->letter[s->nest.loop[l].axis],
                     (long long)loop_trips(&s->nest.loop[l]));
    err_set(e, TS_BAD_INPUT,
            "the loops over lanes (%s) take %lld lanes, a group of %s has %d at most: give a lane larger steps, or let "
            "the loops outside take smaller ones",
            text_str(&loops), (long long)nest_group(s), p->on->model, p->on->group);
    text_free(&loops);
    return false;
}

/* ---- spaces ---- */
/* Bytes of what the loops within read of the operand, or write: as many elements as there are steps along its axes */
static double slice_bytes(const plan *p, const kernel *k, const stage *s, const staging *g)
{
    const bool result = g->load == MAX_LOADS;
    if (staging_copies(g)) {
        slice y;
        slice_find(p, k, s, g, &y);
        return (double)y.size * g->stages * ts_dtype_bytes(s->load[g->load]->from->type.dtype);
    }
    const node *n = result ? s->node : s->load[g->load]->from;
    double bytes = ts_dtype_bytes(n->type.dtype);
    uint32_t axes = 0;
    for (int i = 0; i < n->type.rank; i++)
        axes |= x_axes((result ? s->store : s->load[g->load]->arg)[i]);
    for (int a = 0; a < s->n_axis; a++)
        if (axes >> a & 1)
            bytes *= (double)(g->shared ? nest_left_shared(k, s, a, g->loop) : nest_left(k, s, a, g->loop));
    return bytes * g->stages;
}

static bool check_space(const plan *p, const kernel *k, const memory_space *in, err *e)
{
    double taken = 0;
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        for (int j = 0; j < s->n_staging; j++) {
            const staging *g = &s->staging[j];
            if (g->space != in)
                continue;
            taken += slice_bytes(p, k, s, g);
            if (taken > (double)in->bytes)
                return err_set(e, TS_BAD_INPUT,
                               "with %d slice%s of operand %c there are %.0f bytes in @%s, which has %lld: copy at a "
                               "loop further inside, or in smaller steps",
                               g->stages, g->stages == 1 ? "" : "s", g->load == MAX_LOADS ? 'y' : 'a' + g->load, taken,
                               in->name ? in->name : "", (long long)in->bytes);
        }
    }
    return true;
}

/* ---- matrix units ---- */
typedef struct units { /* what a stage's loops in the role of a matrix unit ask of it */
    matrix_unit of;
    int rows, folds;
} units;

static void print_unit(text *t, const matrix_unit *u)
{
    text_add(t, "%d x %d x %d of %s into %s", u->m, u->n, u->k, ts_dtype_name(u->operand), ts_dtype_name(u->sum));
}

static units units_of(const stage *s)
{
    units u = {.of = {.m = 1, .n = 1, .k = 1}};
    for (int l = 0; l < s->nest.n; l++) {
        const loop *q = &s->nest.loop[l];
        const int trips = (int)loop_trips(q);
        if (!q->role->unit)
            continue;
        if (s->folds >> q->axis & 1)
            u.of.k = trips, u.folds++;
        else
            u.of.m = u.of.n, u.of.n = trips, u.rows++;
    }
    return u;
}

static bool check_unit(const plan *p, const stage *s, err *e)
{
    const expr *load[MAX_LOADS], *fold = stage_fold(s);
    units u = units_of(s);
    text asked = {0}, have = {0};
    if (!u.rows && !u.folds)
        return true;
    const int n = fold ? x_loads(fold, load, MAX_LOADS) : 0;
    if (u.rows != 2 || u.folds != 1 || n != 2 || load[0]->from->type.dtype != load[1]->from->type.dtype)
        return err_set(e, TS_BAD_INPUT, "a matrix unit takes two loops of a product's result and one that is folded");
    u.of.operand = load[0]->from->type.dtype, u.of.sum = fold->dtype;
    bool found = false;
    for (int i = 0; i < p->on->n_unit; i++) {
        const matrix_unit *v = &p->on->unit[i];
        found = found || (v->m == u.of.m && v->n == u.of.n && v->k == u.of.k && v->operand == u.of.operand &&
                          v->sum == u.of.sum);
        text_add(&have, "%s", i ? ", " : "");
        print_unit(&have, v);
    }
    print_unit(&asked, &u.of);
    if (!found)
        err_set(e, TS_BAD_INPUT, "%s has no matrix unit for %s; those it has: %s", p->on->model, text_str(&asked),
                text_str(&have));
    text_free(&asked), text_free(&have);
    return found;
}

/* ---- states ---- */
/* They are one trip's, for what the loops around stand at: nothing comes between one trip and the next. */
static bool check_carried(const kernel *k, err *e)
{
    const int axis = kernel_carried(k);
    const nest *t = &k->shared;
    bool good = true;
    for (int l = 0; l < t->n && axis >= 0; l++) {
        const loop *q = &t->loop[l];
        good = good && (q->axis == axis ? l == t->n - 1 && q->role->serial && q->step == 1 : l < t->n - 1);
    }
    const char *name = axis < 0 ? "" : k->stage[k->main].letter[axis];
    return good || err_set(e, TS_BAD_INPUT,
                           "stages carry sums along %s from trip to trip: its loop is \"%s\", the last of those that "
                           "stages share, without a step or a role",
                           name, name);
}

bool nest_fits(const plan *p, const kernel *k, const char *loops, err *e)
{
    if (!check_carried(k, e))
        return err_in(e, "loops \"%s\"", loops);
    for (int i = 0; i < k->n_stage; i++)
        if (!check_partial(&k->stage[i], e) || !check_registers(p, &k->stage[i], e) ||
            !check_group(p, &k->stage[i], e) || !check_unit(p, &k->stage[i], e))
            return err_in(e, "loops \"%s\"", loops);
    for (int i = 0; i < p->on->n_space; i++)
        if (p->on->space[i].bytes && !check_space(p, k, &p->on->space[i], e))
            return err_in(e, "loops \"%s\"", loops);
    return true;
}
