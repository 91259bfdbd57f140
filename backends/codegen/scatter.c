/* scatter.c - loops that store where indices say. Each part owns a range of one of the result's dimensions: it writes
 * the start there, then walks all updates in index order and puts in those that fall into its range. So every element
 * meets its updates in the same order, whatever the number of parts. A dimension that an axis of the updates walks
 * element by element is divided rather than tested. */
#include "backends/codegen/emit.h"

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

/* Nothing to write where the result lies over what it starts from. */
static void write_start(scattering *c)
{
    emitter *m = c->m;
    const stage *s = m->s;
    writer w = emit_writer(m);
    if (stage_updates(s))
        return;
    const int cut = c->cut >= 0 ? s->store[c->cut]->axis : -1;
    char end[24];
    for (int a = 0; a < s->n_result; a++) {
        snprintf(end, sizeof end, "%lld", (long long)s->extent[a]);
        plain_loop(m, a, a == cut ? "low" : "0", a == cut ? "high" : end, a == s->n_result - 1);
    }
    plain_put(m, &w, store_offset(m, m->here.axis), c->x->arg[0], false);
    plain_end(m, s->n_result);
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
        text value = {0};
        char name[16];
        const expr *checked = checked_place(m, at, extent);
        cstyle_temporaries(&w, &m->out.code, checked);
        cstyle_whole(&w, &value, checked);
        snprintf(name, sizeof name, "at%d", d);
        code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->index), name, value.s);
        text_free(&value);
        c->at[d] = affine_var(&m->sp, var_add(&m->sp, name, 0, extent > 0 ? extent - 1 : 0)), named = true;
        if (d != c->cut)
            continue;
        code_if(&m->out.code, arena_format(m->mem, "%s >= low && %s < high", name, name));
        c->tests++;
    }
    return named;
}

static void write_updates(scattering *c)
{
    emitter *m = c->m;
    const stage *s = m->s;
    writer w = emit_writer(m);
    uint32_t open = 0;
    name_subscripts(c, open);
    for (int a = s->n_result; a < s->n_axis; a++) {
        const bool divided = c->cut >= 0 && c->direct[c->cut] == a;
        bool apart = a == s->n_axis - 1; /* the last axis puts every update elsewhere, and no index has to be read */
        for (int d = 0; d < result_type(c)->rank; d++)
            apart = apart && (c->at[d] || c->direct[d] == a);
        bool walks = false;
        for (int d = 0; d < result_type(c)->rank; d++)
            walks = walks || c->direct[d] == a;
        const char *end = arena_format(m->mem, divided ? "MIN(high, %lld%s)" : "%lld", (long long)s->extent[a],
                                       m->d->index_suffix);
        plain_loop(m, a, divided ? "low" : "0", end, apart && walks);
        open |= 1u << a;
        name_subscripts(c, open);
    }
    plain_put(m, &w, layout_offset(&m->sp, &m->p->buffer[s->node->id].layout, c->at), c->x->arg[1], c->x->fn);
    plain_end(m, s->n_axis - s->n_result + c->tests);
}

void emit_scatter(emitter *m)
{
    scattering c = {.m = m, .x = m->s->value};
    m->stage.fold = c.x; /* what emit_combine combines with */
    find_direct(&c);
    choose_cut(&c);
    emit_range(m, c.cut >= 0 ? result_type(&c)->dim[c.cut] : -1);
    write_start(&c);
    write_updates(&c);
}
