/* nest.c - what nests come to, and their notation, printed. */
#include "schedule/nest/nest.h"

const char nest_nowhere[] = "none";

int64_t loop_trips(const loop *l)
{
    return l->step > 0 ? (l->range + l->step - 1) / l->step : 0;
}

int nest_unrolled(const stage *s)
{
    int l = s->nest.n;
    while (l > 0 && s->nest.loop[l - 1].role->in_registers)
        l--;
    return l;
}

bool staging_copies(const staging *g)
{
    return g->space && g->space->copied;
}

static bool copies_at(const stage *s, int l, bool shared)
{
    for (int i = 0; i < s->n_staging; i++)
        if (staging_copies(&s->staging[i]) && s->staging[i].shared == shared && s->staging[i].loop == l)
            return true;
    return false;
}

const nest *nest_outer(const kernel *k)
{
    return k->n_stage > 1 ? &k->shared : &k->stage[0].nest;
}

int nest_parallel(const kernel *k)
{
    const nest *t = nest_outer(k);
    for (int l = 0; l < t->n; l++)
        if (t->loop[l].role->parallel)
            return l;
    return -1;
}

/* Around the loop over the cores, trips must be alike, and nothing may go from one to the next. Where it writes borders
 * apart, a back end may keep to pieces all the same. */
int nest_chunks(const kernel *k)
{
    const nest *t = nest_outer(k);
    const int core = nest_parallel(k);
    bool any = core >= 0;
    if (any && t->loop[core].role->outer) {
        int n = core;
        while (n < t->n && t->loop[n].role->outer)
            n++;
        return n;
    }
    for (int l = 0; l < core && any; l++) {
        any = !(t->loop[l].range % t->loop[l].step) && !(k->stage[0].folds >> t->loop[l].axis & 1 && k->n_stage == 1);
        for (int i = 0; i < k->n_stage && any; i++)
            any = !copies_at(&k->stage[i], l, k->n_stage > 1);
    }
    return any ? core + 1 : 0;
}

bool nest_spread(const kernel *k, int l)
{
    const int chunks = nest_chunks(k);
    return chunks ? l < chunks : nest_outer(k)->loop[l].role->parallel;
}

int64_t nest_parts(const kernel *k)
{
    const nest *t = nest_outer(k);
    int64_t trips = 1;
    for (int l = 0; l < t->n; l++)
        trips *= nest_spread(k, l) ? loop_trips(&t->loop[l]) : 1;
    return int_max(trips, 1);
}

static bool copies_alone(const stage *s, int l) /* by one worker that is not a group */
{
    for (int i = 0; i < s->n_staging; i++)
        if (staging_copies(&s->staging[i]) && !s->staging[i].space->shared && !s->staging[i].shared &&
            s->staging[i].loop == l)
            return true;
    return false;
}

int nest_tile(const stage *s)
{
    int l = nest_unrolled(s);
    while (l > 0 && s->nest.loop[l - 1].role->serial && s->folds >> s->nest.loop[l - 1].axis & 1 &&
           !copies_alone(s, l - 1))
        l--;
    return l;
}

int64_t nest_lanes_under(const stage *s, int l)
{
    int64_t lanes = 1;
    for (int i = s->nest.n; i-- > (l < nest_unrolled(s) ? nest_unrolled(s) : l);) {
        const loop *q = &s->nest.loop[i];
        const int64_t warp = q->role->warp;
        if (warp && lanes <= INT64_MAX - warp)
            lanes = (lanes + warp - 1) / warp * warp;
        if (i > l && q->role->group && !int_mul(lanes, loop_trips(q), &lanes))
            return INT64_MAX;
    }
    return lanes;
}

int64_t nest_group(const stage *s)
{
    return nest_lanes_under(s, -1);
}

/* ---- merges of lanes ---- */
static int64_t lanes_of_trips(const stage *s,
                              int l) /* lanes from which the trips of loop l begin anew; 0: they do not */
{
    int outer = l - 1;
    while (outer >= nest_unrolled(s) && !s->nest.loop[outer].role->group)
        outer--;
    return outer >= nest_unrolled(s) ? nest_lanes_under(s, outer) : 0;
}

bool nest_merges_in_warp(const plan *p, const stage *s, int l, int64_t n)
{
    const int64_t warp = p->on->warp, again = lanes_of_trips(s, l), apart = nest_lanes_under(s, l);
    return p->on->shuffles && warp > 1 && n <= warp / apart &&
           (nest_group(s) <= warp || again % warp == 0 || warp % again == 0);
}

bool nest_merges_in_memory(const plan *p, const stage *s)
{
    bool any = false;
    for (int l = nest_unrolled(s); l < s->nest.n; l++) {
        const loop *q = &s->nest.loop[l];
        any = any || (q->role->group && s->folds >> q->axis & 1 && loop_trips(q) > 1 &&
                      !nest_merges_in_warp(p, s, l, loop_trips(q)));
    }
    return any;
}

/* ---- matrix units ---- */
static int64_t around(const stage *s, int l) /* what the loops around leave of its axis, its end not counted */
{
    for (int i = l; i-- > 0;)
        if (s->nest.loop[i].axis == s->nest.loop[l].axis)
            return s->nest.loop[i].step;
    return s->nest.loop[l].range;
}

static int load_along(const stage *s, int axis, int not ) /* the only one under the fold that has the axis; or -1 */
{
    int found = -1;
    for (int i = 0; i < s->n_folded; i++)
        if ((x_axes_of(s->load[i]) & (1u << axis | 1u << not )) == 1u << axis)
            found = found < 0 ? i : MAX_LOADS;
    return found == MAX_LOADS ? -1 : found;
}

bool nest_unit(const stage *s, unit_loops *out)
{
    int rows = 0, folds = 0;
    *out = (unit_loops){.loop = {-1, -1, -1}};
    for (int l = 0; l < s->nest.n; l++) {
        const loop *q = &s->nest.loop[l];
        if (!q->role->unit)
            continue;
        const int at = s->folds >> q->axis & 1 ? (folds++, 2) : rows++;
        if (at > 2 || (at == 2 && out->loop[2] >= 0))
            return false;
        out->loop[at] = l, out->trips[at] = around(s, l);
    }
    if (rows != 2 || folds != 1)
        return false;
    const int m = s->nest.loop[out->loop[0]].axis, n = s->nest.loop[out->loop[1]].axis;
    out->load[0] = load_along(s, m, n), out->load[1] = load_along(s, n, m);
    return true;
}

const matrix_unit *nest_unit_row(const plan *p, const stage *s, const unit_loops *u)
{
    for (int i = 0; i < p->on->n_unit && u->load[0] >= 0; i++) {
        const matrix_unit *v = &p->on->unit[i];
        if (v->m == u->trips[0] && v->n == u->trips[1] && v->k == u->trips[2] &&
            v->operand == s->load[u->load[0]]->from->type.dtype)
            return v;
    }
    return NULL;
}

/* Whether what is folded is the sum of products of these two loads alone, padding of either left aside */
static bool nest_product(const stage *s, int a, int b)
{
    const expr *fold = stage_fold(s), *x = fold ? x_uncast(fold->arg[0]) : NULL;
    const int load[] = {a, b};
    bool found[2] = {false, false};
    if (!x || !x_folds_by(fold, "add") || !x_is_call(x, "mul") || a < 0 || b < 0)
        return false;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const expr *arg = x_uncast(x->arg[i]), *guard = stage_guard(s, load[j]);
            found[j] = found[j] || x_same(arg, s->load[load[j]]) || (guard && x_same(arg, guard));
        }
    return found[0] && found[1];
}

bool nest_unit_fits(const stage *s, int m, int n, int load[2])
{
    load[0] = load_along(s, m, n), load[1] = load_along(s, n, m);
    return s->n_folded == 2 && s->load[0]->from->type.dtype == s->load[1]->from->type.dtype &&
           nest_product(s, load[0], load[1]);
}

int nest_last(const stage *s)
{
    const int last = s->nest.n - 1;
    return last >= 0 && s->nest.loop[last].role->dot ? last - 1 : last;
}

bool nest_dots(const stage *s, const dot_form *f, int column, int load[2])
{
    const expr *fold = stage_fold(s);
    const int deep = s->n_result;
    if (!f || !fold || fold->dtype != TS_I32 || s->n_folded != 2 || s->n_axis == deep || column >= deep)
        return false;
    load[1] = x_axes_of(s->load[0]) >> column & 1 ? 0 : 1, load[0] = 1 - load[1];
    const bool apart = !(x_axes_of(s->load[load[0]]) >> column & 1) && x_axes_of(s->load[load[1]]) >> column & 1;
    return apart && nest_product(s, load[0], load[1]) && s->extent[deep] % f->n == 0 &&
           s->load[load[0]]->from->type.dtype == f->a && s->load[load[1]]->from->type.dtype == f->b;
}

int nest_split(const stage *s)
{
    for (int l = 0; l < s->nest.n; l++)
        if (s->nest.loop[l].role->parallel && s->folds >> s->nest.loop[l].axis & 1 && loop_trips(&s->nest.loop[l]) > 1)
            return l;
    return -1;
}

int64_t nest_cover(const stage *s, int axis, int l)
{
    int64_t size = 1;
    for (int i = s->nest.n; i-- > l + 1;) {
        const loop *q = &s->nest.loop[i];
        if (q->axis == axis)
            size = q->role->unit ? around(s, i) : (loop_trips(q) - 1) * q->step + size;
    }
    return size;
}

int64_t nest_group_lanes(const plan *p, const kernel *k)
{
    int64_t most = 1;
    const int64_t warp = p->on->warp > 1 ? p->on->warp : 1;
    for (int i = 0; i < k->n_stage; i++)
        most = nest_group(&k->stage[i]) > most ? nest_group(&k->stage[i]) : most;
    return most > INT64_MAX - warp ? most : (most + warp - 1) / warp * warp;
}

int64_t nest_lanes(const plan *p, const stage *s)
{
    const expr *fold = stage_fold(s);
    dtype d = fold ? fold->dtype : s->node->type.dtype;
    for (int k = 0; fold && fold->kind == X_SCAN && k < fold->n_state; k++) /* the widest of its values */
        if (!k || ts_dtype_bytes(fold->arg[k]->dtype) > ts_dtype_bytes(d))
            d = fold->arg[k]->dtype;
    return p->on->lanes[p->reference ? TS_F64 : d];
}

static int64_t vectors_of(const plan *p, const stage *s, const loop *l)
{
    const int64_t lane = nest_lanes(p, s);
    return (loop_trips(l) + lane - 1) / lane;
}

static int64_t unit_sums(const plan *p, const stage *s) /* in registers of a lane, for one trip of a matrix unit */
{
    unit_loops u;
    const matrix_unit *v = nest_unit(s, &u) ? nest_unit_row(p, s, &u) : NULL;
    return v && v->sums ? v->sums : 1;
}

int64_t nest_sums(const plan *p, const stage *s)
{
    int64_t sums = stage_states(s);
    for (int l = nest_unrolled(s); l < s->nest.n; l++) {
        const loop *q = &s->nest.loop[l];
        if (q->role->lanes)
            sums *= vectors_of(p, s, q);
        else if (!(s->folds >> q->axis & 1) && !q->role->unit && !q->role->group) /* which have sums of their own */
            sums *= loop_trips(q);
    }
    return sums * unit_sums(p, s);
}

/* ---- printing ---- */
enum { LETTERS = 26 };

operand_name operand_called(int load)
{
    operand_name out = {"y"};
    if (load < MAX_LOADS)
        out.s[0] = (char)('a' + load % LETTERS);
    if (load < MAX_LOADS && load >= LETTERS)
        out.s[1] = (char)('0' + load / LETTERS);
    return out;
}

int operand_number(const char *s, size_t n)
{
    for (int i = 0; i < MAX_LOADS; i++)
        if (word_is(operand_called(i).s, s, n))
            return i;
    return -1;
}

static void print_staging(text *t, const stage *s, const staging *g)
{
    text_add(t, "%s+", g->derived ? "[" : "");
    if (g->shared)
        text_add(t, "%s.", s->name);
    text_add(t, "%s", operand_called(g->load).s);
    if (!g->space)
        text_add(t, "@%s", nest_nowhere);
    else if (g->space->name)
        text_add(t, "@%s", g->space->name);
    if (g->stages > 1)
        text_add(t, "*%d", g->stages);
    text_add(t, "%s", g->derived ? "]" : "");
}

void loop_print(text *t, const stage *s, const loop *l)
{
    text_add(t, "%s", s->letter[l->axis]);
    if (l->step > 1)
        text_add(t, "/%lld", (long long)l->step);
    if (!l->role->implied)
        text_add(t, "@%s", l->role->name);
}

/* What stages 0..n-1 stage at its loops is printed with them. */
static void print_loops(text *t, const stage *of, const nest *q, const stage *s, int n, bool derived)
{
    const bool shared = q != &s->nest;
    for (int i = 0; i < q->n; i++) {
        text_add(t, "%s", i ? " " : "");
        loop_print(t, of, &q->loop[i]);
        for (int j = 0; j < n; j++)
            for (const staging *g = s[j].staging; g < s[j].staging + s[j].n_staging; g++)
                if (g->loop == i && g->shared == shared && (derived || !g->derived))
                    print_staging(t, &s[j], g);
    }
}

void nest_print_stage(text *t, const stage *s, bool derived)
{
    print_loops(t, s, &s->nest, s, 1, derived);
}

void nest_print_shared(text *t, const kernel *k, bool derived)
{
    if (k->n_stage > 1)
        print_loops(t, &k->stage[k->main], &k->shared, k->stage, k->n_stage, derived);
}

void nest_print(text *t, const kernel *k, bool derived)
{
    nest_print_shared(t, k, derived);
    for (int i = 0; i < k->n_stage; i++) {
        if (k->n_stage > 1)
            text_add(t, " ; %s: ", k->stage[i].name);
        nest_print_stage(t, &k->stage[i], derived);
    }
}
