/* show.c - one kernel as text, and as what the compiler makes of it by itself. */
#include "backends/c/custom.h"
#include "backends/c/dialect.h"
#include "backends/c/units.h"

#include <string.h>

static bool assembly(const plan *p, const kernel *k, const build_options *w, text *out, err *e)
{
    kernel_text own;
    c_units units;
    ENDED_BY(arena_free) arena mem = {0};
    if (!kernel_write_alone(&c_dialect, p, k, &own, e))
        return false;
    own.op = k->op;
    c_units_write(&(c_program){.n_text = 1, .text = &own}, &units);
    const cc_request r = {.n = 1,
                          .unit = units.unit,
                          .flags = c_flags(&mem, cpu_isa(p->on), p->reproducible),
                          .isa = p->on->model,
                          .cache_folder = w->cache_folder};
    const bool ok = cc_assembly(&r, out, e);
    c_units_free(&units), kernel_text_free(&own);
    return ok;
}

bool c_show(const plan *p, const kernel *k, const char *as, const build_options *w, text *out, err *e)
{
    if (custom_kernel(p, k))
        return text_line(out, "a function of this process"), true;
    return strcmp(as, "assembly") == 0 ? assembly(p, k, w, out, e) : kernel_show(&c_dialect, p, k, as, out, e);
}
