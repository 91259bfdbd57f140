/* emission.c - a plan as a program of its own: kernels in CUDA C, and C that has the driver run them. */
#include "backends/cuda/program.h"
#include "backends/cuda/target.h"
#include "backends/emit/device.h"

#include <stdlib.h>

static char *rules_text(const plan *p)
{
    const int capability = gpu_facts_of(p->on)->capability;
    text t = {0};
    text_line(&t,
              "\n# Where the toolkit is; what kernels are compiled for (-ptx and compute_NN leave them to the driver)");
    text_line(&t, "CUDA_HOME ?= /usr/local/cuda\nNVCC ?= $(CUDA_HOME)/bin/nvcc");
    text_line(&t, "NVCCFLAGS ?= -cubin -arch=sm_%d%s", capability ? capability : 80, capability >= 90 ? "a" : "");
    text_line(&t, "CFLAGS += -I$(CUDA_HOME)/include\nLDFLAGS += -L$(CUDA_HOME)/lib64/stubs");
    text_line(&t, "%%.image: %%.cu\n\t$(NVCC) $(NVCCFLAGS) -std=c++17 --fmad=false -w -o $@ $<");
    return text_take(&t);
}

static emit_launch launch_of(const plan *p, const cuda_texts *c, int k, arena *mem)
{
    const kernel_text *q = &c->kernel[k];
    const hazards *h = &c->hazards;
    return (emit_launch){.text = q,
                         .file = c->unit_of[k] < 0 ? NULL : arena_format(mem, "%s.image", q->name),
                         .groups = cuda_groups(p, q),
                         .shared = q->scratch > SHARED_DECLARED ? (unsigned)q->scratch : 0,
                         .n_wait = k < h->n_kernel ? h->first[k + 1] - h->first[k] : 0,
                         .wait = k < h->n_kernel ? h->wait + h->first[k] : NULL};
}

static bool emit(const plan *p, const emit_options *w, const cuda_texts *c, err *e)
{
    static const char *const also[] = {"cuda_run.c", NULL};
    carried_file *source = calloc((size_t)c->n_unit + 1, sizeof *source);
    emit_launch *starts = calloc((size_t)c->n_kernel + 1, sizeof *starts);
    text made = {0};
    arena mem = {0};
    MUST(source && starts);
    for (int i = 0; i < c->n_unit; i++) {
        source[i] = (carried_file){arena_format(&mem, "%s.cu", c->unit[i].name), emit_unit_text(&c->unit[i])};
        text_add(&made, " %s.image", c->unit[i].name);
    }
    for (int k = 0; k < c->n_kernel; k++)
        starts[k] = launch_of(p, c, k, &mem);
    char *rules = rules_text(p);
    const emit_on on = {.by = &backend_cuda,
                        .device = cuda_number(p->on),
                        .levels = &c->levels,
                        .launch = starts,
                        .n_source = c->n_unit,
                        .source = source,
                        .carried = also,
                        .libraries = " -lcuda",
                        .made = text_str(&made),
                        .rules = rules};
    const bool ok = emit_on_device(p, w, &on, e);
    for (int i = 0; i < c->n_unit; i++)
        free((char *)(uintptr_t)source[i].text);
    free(source), free(starts), free(rules), text_free(&made), arena_free(&mem);
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
