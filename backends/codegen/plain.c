/* plain.c - loops written as they are, and elements stored: what scatters and walks share. */
#include "backends/codegen/emit.h"

#include <stdio.h>

void plain_loop(emitter *m, int axis, const char *from, const char *to, bool simd)
{
    const int64_t extent = m->s->extent[axis];
    char name[24];
    snprintf(name, sizeof name, "%s_%d", m->s->letter[axis], axis);
    if (simd)
        text_line(&m->body, "SIMD");
    text_line(&m->body, "for (long %s = %s; %s < %s; %s++) {", name, from, name, to, name);
    m->axis[axis] = lin_var(&m->sp, var_add(&m->sp, name, 0, extent > 0 ? extent - 1 : 0));
    m->body.depth++;
}

void plain_end(emitter *m, int n)
{
    while (n-- > 0)
        m->body.depth--, text_line(&m->body, "}");
}

void plain_put(emitter *m, writer *w, const lin *place, const expr *x, bool combined)
{
    const dtype d = stored_as(m->p, m->s->node);
    text y = {0}, value = {0}, old = {0}, sum = {0};
    text_add(&y, "%s[", m->operand[m->result].name);
    emit_lin(m, &y, place);
    text_add(&y, "]");
    cstyle_temporaries(w, &m->body, x);
    cstyle_expr(w, &value, x);
    text_add(&old, "%s%s%s", cstyle_load(m->d, m->uses, d), y.s, *cstyle_load(m->d, m->uses, d) ? ")" : "");
    if (combined)
        emit_combine(m, &sum, old.s, value.s);
    text_line(&m->body, "%s = %s%s%s;", y.s, cstyle_store(m->d, m->uses, d), combined ? sum.s : value.s,
              *cstyle_store(m->d, m->uses, d) ? ")" : "");
    text_free(&y), text_free(&value), text_free(&old), text_free(&sum);
}
