/* assembler.c - what the assembler makes of a plan's kernels: NVRTC has one for devices that it knows, and says in its
 * log what it took. Kept in the cache by everything that it follows from. */
#include "backends/cuda/dialect.h"
#include "backends/cuda/options.h"
#include "backends/cuda/program.h"
#include "backends/cuda/target.h"
#include "backends/cache/cache.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ARCH = 64 };

static int number_before(const char *log, const char *words) /* "16 bytes spill stores": 16; 0: not said */
{
    const char *at = strstr(log, words);
    while (at && at > log && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return at ? (int)strtol(at, NULL, 10) : 0;
}

static bool read_log(const char *log, assembled *out)
{
    *out = (assembled){.spilled = number_before(log, " bytes spill stores"),
                       .shared = number_before(log, " bytes smem")};
    out->registers = number_before(log, " registers");
    return out->registers > 0;
}

typedef struct assembler {
    nvrtc_api rtc;
    cuda_settings asked;
    nvrtc_options options;
    cache *cache;
    char arch[32];
} assembler;

static bool assemble(const assembler *a, const char *source, text *log)
{
    void *made = NULL;
    size_t n = 0;
    const bool ok = a->rtc.program_make(&made, source, "kernel.cu", 0, NULL, NULL) == 0 &&
                    a->rtc.compile(made, a->options.n, a->options.of) == 0;
    char *said = made && a->rtc.log_size(made, &n) == 0 ? calloc(n + 1, 1) : NULL;
    const bool told = said && a->rtc.log(made, said) == 0;
    if (told)
        text_add(log, "%s", said);
    free(said);
    if (made)
        a->rtc.program_free(&made);
    return ok && told;
}

static bool take(const assembler *a, const kernel_text *unit, assembled *out, err *e)
{
    const digest key = nvrtc_key(&a->options, &a->rtc, "assembler", unit->text);
    ENDED_BY(text_free) text log = {0};
    const bool had = cache_get(a->cache, &key, &log);
    const bool ok = (had || assemble(a, unit->text, &log)) && read_log(text_str(&log), out);
    if (ok && !had)
        cache_put(a->cache, &key, log.s, log.length);
    if (!ok) {
        const char *said = text_str(&log);
        err_set(e, TS_DEVICE, "NVRTC does not assemble kernel %s: %.*s", unit->name, (int)strcspn(said, "\n"), said);
    }
    return ok;
}

/* What the device's machine code is called; false: this NVRTC has no assembler for it. */
static bool find_arch(assembler *a, int capability, err *e)
{
    int n = 0, arch[MOST_ARCH];
    if (a->rtc.n_arch(&n) || n > MOST_ARCH || a->rtc.archs(arch))
        n = 0;
    image_arch(a->arch, capability / 10, capability % 10, arch, n, false);
    return !strncmp(a->arch, "sm_", 3) ||
           err_set(e, TS_DEVICE, "NVRTC %d.%d has no assembler for capability %d.%d", a->rtc.version / 1000,
                   a->rtc.version % 1000 / 10, capability / 10, capability % 10);
}

static bool assemble_all(plan *p, const device_texts *t, assembler *a, text *facts, err *e)
{
    ENDED_BY(heap_free) assembled *of = heap_array((size_t)t->n_unit + 1, sizeof *of);
    bool ok = find_arch(a, gpu_facts_of(p->on)->capability, e);
    nvrtc_options_set(&a->options, &a->rtc, &a->asked, a->arch, "--ptxas-options=-v");
    for (int u = 0; u < t->n_unit && ok; u++)
        ok = take(a, device_unit(t, u), &of[u], e);
    if (ok)
        json_add(facts, "assembler:{name:'NVRTC %d.%d',arch:%s}", a->rtc.version / 1000, a->rtc.version % 1000 / 10,
                 a->arch);
    for (int k = 0; k < p->n_kernel && ok; k++) {
        if (t->unit_of[k] < 0) /* scans and copies are no kernels by themselves */
            continue;
        p->kernel[k].made = of[t->unit_of[k]];
        if (t->kernel[k].scratch > SHARED_DECLARED) /* it is asked for at the launch */
            p->kernel[k].made.shared += t->kernel[k].scratch;
    }
    return ok;
}

/* PTX: what machine code is made of it shows nobody but tools of the device's maker */
static bool add_ptx(assembler *a, const char *source, text *out, err *e)
{
    void *made = NULL;
    size_t n = 0;
    const bool ok = a->rtc.program_make(&made, source, "kernel.cu", 0, NULL, NULL) == 0 &&
                    a->rtc.compile(made, a->options.n, a->options.of) == 0 && a->rtc.ptx_size(made, &n) == 0;
    char *words = ok ? heap_array(n + 1, 1) : NULL;
    const bool told = words && a->rtc.ptx(made, words) == 0;
    if (told)
        text_add(out, "%s", words);
    free(words);
    if (made)
        a->rtc.program_free(&made);
    return told || err_set(e, TS_DEVICE, "NVRTC makes no PTX of the kernel");
}

bool cuda_touch(const plan *p, const kernel *k, touching *to)
{
    err e = {0}; /* who builds it is told why */
    return kernel_touched(&cuda_dialect, p, k, to, &e);
}

bool cuda_show(const plan *p, const kernel *k, const char *as, const build_options *w, text *out, err *e)
{
    kernel_text own;
    assembler a = {0};
    (void)w;
    if (strcmp(as, "assembly") != 0)
        return kernel_show(&cuda_dialect, p, k, as, out, e);
    if (!kernel_write_alone(&cuda_dialect, p, k, &own, e))
        return false;
    bool ok = cuda_settings_read(&a.asked, e) && nvrtc_open(&a.rtc, a.asked.nvrtc, e) &&
              find_arch(&a, gpu_facts_of(p->on)->capability, e);
    if (ok) {
        nvrtc_options_set(&a.options, &a.rtc, &a.asked, a.arch, "--generate-line-info");
        ok = add_ptx(&a, own.text, out, e);
    }
    nvrtc_close(&a.rtc), kernel_text_free(&own);
    return ok;
}

bool cuda_assemble(plan *p, const build_options *w, text *facts, err *e)
{
    const settings env = settings_read();
    device_texts t = {0};
    assembler a = {0};
    ENDED_BY(text_free) text notes = {0};
    const bool ok = cuda_write_each(p, &t, e) && cuda_settings_read(&a.asked, e) &&
                    nvrtc_open(&a.rtc, a.asked.nvrtc, e) && cache_open(&a.cache, w->cache_folder, &env, &notes, e) &&
                    assemble_all(p, &t, &a, facts, e);
    nvrtc_close(&a.rtc), cache_close(a.cache);
    device_texts_free(&t);
    return ok;
}
