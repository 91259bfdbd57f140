/* routine.c - a kernel that is a C function of its own: its text goes in front of the unit. */
#include "backends/codegen/emit.h"

#include <string.h>

static const char *text_of(const routine *r)
{
    const struct routine_text *t = routine_texts;
    while (t->name && strcmp(t->name, r->name))
        t++;
    MUST(t->name);
    return t->text;
}

void emit_routine(emitter *m)
{
    const expr *x = m->s->value;
    text types = {0}, at = {0}, param = {0};
    if (!m->d->routine) {
        err_set(m->e, TS_UNSUPPORTED, "%s is a routine of C, which cannot be written in %s", x->run->name, m->d->name);
        return;
    }
    for (int i = 0; i < x->n; i++) {
        int load = 0;
        while (!x_same(m->s->load[load], x->arg[i]))
            load++;
        const operand *o = &m->data.operand[m->data.source[m->stage.at][load].operand];
        text_add(&types, "%c", routine_type(o->node->type.dtype, stored_as(m->p, o->node) == TS_F64));
        text_add(&at, "(void *)%s, ", o->name);
    }
    text_add(&types, "%c", routine_type(m->s->node->type.dtype, stored_as(m->p, m->s->node) == TS_F64));
    text_add(&m->out.front, "%s%s\n", m->d->routine, text_of(x->run));
    text_add(&at, "%s", m->data.operand[m->stage.result].name);
    for (int i = 0; i < x->run->n_param; i++)
        text_add(&param, "%lld, ", (long long)x->run->param[i]);
    code_let(&m->out.code, "void *const", "with[]", arena_format(m->mem, "{%s}", at.s));
    code_let(&m->out.code, "static const int64_t", "param[]", arena_format(m->mem, "{%s0}", text_str(&param)));
    code_add(&m->out.code, (stmt){.kind = S_CALL,
                                  .value = arena_format(m->mem, "routine_%s(with, \"%s\", param, scratch, %s, %s)",
                                                        x->run->name, types.s, m->d->part, m->d->parts)});
    if (m->data.scratch_most < x->run->scratch)
        m->data.scratch_most = target_aligned(m->p->on, x->run->scratch);
    text_free(&types), text_free(&at), text_free(&param);
}
