#include "tests/backends/codegen/rig.h"
#include "tests/backends/codegen/tree.h"

#include <stdio.h>
#include <stdlib.h>

bool rig_begin(rig *r, maker *make, const char *on, const char *what, const char *loops)
{
    char rule[200];
    *r = (rig){0};
    snprintf(rule, sizeof rule, "{\"match\":{\"op\":[\"%s\"]},\"loops\":\"%s\"}", what, loops);
    if (!make_plan(&r->b, &(setting){.make = make, .machine = on, .isa = "avx2", .threads = 1, .rules = rule}))
        return false;
    emitter *m = r->m = calloc(1, sizeof *r->m);
    MUST(m);
    *m = (emitter){.d = &made_up, .p = r->b.p, .k = &r->b.p->kernel[r->b.p->n_kernel - 1], .mem = &r->mem, .e = &r->e};
    m->sp.mem = m->mem, m->out.uses = &r->uses, m->s = &m->k->stage[m->k->main], m->group = 1;
    m->data.source = arena_array(m->mem, (size_t)m->k->n_stage + 1, sizeof *m->data.source);
    for (int a = 0; a < MAX_AXIS; a++)
        m->shared.axis[a] = affine_const(&m->sp, 0), m->shared.cur[a] = m->s->extent[a];
    return true;
}

void rig_tile(rig *r)
{
    emitter *m = r->m;
    stage_enter(m, m->k->main);
    m->tile.made = &r->tile;
    for (int a = 0; a < m->s->n_axis; a++) {
        m->tile.inner[a] = m->tile.plain[a] = m->tile.origin[a] = affine_const(&m->sp, 0);
        m->here.cur[a] = nest_left(m->k, m->s, a, nest_tile(m->s) - 1);
    }
    for (int i = 0; i < m->s->n_load; i++) {
        const node *from = m->s->load[i]->from;
        m->data.operand[i] = (operand){.node = from, .layout = &m->p->buffer[from->id].layout, .leaf = -1};
        m->data.source[0][i].operand = i;
    }
    bounds_tile(m);
}

void rig_end(rig *r)
{
    free(r->m), arena_free(&r->mem), free_plan(&r->b);
}
