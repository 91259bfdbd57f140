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
    text_line(&t, "%%.image: %%.cu\n\t$(NVCC) $(NVCCFLAGS) -std=c++17 --fmad=false --ftz=true -w -o $@ $<");
    return text_take(&t);
}

static bool emit(const plan *p, const emit_options *w, const device_texts *t, err *e)
{
    static const char *const also[] = {"cuda_driver.c", "cuda_driver.h", "cuda_abi.c", "cuda_abi.h", NULL};
    carried_file *source = heap_array((size_t)t->n_unit + 1, sizeof *source);
    const char **file = heap_array((size_t)t->n_kernel + 1, sizeof *file);
    ENDED_BY(text_free) text made = {0};
    ENDED_BY(arena_free) arena mem = {0};
    for (int i = 0; i < t->n_unit; i++) {
        const kernel_text *k = device_unit(t, i);
        source[i] = (carried_file){.name = arena_format(&mem, "%s.cu", k->name),
                                   .text = emit_unit_text(k, &t->levels, t->unit_of, i)};
        text_add(&made, " %s.image", k->name);
    }
    for (int k = 0; k < t->n_kernel; k++)
        file[k] = t->unit_of[k] < 0 ? NULL : arena_format(&mem, "%s.image", t->kernel[k].name);
    char *rules = rules_text(p);
    const emit_on on = {.by = &backend_cuda,
                        .device = cuda_number(p->on),
                        .texts = t,
                        .launching = &cuda_launching,
                        .file = file,
                        .n_source = t->n_unit,
                        .source = source,
                        .carried = also,
                        .made = text_str(&made),
                        .rules = rules};
    const bool ok = emit_on_device(p, w, &on, e);
    for (int i = 0; i < t->n_unit; i++)
        free((char *)(uintptr_t)source[i].text);
    free(source), free(file), free(rules);
    return ok;
}

bool cuda_emit(const plan *p, const emit_options *w, err *e)
{
    device_texts t;
    if (!emit_allowed(p, e) || !cuda_write(p, &t, e))
        return false;
    const bool ok = emit(p, w, &t, e);
    device_texts_free(&t);
    return ok;
}
