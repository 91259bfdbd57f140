/* emission.c - a plan as a program of its own: programs in OpenCL C, as a run here builds them, and C that has the
 * driver build and run them. */
#include "backends/emit/device.h"
#include "backends/opencl/units.h"

#include <stdlib.h>

static bool emit(const plan *p, const emit_options *w, const device_texts *t, err *e)
{
    static const char *const also[] = {"opencl_driver.c", "opencl_driver.h", "opencl_abi.c", "opencl_abi.h", NULL};
    static const device_launching launching = {.groups = ocl_groups};
    const ocl_device *d = ocl_device_of(p->on);
    const int n = ocl_programs(t);
    carried_file *source = heap_array((size_t)n + 1, sizeof *source);
    const char **file = heap_array((size_t)t->n_kernel + 1, sizeof *file);
    ENDED_BY(arena_free) arena mem = {0};
    for (int i = 0; i < n; i++)
        source[i] = (carried_file){.name = arena_format(&mem, "kernels%d.cl", i),
                                   .text = ocl_program_text(t, d, i, true)};
    for (int k = 0; k < t->n_kernel; k++)
        file[k] = ocl_program_of(t, k) < 0 ? NULL : source[ocl_program_of(t, k)].name;
    const emit_on on = {.by = &backend_opencl,
                        .device = d->number,
                        .units = ocl_part(d),
                        .texts = t,
                        .launching = &launching,
                        .file = file,
                        .n_source = n,
                        .source = source,
                        .carried = also,
                        .made = "",
                        .rules = ""};
    const bool ok = emit_on_device(p, w, &on, e);
    for (int i = 0; i < n; i++)
        free((char *)(uintptr_t)source[i].text);
    free(source), free(file);
    return ok;
}

bool ocl_emit(const plan *p, const emit_options *w, err *e)
{
    device_texts t;
    if (!emit_allowed(p, e) || !ocl_write(p, &t, e))
        return false;
    const bool ok = emit(p, w, &t, e);
    device_texts_free(&t);
    return ok;
}
