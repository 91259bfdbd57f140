/* emission.c - a plan as a program of its own: programs in OpenCL C, as a run here builds them, and C that has the
 * driver build and run them. */
#include "backends/opencl/units.h"
#include "backends/emit/device.h"

#include <stdlib.h>

static char *source_text(const ocl_units *u, int which) /* to be freed */
{
    text t = {0};
    ocl_write_head(u, which, &t);
    for (int k = 0; k < u->n_kernel; k++)
        if (ocl_begins_unit(u, k, which)) {
            text_add(&t, "\n%s", u->text[k].header);
            ocl_write_kernel(&u->text[k], &t);
        }
    return text_take(&t);
}

static bool emit(const plan *p, const emit_options *w, const ocl_units *u, err *e)
{
    static const char *const also[] = {"opencl_run.c",    "opencl_memory.c", "opencl_memory.h", "opencl_pinned.c",
                                       "opencl_pinned.h", "opencl_abi.c",    "opencl_abi.h",    NULL};
    const ocl_device *d = ocl_device_of(p->on);
    const int n = ocl_programs(u);
    carried_file *source = calloc((size_t)n + 1, sizeof *source);
    emit_launch *starts = calloc((size_t)u->n_kernel + 1, sizeof *starts);
    arena mem = {0};
    MUST(source && starts);
    for (int i = 0; i < n; i++)
        source[i] = (carried_file){arena_format(&mem, "kernels%d.cl", i), source_text(u, i)};
    for (int k = 0; k < u->n_kernel; k++)
        starts[k] = (emit_launch){.text = &u->text[k],
                                  .file = u->unit[k] < 0 ? NULL : source[ocl_program_number(u, k)].name,
                                  .groups = (unsigned)ocl_groups(d, &u->text[k])};
    const emit_on on = {.by = &backend_opencl,
                        .device = d->number,
                        .units = ocl_part(d),
                        .levels = &u->levels,
                        .launch = starts,
                        .n_source = n,
                        .source = source,
                        .carried = also,
                        .libraries = " -ldl",
                        .made = "",
                        .rules = ""};
    const bool ok = emit_on_device(p, w, &on, e);
    for (int i = 0; i < n; i++)
        free((char *)(uintptr_t)source[i].text);
    free(source), free(starts), arena_free(&mem);
    return ok;
}

bool ocl_emit(const plan *p, const emit_options *w, err *e)
{
    ocl_units u = {0};
    const bool ok = emit_allowed(p, e) && ocl_units_write(&u, p, e) && emit(p, w, &u, e);
    ocl_units_free(&u, NULL);
    return ok;
}
