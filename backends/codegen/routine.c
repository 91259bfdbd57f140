/* routine.c - a kernel that is a C function of its own: its text goes into the unit as it is. */
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
    text types = {0}, at = {0};
    for (int i = 0; i < x->n; i++) {
        int load = 0;
        while (!x_same(m->s->load[load], x->arg[i]))
            load++;
        const operand *o = &m->operand[m->source[m->at][load].operand];
        text_add(&types, "%c", routine_type(o->node->type.dtype, stored_as(m->p, o->node) == TS_F64));
        text_add(&at, "(void *)%s, ", o->name);
    }
    text_add(&types, "%c", routine_type(m->s->node->type.dtype, stored_as(m->p, m->s->node) == TS_F64));
    text_add(&m->tiles, "#define ROUTINE static\n%s\n", text_of(x->run));
    text_line(&m->body, "void *const with[] = {%s%s};", text_str(&at), m->operand[m->result].name);
    text_add(&m->body, "    static const int64_t param[] = {");
    for (int i = 0; i < x->run->n_param; i++)
        text_add(&m->body, "%lld, ", (long long)x->run->param[i]);
    text_add(&m->body, "0};\n");
    text_line(&m->body, "routine_%s(with, \"%s\", param, scratch, share->part, share->parts);", x->run->name, types.s);
    if (m->scratch_most < x->run->scratch)
        m->scratch_most = (x->run->scratch + 63) / 64 * 64;
    text_free(&types), text_free(&at);
}
