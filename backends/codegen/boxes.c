/* boxes.c - slices of a ring that the device brings by itself, as boxes of a tensor. One lane asks for them; a barrier
 * for each place of the ring counts their bytes, and all lanes wait for its phase. Phases of a place take turns: a bit
 * for each says which parity ends next. What lanes left in these places is shown before the first ones come. */
#include "backends/codegen/rings.h"

#include <string.h>

enum { BARRIER = 8 };

bool boxes_any(const ring *r)
{
    bool any = false;
    for (int i = 0; i < r->n; i++)
        any = any || r->copy[i].how == BOXED;
    return any;
}

static int map_of(emitter *m, int of, const box *b) /* equal ones are one */
{
    int i = 0;
    while (i < m->data.n_box && (m->data.box[i].operand != of || memcmp(&m->data.box[i].box, b, sizeof *b) != 0))
        i++;
    if (i == m->data.n_box && i < MAX_BOX) {
        m->data.box[i].operand = of, m->data.n_box++;
        memcpy(&m->data.box[i].box, b, sizeof *b);
    }
    return i;
}

void boxes_find(emitter *m, ring *r)
{
    box b;
    const int bytes = m->d->box ? box_barriers(m->p, m->k, m->s, r->loop) : 0;
    for (int i = 0, n = 0; i < m->s->n_staging && bytes; i++) {
        const staging *g = &m->s->staging[i];
        if (!copy_follows(m, g, r->loop))
            continue;
        memset(&b, 0, sizeof b);
        if (!box_find(m->p, m->k, m->s, g, &b) && (r->map[n] = map_of(m, r->to[n].operand, &b)) < MAX_BOX)
            r->copy[n].how = BOXED;
        n++;
    }
    if (!boxes_any(r))
        return;
    r->barriers = m->data.scratch;
    m->data.scratch += bytes;
    m->data.scratch_most = int_max(m->data.scratch_most, m->data.scratch);
}

/* ---- statements ---- */
static void open_one(emitter *m, const cexpr *when)
{
    const cexpr *first = cexpr_whole(m->mem, W_SAME, lanes_lane(m), emit_whole(m, 0));
    code_open(&m->out.code,
              (stmt){.kind = S_IF, .divergent = true, .value = when ? cexpr_both(m->mem, first, when) : first});
}

static const cexpr *barrier_of(emitter *m, const ring *r, const cexpr *slot)
{
    return cexpr_pointer(m->mem, "", ring_value(m, "barriers", r), cexpr_times(m->mem, slot, BARRIER), 1);
}

static void of_barriers(emitter *m, const ring *r, const char *form) /* of all of the ring, once */
{
    open_one(m, NULL);
    emit_call(m, form, 2, (const cexpr *const[]){ring_value(m, "barriers", r), emit_whole(m, r->slots)});
    code_close(&m->out.code);
}

static const cexpr *address_of(emitter *m, const cexpr *place)
{
    return emit_form(m, m->d->address, 1, &place);
}

static void make_barriers(emitter *m, const ring *r)
{
    const cexpr *at = cexpr_pointer(m->mem, "", cexpr_word(m->mem, "scratch"), emit_whole(m, r->barriers), 1);
    code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->natural[2]), ring_name(m, "barriers", r),
             address_of(m, at));
    code_let(&m->out.code, m->d->natural[2], ring_name(m, "phases", r), emit_whole(m, 0));
    of_barriers(m, r, m->d->box->begin);
    matrix_show(m);
    emit_meet(m);
}

static void end_barriers(emitter *m, const ring *r)
{
    emit_meet(m); /* who still waits */
    of_barriers(m, r, m->d->box->end);
}

/* Makes the barriers once, outside of the loops around the ring: phases continue from one walk of it to the next. */
void boxes_around(emitter *m)
{
    bool within = false;
    for (int i = 0; i < m->s->n_staging && m->d->box; i++) {
        const int l = m->s->staging[i].loop;
        within = within || (l > nest_tile(m->s) && copy_follows(m, &m->s->staging[i], l) &&
                            box_barriers(m->p, m->k, m->s, l) > 0);
    }
    m->tile.barriers = (barriers_made){0};
    if (within)
        m->tile.barriers.around = code_open(&m->out.code, (stmt){.kind = S_BLOCK});
}

void boxes_leave(emitter *m)
{
    const barriers_made *b = &m->tile.barriers;
    if (b->slots)
        end_barriers(m, &(ring){.loop = b->loop, .slots = b->slots});
    if (b->around)
        code_close(&m->out.code);
    m->tile.barriers = (barriers_made){0};
}

static bool is_made(const emitter *m, const ring *r) /* in front of all loops */
{
    const barriers_made *b = &m->tile.barriers;
    return b->slots == r->slots && b->loop == r->loop && b->at == r->barriers;
}

void boxes_begin(emitter *m, ring *r)
{
    barriers_made *b = &m->tile.barriers;
    if (is_made(m, r))
        return;
    if (!b->around || b->slots) {
        make_barriers(m, r);
        return;
    }
    const code here = m->out.code;
    m->out.code = code_begin(m->mem);
    make_barriers(m, r);
    code_before(b->around, &m->out.code);
    m->out.code = here;
    b->loop = r->loop, b->slots = r->slots, b->at = r->barriers;
}

static const cexpr *place_along(emitter *m, const box_dim *d, int64_t more)
{
    const affine *sum = affine_const(&m->sp, d->at + more);
    for (int a = 0; a < m->s->n_axis; a++)
        if (d->by[a])
            sum = affine_add(&m->sp, sum, m->tile.plain[a], d->by[a]);
    emit_passed(m, sum);
    return emit_index(m, sum);
}

static void send_boxes(emitter *m, const ring *r, int i, const cexpr *slot)
{
    enum { BEFORE = 3 };
    const box *b = &m->data.box[r->map[i]].box;
    const char *into = arena_format(m->mem, "into%d", r->copy[i].load);
    const cexpr *arg[BEFORE + BOX_DIMS], *begin = cexpr_word(m->mem, into);
    m->tile.made->boxes |= 1u << r->map[i];
    code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->natural[2]), into,
             address_of(m, ring_place(m, r, i, slot, true)));
    arg[1] = emit_whole(m, r->map[i]), arg[2] = barrier_of(m, r, slot);
    for (int64_t piece = 0; piece < b->pieces; piece++) {
        arg[0] = cexpr_pointer(m->mem, "", begin, emit_whole(m, piece * b->apart), 1);
        for (int d = 0; d < b->n; d++)
            arg[BEFORE + d] = place_along(m, &b->dim[d], d ? 0 : piece * b->dim[0].count);
        cexpr *x = (cexpr *)emit_move(m, BOXES, m->d->box->copy[b->n - 1], r->map[i], BEFORE + (int)b->n, arg);
        x->stage = m->stage.at, x->load = r->copy[i].load;
        code_call(&m->out.code, x);
    }
}

void boxes_send(emitter *m, const ring *r, const cexpr *slot, const cexpr *when)
{
    int64_t bytes = 0;
    for (int i = 0; i < r->n; i++)
        bytes += r->copy[i].how == BOXED ? m->data.box[r->map[i]].box.bytes : 0;
    open_one(m, when);
    emit_call(m, m->d->box->expect, 2, (const cexpr *const[]){barrier_of(m, r, slot), emit_whole(m, bytes)});
    for (int i = 0; i < r->n; i++)
        if (r->copy[i].how == BOXED) {
            code_open(&m->out.code,
                      (stmt){.kind = S_STAGE, .offset = r->to[i].offset, .bytes = r->to[i].bytes * r->slots});
            send_boxes(m, r, i, slot);
            code_close(&m->out.code);
        }
    code_close(&m->out.code);
}

void boxes_wait(emitter *m, const ring *r, const cexpr *slot)
{
    const cexpr *phases = ring_value(m, "phases", r), *parity = cexpr_two(m->mem, "$0 >> $1 & 1", phases, slot);
    emit_call(m, m->d->box->wait, 2, (const cexpr *const[]){barrier_of(m, r, slot), parity});
    code_store(&m->out.code, phases, cexpr_two(m->mem, "$0 ^ 1u << $1", phases, slot));
}

void boxes_end(emitter *m, const ring *r)
{
    if (!is_made(m, r))
        end_barriers(m, r);
}
