/* settings.c - TESSERA_CUDA, read: words that mean nothing are refused, so that a slip does not go unseen. */
#include "backends/cuda/settings.h"

#include <stdio.h>
#include <string.h>

bool cuda_settings_read(cuda_settings *s, err *e)
{
    const char *asked = env_text("TESSERA_CUDA"); /* libraries of CUDA in place of the system's; "ptx" */
    *s = (cuda_settings){0};
    if (snprintf(s->words, sizeof s->words, "%s", asked ? asked : "") >= (int)sizeof s->words)
        return err_set(e, TS_USAGE, "TESSERA_CUDA has more than %d bytes", (int)sizeof s->words - 1);
    char *rest = NULL;
    for (char *word = strtok_r(s->words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        const size_t name = strcspn(word, "=");
        const char *value = word[name] ? word + name + 1 : NULL;
        if (!strcmp(word, "ptx"))
            s->ptx = true;
        else if (value && *value && name == 6 && !memcmp(word, "driver", name))
            s->driver = s->driver ? s->driver : value;
        else if (value && *value && name == 5 && !memcmp(word, "nvrtc", name))
            s->nvrtc = s->nvrtc ? s->nvrtc : value;
        else {
            err_set(e, TS_USAGE, "TESSERA_CUDA: \"%.200s\" is none of driver=PATH, nvrtc=PATH, ptx", word);
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
