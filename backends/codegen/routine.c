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

static void add_form(emitter *m, const char *form, const char *a, const char *b)
{
    ENDED_BY(text_free) text t = {0};
    form_write(&t, m->out.uses, m->d, form, (const char *[]){a, b});
    code_call(&m->out.code, cexpr_word(m->mem, text_str(&t)));
}

/* One part copies the bytes as they are, with all of its lanes. */
static void copy_bytes(emitter *m, int64_t from)
{
    const loop_form *form = &m->d->loop;
    const char *of = m->data.operand[m->data.source[m->stage.at][0].operand].name;
    ENDED_BY(text_free) text at = {0}, call = {0};
    form_write(&at, NULL, m->d, form->at[0], (const char *[]){of, number_text(m, from)});
    form_write(&call, m->out.uses, m->d, form->copy,
               (const char *[]){m->data.operand[m->stage.result].name, from ? at.s : of,
                                number_text(m, type_bytes(&m->s->node->type))});
    if (!m->d->lane)
        emit_range(m, -1);
    code_call(&m->out.code, cexpr_word(m->mem, call.s));
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
    ENDED_BY(text_free) text types = {0}, at = {0}, numbers = {0};
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
        form_write(&at, NULL, m->d, form->pointer, (const char *[]){o->name});
        text_add(&at, ", ");
    }
    text_add(&types, "%c", routine_type(m->s->node->type.dtype, stored_as(m->p, m->s->node) == TS_F64));
    text_add(&m->out.front, "%s%s\n", form->before, text_of(x->run));
    text_add(&at, "%s", m->data.operand[m->stage.result].name);
    for (int i = 0; i < x->run->n_parameter; i++)
        text_add(&numbers, "%lld, ", (long long)x->run->parameter[i]);
    text_add(&numbers, "0");
    add_form(m, form->operands, at.s, NULL);
    add_form(m, form->numbers, numbers.s, NULL);
    add_form(m, form->call, x->run->name, types.s);
    if (m->data.scratch_most < x->run->scratch)
        m->data.scratch_most = target_aligned(m->p->on, x->run->scratch);
}
