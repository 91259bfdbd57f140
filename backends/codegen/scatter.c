/* scatter.c - loops that store where indices say. Each part owns a range of one of the result's dimensions: it writes
 * the start there, then walks all updates in index order and puts in those that fall into its range. So every element
 * meets its updates in the same order, whatever the number of parts. A dimension that an axis of the updates walks
 * element by element is divided rather than tested. */
#include "backends/codegen/vectors.h"

#include <stdio.h>

typedef struct scattering {
    emitter *m;
    const expr *x;
    const affine *at[MAX_RANK]; /* where an update goes, by dimension; NULL: not known yet */
    int direct[MAX_RANK];       /* the axis of the updates that walks the dimension alone, or -1 */
    int cut;                    /* the dimension that is divided, or -1: part 0 does it all */
    int tests;                  /* blocks opened for a test against the part's range */
} scattering;

static const type *result_type(const scattering *c)
{
    return &c->m->s->node->type;
}

/* An axis that appears as a subscript of its own and stays inside. */
static void find_direct(scattering *c)
{
    const stage *s = c->m->s;
    uint32_t seen = 0;
    for (int d = 0; d < result_type(c)->rank; d++) {
        const expr *at = c->x->arg[2 + d];
        c->direct[d] = -1;
        if (at->kind != X_AXIS || seen >> at->axis & 1 || s->extent[at->axis] > result_type(c)->dim[d])
            continue;
        c->direct[d] = at->axis, seen |= 1u << at->axis;
    }
}

static void choose_cut(scattering *c)
{
    const type *t = result_type(c);
    int direct = -1, any = -1;
    for (int d = 0; d < t->rank; d++) {
        if (c->m->s->store[d]->kind != X_AXIS) /* of one element */
            continue;
        if (any < 0 || t->dim[d] > t->dim[any])
            any = d;
        if (c->direct[d] >= 0 && (direct < 0 || t->dim[d] > t->dim[direct]))
            direct = d;
    }
    c->cut = direct >= 0 && t->dim[direct] >= c->m->p->threads ? direct : any;
}

static const affine *start_place(const void *user)
{
    const scattering *c = user;
    return store_offset(c->m, c->m->here.axis);
}

static void put(const scattering *c, const affine *place, const expr *x, const fn *by)
{
    writer w = emit_writer(c->m);
    plain_put(c->m, place, value_shaped(c->m, &w, x), by);
}

static void put_start(void *user)
{
    const scattering *c = user;
    put(c, start_place(c), c->x->arg[0], NULL);
}

/* Nothing to write where the result lies over what it starts from. */
static void write_start(scattering *c)
{
    emitter *m = c->m;
    const stage *s = m->s;
    row_loop last = {.axis = s->n_result - 1, .place = start_place, .write = put_start, .user = c};
    if (stage_updates(s))
        return;
    const int cut = c->cut >= 0 ? s->store[c->cut]->axis : -1;
    for (int a = 0; a < s->n_result; a++) {
        const cexpr *from = a == cut ? cexpr_word(m->mem, "low") : emit_whole(m, 0),
                    *to = a == cut ? cexpr_word(m->mem, "high") : emit_whole(m, s->extent[a]);
        if (a < last.axis) {
            plain_loop(m, a, from, to);
            continue;
        }
        last.n = vector_beside(m, &last, 1, c->x->arg);
        plain_row(m, &last, from, to);
    }
    if (!s->n_result)
        put_start(c);
    plain_end(m, last.axis);
}

/* Subscripts whose axes are all open get their names, are checked, and tested against the part's range. */
static bool name_subscripts(scattering *c, uint32_t open)
{
    emitter *m = c->m;
    bool named = false;
    for (int d = 0; d < result_type(c)->rank; d++) {
        const expr *at = c->x->arg[2 + d];
        const int64_t extent = result_type(c)->dim[d];
        if (c->at[d] || x_axes(at) & ~open)
            continue;
        if (c->direct[d] >= 0) {
            c->at[d] = m->here.axis[c->direct[d]];
            continue;
        }
        writer w = emit_writer(m);
        char name[16];
        const expr *checked = checked_place(m, at, extent);
        const cexpr *value = value_shaped(m, &w, checked);
        snprintf(name, sizeof name, "at%d", d);
        code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->index), name, value);
        c->at[d] = affine_var(&m->sp, var_add(&m->sp, name, 0, extent > 0 ? extent - 1 : 0)), named = true;
        if (d != c->cut)
            continue;
        code_if(&m->out.code,
                cexpr_both(m->mem, cexpr_whole(m->mem, W_LEAST, cexpr_word(m->mem, name), cexpr_word(m->mem, "low")),
                           cexpr_whole(m->mem, W_LESS, cexpr_word(m->mem, name), cexpr_word(m->mem, "high"))));
        c->tests++;
    }
    return named;
}

static const affine *update_place(const void *user)
{
    const scattering *c = user;
    emitter *m = c->m;
    const affine *at[MAX_RANK];
    for (int d = 0; d < result_type(c)->rank; d++)
        at[d] = c->direct[d] >= 0 ? m->here.axis[c->direct[d]] : c->at[d];
    return layout_offset(&m->sp, &m->p->buffer[m->s->node->id].layout, at);
}

static void put_update(void *user)
{
    const scattering *c = user;
    put(c, update_place(c), c->x->arg[1], c->x->fn);
}

/* The last axis puts every update elsewhere, and no index has to be read. */
static bool walks_apart(const scattering *c, int a)
{
    bool apart = true, walks = false;
    for (int d = 0; d < result_type(c)->rank; d++)
        apart = apart && (c->at[d] || c->direct[d] == a), walks = walks || c->direct[d] == a;
    return apart && walks;
}

static void write_updates(scattering *c)
{
    emitter *m = c->m;
    const stage *s = m->s;
    const int last = s->n_axis - 1;
    uint32_t open = 0;
    int loops = 0;
    name_subscripts(c, open);
    for (int a = s->n_result; a < s->n_axis; a++) {
        const bool divided = c->cut >= 0 && c->direct[c->cut] == a;
        const cexpr *from = divided ? cexpr_word(m->mem, "low") : emit_whole(m, 0),
                    *all = divided ? emit_long(m, s->extent[a]) : emit_whole(m, s->extent[a]),
                    *to = divided ? cexpr_least(m->mem, cexpr_word(m->mem, "high"), all) : all;
        if (a == last && walks_apart(c, a)) {
            row_loop r = {.axis = a, .place = update_place, .write = put_update, .user = c};
            const bool combines = !c->x->fn || vector_combines(m, c->x->fn, c->x->dtype);
            r.n = combines ? vector_beside(m, &r, 1, &c->x->arg[1]) : 0;
            plain_row(m, &r, from, to);
            plain_end(m, loops + c->tests);
            return;
        }
        plain_loop(m, a, from, to), loops++;
        open |= 1u << a;
        name_subscripts(c, open);
    }
    put_update(c);
    plain_end(m, loops + c->tests);
}

void emit_scatter(emitter *m)
{
    scattering c = {.m = m, .x = m->s->value};
    m->stage.fold = c.x; /* what value_combined combines with */
    find_direct(&c);
    choose_cut(&c);
    emit_range(m, c.cut >= 0 ? result_type(&c)->dim[c.cut] : -1);
    write_start(&c);
    write_updates(&c);
}
