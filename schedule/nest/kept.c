/* kept.c - what readers ask of a stage is a box for each; the box that covers them all lies in scratch. */
#include "schedule/nest/kept.h"
#include "schedule/nest/box.h"
#include "schedule/nest/nest.h"
#include "schedule/nest/slice.h"

enum { PIECE = 16 }; /* bytes that units load at once, at multiples of that */

static int64_t piece_of(const stage *s)
{
    return PIECE / ts_dtype_bytes(s->node->type.dtype);
}

/* ---- what units take of it ---- */
typedef struct cover { /* elements that they read, at least those that are there */
    int64_t dim[MAX_RANK], axis[MAX_AXIS];
    bool units;
} cover;

static void add_cover(const kernel *k, const stage *reader, const expr *x, int axis, cover *c)
{
    const int64_t all = nest_cover(reader, axis, -1);
    for (int d = 0; d < x->n; d++)
        if (x->arg[d]->kind == X_AXIS && x->arg[d]->axis == axis && all > c->dim[d])
            c->dim[d] = all;
    if (axis < k->n_shared && all > c->axis[axis])
        c->axis[axis] = all;
    c->units = true;
}

static void find_cover(const kernel *k, const stage *s, cover *c)
{
    for (const stage *r = s + 1; r < k->stage + k->n_stage; r++) {
        unit_loops u;
        if (!s->scratch || !nest_unit(r, &u) || !r->nest.loop[u.loop[0]].role->warp)
            continue;
        for (int i = 0; i < 2; i++)
            if (u.load[i] >= 0 && r->load[u.load[i]]->from == s->node)
                for (int j = i; j < 3; j += 2 - i)
                    add_cover(k, r, r->load[u.load[i]], r->nest.loop[u.loop[j]].axis, c);
    }
}

void kept_find(const kernel *k, int which, kept *out)
{
    const stage *s = &k->stage[which];
    const int64_t piece = piece_of(s);
    cover c = {0};
    bool inner = true;
    *out = (kept){.size = 1};
    find_cover(k, s, &c);
    for (int d = s->node->type.rank; d-- > 0;) {
        if (x_axes(s->store[d]) & ((1u << s->n_shared) - 1))
            continue;
        int64_t n = int_max(s->count[d], c.dim[d]);
        out->gaps |= n > s->count[d];
        if (c.units && inner)
            n = ((n + piece - 1) / piece | 1) * piece;
        inner = false, out->dim[d] = out->size, out->size *= n;
    }
    for (int a = s->n_shared; a-- > 0;) {
        const int64_t left = nest_left(k, s, a, -1), n = int_max(left, c.axis[a]);
        out->gaps |= n > left || (c.axis[a] && s->extent[a] % n);
        out->axis[a] = out->size, out->size *= n;
    }
}

/* ---- who reads it ---- */
int kept_by(const kernel *k, const stage *reader, int load)
{
    const int i = kernel_stage(k, reader->load[load]->from);
    return i >= 0 && k->stage + i < reader && k->stage[i].scratch ? i : -1;
}

int64_t kept_stride(const kernel *k, const stage *s, int load, int axis)
{
    const int which = load == MAX_LOADS ? (int)(s - k->stage) : kept_by(k, s, load);
    kept y;
    kept_find(k, which, &y);
    if (axis < k->n_shared)
        return y.axis[axis];
    int64_t stride = 0;
    for (int d = 0; d < k->stage[which].node->type.rank; d++) {
        const expr *at = stage_places(s, load)[d];
        if (!(x_axes(at) >> axis & 1))
            continue;
        if (at->kind != X_AXIS || stride)
            return 0;
        stride = y.dim[d];
    }
    return stride;
}

const char *kept_no_unit(const kernel *k, const stage *s, int load, int own, int folded)
{
    const int which = kept_by(k, s, load);
    const stage *from = &k->stage[which];
    const expr *x = s->load[load];
    kept y;
    kept_find(k, which, &y);
    const int64_t piece = piece_of(from), across = kept_stride(k, s, load, own), deep = kept_stride(k, s, load, folded);
    for (int d = 0; d < x->n; d++)
        if (x->arg[d]->kind != X_AXIS && x->arg[d]->kind != X_LIT)
            return "is read elsewhere than along the dimensions that an earlier stage computes";
    for (int d = 0; d < x->n; d++)
        if (y.dim[d] && y.dim[d] < piece && from->low[d] % piece)
            return "begins within a piece of 16 bytes of what an earlier stage computes";
    if (deep == 1 || (across == 1 && piece == PIECE / 2))
        return NULL;
    return "does not lie in rows of an axis that the unit takes where an earlier stage computes it";
}

/* ---- all of a kernel ---- */
int64_t kept_besides(const plan *p, const kernel *k, int64_t lanes)
{
    int64_t shared = 0, own = 0, sums = 0;
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        int64_t now = 0, multiple = 0;
        for (int j = 0; j < s->n_staging; j++) {
            const staging *g = &s->staging[j];
            slice y;
            if (!staging_copies(g))
                continue;
            slice_find(p, k, s, g, &y);
            multiple = int_max(multiple, y.multiple);
            *(g->shared ? &shared : &now) += target_aligned(
                                                 p->on, y.size * ts_dtype_bytes(stored_as(p, s->load[g->load]->from))) *
                                             g->stages;
        }
        for (int l = 0; l < s->nest.n && multiple; l++)
            now += box_barriers(p, k, s, l);
        own = int_max(own, now + (k->n_stage > 1 ? multiple : 0)); /* they may begin behind what is handed on */
        if (nest_merges_in_memory(p, s))
            sums = int_max(sums, stage_states(s));
    }
    return shared + int_max(own, sums * target_aligned(p->on, lanes * ts_dtype_bytes(TS_F64)));
}

int64_t kept_bytes(const plan *p, const kernel *k)
{
    return kept_by_group(p, k, nest_group_lanes(p, k));
}

int64_t kept_by_group(const plan *p, const kernel *k, int64_t lanes)
{
    int64_t bytes = kept_besides(p, k, lanes);
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        const int states = stage_carries(s) ? s->value->n_state : 0;
        kept y;
        kept_find(k, i, &y);
        for (int j = 0; j < states; j++)
            bytes += target_aligned(p->on, y.size * ts_dtype_bytes(s->value->arg[j]->dtype));
        if (s->scratch)
            bytes += target_aligned(p->on, y.size * ts_dtype_bytes(stored_as(p, s->node)));
    }
    return bytes;
}
