/* dots.c - products within a vector, of which an instruction adds several to each sum at once. */
#include "backends/codegen/trips.h"
#include "backends/codegen/vectors.h"

static const loop *dot_loop(const emitter *m) /* within that over vectors; NULL: there is none */
{
    const loop *q = &m->s->nest.loop[m->s->nest.n - 1];
    return q->role->dot ? q : NULL;
}

static bool bare(const expr *x) /* a product of what is read, padding aside */
{
    x = x_uncast(x);
    return x_is_call(x, "mul") && x_uncast(x->arg[0])->kind == X_LOAD && x_uncast(x->arg[1])->kind == X_LOAD;
}

/* Whether an instruction takes it: what it multiplies are neighbours, those of one lane behind those of another */
static bool takes_dot(emitter *m)
{
    const loop *q = dot_loop(m);
    const dot_form *f = m->p->on->dot;
    const vector_loop *v = &m->tile.vectors;
    int load[2];
    return q && f && nest_dots(m->s, f, v->axis, load) && bare(m->tile.term) && m->here.cur[q->axis] >= f->n &&
           v->count == v->n && vector_runs(m, load[0], q->axis, f->n) && vector_runs(m, load[1], q->axis, f->n) &&
           vector_lies(m, load[1], v->axis, v->n, f->n);
}

strip *dots_pass(emitter *m, strip *t)
{
    const loop *within = m->tile.vectors.n && t->ph == BODY && t->kind == T_PHASE ? dot_loop(m) : NULL;
    if (!within)
        return t;
    if (takes_dot(m)) {
        t->kind = T_DOT;
        return t;
    }
    strip *each = trips_wrap(m, T_LOOP, t);
    each->loop = m->s->nest.n - 1, each->end = m->here.cur[within->axis], each->left = 1;
    return each;
}
