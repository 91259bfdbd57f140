/* emission.c - a plan as a program that stands alone, by its target. */
#include "backends/driver.h"

#include <stdlib.h>

bool ts_plan_emit(ts_plan *p, const char *folder, const ts_emission *how, ts_error *e)
{
    static const ts_emission none = {0};
    if (!driver_stands(p, e) || !err_given(folder, "the folder of the program", e))
        return false;
    const plan *q = p->plan;
    how = how ? how : &none;
    if (q->n_site) {
        err_set(e, TS_UNSUPPORTED, "a plan over several devices is not written as one program");
        return err_hint(e, "name one target that can do all of it, and leave \"place\" out of the schema");
    }
    if (!p->target->emit)
        return err_set(e, TS_UNSUPPORTED, "target %s does not write stand-alone programs", p->target->name);
    const void **state = heap_array((size_t)q->n_carried + 1, sizeof *state);
    bool ok = true;
    for (int i = 0; i < q->n_carried && !how->bare && ok; i++)
        state[i] = p->given[q->carried[i].input].data, ok = driver_bring(p, q->carried[i].input, e);
    ok = ok && p->target->emit(q,
                               &(emit_options){.folder = folder,
                                               .single = how->single,
                                               .program = how->program ? how->program : "model",
                                               .output = p->output,
                                               .state = state,
                                               .add = how->add,
                                               .user = how->user},
                               e);
    free(state);
    return ok;
}
