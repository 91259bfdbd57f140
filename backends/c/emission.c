/* emission.c - a plan as a program in C: the units that a run here would build. */
#include "backends/c/custom.h"
#include "backends/c/program.h"
#include "backends/emit/standalone.h"

#include <stdlib.h>

static bool emit(const plan *p, const emit_options *w, const c_program *c, err *e)
{
    emit_unit *units = calloc((size_t)c->n_unit + 1, sizeof *units);
    MUST(units);
    for (int i = 0; i < c->n_unit; i++)
        units[i] = (emit_unit){c->unit[i].name, emit_unit_text(&c->unit[i])};
    const emit_code code = {.n_unit = c->n_unit,
                            .unit = units,
                            .calls = c->calls,
                            .scratch = c->scratch_most,
                            .threads = p->threads,
                            .cpu = p->threads <= p->on->places ? cpu_machine(p->on)->os : NULL,
                            .flags = c_flags(cpu_isa(p->on)),
                            .by = &backend_c};
    const bool ok = emit_standalone(p, w, &code, e);
    for (int i = 0; i < c->n_unit; i++)
        free((char *)(uintptr_t)units[i].text);
    free(units);
    return ok;
}

/* Programs of their own have none of this one's functions. */
static bool check_custom(const plan *p, err *e)
{
    const node *n = NULL;
    const plan *of;
    levels all;
    levels_make(&all, p);
    for (int k = 0; k < all.n_kernel && !n; k++)
        n = custom_kernel(levels_kernel(&all, k, &of));
    levels_free(&all);
    if (!n)
        return true;
    err_set(e, TS_UNSUPPORTED, "%s%s%s%s is a function of this process, which a stand-alone program does not have",
            n->op->name, *n->label ? " \"" : "", n->label, *n->label ? "\"" : "");
    return err_hint(e, "define it by text in place of a kernel, or compute it outside of what is emitted");
}

bool c_emit(const plan *p, const emit_options *w, err *e)
{
    c_program c;
    if (!emit_allowed(p, e) || !check_custom(p, e) || !c_program_write(p, &c, e))
        return false;
    const bool ok = emit(p, w, &c, e);
    c_program_free(&c);
    return ok;
}
