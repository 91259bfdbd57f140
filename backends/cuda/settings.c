/* settings.c - TESSERA_CUDA, read: words that mean nothing are refused, so that a slip does not go unseen. */
#include "backends/cuda/settings.h"

#include <stdio.h>
#include <string.h>

bool cuda_settings_read(cuda_settings *s, err *e)
{
    const char *asked = env_text("TESSERA_CUDA"); /* libraries of CUDA in place of the system's; "ptx"; "-OPTION" */
    *s = (cuda_settings){0};
    if (snprintf(s->words, sizeof s->words, "%s", asked ? asked : "") >= (int)sizeof s->words)
        return err_set(e, TS_USAGE, "TESSERA_CUDA has more than %d bytes", (int)sizeof s->words - 1);
    char *rest = NULL;
    for (char *word = strtok_r(s->words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        const char *driver = env_setting(word, "driver"), *nvrtc = env_setting(word, "nvrtc"),
                   *nccl = env_setting(word, "nccl");
        if (!strcmp(word, "ptx"))
            s->ptx = true;
        else if (*word == '-' && s->n_option < CUDA_OPTIONS)
            s->option[s->n_option++] = word;
        else if (driver)
            s->driver = s->driver ? s->driver : driver;
        else if (nvrtc)
            s->nvrtc = s->nvrtc ? s->nvrtc : nvrtc;
        else if (nccl)
            s->nccl = s->nccl ? s->nccl : nccl;
        else {
            err_set(e, TS_USAGE,
                    "TESSERA_CUDA: \"%.200s\" is none of driver=PATH, nvrtc=PATH, nccl=PATH, ptx, -OPTION (at most %d)",
                    word, CUDA_OPTIONS);
            return err_hint(e, "words have commas between: TESSERA_CUDA=driver=/path/to/libcuda.so.1,ptx");
        }
    }
    return true;
}

bool cuda_nvrtc(nvrtc_api *a, err *e)
{
    cuda_settings s;
    *a = (nvrtc_api){0};
    return cuda_settings_read(&s, e) && nvrtc_open(a, s.nvrtc, e);
}
