/* mask.c - blocks of rows are walked as far as a mask leaves something (schedule/mask.h): a table says how far, `limit`
 * holds it, in grains, and loops along the masked axis end there. Behind the stage that finds the largest score of each
 * row a block in which one is too small begins again, and is walked whole. */
#include "backends/codegen/emit.h"

void mask_open(emitter *m)
{
    const mask_skip *y = m->k->mask;
    text line = {0};
    if (!y)
        return;
    text_add(&line, "static const int count[] = {");
    for (int i = 0; i < y->n; i++)
        text_add(&line, "%s%d", i ? ", " : "", y->count[i]);
    text_line(&m->body, "%s};", line.s);
    line.len = 0;
    emit_lin(m, &line, lin_div(&m->sp, m->shared_axis[m->k->n_shared - 1], y->rows));
    text_line(&m->body, "long limit = count[%s];", line.s);
    text_line(&m->body, "for (;; limit = %lld) {", (long long)y->grains);
    m->body.depth++;
    text_free(&line);
}

void mask_check(emitter *m)
{
    const mask_skip *y = m->k->mask;
    int64_t rows = 1;
    if (!y || m->at != y->check)
        return;
    for (int a = 0; a < m->s->n_result; a++)
        rows *= m->shared_cur[a];
    text_line(&m->body, "const %s *most = (const %s *)(scratch + %lld);",
              memory_type(m->d, stored_as(m->p, m->s->node)), memory_type(m->d, stored_as(m->p, m->s->node)),
              (long long)m->slice[m->at]);
    text_line(&m->body, "long low = 0;");
    text_line(&m->body, "for (long i = 0; i < %lld; i++) low += !(most[i] >= %.9e);", (long long)rows, y->least);
    text_line(&m->body, "if (!low || limit == %lld) break;", (long long)y->grains);
    m->body.depth--;
    text_line(&m->body, "}");
}

bool mask_bounds(const emitter *m, int l)
{
    const mask_skip *y = m->k->mask;
    if (!y || y->along[m->at] != m->s->nest.loop[l].axis)
        return false;
    for (int i = 0; i < l; i++)
        if (m->s->nest.loop[i].axis == y->along[m->at])
            return false;
    return true;
}

void mask_end(const emitter *m, text *t, int l, int64_t end)
{
    const mask_skip *y = m->k->mask;
    const loop *q = &m->s->nest.loop[l];
    const long long each = y->grain / q->step;
    if (end * q->step == y->grain * y->grains) /* what says more to a compiler */
        text_add(t, "limit * %lld", each);
    else
        text_add(t, "MIN(%lld, limit * %lld)", (long long)end, each);
}
