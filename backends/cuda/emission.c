/* emission.c - a plan as a program of its own: kernels in CUDA C, and C that has the driver run them. */
#include "backends/cuda/program.h"
#include "backends/emit/standalone.h"
#include "backends/gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>

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

static void add_kernel(text *t, text *rows, const plan *p, const cuda_texts *c, int k)
{
    const kernel_text *q = &c->kernel[k];
    const hazards *h = &c->hazards;
    const unsigned shared = q->scratch > SHARED_DECLARED ? (unsigned)q->scratch : 0;
    text_add(t, "static const device_place place%d[] = {", k);
    for (int i = 0; i < q->n_operand; i++)
        add_place(t, p, &q->operand[i]);
    text_add(t, "{DEVICE_ARENA, 0}};\nstatic const int wait%d[] = {", k);
    for (int i = h->first[k]; i < h->first[k + 1]; i++)
        text_add(t, "%d, ", h->wait[i]);
    text_line(t, "-1};");
    text_line(rows, "    {\"%s\", %d, place%d, %u, %u, %u, %d, wait%d},", q->name, q->n_operand, k, cuda_groups(p, q),
              (unsigned)q->lanes, shared, h->first[k + 1] - h->first[k], k);
}

static bool is_written(const plan *p, const cuda_texts *c, int input)
{
    bool written = false;
    for (int k = 0; k < p->n_kernel; k++)
        for (int i = 0; i < c->kernel[k].n_operand; i++) {
            const operand *o = &c->kernel[k].operand[i];
            written = written || (o->written && o->leaf < 0 && p->buffer[o->node->id].where != IN_ARENA &&
                                  input_of(p, o->node) == input);
        }
    return written;
}

static void add_ports(text *t, const plan *p, const cuda_texts *c)
{
    text_line(t, "static const device_port leaf[] = {");
    for (int i = 0; i < p->n_leaf; i++)
        text_line(t, "    {0, %lld, 0},",
                  (long long)p->leaf[i].layout.size * ts_dtype_bytes(p->leaf[i].node->type.dtype));
    text_line(t, "    {0, 0, 0}};\nstatic const device_port input[] = {");
    for (int i = 0; i < p->n_input; i++)
        text_line(t, "    {0, %lld, %d},", (long long)type_bytes(&p->input[i]->type), is_written(p, c, i));
    text_line(t, "    {0, 0, 0}};\nstatic const device_port value[] = {");
    for (int i = 0; i < p->n_root; i++) {
        const buffer *h = &p->buffer[p->root[i]->id];
        const bool there = !p->root[i]->leaf && h->where == IN_ARENA;
        text_line(t, "    {%lld, %lld, 0},", there ? (long long)h->offset : 0, there ? (long long)h->bytes : 0);
    }
    text_line(t, "    {0, 0, 0}};");
}

static char *calls_text(const plan *p, const cuda_texts *c)
{
    text t = {0}, rows = {0};
    int64_t spill = 0;
    text_add(&t, "#include \"device_run.h\"\n#include <string.h>\n\n");
    for (int k = 0; k < p->n_kernel; k++) {
        const int64_t one = c->kernel[k].spill * cuda_groups(p, &c->kernel[k]);
        add_kernel(&t, &rows, p, c, k);
        spill = one > spill ? one : spill;
    }
    text_add(&t, "static const device_kernel kernel[] = {\n%s    {0}};\n", text_str(&rows));
    add_ports(&t, p, c);
    text_line(&t, "static const device_program all = {%d, %d, %d, %d, kernel, leaf, input, value, %lld, %lld};\n",
              p->n_kernel, p->n_leaf, p->n_input, p->n_root, (long long)p->arena_bytes, (long long)spill);
    text_line(&t, "static void run(const ts_run *r, long part, long parts)\n{\n    (void)part, (void)parts;\n    "
                  "device_run(&all, r);\n}");
    text_free(&rows);
    return text_take(&t);
}

/* ---- the Makefile ---- */
static void add_rules(text *t, const plan *p)
{
    const int capability = gpu_facts_of(p->on)->capability;
    text_line(t,
              "\n# Where the toolkit is; what kernels are compiled for (-ptx and compute_NN leave them to the driver)");
    text_line(t, "CUDA_HOME ?= /usr/local/cuda\nNVCC ?= $(CUDA_HOME)/bin/nvcc");
    text_line(t, "NVCCFLAGS ?= -cubin -arch=sm_%d%s", capability ? capability : 80, capability >= 90 ? "a" : "");
    text_line(t, "CFLAGS += -I$(CUDA_HOME)/include\nLDFLAGS += -L$(CUDA_HOME)/lib64/stubs");
    text_line(t, "device_run.o program.o: device_run.h run.h");
    text_line(t, "%%.image: %%.cu\n\t$(NVCC) $(NVCCFLAGS) -std=c++17 --fmad=false -w -o $@ $<");
}

/* ---- all of it ---- */
static bool emit(const plan *p, const emit_options *w, const cuda_texts *c, err *e)
{
    static const char *const flags[] = {"-O2", "-std=c11", NULL};
    carried_file *files = calloc((size_t)c->n_unit + 3, sizeof *files);
    text made = {0}, rules = {0};
    arena mem = {0};
    MUST(files);
    for (int i = 0; i < c->n_unit; i++) {
        files[i] = (carried_file){arena_format(&mem, "%s.cu", c->unit[i].name), emit_unit_text(&c->unit[i])};
        text_add(&made, " %s.image", c->unit[i].name);
    }
    files[c->n_unit] = (carried_file){"device_run.h", runtime_file("device_run.h")};
    files[c->n_unit + 1] = (carried_file){"run.h", runtime_file("run.h")};
    add_rules(&rules, p);
    char *calls = calls_text(p, c);
    const emit_unit unit = {"device_run", runtime_file("device_run.c")};
    const emit_device beside = {c->n_unit + 2, files, " -lcuda", text_str(&made), text_str(&rules)};
    const emit_code code = {.n_unit = 1,
                            .unit = &unit,
                            .calls = calls,
                            .device = &beside,
                            .threads = 1,
                            .flags = flags,
                            .by = &backend_cuda};
    const bool ok = emit_standalone(p, w, &code, e);
    for (int i = 0; i < c->n_unit; i++)
        free((char *)(uintptr_t)files[i].text);
    free(files), free(calls), text_free(&made), text_free(&rules), arena_free(&mem);
    return ok;
}

bool cuda_emit(const plan *p, const emit_options *w, err *e)
{
    cuda_texts c;
    if (!emit_allowed(p, e) || !cuda_write(p, &c, e))
        return false;
    const bool ok = emit(p, w, &c, e);
    cuda_texts_free(&c);
    return ok;
}
