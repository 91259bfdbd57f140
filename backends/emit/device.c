/* device.c - tables of kernels, of where their operands lie, and of what goes to the device and comes back. */
#include "backends/emit/device.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */
static void add_boxes(text *t, const device_kernel *q, int k)
{
    text_add(t, "static const device_box box%d[] = {", k);
    for (int i = 0; i < q->boxes; i++) {
        const device_box *b = &q->box[i];
        ENDED_BY(text_free) text extent = {0}, stride = {0}, count = {0};
        for (int d = 0; d < b->dims; d++)
            text_add(&extent, "%s%ld", d ? ", " : "", b->extent[d]),
                text_add(&stride, "%s%ld", d ? ", " : "", b->stride[d]),
                text_add(&count, "%s%d", d ? ", " : "", b->count[d]);
        text_add(t, "%s{%d, %ld, %d, %d, %d, {%s}, {%s}, {%s}}", i ? ", " : "", b->operand, b->first, b->size, b->row,
                 b->dims, extent.s, stride.s, count.s);
    }
    text_line(t, "};");
}

static void add_kernel(text *t, text *rows, const device_kernel *q, int k)
{
    static const char *const spaces[] = {"ARENA", "LEAF", "INPUT"};
    text_add(t, "static const device_place place%d[] = {", k);
    for (int i = 0; i < q->operands; i++)
        text_add(t, "{DEVICE_%s, %ld}, ", spaces[q->operand[i].space], q->operand[i].at);
    text_add(t, "{DEVICE_ARENA, 0}};\nstatic const int wait%d[] = {", k);
    for (int i = 0; i < q->waits; i++)
        text_add(t, "%d, ", q->wait[i]);
    text_line(t, "-1};");
    if (q->boxes)
        add_boxes(t, q, k);
    text_add(rows, "    {\"%s\", \"%s\", %d, place%d, %u, %u, %u, %d, wait%d, %d, %d, %ld, %ld", q->name,
             q->file ? q->file : "", q->operands, k, q->groups, q->lanes, q->shared, q->waits, k, q->loop, q->copies,
             q->from, q->bytes);
    if (q->boxes)
        text_line(rows, ", %d, box%d, %d, %u, %d, %d},", q->boxes, k, q->asks, q->sizes, q->joins, q->stream);
    else
        text_line(rows, ", 0, 0, %d, %u, %d, %d},", q->asks, q->sizes, q->joins, q->stream);
}

static void add_ports(text *t, const char *name, const device_port *port, int n)
{
    text_line(t, "static const device_port %s[] = {", name);
    for (int i = 0; i < n; i++)
        text_line(t, "    {%ld, %ld, %d},", port[i].at, port[i].bytes, port[i].written);
    text_line(t, "    {0, 0, 0}};");
}

static char *calls_text(const emit_on *on)
{
    text t = {0}, rows = {0};
    device_tables all;
    device_tables_make(&all, on->texts, on->launching, on->file);
    const device_program *q = &all.program;
    text_add(&t, "#include \"device_run.h\"\n#include <string.h>\n\n");
    for (int k = 0; k < q->all; k++)
        add_kernel(&t, &rows, &q->kernel[k], k);
    text_add(&t, "static const device_kernel kernel[] = {\n%s    {0}};\n", text_str(&rows));
    add_ports(&t, "leaf", q->leaf, q->leaves), add_ports(&t, "input", q->input, q->inputs);
    add_ports(&t, "value", q->value, q->values);
    if (q->loops > 1)
        trip_tables_print(&t, &all.trips);
    text_line(&t, "static const device_program all = {%d, %d, %d, %d, %d, %d, kernel, leaf, input, value, %ld, %ld,",
              on->device, on->units, q->kernels, q->leaves, q->inputs, q->values, q->arena, q->spill);
    text_line(&t, "                                   %d, %d, %d, %s, %d, %d, %d};", q->all, q->loops, q->walked,
              q->loops > 1 ? "loop, address, copies" : "0, 0, 0", q->sizes, q->faults, q->streams);
    text_line(&t, "extern const device_driver %s_driver;\n", on->by->name);
    text_line(&t,
              "static void run(const ts_run *r, long part, long parts)\n{\n    (void)part, (void)parts;\n    "
              "device_run(&all, &%s_driver, r);\n}",
              on->by->name);
    text_free(&rows), device_tables_free(&all);
    return text_take(&t);
}

/* ---- files ---- */
typedef struct folder {
    int n_file, n_unit;
    carried_file *file;
    carried_file *unit;
    arena mem;
} folder;

static void carry(folder *f, const char *name)
{
    const size_t stem = strlen(name) - 2;
    if (strcmp(name + stem, ".c") != 0)
        f->file[f->n_file++] = runtime_found(name);
    else
        f->unit[f->n_unit++] = (carried_file){.name = arena_format(&f->mem, "%.*s", (int)stem, name),
                                              .text = runtime_file(name)};
}

static void carry_all(folder *f, const emit_on *on)
{
    static const char *const all[] = {"run.h",        "loops.h",        "device_run.h",   "device_driver.h",
                                      "device_run.c", "device_trips.c", "device_driver.c"};
    int n = 0;
    while (on->carried[n])
        n++;
    f->file = heap_array((size_t)(on->n_source + n) + COUNT(all), sizeof *f->file);
    f->unit = heap_array((size_t)n + COUNT(all), sizeof *f->unit);
    for (int i = 0; i < on->n_source; i++)
        f->file[f->n_file++] = on->source[i];
    for (int i = 0; i < COUNT(all); i++)
        carry(f, all[i]);
    for (int i = 0; i < n; i++)
        carry(f, on->carried[i]);
}

static char *rules_text(const folder *f, const emit_on *on)
{
    text t = {0};
    text_add(&t, "%s", on->rules);
    for (int i = 0; i < f->n_unit; i++)
        text_add(&t, "%s%s.o", i ? " " : "", f->unit[i].name);
    text_add(&t, " program.o:");
    for (int i = on->n_source; i < f->n_file; i++)
        text_add(&t, " %s", f->file[i].name);
    text_line(&t, "");
    return text_take(&t);
}

bool emit_on_device(const plan *p, const emit_options *w, const emit_on *on, err *e)
{
    static const char *const flags[] = {"-O2", "-std=c11", NULL};
    folder f = {0};
    carry_all(&f, on);
    char *calls = calls_text(on), *rules = rules_text(&f, on);
    const emit_extra beside = {f.n_file, f.file, " -ldl", on->made, rules};
    const emit_code code = {.n_unit = f.n_unit,
                            .unit = f.unit,
                            .calls = {.text = calls},
                            .extra = &beside,
                            .threads = 1,
                            .flags = flags,
                            .by = on->by};
    const bool ok = emit_standalone(p, w, &code, e);
    free(f.file), free(f.unit), free(calls), free(rules), arena_free(&f.mem);
    return ok;
}
