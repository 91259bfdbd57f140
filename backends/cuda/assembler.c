/* assembler.c - what the assembler makes of a plan's kernels: NVRTC has one for devices that it knows, and says in its
 * log what it took. Kept in the cache by everything that it follows from. */
#include "backends/cuda/program.h"
#include "backends/cuda/target.h"
#include "backends/cuda/settings.h"
#include "backends/cache/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARCH = 64, OPTIONS = 5 };
static const char *const options[OPTIONS] = {NULL, "--std=c++17", "--fmad=false", "--disable-warnings",
                                             "--ptxas-options=-v"};

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

static bool assemble(const nvrtc_api *rtc, const char *arch, const char *source, text *log)
{
    const char *all[OPTIONS];
    void *made = NULL;
    size_t n = 0;
    memcpy(all, options, sizeof all);
    all[0] = arch;
    bool ok = rtc->program_make(&made, source, "kernel.cu", 0, NULL, NULL) == 0 &&
              rtc->compile(made, OPTIONS, all) == 0 && rtc->log_size(made, &n) == 0;
    char *said = calloc(n + 1, 1);
    MUST(said);
    ok = ok && rtc->log(made, said) == 0;
    text_add(log, "%s", said);
    free(said);
    if (made)
        rtc->program_free(&made);
    return ok;
}

static digest key_of(const nvrtc_api *rtc, const char *arch, const char *source)
{
    hasher *h = hash_open();
    hash_text(h, "tessera " TS_VERSION " cuda assembler 1");
    hash_bytes(h, &rtc->version, sizeof rtc->version);
    hash_text(h, arch);
    for (int i = 1; i < OPTIONS; i++)
        hash_text(h, options[i]);
    hash_text(h, source);
    return hash_close(h);
}

static bool take(const nvrtc_api *rtc, cache *c, const char *arch, const char *source, assembled *out)
{
    const digest key = key_of(rtc, arch, source);
    text log = {0};
    const bool had = cache_get(c, &key, &log);
    const bool ok = (had || assemble(rtc, arch, source, &log)) && read_log(text_str(&log), out);
    if (ok && !had)
        cache_put(c, &key, log.s, log.len);
    text_free(&log);
    return ok;
}

/* The option that names the device's machine code; false: this NVRTC has no assembler for it. */
static bool find_arch(const nvrtc_api *rtc, int capability, char out[64], err *e)
{
    int n = 0, arch[MOST_ARCH];
    char name[32] = "";
    if (rtc->n_arch(&n) || n > MOST_ARCH || rtc->archs(arch))
        n = 0;
    image_arch(name, capability / 10, capability % 10, arch, n, false);
    snprintf(out, 64, "--gpu-architecture=%s", name);
    return !strncmp(name, "sm_", 3) ||
           err_set(e, TS_DEVICE, "NVRTC %d.%d has no assembler for capability %d.%d", rtc->version / 1000,
                   rtc->version % 1000 / 10, capability / 10, capability % 10);
}

static bool assemble_all(plan *p, const cuda_texts *t, const nvrtc_api *rtc, cache *c, text *facts, err *e)
{
    char arch[64];
    assembled *of = calloc((size_t)t->n_unit + 1, sizeof *of);
    MUST(of);
    bool ok = find_arch(rtc, gpu_facts_of(p->on)->capability, arch, e);
    for (int u = 0; u < t->n_unit && ok; u++)
        ok = take(rtc, c, arch, t->unit[u].text, &of[u]) ||
             err_set(e, TS_DEVICE, "NVRTC does not assemble kernel %s", t->unit[u].name);
    if (ok)
        text_add(facts, "\"assembler\":{\"name\":\"NVRTC %d.%d\",\"arch\":\"%s\"}", rtc->version / 1000,
                 rtc->version % 1000 / 10, strchr(arch, '=') + 1);
    for (int k = 0; k < p->n_kernel && ok; k++) {
        if (t->unit_of[k] < 0) /* scans and copies are no kernels by themselves */
            continue;
        p->kernel[k].made = of[t->unit_of[k]];
        if (t->kernel[k].scratch > SHARED_DECLARED) /* it is asked for at the launch */
            p->kernel[k].made.shared += t->kernel[k].scratch;
    }
    free(of);
    return ok;
}

bool cuda_assemble(plan *p, const build_options *w, text *facts, err *e)
{
    const settings env = settings_read();
    cuda_texts t = {0};
    nvrtc_api rtc = {0};
    cache *c = NULL;
    text notes = {0};
    bool ok = cuda_write_each(p, &t, e);
    if (ok && (ok = cuda_nvrtc(&rtc, e))) {
        ok = cache_open(&c, w->cache_folder, &env, &notes, e) && assemble_all(p, &t, &rtc, c, facts, e);
        nvrtc_close(&rtc);
    }
    cache_close(c);
    text_free(&notes), cuda_texts_free(&t);
    return ok;
}
