/* plain.c - loops written as they are, and elements stored: what scatters and scans share. */
#include "backends/codegen/emit.h"

#include <stdio.h>

void plain_loop(emitter *m, int axis, const char *from, const char *to, bool lanes)
{
    const int64_t extent = m->s->extent[axis];
    char name[24];
    snprintf(name, sizeof name, "%s_%d", m->s->letter[axis], axis);
    code_open(&m->out.code,
              (stmt){.kind = S_LOOP, .how = lanes ? IN_LANES : AS_IT_IS, .name = name, .from = from, .to = to});
    m->here.axis[axis] = affine_var(&m->sp, var_add(&m->sp, name, 0, extent > 0 ? extent - 1 : 0));
}

void plain_end(emitter *m, int n)
{
    while (n-- > 0)
        code_close(&m->out.code);
}

void plain_put(emitter *m, writer *w, const affine *place, const expr *x, bool combined)
{
    const dtype d = stored_as(m->p, m->s->node);
    text y = {0}, value = {0}, old = {0}, sum = {0}, all = {0};
    const char *wrap = cstyle_store(m->mem, m->d, m->out.uses, d);
    text_add(&y, "%s[", m->data.operand[m->stage.result].name);
    emit_affine(m, &y, place);
    text_add(&y, "]");
    cstyle_temporaries(w, &m->out.code, x);
    if (combined)
        cstyle_operand(w, &value, m->stage.fold->fn, m->stage.fold->dtype, 1, x);
    else
        cstyle_whole(w, &value, x);
    if (combined) {
        const char *load = cstyle_load(m->mem, m->d, m->out.uses, d);
        text_add(&old, "%s%s%s", load, y.s, *load ? ")" : "");
        emit_combine(m, &sum, old.s, value.s);
    }
    text_add(&all, "%s%s%s", wrap, combined ? sum.s : value.s, *wrap ? ")" : "");
    code_store(&m->out.code, y.s, all.s);
    text_free(&y), text_free(&value), text_free(&old), text_free(&sum), text_free(&all);
}
