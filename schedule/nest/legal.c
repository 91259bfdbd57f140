/* legal.c - loops against the tables of the target. */
#include "graph/ir/rule.h"
#include "schedule/nest/kept.h"
#include "schedule/nest/nest.h"
#include "schedule/nest/slice.h"
#include "schedule/plan/extents.h"

/* Partial sums wait in the result, which must hold them exactly as the accumulator does: one of halves is an f32. */
static bool check_partial(const stage *s, err *e)
{
    const expr *fold = stage_fold(s);
    if (!fold || (nest_split(s) >= 0 && fold->kind != X_SCAN)) /* whose parts are as wide as the sum */
        return true;
    const bool half = dtype_class(fold->dtype) == D_REAL && dtype_bits(fold->dtype) < 32;
    const dtype sum = half ? TS_F32 : fold->dtype;
    for (int l = 0; l < nest_tile(s); l++) {
        if (!(s->folds >> s->nest.loop[l].axis & 1) || s->nest.loop[l].role->parallel)
            continue;
        if (fold->kind == X_SCAN)
            return err_set(e, TS_BAD_INPUT,
                           "loop %s folds %d values outside the register tile, where the result has room for one: let "
                           "no loop of the result, and no copy, stand inside it",
                           s->letter[s->nest.loop[l].axis], fold->n_state);
        if (s->node->type.dtype != sum)
            return err_set(e, TS_BAD_INPUT,
                           "loop %s folds outside the register tile, but partial sums (%s) do not fit the result (%s)",
                           s->letter[s->nest.loop[l].axis], ts_dtype_name(sum), ts_dtype_name(s->node->type.dtype));
    }
    return true;
}

/* The register tile is named so because its sums stay in registers: more of them than there are is refused. */
static bool check_registers(const plan *p, const stage *s, err *e)
{
    const int64_t sums = nest_sums(p, s);
    ENDED_BY(text_free) text tile = {0}, by_name = {0}, fits = {0};
    if (sums <= p->on->n_register)
        return true;
    for (int l = nest_unrolled(s); l < s->nest.n; l++) {
        const loop *q = &s->nest.loop[l];
        if (!q->role->lanes && s->folds >> q->axis & 1)
            continue;
        text_add(&tile, "%s%s %lld", tile.length ? ", " : "", s->letter[q->axis], (long long)loop_trips(q));
        text_add(&by_name, " %s/tile", s->letter[q->axis]);
        text_add(&fits, " %s/%lld", s->letter[q->axis], (long long)s->tile[q->axis]);
    }
    return err_set(
        e, TS_BAD_INPUT,
        "the sums of the register tile (%s) take %lld vector registers, %s has %d: unroll less, or write%s, here%s",
        text_str(&tile), (long long)sums, p->on->model, p->on->n_register, text_str(&by_name), text_str(&fits));
}

/* A worker that is a group of lanes has so many of them at most. */
static bool check_group(const plan *p, const stage *s, err *e)
{
    ENDED_BY(text_free) text loops = {0};
    if (nest_group(s) <= (p->on->group ? p->on->group : 1))
        return true;
    for (int l = nest_unrolled(s); l < s->nest.n; l++)
        if (s->nest.loop[l].role->group)
            text_add(&loops, "%s%s %lld", loops.length ? ", " : "", s->letter[s->nest.loop[l].axis],
                     (long long)loop_trips(&s->nest.loop[l]));
    return err_set(
        e, TS_BAD_INPUT,
        "the loops over lanes (%s) take %lld lanes, a group of %s has %d at most: give a lane larger steps, or let "
        "the loops outside take smaller ones",
        text_str(&loops), (long long)nest_group(s), p->on->model, p->on->group);
}

/* ---- spaces ---- */
/* Bytes of what the loops within read of the operand, or write: as many elements as there are steps along its axes */
static double slice_bytes(const plan *p, const kernel *k, const stage *s, const staging *g)
{
    if (staging_copies(g)) {
        slice y;
        slice_find(p, k, s, g, &y);
        return (double)y.size * g->stages * ts_dtype_bytes(s->load[g->load]->from->type.dtype);
    }
    double bytes = ts_dtype_bytes(stage_value(s, g->load)->type.dtype);
    for (int a = 0; a < s->n_axis; a++)
        if (stage_axes(s, g->load) >> a & 1)
            bytes *= (double)(g->shared ? nest_left_shared(k, s, a, g->loop) : nest_left(k, s, a, g->loop));
    return bytes * g->stages;
}

/* Slices of later trips come while one is summed: there must be such trips, and all copies go along with them. */
static bool check_rings(const stage *s, err *e)
{
    for (int i = 0; i < s->n_staging; i++) {
        const staging *g = &s->staging[i];
        if (!staging_copies(g) || !g->space->shared)
            continue;
        if (g->stages > 1 && (g->shared || g->loop < nest_tile(s) || g->loop >= nest_unrolled(s)))
            return err_set(e, TS_BAD_INPUT,
                           "%d slices of operand %s are held where a sum goes from one to the next: at a serial loop "
                           "of a folded axis, with none but such loops between it and those in registers",
                           g->stages, operand_called(g->load).s);
        for (int j = 0; j < i; j++) {
            const staging *o = &s->staging[j];
            if (staging_copies(o) && o->shared == g->shared && o->loop == g->loop && o->stages != g->stages)
                return err_set(e, TS_BAD_INPUT,
                               "operands copied at one loop come together: operand %s has %d slice%s, operand %s %d",
                               operand_called(o->load).s, o->stages, o->stages == 1 ? "" : "s",
                               operand_called(g->load).s, g->stages);
        }
    }
    return true;
}

/* Slices of a stage's own loops make room for those of the next one. */
static bool check_space(const plan *p, const kernel *k, const memory_space *in, err *e)
{
    double all = 0;
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        double own = 0;
        for (int j = 0; j < s->n_staging; j++) {
            const staging *g = &s->staging[j];
            if (g->space != in)
                continue;
            *(g->shared ? &all : &own) += slice_bytes(p, k, s, g);
            const double taken = all + own;
            if (taken > (double)in->bytes)
                return err_set(e, TS_BAD_INPUT,
                               "with %d slice%s of operand %s there are %.0f bytes in @%s, which has %lld: copy at a "
                               "loop further inside, or in smaller steps",
                               g->stages, g->stages == 1 ? "" : "s", operand_called(g->load).s, taken,
                               in->name ? in->name : "", (long long)in->bytes);
        }
    }
    return true;
}

/* ---- matrix units ---- */
static void print_unit(text *t, const matrix_unit *u)
{
    text_add(t, "%d x %d x %d of %s into %s", u->m, u->n, u->k, ts_dtype_name(u->operand), ts_dtype_name(u->sum));
    if (u->warps)
        text_add(t, " in each of %d warps", u->warps);
}

static bool has_unit(const stage *s)
{
    bool any = false;
    for (int l = 0; l < s->nest.n; l++)
        any = any || s->nest.loop[l].role->unit;
    return any;
}

/* What an earlier stage hands on is taken from where it lies, if that is in the group's space. */
static bool check_kept(const plan *p, const kernel *k, const stage *s, const unit_loops *u, int i, err *e)
{
    const memory_space *in = target_group_space(p->on);
    const int load = u->load[i], which = kept_by(k, s, load);
    const char *why = kept_no_unit(k, s, load, s->nest.loop[u->loop[i]].axis, s->nest.loop[u->loop[2]].axis);
    if (why)
        return err_set(e, TS_BAD_INPUT, "a matrix unit does not take operand %s: it %s", operand_called(load).s, why);
    const long long bytes = kept_bytes(p, k), most = in->bytes;
    return !most || bytes <= most ||
           err_set(e, TS_BAD_INPUT,
                   "a matrix unit takes operand %s from @%s, where stage %s leaves it; with what else is there that "
                   "takes %lld bytes of %lld: walk fewer steps in a group, or copy smaller slices",
                   operand_called(load).s, in->name, k->stage[which].name, bytes, most);
}

/* Trips of a unit that lanes form together come from slices that the group shares, whole ones at a time. */
static bool check_slices(const plan *p, const kernel *k, const stage *s, const unit_loops *u, err *e)
{
    for (int i = 0; i < 2; i++) {
        bool found = kept_by(k, s, u->load[i]) >= 0;
        if (found && !check_kept(p, k, s, u, i, e))
            return false;
        for (int j = 0; j < s->n_staging; j++) {
            const staging *g = &s->staging[j];
            found = found || (g->load == u->load[i] && staging_copies(g) && g->space->shared && !g->shared &&
                              g->loop >= nest_tile(s));
        }
        if (!found)
            return err_set(e, TS_BAD_INPUT,
                           "a matrix unit takes operand %s from slices that a group copies: +%s at a serial loop of a "
                           "folded axis, next to the loops in registers",
                           operand_called(u->load[i]).s, operand_called(u->load[i]).s);
    }
    for (int i = 0; i < 3; i++)
        for (int l = nest_tile(s); l < u->loop[i]; l++) {
            const loop *q = &s->nest.loop[l];
            if (q->axis == s->nest.loop[u->loop[i]].axis && q->step % u->trips[i])
                return err_set(e, TS_BAD_INPUT,
                               "loop %s/%lld cuts trips of the matrix unit, which takes %lld of %s at once: use a "
                               "multiple of that",
                               s->letter[q->axis], (long long)q->step, (long long)u->trips[i], s->letter[q->axis]);
        }
    return true;
}

/* Warps that a unit takes together have trips side by side: the innermost of the loops over warps walks the rows. */
static bool check_warps(const stage *s, const matrix_unit *v, const unit_loops *u, err *e)
{
    const int row = s->nest.loop[u->loop[0]].axis;
    const loop *last = NULL;
    for (int l = 0; l < s->nest.n; l++)
        last = s->nest.loop[l].role->group ? &s->nest.loop[l] : last;
    if (last && last->role->warp && last->axis == row && last->step == v->m && loop_trips(last) % v->warps == 0)
        return true;
    return err_set(
        e, TS_BAD_INPUT,
        "%d warps form %d x %d x %d together: the innermost loop over warps is %s/%d@warp, and has a multiple "
        "of %d trips",
        v->warps, v->m, v->n, v->k, s->letter[row], v->m, v->warps);
}

/* It reads slices itself: of rows that it knows how to find, and nothing that lies elsewhere. */
static bool check_read(const plan *p, const kernel *k, const stage *s, const unit_loops *u, err *e)
{
    enum { ROW = 128 };
    for (int i = 0; i < 2; i++)
        if (kept_by(k, s, u->load[i]) >= 0)
            return err_set(e, TS_BAD_INPUT,
                           "several warps form a product together of slices alone: operand %s is what stage %s leaves; "
                           "let each warp form it by itself",
                           operand_called(u->load[i]).s, k->stage[kept_by(k, s, u->load[i])].name);
    for (int i = 0; i < s->n_staging; i++) {
        const staging *g = &s->staging[i];
        const int folded = s->nest.loop[u->loop[2]].axis;
        slice y;
        if (g->load != u->load[0] && g->load != u->load[1])
            continue;
        slice_find(p, k, s, g, &y);
        const int inner = y.order[y.n - 1];
        const int64_t size = ts_dtype_bytes(s->load[g->load]->from->type.dtype),
                      row = y.block ? y.block : y.extent[inner];
        if (y.n != 2 || row * size > ROW || row & (row - 1))
            return err_set(
                e, TS_BAD_INPUT,
                "several warps form a product together of slices whose rows have 32, 64 or 128 bytes: operand "
                "%s has %lld of %s; use a step of 16, 32 or 64 of %s",
                operand_called(g->load).s, (long long)(row * size), s->letter[inner], s->letter[folded]);
    }
    return true;
}

static bool check_unit(const plan *p, const kernel *k, const stage *s, err *e)
{
    const expr *fold = stage_fold(s);
    unit_loops u;
    ENDED_BY(text_free) text asked = {0}, have = {0};
    if (!has_unit(s))
        return true;
    if (!nest_unit(s, &u) || !nest_unit_fits(s, s->nest.loop[u.loop[0]].axis, s->nest.loop[u.loop[1]].axis, u.load))
        return err_set(e, TS_BAD_INPUT, "a matrix unit takes two loops of a product's result and one that is folded");
    const bool half = dtype_class(fold->dtype) == D_REAL && dtype_bits(fold->dtype) < 32; /* summed in f32 */
    const matrix_unit of = {(int)u.trips[0],
                            (int)u.trips[1],
                            (int)u.trips[2],
                            s->load[u.load[0]]->from->type.dtype,
                            half ? TS_F32 : fold->dtype,
                            0,
                            0,
                            0};
    bool found = false, together = false;
    for (int i = 0; i < p->on->n_unit; i++) {
        const matrix_unit *v = &p->on->unit[i];
        const bool same = v->m == of.m && v->n == of.n && v->k == of.k && v->operand == of.operand && v->sum == of.sum;
        found = found || same, together = together || (same && v->sums);
        if (v->operand == of.operand)
            text_add(&have, "%s", have.length ? ", " : ""), print_unit(&have, v);
    }
    print_unit(&asked, &of);
    if (!found)
        err_set(e, TS_BAD_INPUT, "%s has no matrix unit for %s; %s%s", p->on->model, text_str(&asked),
                have.length ? "those it has: " : "it has none", text_str(&have));
    const matrix_unit *v = found ? nest_unit_row(p, s, &u) : NULL;
    const int folded = s->nest.loop[u.loop[2]].axis;
    if (found && stage_exact(s) >> folded & 1)
        return err_set(e, TS_BAD_INPUT, "a matrix unit takes whole steps of %s, and a run says where that ends",
                       s->letter[folded]);
    return found && (!together || check_slices(p, k, s, &u, e)) &&
           (!v || !v->warps || (check_warps(s, v, &u, e) && check_read(p, k, s, &u, e)));
}

/* What one instruction multiplies and adds */
static bool check_dot(const plan *p, const stage *s, err *e)
{
    const loop *last = s->nest.n ? &s->nest.loop[s->nest.n - 1] : NULL;
    const dot_form *f = p->on->dot;
    int load[2];
    if (!last || !last->role->dot)
        return true;
    if (!f)
        return err_set(e, TS_BAD_INPUT, "%s has no instruction for @%s", p->on->model, last->role->name);
    if (last->axis != s->n_result || last->range != f->n || stage_exact(s) >> last->axis & 1 ||
        !nest_dots(s, f, s->nest.loop[s->nest.n - 2].axis, load))
        return err_set(
            e, TS_BAD_INPUT,
            "@%s takes a sum in i32 of products of %s and %s, %d at once along its first folded axis, of which "
            "there is a multiple; the vector loop walks the second operand",
            last->role->name, ts_dtype_name(f->a), ts_dtype_name(f->b), f->n);
    return true;
}

/* ---- states ---- */
/* They are one trip's, for what the loops around stand at: nothing comes between one trip and the next. */
static bool check_carried(const kernel *k, err *e)
{
    const int axis = kernel_carried(k);
    const nest *t = &k->shared;
    bool ok = true;
    for (int l = 0; l < t->n && axis >= 0; l++) {
        const loop *q = &t->loop[l];
        ok = ok && (q->axis == axis ? l == t->n - 1 && q->role->serial && q->step == 1 : l < t->n - 1);
    }
    const char *name = axis < 0 ? "" : k->stage[k->main].letter[axis];
    return ok || err_set(e, TS_BAD_INPUT,
                         "stages carry sums along %s from trip to trip, %s = 1 starts from what %s = 0 leaves: its "
                         "loop is \"%s\", the last of those that stages share, without a step or a role",
                         name, name, name, name);
}

/* ---- sums in parts ---- */
static bool is_first(const stage *s, int l) /* of its axis */
{
    bool first = true;
    for (int i = 0; i < l; i++)
        first = first && s->nest.loop[i].axis != s->nest.loop[l].axis;
    return first;
}

static const staging *staged_behind(const stage *s) /* an operand that is read behind the sum */
{
    for (int i = 0; i < s->n_staging; i++)
        if (s->staging[i].load < MAX_LOADS && s->staging[i].load >= s->n_folded)
            return &s->staging[i];
    return NULL;
}

static int reads(const stage *s) /* tensors, which the value of a part is spelled out over */
{
    int found = 0;
    for (int i = 0; i < s->n_folded; i++) {
        int k = 0;
        while (s->load[k]->from != s->load[i]->from)
            k++;
        found += k == i;
    }
    return found;
}

bool nest_splits(const stage *s)
{
    const int more = stage_states(s) > 1, n = reads(s); /* an axis for the pieces of states */
    return s->n_result + 1 + more <= MAX_RANK && n >= 1 && n <= MOST_SPELLED;
}

static bool check_parts(const plan *p, const kernel *k, err *e)
{
    const stage *s = &k->stage[0];
    const int l = k->n_stage == 1 ? nest_split(s) : -1;
    if (l < 0)
        return true;
    const loop *q = &s->nest.loop[l];
    const char *letter = s->letter[q->axis];
    const expr *fold = stage_fold(s);
    if (!is_first(s, l))
        return err_set(e, TS_BAD_INPUT, "loop %s, whose parts are %s, is inside another of that axis", letter,
                       q->role->done);
    for (int i = l + 1; i < s->nest.n; i++)
        if (s->nest.loop[i].role->parallel && s->folds >> s->nest.loop[i].axis & 1)
            return err_set(e, TS_BAD_INPUT, "a second folded loop, %s, is %s: one axis is summed in parts",
                           s->letter[s->nest.loop[i].axis], q->role->done);
    if (p->part)
        return err_set(e, TS_BAD_INPUT, "loop %s is %s: in a plan over several devices no sum is in parts", letter,
                       q->role->done);
    if (s->n_result + 1 + (fold->kind == X_SCAN) > MAX_RANK)
        return err_set(e, TS_BAD_INPUT, "loop %s is %s: its parts would have %d axes, at most %d expected", letter,
                       q->role->done, s->n_result + 1 + (fold->kind == X_SCAN), MAX_RANK);
    if (!nest_splits(s))
        return err_set(e, TS_BAD_INPUT, "loop %s is %s: what is in parts reads 1 to %d tensors, this %d", letter,
                       q->role->done, MOST_SPELLED, reads(s));
    const staging *g = staged_behind(s);
    return !g ||
           err_set(e, TS_BAD_INPUT, "operand %s is read behind the sum, whose parts are added up by another kernel",
                   operand_called(g->load).s);
}

bool nest_fits(const plan *p, const kernel *k, const char *loops, err *e)
{
    if (!check_carried(k, e) || !check_parts(p, k, e))
        return err_in(e, "loops \"%s\"", loops);
    for (int i = 0; i < k->n_stage; i++)
        if (!check_partial(&k->stage[i], e) || !check_registers(p, &k->stage[i], e) ||
            !check_group(p, &k->stage[i], e) || !check_unit(p, k, &k->stage[i], e) || !check_rings(&k->stage[i], e) ||
            !check_dot(p, &k->stage[i], e))
            return err_in(e, "loops \"%s\"", loops);
    for (int i = 0; i < p->on->n_space; i++)
        if (p->on->space[i].bytes && !check_space(p, k, &p->on->space[i], e))
            return err_in(e, "loops \"%s\"", loops);
    return true;
}
