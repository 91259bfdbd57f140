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

static void add_form(emitter *m, const char *form, int n, const cexpr *const *arg)
{
    callees_form(m->out.uses, m->d, form, m->d->suffix);
    code_call(&m->out.code, cexpr_form(m->mem, form, n, arg));
}

/* One part copies the bytes as they are, with all of its lanes. */
static void copy_bytes(emitter *m, int64_t from)
{
    const loop_form *form = &m->d->loop;
    const cexpr *of = cexpr_word(m->mem, m->data.operand[m->data.source[m->stage.at][0].operand].name),
                *to = cexpr_word(m->mem, m->data.operand[m->stage.result].name),
                *at = cexpr_two(m->mem, form->at[0], of, emit_whole(m, from));
    if (!m->d->lane)
        emit_range(m, -1);
    add_form(m, form->copy, 3,
             (const cexpr *const[]){to, from ? at : of, emit_whole(m, type_bytes(&m->s->node->type))});
}

/* Whether the language can call it. */
static bool callable(const dialect *d, const expr *x, err *e)
{
    if (!x->run->run) {
        err_set(e, TS_UNSUPPORTED, "%s is a function of this process, which cannot be called from %s", x->run->name,
                d->name);
        return err_hint(e, "define it by text in place of a kernel, or choose another target");
    }
    return d->routine.before ||
           err_set(e, TS_UNSUPPORTED, "%s is a routine of C, which cannot be written in %s", x->run->name, d->name);
}

bool kernel_callable(const dialect *d, const kernel *k, err *e)
{
    const expr *x = k->stage->value;
    return x->kind != X_ROUTINE || x->run->copies || callable(d, x, e);
}

void emit_routine(emitter *m)
{
    const expr *x = m->s->value;
    const routine_form *form = &m->d->routine;
    ENDED_BY(text_free) text types = {0};
    const cexpr *at = NULL, *numbers = NULL;
    int64_t from;
    if (m->d->loop.copy && kernel_copies(m->p, m->k, &from)) {
        copy_bytes(m, from);
        return;
    }
    if (!callable(m->d, x, m->e))
        return;
    for (int i = 0; i < x->n; i++) {
        int load = 0;
        while (!x_same(m->s->load[load], x->arg[i]))
            load++;
        const operand *o = &m->data.operand[m->data.source[m->stage.at][load].operand];
        text_add(&types, "%c", routine_type(o->node->type.dtype, stored_as(m->p, o->node) == TS_F64));
        at = cexpr_list(m->mem, at, cexpr_one(m->mem, form->pointer, cexpr_word(m->mem, o->name)));
    }
    text_add(&types, "%c", routine_type(m->s->node->type.dtype, stored_as(m->p, m->s->node) == TS_F64));
    text_add(&m->out.front, "%s%s\n", form->before, text_of(x->run));
    at = cexpr_list(m->mem, at, cexpr_word(m->mem, m->data.operand[m->stage.result].name));
    for (int i = 0; i < x->run->n_parameter; i++)
        numbers = cexpr_list(m->mem, numbers, emit_whole(m, x->run->parameter[i]));
    numbers = cexpr_list(m->mem, numbers, emit_whole(m, 0));
    add_form(m, form->operands, 1, &at);
    add_form(m, form->numbers, 1, &numbers);
    add_form(m, form->call, 2,
             (const cexpr *const[]){cexpr_word(m->mem, x->run->name), cexpr_spelled(m->mem, text_str(&types))});
    if (m->data.scratch_most < x->run->scratch)
        m->data.scratch_most = target_aligned(m->p->on, x->run->scratch);
}
