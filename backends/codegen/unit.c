/* unit.c - a kernel's statements, checked, as a unit of text: what every unit begins with, functions it uses, tile
 * functions, and the function that calls them, which is named after all that. */
#include "backends/codegen/emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(emitter *m)
{
    const stmt *around = stmt_stray_barrier(m->out.code.at, m->d);
    MUST(stmt_copied(m->out.code.at) <= m->data.scratch_most);
    for (int i = 0; i < m->tiles.n && !around; i++)
        around = stmt_stray_barrier(m->tiles.made[i].body, m->d);
    if (!around) {
        lanes_check(m);
        return;
    }
    err_set(m->e, TS_UNSUPPORTED,
            "%s: workers of a group would wait for one another inside %s \"%s\", of which each makes "
            "other trips",
            m->k->op, around->kind == S_LOOP ? "loop" : "a test of",
            around->kind == S_LOOP ? around->name : around->value);
    err_hint(m->e, "copy the operand at a loop outside of it");
}

static void write_function(emitter *m, void (*opens)(text *t, const kernel_head *h), text *out, const char *name)
{
    parameter all[MAX_OPERAND];
    for (int i = 0; i < m->data.n_operand; i++)
        all[i] = (parameter){memory_type(m->d, stored_as(m->p, m->data.operand[i].node)), m->data.operand[i].name,
                             m->data.operand[i].written};
    text head = {0};
    opens(&head, &(kernel_head){.name = name,
                                .n = m->data.n_operand,
                                .boxes = m->data.n_box,
                                .parameter = all,
                                .empty = !m->out.code.at->first, /* a kernel without elements touches nothing */
                                .alone = stage_nested(m->k->stage) && nest_parallel(m->k) < 0,
                                .scratch = m->data.scratch_most,
                                .scratch_multiple = m->data.scratch_multiple,
                                .spill = m->data.spill,
                                .lanes = (int)m->group,
                                .asks = m->p->ends && m->d->asks,
                                .sizes = m->varies.used});
    stmt_lines(out, text_str(&head));
    text_free(&head);
    text_add(out, "%s", m->out.shrouds ? m->d->unknown : "");
    out->depth = 1;
    stmt_print(out, m->d, m->out.code.at);
    out->depth = 0;
    text_add(out, "}\n");
}

static bool is_far(const emitter *m)
{
    bool far = false;
    for (int i = 0; i < m->data.n_operand; i++)
        far = far || m->data.operand[i].layout->size > INT32_MAX;
    return far;
}

static void write_prelude(const emitter *m, text *t)
{
    m->d->prelude(t, &(unit_facts){callees_chain(&m->out.all, m->d), kernel_sums(m->k), is_far(m)});
    library_write(t, m->d, &m->out.all);
    text_add(t, "\n");
}

/* Its name is from its content. */
static void name_kernel(emitter *m, const text *front, char name[24])
{
    text whole = {0};
    char hex[65];
    text_add(&whole, "%s", text_str(front));
    write_function(m, m->d->kernel, &whole, "kernel");
    hasher *h = hash_open();
    hash_bytes(h, whole.s, whole.len);
    const digest d = hash_close(h);
    digest_hex(&d, hex);
    snprintf(name, 24, "k_%.12s", hex);
    text_free(&whole);
}

static void write_unit(emitter *m, kernel_text *out)
{
    text front = {0}, whole = {0}, header = {0};
    text_add(&front, "%s", text_str(&m->out.front));
    for (int i = 0; i < m->tiles.n; i++)
        print_tile(m, &m->tiles.made[i], &front);
    name_kernel(m, &front, out->name);
    write_prelude(m, &whole);
    out->begins = whole.len;
    text_add(&whole, "%s", text_str(&front));
    write_function(m, m->d->kernel, &whole, out->name);
    kernel_header(&header, m);
    out->text = text_take(&whole), out->header = text_take(&header);
    if (m->d->member) {
        text_add(&whole, "%s", text_str(&front));
        write_function(m, m->d->member, &whole, launch_member_name(out, (char[24]){0}));
        out->member = text_take(&whole);
    }
    text_free(&front);
}

bool kernel_write(const dialect *d, const plan *p, const kernel *k, kernel_text *out, err *e)
{
    err own = {0};
    arena mem = {0};
    emitter *m = calloc(1, sizeof *m);
    MUST(m);
    m->d = d, m->p = p, m->k = k, m->e = &own, m->mem = m->sp.mem = &mem, m->out.uses = &m->out.all;
    *out = (kernel_text){0};
    kernel_statements(m);
    if (!err_is(&own))
        check(m);
    if (!err_is(&own)) {
        write_unit(m, out);
        out->scratch = m->data.scratch_most, out->n_operand = m->data.n_operand;
        out->spill = m->data.spill, out->lanes = (int)m->group, out->parts = m->chunks.parts;
        out->asks = m->p->ends && m->d->asks;
        out->faults = callees_fault(&m->out.all, m->d), out->far = is_far(m);
        out->tiles = m->tiles.n, out->uses = m->out.all, out->sizes = m->varies.used;
        out->operand = calloc((size_t)m->data.n_operand + 1, sizeof *out->operand);
        MUST(out->operand);
        memcpy(out->operand, m->data.operand, (size_t)m->data.n_operand * sizeof *out->operand);
        out->n_box = m->data.n_box, out->box = calloc((size_t)m->data.n_box + 1, sizeof *out->box);
        MUST(out->box);
        memcpy(out->box, m->data.box, (size_t)m->data.n_box * sizeof *out->box);
    }
    text_free(&m->out.front);
    free(m), arena_free(&mem);
    if (err_is(&own))
        err_set(e, own.code, "%s", own.text);
    return !err_is(&own);
}

void kernel_text_free(kernel_text *k)
{
    free(k->text), free(k->member), free(k->header), free(k->operand), free(k->box);
    *k = (kernel_text){0};
}
