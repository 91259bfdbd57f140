/* device.c - tables of kernels, of where their operands lie, and of what goes to the device and comes back. */
#include "backends/emit/device.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */
static void add_place(text *t, const plan *p, const operand *o)
{
    const buffer *h = &p->buffer[o->node->id];
    if (o->leaf >= 0)
        text_add(t, "{DEVICE_LEAF, %d}, ", o->leaf);
    else if (h->where == IN_ARENA)
        text_add(t, "{DEVICE_ARENA, %lld}, ", (long long)h->offset);
    else
        text_add(t, "{DEVICE_INPUT, %d}, ", input_of(p, o->node));
}

static void add_kernel(text *t, text *rows, const plan *p, const emit_launch *l, int k)
{
    const kernel_text *q = l->text;
    text_add(t, "static const device_place place%d[] = {", k);
    for (int i = 0; i < q->n_operand; i++)
        add_place(t, p, &q->operand[i]);
    text_add(t, "{DEVICE_ARENA, 0}};\nstatic const int wait%d[] = {", k);
    for (int i = 0; i < l->n_wait; i++)
        text_add(t, "%d, ", l->wait[i]);
    text_line(t, "-1};");
    text_line(rows, "    {\"%s\", \"%s\", %d, place%d, %u, %u, %u, %d, wait%d},", q->name, l->file, q->n_operand, k,
              l->groups, (unsigned)q->lanes, l->shared, l->n_wait, k);
}

static bool is_written(const plan *p, const emit_launch *l, int input)
{
    bool written = false;
    for (int k = 0; k < p->n_kernel; k++)
        for (int i = 0; i < l[k].text->n_operand; i++) {
            const operand *o = &l[k].text->operand[i];
            written = written || (o->written && o->leaf < 0 && p->buffer[o->node->id].where != IN_ARENA &&
                                  input_of(p, o->node) == input);
        }
    return written;
}

static void add_ports(text *t, const plan *p, const emit_launch *l)
{
    text_line(t, "static const device_port leaf[] = {");
    for (int i = 0; i < p->n_leaf; i++)
        text_line(t, "    {0, %lld, 0},",
                  (long long)p->leaf[i].layout.size * ts_dtype_bytes(p->leaf[i].node->type.dtype));
    text_line(t, "    {0, 0, 0}};\nstatic const device_port input[] = {");
    for (int i = 0; i < p->n_input; i++)
        text_line(t, "    {0, %lld, %d},", (long long)type_bytes(&p->input[i]->type), is_written(p, l, i));
    text_line(t, "    {0, 0, 0}};\nstatic const device_port value[] = {");
    for (int i = 0; i < p->n_root; i++) {
        const buffer *h = &p->buffer[p->root[i]->id];
        const bool there = !p->root[i]->leaf && h->where == IN_ARENA;
        text_line(t, "    {%lld, %lld, 0},", there ? (long long)h->offset : 0, there ? (long long)h->bytes : 0);
    }
    text_line(t, "    {0, 0, 0}};");
}

static char *calls_text(const plan *p, const emit_on *on)
{
    text t = {0}, rows = {0};
    int64_t spill = 0;
    text_add(&t, "#include \"device_run.h\"\n#include <string.h>\n\n");
    for (int k = 0; k < p->n_kernel; k++) {
        const int64_t one = on->launch[k].text->spill * on->launch[k].groups;
        add_kernel(&t, &rows, p, &on->launch[k], k);
        spill = one > spill ? one : spill;
    }
    text_add(&t, "static const device_kernel kernel[] = {\n%s    {0}};\n", text_str(&rows));
    add_ports(&t, p, on->launch);
    text_line(&t, "static const device_program all = {%d, %d, %d, %d, %d, kernel, leaf, input, value, %lld, %lld};\n",
              on->device, p->n_kernel, p->n_leaf, p->n_input, p->n_root, (long long)p->arena_bytes, (long long)spill);
    text_line(&t, "static void run(const ts_run *r, long part, long parts)\n{\n    (void)part, (void)parts;\n    "
                  "device_run(&all, r);\n}");
    text_free(&rows);
    return text_take(&t);
}

/* ---- files ---- */
typedef struct folder {
    int n_file, n_unit;
    carried_file *file;
    emit_unit *unit;
    arena mem;
} folder;

static void carry(folder *f, const char *name)
{
    const size_t stem = strlen(name) - 2;
    if (strcmp(name + stem, ".c") != 0)
        f->file[f->n_file++] = (carried_file){name, runtime_file(name)};
    else
        f->unit[f->n_unit++] = (emit_unit){arena_format(&f->mem, "%.*s", (int)stem, name), runtime_file(name)};
}

static void carry_all(folder *f, const emit_on *on)
{
    static const char *const all[] = {"device_run.h", "run.h", "device_file.c"};
    int n = 0;
    while (on->carried[n])
        n++;
    f->file = calloc((size_t)(on->n_source + n) + COUNT(all), sizeof *f->file);
    f->unit = calloc((size_t)n + COUNT(all), sizeof *f->unit);
    MUST(f->file && f->unit);
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
    char *calls = calls_text(p, on), *rules = rules_text(&f, on);
    const emit_device beside = {f.n_file, f.file, on->libraries, on->made, rules};
    const emit_code code = {.n_unit = f.n_unit,
                            .unit = f.unit,
                            .calls = calls,
                            .device = &beside,
                            .threads = 1,
                            .flags = flags,
                            .by = on->by};
    const bool ok = emit_standalone(p, w, &code, e);
    free(f.file), free(f.unit), free(calls), free(rules), arena_free(&f.mem);
    return ok;
}
