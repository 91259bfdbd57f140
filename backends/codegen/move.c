/* move.c - copies of slices that the lanes of a group make together. Neighbours in memory go to neighbouring lanes, as
 * many bytes at once as their places allow; a lane has the same part of each slice. It may hold its part in registers,
 * or send it on its way, until the slice is due. */
#include "backends/codegen/trips.h"

#include <string.h>

/* ---- what it moves ---- */
static int64_t there(const emitter *m, int a) /* elements along axis a */
{
    return int_max(m->here.cur[a], 1);
}

static int64_t along(const emitter *m, const copying *c, int a) /* that the copy has */
{
    return c->extent ? int_max(c->extent[a], 1) : there(m, a);
}

/* Conditions that hold for every element moved: all are inside, which the ranges of the tile's start do not tell. */
static const expr *limits(emitter *m, const copying *c)
{
    const expr *all = NULL;
    for (int i = 0; i < c->n; i++) {
        const int a = c->order[i];
        const expr *one = x2(m->mem, "lt", x_axis(m->mem, a), x_whole(m->mem, m->s->extent[a]));
        all = all ? x2(m->mem, "and", all, one) : one;
    }
    return all;
}

typedef struct owned { /* variables of the copy, and its axes */
    int first, last;
    uint32_t axes;
} owned;

static bool is_own(void *user, const atom *a)
{
    const owned *o = user;
    return a->kind == A_VAR ? a->var >= o->first && a->var < o->last : a->kind == A_EXPR && x_axes(a->x) & o->axes;
}

typedef struct lying {        /* of the slice in memory */
    int64_t stride[MAX_AXIS]; /* how far apart neighbours along each axis are */
    int64_t run[MAX_AXIS];    /* of how many that holds, from each multiple on: blocks of a layout; 0: of all */
    int64_t grain;            /* every place is a multiple of it, in elements */
    bool even;                /* the strides are all there is to it */
} lying;

static void find_lying(emitter *m, const copying *c, lying *out)
{
    trips_place was;
    owned own = {.first = m->sp.n};
    int v[MAX_AXIS];
    *out = (lying){.even = true};
    trips_save(m, &was);
    for (int i = 0; i < c->n; i++) {
        const int a = c->order[i];
        trips_go(m, a, affine_var(&m->sp, v[a] = var_add(&m->sp, "", 0, along(m, c, a) - 1)), 1);
        own.axes |= 1u << a;
    }
    own.last = m->sp.n;
    m->copy.on = true;
    const affine *at = source_offset(m, c->load, m->tile.made ? m->tile.inner : m->here.axis);
    m->copy.on = false;
    out->grain = int_gcd(at->c, place_grain(m, c->load));
    for (int i = 0; i < c->n; i++) {
        const int a = c->order[i];
        out->stride[a] = affine_coef(at, v[a]);
        out->run[a] = affine_run(at, is_own, &(owned){v[a], v[a] + 1, 1u << a});
    }
    for (int i = 0; i < at->n; i++) {
        const atom *q = at->t[i].a;
        const affine one = {.n = 1, .t = &at->t[i]};
        if (q->kind != A_VAR)
            out->even = out->even && !affine_uses(&one, is_own, &own);
        if (q->kind != A_VAR || !is_own(&own, q))
            out->grain = int_gcd(out->grain, at->t[i].coef);
    }
    trips_leave(m, &was);
}

/* The copy's axes as the operand has them in memory, from far apart to neighbours; as the copy has them, where no
 * strides say it. */
static void memory_order(const copying *c, const lying *lies, int *order)
{
    memcpy(order, c->order, (size_t)c->n * sizeof *order);
    for (int i = 1; i < c->n && lies->even; i++)
        for (int k = i; k > 0 && lies->stride[order[k]] > lies->stride[order[k - 1]]; k--) {
            const int a = order[k];
            order[k] = order[k - 1], order[k - 1] = a;
        }
}

typedef struct moved { /* how lanes go about it */
    int order[MAX_AXIS];
    const move_form *form;     /* several elements at once, or one that may be sent; NULL: one */
    int64_t width, all, turns; /* elements at once; of these in the slice; for each lane */
} moved;

static bool multiple(int64_t of, const int64_t *n, int count)
{
    for (int i = 0; i < count; i++)
        if (n[i] % of)
            return false;
    return true;
}

/* Whether all pieces of so many elements lie in one piece, here and there, at places of which each is a multiple. */
static bool pieces(const emitter *m, const copying *c, const int *order, const lying *lies, int64_t width)
{
    const int inner = order[c->n - 1];
    const int64_t *stride = lies->stride;
    const int64_t ends[] = {along(m, c, inner), there(m, inner),
                            c->later && c->later->axis == inner ? c->later->left : 0};
    if (stride[inner] != 1 || lies->run[inner] % width || lies->grain % width || c->to->stride[inner] != 1 ||
        !multiple(width, ends, COUNT(ends)))
        return false;
    for (int i = 0; i < c->n - 1; i++)
        if (along(m, c, order[i]) > 1 && !multiple(width, (int64_t[]){stride[order[i]], c->to->stride[order[i]]}, 2))
            return false;
    return true;
}

static void find_moved(emitter *m, const copying *c, moved *out)
{
    lying lies;
    const int64_t size = ts_dtype_bytes(source_dtype(m, c->load));
    const expr *was = m->copy.under, *guard = stage_guard(m->s, c->load), *most = limits(m, c);
    m->copy.under = guard && most ? x2(m->mem, "and", most, guard->arg[0]) : guard ? guard->arg[0] : most;
    find_lying(m, c, &lies);
    m->copy.under = was;
    *out = (moved){.width = 1, .all = 1};
    memory_order(c, &lies, out->order);
    for (const move_form *f = m->d->move; f && f->bytes && !guard && !out->form; f++) {
        const int64_t width = f->bytes / size;
        if (width == 1 && f->bytes == size)
            out->form = f;
        else if (width > 1 && c->n && m->tile.made && pieces(m, c, out->order, &lies, width))
            out->form = f, out->width = width;
    }
    for (int i = 0; i < c->n; i++)
        out->all *= along(m, c, c->order[i]);
    out->all /= out->width;
    out->turns = (out->all + m->group - 1) / m->group;
}

/* ---- one piece ---- */
/* The condition under which there is something; NULL: always */
static const cexpr *limits_of(emitter *m, const copying *c, const affine *const *trip)
{
    const cexpr *all = c->how == SENT && c->when ? c->when : NULL;
    for (int i = 0; i < c->n; i++) {
        const int a = c->order[i];
        const bool more = c->later && c->later->axis == a && c->later->left;
        if (!more && along(m, c, a) <= there(m, a))
            continue;
        const affine *at = more ? affine_add(&m->sp, trip[a], c->later->at, c->later->step) : trip[a];
        all = cexpr_both(
            m->mem, all,
            cexpr_whole(m->mem, W_LESS, emit_index(m, at), emit_whole(m, more ? c->later->left : there(m, a))));
    }
    return all;
}

static const char *held_name(const emitter *m, const copying *c)
{
    return arena_format(m->mem, "held%d", c->load);
}

/* Whole periods of a swizzle pass through it. */
static void send_piece(emitter *m, const copying *c, const moved *how, const affine *at, const cexpr *inside)
{
    const int64_t size = ts_dtype_bytes(source_dtype(m, c->load)),
                  period = (INT64_C(1) << c->to->shift) * (c->to->mask + 1), far = at->c / period * period;
    m->copy.sent = true;
    const cexpr *from = emit_address(m, copy_element(m, c));
    m->copy.sent = false;
    const cexpr *index = copy_index(m, c->to, affine_add(&m->sp, at, affine_const(&m->sp, -far), 1)),
                *to = cexpr_pointer(m->mem, "", cexpr_word(m->mem, c->into), emit_bytes(m, index, size, true), 1);
    code_call(&m->out.code, emit_move(m, SENDS, how->form->send, how->form->bytes, 4,
                                      (const cexpr *const[]){to, from, inside ? inside : emit_whole(m, 1),
                                                             emit_whole(m, far * size)}));
}

/* What goes there; `inside`: the condition under which there is something, NULL for always */
static const cexpr *piece_value(emitter *m, const copying *c, const moved *how, const cexpr *inside)
{
    const cexpr *from = copy_element(m, c);
    if (how->width > 1)
        return emit_move(m, TAKES, how->form->take, how->form->bytes, 2,
                         (const cexpr *const[]){emit_address(m, from), inside ? inside : emit_whole(m, 1)});
    return inside ? cexpr_whole_as(m->mem, W_WHERE, "($0 ? $1 : 0)", 2, (const cexpr *const[]){inside, from}) : from;
}

static void move_piece(emitter *m, const copying *c, const moved *how, const cexpr *to, const cexpr *inside)
{
    const cexpr *mine = cexpr_element(m->mem, held_name(m, c), cexpr_word(m->mem, how->turns > 1 ? "turn" : "0"),
                                      IN_REGISTERS);
    const cexpr *value = c->how == PUT ? mine : piece_value(m, c, how, inside);
    if (how->width > 1 && c->how != TAKEN)
        code_call(&m->out.code, emit_move(m, PUTS, how->form->put, how->form->bytes, 2,
                                          (const cexpr *const[]){emit_address(m, to), value}));
    else
        code_store(&m->out.code, c->how == TAKEN ? mine : to, value);
}

static void put_piece(emitter *m, const copying *c, const moved *how, const affine *left)
{
    const affine *at = affine_const(&m->sp, 0), *trip[MAX_AXIS];
    for (int i = c->n; i-- > 0;) {
        const int a = how->order[i];
        const int64_t width = i == c->n - 1 ? how->width : 1, extent = along(m, c, a) / width;
        trip[a] = affine_scale(&m->sp, i ? affine_mod(&m->sp, left, extent) : left, width);
        left = affine_div(&m->sp, left, extent);
        trips_go(m, a, trip[a], 1);
        if (c->to->block && c->to->stride[a] == 1) { /* rows cut in columns */
            at = affine_add(&m->sp, at, affine_mod(&m->sp, trip[a], c->to->block), 1);
            at = affine_add(&m->sp, at, affine_div(&m->sp, trip[a], c->to->block), c->to->apart);
        } else
            at = affine_add(&m->sp, at, trip[a], c->to->stride[a]);
    }
    const cexpr *inside = limits_of(m, c, trip);
    if (c->how == SENT)
        send_piece(m, c, how, at, inside);
    else
        move_piece(m, c, how, copy_into(m, c, at), inside);
}

/* Turn by turn, of which those that all lanes have a piece for take no test */
static void put_turn(emitter *m, const copying *c, const moved *how, const affine *turn, bool all)
{
    const affine *lane = affine_var(&m->sp, var_add(&m->sp, lanes_lane(m)->text, 0, m->group - 1)),
                 *left = affine_add(&m->sp, lane, turn, m->group);
    if (!all)
        code_open(&m->out.code,
                  (stmt){.kind = S_IF,
                         .divergent = true,
                         .value = cexpr_whole(m->mem, W_LESS, emit_index(m, left), emit_whole(m, how->all))});
    put_piece(m, c, how, left);
    if (!all)
        code_close(&m->out.code);
}

enum { WRITTEN = 16 }; /* turns, where compilers are told to */

/* Turns at a time. Of all that are sent, and of the first slices of a ring, a compiler would have places and values in
 * registers at once, beside the sums: more than there are, in 12 convolutions of ResNet-50 in tf32. */
static int64_t written_out(const copying *c, const moved *how)
{
    enum { SENDING = 4, FIRST = 8 };
    const int64_t most = c->how == SENT ? SENDING : c->how == AT_ONCE && c->later ? FIRST : how->turns;
    return int_min(most, how->turns);
}

static void put_turns(emitter *m, const copying *c, const moved *how)
{
    const bool numbers = c->how == SENT && how->turns <= WRITTEN, /* places are */
        at_once = c->how == AT_ONCE; /* else values are in registers, whose places have to be numbers */
    trips_place was;
    trips_save(m, &was);
    for (int64_t i = 0; numbers && i < how->turns; i++) {
        put_turn(m, c, how, affine_const(&m->sp, i), (i + 1) * m->group <= how->all);
        trips_leave(m, &was);
    }
    if (numbers)
        return;
    if (how->turns > 1)
        code_open(&m->out.code, (stmt){.kind = S_LOOP,
                                       .how = at_once && how->turns > WRITTEN ? AS_IT_IS : WRITTEN_OUT,
                                       .name = "turn",
                                       .from = emit_whole(m, 0),
                                       .to = emit_whole(m, how->turns),
                                       .trips = how->turns,
                                       .together = written_out(c, how)});
    put_turn(m, c, how, affine_var(&m->sp, var_add(&m->sp, "turn", 0, how->turns - 1)), how->all % m->group == 0);
    if (how->turns > 1)
        code_close(&m->out.code);
    trips_leave(m, &was);
}

/* Pieces of all lanes, one after another from turn to turn */
void lanes_copy(emitter *m, const copying *c)
{
    moved how;
    const expr *under = m->copy.under;
    find_moved(m, c, &how);
    m->copy.under = limits(m, c);
    put_turns(m, c, &how);
    m->copy.under = under;
}

void lanes_held(emitter *m, const copying *c)
{
    moved how;
    find_moved(m, c, &how);
    const dtype d = source_dtype(m, c->load);
    stmt *s = code_array(&m->out.code, how.width > 1 ? how.form->type : memory_type(m->d, d), held_name(m, c),
                         arena_format(m->mem, "[%lld]", (long long)how.turns));
    s->bytes = how.width * ts_dtype_bytes(d), s->trips = how.turns;
}

bool lanes_send(emitter *m, const copying *c)
{
    moved how;
    find_moved(m, c, &how);
    return how.form && how.form->send;
}
