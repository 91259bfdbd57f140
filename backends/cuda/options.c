/* options.c - options of NVRTC, by its version. */
#include "backends/cuda/options.h"

#include <stdio.h>

/* The first version that can leave out what no kernel here uses: textures, the cuda...() functions and their types */
enum { NVRTC_MINIMAL = 12040 };

void nvrtc_options_set(nvrtc_options *o, const nvrtc_api *rtc, const cuda_settings *asked, const char *arch,
                       const char *extra)
{
    snprintf(o->arch, sizeof o->arch, "--gpu-architecture=%s", arch);
    const char *const of[] = {o->arch,      "--std=c++17",        "--fmad=false", /* rounds as processors do */
                              "--ftz=true", "--disable-warnings", extra,          "--minimal"};
    o->n = 0;
    for (int i = 0; i < COUNT(of) - (rtc->version < NVRTC_MINIMAL); i++)
        o->of[o->n++] = of[i];
    for (int i = 0; i < asked->n_option; i++)
        o->of[o->n++] = asked->option[i];
}

digest nvrtc_key(const nvrtc_options *o, const nvrtc_api *rtc, const char *what, const char *source)
{
    hasher *h = hash_open();
    hash_text(h, "tessera " TS_VERSION);
    hash_text(h, what);
    hash_bytes(h, &rtc->version, sizeof rtc->version);
    for (int i = 0; i < o->n; i++)
        hash_text(h, o->of[i]);
    hash_text(h, source);
    return hash_close(h);
}
